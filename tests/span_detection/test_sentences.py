"""Tagged sentences from a lexicon and from a dataset in the Hub layout."""

import re
import unicodedata
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.span_detection.conftest import concepts_of, example
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Concept, Entry, Lexicon
from turkic_idiom_tasks.span_detection.answers import read_answer
from turkic_idiom_tasks.span_detection.prompts import json_answer, xml_answer
from turkic_idiom_tasks.span_detection.sentences import SPLITS, current_spans, lexicon_sentences, open_spans
from turkic_idiom_tasks.spans import LABELS, Span

O, B, I = LABELS  # noqa: E741
ROW = {
    "id": "s1",
    "idiom": "göz yummak",
    "sentence": "Buna göz yumdu.",
    "tokens": ["Buna", "göz", "yumdu", "."],
    "ner_tags": [0, 1, 2, 0],
}


def test_an_example_becomes_a_tagged_sentence():
    concept = concepts_of("test", 1)[0]
    #          0123456789012345678901234567
    sentence = "Adını buradan sildim defterden."
    entry = Entry(concept, "adını defterden silmek", None, sentence, (Span(0, 5), Span(14, 30)))
    lexicon = Lexicon({concept: Concept(concept, "")}, {"tr": {concept: entry}}, "0" * 40)
    (row,) = lexicon_sentences(lexicon, "tr")["test"]
    assert row.tokens == ("Adını", "buradan", "sildim", "defterden", ".")
    assert row.tags == (B, O, B, I, O)  # each fragment begins with B
    assert row.spans() == entry.spans
    assert row.document() == {
        "id": concept,
        "lang": "tr",
        "idiom": "adını defterden silmek",
        "sentence": sentence,
        "tokens": ["Adını", "buradan", "sildim", "defterden", "."],
        "ner_tags": [1, 0, 1, 2, 0],
        "spans": [{"start": 0, "end": 5, "text": "Adını"}, {"start": 14, "end": 30, "text": "sildim defterden"}],
    }


def test_a_lexicon_by_split(turkish_only):
    source = open_spans(str(turkish_only))
    assert source.languages == ("tr",)  # the Azerbaijani examples are not annotated
    assert re.fullmatch("[0-9a-f]{40}", source.revision)
    splits = source.load("tr")
    assert {split: [row.id for row in rows] for split, rows in splits.items()} == {
        split: sorted(concepts_of(split, n)) for split, n in (("train", 5), ("validation", 2), ("test", 4))
    }
    assert all(row.tags == (O, O, O, O, O, B, I, O) for rows in splits.values() for row in rows)  # Ali bugün 3 . kez


def test_a_language_without_test_sentences_is_an_error_that_names_those_that_have_some(turkish_only):
    with pytest.raises(InputError) as error:
        open_spans(str(turkish_only)).load("az")
    text = str(error.value)
    assert text.startswith(f"{turkish_only}: no annotated test sentence in Azerbaijani (az); ")
    assert "languages that have some: tr;" in text
    assert "\n" not in text


def test_a_lexicon_without_annotation_is_an_error(tmp_path):
    concept = concepts_of("test", 1)[0]
    (tmp_path / "tr.jsonl").write_text(Entry(concept, "göz yummak", None, "Göz yumdu.").to_json() + "\n")
    with pytest.raises(
        InputError, match=r"no annotated test sentence in any language; .*turkic-idiom dataset annotate"
    ):
        open_spans(str(tmp_path))


def test_bundled_splits_share_no_idiom(bundled):
    source = open_spans("")
    assert source.languages == tuple(LANGUAGES)
    split_of_concept, n = {}, 0
    for code in LANGUAGES:
        split_of_idiom = {}
        for split, rows in source.load(code).items():
            assert rows == sorted(rows, key=lambda row: row.id)
            for row in rows:
                n += 1
                # senses of one idiom (x, x--2) and the same idiom in another language are in the same split
                assert split_of_concept.setdefault(row.id.split("--")[0], split) == split
                assert split_of_idiom.setdefault(row.idiom, split) == split, f"{code}: {row.idiom}"
    assert n == len(bundled) > 2000


def test_senses_of_an_idiom_never_cross_splits():
    concept = concepts_of("test", 1)[0]
    others = [f"{concept}--{sense}" for sense in range(2, 30)]
    entries = {key: example(key, "göz yummak", "Buna ", "göz yumdu", ".") for key in (concept, *others)}
    lexicon = Lexicon({key: Concept(key, "") for key in entries}, {"tr": entries}, "0" * 40)
    found = lexicon_sentences(lexicon, "tr")
    assert [len(found[split]) for split in SPLITS] == [0, 0, 29]


