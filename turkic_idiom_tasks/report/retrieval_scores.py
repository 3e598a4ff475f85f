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

from turkic_idiom_tasks.dataset.retrieval import SUBSETS, target_language
from turkic_idiom_tasks.encoders.names import MONOLINGUAL, PAPER_ENCODERS, POOLINGS, PRETRAINED, TR_ONLY
from turkic_idiom_tasks.languages import PIVOT
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N, Interval, Stratum, resample
from turkic_idiom_tasks.metrics.comparison import Comparison, Paired, compare
from turkic_idiom_tasks.report.frame import MEASURES, N_SEEDS, UNTUNED_KEPT

KEY = ["task", "model", "regime", "pooling"]
N_UNTUNED, N_QUERIES, UNTUNED = "untuned", "queries", "untuned kept"

Key = tuple[str, str, str, str]  # task, model, regime, pooling


@dataclass(frozen=True, slots=True, eq=False)
class RetrievalScores:
    """Finished retrieval cells of a grid; see `summarise`."""

    models: tuple[str, ...]  # the paper's models in its order, then others
    poolings: tuple[str, ...]  # in the project's order
    regimes: frozenset[str]
    subsets: Mapping[str, tuple[str, ...]]  # task -> the subsets of the means; a task without subsets is left out
    # (*Key, subset) -> means over seeds of each measure, number of seeds, and of those that ended with untuned weights
    means: pd.DataFrame
    # Key -> means over languages, numbers of queries and seeds, and the languages whose training ended with the
    # untuned weights; only if no language is missing
    macro: pd.DataFrame
    queries: pd.DataFrame  # (*Key, subset) -> query, concept and mean over seeds of its nDCG

    def find(self, key: Key) -> Key | None:
        """Return the key if there are scores in all languages, otherwise None."""
        return key if key in self.macro.index else None

    def best(self, task: str, model: str, regime: str) -> Key | None:
        """Return the key of the pooling with the highest mean nDCG on the test queries, the first among equal ones."""
        keys = [(task, model, regime, pooling) for pooling in self.poolings]
        known_keys = [key for key in keys if key in self.macro.index]
        return max(known_keys, key=lambda key: float(self.macro.at[key, "ndcg"]), default=None)

    def figures(self, key: Key | None) -> dict[str, Any]:
        """Return all figures of `macro` by column; none if the key is None."""
        return {} if key is None else dict(self.macro.loc[key])

    def interval(self, key: Key) -> Interval:
        """Return the bootstrap interval of the mean nDCG, which resamples whole concepts."""
        return resample(self._strata(key)).interval()

    def against(self, key: Key, other: Key) -> Comparison:
        """Return a comparison with `key` as the second system, on the same queries; concepts stay whole."""
        before, after = self._strata(other), self._strata(key)
        pairs = {}
        for subset, stratum in after.items():
            pairs[subset] = Paired(stratum.concepts, before[subset].sums, stratum.sums)
        return compare(pairs)

    def query_by_query(self, key: Key, other: Key) -> Comparison:
        """Return a comparison of single queries, with the queries of all languages as one sample, as in the paper."""
        names: list[str] = []
        for subset in self.subsets[key[0]]:
            names += [f"{subset}/{query}" for query in self.queries.loc[[(*key, subset)]]["query"]]
        before, after = (
            np.concatenate([stratum.sums for stratum in self._strata(system).values()]) for system in (other, key)
        )
        return compare({"all": Paired(names, before, after)})

    def languages(self, task: str) -> list[str]:
        """Return the codes of the languages of the documents of a task."""
        return [target_language(task, subset).code for subset in self.subsets.get(task, ())]

    def has_all_languages(self, task: str) -> bool:
        """Return whether means of a task are over the paper's languages, so that they can be compared with it."""
        return len(self.subsets.get(task, ())) == len(SUBSETS[task])

    def small_languages(self, task: str) -> list[str]:
        """Return the languages with too few queries for a reliable mean."""
        small = []
        for subset in self.subsets.get(task, ()):
            sizes = self.means.xs((task, subset), level=("task", "subset"))["n_queries"]
            if (sizes < SMALL_N).any():
                small.append(target_language(task, subset).code)
        return small

    def _strata(self, key: Key) -> dict[str, Stratum]:
        """Return subset -> its queries, in the order of their ids; each adds its nDCG and 1 to the mean."""
        strata = {}
        for subset in self.subsets[key[0]]:
            rows = self.queries.loc[[(*key, subset)]]
            ndcg = rows["ndcg"].to_numpy(dtype=np.float64)
            strata[subset] = Stratum(rows["concept"].tolist(), np.stack([ndcg, np.ones(len(ndcg))], axis=1))
        return strata


