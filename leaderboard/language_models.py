"""Language models on the leaderboard: a board of their own, the traps that they fall into, the items that most miss.

They answer items and are ranked apart from encoders, because the tasks, the scores and the chance levels differ. A task
is one kind of items (`results.item_answers.ITEM_TASKS`); its subsets are languages or directions.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.board import Board, make_board
from leaderboard.items import BoardData, SubsetItems
from leaderboard.scores import ScoredSubmission, of_tasks
from leaderboard.tables import Column, Row, ShownScore, badges, distinctions, task_rows, tie_places
from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.results.item_answers import ITEM_TASKS, Answer, TestItems, find_items, item_subsets
from turkic_idiom_tasks.tasks.items.item_types import TRAPS, Item
from turkic_idiom_tasks.tasks.items.prompts import CLOZE_OPEN, option_texts

N_MISSED = 5  # items of each task that are shown
KIND_TITLES = {
    "meaning": "Meaning of an idiom",
    "equivalent": "Equivalent in another language",
    "usage": "Figurative or literal use",
    "cloze": "Idiom for a blank",
    CLOZE_OPEN: "Idiom for a blank, without options",
}
KIND_LABELS = {
    "meaning": "Meaning",
    "equivalent": "Equivalent",
    "usage": "Usage",
    "cloze": "Cloze",
    CLOZE_OPEN: "Open cloze",
}


@dataclass(frozen=True, slots=True)
class TrapProfile:
    """Which traps a model falls into, over all of its submitted choice items.

    Attributes:
        submission: the model.
        n_wrong: number of wrong answers that could be read, of the items with typed traps.
        shares: trap type -> its share of them; NaN without any.
        unreadable: share of all answers that could not be read.
    """

    submission: ScoredSubmission
    n_wrong: int
    shares: dict[str, float]
    unreadable: float


@dataclass(frozen=True, slots=True)
class MissedItem:
    """An item that many models answer wrongly.

    Attributes:
        task: one of `ITEM_TASKS`.
        concept: its concept, which the item browser shows.
        language, target: codes of the languages of the question and of the options.
        text: what the question is about.
        right: the right option, or the idiom of an open cloze.
        chosen: the wrong option that most models chose; empty if no wrong answer could be read.
        trap: its type, or "".
        n_missed, n_models: how many models answered wrongly, of how many.
    """

    task: str
    concept: str
    language: str
    target: str
    text: str
    right: str
    chosen: str
    trap: str
    n_missed: int
    n_models: int


@dataclass(frozen=True, slots=True, eq=False)
class LanguageModelBoard:
    """Everything that the page of language models shows.

    Attributes:
        board: standings over all kinds of items and over each of them.
        traps: a profile for each submission, in the order of the standings.
        missed: the items that most models miss, by task.
    """

    board: Board
    traps: tuple[TrapProfile, ...]
    missed: tuple[MissedItem, ...]

    def tables(self) -> list[tuple[str, tuple[SubsetItems, ...], list[Row]]]:
        """Return each task that somebody submitted, with its subsets and a row for each model."""
        tables = []
        for task in self.board.data.tasks:
            rows = task_rows(self.board, task)
            if rows:
                tables.append((task, self.board.data.of_task(task), rows))
        return tables

    def columns(self) -> list[Column]:
        """Return the columns of `overview`."""
        columns = [Column("all", "All kinds", "Mean of all kinds; it decides the rank")]
        for task in self.board.data.tasks:
            columns.append(Column(task, KIND_LABELS[task], KIND_TITLES[task]))
        return columns

    def overview(self) -> list[Row]:
        """Return a row for every submission: the mean of the kinds, and each kind, chance-corrected."""
        notes = distinctions(self.board.submissions)
        ties = tie_places(self.board.overall)
        rows = []
        for name in dict.fromkeys([*self.board.overall, *self.board.by_id]):
            submission = self.board.by_id[name]
            standing = self.board.overall.get(name)
            shown = [ShownScore(math.nan) if standing is None else ShownScore(standing.score, standing.interval)]
            lacks = []
            for task, standings in self.board.by_task.items():
                of_task = standings.get(name)
                shown.append(ShownScore(of_task.score, of_task.interval) if of_task else ShownScore(math.nan))
                if of_task is None:
                    lacks.append(KIND_LABELS[task])
            rows.append(
                Row(
                    submission=submission,
                    standing=standing,
                    lacks=tuple(lacks),
                    scores=tuple(shown),
                    badges=badges(submission, self.board),
                    distinction=notes.get(name, ""),
                    tie=ties.get(name, ""),
                )
            )
        return rows


def item_board_data(dataset: Dataset) -> BoardData:
    """Return the items of a dataset as the subsets of a board."""
    subsets = []
    for task in ITEM_TASKS:
        for subset in item_subsets(dataset, task):
            items = find_items(dataset, task, subset)
            if items is not None:
                subsets.append(_subset(items))
    return BoardData(dataset.path, dataset.revision, tuple(subsets))


def language_model_board(
    submissions: Sequence[ScoredSubmission], dataset: Dataset, *, reproduced: Sequence[str] = ()
) -> LanguageModelBoard | None:
    """Return the board of the submissions that answer items; None if no submission does.

    Args:
        submissions: all submissions, whatever they predict.
        dataset: the data that they predict.
        reproduced: ids of submissions that the maintainers ran again; those of other submissions are ignored.
    """
    chosen = of_tasks(submissions, ITEM_TASKS)
    if not chosen:
        return None
    names = {submission.id for submission in chosen}
    board = make_board(chosen, item_board_data(dataset), reproduced=[name for name in reproduced if name in names])
    order = dict.fromkeys([*board.overall, *board.by_id])
    traps = [_profile(board.by_id[name]) for name in order]
    return LanguageModelBoard(board, tuple(traps), tuple(_missed(board)))


def _subset(items: TestItems) -> SubsetItems:
    texts, answers = {}, {}
    for item in items.rows:
        texts[item.id] = item.text
        answers[item.id] = _right(item, items.task)
    return SubsetItems(
        task=items.task,
        name=items.subset,
        language=items.language,
        floor=items.chance,
        pool=None,
        concepts=items.concepts,
        texts=texts,
        answers=answers,
        n_right=dict.fromkeys(texts, 1),
    )


def _right(item: Item, task: str) -> str:
    return item.idiom if task == CLOZE_OPEN else option_texts(item)[item.gold]


def _profile(submission: ScoredSubmission) -> TrapProfile:
    types: Counter[str] = Counter()
    n_answers = n_unreadable = 0
    for score in submission.subsets:
        answers = score.answers
        if answers is None:
            continue
        n_answers += len(answers.answers)
        n_unreadable += sum(answer is None for answer in answers.answers)
        for item, answer in zip(answers.items.rows, answers.answers, strict=True):
            trap = item.options[answer].trap if isinstance(answer, int) else None
            if trap is not None:
                types[trap] += 1
    n_wrong = types.total()
    return TrapProfile(
        submission=submission,
        n_wrong=n_wrong,
        shares={trap: types[trap] / n_wrong if n_wrong else math.nan for trap in TRAPS},
        unreadable=n_unreadable / n_answers if n_answers else math.nan,
    )


def _missed(board: Board) -> list[MissedItem]:
    """Return the items of each task that most models answer wrongly, the same number of each task."""
    missed = []
    for task in board.data.tasks:
        items: dict[str, Item] = {}
        n_models: Counter[str] = Counter()
        wrong_answers: dict[str, list[Answer]] = {}
        for submission in board.submissions:
            for score in submission.of_task(task):
                if score.answers is None:
                    continue
                rows = zip(score.answers.items.rows, score.answers.answers, score.sums[:, 0].tolist(), strict=True)
                for item, answer, right in rows:
                    items[item.id] = item
                    n_models[item.id] += 1
                    if not right:
                        wrong_answers.setdefault(item.id, []).append(answer)
        ordered = sorted(wrong_answers, key=lambda name: (-len(wrong_answers[name]) / n_models[name], name))
        for name in ordered[:N_MISSED]:
            missed.append(_missed_item(items[name], task, wrong_answers[name], n_models=n_models[name]))
    return missed


def _missed_item(item: Item, task: str, wrong_answers: Sequence[Answer], *, n_models: int) -> MissedItem:
    chosen = Counter(answer for answer in wrong_answers if answer is not None)
    wrong = min(chosen, key=lambda answer: (-chosen[answer], str(answer))) if chosen else ""
    text, trap = str(wrong), ""
    if isinstance(wrong, int):
        text, trap = option_texts(item)[wrong], item.options[wrong].trap or ""
    return MissedItem(
        task=task,
        concept=item.concept,
        language=item.language,
        target=item.target,
        text=item.text if task != "usage" else f"{item.text} ({item.idiom})",
        right=_right(item, task),
        chosen=text,
        trap=trap,
        n_missed=len(wrong_answers),
        n_models=n_models,
    )
