"""Scores of submissions and their ranking by headline, with groups of ties.

The headline of a subset is a chance-corrected score that spelling alone gets by chance (`results.headlines`). That of a
task is the mean of its subsets but those of provisional languages, and the macro score, by which models are ranked, is
the mean of the tasks. The score and the interval of a model depend only on its submission and the data; its rank and
group depend on the other submissions too (`ranking`).
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from leaderboard.data import BoardData, SubsetItems
from leaderboard.ranking import NO_SCORE, Score, Standings
from leaderboard.submission import Metadata, Submission
from turkic_idiom_tasks.dataset.retrieval import PAPER_TASKS
from turkic_idiom_tasks.dataset.similarity import STS
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.metrics.bootstrap import Resampled, Stratum, mean, resample_models
from turkic_idiom_tasks.results.headlines import Headline
from turkic_idiom_tasks.results.people import PeopleScore
from turkic_idiom_tasks.results.predictions import SubsetKey, usual_order
from turkic_idiom_tasks.results.scored import ScoredSubset, score_subset
from turkic_idiom_tasks.tasks.items.items import HARD_TASKS
from turkic_idiom_tasks.tasks.items.open_tasks import RECALL_EN, RECALL_THREE, SITUATION_OPEN, TRANSLATE

RETRIEVAL_TASKS = PAPER_TASKS
# Ranked by themselves alone; nobody needs them for a rank over all tasks
EXTRA_TASKS = ("T4", STS, RECALL_EN, RECALL_THREE, TRANSLATE, SITUATION_OPEN, *HARD_TASKS)

ResampledScores = Mapping[SubsetKey, Mapping[str, Resampled | None]]  # (task, subset) -> id -> a score


@dataclass(frozen=True, slots=True, eq=False)
class ScoredSubmission:
    """A submission with the scores that were computed from its predictions."""

    id: str  # name of its folder, unique on the leaderboard
    metadata: Metadata
    subsets: tuple[ScoredSubset, ...]  # in the order of the tasks and of the languages

    def of_task(self, task: str) -> tuple[ScoredSubset, ...]:
        """Return the submitted subsets of one task; empty if the task was not submitted."""
        return tuple(score for score in self.subsets if score.task == task)

    def find(self, task: str, subset: str) -> ScoredSubset | None:
        """Return the score of a subset; None if it was not submitted."""
        return next((score for score in self.subsets if score.subset == subset and score.task == task), None)


@dataclass(frozen=True, eq=False)
class Board:
    """Everything that the pages show of the submissions for one sort of task: of encoders, or of language models."""

    data: BoardData
    by_id: Mapping[str, ScoredSubmission]  # in the order of the ids
    headlines: ResampledScores  # None where one is undefined
    main_scores: Mapping[str, Mapping[SubsetKey, Score]]  # id -> key -> the main score, which is not chance-corrected
    reproduced: frozenset[str]  # ids that the maintainers ran again, perhaps also of other boards
    other_editions: Mapping[str, Metadata] = field(default_factory=dict)  # listed without scores, by edition and id
    people: Mapping[SubsetKey, PeopleScore] = field(default_factory=dict)  # who answered items; they have no rank

    @cached_property
    def means(self) -> dict[str, dict[str, Resampled]]:
        """Return task -> id -> the mean headline of the task's subsets that count, of submissions with each of them."""
        # In a small lexicon no subset of T1 has a headline. It is not among these tasks, and no rank needs it.
        headlines: dict[str, list[Mapping[str, Resampled | None]]] = {}
        for subset in self.data.counted:
            headlines.setdefault(subset.task, []).append(self.headlines[subset.task, subset.name])
        # A mean over other languages is the score of another task
        return {task: _complete_means(of_task) for task, of_task in headlines.items()}

    @cached_property
    def overall(self) -> Standings:
        """Return the standings over all tasks but the extra ones, without the submissions that lack a task."""
        return Standings(_complete_means([scores for task, scores in self.means.items() if task not in EXTRA_TASKS]))

    @cached_property
    def retrieval(self) -> Standings:
        """Return the standings over the retrieval tasks."""
        return Standings(_complete_means([scores for task, scores in self.means.items() if task in RETRIEVAL_TASKS]))

    @cached_property
    def by_task(self) -> Mapping[str, Standings]:
        """Return task -> the standings over it alone."""
        return {task: Standings(self.means.get(task, {})) for task in self.data.tasks}

    def of_subset(self, subset: SubsetItems) -> dict[str, ScoredSubset]:
        """Return id -> the score of a subset, of the submissions that have it."""
        key = (subset.task, subset.name)
        return {name: score for name, submission in self.by_id.items() if (score := submission.find(*key))}


def score_submission(submission: Submission) -> ScoredSubmission:
    """Return a submission with its scores, computed in the same way as `turkic-idiom run` computes them."""
    keys = sorted(submission.predictions, key=usual_order)
    scores = tuple(score_subset(submission.predictions[key]) for key in keys)
    return ScoredSubmission(submission.id, submission.metadata, scores)


def of_tasks(submissions: Iterable[ScoredSubmission], tasks: Collection[str]) -> list[ScoredSubmission]:
    """Return the submissions with a subset of some tasks, each with these subsets alone."""
    chosen = []
    for submission in submissions:
        subsets = tuple(score for score in submission.subsets if score.task in tasks)
        if subsets:
            chosen.append(replace(submission, subsets=subsets))
    return chosen


