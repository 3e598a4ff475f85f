"""The tables and figures of the retrieval experiments, ours beside the paper's.

The paper reports each model under its best pooling, chosen on the test queries; so do Figures 2 and 3 and Table 5 here,
and their notes say that such figures are optimistic. The table of poolings holds them all.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from turkic_idiom_tasks.experiments.grid_file import PRETRAINED
from turkic_idiom_tasks.experiments.retrieval_scores import (
    MEASURES,
    Record,
    RetrievalScores,
    TaskScores,
    kept_untuned,
    language_of,
    read_scores,
    tested,
)
from turkic_idiom_tasks.experiments.tables import Cell, Table, short_names
from turkic_idiom_tasks.finetuning.regimes import CROSS_LINGUAL, MONOLINGUAL, TR_ONLY
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.metrics.comparison import Comparison, holm
from turkic_idiom_tasks.metrics.statistics import SMALL_N
from turkic_idiom_tasks.published import PublishedTable, paper, published_tables

if TYPE_CHECKING:
    from turkic_idiom_tasks.charts import Chart

CROSS_LINGUAL_REGIMES = (PRETRAINED, TR_ONLY, CROSS_LINGUAL)
MONOLINGUAL_REGIMES = (PRETRAINED, MONOLINGUAL)
# There is no cross-lingual training for Turkish, which T2 has.
REGIMES_OF = {
    "T1": (PRETRAINED, TR_ONLY, MONOLINGUAL, CROSS_LINGUAL),
    "T2": (PRETRAINED, TR_ONLY, MONOLINGUAL),
    "T3": (PRETRAINED, TR_ONLY, MONOLINGUAL, CROSS_LINGUAL),
}
# Task -> name of its files, what it asks for, and the regimes that the paper compares.
FIGURES = {
    "T1": ("figure2_t1", "Turkish idiom to idiom (Figure 2)", CROSS_LINGUAL_REGIMES),
    "T2": ("table5_t2", "idiom to meaning in one language (Table 5)", MONOLINGUAL_REGIMES),
    "T3": ("figure3_t3", "Turkish idiom to meaning (Figure 3)", CROSS_LINGUAL_REGIMES),
}

_NOTE = (
    "Poolings are the best on the test queries, as in the paper: such figures are optimistic. Languages weigh alike; "
    "a mean needs all of them. low, high: 95% bootstrap interval, whole concepts resampled. floor: a random ranking. "
    "untuned kept: languages whose training ended (with some seeds: 1/3) with the untuned weights, as none did better "
    "on the development queries."
)


def retrieval_tables(records: Sequence[Record], languages: Collection[str] = tuple(LANGUAGES)) -> list[Table]:
    """Every table of the records of a retrieval grid.

    Args:
        records: of finished cells, of one data set.
        languages: codes of the languages that means are over, as far as the data has them.

    Raises:
        InputError: the records are of different data.
    """
    scores = read_scores(records, languages)
    return [
        _regimes_table(scores, "T1"),
        _monolingual_table(scores),
        _regimes_table(scores, "T3"),
        _significance_table(scores),
        _poolings_table(scores),
        _cells_table(records),
    ]


def retrieval_charts(records: Sequence[Record], languages: Collection[str] = tuple(LANGUAGES)) -> dict[str, Chart]:
    """Name -> chart: Figures 2 and 3 of the paper, and its Table 5 as a figure; without those that nothing is known of.

    Args:
        records: of finished cells, of one data set.
        languages: codes of the languages that means are over, as far as the data has them.

    Raises:
        InputError: the records are of different data, or the packages for figures are missing.
    """
    scores = read_scores(records, languages)
    charts = {FIGURES[task][0]: _bars(scores, task) for task in FIGURES}
    return {name: chart for name, chart in charts.items() if chart}


def _regimes_table(scores: RetrievalScores, task: str) -> Table:
    """The paper's Figure 2 or 3: a row per model and regime."""
    name, _, regimes = FIGURES[task]
    published = published_tables()[f"retrieval_{task.lower()}"]
    regimes = tuple(regime for regime in regimes if regime in scores.regimes)
    rows: list[tuple[Cell, ...]] = []
    for model in scores.models if task in scores.subsets else ():
        untuned = scores.best(model, PRETRAINED, task=task)
        stated = _stated(published, model, scores, task)
        for regime in regimes:
            found = scores.best(model, regime, task=task)
            difference = _difference(None if regime == PRETRAINED else untuned, found)
            cells = (*_scored(found), *difference, *_extent(found))
            rows.append((model, regime, *cells, stated[regime]))
    header = ("model", "regime", "pooling", "nDCG", "low", "high", "floor", "corrected")
    differences = ("difference to pretrained", "difference low", "difference high")
    note = f"{_NOTE}{_small(scores, task)} Paper: {paper()}, {published.source}."
    rest = ("queries", "seeds", "untuned kept", "paper nDCG")
    return Table(name, _title(scores, task), (*header, *differences, *rest), tuple(rows), note)


