"""Tables and figures of the span experiments, with the paper's figures for comparison.

The paper's scores are over tokens, most likely the sub-words of its Trainer, so they are compared with our sub-word
scores. Span F1, which counts whole idioms, is lower and says more. Every figure is a mean over seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import Any

import pandas as pd

from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N
from turkic_idiom_tasks.report.charts import Chart, CurvePoint, Tile, curves, heat_map
from turkic_idiom_tasks.report.frame import BEST_EPOCH, widen
from turkic_idiom_tasks.report.published import PublishedTable, published_tables
from turkic_idiom_tasks.report.tables import Table, make_frame, short_names
from turkic_idiom_tasks.results.model_predictions import ALL
from turkic_idiom_tasks.results.predictions import SPANS

F1_SCORES = ("subword_f1", "token_f1", "span_f1")
CHART_SCORE = "subword_f1"  # most likely the paper's
PAPER_SCORES = {
    "subword_precision": "precision",
    "subword_recall": "recall",
    "subword_f1": "f1",
    "subword_accuracy": "accuracy",
}
_BEST = "best"  # in place of a size: the one with the highest score


def span_tables(scores: pd.DataFrame) -> list[Table]:
    """Return every table of a span grid.

    Args:
        scores: from `frame.score_frame`, of one source language.
    """
    published = published_tables()
    scores = scores[scores["task"] == SPANS]
    return [
        _source_table(scores, published["span_turkish"]),
        _by_language(
            scores,
            published["span_zero_shot"],
            size="0",
            name="table3_zero_shot",
            title="Fine-tuned on the source language, tested on others",
            note=f"n < {SMALL_N}: read the interval in the record, not the score.",
        ),
        _by_language(
            scores,
            published["span_few_shot"],
            size=_BEST,
            name="table4_few_shot",
            title="Adapted to the language: the best of its sample sizes",
            note="The best size is chosen on the test sentences, as in the paper: an optimistic figure. The learning "
            "curves show every size.",
        ),
        _learning_curves_table(scores),
        _cells_table(scores),
    ]


def span_charts(scores: pd.DataFrame) -> dict[str, Chart]:
    """Return name -> chart: Figures 1 and 4 of the paper; empty if the grid did not adapt to another language.

    Args:
        scores: from `frame.score_frame`, of one source language.
    """
    others = _tested_elsewhere(scores[scores["task"] == SPANS])
    if (others["size"] == "0").all():
        return {}
    return {"figure1_few_shot_gain": _gains(others), "figure4_learning_curves": _learning_curves(others)}


def _source_table(scores: pd.DataFrame, published: PublishedTable) -> Table:
    """Return the paper's Table 2."""
    own = scores[scores["subset"] == scores["language"]]
    rows = []
    for model in _models(scores):
        model_scores = own[own["model"] == model]
        figures = [_mean(model_scores, measure) for measure in (*PAPER_SCORES, "token_f1", "span_f1")]
        paper_figures = published.numbers(model, PAPER_SCORES.values())
        counts = [_spread(model_scores), _n_test(model_scores)]
        rows.append([model, _n_seeds(model_scores), *figures, *counts, *paper_figures])
    columns = ["model", "seeds", "P", "R", "F1", "accuracy", "token F1", "span F1", "sd over seeds", "n"]
    columns += ["paper P", "paper R", "paper F1", "paper accuracy"]
    note = "P, R, F1 and accuracy over sub-words, as most likely in the paper, whose test sentences are others."
    title = "Fine-tuned and tested on the source language"
    return Table("table2_source", title, make_frame(rows, columns, counts=("seeds", "n")), note)


def _by_language(
    scores: pd.DataFrame, published: PublishedTable, *, size: str, name: str, title: str, note: str
) -> Table:
    """Return the paper's Table 3 or 4, with a column per language and rows for our scores, the paper's, and counts."""
    others = _tested_elsewhere(scores)
    others = others[(others["size"] == "0") == (size == "0")]
    languages = list(others["subset"].unique())
    rows: list[list[Any]] = []
    for model in _models(others):
        model_scores = others[others["model"] == model]
        for measure in F1_SCORES:
            figures = [_score(model_scores, code, measure, size) for code in languages]
            rows.append([model, measure, *figures, _mean_of_all(figures)])
        paper_figures = published.numbers(model, languages)
        rows.append([model, "paper", *paper_figures, _mean_of_all(paper_figures)])
        n_test = [_n_test(model_scores[model_scores["subset"] == code]) for code in languages]
        rows.append([model, "n", *n_test, None])
    columns = ["model", "score", *languages, "mean"]
    frame = pd.DataFrame(rows, columns=columns, dtype="object")  # so that n stays a whole number
    return Table(name, title, frame, note)


