"""Predictions of a model: rankings, tags, answers or similarities of each subset, and their JSON lines.

A subset begins with a head line, and a line for each item follows; `reader` reads them back:

``{"task": "T1", "subset": "tur-azj", "documents": [...]}``
    The ids of the whole pool, sorted; then ``{"query": id, "ranking": [5, 17, [3, 9], ...]}``: positions in that list,
    best first; documents that tie are a list inside it. A ranking that is cut lists only the best documents, and gives
    the places of the relevant documents behind them as ``"beyond": [[position, above, tied], ...]``: the number of
    documents above, and the number at the same place. All other documents that are left out tie behind the listed ones.
``{"task": "spans", "subset": "tr"}``
    Then ``{"sentence": id, "tags": "OOBIO"}`` with a letter for each word.
``{"task": "STS", "subset": "tur"}``
    Then ``{"pair": id, "similarity": 0.83}``, also for pairs that only serve as the gold score of others.
``{"task": "equivalent", "subset": "tr-uz", "items": digest, "prompt": "en1", "method": "generation"}``
    Then ``{"item": id, "answer": 2}`` with the position of the chosen option, or for `OPEN_TASKS` with a text; null is
    an answer that could not be read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from turkic_idiom_tasks.dataset.retrieval import TASKS, Pool
from turkic_idiom_tasks.dataset.sentences import TestSentences
from turkic_idiom_tasks.dataset.similarity import SIMILARITY_TASKS, STS, SentencePairs
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.metrics.bootstrap import Floats
from turkic_idiom_tasks.metrics.ranking import score_positions
from turkic_idiom_tasks.results.item_answers import ITEM_TASKS, ItemAnswers, all_item_subsets

SPANS = "spans"  # name of span detection among the tasks
TASK_NAMES = (*TASKS, STS, SPANS)  # tasks of encoders and taggers; those of language models are `ITEM_TASKS`
ALL_TASK_NAMES = (*TASK_NAMES, *ITEM_TASKS)  # what a submission may hold
IDIOMATICITY = "idiomaticity"  # its records state scores alone
RECORDED_TASKS = (*TASKS, *SIMILARITY_TASKS, SPANS, IDIOMATICITY)  # what a record may hold
OTHER_DATA_TASKS = (*(task for task in SIMILARITY_TASKS if task != STS), IDIOMATICITY)  # of data that has no edition

Ints = npt.NDArray[np.int32]
SubsetKey = tuple[str, str]  # task, subset

# json.dumps makes a new encoder at every call that has options
_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True, eq=False)
class Rankings:
    """A model's rankings of one subset."""

    pool: Pool  # queries and documents, whose order the arrays follow
    above: Ints  # (Q, N) int32, how many documents rank strictly higher; equal values tie
    # (Q,) int32, how many documents each ranking lists, the others tie behind them; None if all rankings list all
    n_listed: Ints | None = None
    # (query position, document position) -> (above, tied) of relevant documents that are not listed
    beyond: Mapping[tuple[int, int], tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def from_similarities(cls, pool: Pool, similarities: npt.NDArray[np.floating]) -> Rankings:
        """Rank by (Q, N) similarities in the order of the pool: higher is nearer, -inf unranked, NaN a ValueError."""
        if np.isnan(similarities).any():
            row = int(np.isnan(similarities).any(axis=1).argmax())
            raise ValueError(f"the similarities of query {pool.queries[row]} hold NaN: its vectors are not finite")
        # Ties share a place, so their order does not matter
        order = np.argsort(-similarities, axis=1)
        descending = np.take_along_axis(similarities, order, axis=1)
        places = np.arange(similarities.shape[1], dtype=np.int32)
        begins_group = np.ones(similarities.shape, dtype=bool)
        begins_group[:, 1:] = descending[:, 1:] != descending[:, :-1]
        first_of_group = np.maximum.accumulate(np.where(begins_group, places, 0), axis=1)
        above = np.empty(similarities.shape, dtype=np.int32)
        np.put_along_axis(above, order, first_of_group.astype(np.int32), axis=1)
        return cls(pool, above)

    @classmethod
    def from_retrieved(cls, pool: Pool, retrieved: Mapping[str, Mapping[str, float]]) -> Rankings:
        """Rank by query -> document -> similarity, as mteb has them; see `from_similarities`."""
        similarities = np.full((len(pool.queries), len(pool.documents)), -np.inf)
        for query, documents in retrieved.items():
            similarities[pool.row[query], [pool.column[name] for name in documents]] = list(documents.values())
        return cls.from_similarities(pool, similarities)

    @property
    def has_all_places(self) -> bool:
        """Return whether the place of every relevant document is known, so that all scores are exact."""
        if self.n_listed is None:
            return True
        for row in range(len(self.pool.queries)):
            for column in self.pool.scored_documents(row):
                if self.above[row, column] >= self.n_listed[row] and (row, column) not in self.beyond:
                    return False
        return True

    def place(self, row: int, column: int) -> tuple[int, int]:
        """Return how many documents rank above a document for a query, and how many, it included, share its place."""
        if (row, column) in self.beyond:
            return self.beyond[row, column]
        above = int(self.above[row, column])
        return above, int(np.count_nonzero(self.above[row] == above))

    def query_scores(self, *, strict: bool = False) -> dict[str, Floats]:
        """Return the scores of every query; with `strict`, only documents of the queries' own concepts are relevant."""
        relevant = self.pool.strictly_relevant if strict else self.pool.relevant
        places = [self.place(row, column) for row, columns in enumerate(relevant) for column in columns]
        return score_positions([len(columns) for columns in relevant], places, n_documents=len(self.pool.documents))


@dataclass(frozen=True, slots=True, eq=False)
class Tags:
    """A model's tags of the test sentences of one language."""

    sentences: TestSentences
    letters: tuple[str, ...]  # for each sentence a text with a letter (O, B, I) per word


@dataclass(frozen=True, slots=True, eq=False)
class Similarities:
    """How similar a model finds the sentences of each pair of one subset."""

    task: str  # short name
    pairs: SentencePairs
    values: Floats  # (P,) float64, cosine similarities in [-1, 1]


Prediction = Rankings | Tags | ItemAnswers | Similarities
Predictions = Mapping[SubsetKey, Prediction]


def to_lines(predictions: Predictions, *, top_k: int | None = None) -> Iterator[str]:
    """Yield the lines of predictions; the same predictions give the same lines.

    Of a query `top_k` documents are listed, None for all; a group of ties is never cut.
    """
    for task, subset in sorted(predictions, key=usual_order):
        prediction = predictions[task, subset]
        head: dict[str, Any] = {"task": task, "subset": subset}
        rows: Iterator[dict[str, Any]]
        if isinstance(prediction, Tags):
            tagged = zip(prediction.sentences.rows, prediction.letters, strict=True)
            rows = ({"sentence": sentence.id, "tags": letters} for sentence, letters in tagged)
        elif isinstance(prediction, ItemAnswers):
            head |= {"items": prediction.items.digest, "prompt": prediction.prompt, "method": prediction.method}
            answered = zip(prediction.items.rows, prediction.answers, strict=True)
            rows = ({"item": item.id, "answer": answer} for item, answer in answered)
        elif isinstance(prediction, Similarities):
            compared = zip(prediction.pairs.rows, prediction.values.tolist(), strict=True)
            rows = ({"pair": pair.id, "similarity": value} for pair, value in compared)
        else:
            head["documents"] = list(prediction.pool.documents)
            rows = _ranking_rows(prediction, top_k=top_k)
        yield _to_json(head)
        yield from map(_to_json, rows)


def _ranking_rows(rankings: Rankings, *, top_k: int | None) -> Iterator[dict[str, Any]]:
    pool = rankings.pool
    n_documents = len(pool.documents)
    # numpy sorts 16 bits faster
    sort_keys = rankings.above.astype(np.uint16) if n_documents < 2**16 else rankings.above
    orders = np.argsort(sort_keys, axis=1, kind="stable")
    places = np.take_along_axis(rankings.above, orders, axis=1)
    limits = np.full(len(pool.queries), n_documents) if rankings.n_listed is None else rankings.n_listed
    if top_k is not None:
        # Never more than was read: a ranking that was cut before knows nothing of the documents behind.
        limits = np.minimum(limits, top_k)
    # A group of ties that begins within the limit is listed whole
    n_listed = (places < limits[:, None]).sum(axis=1)
    has_ties = (places[:, 1:] == places[:, :-1]).any(axis=1)
    for row, query in enumerate(pool.queries):
        n = int(n_listed[row])
        # Plain positions in the usual case: grouping costs more than all the rest of writing.
        ranking: list[Any] = orders[row, :n].tolist()
        if has_ties[row]:
            starts = [0, *(np.flatnonzero(np.diff(places[row, :n])) + 1).tolist(), n]
            groups = [ranking[start:end] for start, end in pairwise(starts)]
            ranking = [group if len(group) > 1 else group[0] for group in groups]
        hidden = [column for column in pool.scored_documents(row) if rankings.above[row, column] >= n]
        beyond = [[column, *rankings.place(row, column)] for column in hidden]
        yield {"query": query, "ranking": ranking} | ({"beyond": beyond} if beyond else {})


def usual_order(key: SubsetKey) -> tuple[int, int]:
    """Return a key that sorts (task, subset) pairs in the order of the tasks and of their subsets."""
    task, subset = key
    subsets = all_item_subsets()[task] if task in ITEM_TASKS else subsets_of(task)
    return (*RECORDED_TASKS, *ITEM_TASKS).index(task), subsets.index(subset)


def subsets_of(task: str) -> tuple[str, ...]:
    """Return every subset that data may have of a retrieval task, a similarity task or spans, in the usual order."""
    if task in SIMILARITY_TASKS:
        return tuple(SIMILARITY_TASKS[task].languages)
    return tuple(LANGUAGES if task == SPANS else TASKS[task].subsets)
