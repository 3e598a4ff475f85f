"""Tables as CSV and Markdown."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from turkic_idiom_tasks.files import write_text

Cell = str | int | float | None

NO_VALUE = "–"


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a name for its files, a title, and a note on how to read it.

    Attributes:
        name: of its files.
        title: its heading.
        header: names of the columns.
        rows: as long as the header; None is shown as –.
        note: how it is to be read.
        p_values: the columns whose small figures matter.
    """

    name: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    p_values: tuple[str, ...] = ()

    def to_csv(self) -> str:
        """Comma-separated, figures in full."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows(self.rows)
        return text.getvalue()

    def to_markdown(self) -> str:
        """A pipe table, figures to three places, p-values to two digits where they are small."""
        lines = [f"## {self.title}", "", *([self.note, ""] if self.note else [])]
        lines += [f"| {' | '.join(self.header)} |", f"|{'---|' * len(self.header)}"]
        lines += [f"| {' | '.join(map(self._shown, self.header, row))} |" for row in self.rows]
        return "\n".join([*lines, ""])

    def _shown(self, column: str, value: Cell) -> str:
        if value is None:
            return NO_VALUE
        if not isinstance(value, float):
            return str(value)
        return f"{value:.1e}" if column in self.p_values and value < 0.001 else f"{value:.3f}"


def short_names(models: Iterable[str]) -> dict[str, str]:
    """Model -> what stands after its last slash, or all of it where two would be called the same."""
    short = {model: model.rstrip("/").rpartition("/")[2] for model in models}
    counts = Counter(short.values())
    return {model: name if counts[name] == 1 else model for model, name in short.items()}


def write_tables(tables: Iterable[Table], folder: Path) -> list[Path]:
    """Writes each table as ``<name>.csv`` and ``<name>.md``, and returns the Markdown files."""
    written = []
    for table in tables:
        write_text(folder / f"{table.name}.csv", table.to_csv())
        write_text(folder / f"{table.name}.md", table.to_markdown())
        written.append(folder / f"{table.name}.md")
    return written
