"""Likeness: how much an idiom looks like another one, for lexical traps.

Within a language two idioms look alike if they have a content word in common, in any of its forms. Across languages
they do if a word of the one is spelt like, or nearly like, a word of the other in the common orthography.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from turkic_idiom_tasks.annotation.stems import normalise, stems
from turkic_idiom_tasks.dataset.sentences import words
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Entry
from turkic_idiom_tasks.orthography import content_stems

NEARLY_SPELT = 0.75  # similarity from 0 to 1, from which two words are nearly spelt alike
_SHARED_PREFIX = 3  # letters that make two words alike too, as in `orthography.share_stem`


class SharedWords:
    """The content words of all idioms of one language."""

    def __init__(self, entries: Mapping[str, Entry], *, language: str) -> None:
        self._language = language
        self._concepts: dict[str, set[str]] = {}  # stem -> concepts with a word that may be a form of it
        for entry in entries.values():
            for word in word_stems(entry.idiom, language):
                for stem in word:
                    self._concepts.setdefault(stem, set()).add(entry.concept)

    def with_words_of(self, idiom: str) -> dict[str, float]:
        """Return concept -> number of content words of an idiom of this language that its idiom has too, above 0."""
        likeness: dict[str, float] = {}
        for word in word_stems(idiom, self._language):
            sharing: set[str] = set()
            for stem in word:
                sharing |= self._concepts.get(stem, set())
            for concept in sharing:
                likeness[concept] = likeness.get(concept, 0.0) + 1
        return likeness


class SimilarSpelling:
    """The content words of all idioms of one language in the common orthography."""

    def __init__(self, entries: Mapping[str, Entry], *, language: str) -> None:
        self._concepts: dict[str, set[str]] = {}  # word -> concepts
        for entry in entries.values():
            for word in content_stems(entry.idiom, LANGUAGES[language]):
                self._concepts.setdefault(word, set()).add(entry.concept)

    def to_words_of(self, idiom: str, language: str) -> dict[str, float]:
        """Return concept -> how well its idiom spells the content words of an idiom of another language, above 0.

        The sum over the words of the idiom of the similarity of the most similar word, if it is at least
        `NEARLY_SPELT`.
        """
        likeness: dict[str, float] = {}
        for word in dict.fromkeys(content_stems(idiom, LANGUAGES[language])):
            best: dict[str, float] = {}
            for other, similarity in _similar(word, self._concepts).items():
                for concept in self._concepts[other]:
                    best[concept] = max(similarity, best.get(concept, 0.0))
            for concept, similarity in best.items():
                likeness[concept] = likeness.get(concept, 0.0) + similarity
        return likeness


@lru_cache(maxsize=1 << 13)
def word_stems(text: str, language: str) -> tuple[frozenset[str], ...]:
    """Return for each content word of a text the stems that it may be a form of; see `annotation.stems`."""
    content = []
    for span in words(text):
        word = span.of(text)
        if content_stems(word, LANGUAGES[language]):
            costs = stems(normalise(word, LANGUAGES[language]), language)
            content.append(frozenset(stem for stem, cost in costs.items() if not cost))
    return tuple(content)


def _similar(word: str, others: Collection[str]) -> dict[str, float]:
    """Return the words of `others` that are spelt like or nearly like a word, with their similarity.

    Of words with fewer than three letters only the same word is alike.
    """
    matches = process.extract(
        word, tuple(others), scorer=Levenshtein.normalized_similarity, score_cutoff=NEARLY_SPELT, limit=None
    )
    similar = {other: similarity for other, similarity, _ in matches}
    if len(word) < _SHARED_PREFIX:
        return {word: 1.0} if word in similar else {}
    for other in others:
        if other.startswith(word[:_SHARED_PREFIX]):
            similar.setdefault(other, NEARLY_SPELT)
    return {other: similarity for other, similarity in similar.items() if len(other) >= _SHARED_PREFIX}
