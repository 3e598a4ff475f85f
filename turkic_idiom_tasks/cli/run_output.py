"""Output of `turkic-idiom run`: its progress, and tables as wide as the terminal."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO

import pandas as pd
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from turkic_idiom_tasks.cli.output import (
    SIMILARITY_HEAD,
    UNDEFINED,
    cells_of,
    interval_text,
    new_table,
    plain_console,
    print_blocks,
    score_text,
    similarity_cells,
)
from turkic_idiom_tasks.io.progress import Lines
from turkic_idiom_tasks.io.reading import printable
from turkic_idiom_tasks.metrics.bootstrap import SMALL_MARK, SMALL_N, UNRELIABLE_MARK
from turkic_idiom_tasks.report.frame import IS_RELIABLE, MACRO, SIMILARITY_NAMES
from turkic_idiom_tasks.report.tables import mark_notes
from turkic_idiom_tasks.runs.run import ModelRun
from turkic_idiom_tasks.runs.run_options import Reporter

WIDE = 120  # columns of a terminal from which all scores are shown
HEADLINE_NOTE = (
    "headline: 0 is chance, and spelling alone is within .02 of it; 1 is perfect (T1: nDCG of the spelling-free "
    "queries; T2, T3: nDCG; T4, STS: the figurative sense before the literal one, not in the mean)"
)
_EXTRA_SCORES = {"ndcg_corrected": "corrected", "ndcg_strict": "strict", "ndcg_at_10": "nDCG@10", "mrr": "MRR"}


class TerminalReporter(Reporter):
    """A reporter that updates one line on a terminal and prints notes above it."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._line = progress.add_task("starting", total=None)

    def progress(self, what: str, done: int = 0, total: int = 0) -> None:
        """Show the current step."""
        count = f", {done:,}/{total:,}" if total else ""
        self._progress.update(self._line, description=printable(what + count), refresh=True)

    def note(self, line: str) -> None:
        """Print a line that remains on the terminal."""
        self._progress.console.print(f"turkic-idiom: {printable(line)}", soft_wrap=True)


class LineReporter(Lines, Reporter):
    """A reporter for a pipe or a file: a line for each tenth of a step."""

    progress = Lines.show


@contextmanager
def reporting(file: IO[str]) -> Iterator[Reporter]:
    """Yield a reporter that updates one line on a terminal, or writes lines to anything else."""
    if not file.isatty():
        yield LineReporter()
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(
        *columns, console=plain_console(file), transient=True, redirect_stdout=False, redirect_stderr=False
    ) as progress:
        yield TerminalReporter(progress)


def print_tables(runs: Sequence[ModelRun], frame: pd.DataFrame, overall: pd.DataFrame, *, file: IO[str]) -> None:
    """Print a table for each task, the folders of the results, and one line for each model; see `report_run`."""
    console = plain_console(file)
    is_wide = console.width >= WIDE
    left_out = {run.task: run.left_out for run in runs}
    for task, rows in frame.groupby("task", sort=False):
        if task in SIMILARITY_NAMES:
            _print_similarity(console, str(task), rows, left_out[str(task)])
            continue
        console.print("nDCG over the whole pool, its 95% interval below it")
        table = _task_table(str(task), rows, is_wide=is_wide)
        print_blocks(console, table)
        _print_notes(console, cells_of(table), left_out[str(task)], unit="queries")
        if rows["n_spelling_free"].notna().any():
            print_blocks(console, _spelling_table(rows, is_wide=is_wide))
            console.print()
    console.print("Result files (mteb's format) and records:")
    for folder in dict.fromkeys(str(run.folder) for run in runs):
        console.print(f"  {printable(folder)}", soft_wrap=True)
    if not len(overall):
        return
    # A row for each model: its headline in each task, and over all tasks with an interval.
    macro = frame[frame["subset"] == MACRO].dropna(subset="headline")
    tasks = list(macro["task"].unique())
    table = new_table("headline", [*(task.removeprefix("TurkicIdiom") for task in tasks), "mean", "95%"])
    by_task = macro.set_index(["model", "task"])["headline"]
    for row in overall.itertuples():
        mark = "" if row.headline_is_reliable else UNRELIABLE_MARK
        cells = [score_text(by_task[row.model, name]) for name in tasks]
        interval = interval_text(row.headline_low, row.headline_high, between=" to ")
        table.add_row(_name(row.model, is_wide=True), *cells, f"{score_text(row.headline)}{mark}", interval)
    console.print()
    console.print("; ".join([HEADLINE_NOTE, *mark_notes(cells_of(table), "queries")]))
    console.print(table)


