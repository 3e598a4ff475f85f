"""Tokens of idioms: which forms they replace in a text, and the file that states them."""

import csv
import json

import pytest

from turkic_idiom_tasks.encoders.siblings.idiom_tokens import (
    TABLE,
    ClassifierSettings,
    IdiomForm,
    IdiomTable,
    KnownIdiom,
    make_tokens,
    read_table_file,
    with_tokens,
)
from turkic_idiom_tasks.errors import InputError


def known(idiom, *forms, language=""):
    """An idiom whose forms are texts, or tuples of the parts of a discontinuous one; without any its citation form."""
    parts = [form if isinstance(form, tuple) else (form,) for form in forms or (idiom,)]
    return KnownIdiom(idiom, tuple(IdiomForm(form, language) for form in parts), language)


def rewritten(text, *idioms):
    table = IdiomTable(make_tokens(idioms))
    return with_tokens(text, table.occurrences(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("They left the high life.", "They left the IDhighlifeID."),  # the form of AStitch, section 4.2
        ("HIGH LIFE, high life", "IDhighlifeID, IDhighlifeID"),
        ("two high lifes", "two IDhighlifeIDs"),  # the authors' data has IDmailinglistIDs
        ("a mahigh life", "a mahigh life"),
        ("a high  life", "a high  life"),
        ("a life high up", "a life high up"),
    ],
)
def test_every_occurrence_is_replaced(text, expected):
    assert rewritten(text, known("high life")) == expected


def test_the_tokens_are_those_of_the_authors_own_data(outside_data):
    """AStitchInLanguageModels has a column with the sentence after the replacement of its idiom."""
    n_rows = 0
    for path in sorted((outside_data / "astitch").rglob("*_rawSimData.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                assert rewritten(row["sent_idiom"], known(row["idiom"])) == row["sent_idiom_tokenised"]
                n_rows += 1
    assert n_rows > 1900


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("IŞIK TUTTU", "tr", "IDışıktutmakID"),
        ("Işık tuttu", "tr", "IDışıktutmakID"),
        ("ışık TUTTU", "", "IDışıktutmakID"),
        ("Işık tuttu", "", "Işık tuttu"),  # elsewhere a capital I is that of i
        ("ışık tuttular", "tr", "IDışıktutmakIDlar"),
    ],
)
def test_capital_letters_are_those_of_the_language(text, language, expected):
    assert rewritten(text, known("ışık tutmak", "ışık tuttu", language=language)) == expected


def test_a_dotted_capital_is_one_letter_in_turkish():
    assert rewritten("İçini döktü.", known("içini dökmek", "içini döktü", language="tr")) == "IDiçinidökmekID."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sonunda başını yavaşça eğdi.", "Sonunda IDbaşeğmekID yavaşça."),
        ("Başını eğdi, sustu.", "IDbaşeğmekID, sustu."),
        ("Başını salladı. Sonra eğdi.", "Başını salladı. Sonra eğdi."),  # another sentence
        ("Eğdi başını.", "Eğdi başını."),
        ("başını " + "çok " * 9 + "eğdi", "IDbaşeğmekID " + ("çok " * 9).strip()),
        ("başını " + "çok " * 10 + "eğdi", "başını " + "çok " * 10 + "eğdi"),
    ],
)
def test_the_parts_of_a_discontinuous_form(text, expected):
    assert rewritten(text, known("baş eğmek", ("başını", "eğdi"), language="tr")) == expected


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [
        ("Yıldızı çok parladığında sustu.", ("yıldızı", "parladı"), "IDyıldızıparlamakIDğında çok sustu."),
        ("Yıldızı hiç parlamadı.", ("yıldızı", "parlama"), "IDyıldızıparlamakIDdı hiç."),
    ],
)
def test_the_suffix_of_a_discontinuous_form_stands_behind_the_token(text, form, expected):
    assert rewritten(text, known("yıldızı parlamak", form, language="tr")) == expected


def test_a_single_word_is_not_taken_for_the_beginning_of_another():
    idiom = known("ayaküstü", language="tr")
    assert rewritten("ayaküstü ayaküstünde", idiom) == "IDayaküstüID ayaküstünde"


def test_chinese_has_no_spaces_between_words():
    assert rewritten("他付之一笑走了", known("付之一笑")) == "他ID付之一笑ID走了"


def test_the_longest_form_counts():
    both = (known("göz atmak", "göz attı", language="tr"), known("göz atıp geçmek", "göz attı geçti", language="tr"))
    assert rewritten("göz attı geçti, göz attı", *both) == "IDgözatıpgeçmekID, IDgözatmakID"


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


@pytest.fixture
def table_file(tmp_path):
    """The file of a table with two idioms."""
    table = IdiomTable(
        make_tokens([known("high life"), known("baş eğmek", ("başını", "eğdi"), language="tr")]),
        classifier=ClassifierSettings(gives_idiom=True, max_length=128),
    )
    path = tmp_path / TABLE
    path.write_text(json.dumps(table.to_json()), encoding="utf-8")
    return path


def test_a_table_is_read_as_it_was_written(table_file):
    table = read_table_file(table_file)
    assert [row.token for row in table.tokens] == ["IDhighlifeID", "IDbaşeğmekID"]
    assert table.tokens[1].forms == (IdiomForm(("başını", "eğdi"), "tr"),)
    assert table.classifier == ClassifierSettings(gives_idiom=True, max_length=128)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda table: table.update(format=2), "its format is 2, this version reads format 1"),
        (lambda table: table["idioms"][0].pop("forms"), "forms"),
        (lambda table: table["idioms"].append(table["idioms"][0]), "IDhighlifeID"),
        (lambda table: table["idioms"][1]["forms"][0]["parts"].clear(), "parts"),
        (lambda table: table["idioms"].clear(), "no idiom"),
        (lambda table: table["idioms"][1]["forms"][0].update(language="xx"), "language 'xx' is none of"),
    ],
)
def test_a_damaged_table_is_refused(table_file, change, part):
    value = json.loads(table_file.read_text(encoding="utf-8"))
    change(value)
    table_file.write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(InputError, match=part) as caught:
        read_table_file(table_file)
    assert str(table_file) in str(caught.value)