def summarise(scores: pd.DataFrame, queries: pd.DataFrame, languages: Collection[str]) -> RetrievalScores:
    """Return the means of the scores of a retrieval grid.

    Args:
        scores: from `frame.score_frame`.
        queries: from `frame.query_frame`, of the same results.
        languages: codes of the languages of the means, as far as the data has them.
    """
    scores = scores[scores["task"].isin(SUBSETS)]
    tested = scores[scores["regime"].isin([PRETRAINED, TR_ONLY])]
    pairs = set(zip(tested["task"], tested["subset"], strict=True))
    subsets = {}
    for task, names in SUBSETS.items():
        known = [name for name in names if (task, name) in pairs and target_language(task, name).code in languages]
        if known:
            subsets[task] = tuple(known)
    means = _means_over_seeds(_with_stand_in(scores))
    averaged = _with_stand_in(queries).groupby([*KEY, "subset", "query", "concept"], sort=True)["ndcg"].mean()
    return RetrievalScores(
        models=tuple(sorted(scores["model"].unique(), key=lambda name: _place(name, PAPER_ENCODERS))),
        poolings=tuple(sorted(scores["pooling"].unique(), key=lambda name: _place(name, POOLINGS))),
        regimes=frozenset(scores["regime"]),
        subsets=subsets,
        means=means,
        macro=_means_over_languages(means, subsets),
        queries=averaged.reset_index(["query", "concept"]),
    )


def _with_stand_in(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with the tr-only scores of Turkish repeated as monolingual scores."""
    pairs = frame[["task", "subset"]].drop_duplicates().itertuples(index=False)
    turkish = [(task, subset) for task, subset in pairs if target_language(task, subset).code == PIVOT]
    is_turkish = pd.MultiIndex.from_frame(frame[["task", "subset"]]).isin(turkish)
    stand_in = frame[(frame["regime"] == TR_ONLY) & is_turkish].assign(regime=MONOLINGUAL)
    return pd.concat([frame, stand_in], ignore_index=True)


def _means_over_seeds(scores: pd.DataFrame) -> pd.DataFrame:
    groups = scores.groupby([*KEY, "subset", "measure"])["value"]
    means = groups.mean().unstack("measure")
    means[N_SEEDS] = groups.size().unstack("measure")["ndcg"]
    means[N_UNTUNED] = 0.0
    if UNTUNED_KEPT in means:
        means[N_UNTUNED] = groups.sum().unstack("measure")[UNTUNED_KEPT].fillna(0.0)
    return means


def _means_over_languages(means: pd.DataFrame, subsets: Mapping[str, tuple[str, ...]]) -> pd.DataFrame:
    rows: dict[Any, dict[str, Any]] = {}
    for key, key_means in means.groupby(level=KEY):
        task, regime = key[0], key[2]
        wanted = list(subsets.get(task, ()))
        by_subset = key_means.droplevel(KEY)
        if not wanted or not set(wanted) <= set(by_subset.index):
            continue
        by_subset = by_subset.loc[wanted]
        row: dict[str, Any] = by_subset[list(MEASURES)].mean().to_dict()
        row[N_QUERIES] = int(by_subset["n_queries"].sum())
        row[N_SEEDS] = int(by_subset[N_SEEDS].min())
        row[UNTUNED] = None if regime == PRETRAINED else _untuned(task, by_subset)
        rows[key] = row
    index = pd.MultiIndex.from_tuples(rows, names=KEY) if rows else pd.MultiIndex.from_arrays([[]] * 4, names=KEY)
    return pd.DataFrame(list(rows.values()), index=index)


def _untuned(task: str, by_subset: pd.DataFrame) -> str:
    """Return the languages whose training ended with the untuned weights, with the share of seeds if not with all."""
    kept = []
    for subset, n_untuned, n_seeds in zip(by_subset.index, by_subset[N_UNTUNED], by_subset[N_SEEDS], strict=True):
        if n_untuned:
            share = f" {int(n_untuned)}/{int(n_seeds)}" if n_untuned < n_seeds else ""
            kept.append(target_language(task, subset).code + share)
    return ", ".join(kept) or "none"


def _place(name: str, order: Iterable[str]) -> tuple[int, str]:
    """Return a key that sorts names by an order, and after them by name those that are not in the order."""
    places = list(order)
    return (places.index(name) if name in places else len(places), name)
