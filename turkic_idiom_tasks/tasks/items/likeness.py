"""Likeness: how much an idiom looks like another one, for lexical traps.

Within a language two idioms look alike if they have a content word in common, in any of its forms. Across languages
they do if a word of the one is spelt like, or nearly like, a word of the other in the common orthography.
"""

from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from turkic_idiom_tasks.annotation.stems import normalise, stems
from turkic_idiom_tasks.dataset.sentences import words
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.orthography import content_stems, to_common

NEARLY_SPELT = 0.75  # similarity from which two words are nearly spelt alike: one letter in four may differ
_NGRAM = 3  # letters
_SHARED_PREFIX = 3  # letters that make two words alike too, as in `orthography.share_stem`


class SharedWords:
    """Content words of texts of one language, by concept."""

    def __init__(self, texts: Mapping[str, str], *, language: str) -> None:
        self._language = language
        self._concepts: dict[str, set[str]] = {}  # stem -> concepts with a word that may be a form of it
        for concept, text in texts.items():
            for word in word_stems(text, language):
                for stem in word:
                    self._concepts.setdefault(stem, set()).add(concept)

    def with_words_of(self, idiom: str) -> dict[str, float]:
        """Return concept -> number of content words of an idiom of this language that its text has too, above 0."""
        likeness: dict[str, float] = defaultdict(float)
        for word in word_stems(idiom, self._language):
            for concept in set().union(*(self._concepts.get(stem, ()) for stem in word)):
                likeness[concept] += 1
        return likeness


class SimilarSpelling:
    """Content words of texts of one language, by concept, in the common orthography."""

    def __init__(self, texts: Mapping[str, str], *, language: str) -> None:
        self._concepts: dict[str, set[str]] = {}  # word -> concepts
        for concept, text in texts.items():
            for word in content_stems(text, LANGUAGES[language]):
                self._concepts.setdefault(word, set()).add(concept)
        self._words = tuple(self._concepts)
        self._words_with: dict[str, list[str]] = {}  # first letters -> words
        for word in self._words:
            self._words_with.setdefault(word[:_SHARED_PREFIX], []).append(word)

    def to_words_of(self, idiom: str, language: str) -> dict[str, float]:
        """Return concept -> how well its text spells the content words of an idiom of another language, above 0.

        It is the sum over the words of the idiom of the similarity of the most similar word, from `NEARLY_SPELT`.
        """
        likeness: dict[str, float] = {}
        for word in dict.fromkeys(content_stems(idiom, LANGUAGES[language])):
            if len(word) < _SHARED_PREFIX:  # one letter more or less makes another word
                similar = {word: 1.0}
            else:
                similar = dict.fromkeys(self._words_with.get(word[:_SHARED_PREFIX], ()), NEARLY_SPELT)
                for other, similarity, _ in process.extract(
                    word, self._words, scorer=Levenshtein.normalized_similarity, score_cutoff=NEARLY_SPELT, limit=None
                ):
                    if len(other) >= _SHARED_PREFIX:
                        similar[other] = similarity
            best: dict[str, float] = {}
            for other, similarity in similar.items():
                for concept in self._concepts.get(other, ()):
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
            # A stem at a cost is that of another verb, as `aç-` is for `açıldı` beside `açıl-`
            costs = stems(normalise(word, LANGUAGES[language]), language)
            content.append(frozenset(stem for stem, cost in costs.items() if not cost))
    return tuple(content)


def letter_overlap(first: str, second: str, first_language: str, second_language: str) -> float:
    """Return the Dice coefficient of the three-letter sequences of two texts in the common orthography, in [0, 1]."""
    ours, others = _ngrams(first, first_language), _ngrams(second, second_language)
    return 2 * len(ours & others) / (len(ours) + len(others)) if ours or others else 0.0


def letters_kept(idiom: str, sentence: str, language: str) -> float:
    """Return the share of the three-letter sequences of an idiom that stand in a sentence, in [0, 1]."""
    ours = _ngrams(idiom, language)
    return len(ours & _ngrams(sentence, language)) / len(ours) if ours else 0.0


@lru_cache(maxsize=1 << 14)
def _ngrams(text: str, language: str) -> frozenset[str]:
    """Return every three letters in a row of a text, blanks at either end included."""
    padded = f" {to_common(text, LANGUAGES[language])} "
    return frozenset(padded[start : start + _NGRAM] for start in range(len(padded) - _NGRAM + 1))
