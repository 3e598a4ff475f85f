"""Output of `turkic-idiom run`: its progress, and tables as wide as the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO

import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from turkic_idiom_tasks.cli.similarity_output import UNDEFINED, similarity_cells, similarity_table
from turkic_idiom_tasks.io.reading import printable
from turkic_idiom_tasks.metrics.bootstrap import SMALL_MARK, SMALL_N, UNRELIABLE_MARK, UNRELIABLE_NOTE
from turkic_idiom_tasks.report.frame import IS_RELIABLE, MACRO
from turkic_idiom_tasks.report.run_frame import overall
from turkic_idiom_tasks.report.similarity_frame import SIMILARITY_NAMES, overlap_baseline, similarity_frame
from turkic_idiom_tasks.runs.run import ModelRun
from turkic_idiom_tasks.runs.run_options import Reporter

WIDE = 120  # columns of a terminal from which all scores are shown
OVERLAP_TASK = "TurkicIdiomT1"  # elsewhere a meaning hardly ever has a word of its idiom
_EXTRA_SCORES = {"ndcg_corrected": "corrected", "ndcg_strict": "strict", "ndcg_at_10": "nDCG@10", "mrr": "MRR"}


class TerminalReporter(Reporter):
    """A reporter that updates one line on a terminal and prints notes above it."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._line = progress.add_task("starting", total=None)

    def progress(self, text: str) -> None:
        """Show the current step."""
        self._progress.update(self._line, description=printable(text), refresh=True)

    def note(self, line: str) -> None:
        """Print a line that remains on the terminal."""
        self._progress.console.print(f"turkic-idiom: {printable(line)}", soft_wrap=True)


@contextmanager
def reporting(file: IO[str]) -> Iterator[Reporter]:
    """Yield a reporter that writes to a terminal; if `file` is no terminal, the reporter only logs notes."""
    if not file.isatty():
        yield Reporter()
        return
    console = Console(file=file, highlight=False, markup=False, emoji=False)
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as progress:
        yield TerminalReporter(progress)


def print_tables(runs: Sequence[ModelRun], frame: pd.DataFrame, *, file: IO[str]) -> None:
    """Print a table for each task, the folders of the results, and one line for each model.

    Args:
        runs: the runs, in the order of the rows.
        frame: their scores, from `scores_frame`.
        file: the file to print to.
    """
    console = Console(file=file, highlight=False, markup=False, emoji=False)
    is_wide = console.width >= WIDE
    for task in dict.fromkeys(run.task for run in runs):
        rows = frame[frame["task"] == task]
        task_runs = [run for run in runs if run.task == task]
        if task in SIMILARITY_NAMES:
            _print_similarity(console, task_runs, rows)
            continue
        console.print("nDCG over the whole pool, its 95% interval below it")
        console.print(_task_table(task, rows, is_wide=is_wide))
        for line in _notes(rows, rows["n_queries"], task_runs[0].left_out, unit="queries"):
            console.print(line)
        console.print()
        if task == OVERLAP_TASK:
            console.print(_overlap_table(rows, is_wide=is_wide))
            console.print()
    console.print("Result files (mteb's format) and records:")
    for folder in dict.fromkeys(str(run.folder) for run in runs):
        console.print(f"  {printable(folder)}", soft_wrap=True)
    retrieval = [run for run in runs if run.task not in SIMILARITY_NAMES]
    if retrieval:
        console.print()
        console.print(_macro_table(retrieval, frame[~frame["task"].isin(SIMILARITY_NAMES)]))


def _print_similarity(console: Console, runs: Sequence[ModelRun], rows: pd.DataFrame) -> None:
    """Print a table for each model on a similarity task, and one for a baseline that knows nothing of meanings."""
    baseline = similarity_frame([overlap_baseline(runs[0])])
    task = runs[0].task
    console.print(f"{task}: Spearman's correlation with the gold scores, its 95% interval, and what else pairs show")
    for model, model_rows in pd.concat([rows, baseline]).groupby("model", sort=False):
        console.print(printable(str(model)), soft_wrap=True)
        table = similarity_table("")
        for _, row in model_rows.iterrows():
            mark = "" if row[IS_RELIABLE] else UNRELIABLE_MARK
            cells = similarity_cells(row, row["spearman_low"], row["spearman_high"])
            table.add_row(str(row["subset"]), cells[0] + mark, *cells[1:])
        console.print(table)
    n_pairs = " ".join(f"{row.subset} {row.n_pairs}" for row in rows.drop_duplicates("subset").itertuples())
    console.print(f"pairs: {n_pairs}")
    console.print(UNDEFINED)
    for line in _notes(rows, rows["n_idioms"], runs[0].left_out, unit="idioms"):
        console.print(line)
    console.print()


