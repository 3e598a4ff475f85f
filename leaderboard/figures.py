"""Figures of the leaderboard, and what the paper reports, which stands apart from the ranking."""

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
        title: where it stands there.
        comment: what its figures are.
        columns: their titles.
        rows: model and its figures, one for each column.
    """

    title: str
    comment: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float | str | None, ...]], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Reported:
    """What the paper reports: its name and its tables."""

    source: str
    tables: tuple[ReportedTable, ...]


def bars_by_task(board: Board) -> Chart | None:
    """Return the best models with a bar per task, first those that have all tasks; None without a ranked model."""
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
    """Return the best models of a task with a bar per language; None without a ranked model."""
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
    """Return the mean of the retrieval tasks by number of parameters; None where no model states it."""
    by_id = board.by_id
    best = [name for name in board.retrieval if by_id[name].metadata.n_parameters][:N_POINTS]
    labels = _labels(board, best)
    points = []
    for name in best:
        about, standing = by_id[name].metadata, board.retrieval[name]
        low, high = standing.interval.low, standing.interval.high
        size = float(about.n_parameters or 0)
        points.append(ScatterPoint(labels[name], size, standing.score, low, high, kind=about.type))
    if not points:
        return None
    return scatter(
        points,
        title="Score against model size",
        description="Chance-corrected mean of T1, T2 and T3 with its 95% interval, by number of parameters, of the "
        "best models that state it. Labelled are those that no smaller model reaches.",
        x_axis="parameters",
        y_axis="chance-corrected mean of T1, T2, T3",
    )


def few_shot_curves(board: Board) -> Chart | None:
    """Return span F1 over the number of examples, a panel per language; None without a model of two such numbers."""
    families = _few_shot_families(board)
    sizes = sorted({size for family in families.values() for size in family})
    points = []
    for code in board.data.languages:
        for size in sizes:
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
    """Return what the most examples gain over none, by model and language; None where no model has both."""
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
    """Return what the paper reports."""
    tables = published_tables()
    return Reported(paper(), tuple(_reported_table(tables[name]) for name in _PUBLISHED))


def reported_few_shot_delta() -> Chart:
    """Return the paper's gain from examples of the target language: Table 4 minus Table 3."""
    tables = published_tables()
    zero_shot, few_shot = tables["span_zero_shot"], tables["span_few_shot"]
    gains = []
    for model in zero_shot.models:
        before, after = zero_shot.of(model), few_shot.of(model)
        for code in zero_shot.columns:
            pair = before[code], after[code]
            gain = float(pair[1]) - float(pair[0]) if pair[0] is not None and pair[1] is not None else None
            gains.append(Tile(model, LANGUAGES[code].name, gain))
    return heat_map(
        gains,
        title="Reported: what examples of the language add",
        description="F1 over tokens after the best adaptation (Table 4) minus without any (Table 3), as the paper "
        "reports them.",
    )


def _reported_table(table: PublishedTable) -> ReportedTable:
    """Return the figures of a table; the poolings that stand between them in the paper are left out."""
    kept = [place for place, name in enumerate(table.columns) if "pooling" not in name]
    columns = []
    for place in kept:
        name = table.columns[place]
        columns.append(LANGUAGES[name].name if name in LANGUAGES else name)
    rows = []
    for model, figures in table.models.items():
        rows.append((model, tuple(figures[place] for place in kept)))
    return ReportedTable(f"{table.source}.", table.comment, tuple(columns), tuple(rows))


def _labels(board: Board, names: Sequence[str]) -> dict[str, str]:
    """Return id -> a label that no other of these submissions has, as short as that allows."""
    by_id = board.by_id
    choices = {}
    for name in names:
        submission = by_id[name]
        short = _shortened(submission.metadata.name.rsplit("/", 1)[-1])
        choices[name] = [short, f"{short} ({submission.metadata.regime})", f"{short} ({variant(submission)})", name]
    labels = {name: own[0] for name, own in choices.items()}
    for length in (1, 2, 3):
        times = Counter(labels.values())
        for name, label in labels.items():
            if times[label] > 1:
                labels[name] = choices[name][length]
    return labels


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_LABEL else f"{text[: MAX_LABEL - 1]}…"


def _few_shot_families(board: Board) -> dict[str, Mapping[int, ScoredSubmission]]:
    """Return name -> examples -> submission, of the models that were submitted with two numbers of examples or more."""
    families: dict[str, dict[int, ScoredSubmission]] = {}
    for submission in board.submissions:
        about = submission.metadata
        if about.few_shot is not None and submission.of_task(SPANS):
            families.setdefault(about.name, {}).setdefault(about.few_shot, submission)
    series = [(_shortened(name), family) for name, family in sorted(families.items()) if len(family) > 1]
    return dict(series[:N_CURVES])


def _span_f1(submission: ScoredSubmission, language: str) -> float | None:
    """Return the span F1 of a language; None where it was not submitted or is undefined."""
    for score in submission.of_task(SPANS):
        if score.language == language:
            return None if math.isnan(score.main) else score.main
    return None
