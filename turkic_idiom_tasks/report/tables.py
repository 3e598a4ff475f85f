"""Tables of experiments, and writing them as CSV and Markdown."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from turkic_idiom_tasks.metrics.bootstrap import SMALL_MARK, SMALL_N, UNRELIABLE_MARK, UNRELIABLE_NOTE

NO_VALUE = "–"
_SMALL_P = 0.001  # smaller p-values are shown with an exponent


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table with a name for its files, a title, and a note on how to read it."""

    name: str
    title: str
    frame: pd.DataFrame
    note: str = ""
    is_long: bool = False  # for programs rather than for the screen
    p_values: tuple[str, ...] = ()  # columns of p-values, whose small figures are shown with an exponent

    def texts(self) -> pd.DataFrame:
        """Return the cells as texts: three decimal places, and two digits for small p-values."""
        texts = pd.DataFrame(index=self.frame.index)
        for column in self.frame.columns:
            cells = []
            for value in self.frame[column]:
                if pd.isna(value):
                    cells.append(NO_VALUE)
                elif column in self.p_values and value < _SMALL_P:
                    cells.append(f"{value:.1e}")
                else:
                    cells.append(f"{value:.3f}" if isinstance(value, float) else str(value))
            texts[column] = cells
        return texts

    def to_markdown(self) -> str:
        """Return a Markdown table, as wide as it is."""
        # Else tabulate reads the cells as numbers again, and writes 0.530 as 0.53
        parts = [f"## {self.title}", self.note, self.texts().to_markdown(index=False, disable_numparse=True)]
        return "\n\n".join(part for part in parts if part) + "\n"


def make_frame(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[str], *, counts: Collection[str] = ()
) -> pd.DataFrame:
    """Return rows as a frame with these columns; what a row lacks is missing, also in `counts`, whole numbers."""
    return pd.DataFrame(list(rows), columns=list(columns)).astype(dict.fromkeys(counts, "Int64"))


def mark_notes(cells: Iterable[object], unit: str) -> list[str]:
    """Return the meaning of each mark with which a line of a cell ends, and of no other; the unit is what n counts."""
    ends = {line[-1:] for cell in cells for line in str(cell).splitlines()}
    notes = {
        SMALL_MARK: f"fewer than {SMALL_N} {unit}: read the interval, not the score",
        UNRELIABLE_MARK: UNRELIABLE_NOTE,
    }
    return [f"{mark} {note}" for mark, note in notes.items() if mark in ends]


def short_names(models: Iterable[str]) -> dict[str, str]:
    """Return model -> the part after its last slash, or the whole name if two models would have the same part."""
    names = {model: model.rstrip("/").rpartition("/")[2] for model in models}
    counts = Counter(names.values())
    return {model: model if counts[name] > 1 else name for model, name in names.items()}
