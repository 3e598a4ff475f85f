"""Scores of rankings of a whole pool, with ties scored by their expected value, and the score of a random ranking.

nDCG is that of Järvelin and Kekäläinen (2002) with binary relevance and the discount 1 / log2(1 + rank), as in
trec_eval. If documents tie, every score here is its expectation over all orders of the tied documents (McSherry and
Najork, 2008), which does not depend on document ids; trec_eval and mteb break ties by descending document id. Without
ties the scores equal those of trec_eval.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

RECALL_CUTS = (1, 5, 10)
NDCG_CUT = 10
NEAR_FLOOR = 0.05  # chance-corrected; n-grams, which know no meaning, have .004 on T2 and .006 on T3


def chance_corrected(score: float, floor: float) -> float:
    """Return (score - floor) / (1 - floor): 0 for a random ranking, 1 for a perfect one; NaN if the floor is 1."""
    # The floor is 1 where the pool has only relevant documents, so that every ranking is perfect
    return (score - floor) / (1.0 - floor) if floor < 1.0 else math.nan


def are_near_floor(scores: Iterable[float], floor: float) -> bool:
    """Return whether all scores are so near that of a random ranking that their difference says little."""
    return all(chance_corrected(score, floor) < NEAR_FLOOR for score in scores)


def score_rankings(similarities: npt.NDArray[np.floating], relevant: Sequence[Sequence[int]]) -> dict[str, Floats]:
    """Return the scores of every query from its similarities to all documents; see `score_positions`.

    The similarities are (Q, N), higher is nearer, without NaN; equal values tie, and so do documents that were not
    retrieved, whose value is -inf. Relevant are at least one column for each query, without repeats.
    """
    places = []
    for row, columns in enumerate(relevant):
        for column in columns:
            # counted, because sorting would put tied documents in some order
            value = similarities[row, column]
            n_above, n_tied = np.count_nonzero(similarities[row] > value), np.count_nonzero(similarities[row] == value)
            places.append((int(n_above), int(n_tied)))
    return score_positions([len(columns) for columns in relevant], places, n_documents=similarities.shape[1])


def mean_scores(scores: Mapping[str, Floats]) -> dict[str, float]:
    """Return the mean over queries of each score, and ``ndcg_corrected``, computed from the means."""
    means = {name: float(values.mean()) for name, values in scores.items()}
    return means | {"ndcg_corrected": chance_corrected(means["ndcg"], means["ndcg_floor"])}


def score_positions(
    n_relevant: Sequence[int], places: Sequence[tuple[int, int]], *, n_documents: int
) -> dict[str, Floats]:
    """Return the scores of every query, each (Q,) float64 in [0, 1], higher is better.

    They are ``ndcg`` over the whole pool, ``ndcg_at_10``, ``mrr`` of the first relevant document, ``recall_at_1`` and
    so on, the share of the relevant documents within a rank, and ``ndcg_floor``, the expected ``ndcg`` of a uniformly
    random ranking of the same pool.

    Args:
        n_relevant: number of relevant documents of each query, at least one.
        places: for each relevant document, query after query, how many documents rank strictly higher, and how many
            tie with it, itself included.
        n_documents: size of the pool.
    """
    counts = np.array(n_relevant, dtype=np.int64)
    above, tied = np.array(places, dtype=np.int64).reshape(-1, 2).T
    n_queries = len(counts)
    rows = np.repeat(np.arange(n_queries), counts)

    def mean_over_ties(cumulative: Floats) -> Floats:
        # A document of a tie stands at each place of the tie with the same probability.
        gains = (cumulative[above + tied] - cumulative[above]) / tied
        return np.bincount(rows, weights=gains, minlength=n_queries).astype(np.float64)

    ideal = _cumulative_discounts(n_documents, n_documents)
    ideal_cut = _cumulative_discounts(n_documents, NDCG_CUT)
    recalls = {}
    for cut in RECALL_CUTS:
        within_cut = np.minimum(np.arange(n_documents + 1), cut).astype(np.float64)
        recalls[f"recall_at_{cut}"] = mean_over_ties(within_cut) / counts
    reciprocal_ranks = np.empty(n_queries)  # expected, of the first relevant document, given its ties
    starts = np.concatenate([[0], np.cumsum(counts)]).tolist()
    for query, (start, end) in enumerate(pairwise(starts)):
        ranks_above = above[start:end].tolist()
        first = min(ranks_above)
        size = int(tied[start + ranks_above.index(first)])
        reciprocal_ranks[query] = _expected_reciprocal(first, size=size, relevant=ranks_above.count(first))
    return {
        "ndcg": mean_over_ties(ideal) / ideal[counts],
        "ndcg_at_10": mean_over_ties(ideal_cut) / ideal_cut[counts],
        "mrr": reciprocal_ranks,
        **recalls,
        "ndcg_floor": np.array([random_ndcg(n_documents, count) for count in n_relevant]),
    }


@lru_cache(maxsize=4096)
def _expected_reciprocal(above: int, *, size: int, relevant: int) -> float:
    """Return E[1 / rank of the first relevant] if `relevant` of `size` documents after rank `above` are relevant."""
    # Every order of those documents is equally likely, so the first relevant one stands at place j with probability
    # C(size - j, relevant - 1) / C(size, relevant). Each is computed from the one before it
    probability = relevant / size
    total = 0.0
    for place in range(1, size - relevant + 2):
        total += probability / (above + place)
        if size > place:
            probability *= (size - place - relevant + 1) / (size - place)
    return total


@lru_cache(maxsize=64)
def _cumulative_discounts(n_documents: int, cut: int) -> Floats:
    """Return (N + 1,) float64: sums of 1 / log2(1 + rank) over the first 0, 1, … N ranks; 0 is added beyond `cut`."""
    ranks = np.arange(1, n_documents + 1)
    discounts = np.where(ranks <= cut, 1.0 / np.log2(1.0 + ranks), 0.0)
    return np.concatenate([[0.0], np.cumsum(discounts)])


@lru_cache(maxsize=4096)
def random_ndcg(n_documents: int, n_relevant: int) -> float:
    """Return the floor: the exact expected uncut nDCG of a uniformly random ranking, in (0, 1]."""
    discounts = _cumulative_discounts(n_documents, n_documents)
    # Every rank holds a relevant document with probability R / N, so E[DCG] = R / N times the sum of all discounts
    return float(n_relevant / n_documents * discounts[-1] / discounts[n_relevant])
