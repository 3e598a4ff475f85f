"""How dictionaries abbreviate headwords, and the forms that stand behind such an abbreviation.

Rules, in the order in which they are applied; the first form is the citation form, the others are variants:

- ``desa (...)``: an empty slot for an argument; left out.
- ``A – B``: two forms of one idiom when they share a word; A, then B. Any other dash belongs to the idiom.
- ``w1 / w2``: alternatives of the last word; w1, then w2.
- ``w1 (w2) w3``: without the parenthesis; then with w2 in place of w1 when they are alternatives (marked by ``yoki`` or
  ``veya``, or alike in their beginning or ending), or with w2 added when it is a verb at the end (``bir (olmak)``).
- ``word[iz]``: without; then with.
- ``adab(i)``: with, because the possessive belongs to the citation form; then without, but only where the bare stem is
  a word: after ``yurag``, ``qulogʻ`` or ``koʻngl`` it would have to be restored, and that would be a guess.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Forms:
    """The citation form and the variants of a headword."""

    citation: str
    variants: tuple[str, ...]


def resolve_forms(headword: str) -> Forms:
    """The forms that a headword abbreviates; letter case is left as it is."""
    text = _WRAPPED.sub("(", _SLOT.sub("", _REMARK.sub("", headword)))
    forms = [text]
    steps: tuple[Callable[[str], list[str]], ...] = (_pairs, _slashes, _spaced_groups, _square_brackets, _attached)
    for step in steps:
        forms = [form for earlier in forms for form in step(earlier)][:_MOST_FORMS]
    tidied = list(dict.fromkeys(filter(None, map(_tidy, forms))))
    if not tidied:
        return Forms("", ())
    words = len(tidied[0].split())
    return Forms(tidied[0], tuple(form for form in tidied[1:] if len(form.split()) >= min(2, words)))


def has_unmatched_brackets(text: str) -> bool:
    """Whether a bracket is left over, which means that a part of the headword got lost."""
    return bool(re.search(r"[()\[\]]", text)) or text.count("«") != text.count("»")


def are_alike(first: str, second: str) -> bool:
    """Whether two words look like alternatives: equal in their first or last three letters, or one begins the other."""
    first, second = first.casefold().strip("?!.,"), second.casefold().strip("?!.,")
    if not first or not second:
        return False
    shorter = min(len(first), len(second))
    return first[:3] == second[:3] or (shorter > 3 and first[-3:] == second[-3:]) or first[:shorter] == second[:shorter]


def _pairs(text: str) -> list[str]:
    sides = _PAIR.split(text)
    if len(sides) != 2 or "," in text or len(sides[0].split()) < 2:
        return [text]
    stems = {word.casefold()[:3] for word in sides[0].split() if len(word) > 2}
    shared = stems & {word.casefold()[:3] for word in sides[1].split() if len(word) > 2}
    return sides if shared else [text]


def _slashes(text: str) -> list[str]:
    parts = _SLASH.split(text)
    if len(parts) == 1 or not all(parts):
        return [text.replace("/", " ")]
    first = parts[0].split()
    last = parts[-1].split()
    if len(parts) == 2 and last[0].casefold() == first[0].casefold() and len(last) > 1:
        return parts  # two whole forms
    rest = last[1:]
    alternatives = [[part.split()[0]] if part is parts[-1] else part.split() for part in parts[1:]]
    return [" ".join(words + rest) for words in [first, *(first[:-1] + words for words in alternatives)]]


def _spaced_groups(text: str) -> list[str]:
    without = _SPACED_GROUP.sub("", text)
    forms = [without]
    for group in _SPACED_GROUP.finditer(text):
        before = _SPACED_GROUP.sub("", text[: group.start()]).split()
        after = _SPACED_GROUP.sub("", text[group.end() :]).split()
        forms += [" ".join([*words, *after]) for words in _alternatives(before, group[1], is_last=not after)]
    return forms


def _alternatives(before: list[str], content: str, *, is_last: bool) -> list[list[str]]:
    """The words before a parenthesis, as each alternative in it makes them."""
    if not before:
        return []
    marked = bool(_MARKER.match(content.strip()))
    pieces = [piece.strip(" .…").split() for piece in re.split(r"[,;]", _MARKER.sub("", content.strip()))]
    pieces = [piece for piece in pieces if piece]
    known = [word.casefold() for word in before]
    is_list_of_alternatives = marked or any(len(piece) == 1 and are_alike(piece[0], before[-1]) for piece in pieces)
    found = []
    for piece in pieces:
        if piece[0].casefold() in known:
            found.append(before[: known.index(piece[0].casefold())] + piece)
        elif is_list_of_alternatives:
            found.append(before[:-1] + piece)
        elif is_last and len(piece) == 1 and _INFINITIVE.search(piece[0].casefold()):
            found.append(before + piece)
    return found


def _square_brackets(text: str) -> list[str]:
    return [_SQUARE.sub("", text), _SQUARE.sub(r"\1\2", text)] if _SQUARE.search(text) else [text]


def _attached(text: str) -> list[str]:
    groups = list(_ATTACHED.finditer(text))
    if not groups:
        return [text]
    forms = [_ATTACHED.sub(r"\1", text)]
    if all(_is_bare_stem(text[: group.start()], group[1]) for group in groups):
        forms.append(_ATTACHED.sub("", text))
    return forms


def _is_bare_stem(before: str, ending: str) -> bool:
    return not _VOWEL.match(ending.casefold()) or bool(_BARE_STEM.search(before.casefold()))


def _tidy(text: str) -> str:
    text = re.sub(r"\s+([,.!?:;])", r"\1", " ".join(text.split())).strip(_EDGES)
    quoted = text.startswith("«") and text.endswith("»") and text.count("«") == 1
    return text[1:-1].strip(_EDGES) if quoted else text
