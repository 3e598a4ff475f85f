"""Concept ids: a readable slug of the idiom that depends on nothing but the idiom unless two idioms share it."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.orthography import fold
from turkic_idiom_tasks.splits import SENSE_SEPARATOR

SLUG_LIMIT = 60  # characters; a longer slug is cut at a hyphen and made unique by a hash
_HASH_DIGITS = 6
_ASCII = str.maketrans(
    {"ı": "i", "ə": "e", "ʻ": "", "ʼ": "", "’": "", "'": "", "đ": "d", "ø": "o", "ł": "l", "ß": "ss"}
)

IdiomKey = tuple[str, str]  # language code, idiom as `cleaning.compared` gives it


def slug(text: str, language: str) -> str:
    """ASCII letters and digits of a text, words joined by hyphens: `göz yummak` -> `goz-yummak`."""
    folded = fold(text, LANGUAGES[language]).translate(_ASCII)
    decomposed = unicodedata.normalize("NFKD", folded)
    ascii_only = "".join(character for character in decomposed if not unicodedata.combining(character))
    return "-".join(re.findall(r"[a-z0-9]+", ascii_only.lower()))


def concept_stems(idioms: Iterable[IdiomKey]) -> dict[IdiomKey, str]:
    """The id of the first sense of each idiom.

    The slug alone where it is long enough to be a name and no other idiom has it; otherwise the slug and a hash of the
    idiom, for every idiom that shares it, so the order of the rows plays no part.
    """
    keys = sorted(set(idioms))
    slugs = {key: slug(key[1], key[0]) for key in keys}
    shared = Counter(slugs.values())
    stems = {}
    for key, name in slugs.items():
        if len(name) > SLUG_LIMIT or not name or shared[name] > 1:
            short = name[: SLUG_LIMIT + 1].rpartition("-")[0] if len(name) > SLUG_LIMIT else name
            name = f"{short or name[:SLUG_LIMIT] or 'idiom'}-{_hash(key)}"
        stems[key] = name
    return stems


def sense_id(stem: str, number: int) -> str:
    """The id of a sense: the stem for the first, then `stem--2`, `stem--3`; senses share a split."""
    return stem if number == 1 else f"{stem}{SENSE_SEPARATOR}{number}"


def _hash(key: IdiomKey) -> str:
    return hashlib.sha256("\n".join(key).encode()).hexdigest()[:_HASH_DIGITS]
