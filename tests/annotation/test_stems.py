import pytest

from turkic_idiom_tasks.annotation.stems import morphology, normalise, stems, without_voice
from turkic_idiom_tasks.languages import LANGUAGES

# (language, word, a stem it has) from the grammars of the languages
FORMS = [
    ("tr", "gözlerimizdekilerden", "n:göz"),
    ("tr", "ağzını", "n:ağız"),
    ("tr", "rengi", "n:renk"),
    ("tr", "üstündeyken", "n:üst"),
    ("tr", "bana", "n:ben"),
    ("tr", "okuyormuş", "v:oku"),
    ("tr", "yiyeceklermiş", "v:ye"),
    ("tr", "diyorum", "v:de"),
    ("tr", "gidemiyoruz", "v:git"),
    ("tr", "kapayıncaya", "v:kapa"),
    ("tr", "çıkaramayacağımızdan", "v:çıkar"),
    ("az", "ürəyindəkilər", "n:ürək"),
    ("az", "çiynimi", "n:çiyin"),
    ("az", "almamışam", "v:al"),
    ("az", "boşaldıb", "v:boşalt"),
    ("az", "deyirlər", "v:de"),
    ("tk", "agzymyzdan", "n:agyz"),
    ("tk", "ýüregiňe", "n:ýürek"),
    ("tk", "bolandygyny", "v:bol"),
    ("tk", "aýdýarsyňyz", "v:aýt"),
    ("tk", "diýipdirler", "v:diý"),
    ("gag", "kulaandan", "n:kulak"),
    ("gag", "düşünmeerlär", "v:düşün"),
    ("gag", "gidecän", "v:git"),
    ("uz", "qulogʻingizdan", "n:quloq"),
    ("uz", "ogʻzimga", "n:oğiz"),
    ("uz", "chiqqanlarning", "v:çiq"),
    ("uz", "ishlayaptilar", "v:işla"),
    ("uz", "aytganingizdan", "v:ayt"),
]


@pytest.mark.parametrize(("code", "word", "stem"), FORMS)
def test_a_form_has_its_stem(code, word, stem):
    assert stem in stems(normalise(word, LANGUAGES[code]), code)


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("gözlük", "n:göz"),  # -lük derives another word
        ("karar", "n:kar"),  # -ar is no suffix of nouns
        ("gözde", "v:göz"),
        ("karım", "n:karıı"),
        ("suyla", "v:su"),
    ],
)
def test_a_word_has_no_stem_that_is_not_its(word, stem):
    assert stem not in stems(word, "tr")


def test_a_voice_suffix_has_a_price():
    assert stems("açıldı", "tr")["v:aç"] > stems("açıldı", "tr")["v:açıl"] == stems("açtı", "tr")["v:aç"] == 0
    assert (without_voice("serpil", "tr"), without_voice("ver", "tr")) == (["serp"], [])


@pytest.mark.parametrize("code", list(LANGUAGES))
def test_every_letter_of_a_table_is_a_letter_of_the_language_or_stands_for_one(code):
    """A letter of another alphabet that looks the same (Cyrillic а) would make a suffix that never matches."""
    table = morphology(code)
    allowed = {
        plain_letter for letter in LANGUAGES[code].alphabet for plain_letter in normalise(letter, LANGUAGES[code])
    }
    allowed |= set("".join(table.letters.values())) | set(table.classes) | set("() ")
    slots = (table.plural, table.possessives, table.cases, table.relatives, table.copulas, table.persons, table.voices)
    forms = (table.aspects, table.tenses, table.participles, table.converbs, table.imperatives, table.enclitics)
    assert set("".join((*slots, *forms, *table.classes.values(), *table.irregular, *table.light_verbs))) <= allowed
