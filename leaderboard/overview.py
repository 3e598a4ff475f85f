"""Who is ahead, and who cannot be told apart: chance-corrected macro scores, and groups from a paired bootstrap.

The score of a subset is chance-corrected nDCG, (nDCG - floor) / (1 - floor), or span F1, whose floor is 0. A task is
the mean of its subsets, the macro score the mean of the tasks. All models are resampled with the same draws of whole
concepts, in every task and language at once, so that their differences are paired.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from leaderboard.data import Data
from leaderboard.records import SPANS, Record, SubsetScore
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.metrics.statistics import LEVEL, RESAMPLES, SEED

Floats = npt.NDArray[np.float64]

_BATCH = 1000  # draws held in memory at a time
_SAME = 1e-12  # what differs by less is rounding


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
class Board:
    """Everything that the pages show, computed.

    Attributes:
        data: what was scored on.
        records: sorted by id.
        overall: id -> standing over all tasks, best first; without the records that lack a task.
        by_task: task -> the same over one task.
        reproduced: ids that the maintainers ran again.
    """

    data: Data
    records: tuple[Record, ...]
    overall: Mapping[str, Standing]
    by_task: Mapping[str, Mapping[str, Standing]]
    reproduced: frozenset[str]


def make_board(records: Collection[Record], data: Data, *, reproduced: Collection[str] = ()) -> Board:
    """Ranks records, which may come in any order.

    Args:
        records: one per submission.
        data: what they were scored on.
        reproduced: ids of records that the maintainers ran again.

    Raises:
        InputError: two records of one id, a record of other data, or an unknown id in `reproduced`.
    """
    ordered = sorted(records, key=lambda record: record.id)
    for before, after in pairwise(ordered):
        if before.id == after.id:
            raise InputError(f"two submissions have the id {after.id!r}; rename the folder of one")
    for record in ordered:
        _check(record, data)
    unknown = sorted(set(reproduced) - {record.id for record in ordered})
    if unknown:
        raise InputError(f"reproduced: no submission {unknown[0]!r}; correct or delete that line")
    return Board(
        data=data,
        records=tuple(ordered),
        overall=_by_id(rank(ordered, data, tasks=data.tasks)),
        by_task={task: _by_id(rank(ordered, data, tasks=(task,))) for task in data.tasks},
        reproduced=frozenset(reproduced),
    )


def _by_id(standings: Sequence[Standing]) -> dict[str, Standing]:
    return {standing.id: standing for standing in standings}


def _check(record: Record, data: Data) -> None:
    """A record's scores must be of the items of the data, or it cannot stand beside the others."""
    if record.metadata.dataset_revision != data.revision:
        raise InputError(
            f"{record.id}: scored on revision {record.metadata.dataset_revision[:12]}, the data in use, {data.path}, "
            f"has {data.revision[:12]}; name the data that was scored with --data, or score the model again"
        )
    items = {(subset.task, subset.name): tuple(subset.texts) for subset in data.subsets}
    for score in record.subsets:
        if items.get((score.task, score.subset)) != score.items:
            raise InputError(f"{record.id}: the items of {score.task} {score.subset} are not those of {data.path}")


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


def rank(records: Sequence[Record], data: Data, *, tasks: Sequence[str], seed: int = SEED) -> tuple[Standing, ...]:
    """The records that have all of the tasks, best first; the others have no place in this ranking.

    Args:
        records: in any order, which changes nothing.
        data: what they were scored on.
        tasks: those that make the macro score.
        seed: of the resampling.
    """
    scores = {record.id: task_scores(record, data) for record in records}
    complete = [one for one in sorted(records, key=lambda one: one.id) if set(tasks) <= set(scores[one.id])]
    if not complete:
        return ()
    macros = np.array([sum(scores[one.id][task] for task in tasks) / len(tasks) for one in complete])
    order = sorted(range(len(complete)), key=lambda index: (-round(float(macros[index]), 12), complete[index].id))
    drawn = _resampled(complete, tasks=tasks, seed=seed)[:, order]
    tail = (1 - LEVEL) / 2
    lows, highs = np.quantile(drawn, [tail, 1 - tail], axis=0)
    standings = []
    for place, (rank_, group) in enumerate(_groups(drawn)):
        index = order[place]
        ends = float(lows[place]), float(highs[place])
        standings.append(Standing(complete[index].id, float(macros[index]), *ends, rank=rank_, group=group))
    return tuple(standings)


