"""The paper's tables and figures from the finished cells of a grid, as files."""

from __future__ import annotations

from pathlib import Path

from turkic_idiom_tasks.charts import Chart, write_chart
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.experiments.grid import SPAN, Grid
from turkic_idiom_tasks.experiments.grid_file import PRETRAINED, RetrievalPart
from turkic_idiom_tasks.experiments.retrieval_cells import RETRIEVAL
from turkic_idiom_tasks.experiments.retrieval_tables import retrieval_charts, retrieval_tables
from turkic_idiom_tasks.experiments.span_charts import span_charts
from turkic_idiom_tasks.experiments.span_tables import span_tables
from turkic_idiom_tasks.experiments.tables import Table, write_tables
from turkic_idiom_tasks.finetuning.regimes import TR_ONLY
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT

LONG_TABLES = ("retrieval_cells", "poolings", "cells", "learning_curves")  # for programs rather than for the screen


def write_grid_tables(grid: Grid) -> list[Path]:
    """Writes every table (CSV, Markdown) and figure (SVG, Vega-Lite) into ``tables/`` of the grid's folder.

    Returns:
        the Markdown files, then the figures.

    Raises:
        InputError: no cell is finished, or a record is damaged.
    """
    retrieval, span = grid.records(RETRIEVAL), grid.records(SPAN)
    if not retrieval and not span:
        raise InputError(f"{grid.output}: no cell of this grid is finished; begin with `turkic-idiom grid run`")
    tables: list[Table] = []
    charts: dict[str, Chart] = {}
    if retrieval:
        languages = _languages(grid.file.retrieval)
        tables += retrieval_tables(retrieval, languages)
        charts |= retrieval_charts(retrieval, languages)
    if span:
        tables += span_tables(span)
        charts |= span_charts(span)
    folder = grid.output / "tables"
    written = write_tables([table for table in tables if table.rows], folder)
    return written + [write_chart(chart, folder, name) for name, chart in charts.items()]


def _languages(part: RetrievalPart | None) -> set[str]:
    """The languages that a mean can be over: those that the grid trains on, or all if it trains nothing."""
    if part is None or part.regimes == (PRETRAINED,):
        return set(LANGUAGES)
    return {*part.languages, *((PIVOT,) if TR_ONLY in part.regimes else ())}
