"""Scores of submissions, computed from their predictions in the same way as `turkic-idiom run` computes them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from leaderboard.items import BoardData
from leaderboard.submission import (
    Metadata,
    Submission,
    SubmissionFault,
    faults_message,
    other_edition,
    read_submission,
    submission_folders,
)
from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.retrieval import PAPER_TASKS
from turkic_idiom_tasks.dataset.similarity import STS
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import display
from turkic_idiom_tasks.results.item_answers import ITEM_TASKS
from turkic_idiom_tasks.results.predictions import SPANS, usual_order
from turkic_idiom_tasks.results.scored import ScoredSubset, score_subset

RETRIEVAL_TASKS = PAPER_TASKS
EXTRA_TASKS = ("T4", STS)  # ranked by themselves alone; nobody needs them for a rank over all tasks


@dataclass(frozen=True, slots=True, eq=False)
class ScoredSubmission:
    """A submission with the scores that were computed from its predictions.

    Attributes:
        id: name of its folder, unique on the leaderboard.
        metadata: what the submitter says about the model.
        subsets: the submitted subsets, in the order of the tasks and of the languages.
    """

    id: str
    metadata: Metadata
    subsets: tuple[ScoredSubset, ...]

    def of_task(self, task: str) -> tuple[ScoredSubset, ...]:
        """Return the submitted subsets of one task; empty if the task was not submitted."""
        return tuple(score for score in self.subsets if score.task == task)

    def has_all(self, task: str, data: BoardData) -> bool:
        """Return whether the submission has a defined score in every subset of a task."""
        defined = set()
        for score in self.of_task(task):
            if not math.isnan(corrected(score)):
                defined.add(score.subset)
        return defined == {subset.name for subset in data.of_task(task)}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A submission that cannot be scored, and all of its faults."""

    folder: Path
    faults: tuple[SubmissionFault, ...]

    @property
    def reason(self) -> str:
        """Return the first fault, and how to list them all."""
        return faults_message(self.folder, self.faults)


@dataclass(frozen=True, slots=True)
class OtherEdition:
    """A sound submission that predicted another edition of the lexicon: it is listed, not scored."""

    id: str
    metadata: Metadata


def score_submission(submission: Submission) -> ScoredSubmission:
    """Return a submission with its scores."""
    scores = []
    for key in sorted(submission.predictions, key=usual_order):
        scores.append(score_subset(submission.predictions[key]))
    return ScoredSubmission(submission.id, submission.metadata, tuple(scores))


def load_submissions(place: Path, dataset: Dataset) -> Iterator[ScoredSubmission | OtherEdition | LeftOut]:
    """Yield the submissions in a folder with their scores, sorted by name.

    Those of another edition of the lexicon come without scores, as their predictions are of other items; those with a
    fault come as `LeftOut`, so that they never stop the others.

    Args:
        place: the folder.
        dataset: the data that the predictions are for.

    Raises:
        InputError: there is no submission.
    """
    for folder in submission_folders(place):
        metadata = other_edition(folder, dataset)
        if metadata is not None:
            yield OtherEdition(folder.name, metadata)
            continue
        submission, faults = read_submission(folder, dataset)
        yield LeftOut(folder, tuple(faults)) if submission is None else score_submission(submission)


def extra_tasks(submissions: Iterable[ScoredSubmission]) -> list[str]:
    """Return the extra tasks that somebody submitted."""
    submitted: set[str] = set()
    for submission in submissions:
        submitted.update(score.task for score in submission.subsets)
    return [task for task in EXTRA_TASKS if task in submitted]


def check_ids(names: Iterable[str], submissions: Iterable[ScoredSubmission]) -> None:
    """Make sure that submissions have these ids.

    Raises:
        InputError: one is unknown.
    """
    known = {submission.id for submission in submissions}
    unknown = sorted(set(names) - known)
    if unknown:
        raise InputError(f"reproduced: no submission {display(unknown[0])}; correct or delete that line")


def of_tasks(submissions: Iterable[ScoredSubmission], tasks: Collection[str]) -> list[ScoredSubmission]:
    """Return the submissions with a subset of some tasks, each with these subsets alone."""
    chosen = []
    for submission in submissions:
        subsets = tuple(score for score in submission.subsets if score.task in tasks)
        if subsets:
            chosen.append(replace(submission, subsets=subsets))
    return chosen


def corrected(score: ScoredSubset) -> float:
    """Return the chance-corrected main score of a subset; span F1 and Spearman's correlation stay as they are."""
    if score.task in ITEM_TASKS:
        return (score.main - score.floor) / (1 - score.floor)
    return score.main if score.task in (SPANS, STS) else score.scores["ndcg_corrected"]
