"""Tables and figures of the retrieval experiments, with the paper's figures for comparison.

The paper reports each model under its best pooling, which is chosen on the test queries. Figures 2 and 3 and Table 5 do
the same here, and their notes say that such figures are optimistic. The table of poolings has all poolings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from turkic_idiom_tasks.encoders.names import CROSS_LINGUAL, MONOLINGUAL, PRETRAINED, TR_ONLY
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N, Interval
from turkic_idiom_tasks.metrics.comparison import Comparison, holm
from turkic_idiom_tasks.report.charts import Bar, Chart, grouped_bars
from turkic_idiom_tasks.report.frame import IDENTITY, MEASURES, UNTUNED_KEPT, widen
from turkic_idiom_tasks.report.published import PublishedTable, paper, published_tables
from turkic_idiom_tasks.report.retrieval_scores import Key, RetrievalScores
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
_EXTENT = ("queries", "seeds", "untuned kept")
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
    published = published_tables()[f"retrieval_{task.lower()}"]
    rows = []
    for model in summary.models if task in summary.subsets else ():
        untuned = summary.best(task, model, PRETRAINED)
        paper_figures = _paper_figures(published, model, summary, task)
        for regime in regimes:
            if regime not in summary.regimes:
                continue
            key = summary.best(task, model, regime)
            before = None if regime == PRETRAINED else untuned
            interval = None if key is None else summary.interval(key)
            change = None if key is None or before is None else summary.against(key, before)
            figures = [*_scored(summary, key, interval), *_difference(change), _unreliable(interval, change)]
            rows.append([model, regime, *figures, *_values(summary, key, _EXTENT), paper_figures[regime]])
    columns = ["model", "regime", "pooling", "nDCG", "low", "high", "floor", "corrected"]
    columns += ["difference to pretrained", "difference low", "difference high", _SHORT, *_EXTENT, "paper nDCG"]
    note = f"{_NOTE}{_small(summary, task)} Paper: {paper()}, {published.source}."
    return Table(name, _title(summary, task), make_frame(rows, columns, counts=_EXTENT[:2]), note)


def _monolingual_table(summary: RetrievalScores) -> Table:
    """Return the paper's Table 5."""
    published = published_tables()["retrieval_t2"]
    rows = []
    for model in summary.models if "T2" in summary.subsets else ():
        before = summary.best("T2", model, PRETRAINED)
        after = summary.best("T2", model, MONOLINGUAL)
        row: list[Any] = [model]
        for key in (before, after):
            row += [summary.value(key, "ndcg"), None if key is None else key[3]]
        change = None if before is None or after is None else summary.against(after, before)
        row += [*_difference(change), _unreliable(None, change)]
        row += _values(summary, before or after, ("ndcg_floor", "queries"))
        row += _values(summary, after, _EXTENT[1:])
        rows.append(row + list(_paper_figures(published, model, summary, "T2").values()))
    columns = ["model", "pretrained", "pretrained pooling", "monolingual", "monolingual pooling"]
    columns += ["difference", "low", "high", _SHORT, "floor", *_EXTENT]
    columns += [f"paper {name}" for name in published.columns]
    note = f"Turkish is trained as tr-only. {_NOTE}{_small(summary, 'T2')} Paper: {paper()}, {published.source}."
    return Table("table5_t2", _title(summary, "T2"), make_frame(rows, columns, counts=_EXTENT[:2]), note)


def _significance_table(summary: RetrievalScores) -> Table:
    """Return the paper's Table 6: monolingual training against none, for each model and pooling."""
    published = published_tables()["retrieval_t2_p"]
    rows = []
    for model in summary.models if "T2" in summary.subsets else ():
        for pooling in summary.poolings:
            before = summary.find(("T2", model, PRETRAINED, pooling))
            after = summary.find(("T2", model, MONOLINGUAL, pooling))
            tests = None
            concept_test: list[Any] = [None, None]
            if before is not None and after is not None:
                tests = summary.query_by_query(after, before)
                by_concept = summary.against(after, before)
                concept_test = [by_concept.n_concepts, by_concept.p]
            paper_p = _paper_figures(published, model, summary, "T2").get(pooling)
            rows.append([model, pooling, *_tests(tests), *concept_test, summary.value(after, _EXTENT[2]), paper_p])
    columns = ["model", "pooling", "queries", "p wilcox", "p pratt", "effect", "wins", "ties", "losses"]
    columns += ["concepts", "p by concept", "untuned kept", "paper p"]
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
        f"same weight. No test with fewer than {SMALL_N}. Paper: {published.source}."
    )
    return Table("table6_t2_p", title, frame, note, _P_VALUES)


