"""Figures of the leaderboard, and the figures of the paper, which are shown apart from the ranking."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from leaderboard.board import Board, ScoredSubmission
from leaderboard.details import Values
from leaderboard.ranking import Score
from leaderboard.tables import TASK_LABELS, shown_parameters, shown_rate, variant
from turkic_idiom_tasks.dataset.similarity import STS
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.report.charts import Chart, CurvePoint, Tile, curves, heat_map
from turkic_idiom_tasks.report.published import paper, published_tables
from turkic_idiom_tasks.results.predictions import SPANS

N_BEST = 8  # models in a forest plot
N_POINTS = 24  # models in the scatter chart
LABEL_HEIGHT = 0.05  # of the scatter chart's height; a label needs as much more than the one before it
MIN_VALUES = 5  # different ones, below which there is no scatter chart
N_CURVES = 9  # models with learning curves
MAX_LABEL = 40  # characters

_ForestRow = tuple[str, Score, float]  # label, score, and the floor of the score

_MEASURES = {SPANS: "span F1", STS: "Spearman's correlation"}  # of all other tasks: nDCG
_PUBLISHED = ("retrieval_t1", "retrieval_t2", "retrieval_t3", "span_turkish", "span_zero_shot", "span_few_shot")


def forest_by_task(board: Board) -> Values | None:
    """Return the best models with their score on each task; None if no model is ranked.

    A forest plot is a dot and an interval for each score, all on one axis. Models that have all tasks come before those
    that have the retrieval tasks only.
    """
    groups = []
    for name, label in _labels(board, list(dict.fromkeys([*board.overall, *board.retrieval]))[:N_BEST]).items():
        rows: list[_ForestRow] = []
        for task in board.data.tasks:
            if name in board.by_task[task]:
                rows.append((TASK_LABELS[task], board.by_task[task][name], 0.0))
        groups.append((label, rows, name))
    description = "Chance-corrected score of each task with its 95% interval; 0 is a random ranking."
    return _forest("The best models by task", description, groups)


def forest_by_language(board: Board, task: str) -> Values | None:
    """Return the best models of a task with their score in each language; None if no model is ranked."""
    groups = []
    for name, label in _labels(board, list(board.by_task[task])[:N_BEST]).items():
        groups.append((label, _language_rows(board, board.by_id[name], task), name))
    measure = _MEASURES.get(task, "nDCG")
    description = f"{measure} of each language with its 95% interval. The tick is the floor."
    return _forest(f"The best models on {TASK_LABELS[task]} by language", description, groups)


def forest_of_model(board: Board, submission: ScoredSubmission) -> Values | None:
    """Return the scores of one submission by task and language; None if it has none on the board."""
    groups = []
    for task in board.data.tasks:
        rows = _language_rows(board, submission, task)
        if rows:
            groups.append((f"{TASK_LABELS[task]}, {_MEASURES.get(task, 'nDCG')}", rows, ""))
    description = "Scores with their 95% intervals, not chance-corrected. The tick is the floor."
    return _forest("By language", description, groups)


def _language_rows(board: Board, submission: ScoredSubmission, task: str) -> list[_ForestRow]:
    rows = []
    for score in submission.of_task(task):
        shown = board.main(submission, score)
        if not shown.missing:
            rows.append((LANGUAGES[score.language].name, shown, score.floor))
    return rows


def _forest(title: str, description: str, groups: list[tuple[str, list[_ForestRow], str]]) -> Values | None:
    """Return a plot of groups: title, rows, and the submission that the title leads to or ""."""
    return {"title": title, "description": description, "groups": groups} if groups else None


def score_by_size(board: Board) -> Values | None:
    """Return the mean of the retrieval tasks by number of parameters; None if the models have fewer than five sizes."""
    sizes: dict[str, float] = {}
    for name in board.retrieval:
        n_parameters = board.by_id[name].metadata.n_parameters
        if n_parameters:
            sizes[name] = n_parameters
    return _scatter(
        board,
        sizes,
        title="Score against model size",
        description="Chance-corrected mean of T1, T2 and T3 by number of parameters, of the best models that state it. "
        "A model has its name beside it if no smaller one reaches its score; point at the others to read theirs.",
        show=lambda size: shown_parameters(int(size)),
    )


def score_by_throughput(board: Board) -> Values | None:
    """Return the mean of the retrieval tasks by texts per second; None if the models have fewer than five speeds.

    Speeds of different devices cannot be compared, so the models that were measured on one device are in the chart: the
    device on which most were.
    """
    by_device: dict[str, dict[str, float]] = {}
    for name in board.retrieval:
        metadata = board.by_id[name].metadata
        if metadata.texts_per_second and metadata.device:
            by_device.setdefault(metadata.device, {})[name] = metadata.texts_per_second
    # Sorted, so that a tie between devices does not depend on the order of submissions
    device = max(sorted(by_device), key=lambda device: len(by_device[device]), default="")
    return _scatter(
        board,
        by_device.get(device, {}),
        title="Score against throughput",
        description="Chance-corrected mean of T1, T2 and T3 by texts encoded per second, of the best models that were "
        f"measured on the same device: {device}. Measurements on other devices stand on the pages of the models alone. "
        "A model has its name beside it if no faster one reaches its score; point at the others to read theirs.",
        show=shown_rate,
        unit=" texts per second",
        is_more_better=True,
    )


def _scatter(
    board: Board,
    values: Mapping[str, float],
    *,
    title: str,
    description: str,
    show: Callable[[float], str],
    unit: str = "",
    is_more_better: bool = False,
) -> Values | None:
    """Return a chart of the mean of the retrieval tasks over sizes or speeds, on a logarithmic axis.

    `values` are above 0, the best model first; `show` writes one of them, and `unit` follows it in a tooltip. Places
    in the chart are from 0 to 1. It is None if there are fewer than five different values.
    """
    best = list(values)[:N_POINTS]
    drawn = [values[name] for name in best]
    if len(set(drawn)) < MIN_VALUES:
        return None
    labels = _labels(board, best)
    least, most = math.floor(math.log10(min(drawn))), math.ceil(math.log10(max(drawn)))
    top = max(1, math.ceil(5 * max(board.retrieval[name].score for name in best)))  # in fifths
    sign = -1 if is_more_better else 1
    points = []
    highest = -math.inf  # place of the highest label
    for name in sorted(best, key=lambda name: (sign * values[name], -board.retrieval[name].score)):
        up = max(0.0, board.retrieval[name].score) / (top / 5)
        is_on_frontier = up > highest + LABEL_HEIGHT  # no smaller or faster model reaches its score
        highest = up if is_on_frontier else highest
        point = {
            "submission": name,
            "label": labels[name],
            "right": (math.log10(values[name]) - least) / (most - least),
            "up": up,
            "measured": show(values[name]),
            "score": board.retrieval[name].score,
            "is_labelled": is_on_frontier,
        }
        points.append(point)
    return {
        "title": title,
        "description": description,
        "unit": unit,
        "points": points,
        "ticks": [((power - least) / (most - least), show(10.0**power)) for power in range(least, most + 1)],
        "scores": [(fifth / top, fifth / 5) for fifth in range(top + 1)],
    }


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
        panels_in_row=1,
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


def reported() -> Values:
    """Return the results that the paper reports: its name, and its tables without the columns that name a pooling."""
    published, tables = published_tables(), []
    for name in _PUBLISHED:
        table = published[name]
        kept = [position for position, column in enumerate(table.columns) if "pooling" not in column]
        names = [table.columns[position] for position in kept]
        shown = {
            "title": f"{table.source}.",
            "comment": table.comment,
            "columns": [LANGUAGES[name].name if name in LANGUAGES else name for name in names],
            "rows": [(model, [figures[at] for at in kept]) for model, figures in table.models.items()],
        }
        tables.append(shown)
    return {"source": paper(), "tables": tables}


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


def _labels(board: Board, names: Sequence[str]) -> dict[str, str]:
    """Return id -> a label that no other of these submissions has, the shortest one possible."""
    choices, labels = {}, {}
    for name in names:
        metadata = board.by_id[name].metadata
        short = _shortened(metadata.name.rsplit("/", 1)[-1])
        choices[name] = (f"{short} ({metadata.regime})", f"{short} ({variant(metadata)})", name)
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
    several = [(name, family) for name, family in sorted(families.items()) if len(family) > 1]
    return {_shortened(name): family for name, family in several[:N_CURVES]}


def _span_f1(submission: ScoredSubmission, language: str) -> float | None:
    """Return the span F1 of a language; None if it was not submitted or is undefined."""
    score = submission.find(SPANS, language)
    return None if score is None or math.isnan(score.main) else score.main
