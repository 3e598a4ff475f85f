import json
import os
import shutil
import signal
from contextlib import suppress

import pytest

from tests.killing import every_kill
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.files import MANIFEST
from turkic_idiom_tasks.io.reading import printable
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import (
    BUNDLED,
    check_target,
    content_revision,
    load_lexicon,
    read_lexicon,
    write_lexicon,
)
from turkic_idiom_tasks.spans import Span

TURKISH = {
    "concept": "turn-a-blind-eye",
    "idiom": "göz yummak",
    "meaning": "bir kusuru görmezden gelmek",
    "example": "Bu hataya göz yumma.",
    "spans": [[10, 19]],
}


def write(directory, rows, name="tr.jsonl"):
    directory.mkdir(exist_ok=True)
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    (directory / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return directory


def problems(directory):
    return [str(problem).removeprefix(f"{directory}/") for problem in read_lexicon(directory)[1]]


OFFSETS = "field 'spans': must be a list of [start, end] offsets"
TEXT = "Input should be a valid string; found"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"meaning": ...}, "field 'meaning' is missing"),
        ({"meaning": " "}, "field 'meaning': is empty; write null if it is not known; found ' '"),
        ({"idiom": None}, f"field 'idiom': {TEXT} None"),
        ({"concept": "Göz Yummak"}, "field 'concept': must be lower-case letters, digits and hyphens; found 'Göz Y"),
        ({"idiom": "göz yummaq"}, "field 'idiom': has 'q' (U+0071), not in the Turkish alphabet; found 'göz yummaq'"),
        ({"meaning": "kör  olmak"}, "field 'meaning': is not normalised (NFC, single spaces); it should read 'kör ol"),
        ({"spans": [[11, 99]]}, "field 'spans': span [11, 99] is not inside the example of 20 characters"),
        ({"spans": [[11, 19], [15, 19]]}, "field 'spans': span [15, 19] overlaps or precedes the one before it"),
        ({"spans": [[9, 19]]}, "field 'spans': span [9, 19] begins or ends with white space: ' göz yumma'"),
        ({"spans": [[-3, 2]]}, "field 'spans': span [-3, 2] is not inside the example"),
        ({"spans": [[1.5, 2]]}, f"{OFFSETS}, or null if the example is not annotated; found [[1.5, 2]]"),
        ({"spans": []}, OFFSETS),
        ({"spans": [[True, 3]]}, OFFSETS),
        ({"spans": [[0, 10**12]]}, OFFSETS),
        ({"spans": [[1, 2, 3]]}, OFFSETS),
        ({"example": None}, "field 'spans': needs an example; write null"),
        ({"idom": "x"}, "unknown field 'idom'"),
        ({"variants": "göz kapamak"}, "field 'variants': Input should be a valid tuple; found 'göz kapamak'"),
        ({"variants": ["göz kapamak", None]}, f"field 'variants.1': {TEXT} None"),
        ({"variants": ["göz\u200b kapamak"]}, "field 'variants.0': is not normalised"),
        ({"collocation": 1}, "field 'collocation': Input should be a valid boolean; found 1"),
        # characters that cannot be seen, or turn the text around on a terminal, are never shown raw
        ({"idiom": "göz \u202eyummak"}, "field 'idiom': has U+202E, which cannot be seen; remove it; found 'göz \\u20"),
        ({"meaning": "kör\u3164olmak"}, "field 'meaning': has '\\u3164' (U+3164), not in the Turkish alphabet"),
        ({"source": "tdk\x07"}, "field 'source': has U+0007, which cannot be seen; remove it; found 'tdk\\x07'"),
    ],
)
def test_each_mistake_is_named_with_file_line_field_and_value(tmp_path, change, message):
    row = {key: value for key, value in (TURKISH | change).items() if value is not ...}
    (problem,) = problems(write(tmp_path / "lex", [row]))
    assert problem.startswith(f"tr.jsonl:1: {message}")
    assert printable(problem) == problem


@pytest.mark.parametrize("status", [[1], 0, "read\u2066"])
def test_a_status_is_text_or_an_object(tmp_path, status):
    for problem in problems(write(tmp_path / "lex", [TURKISH | {"status": status}])):
        assert problem.startswith("tr.jsonl:1: field 'status': ")
    assert problems(tmp_path / "lex")
    assert problems(write(tmp_path / "lex", [TURKISH | {"status": {"checks": 2}}])) == []


