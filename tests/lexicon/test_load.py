import json
import os
import shutil
import signal
from contextlib import suppress

import pytest

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.files import MANIFEST
from turkic_idiom_tasks.io.reading import printable
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import BUNDLED, content_revision, load_lexicon, read_lexicon, write_lexicon
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
WHOLE = {
    "tr.jsonl": [TURKISH],
    "concepts.jsonl": [{"id": "turn-a-blind-eye", "gloss": ""}, {"id": "b", "gloss": ""}],
    "equivalents.jsonl": [{"concepts": ["b", "turn-a-blind-eye"], "judgement": "same"}],
}


def turkish(**change):
    row = TURKISH | {"concept": "b"} | change
    return "tr.jsonl", {key: value for key, value in row.items() if value is not ...}


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (turkish(meaning=...), "field 'meaning' is missing"),
        (turkish(meaning=" "), "field 'meaning': is empty; write null if it is not known; found ' '"),
        (turkish(idiom=None), "field 'idiom': Input should be a valid string; found None"),
        (turkish(concept="Göz Yummak"), "field 'concept': must be lower-case letters, digits and hyphens; found 'Göz"),
        (turkish(idiom="göz yummaq"), "field 'idiom': has 'q' (U+0071), not in the Turkish alphabet; found 'göz"),
        (turkish(meaning="kör  olmak"), "field 'meaning': is not normalised (NFC, single spaces); it should read 'kör"),
        (turkish(spans=[[11, 99]]), "field 'spans': span [11, 99] is not inside the example of 20 characters"),
        (turkish(spans=[[11, 19], [15, 19]]), "field 'spans': span [15, 19] overlaps or precedes the one before it"),
        (turkish(spans=[[9, 19]]), "field 'spans': span [9, 19] begins or ends with white space: ' göz yumma'"),
        (turkish(spans=[[1.5, 2]]), f"{OFFSETS}, or null if the example is not annotated; found [[1.5, 2]]"),
        (turkish(spans=[[True, 3]]), OFFSETS),
        (turkish(spans=[[0, 10**12]]), OFFSETS),
        (turkish(example=None), "field 'spans': needs an example; write null"),
        (turkish(idom="x"), "unknown field 'idom'"),
        (turkish(variants=["göz\u200b kapamak"]), "field 'variants.0': is not normalised"),
        (turkish(concept="c"), "concept 'c' is not in concepts.jsonl; add it there"),
        (("tr.jsonl", TURKISH), "turn-a-blind-eye: is on line 1 too; remove one"),
        # characters that cannot be seen, or turn the text around on a terminal, are never shown raw
        (turkish(idiom="göz \u202eyummak"), "field 'idiom': has U+202E, which cannot be seen; remove it; found 'göz"),
        (turkish(meaning="kör\u3164olmak"), "field 'meaning': has '\\u3164' (U+3164), not in the Turkish alphabet"),
        (("tr.jsonl", "null"), "expected a JSON object, found NoneType"),
        (("tr.jsonl", '{"concept": '), "malformed JSON at column 13"),
        (("uz.jsonl", ""), "no entries"),
        (("concepts.jsonl", {"id": "c", "gloss": "", "pos": "word"}), "field 'pos': Input should be 'verb', 'noun'"),
        (("concepts.jsonl", {"id": "c", "gloss": "", "aliases": ["A"]}), "field 'aliases.0': must be lower-case"),
        (("concepts.jsonl", {"id": "c", "gloss": "", "aliases": ["b"]}), "alias 'b' of 'c' is a concept itself; rem"),
        (("concepts.jsonl", {"id": "b", "gloss": ""}), "b: is on line 2 too; remove one"),
        (("equivalents.jsonl", {"concepts": ["b", "b"], "judgement": "same"}), "concept 'b': a concept is paired with"),
        (("equivalents.jsonl", {"concepts": ["b", "x"], "judgement": "same"}), "concept 'x' is not in the lexicon"),
        (("equivalents.jsonl", {"concepts": ["b", "b"], "judgement": "equal"}), "field 'judgement': Input should be"),
        (("equivalents.jsonl", WHOLE["equivalents.jsonl"][0] | {"judgement": "near"}), "b and turn-a-blind-eye: is on"),
    ],
)
def test_each_mistake_is_named_with_file_line_field_and_value(tmp_path, place, message):
    name, row = place
    for file, rows in (WHOLE | {name: [*WHOLE.get(name, []), row]}).items():
        write(tmp_path / "lex", rows, file)
    (problem,) = problems(tmp_path / "lex")
    line = "" if message.startswith(("alias ", "no entries")) else f":{1 + len(WHOLE[name])}"
    assert problem.startswith(f"{name}{line}: {message}")
    assert printable(problem) == problem
    assert len(problem) < 200


def test_loading_reports_the_first_mistake_and_how_to_see_all(tmp_path):
    message = r"tr\.jsonl:1: malformed JSON .*\(and 1 more\); list all with: turkic-idiom dataset check"
    with pytest.raises(InputError, match=message):
        load_lexicon(write(tmp_path / "lex", ["{", "{"]))


def test_what_is_not_a_lexicon(tmp_path):
    for folder in (tmp_path / "absent", tmp_path):
        with pytest.raises(InputError, match="no lexicon directory; none of tr"):
            load_lexicon(folder)
    write(tmp_path, [], "ba.jsonl")
    with pytest.raises(InputError, match=r"holds 'ba\.jsonl', not tr\.jsonl, .*CONTRIBUTING"):
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
    (tmp_path / "lex" / name).symlink_to("nowhere")
    assert problems(tmp_path / "lex") == [f"{name}: is not a regular file; put the file here, or remove what is here"]


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
    concepts = [Concept("b", "second", "verb", ("old",)), Concept("a", "first"), Concept("c", "")]
    entry = Entry("b", "koʻz yummoq", "koʻrmaganga olmoq", "U koʻz yumdi.", (Span(2, 12),), variants=("koʻz oʻtmoq",))
    judged = {("b", "c"): "near", ("a", "b"): "same"}
    write_lexicon(tmp_path / "lex", concepts, {"uz": [entry, Entry("a", "bosh egmoq")], "tk": []}, equivalents=judged)
    lexicon = load_lexicon(tmp_path / "lex")
    assert lexicon.of("uz") == {"a": Entry("a", "bosh egmoq"), "b": entry}
    assert list(lexicon.concepts.values()) == sorted(concepts, key=lambda concept: concept.id)
    assert list(lexicon.equivalents.items()) == [(("a", "b"), "same"), (("b", "c"), "near")]
    assert lexicon.judged("same") == {"a": {"b"}, "b": {"a"}}
    assert lexicon.judged("same", "near")["b"] == {"a", "c"}
    names = sorted(path.name for path in (tmp_path / "lex").iterdir() if not path.name.startswith("."))
    assert names == ["concepts.jsonl", "equivalents.jsonl", "uz.jsonl"]


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


@pytest.mark.long
@pytest.mark.usefixtures("no_flushing")
def test_a_reader_beside_a_writer_sees_the_one_or_the_other(tmp_path):
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
    assert len(lexicon.of("tr")) == len(lexicon.concepts)
    assert all(concept.gloss for concept in lexicon.concepts.values())
    for code in ("tr", "az", "uz", "tk", "gag"):
        for entry in lexicon.of(code).values():
            assert None not in (entry.meaning, entry.example, entry.spans), (code, entry.concept)
    shutil.copytree(BUNDLED, tmp_path / "copy")
    assert content_revision(tmp_path / "copy") == lexicon.revision