@given(st.sets(st.integers(0, 10_000), min_size=1, max_size=40))
def test_growth_of_a_lexicon_moves_no_sentence(numbers):
    keys = [f"k-{number}" for number in sorted(numbers)]
    entries = {key: example(key, "göz yummak", "Buna ", "göz yumdu", ".") for key in keys}
    some = Lexicon({}, {"tr": dict(list(entries.items())[::2])}, "0" * 40)
    every = Lexicon({}, {"tr": entries}, "0" * 40)
    before, after = ({row.id: split for split, rows in lexicon_sentences(one, "tr").items() for row in rows}
                     for one in (some, every))  # fmt: skip
    assert before.items() <= after.items()


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_the_hub_layout(hub_layout, kind, monkeypatch):
    by_name = ROW | {"id": "s2", "ner_tags": ["O", "B-IDIOM", "I-IDIOM", "O"]}
    rows = {"train": [ROW | {"id": "s0"}], "validation": [by_name], "test": [ROW, ROW | {"id": "s3"}]}
    folder = hub_layout(rows, kind=kind)
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(folder))
    source = current_spans()
    assert (source.path, source.languages) == (str(folder), ("tr",))
    assert re.fullmatch("[0-9a-f]{40}", source.revision)
    found = source.load("tr")
    assert {split: [row.id for row in rows] for split, rows in found.items()} == {
        "train": ["s0"],
        "validation": ["s2"],
        "test": ["s1", "s3"],
    }
    assert all(row.tags == (O, B, I, O) and row.language == "tr" for rows in found.values() for row in rows)
    assert found["test"][0].spans() == (Span(5, 14),)


def test_a_hub_layout_with_a_test_split_alone(hub_layout):
    found = open_spans(str(hub_layout({"test": [ROW]}, config="span-uz"))).load("uz")
    assert [len(found[split]) for split in SPLITS] == [0, 0, 1]


def test_a_hub_layout_without_a_span_config(hub_layout):
    with pytest.raises(InputError, match=r"no annotated test sentence in any language.*configs such as span-tr"):
        open_spans(str(hub_layout({"test": [ROW]}, config="lexicon-tr")))
    with pytest.raises(InputError, match="no annotated test sentence in any language"):
        open_spans(str(hub_layout({"train": [ROW]}, name="train_only")))


def test_a_hub_layout_with_an_empty_test_split_is_refused(hub_layout):
    folder = hub_layout({"train": [ROW], "test": [ROW]}, kind="parquet")
    import pyarrow.parquet as pq

    path = folder / "data" / "span-tr" / "test.parquet"
    pq.write_table(pq.read_table(path).slice(0, 0), path)
    with pytest.raises(InputError, match="no annotated test sentence"):
        open_spans(str(folder)).load("tr")


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"ner_tags": [0, 1, 2]}, ["as many tokens as ner_tags", "4 and 3"]),
        ({"tokens": [], "ner_tags": []}, ["at least one", "0 and 0"]),
        ({"tokens": None}, ["as many tokens as ner_tags", "0 and 4"]),
        ({"ner_tags": None}, ["as many tokens as ner_tags", "4 and 0"]),
        ({"ner_tags": [0, 1, 3, 0]}, ["ner_tags has 3", "O, B-IDIOM, I-IDIOM"]),
        ({"ner_tags": [0, 1, -100, 0]}, ["ner_tags has -100"]),
        ({"ner_tags": ["O", "B", "I", "O"]}, ["ner_tags has 'B'"]),
        ({"ner_tags": ["O", "b-idiom", "I-IDIOM", "O"]}, ["ner_tags has 'b-idiom'"]),
        ({"ner_tags": [0, 1, 1.5, 0]}, ["ner_tags has 1.5"]),
        ({"ner_tags": [0, 1, None, 0]}, ["ner_tags", "None"]),
        ({"tokens": ["Buna", "göz", "yumdum", "."]}, ["token 'yumdum'", "'Buna göz yumdu.'"]),
        ({"tokens": ["göz", "Buna", "yumdu", "."]}, ["token 'Buna'"]),
        ({"tokens": ["Buna", "göz", "", "."]}, ["token ''"]),
        ({"tokens": ["Buna", "göz", None, "."]}, ["token None"]),
        ({"tokens": [77, 2, 3, 4]}, ["77"]),
        ({"ner_tags": 5}, ["ner_tags", "5"]),
        ({"sentence": ""}, ["sentence must be a text", "''"]),
        ({"sentence": None}, ["sentence must be a text", "None"]),
        ({"idiom": None}, ["idiom must be a text", "None"]),
        ({"idiom": 7}, ["idiom must be a text", "7"]),
    ],
)
def test_malformed_rows_name_id_and_value(hub_layout, kind, change, named):
    good, bad = ROW | {"id": "s0"}, ROW | {"id": "s17"} | change
    rows = [good, bad] if kind == "jsonl" and not any(_other_type(good[key], bad[key]) for key in ROW) else [bad]
    folder = hub_layout({"test": rows}, kind=kind)
    with pytest.raises(InputError) as error:
        open_spans(str(folder)).load("tr")
    text = str(error.value)
    assert "\n" not in text
    for part in (str(folder), "span-tr", "split test", "id 's17'", *named):
        assert part in text


