"""Forms that an abbreviated headword of a dictionary stands for.

The rules are applied in this order; the first form is the citation form, the others are variants:

- ``desa (...)``: an empty slot for an argument, which is left out.
- ``A – B``: two forms of one idiom if they share a word: A, then B. Any other dash belongs to the idiom.
- ``w1 / w2``: alternatives of the last word: w1, then w2.
- ``w1 (w2) w3``: the form without the parenthesis; then with w2 in place of w1 if they are alternatives (marked by
  ``yoki`` or ``veya``, or similar in their beginning or ending), or with w2 added if it is a verb at the end
  (``bir (olmak)``).
- ``word[iz]``: the form without the letters in brackets, then with them.
- ``adab(i)``: the form with the letters in parentheses, because the possessive belongs to the citation form; then
  without them, but only if the bare stem is a word. After ``yurag``, ``qulogʻ`` or ``koʻngl`` the stem would have to
  be restored by guessing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

_SLOT = re.compile(r"\s*[(\[][\s.…,?–-]*[)\]]")
_REMARK = re.compile(r"\s*\([^()]*:[^()]*\)")
_PAIR = re.compile(r"\s[–—]\s")
_SLASH = re.compile(r"\s*/{1,2}\s*")
_SPACED_GROUP = re.compile(r"(?:(?<=\s)|^)\(([^()]*)\)\s*")
_MARKER = re.compile(r"^(?:yoki|yoxud|veya|ya da)\s+", re.IGNORECASE)
_ATTACHED = re.compile(r"(?<=\w)\(([^()\s]+)\)")
_WRAPPED = re.compile(r"(?<=\w)-\s+\(")
_SQUARE = re.compile(r"(\s*)\[([^\[\]]*)\]")
_BARE_STEM = re.compile(r"(?:[aeiouıöüəä]ʻ?(?:[bcçdfhjklmnpqrsştvxyz]|sh|ch|ng))$")
_VOWEL = re.compile(r"[aeiouıöüəä]")
_INFINITIVE = re.compile(r"(?:mak|mek|moq)$")
_EDGES = " \t.,;:=–—-"
_MOST_FORMS = 6


class Forms(NamedTuple):
    """Citation form and variants of a headword."""

    citation: str
    variants: tuple[str, ...]


def resolve_forms(headword: str) -> Forms:
    """Return the forms that a headword abbreviates; letter case is left as it is."""
    forms = [_WRAPPED.sub("(", _SLOT.sub("", _REMARK.sub("", headword)))]
    for step in _STEPS:
        resolved: list[str] = []
        for form in forms:
            resolved += step(form)
        forms = resolved[:_MOST_FORMS]
    tidied = dict.fromkeys(map(_tidy, forms))
    tidied.pop("", None)
    if not tidied:
        return Forms("", ())
    citation, *others = tidied
    fewest_words = min(2, len(citation.split()))
    return Forms(citation, tuple(form for form in others if len(form.split()) >= fewest_words))


def has_unmatched_brackets(text: str) -> bool:
    """Return whether a bracket is left over, which means that a part of the headword is lost."""
    return bool(re.search(r"[()\[\]]", text)) or text.count("«") != text.count("»")


def are_alike(first: str, second: str) -> bool:
    """Return whether two words look like alternatives: they begin or end alike, or one begins the other."""
    first, second = first.casefold().strip("?!.,"), second.casefold().strip("?!.,")
    if not first or not second:
        return False
    shorter = min(len(first), len(second))
    return first[:3] == second[:3] or (shorter > 3 and first[-3:] == second[-3:]) or first[:shorter] == second[:shorter]


def _pairs(text: str) -> list[str]:
    """Return both sides of a dash that stands between two forms of one idiom: they have a word in common."""
    sides = _PAIR.split(text)
    if len(sides) != 2 or "," in text or len(sides[0].split()) < 2:
        return [text]
    return sides if _beginnings(sides[0]) & _beginnings(sides[1]) else [text]


def _beginnings(text: str) -> set[str]:
    return {word.casefold()[:3] for word in text.split() if len(word) > 2}


def _slashes(text: str) -> list[str]:
    """Return a form for each of the alternatives that slashes separate."""
    parts = _SLASH.split(text)
    if len(parts) == 1 or not all(parts):
        return [text.replace("/", " ")]
    first, last = parts[0].split(), parts[-1].split()
    if len(parts) == 2 and last[0].casefold() == first[0].casefold() and len(last) > 1:
        return parts  # two whole forms
    rest = last[1:]
    forms = [" ".join(first + rest)]
    for part in parts[1:]:
        words = last[:1] if part is parts[-1] else part.split()
        forms.append(" ".join(first[:-1] + words + rest))
    return forms


def _spaced_groups(text: str) -> list[str]:
    """Return the form without its parentheses, then one for each alternative or addition in them."""
    forms = [_SPACED_GROUP.sub("", text)]
    for group in _SPACED_GROUP.finditer(text):
        before = _SPACED_GROUP.sub("", text[: group.start()]).split()
        after = _SPACED_GROUP.sub("", text[group.end() :]).split()
        for words in _alternatives(before, group[1].strip(), is_last=not after):
            forms.append(" ".join([*words, *after]))
    return forms


def _alternatives(before: list[str], content: str, *, is_last: bool) -> list[list[str]]:
    """Return for each alternative in a parenthesis the words before it, with the alternative put in."""
    if not before:
        return []
    parts = [part.strip(" .…").split() for part in re.split(r"[,;]", _MARKER.sub("", content))]
    parts = [words for words in parts if words]
    known = [word.casefold() for word in before]
    has_alternative = any(len(words) == 1 and are_alike(words[0], before[-1]) for words in parts)
    are_alternatives = has_alternative or bool(_MARKER.match(content))
    alternatives = []
    for words in parts:
        first = words[0].casefold()
        if first in known:
            alternatives.append(before[: known.index(first)] + words)
        elif are_alternatives:
            alternatives.append(before[:-1] + words)
        elif is_last and len(words) == 1 and _INFINITIVE.search(first):
            alternatives.append(before + words)
    return alternatives


def _square_brackets(text: str) -> list[str]:
    """Return the form without the letters in square brackets, then with them."""
    return [_SQUARE.sub("", text), _SQUARE.sub(r"\1\2", text)] if _SQUARE.search(text) else [text]


def _attached(text: str) -> list[str]:
    """Return the form with its optional letters, then without them where the bare stem is a word."""
    forms = [_ATTACHED.sub(r"\1", text)]
    bare = []
    for group in _ATTACHED.finditer(text):
        begins_with_consonant = not _VOWEL.match(group[1].casefold())
        bare.append(begins_with_consonant or bool(_BARE_STEM.search(text[: group.start()].casefold())))
    return [*forms, _ATTACHED.sub("", text)] if bare and all(bare) else forms


def _tidy(text: str) -> str:
    text = re.sub(r"\s+([,.!?:;])", r"\1", " ".join(text.split())).strip(_EDGES)
    is_quoted = text.startswith("«") and text.endswith("»") and text.count("«") == 1
    return text[1:-1].strip(_EDGES) if is_quoted else text


_STEPS: tuple[Callable[[str], list[str]], ...] = (_pairs, _slashes, _spaced_groups, _square_brackets, _attached)
