"""What the records of a retrieval grid say of a model, a regime and a pooling: means over seeds and over languages.

A mean over languages needs all languages of the grid: those of the pretrained and the tr-only cells, which are tested
on all that the data has, as far as the grid trains on them. Training on Turkish pairs is monolingual training for
Turkish, so the tr-only cell stands in where monolingual scores of Turkish are asked for. The cross-lingual score of a
language is that of the encoder trained for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

import numpy as np

from turkic_idiom_tasks.encoders.poolings import POOLINGS
from turkic_idiom_tasks.encoders.registry import PAPER_ENCODERS
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.experiments.grid_file import PRETRAINED
from turkic_idiom_tasks.finetuning.regimes import MONOLINGUAL, TR_ONLY
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT
from turkic_idiom_tasks.metrics.comparison import Comparison, Paired, compare
from turkic_idiom_tasks.metrics.statistics import SMALL_N, Interval, bootstrap_interval
from turkic_idiom_tasks.retrieval.relevance import SUBSETS, TASKS, concept_of

Record = Mapping[str, Any]

MEASURES = ("ndcg", "ndcg_floor", "ndcg_corrected", "ndcg_at_10", "mrr", "recall_at_1", "recall_at_5", "recall_at_10")


@dataclass(frozen=True, slots=True, eq=False)
class SubsetScores:
    """One model, regime and pooling on one subset.

    Attributes:
        means: the mean over seeds of each of `MEASURES`.
        queries: query id -> mean over seeds of its nDCG.
        n_seeds: number of trainings; 1 for a pretrained model.
        n_untuned: how many of them ended with the untuned weights.
    """

    means: Mapping[str, float]
    queries: Mapping[str, float]
    n_seeds: int
    n_untuned: int


@dataclass(frozen=True, slots=True, eq=False)
class TaskScores:
    """One model, regime and pooling on all languages of a task.

    Attributes:
        task: its short name.
        regime: of supervision.
        pooling: its name.
        subsets: subset -> its scores, all subsets of the data.
    """

    task: str
    regime: str
    pooling: str
    subsets: Mapping[str, SubsetScores]

    def mean(self, measure: str = "ndcg") -> float:
        """The mean over languages, each weighing alike."""
        return mean(scores.means[measure] for scores in self.subsets.values())

    @property
    def n_queries(self) -> int:
        """Queries of all languages together."""
        return sum(len(scores.queries) for scores in self.subsets.values())

    @property
    def n_seeds(self) -> int:
        """Trainings per language, the fewest if they differ."""
        return min(scores.n_seeds for scores in self.subsets.values())

    def interval(self) -> Interval:
        """95% bootstrap interval of the mean nDCG, whole concepts resampled."""
        return bootstrap_interval(
            {subset: np.array(list(scores.queries.values())) for subset, scores in self.subsets.items()},
            {subset: [concept_of(query) for query in scores.queries] for subset, scores in self.subsets.items()},
        )

    def against(self, other: TaskScores) -> Comparison:
        """This one as the second system against another, on the same queries; concepts stay whole."""
        return compare({subset: _paired(other.subsets[subset], self.subsets[subset]) for subset in self.subsets})

    def query_by_query(self, other: TaskScores) -> Comparison:
        """The same with the queries of all languages as one sample, each for itself, as in the paper."""
        pairs = [
            (f"{subset}/{query}", other.subsets[subset].queries[query], score)
            for subset, scores in self.subsets.items()
            for query, score in scores.queries.items()
        ]
        first, second = (np.array([[pair[side], 1.0] for pair in pairs]) for side in (1, 2))
        return compare({"all": Paired([pair[0] for pair in pairs], first, second)})


@dataclass(frozen=True, slots=True, eq=False)
class RetrievalScores:
    """The finished cells of a grid.

    Attributes:
        models: the paper's in its order, then others.
        poolings: those that occur, in the project's order.
        subsets: task -> the subsets of the data; a task without any is left out.
        found: (model, regime, pooling, task, subset) -> scores.
    """

    models: tuple[str, ...]
    poolings: tuple[str, ...]
    subsets: Mapping[str, tuple[str, ...]]
    found: Mapping[tuple[str, str, str, str, str], SubsetScores]

    def of(self, model: str, regime: str, *, task: str, pooling: str) -> TaskScores | None:
        """The scores in all languages, or None while one is missing."""
        found = {subset: self._subset(model, regime, pooling, task, subset) for subset in self.subsets.get(task, ())}
        known = {subset: scores for subset, scores in found.items() if scores is not None}
        return TaskScores(task, regime, pooling, known) if known and len(known) == len(found) else None

    def best(self, model: str, regime: str, *, task: str) -> TaskScores | None:
        """Those of the pooling with the highest mean nDCG on the test queries, the first one of equals."""
        found = [self.of(model, regime, task=task, pooling=pooling) for pooling in self.poolings]
        return max((scores for scores in found if scores), key=lambda scores: scores.mean(), default=None)

    @property
    def regimes(self) -> frozenset[str]:
        """Those of which any cell is finished."""
        return frozenset(regime for _, regime, *_ in self.found)

    def languages(self, task: str) -> list[str]:
        """Codes of the languages of the documents of a task."""
        return [language_of(task, subset) for subset in self.subsets.get(task, ())]

    def has_all_languages(self, task: str) -> bool:
        """Whether means of a task are over the paper's languages, so that its figures may stand beside them."""
        return len(self.subsets.get(task, ())) == len(SUBSETS[task])

    def is_small(self, task: str, subset: str) -> bool:
        """Whether a subset has too few queries for its mean to say much."""
        return any(len(scores.queries) < SMALL_N for key, scores in self.found.items() if key[3:] == (task, subset))

    def _subset(self, model: str, regime: str, pooling: str, task: str, subset: str) -> SubsetScores | None:
        own = self.found.get((model, regime, pooling, task, subset))
        if own is None and regime == MONOLINGUAL and language_of(task, subset) == PIVOT:
            return self.found.get((model, TR_ONLY, pooling, task, subset))
        return own