def _other_type(one, other):
    """Whether a column cannot hold both."""
    if isinstance(one, list) and isinstance(other, list):
        return {type(item) for item in one} != {type(item) for item in other}
    return type(one) is not type(other)


def test_whole_numbers_that_pandas_wrote_as_floats_are_taken_or_named(hub_layout):
    folder = hub_layout({"test": [ROW | {"ner_tags": [0.0, 1.0, 2.0, 0.0]}]})
    with suppress(InputError):
        assert open_spans(str(folder)).load("tr")["test"][0].tags == (O, B, I, O)


def test_a_missing_column_is_named(hub_layout):
    folder = hub_layout({"test": [{key: value for key, value in ROW.items() if key != "tokens"}]})
    with pytest.raises(InputError, match=r"span-tr lacks the columns \['tokens'\]"):
        open_spans(str(folder)).load("tr")


def test_two_rows_of_one_id_are_refused(hub_layout):
    with pytest.raises(InputError, match="'s1'"):
        open_spans(str(hub_layout({"test": [ROW, ROW]}))).load("tr")


def test_a_file_cut_short_is_one_error(hub_layout):
    folder = hub_layout({"test": [ROW, ROW | {"id": "s2"}]})
    path = folder / "data" / "span-tr" / "test.jsonl"
    path.write_text(path.read_text()[:-30])
    with pytest.raises(InputError, match="config span-tr cannot be read"):
        open_spans(str(folder)).load("tr")


@pytest.mark.parametrize(
    "row",
    [
        ROW,
        # punctuation left on the word before it
        ROW | {"tokens": ["Buna", "göz", "yumdu."], "ner_tags": [0, 1, 2]},
        # apostrophes as tokens
        ROW | {"sentence": "Ko‘z yumdi", "tokens": ["Ko", "‘", "z", "yumdi"], "ner_tags": [1, 2, 2, 2]},
        # words cut in two
        ROW | {"tokens": ["Bu", "na", "göz", "yum", "du", "."], "ner_tags": [0, 0, 1, 2, 2, 0]},
        # a clitic that is no part of the idiom
        ROW | {"tokens": ["Buna", "göz", "yum", "du", "."], "ner_tags": [0, 1, 2, 0, 0]},
        # white space around the sentence
        ROW | {"sentence": "  Buna göz  yumdu. \n"},
        # not NFC
        {key: ([unicodedata.normalize("NFD", token) for token in value] if key == "tokens"
               else unicodedata.normalize("NFD", value) if isinstance(value, str) else value)
         for key, value in ROW.items()},
        # the first word of the idiom stands within another word too
        ROW | {"sentence": "Nihan an meselesi", "tokens": ["Nihan", "an", "meselesi"], "ner_tags": [0, 1, 2]},
    ],
    ids=["plain", "attached", "apostrophe", "clitic", "clitic outside", "white space", "NFD", "substring"],
)  # fmt: skip
def test_the_right_answer_scores_full_marks_whatever_the_tokenisation(hub_layout, row):
    (sentence,) = open_spans(str(hub_layout({"test": [row]}))).load("tr")["test"]
    assert len(sentence.tokens) == len(row["tokens"])
    for answer in (json_answer(sentence), xml_answer(sentence)):
        for strict in (True, False):
            found = read_answer(answer, sentence.sentence, sentence.tokens, LANGUAGES["tr"], strict=strict)
            assert (found.tags, found.format_error, found.unmatched_spans) == (sentence.tags, False, 0), (
                answer,
                strict,
            )


def test_numbers_of_other_labels_are_refused(tmp_path):
    """`datasets` writes the names of a ClassLabel into the parquet file."""
    from datasets import ClassLabel, Dataset, Features, List, Value

    texts = {name: Value("string") for name in ("id", "idiom", "sentence")}
    for order, is_ours in ((["O", "B-IDIOM", "I-IDIOM"], True), (["B-IDIOM", "I-IDIOM", "O"], False)):
        folder = tmp_path / order[0]
        features = Features(texts | {"tokens": List(Value("string")), "ner_tags": List(ClassLabel(names=order))})
        row = {key: [ROW[key]] for key in ("idiom", "sentence", "tokens", "ner_tags")} | {"id": ["s1"]}
        (folder / "data").mkdir(parents=True)
        Dataset.from_dict(row, features=features).to_parquet(str(folder / "data" / "test.parquet"))
        (folder / "README.md").write_text(
            "---\nconfigs:\n- config_name: span-tr\n  data_files:\n  - split: test\n    path: data/test.parquet\n---\n"
        )
        if is_ours:
            assert len(open_spans(str(folder)).load("tr")["test"]) == 1
        else:
            with pytest.raises(
                InputError, match="ner_tags are numbers of B-IDIOM, I-IDIOM, O; number them as O, B-IDIOM"
            ):
                open_spans(str(folder)).load("tr")
