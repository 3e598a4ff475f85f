"""What every imported text goes through, whatever its source, and what is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hub_datasets.sources import Note, Reading
from hub_datasets.sources.lookalikes import latinised
from turkic_idiom_tasks.languages import Language
from turkic_idiom_tasks.orthography import APOSTROPHE, clean, fold, letters_outside

# Bounds beyond which a text is extraction noise. Longest in the two dictionaries tried: an idiom of 59 characters and
# 9 words, a definition of 239 characters; the extraction of the Uzbek one keeps 600 characters of an example.
IDIOM_LIMIT = 100  # characters
IDIOM_WORDS = 14
MEANING_LIMIT = 400  # characters
EXAMPLE_LIMIT = 700  # characters
FEWEST_LETTERS = 2

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # and lone surrogates, which no file can hold
_QUOTED = re.compile(r"(?<!\w)[‘'](?=\w)([^‘'’\n]+(?:(?<=\w)[’'](?=\w)[^‘'’\n]*)*)[’'](?!\w)")
_ODD_APOSTROPHE = re.compile(r"(?<=\w)[`´‘‛](?=\w)")
_FINAL_APOSTROPHE = re.compile(r"(?<=[bcdfhjklmnpqrstvxyz])[’'](?!\w)")  # jamʼ
_SPACE_BEFORE = re.compile(r"\s+([,;])")
_NOT_WORD = re.compile(r"[^\w\s]|_")
_CLEAN_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A reading that can be stored, or why it cannot.

    Attributes:
        reading: None when it is refused.
        problem: why it is refused.
        value: the text that is to blame.
        notes: what was taken out of it.
    """

    reading: Reading | None
    problem: str = ""
    value: str = ""
    notes: tuple[Note, ...] = ()


def clean_reading(reading: Reading, language: Language) -> Cleaned:
    """A reading as the lexicon stores it: a bad meaning, example or variant is taken out, a bad idiom refuses it."""
    idiom = clean_text(reading.idiom, language)
    problem = _idiom_problem(idiom, language)
    if problem:
        value = reading.idiom.strip() or reading.meaning or reading.example or ""
        return Cleaned(None, problem, value)
    notes: list[Note] = []
    meaning = _kept("meaning", reading.meaning, language, limit=MEANING_LIMIT, notes=notes)
    example = _kept("example", reading.example, language, limit=EXAMPLE_LIMIT, notes=notes)
    variants: list[str] = []
    for variant in reading.variants:
        text = clean_text(variant, language)
        variant_problem = _idiom_problem(text, language)
        if variant_problem:
            notes.append(Note(f"variant removed: {variant_problem}", variant))
        elif text != idiom and text not in variants:
            variants.append(text)
    return Cleaned(Reading(idiom, meaning, example, tuple(variants)), notes=tuple(notes))


def clean_text(text: str, language: Language) -> str:
    """NFC text in the letters of the language: look-alikes and stand-ins for apostrophes replaced, spaces single."""
    text = _CONTROL.sub(" ", latinised(text))
    text = _SPACE_BEFORE.sub(r"\1", _QUOTED.sub(r"“\1”", text))
    is_uzbek = language.code == "uz"
    text = _FINAL_APOSTROPHE.sub(APOSTROPHE, text) if is_uzbek else _ODD_APOSTROPHE.sub("’", text)
    for _ in range(_CLEAN_ROUNDS):
        cleaned = clean(text, language)
        if cleaned == text:
            break
        text = cleaned
    return text


def compared(text: str | None, language: Language) -> str:
    """What decides whether two texts are the same: no case, circumflex, punctuation or kind of apostrophe."""
    return " ".join(_NOT_WORD.sub(" ", fold(text or "", language)).split())


def _kept(field: str, text: str | None, language: Language, *, limit: int, notes: list[Note]) -> str | None:
    """The cleaned text, or None with a note when it cannot be stored."""
    cleaned = clean_text(text or "", language)
    if not cleaned:
        return None
    problem = _text_problem(cleaned, language, limit=limit)
    if problem:
        notes.append(Note(f"{field} removed: {problem}", cleaned))
        return None
    return cleaned


def _idiom_problem(idiom: str, language: Language) -> str:
    if not idiom:
        return "no idiom"
    if len(idiom.split()) > IDIOM_WORDS:
        return f"idiom has more than {IDIOM_WORDS} words"
    problem = _text_problem(idiom, language, limit=IDIOM_LIMIT)
    return f"idiom: {problem}" if problem else ""


def _text_problem(text: str, language: Language, *, limit: int) -> str:
    if len(text) > limit:
        return f"longer than {limit} characters"
    if letters_outside(text, language):
        return f"letters outside the {language.name} alphabet"
    if sum(map(str.isalpha, text)) < FEWEST_LETTERS:
        return f"fewer than {FEWEST_LETTERS} letters"
    if clean(text, language) != text:
        return "cannot be normalised"
    return ""
