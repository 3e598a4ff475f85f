"""Planted errors: wrong texts of known kinds, which a verifier or a judge must catch before its verdicts count.

They are made from other texts of the same lexicon, so nothing but the meaning gives them away:

- ``other``: the meaning of another idiom, chosen by a hash;
- ``shifted``: the meaning of the idiom whose own meaning shares the largest part of its words;
- ``literal``: what the words of the idiom literally say, where the entry has a literal paraphrase;
- ``other example``: an example of another idiom;
- ``literal example``: the entry's own sentence in which the words are used literally.

No text is taken from a concept that is judged ``same`` or ``near``, because it would be no error.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from turkic_idiom_tasks.annotation.annotate import annotate
from turkic_idiom_tasks.languages import LANGUAGES, Language
from turkic_idiom_tasks.lexicon.entries import NEAR, SAME, Entry, Lexicon
from turkic_idiom_tasks.orthography import content_stems, fold

OTHER, SHIFTED, LITERAL = MEANING_KINDS = ("other", "shifted", "literal")
OTHER_EXAMPLE, LITERAL_EXAMPLE = EXAMPLE_KINDS = ("other example", "literal example")
SEED = 1


@dataclass(frozen=True, slots=True)
class Planted:
    """An entry with a wrong text in it; `kind` says which."""

    kind: str
    entry: Entry


def plant(
    lexicon: Lexicon,
    language: str,
    concepts: Sequence[str],
    *,
    share: float,
    kinds: Sequence[str] = MEANING_KINDS,
    seed: int = SEED,
) -> list[Planted]:
    """Return copies of a share of the entries, each with one error; the kinds take turns.

    Args:
        lexicon: gives the entries and the texts that are planted in them.
        language: code.
        concepts: of the entries that may be copied; each has a meaning.
        share: of these entries, in (0, 1]; at least one is copied if there are any.
        kinds: errors to plant; where one cannot be made of an entry, the next one is.
        seed: changes which entries are copied, and what is planted.
    """
    donors = _Donors(lexicon, language, seed)
    makers: dict[str, Callable[[Entry], Entry | None]] = {
        OTHER: donors.with_other_meaning,
        SHIFTED: donors.with_shifted_meaning,
        LITERAL: partial(_with_literal_meaning, language=LANGUAGES[language]),
        OTHER_EXAMPLE: donors.with_other_example,
        LITERAL_EXAMPLE: _with_literal_example,
    }
    order = sorted(concepts, key=lambda concept: _hash(f"{seed}/plant/{language}/{concept}"))
    planted: list[Planted] = []
    for concept in order[: math.ceil(share * len(order))]:
        entry = lexicon.of(language)[concept]
        for turn in range(len(kinds)):
            kind = kinds[(len(planted) + turn) % len(kinds)]
            wrong = makers[kind](entry)
            if wrong is not None:
                planted.append(Planted(kind, wrong))
                break
    return planted


class _Donors:
    """Entries of a language, whose texts are planted in others."""

    def __init__(self, lexicon: Lexicon, language: str, seed: int) -> None:
        self._entries = lexicon.of(language)
        self._equivalents = lexicon.judged(SAME, NEAR)
        self._language = LANGUAGES[language]
        self._seed = seed
        self._stems: dict[str, frozenset[str]] = {}
        for concept, entry in self._entries.items():
            self._stems[concept] = frozenset(content_stems(entry.meaning or "", self._language))

    def with_other_meaning(self, entry: Entry) -> Entry | None:
        """Return the entry with the meaning of another one."""
        donor = self._by_hash(entry, lambda other: other.meaning)
        return replace(entry, meaning=donor.meaning) if donor else None

    def with_shifted_meaning(self, entry: Entry) -> Entry | None:
        """Return the entry with the closest meaning that is another one; None if none shares a word."""
        own = self._stems[entry.concept]
        closest, best = None, 0.0
        for concept, other in sorted(self._entries.items()):
            shared = len(own & self._stems[concept])
            closeness = shared / len(own | self._stems[concept]) if shared else 0.0
            if best < closeness < 1 and self._differs(entry, other, other.meaning):
                closest, best = other, closeness
        return replace(entry, meaning=closest.meaning) if closest else None

    def with_other_example(self, entry: Entry) -> Entry | None:
        """Return the entry with the example of another one."""
        donor = self._by_hash(entry, lambda other: other.example)
        return replace(entry, example=donor.example, spans=None) if donor else None

    def _by_hash(self, entry: Entry, text: Callable[[Entry], str | None]) -> Entry | None:
        """Return the entry with the smallest hash among those whose text would be wrong."""
        smallest = None
        for concept, other in self._entries.items():
            value = _hash(f"{self._seed}/{entry.concept}/{concept}")
            if self._differs(entry, other, text(other)) and (smallest is None or value < smallest[0]):
                smallest = (value, other)
        return smallest[1] if smallest else None

    def _differs(self, entry: Entry, other: Entry, text: str | None) -> bool:
        """Return whether a text of another entry would be wrong in this one."""
        if text is None or other.concept == entry.concept:
            return False
        if other.concept in self._equivalents.get(entry.concept, set()):
            return False
        is_same_idiom = fold(other.idiom, self._language) == fold(entry.idiom, self._language)
        return not is_same_idiom and text not in (entry.meaning, entry.example)


def _with_literal_meaning(entry: Entry, language: Language) -> Entry | None:
    """Return the entry with what its words literally say: the part of the literal paraphrase in place of the idiom."""
    if entry.original is None or entry.literal_paraphrase is None:
        return None
    spans = annotate(entry.idiom, entry.original, language, variants=entry.variants).spans
    if not spans:
        return None
    before, after = entry.original[: spans[0].start], entry.original[spans[-1].end :]
    paraphrase = entry.literal_paraphrase
    if not paraphrase.startswith(before) or not paraphrase.endswith(after):
        return None
    literal = paraphrase[len(before) : len(paraphrase) - len(after)].strip()
    return replace(entry, meaning=literal) if literal and literal != entry.meaning else None


def _with_literal_example(entry: Entry) -> Entry | None:
    if entry.literal_example is None:
        return None
    return replace(entry, example=entry.literal_example, spans=None)


def count_by_kind(planted: Iterable[tuple[str, bool]]) -> dict[str, tuple[int, int]]:
    """Return kind -> number of errors caught, number planted; `planted` has kind and whether it was caught."""
    counts: dict[str, tuple[int, int]] = {}
    for kind, is_caught in planted:
        caught, total = counts.get(kind, (0, 0))
        counts[kind] = (caught + is_caught, total + 1)
    return counts


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
