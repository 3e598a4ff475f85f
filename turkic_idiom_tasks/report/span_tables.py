"""Tables and figures of the span experiments, with the paper's figures for comparison.

The paper's scores are over tokens, most likely the sub-words of its Trainer, so they are compared with our sub-word
scores. Span F1, which counts whole idioms, is lower and says more. Every figure is a mean over seeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N
from turkic_idiom_tasks.report.charts import Chart, CurvePoint, Tile, curves, heat_map
from turkic_idiom_tasks.report.frame import N_SEEDS, SPREAD, average_seeds, widen
from turkic_idiom_tasks.report.published import PublishedTable, published_tables
from turkic_idiom_tasks.report.tables import Table, make_frame, short_names
from turkic_idiom_tasks.results.model_predictions import ALL
from turkic_idiom_tasks.results.predictions import SPANS

F1_SCORES = ("subword_f1", "token_f1", "span_f1")
CHART_SCORE = "subword_f1"  # most likely the paper's
N_TEST = "n_sentences"
_HEADINGS = {
    "subword_precision": "P",
    "subword_recall": "R",
    "subword_f1": "F1",
    "subword_accuracy": "accuracy",
    "token_f1": "token F1",
    "span_f1": "span F1",
}
_PAPER_HEADINGS = {"precision": "paper P", "recall": "paper R", "f1": "paper F1", "accuracy": "paper accuracy"}


def span_tables(scores: pd.DataFrame) -> list[Table]:
    """Return every table of a span grid.

    Args:
        scores: from `frame.score_frame`, of one source language.
    """
    published = published_tables()
    scores = scores[scores["task"] == SPANS]
    means = _means(scores)
    return [
        _source_table(means, published["span_turkish"]),
        _by_language(
            means[means["size"] == "0"],
            published["span_zero_shot"],
            name="table3_zero_shot",
            title="Fine-tuned on the source language, tested on others",
            note=f"n < {SMALL_N}: read the interval in the record, not the score.",
        ),
        _by_language(
            means[means["size"] != "0"],
            published["span_few_shot"],
            name="table4_few_shot",
            title="Adapted to the language: the best of its sample sizes",
            note="The best size is chosen on the test sentences, as in the paper: an optimistic figure. The learning "
            "curves show every size.",
        ),
        _learning_curves_table(means),
    ]


def span_charts(scores: pd.DataFrame) -> dict[str, Chart]:
    """Return name -> chart: Figures 1 and 4 of the paper; empty if the grid did not adapt to another language.

    Args:
        scores: from `frame.score_frame`, of one source language.
    """
    means = _means(scores[scores["task"] == SPANS])
    others = means[means["subset"] != means["language"]]
    if (others["size"] == "0").all():
        return {}
    return {"figure1_few_shot_gain": _gains(others), "figure4_learning_curves": _learning_curves(others)}


def _means(scores: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each model, tested language (`subset`) and size: means over seeds."""
    keys = ["model", "language", "subset", "size"]
    return average_seeds(widen(scores, [*keys, "seed"]).drop(columns="seed"), keys, main="span_f1")


def _source_table(means: pd.DataFrame, published: PublishedTable) -> Table:
    """Return the paper's Table 2."""
    models = list(means["model"].unique())
    own = means[means["subset"] == means["language"]].set_index("model").reindex(models).rename(columns=_HEADINGS)
    paper = pd.DataFrame([published.of(model) for model in models], index=models, columns=list(_PAPER_HEADINGS))
    frame = own.join(paper.rename(columns=_PAPER_HEADINGS)).rename_axis("model").reset_index()
    columns = ["model", N_SEEDS, *_HEADINGS.values(), SPREAD, "n", *_PAPER_HEADINGS.values()]
    note = "P, R, F1 and accuracy over sub-words, as most likely in the paper, whose test sentences are others."
    rows = frame.rename(columns={N_TEST: "n"}).to_dict("records")
    table = make_frame(rows, columns, counts=(N_SEEDS, "n"))
    return Table("table2_source", "Fine-tuned and tested on the source language", table, note)


def _by_language(means: pd.DataFrame, published: PublishedTable, *, name: str, title: str, note: str) -> Table:
    """Return the paper's Table 3 or 4: a column per language, rows for our best scores, the paper's, and counts."""
    others = means[means["subset"] != means["language"]]
    languages = list(others["subset"].unique())
    best = others.groupby(["model", "subset"])[[*F1_SCORES, N_TEST]].max()
    rows: list[list[Any]] = []
    for model in others["model"].unique():
        by_language = best.loc[model].reindex(languages)
        paper_figures = pd.Series(published.numbers(model, languages), dtype="float64")
        for label, figures in [*by_language[[*F1_SCORES]].items(), ("paper", paper_figures)]:
            rows.append([model, label, *figures, figures.mean(skipna=False)])
        rows.append([model, "n", *by_language[N_TEST].astype("Int64"), None])
    columns = ["model", "score", *languages, "mean"]
    frame = pd.DataFrame(rows, columns=columns, dtype="object")  # so that n stays a whole number
    return Table(name, title, frame, note)


def _learning_curves_table(means: pd.DataFrame) -> Table:
    others = means[means["subset"] != means["language"]]
    rows = []
    for _, curve in others.groupby(["model", "subset"], sort=False):
        rows += curve.sort_values("size", key=lambda sizes: sizes.map(_size_order)).to_dict("records")
    frame = make_frame(rows, ["model", "subset", "size", N_SEEDS, *F1_SCORES, SPREAD, N_TEST], counts=(N_SEEDS, N_TEST))
    headings = {"subset": "language", "size": "training sentences", N_TEST: "n"}
    return Table("learning_curves", "F1 by number of training sentences", frame.rename(columns=headings))


def _gains(others: pd.DataFrame) -> Chart:
    """Return the paper's Figure 1."""
    is_zero = others["size"] == "0"
    zero_shot, best = (
        rows.groupby(["model", "subset"])[CHART_SCORE].max() for rows in (others[is_zero], others[~is_zero])
    )
    gains = (best - zero_shot).dropna()
    tiles = []
    for model, name in short_names(others["model"].unique()).items():
        for language in others["subset"].unique():
            tiles.append(Tile(name, LANGUAGES[language].name, gains.get((model, language))))
    return heat_map(
        tiles,
        title="Few-shot minus zero-shot F1 over sub-words (Figure 1)",
        description="The gain of each model from adapting to each language, at its best number of training sentences. "
        "This number is chosen on the test sentences, so the figures are optimistic.",
    )


def _learning_curves(others: pd.DataFrame) -> Chart:
    """Return the paper's Figure 4."""
    known = others.set_index(["model", "subset", "size"])[CHART_SCORE].dropna()
    sizes: Iterable[str] = sorted(others["size"].unique(), key=_size_order)
    points = []
    for language in others["subset"].unique():
        for model, name in short_names(others["model"].unique()).items():
            for size in sizes:
                points.append(CurvePoint(LANGUAGES[language].name, name, size, known.get((model, language, size))))
    return curves(
        points,
        title="F1 over sub-words by number of training sentences (Figure 4)",
        description="A panel per language, a curve per model, from 0 training sentences of the language to all.",
        x_axis="training sentences",
        y_axis="sub-word F1",
    )


def _size_order(size: str) -> float:
    return math.inf if size == ALL else float(size)
