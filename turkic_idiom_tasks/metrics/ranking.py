"""Scores of rankings of a whole pool, with ties scored by their expected value, and what a random ranking scores.

nDCG is that of Järvelin and Kekäläinen (2002) with binary relevance and the discount 1 / log2(1 + rank), as in
trec_eval. Where documents tie, every score here is its expectation over all orders of the tied documents (McSherry
and Najork, 2008): independent of document ids, where trec_eval, and mteb with it, breaks ties by descending document
id. Without ties the figures are trec_eval's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

RECALL_CUTS = (1, 5, 10)
NDCG_CUT = 10


@dataclass(frozen=True, slots=True, eq=False)
class RankingScores:
    """Scores of each query, all arrays (Q,) float64 in [0, 1], higher is better.

    Attributes:
        ndcg: nDCG over the whole pool, without a cut-off.
        ndcg_at_10: nDCG cut at rank 10.
        mrr: reciprocal rank of the first relevant document.
        recall_at_1: share of the relevant documents within rank 1; likewise for 5 and 10.
        floor: expected uncut nDCG of a uniformly random ranking of the same pool.
    """

    ndcg: Floats
    ndcg_at_10: Floats
    mrr: Floats
    recall_at_1: Floats
    recall_at_5: Floats
    recall_at_10: Floats
    floor: Floats

    def means(self) -> dict[str, float]:
        """Mean over queries of each score, and ``ndcg_corrected`` of the means.

        Raises:
            ValueError: there are no queries.
        """
        if not len(self.ndcg):
            raise ValueError("no queries: the mean score is undefined")
        means = {field.name: float(getattr(self, field.name).mean()) for field in fields(self)}
        means["ndcg_floor"] = means.pop("floor")
        return means | {"ndcg_corrected": chance_corrected(means["ndcg"], means["ndcg_floor"])}


def chance_corrected(score: float, floor: float) -> float:
    """(score - floor) / (1 - floor): 0 for a random ranking, 1 for a perfect one, negative below chance.

    Raises:
        ValueError: the floor is 1: every ranking of this pool is perfect and the corrected score undefined.
    """
    if floor >= 1.0:
        raise ValueError("the pool holds only relevant documents: the chance-corrected score is undefined")
    return (score - floor) / (1.0 - floor)


def score_rankings(similarities: npt.NDArray[np.floating], relevant: Sequence[Sequence[int]]) -> RankingScores:
    """The scores of every query from the similarities to all documents of the pool.

    Args:
        similarities: (Q, N), higher is nearer; equal values tie; -inf for documents that were not retrieved, which all
            tie at the end.
        relevant: for each query the columns of its relevant documents, at least one, without repeats.

    Raises:
        ValueError: a NaN, or a query without a relevant document.
    """
    if np.isnan(similarities).any():
        row = int(np.isnan(similarities).any(axis=1).argmax())
        raise ValueError(f"the similarities of query {row} hold NaN: the model's vectors are not finite")
    n_documents = similarities.shape[1]
    counts = np.array([len(columns) for columns in relevant], dtype=np.int64)
    if (counts == 0).any():
        raise ValueError(f"query {int((counts == 0).argmax())} has no relevant document")
    rows = np.repeat(np.arange(len(relevant)), counts)
    columns = np.concatenate([np.asarray(c, dtype=np.int64) for c in relevant]) if len(relevant) else rows
    target = similarities[rows, columns]
    above = np.array([np.count_nonzero(similarities[r] > v) for r, v in zip(rows, target, strict=True)], dtype=np.int64)
    tied = np.array([np.count_nonzero(similarities[r] == v) for r, v in zip(rows, target, strict=True)], dtype=np.int64)
    return _score_groups(rows, above, tied, counts, n_documents)


def _score_groups(rows: npt.NDArray[np.int64], above: npt.NDArray[np.int64], tied: npt.NDArray[np.int64],
                  counts: npt.NDArray[np.int64], n_documents: int) -> RankingScores:  # fmt: skip
    """Scores from, for each (query, relevant document): how many documents rank above it and how many tie with it."""
    n_queries = len(counts)

    def mean_over_ties(cumulative: Floats) -> Floats:
        gains = (cumulative[above + tied] - cumulative[above]) / tied
        return np.bincount(rows, weights=gains, minlength=n_queries).astype(np.float64)

    ideal = _cumulative_discounts(n_documents, n_documents)
    ideal_cut = _cumulative_discounts(n_documents, NDCG_CUT)
    recalls = {
        cut: mean_over_ties(np.minimum(np.arange(n_documents + 1), cut).astype(np.float64)) / counts
        for cut in RECALL_CUTS
    }
    return RankingScores(
        ndcg=mean_over_ties(ideal) / ideal[counts],
        ndcg_at_10=mean_over_ties(ideal_cut) / ideal_cut[counts],
        mrr=_reciprocal_ranks(rows, above, tied, n_queries),
        recall_at_1=recalls[1],
        recall_at_5=recalls[5],
        recall_at_10=recalls[10],
        floor=np.array([random_ndcg(n_documents, int(count)) for count in counts]),
    )


def _reciprocal_ranks(rows: npt.NDArray[np.int64], above: npt.NDArray[np.int64], tied: npt.NDArray[np.int64],
                      n_queries: int) -> Floats:  # fmt: skip
    """Expected reciprocal rank of each query's first relevant document."""
    first = np.full(n_queries, np.iinfo(np.int64).max)
    np.minimum.at(first, rows, above)
    size = np.zeros(n_queries, dtype=np.int64)
    relevant = np.zeros(n_queries, dtype=np.int64)
    in_first = above == first[rows]
    size[rows[in_first]] = tied[in_first]
    np.add.at(relevant, rows[in_first], 1)
    expected = [
        _expected_reciprocal(int(a), size=int(g), relevant=int(r))
        for a, g, r in zip(first, size, relevant, strict=True)
    ]
    return np.array(expected, dtype=np.float64)


