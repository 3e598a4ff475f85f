"""Scores of the queries that share a word stem with the right answer, and of the others.

Many idioms of related languages have words in common, so spelling alone finds them. A model that understands idioms
also finds the others. The two groups are those of `turkic-idiom run`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.board import Board
from leaderboard.items import SubsetItems
from leaderboard.scores import ScoredSubmission
from leaderboard.tables import ShownScore
from turkic_idiom_tasks.metrics.bootstrap import Stratum, resample_models
from turkic_idiom_tasks.metrics.ranking import random_ndcg
from turkic_idiom_tasks.results.scored import ScoredSubset


@dataclass(frozen=True, slots=True, eq=False)
class QueryGroup:
    """Some queries of a subset.

    Attributes:
        n: number of queries.
        floor: nDCG of a random ranking.
        scores: id of a submission -> mean nDCG with its 95% interval.
    """

    n: int
    floor: float
    scores: Mapping[str, ShownScore]


@dataclass(frozen=True, slots=True, eq=False)
class SpellingSplit:
    """A subset whose queries are divided by whether they share a word stem with a right answer."""

    subset: SubsetItems
    shared: QueryGroup
    other: QueryGroup

    def scores(self, name: str) -> tuple[ShownScore, ShownScore]:
        """Return the scores of a submission on both groups; missing ones if it lacks the subset."""
        missing = ShownScore(math.nan)
        return self.shared.scores.get(name, missing), self.other.scores.get(name, missing)


def spelling_splits(board: Board, task: str) -> list[SpellingSplit]:
    """Return the subsets of a task that have both groups of queries."""
    splits = []
    for subset in board.data.of_task(task):
        if subset.shared_stem is not None and 0 < len(subset.shared_stem) < subset.n:
            shares = np.array([query in subset.shared_stem for query in subset.texts])
            splits.append(
                SpellingSplit(
                    subset=subset,
                    shared=_group(board.submissions, subset, shares),
                    other=_group(board.submissions, subset, ~shares),
                )
            )
    return splits


def _group(submissions: Sequence[ScoredSubmission], subset: SubsetItems, chosen: np.ndarray) -> QueryGroup:
    """Return the queries for which (N,) `chosen` is True, in the order of the subset."""
    places = np.flatnonzero(chosen).tolist()
    queries = list(subset.texts)
    floors = [random_ndcg(subset.pool or 0, subset.n_right[queries[place]]) for place in places]
    scored: dict[str, ScoredSubset] = {}
    for submission in submissions:
        for score in submission.of_task(subset.task):
            if score.subset == subset.name:
                scored[submission.id] = score
    strata = []
    for score in scored.values():
        strata.append(Stratum([score.concepts[place] for place in places], score.sums[places]))
    scores = {}
    for name, resampled in zip(scored, resample_models(strata), strict=True):
        scores[name] = ShownScore(resampled.score, resampled.interval())
    return QueryGroup(n=len(places), floor=sum(floors) / len(floors), scores=scores)