def _stated(published: PublishedTable, model: str, scores: RetrievalScores, task: str) -> dict[str, Cell]:
    """The paper's figures of a model by column; all None beside means over other languages."""
    return dict(published.of(model if scores.has_all_languages(task) else ""))


def _monolingual_table(scores: RetrievalScores) -> Table:
    """The paper's Table 5."""
    published = published_tables()["retrieval_t2"]
    rows: list[tuple[Cell, ...]] = []
    for model in scores.models if "T2" in scores.subsets else ():
        before, after = (scores.best(model, regime, task="T2") for regime in MONOLINGUAL_REGIMES)
        known = before or after
        rows.append(
            (
                model,
                *_best_pooling(before),
                *_best_pooling(after),
                *_difference(before, after),
                *((known.mean("ndcg_floor"), known.n_queries) if known else (None, None)),
                *_extent(after)[1:],
                *_stated(published, model, scores, "T2").values(),
            )
        )
    ours = ("pretrained", "pretrained pooling", "monolingual", "monolingual pooling", "difference", "low", "high")
    header = ("model", *ours, "floor", "queries", "seeds", "untuned kept", *(f"paper {c}" for c in published.columns))
    note = f"Turkish is trained as tr-only. {_NOTE}{_small(scores, 'T2')} Paper: {paper()}, {published.source}."
    return Table("table5_t2", _title(scores, "T2"), header, tuple(rows), note)


def _significance_table(scores: RetrievalScores) -> Table:
    """The paper's Table 6."""
    published = published_tables()["retrieval_t2_p"]
    pairs = [(model, pooling) for model in scores.models if "T2" in scores.subsets for pooling in scores.poolings]
    found = [
        [scores.of(model, regime, task="T2", pooling=pooling) for regime in MONOLINGUAL_REGIMES]
        for model, pooling in pairs
    ]
    by_query = [after.query_by_query(before) if before and after else None for before, after in found]
    by_concept = [after.against(before) if before and after else None for before, after in found]
    adjusted = zip(
        holm([one.p_wilcox if one else None for one in by_query]),
        holm([one.p_pratt if one else None for one in by_query]),
        strict=True,
    )
    rows = tuple(
        (
            *(model, pooling),
            *_tests(queries, *holms),
            *((concepts.n_clusters, concepts.p) if concepts else (None, None)),
            _untuned(after),
            _stated(published, model, scores, "T2").get(pooling),
        )
        for (model, pooling), queries, concepts, holms, (_, after) in zip(
            pairs, by_query, by_concept, adjusted, found, strict=True
        )
    )
    p_values = ("p wilcox", "Holm wilcox", "p pratt", "Holm pratt", "p by concept", "paper p")
    counts = ("effect", "wins", "ties", "losses", "concepts")
    header = ("model", "pooling", "queries", *p_values[:4], *counts, "p by concept", "untuned kept", "paper p")
    title = f"T2, monolingual training against none (Table 6): {', '.join(scores.languages('T2'))}"
    note = (
        "Wilcoxon signed-rank tests over the queries of all languages: ties dropped (wilcox), as in the paper, or "
        "ranked (pratt); Holm within the table. effect: rank-biserial correlation, positive where training helps; "
        "wins: queries that it helps. Queries of one concept in several languages are not independent, so these p are "
        "too small; `p by concept` is a sign-flip test that keeps concepts whole, languages weighing alike. No test on "
        f"fewer than {SMALL_N}. Paper: {published.source}."
    )
    return Table("table6_t2_p", title, header, rows, note, p_values)


def _poolings_table(scores: RetrievalScores) -> Table:
    rows = []
    for model in scores.models:
        for task in scores.subsets:
            for regime in (regime for regime in REGIMES_OF[task] if regime in scores.regimes):
                for pooling in scores.poolings:
                    found = scores.of(model, regime, task=task, pooling=pooling)
                    means = [found.mean(name) if found else None for name in MEASURES]
                    rows.append((model, task, regime, pooling, *means, *_extent(found)))
    header = ("model", "task", "regime", "pooling", *MEASURES, "queries", "seeds", "untuned kept")
    return Table("poolings", "Every pooling, averaged over languages", header, tuple(rows))


