"""Scores of answers to items: real words in the open tasks."""

import hashlib
import json
from importlib.resources import files

import pytest

from tests.items.conftest import small_lexicon
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.lexicon.entries import Concept, Entry, Lexicon
from turkic_idiom_tasks.spans import Span
from turkic_idiom_tasks.tasks.items.item_types import Item, Option
from turkic_idiom_tasks.tasks.items.items import build_items, whole_of
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS
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
    (Option("göze alıp", "accept-the-risk"), Option("diz çökmek", "other", "random")),
    0,
)


@pytest.mark.parametrize(
    ("answer", "exact", "lemma", "accepted"),
    [
        ("GÖZE ALIP", 1, 1, 1),  # I is the capital of ı
        ("göze aldım,", 0, 1, 1),
        ("göze almak", 0, 1, 1),
        ("canımı dişime takıp", 0, 0, 1),  # judged to mean the same
        ("diz çöküp", 0, 0, 0),  # judged near only
        ("göze alıp müdüre her şeyi anlattım", 0, 0, 0),  # more than the blank
        ("", 0, 0, 0),
        (None, 0, 0, 0),  # could not be read
    ],
)
def test_answers_to_the_open_cloze(answer, exact, lemma, accepted):
    scores = score_open("cloze_open", [ITEM], [answer], LEXICON)
    assert (scores["exact"], scores["lemma"], scores["accepted"]) == (exact, lemma, accepted)
    assert scores["unreadable"] == (answer is None)


def test_the_open_cloze_needs_an_answer_to_each_item_and_the_lexicon_of_its_items():
    with pytest.raises(InputError, match="cloze_tr/accept-the-risk"):
        score_open("cloze_open", [ITEM], ["göze alıp"], small_lexicon(6))
    with pytest.raises(ValueError, match="longer"):
        score_open("cloze_open", [ITEM], ["a", "b"], LEXICON)


IDIOM, FORM, ACCEPTED, WRONG, UNJUDGED = (1, 1, 1, 0), (0, 1, 1, 0), (0, 0, 1, 0), (0, 0, 0, 0), (0, 0, 0, 1)


@pytest.mark.parametrize(
    ("language", "concept", "answer", "expected"),
    [
        # kulni oʻz koʻmachiga tortmoq, variant oʻz koʻmachiga kul tortmoq
        ("uz", "look-after-number-one", "Kulni o'z ko‘machiga tortmoq", IDIOM),  # other signs for the turned comma
        ("uz", "look-after-number-one", "oʻz koʻmachiga kul tortmoq", IDIOM),
        ("uz", "look-after-number-one", "kulini oʻz koʻmachiga tortdi", FORM),
        ("uz", "look-after-number-one", "oʻz nafini oʻylamoq", UNJUDGED),
        ("uz", "fly-into-a-rage", "tepa sochi tikka boʻldi", ACCEPTED),  # of a concept judged to mean the same
        ("tr", "a-tiny-bit-of", "DEVEDE KULAK", ACCEPTED),  # judged `same` by both readers
        ("tr", "back-down-out-of-fear", "kuyruğunu kıstı", ACCEPTED),  # a form of kuyruğunu kısmak, judged `same`
        ("tr", "back-down-out-of-fear", "sesi soluğu kesilmek", WRONG),  # judged `related`
        ("tr", "a-tiny-bit-of", "tadımlık", WRONG),  # judged `no`
        ("tr", "a-tiny-bit-of", "diz çökmek", UNJUDGED),
        ("tr", "bar-someones-way", "devede kulak", UNJUDGED),  # a verdict is on one concept
        ("tr", "a-tiny-bit-of", None, WRONG),
        ("tr", "a-tiny-bit-of", "", WRONG),
    ],
)
def test_answers_to_recall(dataset, language, concept, answer, expected):
    (item,) = [item for item in build_items(dataset, "recall", language) if item.concept == concept]
    scores = score_open("recall", [item], [answer], dataset.lexicon)
    assert tuple(scores[name] for name in ("exact", "lemma", "accepted", "unjudged")) == expected
    assert scores["unreadable"] == (answer is None)


