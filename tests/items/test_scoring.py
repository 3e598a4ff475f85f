"""Scores of answers to items: real words in the open tasks."""

import hashlib
import json
from importlib.resources import files

import pytest

from tests.items.conftest import small_lexicon
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.lexicon.entries import Concept, Entry, Lexicon
from turkic_idiom_tasks.spans import Span
from turkic_idiom_tasks.tasks.items.item_types import Item, Option
from turkic_idiom_tasks.tasks.items.items import build_items
from turkic_idiom_tasks.tasks.items.prompts import VARIANTS, open_prompt
from turkic_idiom_tasks.tasks.items.scoring import answers_digest, judge_open, score_open

SENTENCE = "Kovulmayı göze alıp müdüre her şeyi anlattım."
TURKISH = {
    "accept-the-risk": Entry("accept-the-risk", "göze almak", None, SENTENCE, (Span(10, 19),), ("göze aldırmak",)),
    "stake-all": Entry("stake-all", "canını dişine takmak"),
    "other": Entry("other", "diz çökmek"),
}
LEXICON = Lexicon(
    {name: Concept(name, "") for name in TURKISH},
    {"tr": TURKISH},
    revision="0" * 40,
    equivalents={("accept-the-risk", "stake-all"): "same", ("accept-the-risk", "other"): "near"},
)
ITEM = Item(
    "cloze_tr/accept-the-risk",
    "cloze",
    "tr",
    "tr",
    "accept-the-risk",
    "göze almak",
    "Kovulmayı _____ müdüre her şeyi anlattım.",
    (Option("göze almak", "accept-the-risk"), Option("diz çökmek", "other", "random")),
    0,
)


@pytest.mark.parametrize(
    ("answer", "exact", "lemma", "accepted"),
    [
        ("göze alıp", 1, 1, 1),
        ("GÖZE ALIP", 1, 1, 1),  # I is the capital of ı
        ("göze aldım,", 0, 1, 1),
        ("göze almak", 0, 1, 1),
        ("canımı dişime takıp", 0, 0, 1),  # judged to mean the same
        ("diz çöküp", 0, 0, 0),  # judged near only
        ("göze", 0, 0, 0),
        ("göze alıp müdüre her şeyi anlattım", 0, 0, 0),  # more than the blank
        ("", 0, 0, 0),
        (None, 0, 0, 0),  # could not be read
    ],
)
def test_answers_to_the_open_cloze(answer, exact, lemma, accepted):
    scores = score_open([ITEM], [answer], LEXICON)
    assert (scores["exact"], scores["lemma"], scores["accepted"]) == (exact, lemma, accepted)
    assert scores["unreadable"] == (answer is None)


def test_the_open_cloze_needs_the_lexicon_of_its_items():
    with pytest.raises(InputError, match="cloze_tr/accept-the-risk"):
        score_open([ITEM], ["göze alıp"], small_lexicon(6))
    with pytest.raises(ValueError, match="longer"):
        score_open([ITEM], ["a", "b"], LEXICON)


def recalled(language, concept, answer):
    """The judgement of an answer to the definition of a concept in the bundled lexicon."""
    dataset = open_dataset()
    (item,) = [item for item in build_items(dataset, "meaning", language) if item.concept == concept]
    (judgement,) = judge_open([item], [answer], dataset.lexicon)
    scores = score_open([item], [answer], dataset.lexicon)
    assert scores["unreadable"] == (answer is None)
    assert (scores["exact"], scores["accepted"]) == (judgement.is_exact, judgement.is_accepted)
    assert scores["unjudged"] == judgement.is_unjudged
    return judgement.is_exact, judgement.has_lemma, judgement.is_accepted, judgement.is_unjudged


IDIOM, FORM, ACCEPTED, WRONG, UNJUDGED = (1, 1, 1, 0), (0, 1, 1, 0), (0, 0, 1, 0), (0, 0, 0, 0), (0, 0, 0, 1)


@pytest.mark.parametrize(
    ("language", "concept", "answer", "expected"),
    [
        # kulni oʻz koʻmachiga tortmoq, variant oʻz koʻmachiga kul tortmoq
        ("uz", "look-after-number-one", "kulni oʻz koʻmachiga tortmoq", IDIOM),
        ("uz", "look-after-number-one", "Kulni o'z ko‘machiga tortmoq", IDIOM),  # other signs for the turned comma
        ("uz", "look-after-number-one", "oʻz koʻmachiga kul tortmoq", IDIOM),
        ("uz", "look-after-number-one", "kulini oʻz koʻmachiga tortdi", FORM),
        ("uz", "look-after-number-one", "oʻz nafini oʻylamoq", UNJUDGED),
        ("uz", "look-after-number-one", "kul", UNJUDGED),
        ("uz", "fly-into-a-rage", "tepa sochi tikka boʻldi", ACCEPTED),  # of a concept judged to mean the same
        ("uz", "fly-into-a-rage", "doʻppi tor kelmoq", UNJUDGED),
        ("tr", "a-tiny-bit-of", "devede kulak", ACCEPTED),  # judged `same` by both readers
        ("tr", "a-tiny-bit-of", "DEVEDE KULAK", ACCEPTED),
        ("tr", "back-down-out-of-fear", "kuyruğunu kıstı", ACCEPTED),  # a form of kuyruğunu kısmak, judged `same`
        ("tr", "back-down-out-of-fear", "sesi soluğu kesilmek", WRONG),  # judged `related`
        ("tr", "a-tiny-bit-of", "tadımlık", WRONG),  # judged `no`
        ("tr", "a-tiny-bit-of", "diz çökmek", UNJUDGED),
        ("tr", "bar-someones-way", "devede kulak", UNJUDGED),  # a verdict is on one concept
        ("tr", "a-tiny-bit-of", None, WRONG),
        ("tr", "a-tiny-bit-of", "", WRONG),
    ],
)
def test_answers_to_recall(language, concept, answer, expected):
    assert recalled(language, concept, answer) == expected


def test_recall_needs_the_lexicon_of_its_items():
    item = build_items(open_dataset(), "meaning", "tr")[0]
    with pytest.raises(InputError, match=item.id):
        judge_open([item], ["göze almak"], LEXICON)


def test_the_answers_file_has_two_readers_of_each_answer_and_is_named_by_its_digest():
    path = files("turkic_idiom_tasks.tasks.items") / "judged_answers.jsonl"
    assert hashlib.sha256(path.read_bytes()).hexdigest().startswith(answers_digest())
    lexicon = open_dataset().lexicon
    order = ["same", "related", "no"]
    seen = set()
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        assert row["concept"] in lexicon.of(row["language"])
        assert len(row["readers"]) == 2
        assert row["verdict"] == max(row["readers"], key=order.index)  # the sterner one counts
        seen.add((row["language"], row["concept"], row["answer"]))
    assert len(seen) == len(path.read_text("utf-8").splitlines())


def test_the_question_of_recall_shows_the_meaning_and_not_the_idiom():
    dataset = open_dataset()
    for code in ("tr", "az", "tk", "gag", "uz"):
        for item in build_items(dataset, "meaning", code)[:20]:
            for variant in VARIANTS:
                question = open_prompt(item, variant)
                assert item.options[item.gold].text in question
                assert item.idiom not in question
