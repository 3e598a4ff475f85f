"""Boards for one language, which answer the question which model is the best one for it.

The board of a language is a `Board` over the subsets of that language alone, so that its ranks, groups of ties and
intervals belong to it. It has a tab for retrieval, one for spans, and one for both; each ranks the submissions that
have all of its tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from leaderboard.board import Board, Standings, make_board
from leaderboard.items import BoardData
from leaderboard.scores import RETRIEVAL_TASKS, ScoredSubmission
from leaderboard.tables import TASK_LABELS, Row, badges, distinctions, standing_score, tie_places
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.results.predictions import SPANS

RETRIEVAL_TAB, SPANS_TAB, ALL_TAB = "retrieval", "spans", "all"
TAB_TITLES = {RETRIEVAL_TAB: "Retrieval", SPANS_TAB: "Spans", ALL_TAB: "All"}


@dataclass(frozen=True, slots=True, eq=False)
class Tab:
    """One ranking of a language.

    Attributes:
        name: one of `TAB_TITLES`.
        tasks: the tasks whose mean is ranked; those that nobody submitted are left out.
        shown: the tasks that have a column, the ranked ones first.
        standings: of the submissions that have all ranked tasks.
    """

    name: str
    tasks: tuple[str, ...]
    shown: tuple[str, ...]
    standings: Standings

    @property
    def title(self) -> str:
        """Return the name that the pages show."""
        return TAB_TITLES[self.name]


@dataclass(frozen=True, slots=True, eq=False)
class LanguageBoard:
    """Board of one language.

    Attributes:
        code: code of the language.
        board: the subsets of the language that somebody submitted, and the submissions that have one of them.
        tabs: in the order in which they are shown; none if there are no submissions.
    """

    code: str
    board: Board
    tabs: tuple[Tab, ...]

    @property
    def default(self) -> Tab | None:
        """Return the tab with the most ranked submissions; of several, the one with the most tasks."""
        return max(self.tabs, key=lambda tab: (len(tab.standings), len(tab.tasks)), default=None)

    def rows(self, tab: Tab) -> list[Row]:
        """Return a row for each submission that has a task of a tab, the ranked ones first.

        The scores are chance-corrected: the mean of the ranked tasks if there are several, then each task.
        """
        by_id = self.board.by_id
        names: dict[str, None] = dict.fromkeys(tab.standings)
        for task in tab.shown:
            names |= dict.fromkeys(self.board.by_task[task])
        notes = distinctions(self.board.submissions)
        ties = tie_places(tab.standings)
        rows = []
        for name in names:
            shown = [standing_score(tab.standings.get(name))] if len(tab.tasks) > 1 else []
            shown += [standing_score(self.board.by_task[task].get(name)) for task in tab.shown]
            rows.append(
                Row(
                    submission=by_id[name],
                    standing=tab.standings.get(name),
                    lacks=tuple(TASK_LABELS[task] for task in tab.tasks if name not in self.board.by_task[task]),
                    scores=tuple(shown),
                    badges=badges(by_id[name], self.board),
                    distinction=notes.get(name, ""),
                    tie=ties.get(name, ""),
                )
            )
        return rows


def language_boards(board: Board) -> list[LanguageBoard]:
    """Return the board of each language of the data, in the order of the languages."""
    boards = []
    for code in LANGUAGES:
        if code in board.data.languages:
            of_language = _board_of(board, code)
            boards.append(LanguageBoard(code, of_language, tuple(_tabs(of_language))))
    return boards


def _board_of(board: Board, code: str) -> Board:
    """Return the board over the subsets of one language that some submission has a score of."""
    submitted: set[tuple[str, str]] = set()
    for submission in board.submissions:
        submitted.update((score.task, score.subset) for score in submission.subsets if score.main == score.main)
    subsets = []
    for subset in board.data.subsets:
        if subset.language == code and (subset.task, subset.name) in submitted:
            subsets.append(subset)
    data = replace(board.data, subsets=tuple(subsets))
    chosen = _submissions_of(board.submissions, data)
    names = {submission.id for submission in chosen}
    return make_board(chosen, data, reproduced=board.reproduced & names)


def _submissions_of(submissions: Sequence[ScoredSubmission], data: BoardData) -> list[ScoredSubmission]:
    """Return the submissions with a subset of the data, each with these subsets alone."""
    chosen = []
    for submission in submissions:
        scores = [score for score in submission.subsets if data.find(score.task, score.subset) is not None]
        if scores:
            chosen.append(replace(submission, subsets=tuple(scores)))
    return chosen


def _tabs(board: Board) -> list[Tab]:
    """Return the tabs in which a submission is ranked; if there is none, the one that lists all submissions."""
    retrieval = tuple(task for task in board.data.tasks if task in RETRIEVAL_TASKS)
    others = tuple(task for task in board.data.tasks if task not in (*RETRIEVAL_TASKS, SPANS))
    spans = tuple(task for task in board.data.tasks if task == SPANS)
    tabs = []
    if retrieval:
        tabs.append(Tab(RETRIEVAL_TAB, retrieval, (*retrieval, *others), board.retrieval))
    elif others:
        tabs.append(Tab(RETRIEVAL_TAB, others[:1], others, board.by_task[others[0]]))
    if spans:
        tabs.append(Tab(SPANS_TAB, spans, spans, board.by_task[SPANS]))
    if retrieval and spans:
        tabs.append(Tab(ALL_TAB, (*retrieval, *spans), (*retrieval, *others, *spans), board.overall))
    ranked = [tab for tab in tabs if tab.standings]
    return ranked or tabs[-1:]
