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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

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
        seed: of the choice of entries and texts.
    """
    maker = _Maker(lexicon, language, seed)
    makers: dict[str, Callable[[Entry], Entry | None]] = {
        OTHER: maker.with_other_meaning,
        SHIFTED: maker.with_shifted_meaning,
        LITERAL: maker.with_literal_meaning,
        OTHER_EXAMPLE: maker.with_other_example,
        LITERAL_EXAMPLE: maker.with_literal_example,
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


class _Maker:
    """Makes wrong entries of a language, mostly with texts of its other entries."""

    def __init__(self, lexicon: Lexicon, language: str, seed: int) -> None:
        self._entries: Mapping[str, Entry] = lexicon.of(language)
        self._equivalents = lexicon.judged(SAME, NEAR)
        self._language: Language = LANGUAGES[language]
        self._seed = seed
        self._stems: dict[str, frozenset[str]] = {}
        for concept, entry in self._entries.items():
            self._stems[concept] = frozenset(content_stems(entry.meaning or "", self._language))

    def with_other_meaning(self, entry: Entry) -> Entry | None:
        meanings = {other.concept: other.meaning for other in self._others(entry, "meaning")}
        return replace(entry, meaning=meanings[self._chosen(entry, meanings)]) if meanings else None

    def with_shifted_meaning(self, entry: Entry) -> Entry | None:
        """Return the entry with the closest meaning that is another one; None if none shares a word."""
        own = self._stems[entry.concept]
        closest, best = None, 0.0
        for other in sorted(self._others(entry, "meaning"), key=lambda other: other.concept):
            shared = len(own & self._stems[other.concept])
            closeness = shared / len(own | self._stems[other.concept]) if shared else 0.0
            if best < closeness < 1:
                closest, best = other, closeness
        return replace(entry, meaning=closest.meaning) if closest else None

    def with_literal_meaning(self, entry: Entry) -> Entry | None:
        """Return the entry with the part of the literal paraphrase that stands in place of the idiom."""
        if entry.original is None or entry.literal_paraphrase is None:
            return None
        spans = annotate(entry.idiom, entry.original, self._language, variants=entry.variants).spans
        if not spans:
            return None
        before, after = entry.original[: spans[0].start], entry.original[spans[-1].end :]
        paraphrase = entry.literal_paraphrase
        if not paraphrase.startswith(before) or not paraphrase.endswith(after):
            return None
        literal = paraphrase[len(before) : len(paraphrase) - len(after)].strip()
        return replace(entry, meaning=literal) if literal and literal != entry.meaning else None

    def with_other_example(self, entry: Entry) -> Entry | None:
        examples = {other.concept: other.example for other in self._others(entry, "example")}
        return replace(entry, example=examples[self._chosen(entry, examples)], spans=None) if examples else None

    def with_literal_example(self, entry: Entry) -> Entry | None:
        return replace(entry, example=entry.literal_example, spans=None) if entry.literal_example else None

    def _chosen(self, entry: Entry, concepts: Mapping[str, object]) -> str:
        return min(concepts, key=lambda concept: _hash(f"{self._seed}/{entry.concept}/{concept}"))

    def _others(self, entry: Entry, field: str) -> Iterator[Entry]:
        """Yield the entries whose meaning or example would be wrong in this one."""
        equivalents = self._equivalents.get(entry.concept, set()) | {entry.concept}
        idiom = fold(entry.idiom, self._language)
        for concept, other in self._entries.items():
            text = getattr(other, field)
            if text is None or text in (entry.meaning, entry.example) or concept in equivalents:
                continue
            if fold(other.idiom, self._language) != idiom:
                yield other


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
