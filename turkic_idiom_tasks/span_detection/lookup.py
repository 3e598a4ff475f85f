"""Where an idiom that a language model names stands in the sentence that it was asked about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from turkic_idiom_tasks.dataset.sentences import locate, words
from turkic_idiom_tasks.languages import Language
from turkic_idiom_tasks.orthography import fold, skeleton
from turkic_idiom_tasks.spans import Span, iob2_tags

EDGE_SIGNS = " \t\n\"'“”„«»‘’`*.,;:!?()[]"  # what models put around an idiom


class SearchableSentence:
    """A sentence with its words in the forms by which idioms are looked up.

    A punctuation mark or an emoji matches nothing but itself, and is never an idiom of its own.

    Attributes:
        text: NFC.
        language: decides how letters are compared.
        tokens: where the tokens stand that carry the tags.
        words: where the words stand, which may be other ones than the tokens.
    """

    def __init__(self, text: str, tokens: Sequence[str], language: Language) -> None:
        self.text = text
        self.language = language
        self.tokens = locate(tokens, text)
        self.words = words(text)

    def tags(self, spans: Sequence[Span]) -> tuple[str, ...]:
        """Return the tag that spans without overlaps give each token."""
        return tuple(iob2_tags(sorted(spans), self.tokens))

    def folded_words(self) -> list[str]:
        """Return the words without differences of case, apostrophes and circumflexes."""
        return [word.of(self._folded) for word in self.words]

    def is_copied_by(self, text: str) -> bool:
        """Return whether a text has all words of the sentence in their order, whatever their endings and signs are."""
        if text.strip() == self.text.strip():
            return True
        if len(text) > 2 * len(self.text):
            return False
        stems = [unit.stem for unit in _units(text, self.language) if unit.is_word]
        ours = [unit.stem for unit in self._units if unit.is_word]
        return bool(stems) and len(stems) == len(ours) and all(map(_same_stem, stems, ours))

    def find_exactly(self, idiom: str, taken: Sequence[Span]) -> Span | None:
        """Return the first free place where an idiom stands to the letter, whatever the white space.

        Args:
            idiom: as a model writes it.
            taken: places of other idioms.
        """
        return self._find_text(idiom, self.text, taken)

    def find(self, idiom: str, taken: Sequence[Span]) -> Span | None:
        """Return the first free place of an idiom: word for word, otherwise by the stems of its words.

        Stems find the citation form of an idiom that is inflected here: `göz yummak` in `göz yumdu`.

        Args:
            idiom: as a model writes it.
            taken: places of other idioms.
        """
        text = fold(idiom.strip(EDGE_SIGNS), self.language)
        if len(text) > 2 * len(self.text):
            return None
        units = _units(text, self.language)
        while units and not units[-1].is_word:
            units.pop()
        while units and not units[0].is_word:
            units.pop(0)
        if not units:
            return None
        return self._find_text(text, self._folded, taken) or self._find_stems([unit.stem for unit in units], taken)

    @cached_property
    def _folded(self) -> str:
        return fold(self.text, self.language)

    @cached_property
    def _units(self) -> list[_Unit]:
        return _units(self.text, self.language)

    @cached_property
    def _edges(self) -> tuple[frozenset[int], frozenset[int]]:
        """Return where an idiom may begin and end: with a word, or with a token."""
        units = [*self.words, *self.tokens]
        return frozenset(unit.start for unit in units), frozenset(unit.end for unit in units)

    def _find_text(self, idiom: str, text: str, taken: Sequence[Span]) -> Span | None:
        parts = idiom.split()
        if not parts or len(idiom) > 2 * len(self.text):
            return None
        starts, ends = self._edges
        words_of_idiom = r"\s+".join(map(re.escape, parts))
        pattern = f"(?=({words_of_idiom}))"  # looked for at every letter, as matches may overlap
        for match in re.finditer(pattern, text):
            place = Span(*match.span(1))
            if place.start in starts and place.end in ends and _is_free(place, taken):
                return place
        return None

    def _find_stems(self, stems: Sequence[str], taken: Sequence[Span]) -> Span | None:
        """Return the first free run of words that begin like these stems."""
        for start in range(len(self._units) - len(stems) + 1):
            run = self._units[start : start + len(stems)]
            is_match = all(_same_stem(stem, unit.stem) for stem, unit in zip(stems, run, strict=True))
            place = Span(run[0].place.start, run[-1].place.end)
            if is_match and _is_free(place, taken):
                return place
        return None


@dataclass(frozen=True, slots=True)
class _Unit:
    """A word with its stem, or a sign that stands for itself."""

    place: Span
    stem: str
    is_word: bool


def _units(text: str, language: Language) -> list[_Unit]:
    units = []
    for place in words(text):
        stem = skeleton(place.of(text), language)
        units.append(_Unit(place, stem or place.of(text), is_word=bool(stem)))
    return units


def _is_free(place: Span, taken: Sequence[Span]) -> bool:
    return not any(other.start < place.end and place.start < other.end for other in taken)


def _same_stem(first: str, second: str) -> bool:
    """Return whether two skeletons begin alike for at least half of the shorter one, and at least two letters."""
    if first == second:
        return True
    shorter = min(len(first), len(second))
    n_shared = 0
    while n_shared < shorter and first[n_shared] == second[n_shared]:
        n_shared += 1
    return n_shared >= max(2, (shorter + 1) // 2)
