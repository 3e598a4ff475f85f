"""The tables of the leaderboard: rows for the pages, and the same figures as CSV and JSON."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from leaderboard.overview import Board
from leaderboard.ranking import Standing, corrected, task_scores
from leaderboard.records import RETRIEVAL_TASKS, SPANS, Record, SubsetScore
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.metrics.statistics import SMALL_N

TASK_TITLES = {
    "T1": "Cross-lingual idiom retrieval",
    "T2": "Idiom to meaning, one language",
    "T3": "Idiom to meaning, across languages",
    SPANS: "Idiom span detection",
}
TASK_NAMES = {"T1": "T1", "T2": "T2", "T3": "T3", SPANS: "Spans"}
SIZES = (
    ("under 100M", 0, 100_000_000),
    ("100M to 500M", 100_000_000, 500_000_000),
    ("500M to 2B", 500_000_000, 2_000_000_000),
    ("2B and more", 2_000_000_000, math.inf),
)
UNKNOWN_SIZE = "not known"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what makes a spreadsheet run a cell


@dataclass(frozen=True, slots=True)
class Cell:
    """A score as a page shows it; `value` is NaN where there is none.

    Attributes:
        value: in [0, 1]; negative below chance.
        low: lower end of the 95% interval, or None.
        high: upper end of it, or None.
        small: whether it rests on fewer than 30 items.
        language: code of the language that the column is for, or "".
    """

    value: float
    low: float | None = None
    high: float | None = None
    small: bool = False
    language: str = ""

    @property
    def missing(self) -> bool:
        """Whether there is no score."""
        return math.isnan(self.value)

    @property
    def percent(self) -> float:
        """Of the width that a bar of this score has."""
        return 0.0 if self.missing else round(100 * min(1.0, max(0.0, self.value)), 1)


@dataclass(frozen=True, slots=True)
class Row:
    """One model in a table.

    Attributes:
        record: its submission.
        standing: None where it has no rank.
        lacks: names of the tasks or languages that it did not submit.
        languages: codes of those with a score.
        cells: its scores.
        badges: how they were checked.
    """

    record: Record
    standing: Standing | None
    lacks: tuple[str, ...]
    languages: tuple[str, ...]
    cells: tuple[Cell, ...]
    badges: tuple[str, ...]

    @property
    def size(self) -> str:
        """The name of its size class."""
        return size_class(self.record.metadata.n_parameters)


def variant(record: Record) -> str:
    """How a model was run: ``mean pooling, pretrained, 10 examples``."""
    about = record.metadata
    pooling = f"{about.pooling} pooling" if about.pooling else None
    examples = None if about.few_shot is None else f"{about.few_shot} examples"
    return ", ".join(part for part in (pooling, about.regime, examples) if part is not None)


def size_class(n_parameters: int | None) -> str:
    """The size class of a number of parameters."""
    if n_parameters is None:
        return UNKNOWN_SIZE
    return next(name for name, least, below in SIZES if least <= n_parameters < below)


def badges(record: Record, board: Board) -> tuple[str, ...]:
    """What was done to check a record's scores."""
    return ("recomputed", "reproduced") if record.id in board.reproduced else ("recomputed",)


def overview_rows(board: Board) -> list[Row]:
    """Every record: cells for the macro score, that of the retrieval tasks, each task, and each language.

    Ranked ones first, then in the order of the retrieval tasks, then of each task.
    """
    return [
        Row(
            record,
            standing,
            lacks=tuple(TASK_NAMES[task] for task in board.data.tasks if record.id not in board.by_task[task]),
            languages=tuple(dict.fromkeys(score.language for score in record.subsets)),
            cells=(
                _standing_cell(standing),
                _standing_cell(board.retrieval.get(record.id)),
                *_task_cells(record, board),
                *_language_cells(record, board),
            ),
            badges=badges(record, board),
        )
        for record, standing in _by_rank(board)
    ]


def task_rows(board: Board, task: str) -> list[Row]:
    """The records with a score of a task: cells for the corrected mean and each subset; ranked ones first."""
    having = [record for record in board.records if record.of_task(task)]
    rows = []
    for record, standing in _in_order(having, board.by_task[task]):
        scores = {score.subset: score for score in record.of_task(task)}
        names = [subset.name for subset in board.data.of_task(task)]
        languages = [subset.language for subset in board.data.of_task(task)]
        cells = (_subset_cell(scores.get(name), code) for name, code in zip(names, languages, strict=True))
        missing = (code for name, code in zip(names, languages, strict=True) if name not in scores)
        lacks = tuple(LANGUAGES[code].name for code in missing)
        have = tuple(score.language for score in record.of_task(task))
        shown = (_standing_cell(standing), *cells)
        rows.append(Row(record, standing, lacks=lacks, languages=have, cells=shown, badges=badges(record, board)))
    return rows


def _by_rank(board: Board) -> list[tuple[Record, Standing | None]]:
    """All records with their standing over all tasks, best first."""
    by_id = {record.id: record for record in board.records}
    rankings = (board.overall, board.retrieval, *board.by_task.values())
    names = dict.fromkeys([name for ranking in rankings for name in ranking] + list(by_id))
    return [(by_id[name], board.overall.get(name)) for name in names]


