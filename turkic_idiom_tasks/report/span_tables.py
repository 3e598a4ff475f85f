"""Tables and figures of the span experiments, with the paper's figures for comparison; all are means over seeds."""

import math
from itertools import product
from typing import Any

import pandas as pd

from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N
from turkic_idiom_tasks.report.charts import Chart, curves, heat_map
from turkic_idiom_tasks.report.frame import N_SEEDS, SPREAD, average_seeds
from turkic_idiom_tasks.report.published import PublishedTable, published_tables
from turkic_idiom_tasks.report.tables import Table, make_frame, short_names
from turkic_idiom_tasks.results.model_predictions import ALL
from turkic_idiom_tasks.results.predictions import SPANS

F1_SCORES = ("subword_f1", "token_f1", "span_f1")
# The paper's scores are over tokens, most likely the sub-words of its Trainer, so they are compared with this one. Span
# F1, which counts whole idioms, is lower and says more.
CHART_SCORE = "subword_f1"
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
    """Return every table of a span grid, from `frame.score_frame` of one source language."""
    published = published_tables()
    scores = scores[scores["task"] == SPANS]
    means = _means(scores)
    is_own = means["subset"] == means["language"]
    models = list(means["model"].unique())
    own = means[is_own].set_index("model").reindex(models).rename(columns=_HEADINGS)
    of_paper = [published["span_turkish"].of(model) for model in models]
    paper = pd.DataFrame(of_paper, index=models, columns=list(_PAPER_HEADINGS)).rename(columns=_PAPER_HEADINGS)
    rows = own.join(paper).rename_axis("model").reset_index().rename(columns={N_TEST: "n"}).to_dict("records")
    columns = ["model", N_SEEDS, *_HEADINGS.values(), SPREAD, "n", *_PAPER_HEADINGS.values()]
    source_table = Table(
        "table2_source",
        "Fine-tuned and tested on the source language",
        make_frame(rows, columns, counts=(N_SEEDS, "n")),
        "P, R, F1 and accuracy over sub-words, as most likely in the paper, whose test sentences are others.",
    )
    sizes: list[dict[str, Any]] = []
    for _, curve in means[~is_own].groupby(["model", "subset"], sort=False):
        sizes += curve.sort_values("size", key=lambda sizes: sizes.map(_size_order)).to_dict("records")
    columns = ["model", "subset", "size", N_SEEDS, *F1_SCORES, SPREAD, N_TEST]
    headings = {"subset": "language", "size": "training sentences", N_TEST: "n"}
    curves_frame = make_frame(sizes, columns, counts=(N_SEEDS, N_TEST)).rename(columns=headings)
    return [
        source_table,
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
        Table("learning_curves", "F1 by number of training sentences", curves_frame, is_long=True),
    ]


def span_charts(scores: pd.DataFrame) -> dict[str, Chart]:
    """Return name -> chart: Figures 1 and 4 of the paper; empty if the grid did not adapt to another language."""
    means = _means(scores[scores["task"] == SPANS])
    others = means[means["subset"] != means["language"]]
    is_zero = others["size"] == "0"
    if is_zero.all():
        return {}
    languages, models = others["subset"].unique(), short_names(others["model"].unique())
    zero_shot, best = (
        rows.groupby(["model", "subset"])[CHART_SCORE].max() for rows in (others[is_zero], others[~is_zero])
    )
    # A model without one of the two has a dash: a gain from nothing would be its whole score
    gains = (best - zero_shot).dropna()
    known = others.set_index(["model", "subset", "size"])[CHART_SCORE].dropna()
    sizes: list[str] = sorted(others["size"].unique(), key=_size_order)
    tiles, points = {}, {}
    for model, language in product(models, languages):
        tiles[models[model], LANGUAGES[language].name] = gains.get((model, language))
    for language, model, size in product(languages, models, sizes):
        points[LANGUAGES[language].name, models[model], size] = known.get((model, language, size))
    gain_map = heat_map(
        tiles,
        title="Few-shot minus zero-shot F1 over sub-words (Figure 1)",
        description="The gain of each model from adapting to each language, at its best number of training sentences. "
        "This number is chosen on the test sentences, so the figures are optimistic.",
    )
    learning_curves = curves(
        points,
        title="F1 over sub-words by number of training sentences (Figure 4)",
        description="A panel per language, a curve per model, from 0 training sentences of the language to all.",
    )
    return {"figure1_few_shot_gain": gain_map, "figure4_learning_curves": learning_curves}


def _means(scores: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each model, tested language (`subset`) and size: means over seeds."""
    # The seed is a key of the rows that are averaged, and no key of their means
    keys = ["model", "language", "subset", "size"]
    with_seed = [*keys, "seed"]
    # pivot sorts the keys, so their order is kept apart
    cells = scores[with_seed].drop_duplicates()
    wide = scores.pivot(index=with_seed, columns="measure", values="value").reset_index()
    cells = cells.merge(wide, on=with_seed, how="left", sort=False).drop(columns="seed")
    return average_seeds(cells, keys, main="span_f1")


def _by_language(means: pd.DataFrame, published: PublishedTable, *, name: str, title: str, note: str) -> Table:
    """Return the paper's Table 3 or 4: a column per language, rows for our best scores, the paper's, and counts."""
    others = means[means["subset"] != means["language"]]
    languages = list(others["subset"].unique())
    best = others.groupby(["model", "subset"])[[*F1_SCORES, N_TEST]].max()
    rows: list[list[Any]] = []
    for model in others["model"].unique():
        by_language = best.loc[model].reindex(languages)
        # By the codes of the paper's languages, which may lack some of ours
        figures_of_paper = published.of(model)
        paper_figures = pd.Series([figures_of_paper.get(code) for code in languages], dtype="float64")
        for label, figures in [*by_language[[*F1_SCORES]].items(), ("paper", paper_figures)]:
            # A mean over fewer languages than that of the row above it could not be compared with it
            rows.append([model, label, *figures, figures.mean(skipna=False)])
        rows.append([model, "n", *by_language[N_TEST].astype("Int64"), None])
    columns = ["model", "score", *languages, "mean"]
    frame = pd.DataFrame(rows, columns=columns, dtype="object")  # so that n stays a whole number
    return Table(name, title, frame, note)


def _size_order(size: str) -> float:
    return math.inf if size == ALL else float(size)
