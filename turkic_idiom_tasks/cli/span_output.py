"""Tables of `turkic-idiom finetune span`."""

from __future__ import annotations

import sys

from turkic_idiom_tasks.experiments.cells import CHECKPOINTS
from turkic_idiom_tasks.experiments.frame import score_frame
from turkic_idiom_tasks.experiments.grid import RECORDS, Grid
from turkic_idiom_tasks.experiments.grid_tables import LONG_TABLES
from turkic_idiom_tasks.experiments.span_cells import SpanPart
from turkic_idiom_tasks.experiments.span_tables import span_tables
from turkic_idiom_tasks.experiments.tables import write_tables
from turkic_idiom_tasks.reading import printable
from turkic_idiom_tasks.results.record import find_records, read_header


def print_span_tables(grid: Grid, part: SpanPart) -> None:
    """Print and write the tables of all results in the folder with the same training, also those of earlier runs."""
    if not grid.record_paths():
        return
    headers = []
    for path in find_records(grid.folder / RECORDS):
        header = read_header(path)
        training = header.training
        if training and (training.language, training.config) == (part.language, part.training.model_dump()):
            headers.append(header)
    tables = [table for table in span_tables(score_frame(headers)) if len(table.frame)]
    write_tables(tables, grid.folder / "tables")
    for table in tables:
        if table.name not in LONG_TABLES:
            sys.stdout.write(table.to_markdown() + "\n")
    sys.stdout.write(printable(f"Tables: {grid.folder / 'tables'}\nCheckpoints: {grid.folder / CHECKPOINTS}\n"))
