"""Tables of the similarity and idiomaticity cells, with the figures of the sibling papers below ours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean, stdev
from typing import Any

from turkic_idiom_tasks.dataset.similarity import SIMILARITY_TASKS, STS
from turkic_idiom_tasks.encoders.names import PRETRAINED
from turkic_idiom_tasks.report.published import SiblingTable, sibling_tables
from turkic_idiom_tasks.report.tables import Table, make_frame
from turkic_idiom_tasks.results.predictions import IDIOMATICITY
from turkic_idiom_tasks.results.record import Header
from turkic_idiom_tasks.runs.similarity import SIMILARITY

OURS = "this grid"
_SIMILARITY_SCORES = ("spearman", "spearman_idiom", "spearman_general", "affinity", "accuracy")
_IDIOMATICITY_SCORES = ("development_macro_f1", "macro_f1")

Group = tuple[str, ...]


def similarity_tables(headers: Iterable[Header]) -> list[Table]:
    """Return a table for each source of the similarity cells; every figure of ours is a mean over seeds."""
    groups: dict[str, dict[Group, list[Mapping[str, float]]]] = {}
    for header in headers:
        for row in header.subsets:
            if row.task in SIMILARITY_TASKS:
                regime = header.training.regime if header.training else PRETRAINED
                key = (header.model.name, regime, row.subset)
                scores = header.scores(row.task, row.subset)
                groups.setdefault(row.task, {}).setdefault(key, []).append(scores)
    tables = []
    for task, by_group in groups.items():
        rows: list[list[Any]] = [
            [*group, OURS, *_means(scores, _SIMILARITY_SCORES), _spread(scores, "spearman"), len(scores)]
            for group, scores in by_group.items()
        ]
        siblings = [table for table in sibling_tables() if table.part == SIMILARITY and _is_of(table, task)]
        for table in siblings:
            for published in table.rows:
                figures = [published.get(name) for name in _SIMILARITY_SCORES]
                place = [published["model"], published["training"], published["subset"], table.source]
                rows.append([*place, *figures, None, None])
        columns = ["model", "training", "language", "from", *_SIMILARITY_SCORES, "sd over seeds", "seeds"]
        name = SIMILARITY_TASKS[task].name
        frame = make_frame(rows, columns, counts=("seeds",))
        tables.append(Table(f"similarity_{task.lower()}", f"{name}: Spearman's correlation", frame, _note(siblings)))
    return tables


def idiomaticity_tables(headers: Iterable[Header]) -> list[Table]:
    """Return the table of the idiomaticity cells; every figure of ours is a mean over seeds."""
    groups: dict[Group, list[Mapping[str, float]]] = {}
    subtasks: dict[str, None] = {}
    for header in headers:
        for row in header.subsets:
            if row.task == IDIOMATICITY and header.training is not None:
                inputs = header.settings["inputs"]
                shown = " + ".join(map(str, inputs)) if isinstance(inputs, list) and inputs else "sentence"
                key = (header.model.name, header.training.regime, shown, row.subset)
                groups.setdefault(key, []).append(header.scores(row.task, row.subset))
                if header.training.config.get("source") == "astitch":
                    subtasks[str(header.settings["subtask"])] = None
    if not groups:
        return []
    rows: list[list[Any]] = []
    for group, scores in groups.items():
        rows.append([*group, OURS, *_means(scores, _IDIOMATICITY_SCORES), _spread(scores, "macro_f1"), len(scores)])
    siblings = [table for table in sibling_tables() if table.part == IDIOMATICITY and table.subtask in subtasks]
    for table in siblings:
        for published in table.rows:
            figures = [published[name] for name in _IDIOMATICITY_SCORES]
            place = [published["model"], published["setup"], published["inputs"]]
            data = f"{table.data}, {published['language']}"
            rows.append([*place, data, table.source, *figures, None, None])
    columns = ["model", "setup", "inputs", "data", "from", *_IDIOMATICITY_SCORES, "sd over seeds", "seeds"]
    frame = make_frame(rows, columns, counts=("seeds",))
    return [Table(IDIOMATICITY, "Idiomaticity detection: macro F1", frame, _note(siblings))]


def _is_of(table: SiblingTable, task: str) -> bool:
    return task != STS and task.lower().startswith(table.data)


def _means(scores: Sequence[Mapping[str, float]], names: Iterable[str]) -> list[Any]:
    """Return the mean of each score over seeds; None where one is undefined."""
    means = []
    for name in names:
        values = [row.get(name, math.nan) for row in scores]
        means.append(None if any(math.isnan(value) for value in values) else mean(values))
    return means


def _spread(scores: Sequence[Mapping[str, float]], name: str) -> float | None:
    values = [row[name] for row in scores]
    return stdev(values) if len(values) > 1 and not any(math.isnan(value) for value in values) else None


def _note(siblings: Sequence[SiblingTable]) -> str:
    notes = dict.fromkeys(f"{table.source}: {table.comment}" for table in siblings)
    return " ".join(["Our figures are means over seeds; their intervals are in the records.", *notes])
