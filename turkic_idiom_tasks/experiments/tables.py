"""The paper's tables and figures from the finished cells of a grid, as files: CSV, Markdown, SVG, Vega-Lite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from turkic_idiom_tasks.files import write_text

NO_VALUE = "–"
_SMALL_P = 0.001  # smaller p-values are shown with an exponent


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table with a name for its files, a title, and a note on how to read it.

    Attributes:
        name: of its files.
        title: its heading.
        frame: its content.
        note: how it is to be read.
        p_values: the columns whose small figures matter.
    """

    name: str
    title: str
    frame: pd.DataFrame
    note: str = ""
    p_values: tuple[str, ...] = ()

    def to_csv(self) -> str:
        """Return comma-separated values, figures in full."""
        return str(self.frame.to_csv(index=False, lineterminator="\n"))

    def to_markdown(self) -> str:
        """Return a pipe table, figures to three places, p-values to two digits where they are small."""
        texts = pd.DataFrame(index=self.frame.index)
        for column in self.frame.columns:
            texts[column] = [self._shown(value, is_p=column in self.p_values) for value in self.frame[column]]
        parts = [f"## {self.title}", self.note, texts.to_markdown(index=False, disable_numparse=True)]
        return "\n\n".join(part for part in parts if part) + "\n"

    def _shown(self, value: Any, *, is_p: bool) -> str:
        if pd.isna(value):
            return NO_VALUE
        if not isinstance(value, float):
            return str(value)
        return f"{value:.1e}" if is_p and value < _SMALL_P else f"{value:.3f}"


def make_frame(rows: Sequence[Sequence[Any]], columns: Sequence[str], *, counts: Collection[str] = ()) -> pd.DataFrame:
    """Return rows as a frame; None is a missing value.

    Args:
        rows: as long as the columns.
        columns: names.
        counts: columns of whole numbers, some of which may be missing.
    """
    frame = pd.DataFrame(list(rows), columns=list(columns))
    return frame.astype(dict.fromkeys(counts, "Int64"))


def short_names(models: Iterable[str]) -> dict[str, str]:
    """Return model -> what stands after its last slash, or all of it where two would have the same name."""
    short = {model: model.rstrip("/").rpartition("/")[2] for model in models}
    counts = Counter(short.values())
    return {model: name if counts[name] == 1 else model for model, name in short.items()}


def write_tables(tables: Iterable[Table], folder: Path) -> list[Path]:
    """Write each table as ``<name>.csv`` and ``<name>.md``, and return the Markdown files."""
    written = []
    for table in tables:
        write_text(folder / f"{table.name}.csv", table.to_csv())
        write_text(folder / f"{table.name}.md", table.to_markdown())
        written.append(folder / f"{table.name}.md")
    return written
