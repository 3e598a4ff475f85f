"""Boards for one language, which answer the question which model is the best one for it.

The board of a language is a `Board` over the subsets of that language alone, so that its ranks, groups of ties and
intervals belong to it. It has tabs, see `tabs`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.board import Board, board_of_subsets
from leaderboard.items import BoardData
from leaderboard.ranking import Standings
from leaderboard.tabs import Tab, default_tab, tabs_of
from turkic_idiom_tasks.languages import LANGUAGES


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
        """Return the tab with which the page of the language opens."""
        return default_tab(self.tabs)


def language_boards(board: Board) -> list[LanguageBoard]:
    """Return the board of each language of the data, in the order of the languages."""
    boards = []
    for code in LANGUAGES:
        if code in board.data.languages:
            of_language = _board_of(board, code)
            boards.append(LanguageBoard(code, of_language, tabs_of(of_language)))
    return boards


def standings_by_language(boards: Sequence[LanguageBoard], data: BoardData, tab: Tab) -> dict[str, Standings]:
    """Return language -> its standings over those tasks of a tab of the overview that the data has in this language.

    A language is left out if its board ranks other tasks, because nobody submitted one of them.
    """
    by_language = {}
    for one in boards:
        tasks = tuple(task for task in tab.tasks if any(subset.language == one.code for subset in data.of_task(task)))
        for of_language in one.tabs:
            if of_language.tasks == tasks:
                by_language[one.code] = of_language.standings
    return by_language


def _board_of(board: Board, code: str) -> Board:
    """Return the board over the subsets of one language that some submission has a score of."""
    submitted: set[tuple[str, str]] = set()
    for submission in board.submissions:
        submitted.update((score.task, score.subset) for score in submission.subsets if not math.isnan(score.main))
    subsets = []
    for subset in board.data.subsets:
        if subset.language == code and (subset.task, subset.name) in submitted:
            subsets.append(subset)
    return board_of_subsets(board, subsets)