@lru_cache(maxsize=4096)
def _expected_reciprocal(above: int, *, size: int, relevant: int) -> float:
    """E[1 / rank of the first relevant] when `relevant` of the `size` documents after rank `above` are, in any order.

    The first one stands at place j with probability C(size - j, relevant - 1) / C(size, relevant), computed by its
    ratio.
    """
    probability = relevant / size
    total = 0.0
    for place in range(1, size - relevant + 2):
        total += probability / (above + place)
        if size > place:
            probability *= (size - place - relevant + 1) / (size - place)
    return total


@lru_cache(maxsize=64)
def _cumulative_discounts(n_documents: int, cut: int) -> Floats:
    """(N + 1,) float64: sum of 1 / log2(1 + rank) over the first 0, 1, … N ranks; beyond `cut` they count nothing."""
    ranks = np.arange(1, n_documents + 1)
    discounts = np.where(ranks <= cut, 1.0 / np.log2(1.0 + ranks), 0.0)
    return np.concatenate([[0.0], np.cumsum(discounts)])


@lru_cache(maxsize=4096)
def random_ndcg(n_documents: int, n_relevant: int) -> float:
    """The floor: exact expected uncut nDCG of a uniformly random ranking, in (0, 1].

    Every rank holds a relevant document with probability R / N, so E[DCG] = R / N times the sum of all discounts.

    Raises:
        ValueError: not 0 < R <= N.
    """
    if not 0 < n_relevant <= n_documents:
        raise ValueError(f"cannot have {n_relevant} relevant documents among {n_documents}")
    discounts = _cumulative_discounts(n_documents, n_documents)
    return float(n_relevant / n_documents * discounts[-1] / discounts[n_relevant])


def ranking_groups(similarities: npt.NDArray[np.floating], documents: Sequence[str]) -> list[str | list[str]]:
    """One query's ranking: document ids, best first; documents that tie stand together as a list, sorted by id.

    Args:
        similarities: (N,) higher is nearer; -inf for documents that were not retrieved, which are left out.
        documents: ids of the N documents.
    """
    order = np.argsort(-similarities, kind="stable")
    values = similarities[order]
    values = values[values > -np.inf]
    ids = [documents[column] for column in order[: len(values)].tolist()]
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]])[: len(values)]).tolist()
    if len(starts) == len(ids):
        return list(ids)
    groups: list[str | list[str]] = []
    for start, end in zip(starts, [*starts[1:], len(ids)], strict=True):
        groups.append(ids[start] if end - start == 1 else sorted(ids[start:end]))
    return groups


def similarities_of_groups(groups: Sequence[str | Sequence[str]], columns: Mapping[str, int]) -> Floats:
    """(N,) float64 that rank like `groups`; documents that are not listed get -inf and tie at the end.

    Args:
        groups: as `ranking_groups` gives them.
        columns: document id -> column, for the whole pool.

    Raises:
        KeyError: an id that is not in the pool.
    """
    similarities = np.full(len(columns), -np.inf)
    for rank, group in enumerate(groups):
        for document in [group] if isinstance(group, str) else group:
            similarities[columns[document]] = -float(rank)
    return similarities
