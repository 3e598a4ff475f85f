import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turkic_idiom_tasks.span_detection.words import locate, words
from turkic_idiom_tasks.spans import Span

TEXTS = st.text(alphabet=st.sampled_from("aıİşəňýʻʼ'’ .,-!«»…\u0301\u200b\n1_") | st.characters(), max_size=40)


def cut(sentence):
    return [place.of(sentence) for place in words(sentence)]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Kovulmayı göze alıp, sustum.", ["Kovulmayı", "göze", "alıp", ",", "sustum", "."]),
        ("Ankara'ya, İzmir’e", ["Ankara'ya", ",", "İzmir’e"]),
        ("Qulağına qızıl sırğa!", ["Qulağına", "qızıl", "sırğa", "!"]),
        ("Oʻz koʻngli maʼlum", ["Oʻz", "koʻngli", "maʼlum"]),
        ("o‘z ko`ngli ma´no", ["o‘z", "ko`ngli", "ma´no"]),
        ("‘koʻz’ dedi", ["‘", "koʻz", "’", "dedi"]),  # quotation marks around a word are none of its letters
        ("Göwnüňe degmesin-ä?", ["Göwnüňe", "degmesin", "-", "ä", "?"]),
        ("«Başıma gelän…»", ["«", "Başıma", "gelän", "…", "»"]),
        ("  çift  boşluk\n\tsatır ", ["çift", "boşluk", "satır"]),
        ("bir...iki", ["bir", ".", ".", ".", "iki"]),
        ("a\u0301b e\u0308", ["a\u0301b", "e\u0308"]),  # a combining mark belongs to its letter
        ("😀 göz", ["😀", "göz"]),
        ("", []),
        (" \n", []),
    ],
)
def test_words_by_hand(sentence, expected):
    assert cut(sentence) == expected


@given(TEXTS)
def test_every_visible_character_is_in_exactly_one_word(sentence):
    places = words(sentence)
    covered = [position for place in places for position in range(place.start, place.end)]
    assert covered == [n for n, character in enumerate(sentence) if not character.isspace()]
    assert all(place.start < place.end for place in places)


@given(TEXTS)
def test_words_are_found_where_they_were_cut(sentence):
    assert locate(cut(sentence), sentence) == words(sentence)


@given(TEXTS, TEXTS)
def test_a_sentence_is_cut_like_its_parts(one, other):
    assert cut(f"{one} {other}") == cut(one) + cut(other)


def test_every_bundled_example_is_nfc_and_keeps_its_letters(bundled):
    for _, row in bundled:
        assert unicodedata.is_normalized("NFC", row.sentence)
        assert "".join(row.tokens) == "".join(row.sentence.split())


def test_tokens_are_located_one_after_the_other():
    # 0123456789
    # el ele el
    assert locate(["el", "ele", "el"], "el ele el") == [Span(0, 2), Span(3, 6), Span(7, 9)]
    # foreign tokenisation: a word cut in two, a token with a space in it
    assert locate(["el", "e", "l"], "el ele el") == [Span(0, 2), Span(3, 4), Span(4, 5)]
    assert locate(["el ele", "el"], "el ele el") == [Span(0, 6), Span(7, 9)]
    assert locate([], "el") == []


@pytest.mark.parametrize(
    ("tokens", "problem"),
    [
        (["ele", "el", "el"], "token 'el' is not in the sentence after character 9: 'el ele el'"),
        (["göz"], "token 'göz' is not in the sentence after character 0"),
        (["el", ""], "token '' is not in the sentence after character 2"),
    ],
)
def test_tokens_that_are_not_there_are_named(tokens, problem):
    with pytest.raises(ValueError) as error:
        locate(tokens, "el ele el")
    assert problem in str(error.value)
