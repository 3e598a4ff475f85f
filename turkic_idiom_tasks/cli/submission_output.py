"""Printing of the scores of a submission as a table."""

import math
import sys

from rich.console import Console
from rich.table import Table
from rich.text import Text

from leaderboard.board import EXTRA_TASKS, Board, ScoredSubmission, make_board, of_tasks
from leaderboard.data import board_data, item_board_data
from leaderboard.tables import TASK_LABELS, shown_score
from turkic_idiom_tasks.cli.output import cells_of, new_table, plain_console
from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.metrics.bootstrap import SMALL_MARK, SMALL_N, UNRELIABLE_MARK, Interval
from turkic_idiom_tasks.report.tables import mark_notes
from turkic_idiom_tasks.results.item_answers import ITEM_TASKS
from turkic_idiom_tasks.results.predictions import TASK_NAMES

WIDE = 120  # columns of a terminal from which the table has all its columns
_UNLIMITED = 10_000  # columns


def print_scores(submission: ScoredSubmission, dataset: Dataset) -> None:
    """Print the headlines by which a submission is ranked, a row for each task or kind of items."""
    console = plain_console(sys.stdout)
    for of_encoder in of_tasks([submission], TASK_NAMES):
        board = make_board([of_encoder], board_data(dataset, submitted={score.task for score in of_encoder.subsets}))
        _print_tasks(of_encoder, board, console)
    for of_language_model in of_tasks([submission], ITEM_TASKS):
        _print_items(of_language_model, make_board([of_language_model], item_board_data(dataset)), console)


def _print_items(submission: ScoredSubmission, board: Board, console: Console) -> None:
    """Print the scores of answers to items: a row for each kind, with the mean over its languages or directions."""
    table = new_table("Items", ["Score", "uncorrected", "unreadable", "unjudged", "sets", "n"], min_width=5)
    for standing in board.overall.values():
        table.add_row("All", _shown(standing.score, standing.interval, " "))
    for task in board.data.tasks:
        scores = submission.of_task(task)
        if not scores:
            continue
        of_task = board.by_task[task].get(submission.id)
        n_items = sum(score.n for score in scores)
        shares = []
        for name in ("unreadable", "unjudged"):
            n_such = sum(score.scores.get(name, math.nan) * score.n for score in scores)
            shares.append("" if math.isnan(n_such) else _plain(n_such / n_items))
        table.add_row(
            TASK_LABELS[task],
            "-" if of_task is None else _shown(of_task.score, of_task.interval, " "),
            _plain(sum(score.main for score in scores) / len(scores)),
            *shares,
            f"{len(scores)} of {len(board.data.of_task(task))}",
            str(n_items),
        )
    console.print(table)
    console.print(Text("Answers to items: chance-corrected means over all sets; below each its 95% interval."))
    console.print()


def _print_tasks(submission: ScoredSubmission, board: Board, console: Console) -> None:
    is_wide = console.width >= WIDE
    table = _score_table(submission, board, is_wide=is_wide, between=" ")
    # A width is measured up to that of the options
    unlimited = console.options.update(max_width=_UNLIMITED)
    if console.measure(table, options=unlimited).maximum > console.width:
        table = _score_table(submission, board, is_wide=is_wide, between="\n")
    console.print(table)
    notes = ["Headlines: 0 is chance, and spelling alone is within .02 of it; below each its 95% interval."]
    if not board.overall:
        lacks = [task for task in board.data.tasks if not board.by_task[task] and task not in EXTRA_TASKS]
        notes.append(f"No rank over all tasks: not every language of {', '.join(lacks)} is there.")
    notes += [f"{note}." for note in mark_notes(cells_of(table), "items")]
    cuts = [score.cut for score in submission.subsets if score.cut is not None]
    if cuts:
        notes.append(f"Some queries list only their first {min(cuts)} documents.")
    for note in notes:
        console.print(Text(note))
    console.print()


def _score_table(submission: ScoredSubmission, board: Board, *, is_wide: bool, between: str) -> Table:
    """Return a row for each task; `between` stands between the ends of an interval, a blank or a line break."""
    columns = ["Score", *board.data.languages, *(["uncorrected", "items"] if is_wide else [])]
    table = new_table("Task", columns, min_width=5)
    for title, standings in {"All": board.overall, "T1-T3": board.retrieval}.items():
        if standings:
            standing = standings[submission.id]
            table.add_row(title, _shown(standing.score, standing.interval, between))
    for task in board.data.tasks:
        scores = {score.language: score for score in submission.of_task(task)}
        if not scores:
            continue
        of_task = board.by_task[task].get(submission.id)
        cells = ["-" if of_task is None else _shown(of_task.score, of_task.interval, between)]
        for code in board.data.languages:
            score = scores.get(code)
            resampled = board.headlines[task, score.subset].get(submission.id) if score else None
            if score and resampled:
                cells.append(_shown(resampled.score, resampled.interval(), between, is_small=score.n < SMALL_N))
            else:
                cells.append("-" if score else "")
        if is_wide:
            cells.append(_plain(sum(score.main for score in scores.values()) / len(scores)))
            cells.append(str(sum(score.n for score in scores.values())))
        table.add_row(TASK_LABELS[task], *cells)
    return table


def _shown(score: float, interval: Interval, between: str, *, is_small: bool = False) -> str:
    """Return a score, with marks where they apply, and its interval below it."""
    marks = (SMALL_MARK if is_small else "") + ("" if interval.is_reliable else UNRELIABLE_MARK)
    return f"{_plain(score)}{marks}\n{_plain(interval.low)}{between}{_plain(interval.high)}"


def _plain(score: float) -> str:
    """Return a score as the site shows it, but in ASCII, which every terminal can print."""
    return shown_score(score).replace("\N{MINUS SIGN}", "-").replace("\N{EN DASH}", "-")
