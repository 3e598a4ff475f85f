"""Tables of the similarity and idiomaticity cells, with the figures of the sibling papers below ours."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from turkic_idiom_tasks.dataset.similarity import SIMILARITY_TASKS, STS
from turkic_idiom_tasks.encoders.names import PRETRAINED
from turkic_idiom_tasks.report.frame import N_SEEDS, SPREAD, average_seeds
from turkic_idiom_tasks.report.published import SiblingTable, sibling_tables
from turkic_idiom_tasks.report.tables import Table, make_frame
from turkic_idiom_tasks.results.predictions import IDIOMATICITY
from turkic_idiom_tasks.results.record import Header
from turkic_idiom_tasks.runs.similarity import SIMILARITY

OURS = "this grid"
_SIMILARITY_SCORES = ("spearman", "spearman_idiom", "spearman_general", "affinity", "accuracy")
_IDIOMATICITY_SCORES = ("development_macro_f1", "macro_f1")
_SIMILARITY_KEYS = ["model", "training", "language"]
_IDIOMATICITY_KEYS = ["model", "setup", "inputs", "data"]


def similarity_tables(headers: Iterable[Header]) -> list[Table]:
    """Return a table for each source of the similarity cells; every figure of ours is a mean over seeds."""
    cells: dict[str, list[dict[str, Any]]] = {}
    for header in headers:
        for row in header.subsets:
            if row.task in SIMILARITY_TASKS:
                training = header.training.regime if header.training else PRETRAINED
                cell: dict[str, Any] = {"model": header.model.name, "training": training, "language": row.subset}
                cells.setdefault(row.task, []).append(cell | dict(header.scores(row.task, row.subset)))
    tables = []
    for task, task_cells in cells.items():
        siblings = []
        for table in sibling_tables():
            # Our sentence pairs are our own: no sibling paper has figures of them
            if table.part == SIMILARITY and task != STS and task.lower().startswith(table.data):
                siblings.append(table)
        name, title = f"similarity_{task.lower()}", f"{SIMILARITY_TASKS[task].name}: Spearman's correlation"
        tables.append(_table(name, title, task_cells, siblings, _SIMILARITY_KEYS, _SIMILARITY_SCORES, main="spearman"))
    return tables


def idiomaticity_tables(headers: Iterable[Header]) -> list[Table]:
    """Return the table of the idiomaticity cells; every figure of ours is a mean over seeds."""
    cells: list[dict[str, Any]] = []
    subtasks: set[str] = set()
    for header in headers:
        for row in header.subsets:
            if row.task == IDIOMATICITY and header.training is not None:
                inputs = header.settings["inputs"]
                shown = " + ".join(map(str, inputs)) if isinstance(inputs, list) and inputs else "sentence"
                cell = {
                    "model": header.model.name,
                    "setup": header.training.regime,
                    "inputs": shown,
                    "data": row.subset,
                }
                cells.append(cell | dict(header.scores(row.task, row.subset)))
                if header.training.config.get("source") == "astitch":
                    subtasks.add(str(header.settings["subtask"]))
    if not cells:
        return []
    siblings = [table for table in sibling_tables() if table.part == IDIOMATICITY and table.subtask in subtasks]
    title = "Idiomaticity detection: macro F1"
    return [_table(IDIOMATICITY, title, cells, siblings, _IDIOMATICITY_KEYS, _IDIOMATICITY_SCORES, main="macro_f1")]


def _table(
    name: str,
    title: str,
    cells: Sequence[dict[str, Any]],
    siblings: Sequence[SiblingTable],
    keys: list[str],
    scores: Sequence[str],
    *,
    main: str,
) -> Table:
    """Return our means over seeds with the spread of the main score, and published figures below them."""
    rows = average_seeds(pd.DataFrame(cells), keys, main=main).assign(**{"from": OURS}).to_dict("records")
    notes = {"Our figures are means over seeds; their intervals are in the records.": None}
    for table in siblings:
        notes[f"{table.source}: {table.comment}"] = None
        for figures in table.rows:
            # The keys say which of these is a column: figures on similarity have a subset, the others a language
            place = {"language": figures.get("subset"), "data": f"{table.data}, {figures.get('language')}"}
            rows.append(figures | place | {"from": table.source})
    frame = make_frame(rows, [*keys, "from", *scores, SPREAD, N_SEEDS], counts=(N_SEEDS,))
    return Table(name, title, frame, " ".join(notes))
