"""Writing of the paper's tables and figures from the finished cells of a grid."""

from __future__ import annotations

from pathlib import Path

from turkic_idiom_tasks.encoders.names import TR_ONLY
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.files import write_text
from turkic_idiom_tasks.io.progress import track
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT
from turkic_idiom_tasks.report.charts import Chart, write_chart
from turkic_idiom_tasks.report.frame import query_frame, score_frame, to_csv
from turkic_idiom_tasks.report.retrieval_tables import retrieval_charts, retrieval_tables, summarise
from turkic_idiom_tasks.report.similarity_tables import idiomaticity_tables, similarity_tables
from turkic_idiom_tasks.report.span_tables import span_charts, span_tables
from turkic_idiom_tasks.report.tables import Table, write_tables
from turkic_idiom_tasks.results.record import OtherFormatError, find_records, read_header, read_record
from turkic_idiom_tasks.runs.grid import RECORDS, Grid
from turkic_idiom_tasks.runs.retrieval import RETRIEVAL
from turkic_idiom_tasks.runs.spans import SPAN, SpanCells

TABLES = "tables"  # folder
LONG_TABLES = ("poolings", "learning_curves")  # for programs rather than for the screen
SCORES = "scores.csv"  # every score of every cell


def write_grid_tables(grid: Grid) -> list[Path]:
    """Write every table (CSV, Markdown) and figure (SVG, Vega-Lite) into ``tables/`` of the grid's folder.

    Return the Markdown files, then the figures, then the table of all scores. Without a finished cell there is an
    InputError.
    """
    headers = grid.headers()
    if not headers:
        raise InputError(f"{grid.folder}: no cell of this grid is finished; begin with `turkic-idiom grid run`")
    folder = grid.folder / TABLES
    scores = score_frame(headers.values())
    write_text(folder / SCORES, to_csv(scores))
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
            if cell.kind == RETRIEVAL and cell.language is not None:
                languages.add(cell.language)
            elif cell.kind == RETRIEVAL and cell.regime == TR_ONLY:
                languages.add(PIVOT)
        summary = summarise(scores, queries, languages or set(LANGUAGES))
        tables += retrieval_tables(summary)
        charts |= retrieval_charts(summary)
    if SPAN in kinds:
        tables += span_tables(scores)
        charts |= span_charts(scores)
    tables += similarity_tables(headers.values())
    tables += idiomaticity_tables(headers.values())
    # A table without rows is of an experiment that the grid does not have
    written = write_tables([table for table in tables if len(table.frame)], folder)
    for name, chart in charts.items():
        written.append(write_chart(chart, folder, name))
    return [*written, folder / SCORES]


def write_span_tables(grid: Grid, part: SpanCells) -> list[Table]:
    """Write and return the tables of all results in a folder with the same training, also those of earlier runs.

    Of one model all results must be of the same weights under the same settings, those of this run or else the newest
    ones; results in the format of another version are left out too.
    """
    headers = list(grid.headers().values())
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
    write_text(grid.folder / TABLES / SCORES, to_csv(scores))
    write_tables(tables, grid.folder / TABLES)
    return tables
