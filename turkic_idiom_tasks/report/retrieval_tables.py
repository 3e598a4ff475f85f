"""Tables and figures of a retrieval grid, with the paper's figures for comparison: means over seeds and languages."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from turkic_idiom_tasks.dataset.retrieval import TASKS, target_language
from turkic_idiom_tasks.encoders.names import CROSS_LINGUAL, MONOLINGUAL, PAPER_ENCODERS, POOLINGS, PRETRAINED, TR_ONLY
from turkic_idiom_tasks.languages import PIVOT
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N, Stratum, resample
from turkic_idiom_tasks.metrics.comparison import Comparison, compare, holm
from turkic_idiom_tasks.report.charts import Chart, grouped_bars
from turkic_idiom_tasks.report.frame import MEASURES, N_SEEDS, UNTUNED_KEPT
from turkic_idiom_tasks.report.published import Figure, paper, published_tables
from turkic_idiom_tasks.report.tables import Table, make_frame, short_names

MONOLINGUAL_REGIMES = (PRETRAINED, MONOLINGUAL)
# Task -> name of its files, what it retrieves, and the regimes that the paper compares.
FIGURES = {
    "T1": ("figure2_t1", "Turkish idiom to idiom (Figure 2)", (PRETRAINED, TR_ONLY, CROSS_LINGUAL)),
    "T2": ("table5_t2", "idiom to meaning in one language (Table 5)", MONOLINGUAL_REGIMES),
    "T3": ("figure3_t3", "Turkish idiom to meaning (Figure 3)", (PRETRAINED, TR_ONLY, CROSS_LINGUAL)),
}
KEY = ["task", "model", "regime", "pooling"]
N_QUERIES, UNTUNED = "queries", "untuned kept"

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

Key = tuple[str, str, str, str]  # task, model, regime, pooling


class RetrievalScores:
    """Finished retrieval cells of a grid, with means over seeds and over the languages that are asked for."""

    def __init__(self, scores: pd.DataFrame, queries: pd.DataFrame, languages: Collection[str]) -> None:
        """Average the frames from `frame.score_frame` and `frame.query_frame`."""
        scores = scores[scores["task"].isin(list(TASKS))]
        self.models = _in_order(scores["model"].unique(), PAPER_ENCODERS)
        self.poolings = _in_order(scores["pooling"].unique(), POOLINGS)
        self.regimes = frozenset(scores["regime"])
        tested = scores[scores["regime"].isin([PRETRAINED, TR_ONLY])]
        pairs = set(zip(tested["task"], tested["subset"], strict=True))
        self.languages: dict[str, list[str]] = {task: [] for task in TASKS}  # task -> those of its subsets
        self.subsets: dict[str, list[str]] = {}  # task -> the subsets of the means; a task without any is left out
        for task, spec in TASKS.items():
            for name, (_, target) in spec.subsets.items():
                if (task, name) in pairs and target.code in languages:
                    self.subsets.setdefault(task, []).append(name)
                    self.languages[task].append(target.code)
        groups = _with_stand_in(scores).groupby([*KEY, "subset", "measure"])["value"]
        means = groups.mean().unstack("measure")
        means[N_SEEDS] = groups.size().unstack("measure")["ndcg"]
        if UNTUNED_KEPT in means:
            means[UNTUNED_KEPT] = groups.sum().unstack("measure")[UNTUNED_KEPT]  # the number of seeds
        self.sizes = means["n_queries"].groupby(level=["task", "subset"]).min()  # (task, subset) -> number of queries
        # Key -> means over languages, numbers of queries and seeds, and the languages whose training ended with the
        # untuned weights; only if no language is missing
        self.macro = _means_over_languages(means, self.subsets)
        averaged = _with_stand_in(queries).groupby([*KEY, "subset", "query", "concept"], sort=True)["ndcg"].mean()
        # (*Key, subset) -> query, concept and mean over seeds of its nDCG
        self.queries = averaged.reset_index(["query", "concept"])

    def best(self, task: str, model: str, regime: str) -> Key | None:
        """Return the key of the pooling with the highest mean nDCG, the first among equal ones."""
        # The paper chooses each model's pooling on the test queries. Figures 2 and 3 and Table 5 do the same here, and
        # their notes say that it is optimistic; the table of poolings has all.
        keys = [(task, model, regime, pooling) for pooling in self.poolings]
        known_keys = [key for key in keys if key in self.macro.index]
        return max(known_keys, key=lambda key: float(self.macro.at[key, "ndcg"]), default=None)

    def figures(self, key: Key | None) -> dict[str, Any]:
        """Return all figures of `macro` by column; none if a language is missing."""
        return dict(self.macro.loc[key]) if key is not None and key in self.macro.index else {}

    def against(self, key: Key, other: Key) -> Comparison:
        """Return a comparison with `key` as the second system, on the same queries; concepts stay whole."""
        before, after = self.strata(other), self.strata(key)
        return compare({subset: (before[subset], after[subset]) for subset in after})

    def strata(self, key: Key) -> dict[str, Stratum]:
        """Return subset -> its queries, in the order of their ids; each adds its nDCG and 1 to the mean."""
        strata = {}
        for subset in self.subsets[key[0]]:
            rows = self.queries.loc[[(*key, subset)]]
            ndcg = rows["ndcg"].to_numpy(dtype=np.float64)
            strata[subset] = Stratum(rows["concept"].tolist(), np.stack([ndcg, np.ones(len(ndcg))], axis=1))
        return strata


def _with_stand_in(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with the tr-only scores of Turkish repeated as monolingual scores."""
    # Training on Turkish pairs is monolingual training for Turkish
    rows = frame[frame["regime"] == TR_ONLY]
    pairs = zip(rows["task"], rows["subset"], strict=True)
    is_turkish = [target_language(task, subset).code == PIVOT for task, subset in pairs]
    return pd.concat([frame, rows.loc[is_turkish].assign(regime=MONOLINGUAL)], ignore_index=True)


