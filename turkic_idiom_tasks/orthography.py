"""How Turkic text is normalised, lower-cased, folded and mapped to one common orthography; stored text is NFC."""

import re
import unicodedata
from collections.abc import Collection
from functools import cache, lru_cache

from turkic_idiom_tasks.languages import Language

TURNED_COMMA = "\u02bb"  # the letter in oʻ, gʻ
APOSTROPHE = "\u02bc"  # tutuq belgisi
# Quotation marks that stand in for these letters become letters only on import and for matching.
_APOSTROPHE_LIKE = "'\u2018\u2019\u201b`\u00b4\u02b9\u02bb\u02bc"
# Every cased code point of Latin, Greek and Cyrillic -> its lower-case one; those without a single one are left out
_LOWER = {
    point: chr(point).lower()
    for point in range(0x530)
    if len(chr(point).lower()) == 1 and chr(point).lower() != chr(point)
}
_LOWER[ord("İ")] = "i"
_LOWER_DOTLESS = _LOWER | {ord("I"): "ı"}
_SPACE = re.compile(r"\s+")
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))


def clean(text: str, language: Language) -> str:
    """Return text as the lexicon stores it: NFC, no invisible characters, single white space, the right letters."""
    text = unicodedata.normalize("NFC", text).translate(_INVISIBLE)
    # In Uzbek the apostrophe after o and g makes a letter of the two, and between others it is the tutuq belgisi.
    if language.turned_comma_after:
        letters = language.turned_comma_after + language.turned_comma_after.upper()
        text = re.sub(f"(?<=[{letters}])[{_APOSTROPHE_LIKE}]", TURNED_COMMA, text)
        text = re.sub(rf"(?<=[^\W{letters}])[{_APOSTROPHE_LIKE}](?=\w)", APOSTROPHE, text)
    # For example s and t with a comma below, where those with a cedilla are meant.
    look_alikes: dict[str, str | int | None] = {**language.look_alikes}
    look_alikes |= {wrong.upper(): right.upper() for wrong, right in language.look_alikes.items()}
    return _SPACE.sub(" ", text.translate(str.maketrans(look_alikes))).strip()


def lower(text: str, language: Language | None) -> str:
    """Return NFC text lower-cased by the rules of its language, code point by code point, so offsets stay valid.

    None is a language outside this benchmark, in which i has a dot.
    """
    # `str.lower` turns İ into two code points and I into a dotted i; neither is right in Turkish, Azerbaijani, Gagauz.
    return text.translate(_LOWER_DOTLESS if language is not None and language.dotless_i else _LOWER)


def fold(text: str, language: Language) -> str:
    """Return text for matching, of the same length: lower-cased, apostrophe-like signs equal, circumflexes removed."""
    return lower(text, language).translate(_FOLD)


_FOLD = {ord(sign): TURNED_COMMA for sign in _APOSTROPHE_LIKE} | {ord("â"): "a", ord("î"): "i", ord("û"): "u"}


def letters_outside(text: str, language: Language) -> list[str]:
    """Return the letters of `text` that are not in the language's alphabet, in order, without repeats."""
    # In a language without letters that an apostrophe stands for, it is punctuation (`Ankara'ya`).
    stand_for_letters = _APOSTROPHE_LIKE if language.turned_comma_after else TURNED_COMMA + APOSTROPHE
    outside = []
    for character in dict.fromkeys(lower(text, language)):
        is_letter = character.isalpha() or unicodedata.combining(character) or character in stand_for_letters
        if is_letter and character not in language.alphabet:
            outside.append(character)
    return outside


def to_common(text: str, language: Language) -> str:
    """Return lower-cased text in the common, Turkish-like orthography: `baş əymək` -> `baş eymek`, `koʻz` -> `köz`."""
    # Letters are mapped, not sounds. This is all that the built-in baseline knows about how the languages are related.
    pattern, mapping = _common_pattern(language)
    lowered = lower(unicodedata.normalize("NFC", text), language)
    if language.turned_comma_after:
        lowered = clean(lowered, language)
    return pattern.sub(lambda match: mapping[match[0]], lowered) if mapping else lowered


