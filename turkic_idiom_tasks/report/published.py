"""Published figures of the paper and of its sibling papers, which are shown next to ours and never ranked with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from turkic_idiom_tasks.io.reading import read_json

FILE = Path(__file__).parent / "published.json"
_SIBLINGS = FILE.with_name("published_siblings.json")
_PAPER = "source"  # the key of the reference of the paper; all other keys are tables

Figure = float | str | None


@dataclass(frozen=True, slots=True, eq=False)
class PublishedTable:
    """Figures of one table, or of the text on one figure.

    Attributes:
        source: place of the figures in the paper.
        comment: explanation of the figures.
        columns: meaning of each figure of a row.
        models: Hub id -> the figures by column; None if the paper has none.
    """

    source: str
    comment: str
    columns: tuple[str, ...]
    models: Mapping[str, tuple[Figure, ...]]

    def of(self, model: str) -> dict[str, Figure]:
        """Return column -> figure of a model; all figures are None for a model that is not in the table."""
        figures = self.models.get(model, (None,) * len(self.columns))
        return dict(zip(self.columns, figures, strict=True))

    def numbers(self, model: str, columns: Iterable[str]) -> list[float | None]:
        """Return the figures of a model in these columns; None if there is no number or no such column."""
        figures = self.of(model)
        numbers = []
        for name in columns:
            figure = figures.get(name)
            numbers.append(figure if isinstance(figure, float) else None)
        return numbers


@dataclass(frozen=True, slots=True, eq=False)
class SiblingTable:
    """Figures of one table of AStitchInLanguageModels or ChengyuSTS, for models that the paper names in words.

    Attributes:
        part: part of a grid whose figures they are shown beside: ``similarity`` or ``idiomaticity``.
        data: ``astitch`` or ``chengyu``.
        subtask: ``A`` or ``B`` of AStitch; empty for ChengyuSTS.
        source: paper and table.
        comment: what differs from our setting.
        rows: column -> text or figure.
    """

    part: str
    data: str
    subtask: str
    source: str
    comment: str
    rows: tuple[Mapping[str, Figure], ...]


@lru_cache(maxsize=1)
def sibling_tables() -> tuple[SiblingTable, ...]:
    """Return the tables of the sibling papers."""
    tables = []
    for table in read_json(_SIBLINGS):
        rows = tuple(dict(zip(table["columns"], row, strict=True)) for row in table["rows"])
        names = ("part", "data", "subtask", "source", "comment")
        tables.append(SiblingTable(**{name: table[name] for name in names}, rows=rows))
    return tuple(tables)


@lru_cache(maxsize=1)
def published_tables() -> Mapping[str, PublishedTable]:
    """Return every table by name: ``span_turkish``, ``retrieval_t2`` and so on."""
    tables = {}
    for name, table in _read().items():
        if name != _PAPER:
            models = {model: tuple(figures) for model, figures in table["models"].items()}
            columns = tuple(table["columns"])
            tables[name] = PublishedTable(table["source"], table["comment"], columns, MappingProxyType(models))
    return MappingProxyType(tables)


def paper() -> str:
    """Return the reference of the paper."""
    return str(_read()[_PAPER])


def _read() -> dict[str, Any]:
    return dict(read_json(FILE))
