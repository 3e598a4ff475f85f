import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.orthography import (
    clean,
    fold,
    have_same_stems,
    letters_outside,
    lower,
    share_stem,
    skeleton,
    to_common,
)

TR, AZ, TK, GAG, UZ, KK = (LANGUAGES[code] for code in ("tr", "az", "tk", "gag", "uz", "kk"))
TEXTS = st.text(
    alphabet=st.sampled_from("abcçdeəfgğhxıijkqlmnňoöprsştţuüvyýzžäêâIİÇĞÖŞÜƏŇÝŽÄÊŢ ʻʼ’'`-.,1") | st.characters()
)


@pytest.mark.parametrize(
    ("language", "upper", "lowered"),
    [
        (TR, "IŞIK İÇİNDE", "ışık içinde"),
        (AZ, "QIZIL ƏL İLƏ", "qızıl əl ilə"),
        (GAG, "IŞIN İZİ", "ışın izi"),
        (TK, "IŇ ÝÜREK WAGTY", "iň ýürek wagty"),
        (UZ, "OʻZ INSOFI", "oʻz insofi"),
        (KK, "Әр Ғасыр, ҚҢӨ, ҰЛТ, Үй, Һ, ІС", "әр ғасыр, қңө, ұлт, үй, һ, іс"),
    ],
)
def test_lower_follows_the_language(language, upper, lowered):
    assert lower(upper, language) == lowered


@given(TEXTS, st.sampled_from(list(LANGUAGES.values())))
def test_lower_and_fold_keep_every_offset(text, language):
    assert len(lower(text, language)) == len(text)
    assert len(fold(text, language)) == len(text)
    assert fold(fold(text, language), language) == fold(text, language)


def test_fold_makes_apostrophes_and_circumflexes_equal():
    assert fold("Oʻz", UZ) == fold("O’z", UZ) == fold("o'z", UZ) == fold("o`z", UZ)
    assert fold("Kâğıt", TR) == fold("kağıt", TR)
    assert fold("KIŞ", TR) != fold("kiş", TR)


@pytest.mark.parametrize(
    ("language", "text", "cleaned"),
    [
        (UZ, "ko’z og‘riq  san'at maʻno", "koʻz ogʻriq sanʼat maʼno"),
        (UZ, "‘koʻz’", "‘koʻz’"),  # quotation marks around a word are not letters
        (TR, unicodedata.normalize("NFD", "göz\u00a0yummak\u200b"), "göz yummak"),
        (GAG, "ș ț Ș", "ş ţ Ş"),
    ],
)
def test_clean_puts_the_right_letters_and_removes_what_cannot_be_seen(language, text, cleaned):
    assert clean(text, language) == cleaned


@given(TEXTS, st.sampled_from(list(LANGUAGES.values())))
def test_clean_changes_nothing_the_second_time(text, language):
    assert clean(clean(text, language), language) == clean(text, language)


@pytest.mark.parametrize(
    ("language", "text", "outside"),
    [
        (TR, "göz yummaq wə", ["q", "w", "ə"]),
        (AZ, "göz yummaq", []),
        (UZ, "ko'z", ["'"]),
        (TK, "gözı", ["ı"]),
        (GAG, "kulaa asmaa, êr, ţar", []),
        (GAG, "ağız", ["ğ"]),
        (AZ, "Bakıʼda", ["ʼ"]),
        (UZ, "ko`z, san’at", ["`", "’"]),
        (KK, "Кoзқарaс", ["o", "a"]),  # Latin look-alikes
    ],
)
def test_letters_outside_the_alphabet(language, text, outside):
    assert letters_outside(text, language) == outside


@pytest.mark.parametrize(
    ("language", "text", "common"),
    [
        (AZ, "Baş əymək, qulaq, xoş", "baş eymek, kulak, hoş"),
        (TK, "Ýüregi agyz žurnal ňe jan wagt", "yüregi agız jurnal ne can vagt"),
        (UZ, "Koʻngil boʻlmoq, bosh, choy, oʻgʻil", "könil bölmak, baş, çay, öğil"),
        (GAG, "Sevmää, ţarı", "sevmee, tsarı"),
        (TR, "Kâğıt", "kağıt"),
        (KK, "Жүрегі үш, көңіл", "yüregi üç, könil"),
    ],
)
def test_common_orthography(language, text, common):
    assert to_common(text, language) == common


def test_skeleton_brings_cognates_together_and_never_eats_a_whole_word():
    turkish = skeleton("göz yummak", TR)
    assert turkish == skeleton("göz yummaq", AZ) == skeleton("koʻz yummoq", UZ) == skeleton("göz ýummak", TK)
    assert skeleton("göz açmak", TR) != turkish
    assert skeleton("mak", TR) != ""
    assert skeleton("kutmak", TR) == "kut"


def test_idioms_in_another_script_share_stems_with_the_turkish_ones():
    assert share_stem("көзге түсу", KK, "göze çarpmak", TR)
    assert have_same_stems("көз жұму", KK, "göz yummak", TR)
    assert not share_stem("бас тарту", KK, "göz yummak", TR)
    assert share_stem("bosh egmoq", UZ, "baş eğmek", TR)
    assert not share_stem("rugsat bermek", TK, "yol vermek", TR)  # ber- and ver- are light verbs


@pytest.mark.parametrize(
    ("gagauz", "other", "language", "same"),
    [
        ("gözdän düşmää", "gözdən düşmək", AZ, True),
        ("diz çökmää", "tiz cho\u02bbkmoq", UZ, True),
        ("sudan çıkmış balık gibi", "sudan çıxmış balıq kimi", AZ, True),  # gibi and kimi are function words
        ("öbür dünneyä gitmää", "dünyasını dəyişmək", AZ, False),  # öbür has no cognate
        ("canını almaa", "jonini jahannamga yubormoq", UZ, False),  # nor has jahannam, the other way round
        ("taş ürekli", "daş ürəkli", AZ, True),
        ("var", "var", AZ, False),  # function words alone say nothing
        ("dil", "til", UZ, True),  # the tongue, not diil
        ("elä geçmää", "ələ keçmək", AZ, True),  # keçmək is not heç
    ],
)
def test_which_idioms_have_the_same_content_words(gagauz, other, language, same):
    assert have_same_stems(gagauz, GAG, other, language) is same
    assert have_same_stems(other, language, gagauz, GAG) is same
