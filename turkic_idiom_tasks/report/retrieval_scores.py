"""Scores of a retrieval grid by model, regime and pooling: means over seeds and over languages.

A mean over languages needs all languages of the grid: those that the grid trains on and that pretrained or tr-only
encoders were tested on. Training on Turkish pairs is monolingual training for Turkish, so the tr-only scores are also
the monolingual scores of Turkish. The cross-lingual score of a language is the score of the encoder that was trained
for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from turkic_idiom_tasks.dataset.retrieval import SUBSETS
from turkic_idiom_tasks.encoders.names import MONOLINGUAL, PAPER_ENCODERS, POOLINGS, PRETRAINED, TR_ONLY
from turkic_idiom_tasks.languages import PIVOT
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N, Interval, Stratum, resample
from turkic_idiom_tasks.metrics.comparison import Comparison, Paired, compare
from turkic_idiom_tasks.report.frame import MEASURES, UNTUNED_KEPT, language_of

KEY = ["task", "model", "regime", "pooling"]
N_SEEDS, N_UNTUNED, N_QUERIES = "seeds", "untuned", "queries"

Key = tuple[str, str, str, str]  # task, model, regime, pooling


@dataclass(frozen=True, slots=True, eq=False)
class RetrievalScores:
    """Finished retrieval cells of a grid; see `summarise`.

    Attributes:
        models: the paper's models in its order, then others.
        poolings: poolings of the grid, in the project's order.
        regimes: regimes of the grid.
        subsets: task -> the subsets of the means; a task without subsets is left out.
        means: (task, model, regime, pooling, subset) -> mean over seeds of each measure, number of seeds, and number of
            seeds that ended with the untuned weights.
        macro: (task, model, regime, pooling) -> mean over languages of each measure, number of queries and seeds, and
            the languages whose training ended with the untuned weights; only if no language is missing.
        queries: (task, model, regime, pooling, subset) -> query, concept and mean over seeds of its nDCG.
    """

    models: tuple[str, ...]
    poolings: tuple[str, ...]
    regimes: frozenset[str]
    subsets: Mapping[str, tuple[str, ...]]
    means: pd.DataFrame
    macro: pd.DataFrame
    queries: pd.DataFrame

    def find(self, key: Key) -> Key | None:
        """Return the key if there are scores in all languages, otherwise None."""
        return key if key in self.macro.index else None

    def best(self, task: str, model: str, regime: str) -> Key | None:
        """Return the key of the pooling with the highest mean nDCG on the test queries, the first among equal ones."""
        known_keys = []
        for pooling in self.poolings:
            key = self.find((task, model, regime, pooling))
            if key is not None:
                known_keys.append(key)
        return max(known_keys, key=lambda key: float(self.macro.at[key, "ndcg"]), default=None)

    def value(self, key: Key | None, column: str) -> Any:
        """Return a figure of `macro`; None if the key is None."""
        return None if key is None else self.macro.at[key, column]

    def interval(self, key: Key) -> Interval:
        """Return the bootstrap interval of the mean nDCG, which resamples whole concepts."""
        strata = {}
        for subset in self.subsets[key[0]]:
            rows = self._rows(key, subset)
            strata[subset] = Stratum(rows["concept"].tolist(), _sums(rows["ndcg"]))
        return resample(strata).interval()

    def against(self, key: Key, other: Key) -> Comparison:
        """Return a comparison with `key` as the second system, on the same queries; concepts stay whole."""
        pairs = {}
        for subset in self.subsets[key[0]]:
            before, after = self._rows(other, subset), self._rows(key, subset)
            pairs[subset] = Paired(after["concept"].tolist(), _sums(before["ndcg"]), _sums(after["ndcg"]))
        return compare(pairs)

    def query_by_query(self, key: Key, other: Key) -> Comparison:
        """Return a comparison of single queries, with the queries of all languages as one sample, as in the paper."""
        names: list[str] = []
        sums_before, sums_after = [], []
        for subset in self.subsets[key[0]]:
            before, after = self._rows(other, subset), self._rows(key, subset)
            names += [f"{subset}/{query}" for query in after["query"]]
            sums_before.append(_sums(before["ndcg"]))
            sums_after.append(_sums(after["ndcg"]))
        return compare({"all": Paired(names, np.concatenate(sums_before), np.concatenate(sums_after))})

    def languages(self, task: str) -> list[str]:
        """Return the codes of the languages of the documents of a task."""
        return [language_of(task, subset) for subset in self.subsets.get(task, ())]

    def has_all_languages(self, task: str) -> bool:
        """Return whether means of a task are over the paper's languages, so that they can be compared with it."""
        return len(self.subsets.get(task, ())) == len(SUBSETS[task])

    def small_languages(self, task: str) -> list[str]:
        """Return the languages with too few queries for a reliable mean."""
        small = []
        for subset in self.subsets.get(task, ()):
            sizes = self.means.xs((task, subset), level=("task", "subset"))["n_queries"]
            if (sizes < SMALL_N).any():
                small.append(language_of(task, subset))
        return small

    def _rows(self, key: Key, subset: str) -> pd.DataFrame:
        """Return the queries of a subset, in the order of their ids."""
        return self.queries.loc[[(*key, subset)]]


