"""Writing of the paper's tables and figures from the finished cells of a grid."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from turkic_idiom_tasks.encoders.names import TR_ONLY
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.csv_files import csv_text
from turkic_idiom_tasks.io.files import check_folder, commit_folder
from turkic_idiom_tasks.io.progress import track
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT
from turkic_idiom_tasks.report.charts import Chart
from turkic_idiom_tasks.report.frame import query_frame, score_frame
from turkic_idiom_tasks.report.retrieval_tables import RetrievalScores, retrieval_charts, retrieval_tables
from turkic_idiom_tasks.report.similarity_tables import similarity_tables
from turkic_idiom_tasks.report.span_tables import span_charts, span_tables
from turkic_idiom_tasks.report.tables import Table
from turkic_idiom_tasks.results.record import OtherFormatError, find_records, read_header, read_record
from turkic_idiom_tasks.runs.grid import RECORDS, Grid
from turkic_idiom_tasks.runs.retrieval import RETRIEVAL
from turkic_idiom_tasks.runs.spans import SPAN, SpanCells

TABLES = "tables"  # folder
SCORES = "scores.csv"  # every score of every cell


def write_grid_tables(grid: Grid) -> tuple[list[Table], list[Path]]:
    """Write every table (CSV, Markdown) and figure (SVG, Vega-Lite) into ``tables/`` of the grid's folder.

    Return the tables, and the paths of the Markdown files, the figures, and the table of all scores.
    """
    headers = grid.headers()
    if not headers:
        raise InputError(f"{grid.folder}: no cell of this grid is finished; begin with `turkic-idiom grid run`")
    check_folder(grid.folder / TABLES, {}, kind=TABLES)
    scores = score_frame(headers.values())
    tables: list[Table] = []
    charts: dict[str, Chart] = {}
    kinds = {cell.kind for cell in headers}
    if RETRIEVAL in kinds:
        # The headers state means alone; tests of single queries need the rankings, which take longest to read
        paths = [path for cell, path in grid.record_paths().items() if cell.kind == RETRIEVAL]
        queries = query_frame(read_record(path, grid.dataset) for path in track(paths, "reading records"))
        # Means are over the languages that the grid trains on, or over all if it trains no model
        languages = set()
        for cell in grid.job_of:
            if cell.kind == RETRIEVAL and (cell.language or cell.regime == TR_ONLY):
                languages.add(cell.language or PIVOT)
        summary = RetrievalScores(scores, queries, languages or set(LANGUAGES))
        tables += retrieval_tables(summary)
        charts |= retrieval_charts(summary)
    if SPAN in kinds:
        tables += span_tables(scores)
        charts |= span_charts(scores)
    tables += similarity_tables(headers.values())
    # A table without rows is of an experiment that the grid does not have
    tables = [table for table in tables if len(table.frame)]
    return tables, _commit(tables, charts, scores, grid.folder / TABLES)


def write_span_tables(grid: Grid, part: SpanCells) -> list[Table]:
    """Write and return the tables of all results in a folder with the same training, also those of earlier runs."""
    headers = list(grid.headers().values())
    # A row is a mean over seeds, so all results of one model must be of the same weights under the same settings: those
    # of this run, or else the newest ones
    of_model = {header.model.name: (header.model.revision, header.settings) for header in headers}
    others = set(find_records(grid.folder / RECORDS)) - set(grid.record_paths().values())
    for path in sorted(others, key=lambda path: (-path.stat().st_mtime, path)):  # the newest first
        try:
            header = read_header(path)
        except OtherFormatError:
            continue
        training, run = header.training, (header.model.revision, header.settings)
        if training is None or (training.language, training.config) != (part.language, part.training.model_dump()):
            continue
        if of_model.setdefault(header.model.name, run) == run:
            headers.append(header)
    scores = score_frame(headers)
    tables = [table for table in span_tables(scores) if len(table.frame)]
    _commit(tables, {}, scores, grid.folder / TABLES)
    return tables


def _commit(tables: Sequence[Table], charts: Mapping[str, Chart], scores: pd.DataFrame, folder: Path) -> list[Path]:
    """Replace all tables and figures in a folder at once; return those that `write_grid_tables` does."""
    files = {f"{table.name}.md": table.to_markdown() for table in tables}
    files |= {f"{name}.svg": chart.svg() for name, chart in charts.items()} | {SCORES: csv_text(scores)}
    shown = [folder / name for name in files]
    files |= {f"{table.name}.csv": csv_text(table.frame) for table in tables}
    files |= {f"{name}.vl.json": json.dumps(chart.spec, ensure_ascii=False, indent=2) for name, chart in charts.items()}
    commit_folder(folder, {name: text.encode() for name, text in files.items()}, kind=TABLES, overwrite=None)
    return shown
