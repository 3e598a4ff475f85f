"""Cleaning and checking of imported texts from any source, and the ids of their concepts."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from hub_datasets.import_report import Note, Reading
from turkic_idiom_tasks.io.reading import first_unseen
from turkic_idiom_tasks.languages import LANGUAGES, Language
from turkic_idiom_tasks.orthography import APOSTROPHE, clean, fold, letters_outside, to_common
from turkic_idiom_tasks.splits import SENSE_SEPARATOR

# A text beyond these bounds is extraction noise. The longest texts in the two dictionaries that were tried are an idiom
# of 59 characters and 9 words and a definition of 239 characters; examples of the Uzbek one are cut at 600 characters.
IDIOM_LIMIT = 100  # characters
IDIOM_WORDS = 14
MEANING_LIMIT = 400  # characters
EXAMPLE_LIMIT = 700  # characters
FEWEST_LETTERS = 2
SLUG_LIMIT = 60  # characters; a longer slug is cut at a hyphen and made unique by a hash

IdiomKey = tuple[str, str]  # language code, idiom as `compared` gives it

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # and lone surrogates, which no file can hold
_QUOTED = re.compile(r"(?<!\w)[‘'](?=\w)([^‘'’\n]+(?:(?<=\w)[’'](?=\w)[^‘'’\n]*)*)[’'](?!\w)")
_ODD_APOSTROPHE = re.compile(r"(?<=\w)[`´‘‛](?=\w)")
_FINAL_APOSTROPHE = re.compile(r"(?<=[bcdfhjklmnpqrstvxyz])[’'](?!\w)")  # jamʼ
# Each run of spaces once: 180,000 of them would take minutes
_SPACE_BEFORE = re.compile(r"(?<!\s)\s++(?=[,;])")
_NOT_WORD = re.compile(r"[^\w\s]|_")
_CLEAN_ROUNDS = 4
_HASH_DIGITS = 6
_SLUG_LETTERS = str.maketrans({"ı": "i", "ə": "e", "đ": "d", "ø": "o", "ł": "l", "ß": "ss"} | dict.fromkeys("ʻʼ’'", ""))
# Letters of other scripts that text extraction puts in place of Latin letters that look the same.
_LOOK_ALIKES = str.maketrans(
    "АВЕКМНОРСТУХЅІЈаеорсухѕіјм" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο" + "әӘǝƎ",
    "ABEKMHOPCTYXSIJaeopcyxsijm" + "ABEZHIKMNOPTYXo" + "əƏəƏ",
)
_FOREIGN = re.compile(r"[\u0370-\u04ff\u01dd\u018e]")
LATIN = "Latn"
_LATIN = re.compile(r"[A-Za-z]")


class Cleaned(NamedTuple):
    """A reading that can be stored, or why it cannot."""

    reading: Reading | None
    problem: str = ""
    value: str = ""  # the text that has the problem
    notes: tuple[Note, ...] = ()  # texts that were removed from the reading


def clean_reading(reading: Reading, language: Language) -> Cleaned:
    """Return a reading as the lexicon stores it, without texts that cannot be stored; refused if its idiom cannot."""
    idiom = clean_text(reading.idiom, language)
    problem = idiom_problem(idiom, language)
    if problem:
        return Cleaned(None, problem, reading.idiom.strip() or reading.meaning or reading.example or "")
    notes: list[Note] = []
    kept: dict[str, str | None] = {}
    for field, limit in (("meaning", MEANING_LIMIT), ("example", EXAMPLE_LIMIT)):
        text = clean_text(getattr(reading, field) or "", language)
        problem = _text_problem(text, language, limit=limit) if text else ""
        if problem:
            notes.append(Note(f"{field} removed: {problem}", text))
        kept[field] = text if text and not problem else None
    variants: list[str] = []
    for variant in reading.variants:
        text = clean_text(variant, language)
        problem = idiom_problem(text, language)
        if problem:
            notes.append(Note(f"variant removed: {problem}", variant))
        elif text != idiom and text not in variants:
            variants.append(text)
    return Cleaned(Reading(idiom, kept["meaning"], kept["example"], tuple(variants)), notes=tuple(notes))


def idiom_problem(idiom: str, language: Language) -> str:
    """Return why a cleaned idiom cannot be stored; empty if it can."""
    if not idiom:
        return "no idiom"
    if len(idiom.split()) > IDIOM_WORDS:
        return f"idiom has more than {IDIOM_WORDS} words"
    problem = _text_problem(idiom, language, limit=IDIOM_LIMIT)
    return f"idiom: {problem}" if problem else ""


def clean_text(text: str, language: Language) -> str:
    """Return NFC text with single spaces in which look-alikes of the language's letters and quotes are replaced."""
    text = _CONTROL.sub(" ", latinised(text) if language.script == LATIN else text)
    text = _SPACE_BEFORE.sub("", _QUOTED.sub(r"“\1”", text))
    is_letter = language.turned_comma_after  # the apostrophe
    text = _FINAL_APOSTROPHE.sub(APOSTROPHE, text) if is_letter else _ODD_APOSTROPHE.sub("’", text)
    for _ in range(_CLEAN_ROUNDS):
        cleaned = clean(text, language)
        if cleaned == text:
            break
        text = cleaned
    return text


