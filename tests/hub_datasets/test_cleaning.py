from hypothesis import given
from hypothesis import strategies as st

from hub_datasets.cleaning import SLUG_LIMIT, clean_reading, clean_text, concept_stems, sense_id, slug
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