def _in_order(records: Sequence[Record], standings: Mapping[str, Standing]) -> Iterator[tuple[Record, Standing | None]]:
    by_id = {record.id: record for record in records}
    yield from ((by_id[name], standing) for name, standing in standings.items())
    yield from ((record, None) for record in records if record.id not in standings)


def _standing_cell(standing: Standing | None) -> Cell:
    return Cell(math.nan) if standing is None else Cell(standing.score, standing.low, standing.high)


def _task_cells(record: Record, board: Board) -> Iterator[Cell]:
    for task in board.data.tasks:
        yield _standing_cell(board.by_task[task].get(record.id))


def _language_cells(record: Record, board: Board) -> Iterator[Cell]:
    """The mean over tasks in each language, where the record has all that the data has in it."""
    for code in board.data.languages:
        wanted = {(subset.task, subset.name): subset.n for subset in board.data.subsets if subset.language == code}
        have = {(score.task, score.subset): corrected(score) for score in record.subsets if score.language == code}
        value = sum(have[key] for key in sorted(have)) / len(have) if set(have) == set(wanted) else math.nan
        yield Cell(value, small=min(wanted.values()) < SMALL_N, language=code)


def _subset_cell(score: SubsetScore | None, language: str) -> Cell:
    if score is None:
        return Cell(math.nan, language=language)
    return Cell(score.main, score.low, score.high, small=score.n < SMALL_N, language=language)


def to_json(board: Board) -> dict[str, Any]:
    """Every figure of the leaderboard with its metadata, as one JSON object; what is undefined is null."""
    return {
        "data": {"path": board.data.path, "revision": board.data.revision, "subsets": _data_rows(board)},
        "models": [record_json(record, board) for record, _ in _by_rank(board)],
    }


def record_json(record: Record, board: Board) -> dict[str, Any]:
    """The figures of one record."""
    standing = board.overall.get(record.id)
    return {
        "id": record.id,
        "badges": list(badges(record, board)),
        "metadata": asdict(record.metadata),
        "overall": _standing_json(standing),
        "retrieval": _standing_json(board.retrieval.get(record.id)),
        "tasks": {
            task: _standing_json(board.by_task[task][record.id])
            for task in board.data.tasks
            if record.id in board.by_task[task]
        },
        "subsets": [
            {
                "task": score.task,
                "subset": score.subset,
                "language": score.language,
                "n": score.n,
                "small_n": score.n < SMALL_N,
                "main": _number(score.main),
                "low": _number(score.low),
                "high": _number(score.high),
                "corrected": _number(corrected(score)),
                "scores": {name: _number(value) for name, value in sorted(score.scores.items())},
            }
            for score in record.subsets
        ],
    }


def to_csv(board: Board) -> str:
    """A row per model: metadata, ranks, and main score with interval per subset; no cell is a formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")  # so that a stray \r in a cell is quoted
    subsets = [(subset.task, subset.name) for subset in board.data.subsets]
    head = ["id", "name", "revision", "type", "regime", "parameters", "pooling", "few_shot", "training_data"]
    head += ["badges", "rank", "group", "macro", "macro_low", "macro_high", "retrieval", *board.data.tasks]
    head += [f"{task} {name}{end}" for task, name in subsets for end in ("", " low", " high")]
    writer.writerow(head)
    for record, standing in _by_rank(board):
        about = record.metadata
        row: list[Any] = [record.id, about.name, about.revision, about.type, about.regime, about.n_parameters]
        row += [about.pooling, about.few_shot, about.training_data, " ".join(badges(record, board))]
        row += [standing.rank, standing.group, standing.score, standing.low, standing.high] if standing else [None] * 5
        retrieval = board.retrieval.get(record.id)
        row.append(retrieval.score if retrieval else None)
        tasks = task_scores(record, board.data)
        row += [tasks.get(task) for task in board.data.tasks]
        scores = {(score.task, score.subset): score for score in record.subsets}
        for key in subsets:
            row += [scores[key].main, scores[key].low, scores[key].high] if key in scores else [None] * 3
        writer.writerow([_csv_cell(value) for value in row])
    return out.getvalue()


def _csv_cell(value: Any) -> str:
    """A cell that no spreadsheet takes for a formula; numbers stay numbers, also negative ones."""
    if value is None:
        return ""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6f}"
    if isinstance(value, int):
        return str(value)
    return f"'{value}" if str(value).startswith(_FORMULA) else str(value)


def _data_rows(board: Board) -> list[dict[str, Any]]:
    return [
        {"task": one.task, "subset": one.name, "language": one.language, "n": one.n, "pool": one.pool,
         "floor": _number(one.floor)}
        for one in board.data.subsets
    ]  # fmt: skip


def _standing_json(standing: Standing | None) -> dict[str, Any] | None:
    if standing is None:
        return None
    ends = {name: _number(getattr(standing, name)) for name in ("score", "low", "high")}
    return {"rank": standing.rank, "group": standing.group, **ends}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 6)


def column_titles(board: Board, task: str) -> list[str]:
    """The language of each subset of a task, ``Turkish → Uzbek`` where it crosses languages."""
    crosses = task in RETRIEVAL_TASKS and task != "T2"
    return [("→ " if crosses else "") + LANGUAGES[subset.language].name for subset in board.data.of_task(task)]