@cache
def _common_pattern(language: Language) -> tuple[re.Pattern[str], dict[str, str]]:
    mapping = language.to_common
    # Otherwise the letters of a digraph would be mapped one by one.
    longest_first = sorted(mapping, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first))), mapping


# Sound correspondences that spelling hides across the family: front/back vowels, voicing, b/v, k/g/h, ñ/n.
_SKELETON = str.maketrans(
    {"ı": "i", "ü": "u", "ö": "o", "ş": "s", "z": "s", "d": "t", "b": "p", "v": "p"} | dict.fromkeys("ğghcçj", "k")
)
_NOT_WORD = re.compile(r"[^\w\s]")
_DOUBLED = re.compile(r"(.)\1")


@lru_cache(maxsize=65536)
def skeleton(text: str, language: Language) -> str:
    """Return the coarsest form of a text: common orthography, vowels and voicing folded, no infinitive endings."""
    return " ".join(_skeletons(text, language))


def _skeletons(text: str, language: Language, *, left_out: Collection[str] = ()) -> list[str]:
    """Return the skeletons of the words of a text, in order; words to leave out are in the common orthography."""
    skeletons = []
    for word in _NOT_WORD.sub("", to_common(text, language)).split():
        if word in left_out:
            continue
        for ending in _in_common(language.infinitives, language):
            # A word that is hardly more than the ending stays whole: the skeleton of `mak` must not be empty.
            if word.endswith(ending) and len(word) > len(ending) + 1:
                word = word.removesuffix(ending)
                break
        skeletons.append(_DOUBLED.sub(r"\1", word.translate(_SKELETON)))
    return skeletons


@cache
def _in_common(words: Collection[str], language: Language) -> dict[str, None]:
    """Return words in the common orthography, in order; a dictionary, in which one is found at once."""
    return dict.fromkeys(to_common(word, language) for word in words)


_SHARED_STEM = 3  # letters of two stems that must agree from the left
_NEAR_VOWELS = str.maketrans("iu", "eo")  # dudak and dodaq, bir and ber-


def content_stems(text: str, language: Language) -> list[str]:
    """Return the skeletons of the words of a text, in order, without function words."""
    # They are recognised before vowels are folded: Gagauz `dil` (tongue) and `diil` (not) have the same skeleton.
    return _skeletons(text, language, left_out=_in_common(language.function_words, language))


def share_stem(first: str, first_language: Language, second: str, second_language: Language) -> bool:
    """Return whether two texts share a content word, as far as spelling shows: `göz koymak` and `koʻz tikmoq` do.

    Two words count as the same if their skeletons are equal or begin with the same three letters, where e equals i and
    o equals u. The measure is rough and finds too many shared words rather than too few: `kara` and `karı` count as
    the same word.
    """
    second_stems = _near_stems(second, second_language)
    return any(_is_among(stem, second_stems) for stem in _near_stems(first, first_language))


def have_same_stems(first: str, first_language: Language, second: str, second_language: Language) -> bool:
    """Return whether each content word of either text has one in the other: `diz çökmää`, `tiz choʻkmoq`."""
    first_stems, second_stems = _near_stems(first, first_language), _near_stems(second, second_language)
    is_first_covered = all(_is_among(stem, second_stems) for stem in first_stems)
    is_second_covered = all(_is_among(stem, first_stems) for stem in second_stems)
    # Texts without a content word have none in common.
    return bool(first_stems and second_stems) and is_first_covered and is_second_covered


def _near_stems(text: str, language: Language) -> list[str]:
    """Return the content stems of a text with e for i and o for u."""
    return [stem.translate(_NEAR_VOWELS) for stem in content_stems(text, language)]


def _is_among(stem: str, others: list[str]) -> bool:
    """Return whether a stem is one of others, or begins like one of them."""
    beginning = stem[:_SHARED_STEM]
    return stem in others or (len(stem) >= _SHARED_STEM and any(other.startswith(beginning) for other in others))
