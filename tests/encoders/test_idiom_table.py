"""Tokens of idioms: which forms they replace in a text."""

import csv

import pytest

from turkic_idiom_tasks.encoders.siblings.idiom_tokens import (
    IdiomForm,
    IdiomTable,
    KnownIdiom,
    make_tokens,
    with_tokens,
)
from turkic_idiom_tasks.errors import InputError


def known(idiom, *forms, language=""):
    """An idiom whose forms are texts, or tuples of the parts of a discontinuous one; without any its citation form."""
    parts = [form if isinstance(form, tuple) else (form,) for form in forms or (idiom,)]
    return KnownIdiom(idiom, tuple(IdiomForm(form, language) for form in parts), language)


def rewritten(text, *idioms):
    table = IdiomTable(idioms=make_tokens(idioms))
    return with_tokens(text, table.occurrences(text))


HIGH_LIFE = known("high life")
LIGHT, LIGHT_ELSEWHERE = (known("ışık tutmak", "ışık tuttu", language=language) for language in ("tr", ""))
BOW = known("baş eğmek", ("başını", "eğdi"), language="tr")
ON_FOOT = known("ayaküstü", language="tr")
GLANCES = [known("göz atmak", "göz attı", language="tr"), known("göz atıp geçmek", "göz attı geçti", language="tr")]


@pytest.mark.parametrize(
    ("idioms", "text", "expected"),
    [
        (HIGH_LIFE, "They left the high life.", "They left the IDhighlifeID."),  # the form of AStitch, section 4.2
        (HIGH_LIFE, "HIGH LIFE, high life", "IDhighlifeID, IDhighlifeID"),
        (HIGH_LIFE, "two high lifes", "two IDhighlifeIDs"),  # the authors' data has IDmailinglistIDs
        (HIGH_LIFE, "a mahigh life", "a mahigh life"),
        (HIGH_LIFE, "a life high up", "a life high up"),
        # capital letters are those of the language; elsewhere a capital I is that of i
        (LIGHT, "IŞIK TUTTU", "IDışıktutmakID"),
        (LIGHT, "ışık tuttular", "IDışıktutmakIDlar"),
        (LIGHT_ELSEWHERE, "ışık TUTTU", "IDışıktutmakID"),
        (LIGHT_ELSEWHERE, "Işık tuttu", "Işık tuttu"),
        (known("içini dökmek", "içini döktü", language="tr"), "İçini döktü.", "IDiçinidökmekID."),  # one letter in NFC
        # the parts of a discontinuous form, in one sentence and not too far apart
        (BOW, "Sonunda başını yavaşça eğdi.", "Sonunda IDbaşeğmekID yavaşça."),
        (BOW, "Başını eğdi, sustu.", "IDbaşeğmekID, sustu."),
        (BOW, "Başını salladı. Sonra eğdi.", "Başını salladı. Sonra eğdi."),
        (BOW, "Eğdi başını.", "Eğdi başını."),
        (BOW, "başını " + "çok " * 9 + "eğdi", "IDbaşeğmekID " + ("çok " * 9).strip()),
        (BOW, "başını " + "çok " * 10 + "eğdi", "başını " + "çok " * 10 + "eğdi"),
        # its suffix stands behind the token
        (known("yıldızı parlamak", ("yıldızı", "parladı"), language="tr"), "Yıldızı çok parladığında sustu.",
         "IDyıldızıparlamakIDğında çok sustu."),
        (known("yıldızı parlamak", ("yıldızı", "parlama"), language="tr"), "Yıldızı hiç parlamadı.",
         "IDyıldızıparlamakIDdı hiç."),
        (ON_FOOT, "ayaküstü ayaküstünde", "IDayaküstüID ayaküstünde"),  # not the beginning of another word
        (known("付之一笑"), "他付之一笑走了", "他ID付之一笑ID走了"),  # Chinese has no spaces between words
        (GLANCES, "göz attı geçti, göz attı", "IDgözatıpgeçmekID, IDgözatmakID"),  # the longest form counts
    ],
)  # fmt: skip
def test_what_tokens_replace(idioms, text, expected):
    assert rewritten(text, *(idioms if isinstance(idioms, list) else [idioms])) == expected


def test_the_tokens_are_those_of_the_authors_own_data(outside_data):
    """AStitchInLanguageModels has a column with the sentence after the replacement of its idiom."""
    n_rows = 0
    for path in sorted((outside_data / "astitch").rglob("*_rawSimData.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                assert rewritten(row["sent_idiom"], known(row["idiom"])) == row["sent_idiom_tokenised"]
                n_rows += 1
    assert n_rows > 1900


def test_an_idiom_in_two_spellings_and_languages_has_one_token():
    tokens = make_tokens([known("Gold-Mine"), known("gold mine"), known("gold mine", "gold mine", language="tr")])
    assert [row.token for row in tokens] == ["IDgoldmineID"]
    assert [form.parts for form in tokens[0].forms] == [("Gold-Mine",), ("gold mine",), ("gold mine",)]


@pytest.mark.parametrize(
    ("idioms", "part"),
    [
        ([known("night owl"), known("nightowl")], "'night owl' and 'nightowl' would have the same token, IDnightowlID"),
        ([known("?!")], "neither letters nor digits"),
        ([], "no idiom"),
    ],
)
def test_idioms_that_cannot_have_tokens_are_named(idioms, part):
    with pytest.raises(InputError, match=part):
        make_tokens(idioms)
