"""Published figures of the paper and of its sibling papers, which are shown next to ours and never ranked with them."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from turkic_idiom_tasks.io.reading import read_json

FILE = Path(__file__).parent / "published.json"
_SIBLINGS = FILE.with_name("published_siblings.json")
_PAPER = "source"  # the key of the reference of the paper; all other keys are tables

Figure = float | str | None


class PublishedTable(BaseModel):
    """Figures of one table, or of the text on one figure."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str  # where the figures stand in the paper
    comment: str
    columns: tuple[str, ...]  # what each figure of a row is
    models: dict[str, tuple[Figure, ...]]  # Hub id -> its figures; None if the paper has none

    def of(self, model: str) -> dict[str, Figure]:
        """Return column -> figure of a model; all figures are None for a model that is not in the table."""
        # A model of the user is in no table, and its row in ours has gaps where the paper's figures would be
        figures = self.models.get(model, (None,) * len(self.columns))
        return dict(zip(self.columns, figures, strict=True))


# Not a PublishedTable: these models have no Hub id, so a row cannot be found by the model of one of our cells
class SiblingTable(BaseModel):
    """Figures of one table of AStitchInLanguageModels or ChengyuSTS, for models that the paper names in words."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    part: str  # part of a grid whose figures they are shown beside: ``similarity`` or ``idiomaticity``
    data: str  # ``astitch`` or ``chengyu``
    subtask: str  # ``A`` or ``B`` of AStitch; empty for ChengyuSTS
    source: str  # paper and table
    comment: str  # what differs from our setting
    rows: tuple[dict[str, Figure], ...]  # column -> text or figure


@lru_cache(maxsize=1)
def sibling_tables() -> tuple[SiblingTable, ...]:
    """Return the tables of the sibling papers."""
    tables = []
    for table in read_json(_SIBLINGS):
        columns = table.pop("columns")
        rows = [dict(zip(columns, row, strict=True)) for row in table["rows"]]
        tables.append(SiblingTable.model_validate(table | {"rows": rows}))
    return tuple(tables)


@lru_cache(maxsize=1)
def published_tables() -> Mapping[str, PublishedTable]:
    """Return every table by name: ``span_turkish``, ``retrieval_t2`` and so on."""
    tables = read_json(FILE)
    return {name: PublishedTable.model_validate(table) for name, table in tables.items() if name != _PAPER}


def paper() -> str:
    """Return the reference of the paper."""
    return str(read_json(FILE)[_PAPER])
