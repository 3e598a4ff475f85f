import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub_datasets.cleaning import (
    EXAMPLE_LIMIT,
    IDIOM_LIMIT,
    IDIOM_WORDS,
    MEANING_LIMIT,
    SLUG_LIMIT,
    clean_gloss,
    clean_reading,
    clean_text,
    compared,
    concept_stems,
    sense_id,
    slug,
)
from hub_datasets.import_report import Reading
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import CONCEPT_ID

IDIOMS = st.text(alphabet="abçdeəgğhıiİIjkqlmnňoöpsştţuüvyýzʻʼ' -", min_size=1, max_size=90)
TURKISH, AZERBAIJANI, UZBEK = LANGUAGES["tr"], LANGUAGES["az"], LANGUAGES["uz"]


def test_text_gets_the_letters_of_its_language():
    assert clean_text("  g\u0131\u0307 o\u0308z\u00a0 ucu\u200b ", TURKISH).split()[1] == "öz"
    assert clean_text("ürәyi \u01ddsmək", AZERBAIJANI) == "ürəyi əsmək"  # Cyrillic ә and the reversed e
    assert clean_text("ko`z, ta'bi, jam’ ichida", UZBEK) == "koʻz, taʼbi, jamʼ ichida"
    assert clean_text("‘yaxshi so'z’ dedi", UZBEK) == "“yaxshi soʻz” dedi"
    assert clean_text("bir işe , birine", TURKISH) == "bir işe, birine"


def test_another_script_keeps_its_letters_and_is_reported_for_latin_ones():
    kazakh = LANGUAGES["kk"]
    assert clean_text(" Жү\u00adрегі  е\u0306, Сен ", kazakh) == "Жүрегі ӗ, Сен"  # composed, С and е stay Cyrillic
    mixed = clean_reading(Reading("бас тарту", "кeлiспеу", "Ол бас тартты."), kazakh)  # e and i are Latin
    assert (mixed.reading.meaning, mixed.reading.example) == (None, "Ол бас тартты.")
    assert mixed.notes[0].what == "meaning removed: letters outside the Kazakh alphabet"
    assert slug("көз жұму", "kk") == "koz-yumu"


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
        (Reading("göz \u202eyummak"), "idiom: characters that cannot be seen"),
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


def test_glosses_lose_what_cannot_be_seen():
    assert clean_gloss("to\u202e ignore\x07\n it") == "to ignore it"


def test_slugs_are_readable_ascii():
    assert slug("ağzı kulaklarına varmak", "tr") == "agzi-kulaklarina-varmak"
    assert slug("ISLIK ÇALMAK", "tr") == "islik-calmak"
    assert slug("ürəyi əsmək", "az") == "ureyi-esmek"
    assert slug("gözüň ýaşy", "tk") == "gozun-yasy"
    assert slug("koʻzi ogʻriq, taʼbi yoʻq", "uz") == "kozi-ogriq-tabi-yoq"


@given(st.sets(st.tuples(st.sampled_from(["tr", "az", "uz"]), IDIOMS), max_size=12))
def test_ids_are_valid_unique_and_do_not_depend_on_unrelated_idioms(keys):
    stems = concept_stems(keys)
    assert concept_stems(sorted(keys, reverse=True)) == stems
    assert len(set(stems.values())) == len(keys)
    for key, stem in stems.items():
        assert CONCEPT_ID.fullmatch(sense_id(stem, 2))
        assert len(stem) <= SLUG_LIMIT + 7
        if stem == slug(key[1], key[0]):
            assert concept_stems([key]) == {key: stem}
