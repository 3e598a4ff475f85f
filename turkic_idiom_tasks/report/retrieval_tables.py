"""Tables and figures of the retrieval experiments, with the paper's figures for comparison.

The paper reports each model under its best pooling, which is chosen on the test queries. Figures 2 and 3 and Table 5 do
the same here, and their notes say that such figures are optimistic. The table of poolings has all poolings.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from turkic_idiom_tasks.encoders.names import CROSS_LINGUAL, MONOLINGUAL, PRETRAINED, TR_ONLY
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N, Interval
from turkic_idiom_tasks.metrics.comparison import Comparison, holm
from turkic_idiom_tasks.report.charts import Bar, Chart, grouped_bars
from turkic_idiom_tasks.report.frame import IDENTITY, MEASURES, N_SEEDS, SIZES, UNTUNED_KEPT, widen
from turkic_idiom_tasks.report.published import Figure, paper, published_tables
from turkic_idiom_tasks.report.retrieval_scores import N_QUERIES, UNTUNED, RetrievalScores
from turkic_idiom_tasks.report.tables import Table, make_frame, short_names

CROSS_LINGUAL_REGIMES = (PRETRAINED, TR_ONLY, CROSS_LINGUAL)
MONOLINGUAL_REGIMES = (PRETRAINED, MONOLINGUAL)
# There is no cross-lingual training for Turkish, which T2 has.
REGIMES_OF = {
    "T1": (PRETRAINED, TR_ONLY, MONOLINGUAL, CROSS_LINGUAL),
    "T2": (PRETRAINED, TR_ONLY, MONOLINGUAL),
    "T3": (PRETRAINED, TR_ONLY, MONOLINGUAL, CROSS_LINGUAL),
}
# Task -> name of its files, what it retrieves, and the regimes that the paper compares.
FIGURES = {
    "T1": ("figure2_t1", "Turkish idiom to idiom (Figure 2)", CROSS_LINGUAL_REGIMES),
    "T2": ("table5_t2", "idiom to meaning in one language (Table 5)", MONOLINGUAL_REGIMES),
    "T3": ("figure3_t3", "Turkish idiom to meaning (Figure 3)", CROSS_LINGUAL_REGIMES),
}

_NOTE = (
    "Poolings are the best on the test queries, as in the paper: such figures are optimistic. All languages have the "
    "same weight, and a mean needs all of them. low, high: 95% bootstrap interval that resamples whole concepts. "
    "floor: a random ranking. may be too short: the figures whose interval depends on few concepts. "
    "untuned kept: languages whose training ended (with some seeds: 1/3) with the untuned weights, because no other "
    "weights were better on the development queries."
)
_SHORT = "may be too short"
_COUNTS = (N_QUERIES, N_SEEDS)
_EXTENT = (*_COUNTS, UNTUNED)
_P_VALUES = ("p wilcox", "Holm wilcox", "p pratt", "Holm pratt", "p by concept", "paper p")


def retrieval_tables(summary: RetrievalScores, scores: pd.DataFrame) -> list[Table]:
    """Return every table of a retrieval grid.

    Args:
        summary: its means, from `retrieval_scores.summarise`.
        scores: from `frame.score_frame`.
    """
    return [
        _regimes_table(summary, "T1"),
        _monolingual_table(summary),
        _regimes_table(summary, "T3"),
        _significance_table(summary),
        _poolings_table(summary),
        _cells_table(scores),
    ]


def retrieval_charts(summary: RetrievalScores) -> dict[str, Chart]:
    """Return name -> chart: Figures 2 and 3 of the paper, and its Table 5 as a chart, if there are scores for them."""
    charts = {}
    for task, (name, _, _) in FIGURES.items():
        chart = _bars(summary, task)
        if chart is not None:
            charts[name] = chart
    return charts


def _regimes_table(summary: RetrievalScores, task: str) -> Table:
    """Return the paper's Figure 2 or 3 as a table, with a row per model and regime."""
    name, _, regimes = FIGURES[task]
    table = f"retrieval_{task.lower()}"
    rows: list[dict[str, Any]] = []
    for model in summary.models if task in summary.subsets else ():
        untuned = summary.best(task, model, PRETRAINED)
        paper_figures = _paper_figures(summary, task, table, model)
        for regime in regimes:
            if regime not in summary.regimes:
                continue
            row = {"model": model, "regime": regime, "paper nDCG": paper_figures[regime]}
            key = summary.best(task, model, regime)
            if key is not None:
                interval = summary.interval(key)
                row |= summary.figures(key) | {"pooling": key[3], "low": interval.low, "high": interval.high}
                change = None if regime == PRETRAINED or untuned is None else summary.against(key, untuned)
                if change is not None:
                    row |= _difference(change, ("difference to pretrained", "difference low", "difference high"))
                row[_SHORT] = _short(interval, change)
            rows.append(row)
    columns = ["model", "regime", "pooling", "ndcg", "low", "high", "ndcg_floor", "ndcg_corrected"]
    columns += ["difference to pretrained", "difference low", "difference high", _SHORT, *_EXTENT, "paper nDCG"]
    frame = make_frame(rows, columns, counts=_COUNTS)
    frame = frame.rename(columns={"ndcg": "nDCG", "ndcg_floor": "floor", "ndcg_corrected": "corrected"})
    note = f"{_NOTE}{_small(summary, task)} Paper: {paper()}, {published_tables()[table].source}."
    return Table(name, _title(summary, task), frame, note)


