"""Figures of the leaderboard, and the figures of the paper, which are shown apart from the ranking."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaderboard.board import Board
from leaderboard.scores import ScoredSubmission
from leaderboard.tables import TASK_LABELS, variant
from turkic_idiom_tasks.experiments.charts import (
    Bar,
    Chart,
    CurvePoint,
    ScatterPoint,
    Tile,
    curves,
    grouped_bars,
    heat_map,
    scatter,
)
from turkic_idiom_tasks.experiments.published import PublishedTable, paper, published_tables
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.results.predictions import SPANS

N_BARS = 8  # models with bars
N_POINTS = 24  # models in the scatter chart
N_CURVES = 9  # models with learning curves
MAX_LABEL = 40  # characters

_PUBLISHED = ("retrieval_t1", "retrieval_t2", "retrieval_t3", "span_turkish", "span_zero_shot", "span_few_shot")


@dataclass(frozen=True, slots=True, eq=False)
class ReportedTable:
    """A table of the paper.

    Attributes:
        title: name of the table in the paper.
        comment: explanation of its figures.
        columns: titles of the columns.
        rows: each model with its figures, one for each column.
    """

    title: str
    comment: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float | str | None, ...]], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Reported:
    """The results that the paper reports: the name of the paper, and its tables."""

    source: str
    tables: tuple[ReportedTable, ...]


def bars_by_task(board: Board) -> Chart | None:
    """Return a chart of the best models with a bar for each task; None if no model is ranked.

    Models that have all tasks come before those that have the retrieval tasks only.
    """
    best = list(dict.fromkeys([*board.overall, *board.retrieval]))[:N_BARS]
    labels = _labels(board, best)
    bars = []
    for name in best:
        for task in board.data.tasks:
            if name in board.by_task[task]:
                standing = board.by_task[task][name]
                low, high = standing.interval.low, standing.interval.high
                bars.append(Bar(labels[name], TASK_LABELS[task], standing.score, low=low, high=high))
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
    """Return a chart of the best models of a task with a bar for each language; None if no model is ranked."""
    by_id = board.by_id
    best = list(board.by_task[task])[:N_BARS]
    labels = _labels(board, best)
    bars = []
    for name in best:
        for score in by_id[name].of_task(task):
            interval = board.interval(by_id[name], score)
            language = LANGUAGES[score.language].name
            bars.append(Bar(labels[name], language, score.main, low=interval.low, high=interval.high))
    if not bars:
        return None
    measure = "span F1" if task == SPANS else "nDCG"
    return grouped_bars(
        bars,
        title=f"The best models on {TASK_LABELS[task]} by language",
        description=f"{measure} of each language with its 95% interval.",
        axis=measure,
    )


def score_by_size(board: Board) -> Chart | None:
    """Return a chart of the mean of the retrieval tasks by number of parameters; None if no model states the number."""
    by_id = board.by_id
    best = [name for name in board.retrieval if by_id[name].metadata.n_parameters][:N_POINTS]
    labels = _labels(board, best)
    points = []
    for name in best:
        metadata, standing = by_id[name].metadata, board.retrieval[name]
        low, high = standing.interval.low, standing.interval.high
        size = float(metadata.n_parameters or 0)
        points.append(ScatterPoint(labels[name], size, standing.score, low, high, kind=metadata.type))
    if not points:
        return None
    return scatter(
        points,
        title="Score against model size",
        description="Chance-corrected mean of T1, T2 and T3 with its 95% interval, by number of parameters, of the "
        "best models that state it. A model has a label if no smaller model reaches its score.",
        x_axis="parameters",
        y_axis="chance-corrected mean of T1, T2, T3",
    )


def few_shot_curves(board: Board) -> Chart | None:
    """Return a chart of span F1 over the number of examples, with a panel for each language.

    Only models that were submitted with at least two numbers of examples are in it; None if there is no such model.
    """
    families = _few_shot_families(board)
    sizes: set[int] = set()
    for family in families.values():
        sizes.update(family)
    points = []
    for code in board.data.languages:
        for size in sorted(sizes):
            for name, family in families.items():
                value = _span_f1(family[size], code) if size in family else None
                if value is not None:
                    points.append(CurvePoint(LANGUAGES[code].name, name, f"{size}", value))
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
    """Return a chart of the gain of the most examples over none, by model and language; None if no model has both."""
    gains = []
    for name, family in _few_shot_families(board).items():
        if 0 not in family:
            continue
        for code in board.data.languages:
            before, after = _span_f1(family[0], code), _span_f1(family[max(family)], code)
            gain = None if before is None or after is None else after - before
            gains.append(Tile(name, LANGUAGES[code].name, gain))
    if all(gain.value is None for gain in gains):
        return None
    return heat_map(
        gains,
        title="What examples of the language add",
        description="Span F1 with the most examples of the target language minus span F1 with none.",
    )


def reported() -> Reported:
    """Return the results that the paper reports."""
    tables = published_tables()
    return Reported(paper(), tuple(_reported_table(tables[name]) for name in _PUBLISHED))


def reported_few_shot_delta() -> Chart:
    """Return a chart of the gain from examples of the target language that the paper reports: Table 4 minus Table 3."""
    tables = published_tables()
    zero_shot, few_shot = tables["span_zero_shot"], tables["span_few_shot"]
    gains = []
    for model in zero_shot.models:
        before, after = zero_shot.of(model), few_shot.of(model)
        for code in zero_shot.columns:
            low, high = before[code], after[code]
            gain = None if low is None or high is None else float(high) - float(low)
            gains.append(Tile(model, LANGUAGES[code].name, gain))
    return heat_map(
        gains,
        title="Reported: what examples of the language add",
        description="F1 over tokens after the best adaptation (Table 4) minus without any (Table 3), as the paper "
        "reports them.",
    )


def _reported_table(table: PublishedTable) -> ReportedTable:
    """Return the figures of a table, without the columns that name a pooling."""
    kept_columns = [position for position, name in enumerate(table.columns) if "pooling" not in name]
    columns = []
    for position in kept_columns:
        name = table.columns[position]
        columns.append(LANGUAGES[name].name if name in LANGUAGES else name)
    rows = []
    for model, figures in table.models.items():
        rows.append((model, tuple(figures[position] for position in kept_columns)))
    return ReportedTable(f"{table.source}.", table.comment, tuple(columns), tuple(rows))


def _labels(board: Board, names: Sequence[str]) -> dict[str, str]:
    """Return id -> a label that no other of these submissions has, the shortest one possible."""
    by_id = board.by_id
    choices = {}
    labels = {}
    for name in names:
        submission = by_id[name]
        short = _shortened(submission.metadata.name.rsplit("/", 1)[-1])
        choices[name] = (f"{short} ({submission.metadata.regime})", f"{short} ({variant(submission)})", name)
        labels[name] = short
    for step in range(3):
        uses = Counter(labels.values())
        for name, label in labels.items():
            if uses[label] > 1:
                labels[name] = choices[name][step]
    return labels


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_LABEL else f"{text[: MAX_LABEL - 1]}…"


def _few_shot_families(board: Board) -> dict[str, Mapping[int, ScoredSubmission]]:
    """Return name -> number of examples -> submission, of models that were submitted with at least two such numbers."""
    families: dict[str, dict[int, ScoredSubmission]] = {}
    for submission in board.submissions:
        metadata = submission.metadata
        if metadata.few_shot is not None and submission.of_task(SPANS):
            families.setdefault(metadata.name, {}).setdefault(metadata.few_shot, submission)
    shown_families: dict[str, Mapping[int, ScoredSubmission]] = {}
    for name, family in sorted(families.items()):
        if len(family) > 1 and len(shown_families) < N_CURVES:
            shown_families[_shortened(name)] = family
    return shown_families


def _span_f1(submission: ScoredSubmission, language: str) -> float | None:
    """Return the span F1 of a language; None if it was not submitted or is undefined."""
    for score in submission.of_task(SPANS):
        if score.language == language:
            return None if math.isnan(score.main) else score.main
    return None
