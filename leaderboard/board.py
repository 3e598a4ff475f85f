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
from turkic_idiom_tasks.results.predictions import SubsetKey
from turkic_idiom_tasks.results.scored import ScoredSubset

ResampledScores = Mapping[SubsetKey, Mapping[str, Resampled | None]]  # (task, subset) -> id -> main score

_UNDEFINED = Interval(math.nan, math.nan)


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """Everything that the pages show.

    Attributes:
        data: the data that the submissions were scored on.
        submissions: sorted by id.
        resampled: (task, subset) -> id -> the main score under every draw of concepts; None where it is undefined.
        intervals: id -> (task, subset) -> the 95% interval of the main score; NaN where the score is undefined.
        overall: standings over all tasks but the extra ones, without the submissions that lack a task.
        retrieval: the same over the retrieval tasks.
        by_task: task -> the same over one task.
        reproduced: ids that the maintainers ran again.
        other_editions: submissions that predicted another edition of the lexicon, sorted by edition and id.
    """

    data: BoardData
    submissions: tuple[ScoredSubmission, ...]
    resampled: ResampledScores
    intervals: Mapping[str, Mapping[SubsetKey, Interval]]
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
    resampled = resample_subsets(list(by_id.values()), data)
    intervals: dict[str, dict[SubsetKey, Interval]] = {name: {} for name in by_id}
    for key, scores in resampled.items():
        for name, score in scores.items():
            intervals[name][key] = score.interval() if score else _UNDEFINED
    editions = sorted(other_editions, key=lambda other: (str(other.metadata.edition), other.id))
    return _rank(data, tuple(by_id.values()), resampled, intervals, frozenset(reproduced), tuple(editions))


def board_of_subsets(board: Board, subsets: Sequence[SubsetItems]) -> Board:
    """Return the board over some subsets, with the submissions that have one of them; nothing is resampled again."""
    data = replace(board.data, subsets=tuple(subsets))
    chosen = []
    for submission in board.submissions:
        scores = tuple(score for score in submission.subsets if data.find(score.task, score.subset) is not None)
        if scores:
            chosen.append(replace(submission, subsets=scores))
    reproduced = board.reproduced & {submission.id for submission in chosen}
    return _rank(data, tuple(chosen), board.resampled, board.intervals, reproduced)


def resample_subsets(submissions: Sequence[ScoredSubmission], data: BoardData) -> ResampledScores:
    """Resample the scores of submissions on every subset.

    The draws depend only on the names of the concepts, so the results of a submission do not depend on the others.
    """
    return {(subset.task, subset.name): _resample_subset(submissions, subset) for subset in data.subsets}


def task_means(
    resampled: ResampledScores, submissions: Sequence[ScoredSubmission], data: BoardData
) -> dict[str, dict[str, Resampled]]:
    """Return task -> id -> the chance-corrected mean over the task's subsets, of submissions with a score in each."""
    by_task = {}
    for task in data.tasks:
        means = {}
        for submission in submissions:
            if submission.has_all(task, data):
                scores = []
                for subset in data.of_task(task):
                    score = resampled[task, subset.name][submission.id]
                    if score:
                        scores.append(_correct(score, subset.floor))
                means[submission.id] = mean(scores)
        by_task[task] = means
    return by_task


def _rank(
    data: BoardData,
    submissions: tuple[ScoredSubmission, ...],
    resampled: ResampledScores,
    intervals: Mapping[str, Mapping[SubsetKey, Interval]],
    reproduced: frozenset[str],
    other_editions: tuple[OtherEdition, ...] = (),
) -> Board:
    """Return the board of resampled submissions; other subsets may have been resampled too."""
    means = task_means(resampled, submissions, data)
    return Board(
        data=data,
        submissions=submissions,
        resampled=resampled,
        intervals=intervals,
        overall=rank([scores for task, scores in means.items() if task not in EXTRA_TASKS]),
        retrieval=rank([scores for task, scores in means.items() if task in RETRIEVAL_TASKS]),
        by_task={task: rank([scores]) for task, scores in means.items()},
        reproduced=reproduced,
        other_editions=other_editions,
    )


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
