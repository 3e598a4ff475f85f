"""Who is ahead, and who cannot be told apart: chance-corrected macro scores, and groups from a paired bootstrap.

The score of a subset is chance-corrected nDCG, (nDCG - floor) / (1 - floor), or span F1, whose floor is 0. A task is
the mean of its subsets, the macro score the mean of the tasks. All models are resampled with the same draws of whole
concepts, in every task and language at once, so that their differences are paired.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce

import numpy as np
import numpy.typing as npt

from leaderboard.data import Data
from leaderboard.records import SPANS, Record, SubsetScore
from turkic_idiom_tasks.metrics.statistics import LEVEL, RESAMPLES, SEED

Floats = npt.NDArray[np.float64]

_SAME = 1e-12  # what differs by less is rounding
_TAIL = (1 - LEVEL) / 2


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a model stands in one ranking.

    Attributes:
        id: of the record.
        score: chance-corrected, 1 is perfect, 0 is chance.
        low: lower end of its 95% interval.
        high: upper end of it.
        rank: 1 + the number of models in better groups; equal within a group.
        group: 1 is the best; the 95% interval of the difference to the best of one's group holds 0.
    """

    id: str
    score: float
    low: float
    high: float
    rank: int
    group: int


@dataclass(frozen=True, slots=True, eq=False)
class Resampled:
    """The models that have all of a task, and what they score under the draws that all tasks share.

    Attributes:
        ids: of the records, sorted.
        scores: (M,) chance-corrected.
        drawn: (draws, M) the same under each draw; a row of NaN where it holds no item of some subset.
    """

    ids: tuple[str, ...]
    scores: Floats
    drawn: Floats


def corrected(score: SubsetScore) -> float:
    """The chance-corrected main score of a subset: that of the result files for retrieval, F1 itself for spans."""
    return score.main if score.task == SPANS else score.scores["ndcg_corrected"]


def task_scores(record: Record, data: Data) -> dict[str, float]:
    """Task -> chance-corrected mean over its subsets, for the tasks of which the record has a score in every subset."""
    found = {}
    for task in data.tasks:
        have = {score.subset: corrected(score) for score in record.of_task(task)}
        complete = set(have) == {subset.name for subset in data.of_task(task)}
        if complete and not any(math.isnan(value) for value in have.values()):
            found[task] = sum(have[name] for name in sorted(have)) / len(have)
    return found


def resample(records: Sequence[Record], data: Data, *, seed: int = SEED) -> dict[str, Resampled]:
    """Task -> the records that have a score in each of its subsets, resampled.

    Args:
        records: in any order, which changes nothing.
        data: what they were scored on.
        seed: of the resampling.
    """
    names = sorted({name for record in records for score in record.subsets for name in score.clusters})
    index = {name: position for position, name in enumerate(names)}
    ordered = sorted(records, key=lambda record: record.id)
    scores = {record.id: task_scores(record, data) for record in ordered}
    found = {}
    for task in data.tasks:
        complete = [record for record in ordered if task in scores[record.id]]
        drawn = np.zeros((RESAMPLES, len(complete)))
        if complete:
            counts = _counts(len(names), seed)
            subsets = sorted(score.subset for score in complete[0].of_task(task))
            for subset in subsets:
                column = [one for record in complete for one in record.of_task(task) if one.subset == subset]
                concepts = np.array([index[name] for name in column[0].clusters])
                drawn += _drawn_scores(column, counts[:, concepts]) / len(subsets)
        values = np.array([scores[record.id][task] for record in complete])
        found[task] = Resampled(tuple(record.id for record in complete), values, drawn)
    return found


def rank(parts: Sequence[Resampled]) -> tuple[Standing, ...]:
    """The records that are in all parts, best first by the mean over them; the others have no place in this ranking."""
    ids = sorted(set.intersection(*(set(part.ids) for part in parts))) if parts else []
    if not ids:
        return ()
    columns = [[part.ids.index(name) for name in ids] for part in parts]
    scores = _mean([part.scores[kept] for part, kept in zip(parts, columns, strict=True)])
    order = sorted(range(len(ids)), key=lambda place: (-round(float(scores[place]), 12), ids[place]))
    drawn = _mean([part.drawn[:, kept] for part, kept in zip(parts, columns, strict=True)])[:, order]
    drawn = drawn[~np.isnan(drawn).any(axis=1)]
    lows, highs = np.quantile(drawn, [_TAIL, 1 - _TAIL], axis=0)
    return tuple(
        Standing(ids[at], float(scores[at]), float(lows[place]), float(highs[place]), rank=rank_, group=group)
        for place, (at, (rank_, group)) in enumerate(zip(order, _groups(drawn), strict=True))
    )


def _mean(arrays: Sequence[Floats]) -> Floats:
    return reduce(np.add, arrays) / len(arrays)


def _groups(drawn: Floats) -> Iterator[tuple[int, int]]:
    """(rank, group) of the columns of (R, M) resampled scores, which stand best first."""
    best, group = 0, 1
    for place in range(drawn.shape[1]):
        if np.quantile(drawn[:, best] - drawn[:, place], _TAIL) > _SAME:
            best, group = place, group + 1
        yield best + 1, group


def _drawn_scores(scores: Sequence[SubsetScore], counts: Floats) -> Floats:
    """(draws, M) chance-corrected scores of one subset.

    Args:
        scores: of the M models.
        counts: (draws, items) how often each item is drawn.
    """
    items = counts.sum(axis=1, keepdims=True)
    values = np.stack([score.values for score in scores], axis=-1)  # (items, 1 or 3, M)
    if scores[0].task == SPANS:
        above, below, floor = counts @ (2 * values[:, 0]), counts @ (values[:, 1] + values[:, 2]), 0.0
    else:
        above, below, floor = counts @ values[:, 0], items, scores[0].scores["ndcg_floor"]
    ratio = above / np.where(below > 0, below, 1.0)
    return np.where(items > 0, (ratio - floor) / (1 - floor), np.nan)


@lru_cache(maxsize=1)
def _counts(n_concepts: int, seed: int) -> Floats:
    """(draws, concepts): how often each concept is drawn."""
    generator = np.random.default_rng([seed, 0])
    even = np.full(n_concepts, 1 / n_concepts)
    return generator.multinomial(n_concepts, even, size=RESAMPLES).astype(np.float64)