def test_the_answers_file_has_two_readers_of_each_answer_and_is_named_by_its_digest(dataset):
    path = files("turkic_idiom_tasks.tasks.items") / "judged_answers.jsonl"
    assert hashlib.sha256(path.read_bytes()).hexdigest().startswith(answers_digest())
    lexicon = dataset.lexicon
    order = ["same", "fits", "related", "no"]
    sentences = {(code, item.text) for code in lexicon.entries for item in build_items(dataset, "cloze_open", code)}
    seen = set()
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        assert row["concept"] in lexicon.of(row["language"])
        assert len(row["readers"]) == 2
        assert row["verdict"] == max(row["readers"], key=order.index)  # the sterner one counts
        sentence = row.get("sentence")
        assert sentence is None or (row["language"], sentence) in sentences
        seen.add((row["language"], row["concept"], sentence, row["answer"]))
    assert len(seen) == len(path.read_text("utf-8").splitlines())


@pytest.mark.parametrize("task", OPEN_TASKS)
def test_the_question_of_an_open_task_shows_its_text_and_not_the_answer(dataset, task):
    whole, concepts = whole_of(task), dataset.lexicon.concepts
    for item in build_items(dataset, task, "tr", "az" if whole == "translate" else None)[:20]:
        assert whole != "recall_en" or item.text == concepts[item.concept].gloss
        answer = item.options[item.gold].text
        assert answer == dataset.lexicon.of(item.target)[item.concept].idiom or whole == "cloze_open"
        for variant in VARIANTS:
            question = open_prompt(item, task, variant)
            assert item.text in question
            assert (item.idiom in question) == (whole == "translate")
            assert answer not in question or whole == "translate"  # an idiom that both languages have
            assert ("Azerbaijani" in question) == (whole == "translate" and variant != "native")


def test_a_translation_is_asked_with_another_sentence_than_the_cloze_or_with_the_idiom_alone(dataset):
    turkish, items = dataset.lexicon.of("tr"), build_items(dataset, "translate", "tr", "az")
    sentences = {item.text for item in build_items(dataset, "cloze_open", "tr")}
    for item in items:
        entry = turkish[item.concept]
        assert item.text.replace(entry.spans[0].of(entry.example), "_____") not in sentences
    assert 0 < sum(item.text == turkish[item.concept].idiom for item in items) < 0.6 * len(turkish)


@pytest.mark.parametrize(
    ("answer", "first", "accepted", "unjudged"),
    [
        ("tırnak kadar; diz çökmek", 1, 1, 0),
        ("diz çökmek; göz yummak; DEVEDE KULAK", 0, 1, 0),  # an unjudged one beside the accepted one is of no interest
        ("diz çökmek; göz yummak; el açmak; devede kulak", 0, 0, 1),  # three answers at most
        (None, 0, 0, 0),
    ],
)
def test_of_three_answers_the_best_counts(dataset, answer, first, accepted, unjudged):
    (item,) = [item for item in build_items(dataset, "recall_three", "tr") if item.concept == "a-tiny-bit-of"]
    scores = score_open("recall_three", [item], [answer], dataset.lexicon)
    assert [scores[name] for name in ("first", "accepted", "unjudged")] == [first, accepted, unjudged]


def test_a_translation_is_judged_in_the_language_of_the_answer(dataset):
    items = build_items(dataset, "translate", "az", "tr")
    (item,) = [item for item in items if item.concept == "a-tiny-bit-of"]
    answers = ["tırnak kadar", "devede kulak", item.idiom, "diz çökmek"]  # idiom, judged `same`, Azerbaijani, unjudged
    judged = judge_open("translate", [item] * 4, answers, dataset.lexicon)
    assert [(judgement["exact"], judgement["accepted"], judgement["unjudged"]) for judgement in judged] == [
        (True, True, False), (False, True, False), (False, False, True), (False, False, True),
    ]  # fmt: skip
