"""The paper's tables and figures from the finished cells of a grid, as files."""

from __future__ import annotations

from pathlib import Path

from turkic_idiom_tasks.charts import write_chart
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.experiments.grid import SPAN, Grid
from turkic_idiom_tasks.experiments.retrieval_cells import RETRIEVAL
from turkic_idiom_tasks.experiments.retrieval_tables import retrieval_charts, retrieval_tables
from turkic_idiom_tasks.experiments.span_charts import span_charts
from turkic_idiom_tasks.experiments.span_tables import span_tables
from turkic_idiom_tasks.experiments.tables import write_tables

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
    tables = (retrieval_tables(retrieval) if retrieval else []) + (span_tables(span) if span else [])
    charts = (retrieval_charts(retrieval) if retrieval else {}) | (span_charts(span) if span else {})
    folder = grid.output / "tables"
    written = write_tables([table for table in tables if table.rows], folder)
    return written + [write_chart(chart, folder, name) for name, chart in charts.items()]