def _print_similarity(console: Console, task: str, rows: pd.DataFrame, left_out: Sequence[str]) -> None:
    console.print(f"{task}: how often the right sense is nearer (accuracy), and Spearman's correlation over all pairs")
    cells: list[object] = []
    for model, model_rows in rows.groupby("model", sort=False):
        # A mark on every row would say nothing
        mark_of_all = "" if model_rows[IS_RELIABLE].any() else f" {UNRELIABLE_MARK}"
        cells.append(f"{printable(str(model))}{mark_of_all}")
        console.print(cells[-1], soft_wrap=True)
        table = new_table("", SIMILARITY_HEAD, min_width=5)
        for _, row in model_rows.iterrows():
            mark = "" if row[IS_RELIABLE] or mark_of_all else UNRELIABLE_MARK
            *scores, interval = similarity_cells(row, row["spearman_low"], row["spearman_high"])
            small = SMALL_MARK if row["n_idioms"] < SMALL_N else ""
            table.add_row(f"{row['subset']}{small}", *scores, interval + mark)
        console.print(table)
        cells += cells_of(table)
    n_pairs = " ".join(f"{row.subset} {row.n_pairs}" for row in rows.drop_duplicates("subset").itertuples())
    console.print(f"pairs: {n_pairs}")
    if "-" in cells:
        console.print(UNDEFINED)
    _print_notes(console, cells, left_out, unit="idioms")


def _task_table(task: str, rows: pd.DataFrame, *, is_wide: bool) -> Table:
    """Return the table of one task: sizes and floor of each subset, then nDCG of each model with its interval."""
    extra = _EXTRA_SCORES if is_wide else {}
    first = rows.drop_duplicates("subset").set_index("subset")  # sizes and floors are the same for every model
    table = new_table(task, [*first.index, *extra.values()])
    subsets = first.drop(MACRO)
    marks = [SMALL_MARK if n < SMALL_N else "" for n in subsets["n_queries"]]
    table.add_row("queries", *(f"{n}{mark}" for n, mark in zip(subsets["n_queries"], marks, strict=True)))
    table.add_row("documents", *map(str, subsets["n_documents"]))
    floors = list(first["ndcg_floor"])
    if extra:
        floors += [0.0, first.at[MACRO, "ndcg_strict_floor"]]  # corrected, strict
    table.add_row("random (floor)", *map(score_text, floors))
    for model, model_rows in rows.groupby("model", sort=False):
        cells = []
        for _, row in model_rows.iterrows():
            mark = "" if row[IS_RELIABLE] else UNRELIABLE_MARK
            cells.append(f"{score_text(row['ndcg'])}{mark}\n{interval_text(row['ndcg_low'], row['ndcg_high'])}")
        macro = model_rows.set_index("subset").loc[MACRO]
        table.add_row(_name(model, is_wide=is_wide), *cells, *(score_text(macro[name]) for name in extra))
    return table


def _spelling_table(rows: pd.DataFrame, *, is_wide: bool) -> Table:
    """Return a table with nDCG of the queries whose answer spelling does not find, and of the others."""
    rows = rows[rows["subset"] != MACRO]
    first = rows.drop_duplicates("subset")
    table = new_table("spelling-free queries / others", list(first["subset"]))
    sizes = (f"{row.n_spelling_free} / {row.n_queries - row.n_spelling_free}" for row in first.itertuples())
    table.add_row("queries", *sizes)
    for model, model_rows in rows.groupby("model", sort=False):
        pairs = zip(model_rows["ndcg_spelling_free"], model_rows["ndcg_spelt_alike"], strict=True)
        cells = [f"{score_text(free)} / {score_text(alike)}" for free, alike in pairs]
        table.add_row(_name(model, is_wide=is_wide), *cells)
    return table


def _print_notes(console: Console, cells: Iterable[object], left_out: Sequence[str], *, unit: str) -> None:
    """Print the meaning of the marks in tables, and the subsets that the data does not have."""
    for note in mark_notes(cells, unit):
        console.print(note)
    if left_out:
        console.print(f"not in this data: {' '.join(left_out)}")
    console.print()


def _name(model: object, *, is_wide: bool) -> Text:
    """Return the name of a model; in a narrow table there is a line break after a slash."""
    name = printable(str(model))
    return Text(name if is_wide else name.replace("/", "/\n"))
