"""Figures of the leaderboard, and the figures of the paper, which are shown apart from the ranking."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from leaderboard.board import Board, ScoredSubmission
from leaderboard.details import Values
from leaderboard.ranking import Score
from leaderboard.tables import TASK_FORMS, TASK_LABELS, Tab, axis_of, shown_parameters, shown_rate, variant
from turkic_idiom_tasks.dataset.similarity import STS
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.report.published import paper, published_tables
from turkic_idiom_tasks.results.predictions import SPANS

N_BEST = 8  # models in a forest plot
N_POINTS = 24  # models in the scatter chart
LABEL_HEIGHT = 0.05  # of the scatter chart's height; a label needs as much more than the one before it
MIN_VALUES = 5  # different ones, below which there is no scatter chart
MAX_LABEL = 40  # characters

_ForestRow = tuple[str, Score, float]  # label, score, and the floor of the score

_MEASURES = {SPANS: "span F1", STS: "Spearman's correlation"}  # of all other tasks: nDCG
_PUBLISHED = ("retrieval_t1", "retrieval_t2", "retrieval_t3", "span_turkish", "span_zero_shot", "span_few_shot")


def forest_by_task(tab: Tab) -> Values | None:
    """Return the best models of a tab with their score on each of its tasks; None if no model is ranked.

    A forest plot is a dot and an interval for each score, all on one axis. Its groups are title, rows, and the
    submission that the title leads to or "".
    """
    labels = _labels(tab.board, list(tab.standings)[:N_BEST])
    groups = []
    for task in tab.tasks:
        standings = tab.board.by_task[task]
        rows: list[_ForestRow] = [(label, standings[name], 0.0) for name, label in labels.items() if name in standings]
        groups.append((f"{TASK_LABELS[task]}: {TASK_FORMS[task]}", rows, ""))
    description = "Chance-corrected score of each task with its 95% interval; 0 is a random ranking."
    return _forest("The best models by task", description, groups if labels else [])


def forest_by_language(board: Board, task: str) -> Values | None:
    """Return the best models of a task with their score in each language; None if no model is ranked."""
    groups = []
    for name, label in _labels(board, list(board.by_task[task])[:N_BEST]).items():
        groups.append((label, _language_rows(board, board.by_id[name], task), name))
    measure = _MEASURES.get(task, "nDCG")
    tick = "0" if task == STS else "the floor"
    description = f"{measure} of each language with its 95% interval. The tick is {tick}."
    title = f"The best models on {TASK_LABELS[task]} by language"
    return _forest(title, description, groups)


def forest_of_model(board: Board, submission: ScoredSubmission) -> Values | None:
    """Return the scores of one submission by task and language; None if it has none on the board."""
    groups = []
    for task in board.data.tasks:
        rows = _language_rows(board, submission, task)
        if rows:
            groups.append((f"{TASK_LABELS[task]}, {_MEASURES.get(task, 'nDCG')}", rows, ""))
    description = "Scores with their 95% intervals, not chance-corrected. The tick is the floor."
    return _forest("By language", description, groups)


def _forest(title: str, description: str, groups: list[tuple[str, list[_ForestRow], str]]) -> Values | None:
    """Return what a forest plot shows; None without a group."""
    low = axis_of(shown for _, rows, _ in groups for _, shown, _ in rows)
    return {"title": title, "description": description, "groups": groups, "low": low} if groups else None


def _language_rows(board: Board, submission: ScoredSubmission, task: str) -> list[_ForestRow]:
    rows = []
    for score in submission.of_task(task):
        shown = board.main_scores[submission.id][task, score.subset]
        if not math.isnan(shown.score):
            rows.append((LANGUAGES[score.language].name, shown, score.floor))
    return rows


def scatters(board: Board) -> list[Values]:
    """Return charts of the mean of the retrieval tasks over sizes and over speeds, in places from 0 to 1."""
    sizes: dict[str, float] = {}
    speeds_by_device: dict[str, dict[str, float]] = {}
    for name in board.retrieval:  # the best first
        metadata = board.by_id[name].metadata
        if metadata.n_parameters:
            sizes[name] = metadata.n_parameters
        if metadata.texts_per_second and metadata.device:
            speeds_by_device.setdefault(metadata.device, {})[name] = metadata.texts_per_second
    # Speeds of different devices cannot be compared, so those of the device are shown on which most were measured.
    # Sorted, so that a tie between devices does not depend on the order of submissions.
    device = max(sorted(speeds_by_device), key=lambda device: len(speeds_by_device[device]), default="")
    by_size: Values = {
        "title": "Score against model size",
        "description": "Chance-corrected mean of T1, T2 and T3 by number of parameters, of the best models that state "
        "it. A model has its name beside it if no smaller one reaches its score; point at the others to read theirs.",
        "unit": "",
        "axis": "parameters",
    }
    by_speed: Values = {
        "title": "Score against throughput",
        "description": "Chance-corrected mean of T1, T2 and T3 by texts encoded per second, of the best models that "
        f"were measured on the same device: {device}. Measurements on other devices stand on the pages of the models "
        "alone. A model has its name beside it if no faster one reaches its score; point at the others to read theirs.",
        "unit": " texts per second",
        "axis": "texts per second",
    }
    by_size |= _scatter(board, sizes, show=lambda size: shown_parameters(int(size)))
    by_speed |= _scatter(board, speeds_by_device.get(device, {}), show=shown_rate, is_more_better=True)
    return [chart for chart in (by_size, by_speed) if "points" in chart]


def _scatter(
    board: Board, values: Mapping[str, float], *, show: Callable[[float], str], is_more_better: bool = False
) -> Values:
    """Return points, ticks and scores of a chart of values above 0, the best model first; empty if too few differ."""
    best = list(values)[:N_POINTS]
    drawn = [values[name] for name in best]
    if len(set(drawn)) < MIN_VALUES:
        return {}
    labels = _labels(board, best)
    least, most = math.floor(math.log10(min(drawn))), math.ceil(math.log10(max(drawn)))
    # The axis ends at the next fifth above the best score, so the points use the height that there is
    top = max(1, math.ceil(5 * max(board.retrieval[name].score for name in best)))  # in fifths
    sign = -1 if is_more_better else 1
    points = []
    highest = -math.inf  # place of the highest label
    for name in sorted(best, key=lambda name: (sign * values[name], -board.retrieval[name].score)):
        up = max(0.0, board.retrieval[name].score) / (top / 5)
        # A name for every point would cover others; those of the frontier rise from left to right and stay apart
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
        "points": points,
        "ticks": [((power - least) / (most - least), show(10.0**power)) for power in range(least, most + 1)],
        "scores": [(fifth / top, fifth / 5) for fifth in range(top + 1)],
    }


def reported() -> Values:
    """Return the results that the paper reports, without the columns that name a pooling."""
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


def _labels(board: Board, names: Sequence[str]) -> dict[str, str]:
    """Return id -> a label that no other of these submissions has, the shortest one possible."""
    choices, labels = {}, {}
    for name in names:
        metadata = board.by_id[name].metadata
        short = metadata.name.rsplit("/", 1)[-1]
        short = short if len(short) <= MAX_LABEL else f"{short[: MAX_LABEL - 1]}…"
        choices[name] = (f"{short} ({metadata.regime})", f"{short} ({variant(metadata)})", name)
        labels[name] = short
    # Longer labels for those alone that are still the same
    for step in range(3):
        uses = Counter(labels.values())
        for name, label in labels.items():
            if uses[label] > 1:
                labels[name] = choices[name][step]
    return labels
