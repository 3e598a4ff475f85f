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
    ("function", "language", "text", "expected"),
    [
        (lower, TR, "IŞIK İÇİNDE", "ışık içinde"),
        (lower, AZ, "QIZIL ƏL İLƏ", "qızıl əl ilə"),
        (lower, GAG, "IŞIN İZİ", "ışın izi"),
        (lower, TK, "IŇ ÝÜREK WAGTY", "iň ýürek wagty"),
        (lower, UZ, "OʻZ INSOFI", "oʻz insofi"),
        (lower, KK, "Әр Ғасыр, ҚҢӨ, ҰЛТ, Үй, Һ, ІС", "әр ғасыр, қңө, ұлт, үй, һ, іс"),
        (clean, UZ, "ko’z og‘riq  san'at maʻno", "koʻz ogʻriq sanʼat maʼno"),
        (clean, UZ, "‘koʻz’", "‘koʻz’"),  # quotation marks around a word are not letters
        (clean, TR, unicodedata.normalize("NFD", "göz\u00a0yummak\u200b"), "göz yummak"),
        (clean, GAG, "ș ț Ș", "ş ţ Ş"),
        (letters_outside, TR, "göz yummaq wə", ["q", "w", "ə"]),
        (letters_outside, AZ, "göz yummaq", []),
        (letters_outside, UZ, "ko'z", ["'"]),
        (letters_outside, TK, "gözı", ["ı"]),
        (letters_outside, GAG, "kulaa asmaa, êr, ţar", []),
        (letters_outside, GAG, "ağız", ["ğ"]),
        (letters_outside, AZ, "Bakıʼda", ["ʼ"]),
        (letters_outside, UZ, "ko`z, san’at", ["`", "’"]),
        (letters_outside, KK, "Кoзқарaс", ["o", "a"]),  # Latin look-alikes
        (to_common, AZ, "Baş əymək, qulaq, xoş", "baş eymek, kulak, hoş"),
        (to_common, TK, "Ýüregi agyz žurnal ňe jan wagt", "yüregi agız jurnal ne can vagt"),
        (to_common, UZ, "Koʻngil boʻlmoq, bosh, choy, oʻgʻil", "könil bölmak, baş, çay, öğil"),
        (to_common, GAG, "Sevmää, ţarı", "sevmee, tsarı"),
        (to_common, TR, "Kâğıt", "kağıt"),
        (to_common, KK, "Жүрегі үш, көңіл", "yüregi üç, könil"),
    ],
)
def test_each_function_follows_the_language(function, language, text, expected):
    assert function(text, language) == expected


@given(TEXTS, st.sampled_from(list(LANGUAGES.values())))
def test_lower_and_fold_keep_every_offset_and_clean_changes_nothing_the_second_time(text, language):
    assert len(lower(text, language)) == len(text)
    assert len(fold(text, language)) == len(text)
    assert fold(fold(text, language), language) == fold(text, language)
    assert clean(clean(text, language), language) == clean(text, language)


def test_fold_makes_apostrophes_and_circumflexes_equal():
    assert fold("Oʻz", UZ) == fold("O’z", UZ) == fold("o'z", UZ) == fold("o`z", UZ)
    assert fold("Kâğıt", TR) == fold("kağıt", TR)
    assert fold("KIŞ", TR) != fold("kiş", TR)


def test_skeleton_brings_cognates_together_and_never_eats_a_whole_word():
    turkish = skeleton("göz yummak", TR)
    assert turkish == skeleton("göz yummaq", AZ) == skeleton("koʻz yummoq", UZ) == skeleton("göz ýummak", TK)
    assert skeleton("göz açmak", TR) != turkish
    assert skeleton("mak", TR) != ""
    assert skeleton("kutmak", TR) == "kut"


@pytest.mark.parametrize(
    ("function", "language", "idiom", "other_language", "other", "expected"),
    [
        (have_same_stems, GAG, "gözdän düşmää", AZ, "gözdən düşmək", True),
        (have_same_stems, GAG, "diz çökmää", UZ, "tiz cho\u02bbkmoq", True),
        # gibi and kimi are function words
        (have_same_stems, GAG, "sudan çıkmış balık gibi", AZ, "sudan çıxmış balıq kimi", True),
        (have_same_stems, GAG, "öbür dünneyä gitmää", AZ, "dünyasını dəyişmək", False),  # öbür has no cognate
        # nor has jahannam, the other way round
        (have_same_stems, GAG, "canını almaa", UZ, "jonini jahannamga yubormoq", False),
        (have_same_stems, GAG, "taş ürekli", AZ, "daş ürəkli", True),
        (have_same_stems, GAG, "var", AZ, "var", False),  # function words alone say nothing
        (have_same_stems, GAG, "dil", UZ, "til", True),  # the tongue, not diil
        (have_same_stems, GAG, "elä geçmää", AZ, "ələ keçmək", True),  # keçmək is not heç
        (have_same_stems, KK, "көз жұму", TR, "göz yummak", True),
        (share_stem, KK, "көзге түсу", TR, "göze çarpmak", True),
        (share_stem, KK, "бас тарту", TR, "göz yummak", False),
        (share_stem, UZ, "bosh egmoq", TR, "baş eğmek", True),
        (share_stem, TK, "rugsat bermek", TR, "yol vermek", False),  # ber- and ver- are light verbs
    ],
)
def test_which_idioms_have_the_same_content_words(function, language, idiom, other_language, other, expected):
    assert function(idiom, language, other, other_language) is expected
    assert function(other, other_language, idiom, language) is expected
