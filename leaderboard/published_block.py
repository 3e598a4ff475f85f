"""What the paper reports, for the block that stands apart from the ranking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.published import PublishedTable, paper, published_tables

if TYPE_CHECKING:
    from turkic_idiom_tasks.charts import Chart

_SHOWN = ("retrieval_t1", "retrieval_t2", "retrieval_t3", "span_turkish", "span_zero_shot", "span_few_shot")


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """The paper, its tables, and drawn charts."""

    source: str
    tables: tuple[dict[str, Any], ...]
    charts: list[Any]


def published_block(draw: Callable[[dict[str, Chart | None]], list[Any]]) -> Block:
    """The block.

    Args:
        draw: makes figures of charts by name.
    """
    tables = published_tables()
    shown = tuple(_table(tables[name]) for name in _SHOWN)
    return Block(paper(), shown, draw({"published-few-shot-delta": few_shot_delta()}))


def few_shot_delta() -> Chart:
    """The paper's gain from examples of the target language: Table 4 minus Table 3."""
    from turkic_idiom_tasks.charts import Cell, heat_map

    tables = published_tables()
    zero, few = tables["span_zero_shot"], tables["span_few_shot"]
    cells = []
    for model in zero.models:
        before, after = zero.of(model), few.of(model)
        for code in zero.columns:
            pair = before[code], after[code]
            delta = float(pair[1]) - float(pair[0]) if pair[0] is not None and pair[1] is not None else None
            cells.append(Cell(model, LANGUAGES[code].name, delta))
    return heat_map(
        cells,
        title="Reported: what examples of the language add",
        description="F1 over tokens after the best adaptation (Table 4) minus without any (Table 3), as the paper "
        "reports them.",
    )


def _table(table: PublishedTable) -> dict[str, Any]:
    """The figures of a table; the poolings that stand between them in the paper are left out."""
    kept = [place for place, name in enumerate(table.columns) if "pooling" not in name]
    names = [table.columns[place] for place in kept]
    return {
        "title": f"{table.source}.",
        "comment": table.comment,
        "columns": tuple(LANGUAGES[name].name if name in LANGUAGES else name for name in names),
        "rows": tuple((model, tuple(row[place] for place in kept)) for model, row in table.models.items()),
    }
