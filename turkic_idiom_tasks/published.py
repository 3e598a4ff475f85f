"""The paper's published figures, shown beside ours and never ranked with them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

FILE = Path(__file__).parent / "published.json"

Figure = float | str | None


@dataclass(frozen=True, slots=True, eq=False)
class PublishedTable:
    """Figures of one table, or of the text on one drawing.

    Attributes:
        source: where they stand in the paper.
        comment: what they are.
        columns: what each figure of a row is.
        models: Hub id -> the figures by column; None where the paper states none.
    """

    source: str
    comment: str
    columns: tuple[str, ...]
    models: Mapping[str, tuple[Figure, ...]]

    def of(self, model: str) -> dict[str, Figure]:
        """Column -> figure of a model, all None for one that is not in the table."""
        return dict(zip(self.columns, self.models.get(model, (None,) * len(self.columns)), strict=True))

    def numbers(self, model: str, columns: Iterable[str]) -> list[float | None]:
        """The figures of a model in these columns; None where there is no number or no such column."""
        figures = self.of(model)
        return [value if isinstance(value := figures.get(name), float) else None for name in columns]


@lru_cache(maxsize=1)
def published_tables() -> Mapping[str, PublishedTable]:
    """Every table by name: ``span_turkish``, ``retrieval_t2`` and so on."""
    tables = _read()
    del tables["source"]
    return MappingProxyType(
        {
            name: PublishedTable(
                table["source"],
                table["comment"],
                tuple(table["columns"]),
                MappingProxyType({model: tuple(row) for model, row in table["models"].items()}),
            )
            for name, table in tables.items()
        }
    )


def paper() -> str:
    """The paper that the figures are from."""
    return str(_read()["source"])


def _read() -> dict[str, Any]:
    return dict(json.loads(FILE.read_text("utf-8")))
