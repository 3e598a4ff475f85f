"""Tabs of a board: a ranking by retrieval, by spans, by both, and by similarity, with a table for each.

The overview and the page of each language have them. A tab ranks the submissions that have all of its tasks, so a
model that does one thing well has a rank, and the page says among which models.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaderboard.board import Board
from leaderboard.items import SubsetItems
from leaderboard.ranking import Standing, Standings
from leaderboard.scores import RETRIEVAL_TASKS, corrected
from leaderboard.tables import (
    TASK_FORMS,
    TASK_LABELS,
    TASK_LEADS,
    Column,
    Row,
    badges,
    distinctions,
    standing_score,
    tie_places,
)
from turkic_idiom_tasks.dataset.similarity import STS
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N
from turkic_idiom_tasks.results.predictions import SPANS

RETRIEVAL_TAB, SPANS_TAB, SIMILARITY_TAB, ALL_TAB = "retrieval", "spans", "similarity", "all"
TAB_TITLES = {RETRIEVAL_TAB: "Retrieval", SPANS_TAB: "Spans", SIMILARITY_TAB: "Similarity", ALL_TAB: "All"}


@dataclass(frozen=True, slots=True, eq=False)
class Tab:
    """One ranking of a board.

    Attributes:
        name: one of `TAB_TITLES`.
        tasks: the tasks whose mean is ranked.
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


def tabs_of(board: Board) -> tuple[Tab, ...]:
    """Return the tabs in which a submission is ranked, and those without which a submission would be listed in none.

    If no submission is ranked at all, there is the last tab, which lists the most of them. A task that is in no
    ranking has a column beside those of retrieval.
    """
    submitted = {score.task for submission in board.submissions for score in submission.subsets}
    retrieval = tuple(task for task in board.data.tasks if task in RETRIEVAL_TASKS)
    ranked_elsewhere = (*RETRIEVAL_TASKS, SPANS, STS)
    others = tuple(task for task in board.data.tasks if task not in ranked_elsewhere and task in submitted)
    spans = tuple(task for task in board.data.tasks if task == SPANS)
    tabs = []
    if retrieval:
        tabs.append(Tab(RETRIEVAL_TAB, retrieval, (*retrieval, *others), board.retrieval))
    elif others:
        tabs.append(Tab(RETRIEVAL_TAB, others[:1], others, board.by_task[others[0]]))
    if spans:
        tabs.append(Tab(SPANS_TAB, spans, spans, board.by_task[SPANS]))
    if STS in submitted and STS in board.by_task:
        tabs.append(Tab(SIMILARITY_TAB, (STS,), (STS,), board.by_task[STS]))
    if retrieval and spans:
        tabs.append(Tab(ALL_TAB, (*retrieval, *spans), (*retrieval, *others, *spans), board.overall))
    return _needed(board, tabs)


def _needed(board: Board, tabs: Sequence[Tab]) -> tuple[Tab, ...]:
    """Return the tabs that rank a submission, and others only if they list a submission that no tab before lists."""
    kept = [tab for tab in tabs if len(tab.standings)] or list(tabs[-1:])
    listed: set[str] = set()
    for tab in kept:
        listed.update(_order(board, tab))
    for tab in tabs:
        names = set(_order(board, tab))
        if not names <= listed:
            kept.append(tab)
            listed |= names
    return tuple(tab for tab in tabs if tab in kept)


def default_tab(tabs: Sequence[Tab]) -> Tab | None:
    """Return the tab with the most ranked submissions; of several, the one with the most tasks."""
    return max(tabs, key=lambda tab: (len(tab.standings), len(tab.tasks)), default=None)


def tab_columns(board: Board, tab: Tab) -> list[Column]:
    """Return the columns of `tab_rows`."""
    columns = []
    if len(tab.tasks) > 1:
        names = ", ".join(TASK_LABELS[task] for task in tab.tasks)
        columns.append(Column("mean", "Mean", f"Mean of {names}; it decides the rank", f"of {len(tab.tasks)} tasks"))
    for task in tab.shown:
        of_task = board.data.of_task(task)
        n = of_task[0].n if len(of_task) == 1 else None
        columns.append(Column(task, TASK_LABELS[task], TASK_LEADS[task], TASK_FORMS[task], n, _is_small(n)))
    for code, subsets in _subsets_by_language(board, tab).items():
        name = LANGUAGES[code].name
        is_small = _is_small(min(subset.n for subset in subsets))
        if len(tab.tasks) > 1:
            columns.append(Column(code, name, f"Mean over these tasks in {name}", "all tasks", small=is_small))
        else:
            columns.append(Column(code, name, f"{TASK_LABELS[tab.tasks[0]]} in {name}", n=subsets[0].n, small=is_small))
    return columns


def tab_rows(board: Board, tab: Tab, by_language: Mapping[str, Mapping[str, Standing]] | None = None) -> list[Row]:
    """Return a row for each submission that has a score in a tab, the ranked ones first.

    The scores are chance-corrected: the mean of the ranked tasks if there are several, then each task; on a board of
    several languages also the mean of the ranked tasks in each language.

    Args:
        board: the board of the tab.
        tab: the tab.
        by_language: language -> its standings over the ranked tasks (`language_boards.standings_by_language`); a
            language that it lacks has empty cells.
    """
    notes = distinctions(board.submissions)
    ties = tie_places(tab.standings)
    by_id = board.by_id
    in_languages = [(by_language or {}).get(code, {}) for code in _subsets_by_language(board, tab)]
    rows = []
    for name in _order(board, tab):
        submission = by_id[name]
        shown = [standing_score(tab.standings.get(name))] if len(tab.tasks) > 1 else []
        shown += [standing_score(board.by_task[task].get(name)) for task in tab.shown]
        shown += [standing_score(standings.get(name)) for standings in in_languages]
        row = Row(
            submission=submission,
            standing=tab.standings.get(name),
            lacks=tuple(TASK_LABELS[task] for task in tab.tasks if name not in board.by_task[task]),
            scores=tuple(shown),
            badges=badges(submission, board),
            distinction=notes.get(name, ""),
            tie=ties.get(name, ""),
        )
        rows.append(row)
    return rows


def _order(board: Board, tab: Tab) -> list[str]:
    """Return the submissions of a tab: the ranked ones, those with all retrieval tasks, the others task by task."""
    names: dict[str, None] = dict.fromkeys(tab.standings)
    if set(tab.tasks) >= set(RETRIEVAL_TASKS):
        names |= dict.fromkeys(board.retrieval)
    for task in tab.shown:
        names |= dict.fromkeys(board.by_task[task])
    for submission in board.submissions:
        if any(score.task in tab.shown and not math.isnan(corrected(score)) for score in submission.subsets):
            names[submission.id] = None
    return list(names)


def _subsets_by_language(board: Board, tab: Tab) -> dict[str, list[SubsetItems]]:
    """Return language -> its subsets of the ranked tasks; empty on the board of one language."""
    by_language: dict[str, list[SubsetItems]] = {}
    if len(board.data.languages) > 1:
        for code in board.data.languages:
            subsets = [subset for subset in board.data.subsets if subset.language == code and subset.task in tab.tasks]
            if subsets:
                by_language[code] = subsets
    return by_language


def _is_small(n: int | None) -> bool:
    return n is not None and n < SMALL_N
