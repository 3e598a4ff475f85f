"""How sentences are cut into words, and how the examples of a lexicon become tagged sentences."""

import dataclasses
import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dataset.conftest import concepts_of, example
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.dataset.sentences import idiom_clusters, lexicon_sentences, locate, words
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Concept, Entry, FurtherExample, Lexicon, parse_entry
from turkic_idiom_tasks.spans import LABELS, Span
from turkic_idiom_tasks.splits import SPAN_SPLITS

O, B, I = LABELS  # noqa: E741
TEXTS = st.text(alphabet=st.sampled_from("aıİşəňýʻʼ'’ .,-!«»…\u0301\u200b\n1_") | st.characters(), max_size=40)


def cut(sentence):
    return [place.of(sentence) for place in words(sentence)]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Kovulmayı göze alıp, sustum.", ["Kovulmayı", "göze", "alıp", ",", "sustum", "."]),
        ("Qulağına qızıl sırğa!", ["Qulağına", "qızıl", "sırğa", "!"]),
        ("o‘z ko`ngli ma´no", ["o‘z", "ko`ngli", "ma´no"]),
        ("‘koʻz’ dedi", ["‘", "koʻz", "’", "dedi"]),  # quotation marks around a word are none of its letters
        ("Göwnüňe degmesin-ä?", ["Göwnüňe", "degmesin", "-", "ä", "?"]),
        ("«Başıma gelän…»", ["«", "Başıma", "gelän", "…", "»"]),
        ("  çift  boşluk\n\tsatır ", ["çift", "boşluk", "satır"]),
        ("bir...iki", ["bir", ".", ".", ".", "iki"]),
        ("a\u0301b e\u0308", ["a\u0301b", "e\u0308"]),  # a combining mark belongs to its letter
        ("😀 göz", ["😀", "göz"]),
        (" \n", []),
    ],
)
def test_words_by_hand(sentence, expected):
    assert cut(sentence) == expected


@given(TEXTS)
def test_every_visible_character_is_in_exactly_one_word(sentence):
    places = words(sentence)
    covered = [position for place in places for position in range(place.start, place.end)]
    assert covered == [n for n, character in enumerate(sentence) if not character.isspace()]
    assert all(place.start < place.end for place in places)


@given(TEXTS)
def test_words_are_found_where_they_were_cut(sentence):
    assert locate(cut(sentence), sentence) == words(sentence)


@pytest.mark.parametrize(
    ("tokens", "problem"),
    [
        (["ele", "el", "el"], "token 'el' is not in the sentence after character 9: 'el ele el'"),
        (["el", ""], "token '' is not in the sentence after character 2"),
    ],
)
def test_tokens_that_are_not_there_are_named(tokens, problem):
    with pytest.raises(ValueError, match=re.escape(problem)):
        locate(tokens, "el ele el")


def tagged(*entries):
    """Return split -> sentences of a lexicon of Turkish entries."""
    concepts = {entry.concept: Concept(entry.concept, "") for entry in entries}
    rows = {entry.concept: entry for entry in entries}
    return lexicon_sentences(Lexicon(concepts, {"tr": rows}, "0" * 40), "tr")


def test_an_example_becomes_a_tagged_sentence():
    concept = concepts_of("test", 1)[0]
    #          0123456789012345678901234567
    sentence = "Adını buradan sildim defterden."
    entry = Entry(concept, "adını defterden silmek", None, sentence, (Span(0, 5), Span(14, 30)))
    (row,) = tagged(entry)["test"]
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
    dataset = open_dataset(str(turkish_only))
    assert dataset.span_languages == ("tr",)  # the Azerbaijani examples are not annotated
    assert re.fullmatch("[0-9a-f]{40}", dataset.revision)
    with pytest.raises(InputError, match=r"no annotated .* \(az\); languages that have some: tr\. .*dataset annotate"):
        dataset.sentences("az")
    splits = dataset.sentences("tr")
    expected = {split: sorted(concepts_of(split, n)) for split, n in (("train", 5), ("validation", 2), ("test", 4))}
    assert {split: [row.id for row in rows] for split, rows in splits.items()} == expected
    assert all(row.tags == (O, O, O, O, O, B, I, O) for rows in splits.values() for row in rows)  # Ali bugün 3 . kez
    test = dataset.test_sentences("tr")
    assert test.concepts == tuple(row.id for row in test.rows) == tuple(expected["test"])


def test_bundled_splits_share_no_idiom():
    dataset = open_dataset()
    assert dataset.span_languages == tuple(dataset.lexicon.entries)
    split_of_concept, n = {}, 0
    for code in dataset.span_languages:
        split_of_idiom = {}
        for split, rows in dataset.sentences(code).items():
            assert [row.id.split("/")[0] for row in rows] == sorted(row.id.split("/")[0] for row in rows)
            for row in rows:
                n += 1
                # senses of one idiom (x, x--2) and the same idiom in another language are in the same split
                assert split_of_concept.setdefault(row.id.split("--")[0], split) == split
                assert split_of_idiom.setdefault(row.idiom, split) == split, f"{code}: {row.idiom}"
                assert unicodedata.is_normalized("NFC", row.sentence)
                assert "".join(row.tokens) == "".join(row.sentence.split())
    assert n > 2000


def test_senses_of_an_idiom_never_cross_splits():
    concept = concepts_of("test", 1)[0]
    senses = [concept, *(f"{concept}--{sense}" for sense in range(2, 30))]
    sentences = tagged(*(example(sense, "göz yummak", "Buna ", "göz yumdu", ".") for sense in senses))
    assert [len(sentences[split]) for split in SPAN_SPLITS] == [0, 0, 29]
    # resampled together: they say the same of a model
    assert set(idiom_clusters(sentences["test"]).values()) == {concept}


def test_further_examples_train_and_never_test():
    further = (FurtherExample("Ağzı mı tutmuş?", (Span(0, 4), Span(8, 14))), FurtherExample("Ağaç tuttu.", ()))
    triple = {"literal_example": "Ağız suyu tuttu.", "paraphrase": "Sustu.", "literal_paraphrase": "Onu kapattı."}
    (test,), (train,) = concepts_of("test", 1), concepts_of("train", 1)
    entry = Entry(test, "ağız tutmak", None, "Ağız tuttu.", (Span(0, 10),), examples=further, **triple)
    sentences = tagged(entry, dataclasses.replace(entry, concept=train))
    assert [row.id for row in sentences["test"]] == [test]
    # The literal triple has no idiom, and so no span
    names = ["", "/2", "/3", *(f"/{name}" for name in triple)]
    assert [row.id for row in sentences["train"]] == [train + name for name in names]
    tags = [(B, I, O), (B, O, B, O), (O, O, O), (O, O, O, O), (O, O), (O, O, O)]
    assert [row.tags for row in sentences["train"]] == tags


def test_further_examples_are_read_and_wrong_spans_refused():
    row = {"concept": "a", "idiom": "göz boyamak", "meaning": None, "example": None, "spans": None}
    further = {"text": "Göz boyar.", "spans": [[0, 9]]}
    entry, problems = parse_entry(row | {"examples": [further, {"text": "Göz güzel.", "spans": []}]}, LANGUAGES["tr"])
    assert problems == []
    assert [example.spans for example in entry.examples] == [(Span(0, 9),), ()]
    assert json.loads(entry.to_json())["examples"][0] == further
    for wrong in ({"spans": [[0, 99]]}, {"spans": None}, {"text": " Göz"}, {"more": 1}):
        assert parse_entry(row | {"examples": [further | wrong]}, LANGUAGES["tr"])[0] is None
