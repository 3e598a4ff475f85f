"""`dataset annotate`: rows and lexicons, in and out, and what is refused."""

import json

import pytest

from hub_datasets.annotated_files import annotate_lexicon
from tests.hub_datasets.conftest import read_lines, write_entries, write_lines
from turkic_idiom_tasks.annotation.annotate import annotate as annotate_sentence
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import printable
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Entry
from turkic_idiom_tasks.lexicon.load import load_lexicon
from turkic_idiom_tasks.spans import Span

ROWS = [
    {"id": "a", "idiom": "ayvayı yemek", "sentence": "Şimdi ayvayı mı yiyeceğiz?", "source": "ours"},
    {"id": "b", "idiom": "göz yummak", "sentence": "Hava güzel."},
    {"id": 3, "idiom": "sözü uzatmak", "sentence": "Lafı uzatma!", "variants": ["lafı uzatmak"]},
    {"id": 4, "idiom": "göz yummak", "sentence": "Yağmur yağdı."},
]


def test_rows_come_out_tagged_or_with_a_reason_and_can_be_annotated_again(tmp_path, dataset):
    out, again = tmp_path / "out.jsonl", tmp_path / "again.jsonl"
    source = write_lines(tmp_path / "in.jsonl", ROWS)
    stdout, stderr = dataset("annotate", "--lang", "tr", "--in", source, "--out", out)
    assert stdout == f"{out}: 2 of 4 rows annotated\n"
    first, second, third, fourth = read_lines(out)
    # "Şimdi ayvayı mı yiyeceğiz?": ayvayı is 6 to 12, yiyeceğiz 16 to 25; each fragment begins with its own B
    assert first == ROWS[0] | {
        "tokens": ["Şimdi", "ayvayı", "mı", "yiyeceğiz", "?"],
        "ner_tags": ["O", "B-IDIOM", "O", "B-IDIOM", "O"],
        "spans": [[6, 12], [16, 25]],
    }
    assert second == ROWS[1] | {"dropped": "a word of the idiom is missing"}
    assert third["ner_tags"] == ["B-IDIOM", "I-IDIOM", "O"]
    assert third["spans"] == [[0, 11]]
    assert fourth["dropped"] == second["dropped"]
    first_line, second_line = stderr.splitlines()
    assert first_line == "4 rows = 2 annotated + 2 dropped"
    assert second_line.split(maxsplit=2) == ["dropped", "2", "a word of the idiom is missing"]
    dataset("annotate", "--lang", "tr", "--in", out, "--out", again)
    assert read_lines(again) == read_lines(out)
    changed = write_lines(tmp_path / "in.jsonl", [first | {"sentence": "Yine ayvayı yedik."}])
    dataset("annotate", "--lang", "tr", "--in", changed, "--out", again, "--overwrite")
    assert read_lines(again)[0]["spans"] == [[5, 17]]


def row(**changes):
    return json.dumps({"id": 2, "idiom": "göz yummak", "sentence": "Göz yumdu."} | changes)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ((row(id=1), "", '{"id": 1'), "in.jsonl:3: malformed JSON at column "),
        ((row(id=1), '{"id": 1, "idiom": "x", "text": "y"}'), "in.jsonl:2: field 'sentence' is missing"),
        ((row(sentence=7),), "field 'sentence': Input should be a valid string; found 7"),
        ((row(idiom="  "),), "field 'idiom': is empty; fill it in, or take the row out; found '  '"),
        ((row(sentence="go\u0308z"),), "is not in NFC; spans count NFC code points: pass texts through unicoded"),
        ((row(variants=[None]),), "'variants.0': Input should be a valid string"),
        (('{"id": "g\udcf6z"}',), "in.jsonl:1: not UTF-8"),
        ((), "is empty; nothing to annotate"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_its_line_and_nothing_is_written(tmp_path, dataset, lines, message):
    path = write_lines(tmp_path / "in.jsonl", lines)
    out, err = dataset("annotate", "--lang", "tr", "--in", path, "--out", tmp_path / "out.jsonl", code=1)
    (line,) = err.splitlines()
    assert (out, printable(err)) == ("", err)
    assert message in line
    assert len(line) < 400
    assert sorted(tmp_path.iterdir()) == [path]


def test_spans_are_filled_in_and_those_that_are_there_stay(tmp_path):
    entries = [
        Entry("a", "göz yummak", None, "Bu hataya göz yumdu."),
        Entry("b", "kulak asmak", None, "Sözüme kulak asmadı.", (Span(0, 6),)),
        Entry("c", "diş bilemek", None, "Burada hiçbiri yok."),
        Entry("d", "el atmak", "karışmak"),
    ]
    source = write_entries(tmp_path / "in", tr=entries)
    outcomes = annotate_lexicon(source, tmp_path / "out")
    found = load_lexicon(tmp_path / "out").of("tr")
    assert [span.of(found["a"].example) for span in found["a"].spans] == ["göz yumdu"]
    assert found["b"].spans == (Span(0, 6),)
    assert found["c"].spans is None
    assert outcomes["tr"]["annotated"] == outcomes["tr"]["had spans"] == outcomes["tr"]["the entry has no example"] == 1
    assert outcomes["tr"].total() == 4
    with pytest.raises(InputError, match="is the lexicon that is read; choose another --out"):
        annotate_lexicon(source, source, overwrite=True)


def test_most_examples_of_the_uzbek_dictionary_are_annotated(uzbek_import):
    entries = [entry for entry in uzbek_import.entries["uz"] if entry.example][::16]
    uzbek = LANGUAGES["uz"]
    found = [annotate_sentence(entry.idiom, entry.example, uzbek, variants=entry.variants).spans for entry in entries]
    assert sum(map(bool, found)) / len(entries) >= 0.95
    others = zip(entries, entries[125:] + entries[:125], strict=True)  # neighbours in the alphabet share words
    alarms = [annotate_sentence(one.idiom, other.example, uzbek, variants=one.variants).spans for one, other in others]
    assert sum(map(bool, alarms)) / len(entries) <= 0.01
