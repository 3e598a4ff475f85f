"""Tables of `turkic-idiom finetune span`."""

from __future__ import annotations

import sys

from turkic_idiom_tasks.io.reading import printable
from turkic_idiom_tasks.report.frame import score_frame
from turkic_idiom_tasks.report.grid_tables import LONG_TABLES
from turkic_idiom_tasks.report.span_tables import span_tables
from turkic_idiom_tasks.report.tables import write_tables
from turkic_idiom_tasks.results.record import Header, OtherFormatError, find_records, read_header
from turkic_idiom_tasks.runs.cells import CHECKPOINTS
from turkic_idiom_tasks.runs.grid import RECORDS, Grid
from turkic_idiom_tasks.runs.spans import SpanCells


def print_span_tables(grid: Grid, part: SpanCells) -> None:
    """Print and write the tables of all results in the folder with the same training, also those of earlier runs."""
    if not grid.record_paths():
        return
    headers = [*grid.headers().values(), *_earlier_headers(grid, part)]
    tables = [table for table in span_tables(score_frame(headers)) if len(table.frame)]
    write_tables(tables, grid.folder / "tables")
    for table in tables:
        if table.name not in LONG_TABLES:
            sys.stdout.write(table.to_markdown() + "\n")
    sys.stdout.write(printable(f"Tables: {grid.folder / 'tables'}\nCheckpoints: {grid.folder / CHECKPOINTS}\n"))


def _earlier_headers(grid: Grid, part: SpanCells) -> list[Header]:
    """Return the results of earlier runs with the same training, the newest first.

    Of one model all results must be of the same weights under the same settings, those of this run or else the newest
    ones; results in the format of another version are left out too.
    """
    of_model = {header.model.name: (header.model.revision, header.settings) for header in grid.headers().values()}
    own = set(grid.record_paths().values())
    others = [path for path in find_records(grid.folder / RECORDS) if path not in own]
    headers = []
    for path in sorted(others, key=lambda path: path.stat().st_mtime, reverse=True):
        try:
            header = read_header(path)
        except OtherFormatError:
            continue
        training, run = header.training, (header.model.revision, header.settings)
        is_same_training = training is not None and (training.language, training.config) == (
            part.language,
            part.training.model_dump(),
        )
        if is_same_training and of_model.setdefault(header.model.name, run) == run:
            headers.append(header)
    return headers