def _learning_curves_table(scores: pd.DataFrame) -> Table:
    rows = []
    others = _tested_elsewhere(scores)
    for (model, language), pair_scores in others.groupby(["model", "subset"], sort=False):
        for size in _sizes(pair_scores):
            at_size = pair_scores[pair_scores["size"] == size]
            figures = [_mean(at_size, measure) for measure in F1_SCORES]
            rows.append([model, language, size, _n_seeds(at_size), *figures, _spread(at_size), _n_test(at_size)])
    columns = ["model", "language", "training sentences", "seeds", *F1_SCORES, "sd over seeds", "n"]
    frame = make_frame(rows, columns, counts=("seeds", "n"))
    return Table("learning_curves", "F1 by number of training sentences", frame)


def _cells_table(scores: pd.DataFrame) -> Table:
    """Return a row for every cell."""
    keys = ["model", "subset", "size", "seed"]
    wide = widen(scores, keys)
    measures = [name for name in scores["measure"].unique() if name != BEST_EPOCH]
    frame = wide.reindex(columns=[*keys, BEST_EPOCH, *measures]).astype({BEST_EPOCH: "Int64"})
    return Table("cells", "Every span cell", frame.rename(columns={"subset": "language"}))


def _gains(others: pd.DataFrame) -> Chart:
    """Return the paper's Figure 1."""
    names = short_names(_models(others))
    tiles = []
    for model, name in names.items():
        model_scores = others[others["model"] == model]
        for language in others["subset"].unique():
            zero = _score(model_scores, language, CHART_SCORE, "0")
            best = _score(model_scores, language, CHART_SCORE, _BEST)
            gain = None if zero is None or best is None else best - zero
            tiles.append(Tile(name, LANGUAGES[language].name, gain))
    return heat_map(
        tiles,
        title="Few-shot minus zero-shot F1 over sub-words (Figure 1)",
        description="The gain of each model from adapting to each language, at its best number of training sentences. "
        "This number is chosen on the test sentences, so the figures are optimistic.",
    )


def _learning_curves(others: pd.DataFrame) -> Chart:
    """Return the paper's Figure 4."""
    names = short_names(_models(others))
    points = []
    for language in others["subset"].unique():
        for model, name in names.items():
            model_scores = others[others["model"] == model]
            for size in _sizes(others):
                score = _score(model_scores, language, CHART_SCORE, size)
                points.append(CurvePoint(LANGUAGES[language].name, name, size, score))
    return curves(
        points,
        title="F1 over sub-words by number of training sentences (Figure 4)",
        description="A panel per language, a curve per model, from 0 training sentences of the language to all.",
        x_axis="training sentences",
        y_axis="sub-word F1",
    )


def _tested_elsewhere(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the scores in other languages than the source language."""
    return scores[scores["subset"] != scores["language"]]


def _models(scores: pd.DataFrame) -> list[str]:
    return list(scores["model"].unique())


def _sizes(scores: pd.DataFrame) -> list[str]:
    """Return the numbers of training sentences, growing, with ``all`` as the last one."""
    sizes = list(scores["size"].unique())
    return sorted(sizes, key=lambda size: float("inf") if size == ALL else float(size))


def _score(scores: pd.DataFrame, language: str, measure: str, size: str) -> float | None:
    """Return the mean over seeds of a score at a size, or the highest one with `_BEST`; None if undefined."""
    language_scores = scores[scores["subset"] == language]
    if size != _BEST:
        return _mean(language_scores[language_scores["size"] == size], measure)
    means = []
    for known_size in _sizes(language_scores):
        value = _score(language_scores, language, measure, known_size)
        if known_size != "0" and value is not None:
            means.append(value)
    return max(means, default=None)


def _mean(scores: pd.DataFrame, measure: str) -> float | None:
    """Return the mean of a score over seeds; None if it is undefined for one of them, or there is none."""
    values = scores.loc[scores["measure"] == measure, "value"]
    return float(values.mean()) if len(values) and values.notna().all() else None


def _spread(scores: pd.DataFrame) -> float | None:
    """Return the standard deviation of span F1 over seeds; None if there is only one, or it is undefined for one."""
    values = scores.loc[scores["measure"] == "span_f1", "value"]
    return float(values.std()) if len(values) > 1 and values.notna().all() else None


def _mean_of_all(values: Sequence[float | None]) -> float | None:
    """Return the mean over languages; None if it is undefined for one of them."""
    known = [value for value in values if value is not None]
    return mean(known) if known and len(known) == len(values) else None


def _n_seeds(scores: pd.DataFrame) -> int:
    return len(scores[scores["measure"] == "span_f1"])


def _n_test(scores: pd.DataFrame) -> int | None:
    """Return the number of test sentences."""
    values = scores.loc[scores["measure"] == "n_sentences", "value"]
    return int(values.iloc[0]) if len(values) else None