def _monolingual_table(summary: RetrievalScores) -> Table:
    """Return the paper's Table 5."""
    published = published_tables()["retrieval_t2"]
    rows: list[dict[str, Any]] = []
    for model in summary.models if "T2" in summary.subsets else ():
        row: dict[str, Any] = {"model": model}
        for name, figure in _paper_figures(summary, "T2", "retrieval_t2", model).items():
            row[f"paper {name}"] = figure
        before, after = (summary.best("T2", model, regime) for regime in MONOLINGUAL_REGIMES)
        for regime, key in zip(MONOLINGUAL_REGIMES, (before, after), strict=True):
            if key is not None:
                row |= {regime: summary.figures(key)["ndcg"], f"{regime} pooling": key[3]}
        known, tuned = summary.figures(before or after), summary.figures(after)
        row |= {"floor": known.get("ndcg_floor"), N_QUERIES: known.get(N_QUERIES)}
        row |= {N_SEEDS: tuned.get(N_SEEDS), UNTUNED: tuned.get(UNTUNED)}
        if before is not None and after is not None:
            change = summary.against(after, before)
            row |= _difference(change, ("difference", "low", "high")) | {_SHORT: _short(None, change)}
        rows.append(row)
    columns = ["model", "pretrained", "pretrained pooling", "monolingual", "monolingual pooling"]
    columns += ["difference", "low", "high", _SHORT, "floor", *_EXTENT]
    columns += [f"paper {name}" for name in published.columns]
    note = f"Turkish is trained as tr-only. {_NOTE}{_small(summary, 'T2')} Paper: {paper()}, {published.source}."
    return Table("table5_t2", _title(summary, "T2"), make_frame(rows, columns, counts=_COUNTS), note)


def _significance_table(summary: RetrievalScores) -> Table:
    """Return the paper's Table 6: monolingual training against none, for each model and pooling."""
    rows: list[dict[str, Any]] = []
    for model in summary.models if "T2" in summary.subsets else ():
        paper_figures = _paper_figures(summary, "T2", "retrieval_t2_p", model)
        for pooling in summary.poolings:
            before = summary.find(("T2", model, PRETRAINED, pooling))
            after = summary.find(("T2", model, MONOLINGUAL, pooling))
            row = {"model": model, "pooling": pooling, "paper p": paper_figures.get(pooling)}
            row[UNTUNED] = summary.figures(after).get(UNTUNED)
            if before is not None and after is not None:
                tests, by_concept = summary.query_by_query(after, before), summary.against(after, before)
                row |= {"queries": tests.n, "p wilcox": tests.p_wilcox, "p pratt": tests.p_pratt}
                row |= {"effect": tests.effect, "wins": tests.wins, "ties": tests.ties, "losses": tests.losses}
                row |= {"concepts": by_concept.n_concepts, "p by concept": by_concept.p}
            rows.append(row)
    columns = ["model", "pooling", "queries", "p wilcox", "p pratt", "effect", "wins", "ties", "losses"]
    columns += ["concepts", "p by concept", UNTUNED, "paper p"]
    frame = make_frame(rows, columns, counts=("queries", "wins", "ties", "losses", "concepts"))
    for name, column in (("Holm wilcox", "p wilcox"), ("Holm pratt", "p pratt")):
        adjusted = holm([None if pd.isna(p) else float(p) for p in frame[column]])
        frame.insert(frame.columns.get_loc(column) + 1, name, adjusted)
    title = f"T2, monolingual training against none (Table 6): {', '.join(summary.languages('T2'))}"
    note = (
        "Wilcoxon signed-rank tests over the queries of all languages: ties dropped (wilcox), as in the paper, or "
        "ranked (pratt); Holm's correction within the table. effect: rank-biserial correlation, positive if training "
        "helps; wins: queries that it helps. Queries of one concept in several languages are not independent, so these "
        "p are too small; `p by concept` is a sign-flip test that keeps concepts whole and gives all languages the "
        f"same weight. No test with fewer than {SMALL_N}. Paper: {published_tables()['retrieval_t2_p'].source}."
    )
    return Table("table6_t2_p", title, frame, note, _P_VALUES)


