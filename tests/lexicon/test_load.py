import json
import shutil

import pytest

from turkic_idiom_tasks.errors import InputError
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


def test_a_right_entry_is_read_as_it_stands(tmp_path):
    lexicon = load_lexicon(write(tmp_path / "lex", [TURKISH]))
    entry = lexicon.of("tr")["turn-a-blind-eye"]
    assert entry.spans == (Span(10, 19),)
    assert entry.spans[0].of(entry.example) == "göz yumma"
    assert lexicon.of("az") == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"meaning": ...}, "field 'meaning' is missing; add it (null if it is not known)"),
        ({"meaning": " "}, "field 'meaning' is empty; write null if it is not known"),
        ({"idiom": None}, "field 'idiom' is null; every entry needs it"),
        ({"idiom": 7}, "field 'idiom' must be text, found 7"),
        ({"concept": "Göz Yummak"}, "concept id 'Göz Yummak' must be lower-case letters, digits and hyphens"),
        ({"idiom": "göz yummaq"}, "idiom has 'q' (U+0071), not in the Turkish alphabet: 'göz yummaq'"),
        ({"meaning": "kör  olmak"}, "meaning is not normalised (NFC, single spaces); it should read 'kör olmak'"),
        ({"meaning": "go\u0308z"}, "meaning has '\u0308' (U+0308), not in the Turkish alphabet: 'go\u0308z'"),
        ({"spans": [[11, 99]]}, "span [11, 99] is not inside the example of 20 characters"),
        ({"spans": [[11, 19], [15, 19]]}, "span [15, 19] overlaps or precedes the one before it"),
        ({"spans": [[9, 19]]}, "span [9, 19] begins or ends with white space: ' göz yumma'"),
        (
            {"spans": [[1.5, 2]]},
            "field 'spans' must be a list of [start, end] offsets, found [[1.5, 2]]; null if not annotated",
        ),
        ({"spans": []}, "field 'spans' must be a list of [start, end] offsets, found []; null if not annotated"),
        ({"example": None}, "spans without an example; write null"),
        ({"idom": "x"}, "unknown field 'idom'"),
        ({"variants": "göz kapamak"}, "field 'variants' must be a list of texts"),
    ],
)
def test_each_mistake_is_named_with_file_and_line(tmp_path, change, message):
    row = {key: value for key, value in (TURKISH | change).items() if value is not ...}
    assert problems(write(tmp_path / "lex", [row])) == [f"tr.jsonl:1: {message}"]


def test_malformed_lines(tmp_path):
    directory = write(tmp_path / "lex", [TURKISH, "", '{"concept": ', "[1]"])
    assert problems(directory) == [
        "tr.jsonl:3: malformed JSON at column 13: Expecting value",
        "tr.jsonl:4: expected a JSON object, found list",
    ]
    (directory / "tr.jsonl").write_bytes(b'{"concept": "\xff"}\n')
    assert problems(directory) == ["tr.jsonl:1: not UTF-8 at byte 13; save the file as UTF-8"]


def test_duplicate_concept_names_both_lines(tmp_path):
    assert problems(write(tmp_path / "lex", [TURKISH, TURKISH])) == [
        "tr.jsonl:2: duplicate concept 'turn-a-blind-eye', first on line 1"
    ]


def test_concepts_file_joins_the_languages(tmp_path):
    directory = write(tmp_path / "lex", [TURKISH])
    write(directory, [{"id": "lose-face", "gloss": "to lose face"}], "concepts.jsonl")
    assert problems(directory) == ["tr.jsonl:1: concept 'turn-a-blind-eye' is not in concepts.jsonl; add it there"]
    write(directory, [{"id": "a", "gloss": ""}, {"id": "a", "gloss": ""}], "concepts.jsonl")
    assert "concepts.jsonl:2: duplicate concept 'a'" in problems(directory)


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
    write(tmp_path, [], "kk.jsonl")
    with pytest.raises(InputError, match=r"kk\.jsonl: not the file of a known language"):
        load_lexicon(tmp_path)
    (tmp_path / "kk.jsonl").unlink()
    write(tmp_path, [""], "uz.jsonl")
    with pytest.raises(InputError, match=r"uz\.jsonl: no entries"):
        load_lexicon(tmp_path)


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
    assert sorted(path.name for path in (tmp_path / "lex").iterdir()) == ["concepts.jsonl", "uz.jsonl"]


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
