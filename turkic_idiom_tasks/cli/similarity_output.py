"""Table of the scores of similarity tasks."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rich.box import SIMPLE_HEAD
from rich.table import Table

COLUMNS = {  # score -> heading
    "spearman_idiom": "idiom",
    "spearman_general": "general",
    "affinity": "affinity",
    "scaled_similarity": "scaled",
    "accuracy": "accuracy",
}
UNDEFINED = "-: undefined, because one side is constant or there is no such pair"


def similarity_table(title: str) -> Table:
    """Return an empty table: a name, then Spearman's correlation with its interval, then the other scores."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), collapse_padding=True)
    table.add_column(title, overflow="fold", min_width=5)
    for heading in ("overall", "95%", *COLUMNS.values()):
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def similarity_cells(scores: Mapping[str, float], low: float, high: float) -> list[str]:
    """Return the cells of a row behind its name."""
    interval = _interval_text(low, high)
    return [score_text(scores["spearman"]), interval, *(score_text(scores[name]) for name in COLUMNS)]


def score_text(value: float) -> str:
    """Return a score with three decimal places, and a dash where it is undefined."""
    return "-" if math.isnan(value) else f"{value:.3f}"


def _interval_text(low: float, high: float) -> str:
    """Return an interval without the zeros before the decimal points, and a dash where it is undefined."""
    if math.isnan(low) or math.isnan(high):
        return "-"
    return f"{low:.3f} to {high:.3f}".replace("0.", ".")