def read_scores(records: Sequence[Record], languages: Collection[str] = tuple(LANGUAGES)) -> RetrievalScores:
    """The scores of the records of finished retrieval cells.

    Args:
        records: of one data set.
        languages: codes of the languages that means are over, as far as the data has them.

    Raises:
        InputError: they are of different data.
    """
    _check_same_data(records)
    collected: dict[tuple[str, str, str, str, str], list[tuple[Record, Record, bool]]] = {}
    for record in records:
        for pooling, result in record["poolings"].items():
            for task, subset in tested(result):
                key = (record["model"], record["regime"], pooling, task, subset)
                part = (result["scores"][task][subset], result["per_query"][task][subset], kept_untuned(result))
                collected.setdefault(key, []).append(part)
    models = sorted(dict.fromkeys(record["model"] for record in records), key=_place_in(PAPER_ENCODERS))
    poolings = sorted({pooling for _, _, pooling, _, _ in collected}, key=_place_in(POOLINGS))
    complete = {
        (task, subset)
        for record in records
        if record["regime"] in (PRETRAINED, TR_ONLY)
        for result in record["poolings"].values()
        for task, subset in tested(result)
        if language_of(task, subset) in languages
    }
    subsets = {task: tuple(s for s in SUBSETS[task] if (task, s) in complete) for task in SUBSETS}
    return RetrievalScores(
        tuple(models),
        tuple(poolings),
        {task: found for task, found in subsets.items() if found},
        {key: _averaged(parts) for key, parts in collected.items()},
    )


def tested(result: Record) -> Iterator[tuple[str, str]]:
    """The (task, subset) pairs of one pooling of a record."""
    for task, subsets in result["scores"].items():
        for subset in subsets:
            yield task, subset


def kept_untuned(result: Record) -> bool:
    """Whether training ended with the untuned weights, because no others did better on the development queries."""
    return result["tuning"] is not None and result["tuning"]["kept_step"] == 0


def language_of(task: str, subset: str) -> str:
    """Code of the language of the documents."""
    return TASKS[task].subsets[subset][1].code


def _averaged(parts: Sequence[tuple[Record, Record, bool]]) -> SubsetScores:
    scores, per_query, untuned = zip(*parts, strict=True)
    return SubsetScores(
        means={measure: mean(one[measure] for one in scores) for measure in MEASURES},
        queries={query: mean(one[query] for one in per_query) for query in sorted(per_query[0])},
        n_seeds=len(parts),
        n_untuned=sum(untuned),
    )


def _paired(first: SubsetScores, second: SubsetScores) -> Paired:
    queries = list(second.queries)
    sums = (np.array([[side.queries[query], 1.0] for query in queries]) for side in (first, second))
    return Paired([concept_of(query) for query in queries], *sums)


def _place_in(order: Iterable[str]) -> Any:
    places = {name: place for place, name in enumerate(order)}
    return lambda name: (places.get(name, len(places)), name)


def _check_same_data(records: Sequence[Record]) -> None:
    revisions = sorted({record["data"]["revision"] for record in records})
    if len(revisions) > 1:
        raise InputError(
            f"the results are of different data ({', '.join(revisions)}): choose one with --data, or another folder"
        )