def test_every_mistake_of_a_line_is_named(tmp_path):
    row = TURKISH | {"idiom": 7, "meaning": "göz yummaq", "idom": "x"}
    del row["example"]
    named = [problem.split(": ")[1] for problem in problems(write(tmp_path / "lex", [row]))]
    assert named == ["field 'example' is missing", "field 'idiom'", "field 'meaning'", "unknown field 'idom'"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("null", "expected a JSON object, found NoneType"),
        ('{"concept": ', "malformed JSON at column 13"),
    ],
)
@pytest.mark.parametrize("name", ["tr.jsonl", "concepts.jsonl"])
def test_a_malformed_line_is_one_problem_of_one_line(tmp_path, name, line, message):
    directory = write(tmp_path / "lex", [TURKISH])
    if name == "concepts.jsonl":
        write(directory, [{"id": "turn-a-blind-eye", "gloss": ""}], name)
    with (directory / name).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    (problem,) = problems(directory)
    assert problem.startswith(f"{name}:2: {message}")
    assert len(problem) < 200


def test_mistakes_of_concepts_are_named(tmp_path):
    directory = write(tmp_path / "lex", [TURKISH | {"concept": "d"}])
    rows = [
        {"id": "a", "gloss": 7},
        {"id": "b", "gloss": "x\u202e"},
        {"id": "c"},
        {"id": "d", "gloss": "to ignore"},
        {"id": "e", "gloss": "", "pos": "word"},
        {"id": "f", "gloss": "", "aliases": ["A"]},
    ]
    assert [problem.split(": ", 1)[1] for problem in problems(write(directory, rows, "concepts.jsonl"))] == [
        "field 'gloss': Input should be a valid string; found 7",
        "field 'gloss': has U+202E, which cannot be seen; remove it; found 'x\\u202e'",
        "field 'gloss' is missing",
        "field 'pos': must be one of verb, noun, adjective, adverb, clause; found 'word'",
        "field 'aliases.0': must be lower-case letters, digits and hyphens; found 'A'",
    ]


def test_lines_that_contradict_another_one_are_named(tmp_path):
    directory = write(tmp_path / "lex", [TURKISH, TURKISH])
    assert problems(directory) == ["tr.jsonl:2: turn-a-blind-eye: is on line 1 too; remove one"]
    write(directory, [TURKISH])
    write(directory, [{"id": "lose-face", "gloss": "to lose face"}], "concepts.jsonl")
    assert problems(directory) == ["tr.jsonl:1: concept 'turn-a-blind-eye' is not in concepts.jsonl; add it there"]
    write(directory, [{"id": "a", "gloss": ""}, {"id": "a", "gloss": ""}], "concepts.jsonl")
    assert "concepts.jsonl:2: a: is on line 1 too; remove one" in problems(directory)


def test_equivalents_are_read_whatever_their_order_and_written_sorted(tmp_path):
    concepts = [Concept("a", "gloss", "verb", ("old",)), Concept("b", "gloss"), Concept("c", "gloss")]
    entries = {"tr": [Entry(key, f"{key} olmak") for key in "abc"]}
    write_lexicon(tmp_path / "lex", concepts, entries, equivalents={("b", "c"): "near", ("a", "b"): "same"})
    lexicon = load_lexicon(tmp_path / "lex")
    assert list(lexicon.equivalents.items()) == [(("a", "b"), "same"), (("b", "c"), "near")]
    assert lexicon.judged("same") == {"a": {"b"}, "b": {"a"}}
    assert lexicon.judged("same", "near")["b"] == {"a", "c"}
    assert lexicon.concepts["a"] == concepts[0]
    before = content_revision(tmp_path / "lex")
    write(tmp_path / "lex", [{"concepts": ["b", "a"], "judgement": "near"}], "equivalents.jsonl")
    assert content_revision(tmp_path / "lex") != before  # it decides what is relevant


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"concepts": ["a", "b"]}, "field 'judgement' is missing"),
        ({"concepts": ["a"], "judgement": "same"}, "field 'concepts.1' is missing"),
        ({"concepts": ["a", "a"], "judgement": "same"}, "paired with itself"),
        ({"concepts": ["a", "x"], "judgement": "same"}, "'x' is not in the lexicon"),
        ({"concepts": ["a", "b"], "judgement": "equal"}, "must be one of same, near; found 'equal'"),
        ({"concepts": ["b", "a"], "judgement": "near"}, "a and b: is on line 1 too"),
    ],
)
def test_wrong_equivalents_are_named(tmp_path, row, message):
    entries = {"tr": [Entry(key, f"{key} olmak") for key in "ab"]}
    write_lexicon(tmp_path / "lex", [Concept("a", ""), Concept("b", "")], entries)
    write(tmp_path / "lex", [{"concepts": ["a", "b"], "judgement": "same"}, row], "equivalents.jsonl")
    (problem,) = problems(tmp_path / "lex")
    assert problem.startswith("equivalents.jsonl:2: ")
    assert message in problem


