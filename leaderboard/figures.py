"""The figures of the leaderboard, from its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from leaderboard.overview import Board
from leaderboard.records import SPANS, Record
from leaderboard.tables import TASK_NAMES, variant
from turkic_idiom_tasks.languages import LANGUAGES

if TYPE_CHECKING:
    from turkic_idiom_tasks.charts import Chart

N_BARS = 8  # models with bars
N_POINTS = 24  # models in the scatter chart; more labels run into each other
N_CURVES = 9  # models with learning curves
MAX_LABEL = 40  # characters


def bars_by_task(board: Board) -> Chart | None:
    """The best models, a bar per task; first those that have all tasks. None without a ranked model."""
    from turkic_idiom_tasks.charts import Bar, grouped_bars

    best = list(dict.fromkeys((*board.overall, *board.retrieval)))[:N_BARS]
    labels = _labels(board, best)
    bars = []
    for name in best:
        for task in (task for task in board.data.tasks if name in board.by_task[task]):
            one = board.by_task[task][name]
            bars.append(Bar(group=labels[name], series=TASK_NAMES[task], value=one.score, low=one.low, high=one.high))
    if not bars:
        return None
    return grouped_bars(
        bars,
        title="The best models by task",
        description="Chance-corrected score of each task with its 95% interval; 0 is a random ranking.",
        axis="chance-corrected score",
        floor=0.0,
    )


def bars_by_language(board: Board, task: str) -> Chart | None:
    """The best models of a task, a bar per language; None without a ranked model."""
    from turkic_idiom_tasks.charts import Bar, grouped_bars

    records = {record.id: record for record in board.records}
    best = list(board.by_task[task])[:N_BARS]
    labels = _labels(board, best)
    bars = [
        Bar(labels[name], LANGUAGES[score.language].name, score.main, low=score.low, high=score.high)
        for name in best
        for score in records[name].of_task(task)
    ]
    if not bars:
        return None
    measure = "span F1" if task == SPANS else "nDCG"
    return grouped_bars(
        bars,
        title=f"The best models on {TASK_NAMES[task]} by language",
        description=f"{measure} of each language with its 95% interval.",
        axis=measure,
    )


def score_by_size(board: Board) -> Chart | None:
    """Mean of the retrieval tasks, which most models have, by number of parameters; None where none is said."""
    from turkic_idiom_tasks.charts import ScatterPoint, scatter

    records = {record.id: record for record in board.records}
    best = [name for name in board.retrieval if records[name].metadata.n_parameters][:N_POINTS]
    labels = _labels(board, best)
    points = []
    for name in best:
        about, one = records[name].metadata, board.retrieval[name]
        size = float(about.n_parameters or 0)
        points.append(ScatterPoint(labels[name], size, one.score, one.low, one.high, kind=about.type))
    if not points:
        return None
    return scatter(
        points,
        title="Score against model size",
        description="Chance-corrected mean of T1, T2 and T3 with its 95% interval, by number of parameters, of the "
        "best models that state it.",
        x_axis="parameters",
        y_axis="chance-corrected mean of T1, T2, T3",
    )


def few_shot_curves(board: Board) -> Chart | None:
    """Span F1 over the number of examples, a panel per language; None without a model of two such numbers."""
    from turkic_idiom_tasks.charts import CurvePoint, curves

    families = _few_shot_families(board)
    sizes = sorted({size for family in families.values() for size in family})
    points = [
        CurvePoint(LANGUAGES[code].name, name, f"{size}", _span_f1(family[size], code))
        for code in board.data.languages
        for size in sizes
        for name, family in families.items()
        if size in family and _span_f1(family[size], code) is not None
    ]
    if not points:
        return None
    return curves(
        points,
        title="Few-shot learning curves",
        description="Span F1 by the number of examples of the target language that the model saw.",
        x_axis="examples of the target language",
        y_axis="span F1",
    )


def few_shot_delta(board: Board) -> Chart | None:
    """What the most examples gain over none, by model and language; None where no model has both."""
    from turkic_idiom_tasks.charts import Cell, heat_map

    cells = []
    for name, family in _few_shot_families(board).items():
        if 0 not in family:
            continue
        for code in board.data.languages:
            before, after = (_span_f1(family[size], code) for size in (0, max(family)))
            delta = None if before is None or after is None else after - before
            cells.append(Cell(name, LANGUAGES[code].name, delta))
    if all(cell.value is None for cell in cells):
        return None
    return heat_map(
        cells,
        title="What examples of the language add",
        description="Span F1 with the most examples of the target language minus span F1 with none.",
    )


def _labels(board: Board, names: Iterable[str]) -> dict[str, str]:
    """Record id -> a short label that no other of these has."""
    records = {record.id: record for record in board.records}
    labels = {name: _short(records[name].metadata.name.rsplit("/", 1)[-1]) for name in names}
    short = dict(labels)
    for longer in (
        lambda name: f"{short[name]} ({records[name].metadata.regime})",
        lambda name: f"{short[name]} ({variant(records[name])})",
        lambda name: name,
    ):
        times = Counter(labels.values())
        labels = {name: longer(name) if times[label] > 1 else label for name, label in labels.items()}
    return labels


def _short(text: str) -> str:
    return text if len(text) <= MAX_LABEL else f"{text[: MAX_LABEL - 1]}…"


def _few_shot_families(board: Board) -> dict[str, Mapping[int, Record]]:
    """Name -> examples -> record, of the models that were submitted with two numbers of examples or more."""
    families: dict[str, dict[int, Record]] = {}
    for record in board.records:
        if record.metadata.few_shot is not None and record.of_task(SPANS):
            families.setdefault(record.metadata.name, {}).setdefault(record.metadata.few_shot, record)
    series = [(_short(name), family) for name, family in sorted(families.items()) if len(family) > 1]
    return dict(series[:N_CURVES])


def _span_f1(record: Record, language: str) -> float | None:
    return next((score.main for score in record.of_task(SPANS) if score.language == language), None)