def _groups(drawn: Floats) -> Iterator[tuple[int, int]]:
    """(rank, group) of the columns of (R, M) resampled scores, which stand best first."""
    tail = (1 - LEVEL) / 2
    best, group = 0, 1
    for place in range(drawn.shape[1]):
        if np.quantile(drawn[:, best] - drawn[:, place], tail) > _SAME:
            best, group = place, group + 1
        yield best + 1, group


@dataclass(frozen=True, slots=True, eq=False)
class _Stratum:
    """One subset of all models, summed by concept.

    Attributes:
        concepts: (C,) positions of its concepts among all.
        sizes: (C,) items of each.
        above: (C, M) what the models' items add to the numerator: nDCG, or twice the right spans.
        below: (C, M) what they add to the denominator: items, or found plus true spans.
        floor: of nDCG; 0 for spans.
        weight: of the subset in the macro score.
    """

    concepts: npt.NDArray[np.int64]
    sizes: Floats
    above: Floats
    below: Floats
    floor: float
    weight: float

    def scores(self, counts: Floats) -> Floats:
        """(R, M) chance-corrected scores under (R, all concepts) draws; NaN where no item was drawn."""
        drawn = counts[:, self.concepts]
        empty = (drawn @ self.sizes == 0)[:, None]
        below = drawn @ self.below
        ratio = drawn @ self.above / np.where(below > 0, below, 1.0)
        return np.where(empty, np.nan, (ratio - self.floor) / (1 - self.floor))


def _resampled(records: Sequence[Record], *, tasks: Sequence[str], seed: int) -> Floats:
    """(R, M) macro scores of the models under the same draws; draws without an item of some subset are left out."""
    scores = [one for task in tasks for one in records[0].of_task(task)]
    names = sorted({name for one in scores for name in one.clusters})
    index = {name: position for position, name in enumerate(names)}
    strata = [
        _stratum(records, one, index, weight=1 / (len(tasks) * len(records[0].of_task(one.task)))) for one in scores
    ]
    generator = np.random.default_rng([seed, 0])
    found = []
    for start in range(0, RESAMPLES, _BATCH):
        size = min(_BATCH, RESAMPLES - start)
        counts = generator.multinomial(len(names), np.full(len(names), 1 / len(names)), size=size).astype(np.float64)
        macro = np.zeros((size, len(records)))
        for stratum in strata:
            macro += stratum.weight * stratum.scores(counts)
        found.append(macro[~np.isnan(macro).any(axis=1)])
    return np.concatenate(found)


def _stratum(records: Sequence[Record], like: SubsetScore, index: Mapping[str, int], *, weight: float) -> _Stratum:
    concepts, rows = np.unique([index[name] for name in like.clusters], return_inverse=True)
    above, below = (np.zeros((len(concepts), len(records))) for _ in range(2))
    for column, record in enumerate(records):
        one = next(score for score in record.of_task(like.task) if score.subset == like.subset)
        pair = one.values if like.task != SPANS else np.stack([2 * one.values[:, 0], one.values[:, 1:].sum(axis=1)], 1)
        above[:, column] = np.bincount(rows, weights=pair[:, 0], minlength=len(concepts))
        below[:, column] = np.bincount(
            rows, weights=pair[:, 1] if like.task == SPANS else None, minlength=len(concepts)
        )
    sizes = np.bincount(rows, minlength=len(concepts)).astype(np.float64)
    floor = 0.0 if like.task == SPANS else like.scores["ndcg_floor"]
    return _Stratum(concepts, sizes, above, below, floor=floor, weight=weight)