def make_board(
    submissions: Collection[ScoredSubmission],
    data: BoardData,
    *,
    reproduced: Collection[str] = (),
    other_editions: Mapping[str, Metadata] | None = None,
    people: Mapping[SubsetKey, PeopleScore] | None = None,
) -> Board:
    """Compute the intervals of submissions and rank them; InputError if one was scored on other data."""
    # Sorted, so that the order in which the submissions come changes nothing
    by_id = {submission.id: submission for submission in sorted(submissions, key=lambda submission: submission.id)}
    assert len(by_id) == len(submissions)  # ids are the names of folders
    items = {(subset.task, subset.name): tuple(subset.texts) for subset in data.subsets}
    for submission in by_id.values():
        revision = submission.metadata.dataset_revision
        for score in submission.subsets:
            # A revision says nothing of the subsets that were asked for, and other items have other floors
            if revision != data.revision or items.get((score.task, score.subset)) != score.items:
                raise InputError(
                    f"{submission.id}: the items of {score.task} {score.subset}, scored on revision {revision[:12]}, "
                    f"are not those of {data.path} at {data.revision[:12]}; name the data of the submission with "
                    "--data, or score the model again"
                )
    resampled_scores, headlines = resample_submissions(by_id.values(), data)
    main_scores: dict[str, dict[SubsetKey, Score]] = {name: {} for name in by_id}
    for name, submission in by_id.items():
        for score in submission.subsets:
            resampled = resampled_scores[score.task, score.subset][name]
            interval = resampled.interval() if resampled else NO_SCORE.interval
            main_scores[name][score.task, score.subset] = Score(score.main, interval)
    editions = sorted((other_editions or {}).items(), key=lambda other: (str(other[1].edition), other[0]))
    return Board(data, by_id, headlines, main_scores, frozenset(reproduced), dict(editions), people or {})


def language_boards(board: Board) -> dict[str, Board]:
    """Return language -> the board over its subsets that somebody has a score of, with ranks and ties of its own."""
    submitted: set[SubsetKey] = set()
    for submission in board.by_id.values():
        submitted.update((score.task, score.subset) for score in submission.subsets if not math.isnan(score.main))
    boards = {}
    for code in board.data.languages:
        of_language = [subset for subset in board.data.subsets if subset.language == code]
        # A subset that nobody has would leave every model without a rank over all tasks of the language
        subsets = [subset for subset in of_language if (subset.task, subset.name) in submitted]
        keys = {(subset.task, subset.name) for subset in subsets}
        by_id = {}
        for name, submission in board.by_id.items():
            scores = tuple(score for score in submission.subsets if (score.task, score.subset) in keys)
            if scores:
                by_id[name] = replace(submission, subsets=scores)
        # Nothing is resampled again: the headlines and main scores keep the other subsets, which no page looks at
        boards[code] = replace(board, data=replace(board.data, subsets=tuple(subsets)), by_id=by_id)
    return boards


def resample_submissions(
    submissions: Collection[ScoredSubmission], data: BoardData
) -> tuple[ResampledScores, ResampledScores]:
    """Return the main scores and the headlines of submissions on every subset; None where undefined."""
    # The same draws of whole concepts for all models, tasks and languages, so that differences between models are
    # paired. They depend on the names of the concepts alone, so the results of a submission do not depend on the
    # others.
    main_scores, headlines = {}, {}
    for subset in data.subsets:
        key = (subset.task, subset.name)
        scores = {submission.id: score for submission in submissions if (score := submission.find(*key))}
        of_main: dict[str, Resampled | None] = {}
        of_headline: dict[str, Resampled | None] = {}
        # All models at once, which is many times faster than one by one
        strata = {}
        for name, score in scores.items():
            # Spearman's correlation is no ratio of sums over items, so it brings its own draws
            of_main[name] = None if math.isnan(score.main) else score.spearman
            if score.similarities is None and not math.isnan(score.main):
                strata[name] = Stratum(score.concepts, score.sums)
        of_main |= dict(zip(strata, resample_models(list(strata.values())), strict=True))
        to_draw: dict[str, Headline] = {}
        for name, score in scores.items():
            headline = score.headline
            if headline is None or math.isnan(headline.score) or headline.sums is score.sums:
                # Nothing is drawn again for the main score, corrected for chance
                of_headline[name] = score.resampled_headline(of_main[name])
            else:
                to_draw[name] = headline
        drawn = resample_models([Stratum(headline.concepts, headline.sums) for headline in to_draw.values()])
        for (name, headline), resampled in zip(to_draw.items(), drawn, strict=True):
            of_headline[name] = resampled.corrected(headline.chance)
        main_scores[key], headlines[key] = of_main, of_headline
    return main_scores, headlines


def _complete_means(parts: Sequence[Mapping[str, Resampled | None]]) -> dict[str, Resampled]:
    """Return id -> the mean of its scores, of the submissions with a score in every part."""
    means = {}
    for name in parts[0] if parts else ():
        scores = [score for part in parts if (score := part.get(name))]
        # A mean over the parts that a model happens to have would not compare with the means of the others
        if len(scores) == len(parts):
            means[name] = mean(scores)
    return means