def _means_over_languages(means: pd.DataFrame, subsets: Mapping[str, list[str]]) -> pd.DataFrame:
    rows: dict[Any, dict[str, Any]] = {}
    for key, key_means in means.groupby(level=KEY):
        task, regime = key[0], key[2]
        wanted = subsets.get(task, [])
        by_subset = key_means.droplevel(KEY)
        # A mean over some of the languages could not be compared with the means of other models
        if not wanted or not set(wanted) <= set(by_subset.index):
            continue
        by_subset = by_subset.loc[wanted]
        row: dict[str, Any] = by_subset[list(MEASURES)].mean().to_dict()
        row[N_QUERIES] = int(by_subset["n_queries"].sum())
        # Languages differ while the grid is not finished
        row[N_SEEDS] = int(by_subset[N_SEEDS].min())
        # The languages whose training ended with the untuned weights, with the share of seeds if not with all
        kept = []
        for subset, of_subset in by_subset.iterrows():
            # The measure is missing where no cell of the grid was trained, which pandas has as NaN or not at all
            n_seeds, n_untuned = int(of_subset[N_SEEDS]), int(np.nan_to_num(of_subset.get(UNTUNED_KEPT, 0.0)))
            if n_untuned:
                share = f" {n_untuned}/{n_seeds}" if n_untuned < n_seeds else ""
                kept.append(target_language(task, str(subset)).code + share)
        row[UNTUNED] = None if regime == PRETRAINED else ", ".join(kept) or "none"
        rows[key] = row
    # from_tuples cannot tell the number of levels of an empty list
    index = pd.MultiIndex.from_tuples(rows, names=KEY) if rows else pd.MultiIndex.from_arrays([[]] * 4, names=KEY)
    return pd.DataFrame(list(rows.values()), index=index)


def _in_order(names: Iterable[str], order: Iterable[str]) -> list[str]:
    """Return names sorted by an order, and after them by name those that are not in the order."""
    places = list(order)
    return sorted(names, key=lambda name: (places.index(name) if name in places else len(places), name))


def retrieval_tables(summary: RetrievalScores) -> list[Table]:
    """Return every table of a retrieval grid."""
    rows: list[dict[str, Any]] = []
    for model, task in product(summary.models, summary.subsets):
        # T2 has Turkish, for which there is no cross-lingual training
        possible = (PRETRAINED, TR_ONLY, MONOLINGUAL, *(() if task == "T2" else (CROSS_LINGUAL,)))
        regimes = [regime for regime in possible if regime in summary.regimes]
        for regime, pooling in product(regimes, summary.poolings):
            key = (task, model, regime, pooling)
            rows.append(dict(zip(KEY, key, strict=True)) | summary.figures(key))
    columns = ["model", "task", "regime", "pooling", *MEASURES, *_EXTENT]
    poolings = make_frame(rows, columns, counts=_COUNTS)
    return [
        _regimes_table(summary, "T1"),
        _monolingual_table(summary),
        _regimes_table(summary, "T3"),
        _significance_table(summary),
        Table("poolings", "Every pooling, averaged over languages", poolings, is_long=True),
    ]