def latinised(text: str) -> str:
    """Return Latin text with its Cyrillic and Greek look-alikes replaced; text of another script stays as it is."""
    n_foreign = len(_FOREIGN.findall(text))
    is_latin = len(_LATIN.findall(text)) > n_foreign
    return text.translate(_LOOK_ALIKES) if n_foreign and is_latin else text


def compared(text: str | None, language: Language) -> str:
    """Return a key that two texts share if they differ only in case, circumflex, punctuation or kind of apostrophe."""
    return " ".join(_NOT_WORD.sub(" ", fold(text or "", language)).split())


def without_infinitive(word: str, language: Language) -> str:
    """Return a folded word without the ending of the infinitive: ``aç`` for ``açmak``; others stay as they are."""
    for ending in language.infinitives:
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word.removesuffix(ending)
    return word


def slug(text: str, language: str) -> str:
    """Return the ASCII letters and digits of a text, words joined by hyphens: `göz yummak` -> `goz-yummak`.

    Other scripts are first mapped to the common orthography: `көз жұму` -> `koz-yumu`.
    """
    known = LANGUAGES[language]
    folded = fold(text if known.script == LATIN else to_common(text, known), known).translate(_SLUG_LETTERS)
    return "-".join(re.findall(r"[a-z0-9]+", without_accents(folded).lower()))


def without_accents(text: str) -> str:
    """Return the text without the marks on its letters: `ç` -> `c`."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def concept_stems(idioms: Iterable[IdiomKey]) -> dict[IdiomKey, str]:
    """Return the concept id of the first sense of each idiom: its slug, or the slug and a hash of the idiom."""
    slugs = {key: slug(key[1], key[0]) for key in sorted(set(idioms))}
    uses = Counter(slugs.values())
    stems = {}
    for key, name in slugs.items():
        # Every idiom with a slug that others have gets the hash, so that the ids do not depend on the order of the rows
        if len(name) > SLUG_LIMIT or not name or uses[name] > 1:
            short = name[: SLUG_LIMIT + 1].rpartition("-")[0] if len(name) > SLUG_LIMIT else name
            digest = hashlib.sha256("\n".join(key).encode()).hexdigest()[:_HASH_DIGITS]
            name = f"{short or name[:SLUG_LIMIT] or 'idiom'}-{digest}"
        stems[key] = name
    return stems


def sense_id(stem: str, number: int) -> str:
    """Return the id of a sense: `stem`, then `stem--2`, `stem--3`; all senses of a stem are in the same split."""
    return stem if number == 1 else f"{stem}{SENSE_SEPARATOR}{number}"


def _text_problem(text: str, language: Language, *, limit: int) -> str:
    if len(text) > limit:
        return f"longer than {limit} characters"
    if letters_outside(text, language):
        return f"letters outside the {language.name} alphabet"
    if first_unseen(text):
        return "characters that cannot be seen"
    if sum(map(str.isalpha, text)) < FEWEST_LETTERS:
        return f"fewer than {FEWEST_LETTERS} letters"
    if clean(text, language) != text:
        return "cannot be normalised"
    return ""
