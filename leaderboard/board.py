"""Ranking of submissions by chance-corrected macro score, with groups of ties from a paired bootstrap.

The score of a subset is chance-corrected nDCG, (nDCG - floor) / (1 - floor), or span F1, whose floor is 0. The score of
a task is the mean of its subsets, and the macro score is the mean of the tasks. All models are resampled with the same
draws of whole concepts, in every task and language at once, so that their differences are paired. The score and the
interval of a model depend only on its submission and the data; its rank and group depend on the other submissions too
(`ranking`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from leaderboard.items import BoardData, SubsetItems
from leaderboard.ranking import Standings, rank
from leaderboard.scores import EXTRA_TASKS, RETRIEVAL_TASKS, OtherEdition, ScoredSubmission, check_ids
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.metrics.bootstrap import Interval, Resampled, Stratum, mean, resample_models
from turkic_idiom_tasks.results.predictions import Key
from turkic_idiom_tasks.results.scored import ScoredSubset

_UNDEFINED = Interval(math.nan, math.nan)


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """Everything that the pages show.

    Attributes:
        data: the data that the submissions were scored on.
        submissions: sorted by id.
        intervals: id -> (task, subset) -> the 95% interval of the main score.
        overall: standings over all tasks but the extra ones, without the submissions that lack a task.
        retrieval: the same over the retrieval tasks.
        by_task: task -> the same over one task.
        reproduced: ids that the maintainers ran again.
        other_editions: submissions that predicted another edition of the lexicon, sorted by edition and id.
    """

    data: BoardData
    submissions: tuple[ScoredSubmission, ...]
    intervals: Mapping[str, Mapping[Key, Interval]]
    overall: Standings
    retrieval: Standings
    by_task: Mapping[str, Standings]
    reproduced: frozenset[str]
    other_editions: tuple[OtherEdition, ...] = ()

    @property
    def by_id(self) -> Mapping[str, ScoredSubmission]:
        """Return id -> submission, in the order of the ids."""
        return {submission.id: submission for submission in self.submissions}

    def interval(self, submission: ScoredSubmission, score: ScoredSubset) -> Interval:
        """Return the 95% interval of the main score of one subset of a submission."""
        return self.intervals[submission.id][score.task, score.subset]


@dataclass(frozen=True, slots=True, eq=False)
class ResampledBoard:
    """Scores of submissions under every draw of concepts.

    Attributes:
        intervals: id -> (task, subset) -> the 95% interval of the main score; NaN where the score is undefined.
        by_task: task -> id -> the chance-corrected mean over the task's subsets; only of submissions that have a score
            in each of them.
    """

    intervals: Mapping[str, Mapping[Key, Interval]]
    by_task: Mapping[str, Mapping[str, Resampled]]


def make_board(
    submissions: Collection[ScoredSubmission],
    data: BoardData,
    *,
    reproduced: Collection[str] = (),
    other_editions: Collection[OtherEdition] = (),
) -> Board:
    """Compute the intervals of submissions and rank them; their order does not matter.

    Args:
        submissions: submissions with their scores.
        data: the data that they were scored on.
        reproduced: ids of submissions that the maintainers ran again.
        other_editions: submissions that are listed without scores.

    Raises:
        InputError: two submissions have the same id, a submission was scored on other data, or `reproduced` has an
            unknown id.
    """
    by_id: dict[str, ScoredSubmission] = {}
    for submission in sorted(submissions, key=lambda submission: submission.id):
        if submission.id in by_id:
            raise InputError(f"two submissions have the id {submission.id!r}; rename the folder of one")
        _check_data(submission, data)
        by_id[submission.id] = submission
    check_ids(reproduced, by_id.values())
    resampled = resample_board(list(by_id.values()), data)
    by_task = {}
    all_scores = []
    retrieval_scores = []
    for task, task_scores in resampled.by_task.items():
        by_task[task] = rank([task_scores])
        if task in RETRIEVAL_TASKS:
            retrieval_scores.append(task_scores)
        if task not in EXTRA_TASKS:
            all_scores.append(task_scores)
    return Board(
        data=data,
        submissions=tuple(by_id.values()),
        intervals=resampled.intervals,
        overall=rank(all_scores),
        retrieval=rank(retrieval_scores),
        by_task=by_task,
        reproduced=frozenset(reproduced),
        other_editions=tuple(sorted(other_editions, key=lambda other: (str(other.metadata.edition), other.id))),
    )


def resample_board(submissions: Sequence[ScoredSubmission], data: BoardData) -> ResampledBoard:
    """Resample the scores of submissions.

    The draws depend only on the names of the concepts, so the results of a submission do not depend on the others.
    """
    intervals: dict[str, dict[Key, Interval]] = {submission.id: {} for submission in submissions}
    by_task: dict[str, dict[str, Resampled]] = {}
    for task in data.tasks:
        subset_scores: dict[
            str, list[Resampled]
        ] = {}  # id -> corrected score of each subset; complete submissions only
        for submission in submissions:
            if submission.has_all(task, data):
                subset_scores[submission.id] = []
        for subset in data.of_task(task):
            for name, resampled in _resample_subset(submissions, subset).items():
                intervals[name][task, subset.name] = resampled.interval() if resampled else _UNDEFINED
                if resampled and name in subset_scores:
                    subset_scores[name].append(_correct(resampled, subset.floor))
        by_task[task] = {name: mean(scores) for name, scores in subset_scores.items()}
    return ResampledBoard(intervals, by_task)


def _resample_subset(submissions: Sequence[ScoredSubmission], subset: SubsetItems) -> dict[str, Resampled | None]:
    """Return id -> main score of one subset under every draw; None where the score is undefined."""
    resampled: dict[str, Resampled | None] = {}
    strata = {}
    for submission in submissions:
        for score in submission.of_task(subset.task):
            if score.subset == subset.name:
                resampled[submission.id] = None
                if math.isnan(score.main):
                    continue
                if score.similarities is not None:
                    resampled[submission.id] = score.resampled()
                else:
                    strata[submission.id] = Stratum(score.concepts, score.sums)
    resampled |= dict(zip(strata, resample_models(list(strata.values())), strict=True))
    return resampled


def _correct(resampled: Resampled, floor: float) -> Resampled:
    """Return the chance-corrected score, (score - floor) / (1 - floor), under the same draws."""
    scale = 1 / (1 - floor)
    return replace(
        resampled,
        score=(resampled.score - floor) * scale,
        draws=(resampled.draws - floor) * scale,
        influence=resampled.influence * scale,
        reach=resampled.reach * scale,
    )


def _check_data(submission: ScoredSubmission, data: BoardData) -> None:
    """Check that a submission was scored on the items of the data; otherwise it cannot be compared with the others."""
    revision = submission.metadata.dataset_revision
    if revision != data.revision:
        raise InputError(
            f"{submission.id}: scored on revision {revision[:12]}, but the data in use, {data.path}, has the revision "
            f"{data.revision[:12]}; name the data of the submission with --data, or score the model again"
        )
    for score in submission.subsets:
        subset = data.find(score.task, score.subset)
        if subset is None or tuple(subset.texts) != score.items:
            raise InputError(
                f"{submission.id}: the items of {score.task} {score.subset} are not those of {data.path}; score the "
                "model again"
            )