def _cells_table(records: Sequence[Record]) -> Table:
    keys = ("model", "regime", "language", "seed")
    counts = ("n_queries", "n_documents")
    rows = []
    for record in records:
        for pooling, result in record["poolings"].items():
            for task, subset in tested(result):
                scores = result["scores"][task][subset]
                found = (*(scores[name] for name in MEASURES), *(int(scores[name]) for name in counts))
                kept = None if result["tuning"] is None else "yes" if kept_untuned(result) else "no"
                rows.append((*(record[key] for key in keys), pooling, task, subset, *found, kept))
    header = (*keys, "pooling", "task", "subset", *MEASURES, *counts, "untuned kept")
    return Table("retrieval_cells", "Every retrieval cell", header, tuple(rows))


def _bars(scores: RetrievalScores, task: str) -> Chart | None:
    """A group of bars per model, the best one first, and a bar per regime."""
    from turkic_idiom_tasks.charts import Bar, grouped_bars

    _, _, regimes = FIGURES[task]
    regimes = tuple(regime for regime in regimes if regime in scores.regimes)
    best = {model: {regime: scores.best(model, regime, task=task) for regime in regimes} for model in scores.models}
    highest = {model: max((one.mean() for one in of.values() if one), default=None) for model, of in best.items()}
    models = sorted((m for m in best if highest[m] is not None), key=lambda model: -(highest[model] or 0.0))
    if not models:
        return None
    names = short_names(scores.models)
    bars = []
    for model in models:
        for regime, found in best[model].items():
            bounds = found.interval() if found else None
            low, high = (bounds.low, bounds.high) if bounds else (None, None)
            bars.append(Bar(names[model], regime, found.mean() if found else None, low=low, high=high))
    floor = next(one.mean("ndcg_floor") for one in best[models[0]].values() if one)
    description = (
        f"Bars of nDCG with 95% intervals for {len(models)} models, best first: {', '.join(regimes)}. Each bar is "
        "under its best pooling on the test queries, an optimistic choice. "
        f"A random ranking scores {floor:.3f}."
    )
    return grouped_bars(bars, title=_title(scores, task), description=description, axis="nDCG", floor=floor)


def _title(scores: RetrievalScores, task: str) -> str:
    return f"{task}, {FIGURES[task][1]}: nDCG over {', '.join(scores.languages(task))}"


def _scored(found: TaskScores | None) -> tuple[Cell, ...]:
    """Pooling, nDCG, its interval, floor, corrected."""
    if found is None:
        return (None,) * 6
    bounds = found.interval()
    measures = (found.mean("ndcg_floor"), found.mean("ndcg_corrected"))
    return (found.pooling, found.mean(), bounds.low, bounds.high, *measures)


def _best_pooling(found: TaskScores | None) -> tuple[Cell, Cell]:
    return (found.mean(), found.pooling) if found else (None, None)


def _difference(before: TaskScores | None, after: TaskScores | None) -> tuple[Cell, ...]:
    """Difference and its interval."""
    if before is None or after is None:
        return (None, None, None)
    result = after.against(before)
    return (result.difference, result.interval.low, result.interval.high)


def _extent(found: TaskScores | None) -> tuple[Cell, ...]:
    """Queries, seeds, untuned kept."""
    return (found.n_queries, found.n_seeds, _untuned(found)) if found else (None, None, None)


def _untuned(found: TaskScores | None) -> str | None:
    """The languages whose training ended with the untuned weights."""
    if found is None or found.regime == PRETRAINED:
        return None
    kept = []
    for subset, scores in found.subsets.items():
        if scores.n_untuned:
            of_seeds = f" {scores.n_untuned}/{scores.n_seeds}" if scores.n_untuned < scores.n_seeds else ""
            kept.append(language_of(found.task, subset) + of_seeds)
    return ", ".join(kept) or "none"


def _small(scores: RetrievalScores, task: str) -> str:
    """A remark on the languages with few queries, if there are any."""
    names = [language_of(task, subset) for subset in scores.subsets.get(task, ()) if scores.is_small(task, subset)]
    return f" Fewer than {SMALL_N} queries, whose mean says little: {', '.join(names)}." if names else ""


def _tests(result: Comparison | None, holm_wilcox: float | None, holm_pratt: float | None) -> tuple[Cell, ...]:
    """Queries, p-values, effect, wins, ties, losses."""
    if result is None:
        return (None,) * 9
    p_values = (result.p_wilcox, holm_wilcox, result.p_pratt, holm_pratt)
    return (result.n, *p_values, result.effect, result.wins, result.ties, result.losses)