def retrieval_charts(summary: RetrievalScores) -> dict[str, Chart]:
    """Return name -> chart: Figures 2 and 3 of the paper, and its Table 5 as a chart, if there are scores for them."""
    charts: dict[str, Chart] = {}
    for task, (chart_name, _, compared) in FIGURES.items():
        regimes = [regime for regime in compared if regime in summary.regimes]
        keys = {}
        highest: dict[str, float] = {}
        for model in summary.models:
            for regime in regimes:
                key = keys[model, regime] = summary.best(task, model, regime)
                if key is not None:
                    highest[model] = max(float(summary.figures(key)["ndcg"]), highest.get(model, 0.0))
        if not highest:
            continue
        models = sorted(highest, key=lambda model: -highest[model])  # used before the next task
        names = short_names(summary.models)
        bars: dict[tuple[str, str], Sequence[float | None]] = {}
        for model, regime in product(models, regimes):
            # An empty place where there is no score, so that every group has its regimes in one order
            bars[names[model], regime] = (None, None, None)
            if key := keys[model, regime]:
                interval = resample(summary.strata(key)).interval()
                bars[names[model], regime] = (float(summary.figures(key)["ndcg"]), interval.low, interval.high)
        # The same for all models, which rank the same pools
        floor = float(summary.macro.xs(task, level="task")["ndcg_floor"].iloc[0])
        description = (
            f"Bars of nDCG with 95% intervals for {len(models)} models, best first: {', '.join(regimes)}. Each bar has "
            "the best pooling on the test queries, an optimistic choice. "
            f"A random ranking scores {floor:.3f}."
        )
        charts[chart_name] = grouped_bars(bars, title=_title(summary, task), description=description, floor=floor)
    return charts


def _regimes_table(summary: RetrievalScores, task: str) -> Table:
    """Return the paper's Figure 2 or 3 as a table, with a row per model and regime."""
    name, _, regimes = FIGURES[task]
    table = f"retrieval_{task.lower()}"  # of the published figures
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
                interval = resample(summary.strata(key)).interval()
                row |= summary.figures(key) | {"pooling": key[3], "low": interval.low, "high": interval.high}
                unreliable = [] if interval.is_reliable else ["nDCG"]
                if regime != PRETRAINED and untuned is not None:
                    change = summary.against(key, untuned)
                    row |= {"difference to pretrained": change.difference}
                    row |= {"difference low": change.interval.low, "difference high": change.interval.high}
                    unreliable += [] if change.interval.is_reliable else ["difference"]
                row[_SHORT] = ", ".join(unreliable) or None
            rows.append(row)
    columns = ["model", "regime", "pooling", "ndcg", "low", "high", "ndcg_floor", "ndcg_corrected"]
    columns += ["difference to pretrained", "difference low", "difference high", _SHORT, *_EXTENT, "paper nDCG"]
    frame = make_frame(rows, columns, counts=_COUNTS)
    frame = frame.rename(columns={"ndcg": "nDCG", "ndcg_floor": "floor", "ndcg_corrected": "corrected"})
    return Table(name, _title(summary, task), frame, _note(summary, task, table))


def _monolingual_table(summary: RetrievalScores) -> Table:
    """Return the paper's Table 5."""
    rows: list[dict[str, Any]] = []
    for model in summary.models if "T2" in summary.subsets else ():
        paper_figures = _paper_figures(summary, "T2", "retrieval_t2", model)
        row: dict[str, Any] = {"model": model} | {f"paper {name}": figure for name, figure in paper_figures.items()}
        before, after = (summary.best("T2", model, regime) for regime in MONOLINGUAL_REGIMES)
        for regime, key in zip(MONOLINGUAL_REGIMES, (before, after), strict=True):
            if key is not None:
                row |= {regime: summary.figures(key)["ndcg"], f"{regime} pooling": key[3]}
        # Sizes and floor are the same before and after training, so either cell tells them
        known, tuned = summary.figures(before or after), summary.figures(after)
        row |= {"floor": known.get("ndcg_floor"), N_QUERIES: known.get(N_QUERIES)}
        row |= {N_SEEDS: tuned.get(N_SEEDS), UNTUNED: tuned.get(UNTUNED)}
        if before is not None and after is not None:
            change = summary.against(after, before)
            row |= {"difference": change.difference, "low": change.interval.low, "high": change.interval.high}
            row[_SHORT] = None if change.interval.is_reliable else "difference"
        rows.append(row)
    columns = ["model", "pretrained", "pretrained pooling", "monolingual", "monolingual pooling"]
    columns += ["difference", "low", "high", _SHORT, "floor", *_EXTENT]
    columns += [f"paper {name}" for name in published_tables()["retrieval_t2"].columns]
    note = f"Turkish is trained as tr-only. {_note(summary, 'T2', 'retrieval_t2')}"
    return Table("table5_t2", _title(summary, "T2"), make_frame(rows, columns, counts=_COUNTS), note)


