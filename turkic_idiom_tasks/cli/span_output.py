"""Tables of `turkic-idiom finetune span`."""

from __future__ import annotations

import sys

from turkic_idiom_tasks.io.reading import printable
from turkic_idiom_tasks.report.grid_tables import LONG_TABLES, TABLES, write_span_tables
from turkic_idiom_tasks.runs.cells import CHECKPOINTS
from turkic_idiom_tasks.runs.grid import Grid
from turkic_idiom_tasks.runs.spans import SpanCells


def print_span_tables(grid: Grid, part: SpanCells) -> None:
    """Write the tables of all results in the folder with the same training, and print the short ones."""
    if not grid.record_paths():
        return
    for table in write_span_tables(grid, part):
        if table.name not in LONG_TABLES:
            sys.stdout.write(table.to_markdown() + "\n")
    sys.stdout.write(printable(f"Tables: {grid.folder / TABLES}\nCheckpoints: {grid.folder / CHECKPOINTS}\n"))