def _task_table(task: str, rows: pd.DataFrame, *, is_wide: bool) -> Table:
    """Return the table of one task: sizes and floor of each subset, then nDCG of each model with its interval."""
    extra = _EXTRA_SCORES if is_wide else {}
    subsets = list(dict.fromkeys(rows["subset"]))
    table = _new_table(task, [*subsets, *extra.values()])
    first = rows[rows["model"] == rows["model"].iloc[0]].set_index("subset")
    queries, documents, floors = [], [], []
    for subset in subsets:
        is_macro = subset == MACRO
        n_queries = int(first.at[subset, "n_queries"])
        mark = SMALL_MARK if n_queries < SMALL_N else ""
        queries.append("" if is_macro else f"{n_queries}{mark}")
        documents.append("" if is_macro else str(first.at[subset, "n_documents"]))
        floors.append(_number(first.at[subset, "ndcg_floor"]))
    table.add_row("queries", *queries)
    table.add_row("documents", *documents)
    for name in extra:
        if name == "ndcg_corrected":
            floors.append(_number(0.0))
        elif name == "ndcg_strict":
            floors.append(_number(first.at[MACRO, "ndcg_strict_floor"]))
    table.add_row("random (floor)", *floors)
    for model, model_rows in rows.groupby("model", sort=False):
        by_subset = model_rows.set_index("subset")
        cells = []
        for subset in subsets:
            row = by_subset.loc[subset]
            mark = "" if row[IS_RELIABLE] else UNRELIABLE_MARK
            cells.append(f"{_number(row['ndcg'])}{mark}\n{_interval(row['ndcg_low'], row['ndcg_high'])}")
        for name in extra:
            cells.append(_number(by_subset.at[MACRO, name]))
        table.add_row(_name(model, is_wide=is_wide), *cells)
    return table


def _overlap_table(rows: pd.DataFrame, *, is_wide: bool) -> Table:
    """Return a table with nDCG of the queries that share a stem with a relevant document, and of the others."""
    rows = rows[rows["subset"] != MACRO]
    subsets = list(dict.fromkeys(rows["subset"]))
    table = _new_table("queries that share a stem / do not", subsets)
    first = rows[rows["model"] == rows["model"].iloc[0]]
    counts = []
    for row in first.itertuples():
        counts.append(f"{row.n_queries - row.n_no_shared_stem} / {row.n_no_shared_stem}")
    table.add_row("queries", *counts)
    for model, model_rows in rows.groupby("model", sort=False):
        cells = []
        for row in model_rows.itertuples():
            cells.append(f"{_number(row.ndcg_shared_stem)} / {_number(row.ndcg_no_shared_stem)}")
        table.add_row(_name(model, is_wide=is_wide), *cells)
    return table


def _macro_table(runs: Sequence[ModelRun], frame: pd.DataFrame) -> Table:
    """Return a table with a row for each model: its macro average in each task, and over all tasks with an interval."""
    macro = frame[frame["subset"] == MACRO]
    tasks = list(dict.fromkeys(macro["task"]))
    table = _new_table("macro average of nDCG", [*(task.removeprefix("TurkicIdiom") for task in tasks), "mean", "95%"])
    for model, rows in macro.groupby("model", sort=False):
        by_task = rows.set_index("task")
        resampled = overall(run for run in runs if run.model == model)
        interval = resampled.interval()
        cells = [_number(by_task.at[task, "ndcg"]) for task in tasks]
        mark = UNRELIABLE_MARK if not interval.is_reliable else ""
        cells += [f"{_number(resampled.score)}{mark}", _interval(interval.low, interval.high)]
        table.add_row(_name(model, is_wide=True), *cells)
    return table


def _notes(rows: pd.DataFrame, counts: pd.Series[int], left_out: Sequence[str], *, unit: str) -> list[str]:
    """Return the meaning of the marks in a table, and the subsets that the data does not have."""
    notes = []
    if (counts < SMALL_N).any():
        notes.append(f"{SMALL_MARK} fewer than {SMALL_N} {unit}: read the interval, not the score")
    if not rows[IS_RELIABLE].all():
        notes.append(f"{UNRELIABLE_MARK} {UNRELIABLE_NOTE}")
    if left_out:
        notes.append(f"not in this data: {' '.join(left_out)}")
    return notes


def _name(model: object, *, is_wide: bool) -> Text:
    """Return the name of a model; in a narrow table there is a line break after a slash."""
    name = printable(str(model))
    return Text(name if is_wide else name.replace("/", "/\n"))


def _new_table(title: str, columns: Sequence[str]) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), collapse_padding=True)
    table.add_column(title, overflow="fold", min_width=14)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _interval(low: float, high: float) -> str:
    """Return an interval without the zeros before the decimal points, to leave room for another column."""
    return f"{low:.3f}-{high:.3f}".replace("0.", ".")


def _number(value: float) -> str:
    return "-" if pd.isna(value) else f"{value:.3f}"
