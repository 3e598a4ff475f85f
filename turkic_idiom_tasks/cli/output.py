"""Layout that the tables of several commands share."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table

from turkic_idiom_tasks.io.reading import printable

if TYPE_CHECKING:  # it imports pandas
    from turkic_idiom_tasks.report.tables import Table as ResultTable

SIMILARITY_COLUMNS = {  # score -> heading
    "accuracy": "accuracy",
    "affinity": "affinity",
    "scaled_similarity": "scaled",
    "spearman_idiom": "idiom",
    "spearman_general": "general",
}
# Behind a name: what the pairs with idioms show, and Spearman's correlation over all pairs
SIMILARITY_HEAD = (*SIMILARITY_COLUMNS.values(), "all pairs", "95%")
_NAME_WIDTH = 24  # of a column of names, which are folded
UNDEFINED = "-: undefined, because one side is constant or there is no such pair"


def plain_console(file: IO[str]) -> Console:
    """Return a console that prints text as it is."""
    # Markup would read `[x]` in the name of a model as a tag, and highlighting would colour parts of names.
    console = Console(file=file, highlight=False, markup=False, emoji=False)
    # COLUMNS=0, as some containers set it, would print nothing at all
    if not console.width:
        console.width = 80
    return console


def print_line(text: str) -> None:
    """Print a text and end the line; what could change the terminal becomes escapes."""
    sys.stdout.write(f"{printable(text)}\n")


def new_table(title: str, columns: Sequence[str], *, min_width: int = 14) -> Table:
    """Return an empty table: a name that may be folded, then columns of numbers."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), collapse_padding=True)
    # Folded and never cut, because the names of two models often differ at their end.
    table.add_column(title, overflow="fold", min_width=min_width)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def print_blocks(console: Console, table: Table) -> None:
    """Print a table; columns for which there is no room follow in further blocks."""
    names, *columns = table.columns
    widths = []
    for column in table.columns:
        widths.append(max(len(line) for cell in (column.header, *column.cells) for line in str(cell).splitlines()) + 2)
    room = console.width - min(max(widths[0], names.min_width or 0), _NAME_WIDTH)
    blocks: list[list[Column]] = [[]]
    taken = 0
    for column, width in zip(columns, widths[1:], strict=True):
        if blocks[-1] and taken + width > room:
            blocks.append([])
            taken = 0
        blocks[-1].append(column)
        taken += width
    for block in blocks:
        part = new_table(str(names.header), [str(column.header) for column in block])
        for cells in zip(names.cells, *(column.cells for column in block), strict=True):
            part.add_row(*cells)
        console.print(part)


def cells_of(table: Table) -> list[object]:
    """Return the cells of a table, without its headings."""
    return [cell for column in table.columns for cell in column.cells]


def score_text(value: float) -> str:
    """Return a score with three decimal places, and a dash where it is undefined."""
    return "-" if math.isnan(value) else f"{value:.3f}"


def interval_text(low: float, high: float, *, between: str = "-") -> str:
    """Return an interval without the zeros before the decimal points, and a dash where it is undefined."""
    # Most tables have no room for the zeros
    return "-" if math.isnan(low) or math.isnan(high) else f"{low:.3f}{between}{high:.3f}".replace("0.", ".")


def similarity_cells(scores: Mapping[str, float], low: float, high: float) -> list[str]:
    """Return the cells below `SIMILARITY_HEAD`."""
    others = [score_text(scores[name]) for name in SIMILARITY_COLUMNS]
    # "to", because both ends may be negative
    return [*others, score_text(scores["spearman"]), interval_text(low, high, between=" to ")]


def print_experiment(tables: Iterable[ResultTable]) -> None:
    """Print results as tables that fit the terminal: columns for which there is no room follow in further blocks."""
    console = plain_console(sys.stdout)
    for table in tables:
        if table.is_long:
            continue
        texts = table.texts()
        figures = set(table.frame.select_dtypes("number"))
        names: list[str] = []  # the columns before the first figures, which every block has
        blocks: list[list[str]] = [[]]
        widths = {}
        for column in texts:
            # Cells are broken between words, and long names anywhere
            widths[column] = max(len(word) for word in " ".join([column, *texts[column]]).split())
            if blocks == [[]] and column not in figures:
                widths[column] = min(widths[column], _NAME_WIDTH)
                names.append(column)
                continue
            if blocks[-1] and sum(widths[name] + 2 for name in (*names, *blocks[-1], column)) > console.width:
                blocks.append([])
            blocks[-1].append(column)
        console.print(table.title)
        for block in blocks:
            shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
            for column in (*names, *block):
                shown.add_column(column, width=widths[column], overflow="fold")
            for row in texts[[*names, *block]].itertuples(index=False):
                shown.add_row(*map(printable, row))
            console.print(shown)
        console.print(f"{table.note}\n")