def _poolings_table(summary: RetrievalScores) -> Table:
    rows: list[dict[str, Any]] = []
    for model in summary.models:
        for task in summary.subsets:
            for regime in REGIMES_OF[task]:
                for pooling in summary.poolings if regime in summary.regimes else ():
                    row = {"model": model, "task": task, "regime": regime, "pooling": pooling}
                    key = summary.find((task, model, regime, pooling))
                    rows.append(row | summary.figures(key))
    columns = ["model", "task", "regime", "pooling", *MEASURES, *_EXTENT]
    return Table("poolings", "Every pooling, averaged over languages", make_frame(rows, columns, counts=_COUNTS))


def _cells_table(scores: pd.DataFrame) -> Table:
    """Return a row for every subset of every cell."""
    keys = [*IDENTITY[:-1], "task", "subset"]
    frame = widen(scores[scores["task"].isin(FIGURES)], keys)
    kept = frame[UNTUNED_KEPT].map({1.0: "yes", 0.0: "no"}) if UNTUNED_KEPT in frame else None
    frame = frame[[*keys, *MEASURES, *SIZES]].astype(dict.fromkeys(SIZES, "Int64"))
    return Table("retrieval_cells", "Every retrieval cell", frame.assign(**{UNTUNED: kept}))


def _bars(summary: RetrievalScores, task: str) -> Chart | None:
    """Return a group of bars for each model, the best one first, with a bar per regime; None without any score."""
    regimes = [regime for regime in FIGURES[task][2] if regime in summary.regimes]
    highest: dict[str, float] = {}
    bars_of: dict[str, list[Bar]] = {}
    for model, name in short_names(summary.models).items():
        bars_of[model] = []
        for regime in regimes:
            key = summary.best(task, model, regime)
            if key is None:
                bars_of[model].append(Bar(name, regime, None))
                continue
            value, interval = float(summary.figures(key)["ndcg"]), summary.interval(key)
            bars_of[model].append(Bar(name, regime, value, low=interval.low, high=interval.high))
            highest[model] = max(value, highest.get(model, 0.0))
    if not highest:
        return None
    models = sorted(highest, key=lambda model: -highest[model])
    floor = float(summary.macro.xs(task, level="task")["ndcg_floor"].iloc[0])
    description = (
        f"Bars of nDCG with 95% intervals for {len(models)} models, best first: {', '.join(regimes)}. Each bar has "
        "the best pooling on the test queries, an optimistic choice. "
        f"A random ranking scores {floor:.3f}."
    )
    bars = [bar for model in models for bar in bars_of[model]]
    return grouped_bars(bars, title=_title(summary, task), description=description, axis="nDCG", floor=floor)


def _title(summary: RetrievalScores, task: str) -> str:
    return f"{task}, {FIGURES[task][1]}: nDCG over {', '.join(summary.languages(task))}"


def _paper_figures(summary: RetrievalScores, task: str, table: str, model: str) -> dict[str, Figure]:
    """Return column -> figure of a model in the paper; all are None if our means are over other languages."""
    return published_tables()[table].of(model if summary.has_all_languages(task) else "")


def _difference(comparison: Comparison, names: tuple[str, str, str]) -> dict[str, Any]:
    values = (comparison.difference, comparison.interval.low, comparison.interval.high)
    return dict(zip(names, values, strict=True))


def _short(interval: Interval | None, comparison: Comparison | None) -> str | None:
    """Return the names of the intervals of a row that depend on few concepts."""
    names = []
    if interval is not None and not interval.is_reliable:
        names.append("nDCG")
    if comparison is not None and not comparison.interval.is_reliable:
        names.append("difference")
    return ", ".join(names) or None


def _small(summary: RetrievalScores, task: str) -> str:
    """Return a remark on the languages with few queries, if there are any."""
    names = summary.small_languages(task)
    return f" Fewer than {SMALL_N} queries, whose mean says little: {', '.join(names)}." if names else ""
