"""Rankings of every task and subset by an encoder; no text is encoded twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Protocol

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.retrieval import TASKS, Pool, RetrievalData
from turkic_idiom_tasks.encoders.names import BATCH_SIZE
from turkic_idiom_tasks.encoders.pooled import PooledEncoder
from turkic_idiom_tasks.encoders.text_vectors import TextVectors
from turkic_idiom_tasks.results.predictions import Rankings, SubsetKey

QUERY, DOCUMENT = ROLES = ("query", "document")  # of a text
Prompts = Mapping[str, Mapping[str, str]]  # task -> role -> prompt before the texts


class Progress(Protocol):
    """Receives the progress of the work on a task."""

    def __call__(self, task: str, n_done: int, n_all: int, *, unit: str) -> None:
        """Report that `n_done` of `n_all` texts are encoded or subsets ranked; `unit` is ``texts`` or ``subsets``."""
        ...


def encode_and_rank(
    encoder: PooledEncoder,
    dataset: Dataset,
    subsets: Sequence[SubsetKey],
    *,
    poolings: Sequence[str],
    prompts: Prompts,
    batch_size: int = BATCH_SIZE,
    progress: Progress | None = None,
) -> dict[str, dict[SubsetKey, Rankings]]:
    """Return the rankings of every subset under every pooling, by cosine similarity.

    Args:
        encoder: the model.
        dataset: the queries and documents.
        subsets: (task, subset) pairs; task is the short name.
        poolings: names from `POOLINGS`; all come from the same forward passes.
        prompts: a task or role that is missing has no prompt.
        batch_size: texts per forward pass.
        progress: called as the work goes on.

    Returns:
        pooling -> (task, subset) -> rankings.

    Raises:
        InputError: the data does not have a subset, the model cannot be pooled in this way, or a vector is not finite.
    """
    by_pooling: dict[str, dict[SubsetKey, Rankings]] = {pooling: {} for pooling in poolings}
    vectors = TextVectors(encoder, poolings, batch_size=batch_size)
    for key, rankings in rank_by_task(vectors, dataset, subsets, prompts=prompts, progress=progress):
        for pooling in poolings:
            by_pooling[pooling][key] = rankings[pooling]
    return by_pooling


def rank_by_task(
    vectors: TextVectors,
    dataset: Dataset,
    subsets: Sequence[SubsetKey],
    *,
    prompts: Prompts,
    progress: Progress | None = None,
) -> Iterator[tuple[SubsetKey, dict[str, Rankings]]]:
    """Yield what `encode_and_rank` returns task by task, so that a finished task can be kept before the next begins.

    The texts that a task shares with an earlier one are not encoded again.

    Yields:
        (task, subset) and pooling -> rankings.
    """
    for task in TASKS:
        names = [subset for short, subset in subsets if short == task]
        prompt = prompts.get(task, {})
        texts: list[str] = []
        for subset in names:
            queries, documents = _prompted_texts(dataset.pool(task, subset), dataset.retrieval(task, subset), prompt)
            texts += queries + documents
        vectors.add(texts, progress=of_texts(progress, task))
        for number, subset in enumerate(names, start=1):
            pool = dataset.pool(task, subset)
            queries, documents = _prompted_texts(pool, dataset.retrieval(task, subset), prompt)
            rankings = {}
            for pooling in vectors.poolings:
                similarities = vectors.of(pooling, queries) @ vectors.of(pooling, documents).T
                rankings[pooling] = Rankings.from_similarities(pool, similarities)
            if progress is not None:
                progress(task, number, len(names), unit="subsets")
            yield (task, subset), rankings


def of_texts(progress: Progress | None, task: str) -> Callable[[int, int], None] | None:
    """Return a function that reports the encoded texts of a task; None if nothing is reported."""
    return None if progress is None else partial(progress, task, unit="texts")


def _prompted_texts(pool: Pool, data: RetrievalData, prompt: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Return the texts of the queries and of the documents, in the order of the pool, with their prompts."""
    queries = [prompt.get(QUERY, "") + data.queries[query] for query in pool.queries]
    documents = [prompt.get(DOCUMENT, "") + data.documents[document] for document in pool.documents]
    return queries, documents
