"""Headline of a subset: one number that spelling alone gets by chance, and that rises when a model learns meaning.

It is chance-corrected, (score - chance) / (1 - chance): in every task 0 is chance and 1 is perfect, so headlines of
several tasks have a mean. The paper's own scores stand beside it under their own names.

- T1: nDCG over the spelling-free queries.
- T2, T3: nDCG over all queries, because idioms and definitions hardly share words.
- T4, STS: whether the paraphrase of what the idiom means is nearer to the sentence than the paraphrase of its literal
  words. Sentences in which spelling points to the right one and to the wrong one count alike.
- spans: strict F1. Items of language models: accuracy; in `equivalent` where the two idioms share no word.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from turkic_idiom_tasks.dataset.retrieval import TASKS, Pool
from turkic_idiom_tasks.dataset.similarity import NOWHERE, SentencePairs
from turkic_idiom_tasks.encoders.char_ngrams import encode_texts
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.metrics.bootstrap import Floats
from turkic_idiom_tasks.metrics.ranking import chance_corrected
from turkic_idiom_tasks.results.predictions import Rankings, Similarities

MIN_QUERIES = 10  # fewer spelling-free ones of more say nothing: Gagauz has 5 of 29
# A query is spelling-free if character n-grams rank its relevant documents behind this share of the pool. On these
# queries n-grams and BM25 score .120 to .127 in Azerbaijani, Turkmen and Uzbek, where chance is .123 to .129. Without a
# shared stem, but otherwise of any rank, n-grams still had .158 to .183 on edition 3.
SPELLING_SHARE = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Headline:
    """Items that a headline counts, and what each adds."""

    concepts: tuple[str, ...]  # (n,) of each item; items of one concept are resampled together
    sums: Floats  # (n, 2) numerator and denominator; the score is the ratio of their sums
    chance: float = 0.0  # expected score of a random ranking or choice, below 1

    @property
    def raw(self) -> float:
        """Return the score before it is corrected for chance; NaN if there is nothing to score."""
        total, weight = self.sums.sum(axis=0)
        return float(total / weight) if weight else math.nan

    @property
    def score(self) -> float:
        """Return the chance-corrected score; NaN if there is nothing to score, or chance is perfect."""
        return chance_corrected(self.raw, self.chance)


def ranking_headline(rankings: Rankings, floors: Floats, sums: Floats) -> Headline | None:
    """Return the headline of a retrieval subset, if any, from the floors of its queries and their parts in nDCG."""
    pool = rankings.pool
    if TASKS[pool.task].query == "original":
        pairs, margins = _rivals(pool)
        gains = [rankings.place(row, wrong)[0] - rankings.place(row, right)[0] for row, right, wrong in pairs]
        return _pair_headline(tuple(pool.concepts[row] for row, _, _ in pairs), np.array(gains), margins)
    chosen = spelling_free(pool)
    if chosen is None:
        return Headline(pool.concepts, sums, float(floors.mean()))
    if not has_headline(chosen):
        return None
    concepts = tuple(concept for concept, is_chosen in zip(pool.concepts, chosen, strict=True) if is_chosen)
    return Headline(concepts, sums[chosen], float(floors[chosen].mean()))


def similarity_headline(similarities: Similarities, *, language: str) -> Headline | None:
    """Return the headline of sentence pairs in one of our languages (code); None if there is none."""
    pairs, of_ngrams = similarities.pairs, _ngram_similarities(similarities.pairs, language)
    incorrect = np.flatnonzero(pairs.correct != NOWHERE)
    gains, margins = (
        values[pairs.correct[incorrect]] - values[incorrect] for values in (similarities.values, of_ngrams)
    )
    return _pair_headline(tuple(pairs.concepts[position] for position in incorrect), gains, margins)


def has_headline(chosen: npt.NDArray[np.bool_]) -> bool:
    """Return whether the (Q,) chosen queries are enough for a headline."""
    return bool(chosen.all() or chosen.sum() >= MIN_QUERIES)


@lru_cache(maxsize=64)  # the pools of a leaderboard, each of which is scored for every submission
def spelling_free(pool: Pool) -> npt.NDArray[np.bool_] | None:
    """Return (Q,) whether n-grams rank every relevant document outside the top; None if spelling does not matter."""
    # Idioms of related languages are often the same words in another spelling, so over all queries a comparison of
    # letters beats every encoder. Idioms and definitions hardly share words.
    if TASKS[pool.task].document != "idiom":
        return None
    source, target = TASKS[pool.task].subsets[pool.subset]
    queries = encode_texts([pool.data.queries[query] for query in pool.queries], source)
    documents = encode_texts([pool.data.documents[document] for document in pool.documents], target)
    similarities = queries @ documents.T
    free = []
    for row, columns in enumerate(pool.relevant):
        n_above = np.count_nonzero(similarities[row] > similarities[row, columns].max())
        free.append(n_above >= SPELLING_SHARE * len(pool.documents))
    return np.array(free, dtype=bool)


def _pair_headline(concepts: tuple[str, ...], gains: Floats, margins: Floats) -> Headline | None:
    """Return the accuracy over pairs in which a positive gain is right and none counts one half; None if undefined."""
    # Pairs of one sort cannot be weighted against the other
    if not (margins > 0).any() or not (margins < 0).any():
        return None
    right = (gains > 0) + 0.5 * (gains == 0)
    # The pairs in which the n-grams are right count as much as those in which they are wrong, so n-grams have exactly
    # one half, whatever the share of either sort
    weights = np.ones(len(margins))
    for side in (margins > 0, margins < 0):
        weights[side] = (margins != 0).sum() / 2 / side.sum()
    return Headline(concepts, np.stack([right * weights, weights], axis=1), chance=0.5)


@lru_cache(maxsize=64)
def _rivals(pool: Pool) -> tuple[list[tuple[int, int, int]], Floats]:
    """Return the queries of T4 with a literal paraphrase: row, columns of both paraphrases; margins of the n-grams."""
    pairs = [(row, pool.relevant[row][0], rival) for row, rival in enumerate(pool.rivals) if rival is not None]
    language = TASKS[pool.task].subsets[pool.subset][0]
    queries = encode_texts([pool.data.queries[pool.queries[row]] for row, _, _ in pairs], language)
    right = encode_texts([pool.data.documents[pool.documents[column]] for _, column, _ in pairs], language)
    wrong = encode_texts([pool.data.documents[pool.documents[column]] for _, _, column in pairs], language)
    return pairs, (queries * right).sum(axis=1) - (queries * wrong).sum(axis=1)


@lru_cache(maxsize=64)
def _ngram_similarities(pairs: SentencePairs, code: str) -> Floats:
    """Return (P,) the similarity of each pair by the n-grams."""
    first = encode_texts([row.sentence1 for row in pairs.rows], LANGUAGES[code])
    second = encode_texts([row.sentence2 for row in pairs.rows], LANGUAGES[code])
    similarities: Floats = (first * second).sum(axis=1).astype(np.float64)
    return similarities