def test_an_alias_is_no_concept(tmp_path):
    write_lexicon(
        tmp_path / "lex", [Concept("a", "", aliases=("b",)), Concept("b", "")], {"tr": [Entry("a", "el açmak")]}
    )
    assert "alias 'b' of 'a' is a concept itself" in problems(tmp_path / "lex")[0]


def test_loading_reports_the_first_mistake_and_how_to_see_all(tmp_path):
    directory = write(tmp_path / "lex", ["{", "{"])
    with pytest.raises(
        InputError, match=r"tr\.jsonl:1: malformed JSON .*\(and 1 more\); list all with: turkic-idiom dataset check"
    ):
        load_lexicon(directory)


def test_what_is_not_a_lexicon(tmp_path):
    with pytest.raises(InputError, match="no such lexicon directory"):
        load_lexicon(tmp_path / "absent")
    with pytest.raises(InputError, match="not a lexicon directory, none of tr"):
        load_lexicon(tmp_path)
    write(tmp_path, [], "ky.jsonl")
    with pytest.raises(InputError, match=r"ky\.jsonl: not tr\.jsonl, .*CONTRIBUTING"):
        load_lexicon(tmp_path)
    (tmp_path / "ky.jsonl").unlink()
    write(tmp_path, [""], "uz.jsonl")
    with pytest.raises(InputError, match=r"uz\.jsonl: no entries"):
        load_lexicon(tmp_path)


@pytest.mark.parametrize("name", ["az.jsonl", "concepts.jsonl", "equivalents.jsonl"])
def test_a_file_of_a_written_lexicon_that_is_gone_is_named(tmp_path, name):
    """Fewer languages, concepts or equivalents are another lexicon, with other scores."""
    concepts = [Concept("a", "to bow"), Concept("b", "to ignore")]
    entries = {"tr": [Entry("a", "baş olmak"), Entry("b", "göz yummak")], "az": [Entry("a", "baş olmaq")]}
    write_lexicon(tmp_path / "lex", concepts, entries, equivalents={("a", "b"): "same"})
    (tmp_path / "lex" / name).unlink()
    (problem,) = problems(tmp_path / "lex")
    assert problem.startswith(f"{name}: is missing; write the lexicon again, or delete {MANIFEST}")
    (tmp_path / "lex" / MANIFEST).unlink()  # what the message says helps
    assert problems(tmp_path / "lex") == []


@pytest.mark.parametrize("name", ["az.jsonl", "concepts.jsonl", "equivalents.jsonl"])
def test_what_stands_in_the_place_of_a_file_is_named(tmp_path, name):
    directory = write(tmp_path / "lex", [TURKISH])
    (directory / name).mkdir()
    assert problems(directory) == [f"{name}: is not a regular file; put the file here, or remove what is here"]
    (directory / name).rmdir()
    (directory / name).symlink_to("nowhere")
    assert problems(directory) == [f"{name}: is not a regular file; put the file here, or remove what is here"]


def test_revision_is_of_the_content_not_of_its_order(tmp_path):
    other = TURKISH | {"concept": "lose-face", "idiom": "yüzü kalmamak", "spans": None, "example": None}
    one = write(tmp_path / "one", [TURKISH, other])
    two = write(tmp_path / "two", [other, "", TURKISH])
    (two / "tr.jsonl").write_bytes((two / "tr.jsonl").read_bytes().replace(b"\n", b"\r\n"))
    assert content_revision(one) == content_revision(two)
    three = write(tmp_path / "three", [TURKISH, other | {"meaning": "utanmak"}])
    assert content_revision(three) != content_revision(one)
    assert len(content_revision(one)) == 40


def test_written_lexicon_reads_back(tmp_path):
    concepts = [Concept("b", "second"), Concept("a", "first")]
    entry = Entry(
        "b", "koʻz yummoq", "koʻrmaganga olmoq", "U koʻz yumdi.", (Span(2, 12),), variants=("koʻz yumib oʻtmoq",)
    )
    write_lexicon(tmp_path / "lex", concepts, {"uz": [entry, Entry("a", "bosh egmoq")], "tk": []})
    lexicon = load_lexicon(tmp_path / "lex")
    assert lexicon.of("uz") == {"a": Entry("a", "bosh egmoq"), "b": entry}
    assert list(lexicon.concepts) == ["a", "b"]
    names = sorted(path.name for path in (tmp_path / "lex").iterdir() if not path.name.startswith("."))
    assert names == ["concepts.jsonl", "uz.jsonl"]