def _significance_table(summary: RetrievalScores) -> Table:
    """Return the paper's Table 6: monolingual training against none, for each model and pooling."""
    rows: list[dict[str, Any]] = []
    for model in summary.models if "T2" in summary.subsets else ():
        paper_figures = _paper_figures(summary, "T2", "retrieval_t2_p", model)
        for pooling in summary.poolings:
            before, after = (("T2", model, regime, pooling) for regime in MONOLINGUAL_REGIMES)
            tuned = summary.figures(after)
            row = {"model": model, "pooling": pooling, "paper p": paper_figures.get(pooling)}
            row[UNTUNED] = tuned.get(UNTUNED)
            if tuned and summary.figures(before):
                # As in the paper: the queries of all languages are one sample, each by itself
                names: list[str] = []
                for subset in summary.subsets["T2"]:
                    names += [f"{subset}/{query}" for query in summary.queries.loc[[(*after, subset)]]["query"]]
                untuned_sums, tuned_sums = (
                    np.concatenate([stratum.sums for stratum in summary.strata(key).values()])
                    for key in (before, after)
                )
                tests = compare({"all": (Stratum(names, untuned_sums), Stratum(names, tuned_sums))})
                by_concept = summary.against(after, before)
                row |= {"queries": tests.n, "p wilcox": tests.p_wilcox, "p pratt": tests.p_pratt}
                row |= {"effect": tests.effect, "wins": tests.wins, "ties": tests.ties, "losses": tests.losses}
                row |= {"concepts": by_concept.n_concepts, "p by concept": by_concept.p}
            rows.append(row)
    columns = ["model", "pooling", "queries", "p wilcox", "p pratt", "effect", "wins", "ties", "losses"]
    columns += ["concepts", "p by concept", UNTUNED, "paper p"]
    frame = make_frame(rows, columns, counts=("queries", "wins", "ties", "losses", "concepts"))
    # Holm's correction is within the table, so it follows when all rows are there
    for name, column in (("Holm wilcox", "p wilcox"), ("Holm pratt", "p pratt")):
        adjusted = holm([None if pd.isna(p) else float(p) for p in frame[column]])
        frame.insert(frame.columns.get_loc(column) + 1, name, adjusted)
    title = f"T2, monolingual training against none (Table 6): {', '.join(summary.languages['T2'])}"
    note = (
        "Wilcoxon signed-rank tests over the queries of all languages: ties dropped (wilcox), as in the paper, or "
        "ranked (pratt); Holm's correction within the table. effect: rank-biserial correlation, positive if training "
        "helps; wins: queries that it helps. Queries of one concept in several languages are not independent, so these "
        "p are too small; `p by concept` is a sign-flip test that keeps concepts whole and gives all languages the "
        f"same weight. No test with fewer than {SMALL_N}. Paper: {published_tables()['retrieval_t2_p'].source}."
    )
    return Table("table6_t2_p", title, frame, note, p_values=_P_VALUES)


def _title(summary: RetrievalScores, task: str) -> str:
    return f"{task}, {FIGURES[task][1]}: nDCG over {', '.join(summary.languages[task])}"


def _note(summary: RetrievalScores, task: str, table: str) -> str:
    """Return how to read a table, with the languages of few queries."""
    subsets = summary.subsets.get(task, ())
    small = [target_language(task, subset).code for subset in subsets if summary.sizes[task, subset] < SMALL_N]
    remark = f" Fewer than {SMALL_N} queries, whose mean says little: {', '.join(small)}." if small else ""
    return f"{_NOTE}{remark} Paper: {paper()}, {published_tables()[table].source}."


def _paper_figures(summary: RetrievalScores, task: str, table: str, model: str) -> dict[str, Figure]:
    """Return column -> figure of a model in the paper; all are None if our means are over other languages."""
    # The paper's means are over its five languages; beside a mean over others they would mislead
    languages = {*published_tables()["span_zero_shot"].columns, *(() if TASKS[task].cross_lingual else (PIVOT,))}
    return published_tables()[table].of(model if set(summary.languages[task]) == languages else "")
