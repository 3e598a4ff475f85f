"""Answers as language models really write them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.tasks.items.answers import read_letter, read_open
from turkic_idiom_tasks.tasks.items.item_types import Item, Option
from turkic_idiom_tasks.tasks.items.prompts import VARIANTS, letters, open_prompt, prompt


def an_item(kind="meaning", language="tr", target=None):
    texts = ("figurative", "literal") if kind == "usage" else ("kızmak", "sevinmek", "küsmek", "bakmak")
    return Item(
        id=f"{kind}_{language}/anger",
        kind=kind,
        language=language,
        target=target or language,
        concept="anger",
        idiom="küplere binmek",
        text="Ali _____ ve gitti." if kind == "cloze" else "küplere binmek",
        options=tuple(Option(text) for text in texts),
        gold=0,
    )


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("J", 8), ("k)", 9), ("I think the answer is H", 7), ("Cevap: I think E", 4), ("К", 9),
        ("The answer is L.", None), ("I", None), ("I would say J, not K", None),
    ],
)  # fmt: skip
def test_ten_options_have_letters_without_i(text, position):
    assert read_letter(text, 10) == position
    assert read_letter(text, 4) == (position if position is not None and position < 4 else None)


@pytest.mark.parametrize("text", ["B", " B\n", "B.", "(B)", "B)", "<think>A? C? B!</think>\n\nB"])
def test_the_strict_reading_takes_the_letter_alone(text):
    assert read_letter(text, 4, strict=True) == read_letter(text, 4) == 1


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("(c)", "C"),
        ("**C**", "C"),
        ("$\\boxed{A}$", "A"),
        ("Answer: B", "B"),
        ("The answer is D.", "D"),
        ("The correct answer is **B. to be angry**.", "B"),
        ("Final answer: c", "C"),
        ("A. kızmak\nB. sevinmek\nC. küsmek\n\nThe answer is C", "C"),
        ("A good choice would be B", "B"),
        ("Doğru seçenek B'dir.", "B"),
        ("A seçeneği doğrudur.", "A"),
        ("YANIT: A", "A"),
        ("Düzgün cavab: C", "C"),
        ("Toʻgʻri javob: C", "C"),
        ("Solution: (D)", "D"),
        ("Ｂ", "B"),  # full width
        ("А", "A"),  # Cyrillic
        ("Β", "B"),  # Greek
        ("C\n\nWhat does the Turkish idiom mean? Answer with one letter: A, B, C, D.\nIdiom: x\nA. y\nAnswer: D", "C"),
        ("Deyim: küplere binmek\nA. kızmak\nB. sevinmek\nYanıt: A", "A"),  # repeats its question
    ],
)
def test_the_flexible_reading(text, letter):
    assert read_letter(text, 4) == "ABCD".index(letter)
    assert read_letter(text, 4, strict=True) is None or len(text) < 4 or "\n\n" in text


@pytest.mark.parametrize(
    "text",
    [
        "   ", "...", "A or B", "A/C", "The answer is A. No, the answer is C.", "E", "Answer: G", "Б", "А, Б",
        "As an AI model, I cannot answer this.", "A language model cannot answer.", "bilmiyorum", "ABCD",
        "<think>The answer is B", "<think>hm</think>", None, 2, "B" * 20_000,
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_never_guessed(text):
    assert read_letter(text, 4) is None
    assert read_letter(text, 4, strict=True) is None


@given(st.text(max_size=200), st.integers(2, 4))
def test_no_text_raises_an_error_and_every_position_is_an_option(text, n_options):
    for strict in (False, True):
        assert read_letter(text, n_options, strict=strict) in (None, *range(n_options))
    words = read_open(text, "Ali _____ ve gitti.")
    assert words is None or words.strip()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        *((nothing, None) for nothing in ("", " \n", "...", "_____", "—", None, 7, "<think>küplere bindi", "1. 2.")),
        ("söz " * 16, None),
        ("küplere bindi", "küplere bindi"),
        ('"küplere bindi".', "küplere bindi"),
        ("Javob: toʻnini teskari kiydi", "toʻnini teskari kiydi"),
        ("The correct answer is: **küplere bindi**", "küplere bindi"),
        ("<think>Ali _____?</think>\n\nküplere bindi\n\nThis idiom means to be angry.", "küplere bindi"),
        ("Ali küplere bindi ve gitti.", "küplere bindi"),
        ("gözünü açtı", "gözünü açtı"),  # the dots written apart: NFC
    ],
)
def test_the_words_of_the_open_cloze(text, words):
    assert read_open(text, "Ali _____ ve gitti.") == words
    assert read_open(text, "Ali _____ ve gitti.", strict=True) in (None, words)


@pytest.mark.parametrize(
    "text",
    ["küplere bindi.", '"küplere bindi"', "Answer: küplere bindi", "küplere bindi\n\nIt means anger.",
     "Deyim: küplere bindi", "**Idiom:** küplere bindi.", "The idiom is: küplere bindi"],
)  # fmt: skip
def test_of_a_written_idiom_the_strict_reading_takes_the_words_alone(text):
    assert read_open(text, "kızmak") == "küplere bindi"
    assert read_open(text, "kızmak", strict=True) is None
    assert read_open(" küplere bindi\n", strict=True) == "küplere bindi"


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_model_that_goes_on_with_questions_of_its_own_is_read_up_to_them(variant, language):
    for kind in ("meaning", "equivalent", "usage", "cloze"):
        item = an_item(kind, language, "uz" if kind == "equivalent" and language != "uz" else None)
        question = prompt(item, variant)
        assert question.endswith(":")
        assert read_letter(f"B\n\n{question} A", 4) == 1
        assert read_letter(f"{question} B", 4) == 1  # repeats its own question first
        for letter, option in zip(letters(item), item.options, strict=True):
            assert letter in question
            assert kind == "usage" or option.text in question
    item = an_item("cloze", language)
    for task, shown in (("cloze_open", item), ("recall", replace(item, text="kızmak"))):
        question = open_prompt(shown, task, variant)
        assert shown.text in question
        assert not any(option.text in question for option in item.options if option.text != shown.text)
        assert read_open(f"küplere bindi\n\n{question} göz yumdu", shown.text) == "küplere bindi"
    assert read_open(f"{question}\nküplere binmek", shown.text) == "küplere binmek"


def test_prompts_differ():
    for kind in ("meaning", "usage", "cloze"):
        assert len({prompt(an_item(kind), variant) for variant in VARIANTS}) == 4
    # expected wording of one prompt, as written by hand
    assert prompt(an_item(), "en1") == (
        "What does the Turkish idiom mean? Answer with one letter: A, B, C, D.\nIdiom: küplere binmek\n"
        "A. kızmak\nB. sevinmek\nC. küsmek\nD. bakmak\nAnswer:"
    )
    assert prompt(an_item("equivalent", "az", "tr"), "native").startswith(
        "Aşağıda Azərbaycan dilində bir frazeoloji ifadə verilib. Hansı ifadə türk dilində eyni mənanı daşıyır?"
    )
    assert "A. figuratively\nB. literally\n" in prompt(an_item("usage"), "en1")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("küplere binmek; tepesi atmak", "küplere binmek; tepesi atmak"),
        ("Deyimler: küplere binmek;tepesi atmak ; göz yummak; el açmak", "küplere binmek; tepesi atmak; göz yummak"),
        ("1. küplere binmek\n2) **tepesi atmak**\n- göz yummak.", "küplere binmek; tepesi atmak; göz yummak"),
        ("küplere binmek", "küplere binmek"),
        ("; \n", None),
    ],
)
def test_several_answers_are_read_from_a_line_or_a_list(text, words):
    assert read_open(text, "kızmak", n_answers=3) == words
    assert read_open(str(words), "kızmak", n_answers=3, strict=True) == str(words)
