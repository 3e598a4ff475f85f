import pytest

from hub_datasets.cleaning import (
    EXAMPLE_LIMIT,
    IDIOM_LIMIT,
    IDIOM_WORDS,
    MEANING_LIMIT,
    clean_reading,
    clean_text,
    compared,
)
from hub_datasets.sources import Reading
from turkic_idiom_tasks.languages import LANGUAGES

TURKISH, AZERBAIJANI, UZBEK = LANGUAGES["tr"], LANGUAGES["az"], LANGUAGES["uz"]


def test_text_gets_the_letters_of_its_language():
    assert clean_text("  g\u0131\u0307 o\u0308z\u00a0 ucu\u200b ", TURKISH).split()[1] == "öz"
    assert clean_text("ürәyi \u01ddsmək", AZERBAIJANI) == "ürəyi əsmək"  # Cyrillic ә and the reversed e
    assert clean_text("ko`z, ta'bi, jam’ ichida", UZBEK) == "koʻz, taʼbi, jamʼ ichida"
    assert clean_text("‘yaxshi so'z’ dedi", UZBEK) == "“yaxshi soʻz” dedi"
    assert clean_text("bir işe , birine", TURKISH) == "bir işe, birine"


def test_texts_are_the_same_without_case_circumflex_and_punctuation():
    assert compared("Kâr etmek!", TURKISH) == compared("kar  etmek", TURKISH)
    assert compared("IŞIK", TURKISH) == "ışık"
    assert compared("IŞIK", TURKISH) != compared("İşik", TURKISH)
    assert compared(None, TURKISH) == ""


@pytest.mark.parametrize(
    ("reading", "problem"),
    [
        (Reading("", "anlam"), "no idiom"),
        (Reading("гöз юммак", "anlam"), "idiom: letters outside the Turkish alphabet"),  # Cyrillic
        (Reading("qara gün"), "idiom: letters outside the Turkish alphabet"),
        (Reading("a" * (IDIOM_LIMIT + 1)), f"idiom: longer than {IDIOM_LIMIT} characters"),
        (Reading("a " * (IDIOM_WORDS + 1)), f"idiom has more than {IDIOM_WORDS} words"),
        (Reading("1 2"), "idiom: fewer than 2 letters"),
    ],
)
def test_bad_idioms_are_refused_with_a_reason(reading, problem):
    cleaned = clean_reading(reading, TURKISH)
    assert cleaned.reading is None
    assert cleaned.problem == problem


def test_bad_fields_are_taken_out_and_noted():
    reading = Reading(
        "göz yummak", "x" * (MEANING_LIMIT + 1), "Ω harfi göz yumdu", ("göz yummaq", "gözünü yummak", "göz yummak")
    )
    cleaned = clean_reading(reading, TURKISH)
    assert cleaned.reading == Reading("göz yummak", None, None, ("gözünü yummak",))
    assert [note.what for note in cleaned.notes] == [
        f"meaning removed: longer than {MEANING_LIMIT} characters",
        "example removed: letters outside the Turkish alphabet",
        "variant removed: idiom: letters outside the Turkish alphabet",
    ]
    assert clean_reading(Reading("göz yummak", None, "a " * EXAMPLE_LIMIT), TURKISH).reading == Reading("göz yummak")