def _poolings_table(summary: RetrievalScores) -> Table:
    rows = []
    for model in summary.models:
        for task in summary.subsets:
            for regime in REGIMES_OF[task]:
                if regime not in summary.regimes:
                    continue
                for pooling in summary.poolings:
                    key = summary.find((task, model, regime, pooling))
                    rows.append([model, task, regime, pooling, *_values(summary, key, (*MEASURES, *_EXTENT))])
    columns = ["model", "task", "regime", "pooling", *MEASURES, *_EXTENT]
    return Table("poolings", "Every pooling, averaged over languages", make_frame(rows, columns, counts=_EXTENT[:2]))


def _cells_table(scores: pd.DataFrame) -> Table:
    """Return a row for every subset of every cell."""
    keys = [*IDENTITY[:-1], "task", "subset"]
    counts = ["n_queries", "n_documents"]
    frame = widen(scores[scores["task"].isin(FIGURES)], keys)
    kept = frame[UNTUNED_KEPT].map({1.0: "yes", 0.0: "no"}) if UNTUNED_KEPT in frame else None
    frame = frame[[*keys, *MEASURES, *counts]].astype(dict.fromkeys(counts, "Int64"))
    frame["untuned kept"] = kept
    return Table("retrieval_cells", "Every retrieval cell", frame)


def _bars(summary: RetrievalScores, task: str) -> Chart | None:
    """Return a group of bars for each model, the best one first, with a bar per regime; None without any score."""
    regimes = [regime for regime in FIGURES[task][2] if regime in summary.regimes]
    highest: dict[str, float] = {}
    for model in summary.models:
        for regime in regimes:
            key = summary.best(task, model, regime)
            if key is not None:
                highest[model] = max(summary.value(key, "ndcg"), highest.get(model, 0.0))
    if not highest:
        return None
    models = sorted(highest, key=lambda model: -highest[model])
    names = short_names(summary.models)
    bars = []
    for model in models:
        for regime in regimes:
            key = summary.best(task, model, regime)
            interval = None if key is None else summary.interval(key)
            low, high = (None, None) if interval is None else (interval.low, interval.high)
            bars.append(Bar(names[model], regime, summary.value(key, "ndcg"), low=low, high=high))
    floor = float(summary.macro.xs(task, level="task")["ndcg_floor"].iloc[0])
    description = (
        f"Bars of nDCG with 95% intervals for {len(models)} models, best first: {', '.join(regimes)}. Each bar has "
        "the best pooling on the test queries, an optimistic choice. "
        f"A random ranking scores {floor:.3f}."
    )
    return grouped_bars(bars, title=_title(summary, task), description=description, axis="nDCG", floor=floor)


def _title(summary: RetrievalScores, task: str) -> str:
    return f"{task}, {FIGURES[task][1]}: nDCG over {', '.join(summary.languages(task))}"


def _paper_figures(published: PublishedTable, model: str, summary: RetrievalScores, task: str) -> dict[str, Any]:
    """Return column -> figure of a model in the paper; all are None if our means are over other languages."""
    return dict(published.of(model if summary.has_all_languages(task) else ""))


def _values(summary: RetrievalScores, key: Key | None, columns: Sequence[str]) -> list[Any]:
    return [summary.value(key, column) for column in columns]


def _scored(summary: RetrievalScores, key: Key | None, interval: Interval | None) -> list[Any]:
    """Return pooling, nDCG, its interval, floor and corrected nDCG."""
    if key is None or interval is None:
        return [None] * 6
    figures = _values(summary, key, ("ndcg_floor", "ndcg_corrected"))
    return [key[3], summary.value(key, "ndcg"), interval.low, interval.high, *figures]


def _difference(comparison: Comparison | None) -> list[Any]:
    """Return the difference and its interval."""
    if comparison is None:
        return [None] * 3
    return [comparison.difference, comparison.interval.low, comparison.interval.high]


def _unreliable(interval: Interval | None, comparison: Comparison | None) -> str | None:
    """Return the names of the intervals of a row that depend on few concepts."""
    names = []
    if interval is not None and not interval.is_reliable:
        names.append("nDCG")
    if comparison is not None and not comparison.interval.is_reliable:
        names.append("difference")
    return ", ".join(names) or None


def _tests(comparison: Comparison | None) -> list[Any]:
    """Return queries, p-values, effect, wins, ties, losses."""
    if comparison is None:
        return [None] * 7
    counts = [comparison.wins, comparison.ties, comparison.losses]
    return [comparison.n, comparison.p_wilcox, comparison.p_pratt, comparison.effect, *counts]


def _small(summary: RetrievalScores, task: str) -> str:
    """Return a remark on the languages with few queries, if there are any."""
    names = summary.small_languages(task)
    return f" Fewer than {SMALL_N} queries, whose mean says little: {', '.join(names)}." if names else ""