def summarise(scores: pd.DataFrame, queries: pd.DataFrame, languages: Collection[str]) -> RetrievalScores:
    """Return the means of the scores of a retrieval grid.

    Args:
        scores: from `frame.score_frame`.
        queries: from `frame.query_frame`, of the same results.
        languages: codes of the languages of the means, as far as the data has them.
    """
    scores = scores[scores["task"].isin(SUBSETS)]
    subsets = _complete_subsets(scores, languages)
    means = _means_over_seeds(_with_stand_in(scores))
    averaged = _with_stand_in(queries).groupby([*KEY, "subset", "query", "concept"], sort=True)["ndcg"].mean()
    by_query = averaged.reset_index(["query", "concept"])
    return RetrievalScores(
        models=tuple(sorted(scores["model"].unique(), key=lambda name: _place(name, PAPER_ENCODERS))),
        poolings=tuple(sorted(scores["pooling"].unique(), key=lambda name: _place(name, POOLINGS))),
        regimes=frozenset(scores["regime"]),
        subsets=subsets,
        means=means,
        macro=_means_over_languages(means, subsets),
        queries=by_query,
    )


def _complete_subsets(scores: pd.DataFrame, languages: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return task -> subsets of these languages on which pretrained or tr-only encoders were tested."""
    tested = scores[scores["regime"].isin([PRETRAINED, TR_ONLY])]
    pairs = set(zip(tested["task"], tested["subset"], strict=True))
    complete = {}
    for task, names in SUBSETS.items():
        known = [name for name in names if (task, name) in pairs and language_of(task, name) in languages]
        if known:
            complete[task] = tuple(known)
    return complete


def _with_stand_in(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with the tr-only scores of Turkish repeated as monolingual scores."""
    pairs = frame[["task", "subset"]].drop_duplicates().itertuples(index=False)
    turkish = [(task, subset) for task, subset in pairs if language_of(task, subset) == PIVOT]
    is_turkish = pd.MultiIndex.from_frame(frame[["task", "subset"]]).isin(turkish)
    stand_in = frame[(frame["regime"] == TR_ONLY) & is_turkish].assign(regime=MONOLINGUAL)
    return pd.concat([frame, stand_in], ignore_index=True)


def _means_over_seeds(scores: pd.DataFrame) -> pd.DataFrame:
    """Return (task, model, regime, pooling, subset) -> measures, number of seeds, number that kept untuned weights."""
    groups = scores.groupby([*KEY, "subset", "measure"])["value"]
    means = groups.mean().unstack("measure")
    means[N_SEEDS] = groups.size().unstack("measure")["ndcg"]
    means[N_UNTUNED] = 0.0
    if UNTUNED_KEPT in means:
        means[N_UNTUNED] = groups.sum().unstack("measure")[UNTUNED_KEPT].fillna(0.0)
    return means


def _means_over_languages(means: pd.DataFrame, subsets: Mapping[str, tuple[str, ...]]) -> pd.DataFrame:
    """Return (task, model, regime, pooling) -> measures, queries, seeds, untuned; only keys with all subsets."""
    rows: dict[Any, dict[str, Any]] = {}
    for key, key_means in means.groupby(level=KEY):
        task, regime = key[0], key[2]
        wanted = subsets.get(task, ())
        by_subset = key_means.droplevel(KEY)
        if not wanted or not set(wanted) <= set(by_subset.index):
            continue
        by_subset = by_subset.loc[list(wanted)]
        row: dict[str, Any] = by_subset[list(MEASURES)].mean().to_dict()
        row[N_QUERIES] = int(by_subset["n_queries"].sum())
        row[N_SEEDS] = int(by_subset[N_SEEDS].min())
        row["untuned kept"] = None if regime == PRETRAINED else _untuned(task, by_subset)
        rows[key] = row
    index = pd.MultiIndex.from_tuples(rows, names=KEY) if rows else pd.MultiIndex.from_arrays([[]] * 4, names=KEY)
    return pd.DataFrame(list(rows.values()), index=index)


def _untuned(task: str, by_subset: pd.DataFrame) -> str:
    """Return the languages whose training ended with the untuned weights, with the share of seeds if not with all."""
    kept = []
    for subset, n_untuned, n_seeds in zip(by_subset.index, by_subset[N_UNTUNED], by_subset[N_SEEDS], strict=True):
        if n_untuned:
            share = f" {int(n_untuned)}/{int(n_seeds)}" if n_untuned < n_seeds else ""
            kept.append(language_of(task, subset) + share)
    return ", ".join(kept) or "none"


def _sums(ndcg: pd.Series) -> Any:
    """Return (queries, 2) float64: each query adds its nDCG to the numerator and 1 to the denominator."""
    values = ndcg.to_numpy(dtype=np.float64)
    return np.stack([values, np.ones(len(values))], axis=1)


def _place(name: str, order: Iterable[str]) -> tuple[int, str]:
    """Return a key that sorts names by an order, and after them by name those that are not in the order."""
    places = list(order)
    return (places.index(name) if name in places else len(places), name)