def one_language(directory, meaning, language="tr", **options):
    write_lexicon(directory, [Concept("a", "")], {language: [Entry("a", "baş olmak", meaning)]}, **options)


def test_a_lexicon_is_replaced_only_when_told_and_then_whole(tmp_path):
    directory = write(tmp_path / "lex", [TURKISH])  # written by hand, so not recorded as ours
    write(directory, [TURKISH | {"idiom": "göz yummaq"}], "az.jsonl")
    (directory / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"lex: not empty \(holds 'az.jsonl'\); .* add --overwrite"):
        one_language(directory, "a")
    one_language(directory, "a", overwrite=True)
    # the Azerbaijani file of the earlier lexicon is gone, what is no part of a lexicon stays
    names = sorted(path.name for path in directory.iterdir() if not path.name.startswith("."))
    assert names == ["concepts.jsonl", "notes.txt", "tr.jsonl"]
    with pytest.raises(InputError, match="not empty"):
        one_language(directory, "a")
    write(directory, [TURKISH | {"concept": "a"}], "uz.jsonl")  # edited or added by hand since
    one_language(directory, "b", overwrite=True)
    assert load_lexicon(directory).of("tr")["a"].meaning == "b"
    (directory / "data.jsonl").write_text("{}\n")
    with pytest.raises(InputError, match=r"holds 'data.jsonl', which is no lexicon file"):
        one_language(directory, "b", overwrite=True)


def test_a_target_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "lex").write_text("")
    with pytest.raises(InputError, match="is not a directory"):
        check_target(tmp_path / "lex", overwrite=True)


@pytest.mark.long
def test_a_killed_write_leaves_the_old_or_the_new_lexicon_and_the_same_call_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # kills need no flushed disk
    number = 0

    def new():
        write_lexicon(tmp_path / f"new {number}", [Concept("a", "")], {"tr": [Entry("a", "baş olmak", "yeni")]})

    def prepare_old():
        nonlocal number
        number += 1
        one_language(tmp_path / f"old {number}", "eski", "az")

    def prepare_new():
        nonlocal number
        number += 1

    def overwrite():
        one_language(tmp_path / f"old {number}", "yeni", overwrite=True)

    for _ in every_kill(prepare_old, overwrite, below=tmp_path, renames_only=True):
        lexicon = load_lexicon(tmp_path / f"old {number}")
        assert [(code, rows["a"].meaning) for code, rows in lexicon.entries.items()] in (
            [("az", "eski")],
            [("tr", "yeni")],
        )
        overwrite()
        assert load_lexicon(tmp_path / f"old {number}").of("tr")["a"].meaning == "yeni"
    for _ in every_kill(prepare_new, new, below=tmp_path):
        new()  # without --overwrite
        assert load_lexicon(tmp_path / f"new {number}").of("tr")["a"].meaning == "yeni"


@pytest.mark.long
def test_a_reader_beside_a_writer_sees_the_one_or_the_other(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    directory = tmp_path / "lex"
    one_language(directory, "a")
    writer = os.fork()
    if writer == 0:
        for number in range(10_000):
            one_language(directory, "ab"[number % 2], ("tr", "az")[number % 2], overwrite=True)
        os._exit(0)
    seen = set()
    try:
        for _ in range(60):
            with suppress(InputError):  # changed five times while it was read
                lexicon, found = read_lexicon(directory)
                seen.add((*lexicon.entries, *(entry.meaning for entry in lexicon.of("tr").values())))
                assert found == []
    finally:
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
    assert seen <= {("tr", "a"), ("az",)}
    assert [*load_lexicon(directory).entries] in (["tr"], ["az"])  # although the writer was killed


def test_bundled_lexicon_is_whole_and_right(tmp_path):
    lexicon, mistakes = read_lexicon(BUNDLED)
    assert [str(mistake) for mistake in mistakes] == []
    sizes = {code: len(lexicon.of(code)) for code in ("tr", "az", "uz", "tk", "gag")}
    assert sizes["tr"] == sizes["az"] == len(lexicon.concepts) >= 150
    assert sizes["uz"] >= 100
    assert sizes["tk"] >= 100
    assert sizes["gag"] >= 50
    assert all(concept.gloss for concept in lexicon.concepts.values())
    for code in sizes:
        for entry in lexicon.of(code).values():
            assert None not in (entry.meaning, entry.example, entry.spans), (code, entry.concept)
    shutil.copytree(BUNDLED, tmp_path / "copy")
    assert content_revision(tmp_path / "copy") == lexicon.revision
