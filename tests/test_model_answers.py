"""Time of everything that reads what a language model wrote, in which a pattern may be repeated without an end."""

from time import process_time

import pytest

from hub_datasets.cleaning import clean_reading
from hub_datasets.import_report import Reading
from hub_datasets.questions import AnswerFields, read_answer
from turkic_idiom_tasks.annotation.annotate import annotate
from turkic_idiom_tasks.io.reading import MalformedError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.model_answers import without_reasoning
from turkic_idiom_tasks.tasks.items.answers import read_letter, read_open
from turkic_idiom_tasks.tasks.spans import answers as spans

SENTENCE = "Bu işe göz yumdu ."
PATTERNS = [
    *("<think>", "</think>", "<think></reasoning>", "<think></think>", "<", "</", "```", "<idiom>", "</idiom>", "<i "),
    *("{", "[", "]", '{"a":', '{"idioms":["göz"]}', '"', '\\"', "\\", "{}", "[[1],"),
    *(" ", "\n", "\r\n", "\u2028", " ,", "\u200b", "\u0301", "a\u0301\u0323", "\ud800", "İ", "a", "A ", "(A", "A)\n"),
    *("The answer is (", "cevap (", "option ", "Answer:", "Sentence: x\n", f"Sentence: {SENTENCE}\n", "Idiom: x\n"),
    *("B-IDIOM ", "göz ", "göz yum ", "- göz\n", "1. ", "…", "/", "*", "_", "’", "(göz)"),
]


class Word(AnswerFields):
    word: str


def read_in_every_way(text):
    """Everything that is done with a long answer, and with a text of an answer that may be long."""
    language = LANGUAGES["tr"]
    for strict in (False, True):
        read_letter(text, 4, strict=strict)
        read_open(text, "Bu ___ yumdu", strict=strict)
        spans.read_answer(text, SENTENCE, SENTENCE.split(), language, strict=strict)
    with pytest.raises(MalformedError):
        read_answer(text, Word)
    field = text[:20_000]
    annotate("göz yummak", field.encode("utf-8", "replace").decode(), language)
    clean_reading(Reading(field, field, field), language)
    clean_reading(Reading("göz yummak", field, field), LANGUAGES["uz"])


@pytest.mark.parametrize("pattern", PATTERNS, ids=ascii)
def test_a_long_repetition_of_a_pattern_is_read_within_seconds(pattern):
    # Of a pass that is quadratic, 30,000 characters took 90 seconds, so these would take a quarter of an hour.
    for end in ("", "</think>A"):
        start = process_time()
        read_in_every_way(pattern * (100_000 // len(pattern)) + end)
        assert process_time() - start < 2.5


def test_thoughts_are_removed_wherever_they_begin_and_end():
    assert without_reasoning("<think>a</think>b<reasoning>c</reasoning>d") == "bd"
    assert without_reasoning("a</think>b") == "b"
    assert without_reasoning("a<think>b") == "a"
    assert without_reasoning("a</think>b<THINK>c</THINK>d<think>e<think>f") == "bd"
    assert without_reasoning("<think>a<think>b</think>c</think>d") == "d"
