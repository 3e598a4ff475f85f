"""Similarities of sentence pairs by an encoder; no sentence is encoded twice."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from turkic_idiom_tasks.dataset.similarity import SentencePairs
from turkic_idiom_tasks.encoders.text_vectors import TextVectors
from turkic_idiom_tasks.results.predictions import Similarities

SENTENCE = "sentence"  # role of a text, besides those of retrieval


def similarities_by_pooling(
    vectors: TextVectors,
    task: str,
    pairs: SentencePairs,
    *,
    prompt: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Similarities]:
    """Return pooling -> cosine similarities of every pair; sentences that were encoded earlier are not encoded again.

    Args:
        vectors: cache of vectors; new texts are added.
        task: short name.
        pairs: P pairs.
        prompt: text before every sentence.
        progress: called after each batch with the number of new texts that are done, and of all.

    Raises:
        InputError: a vector is not finite.
    """
    vectors.add([prompt + text for text in pairs.texts], progress=progress)
    first = [prompt + row.sentence1 for row in pairs.rows]
    second = [prompt + row.sentence2 for row in pairs.rows]
    by_pooling = {}
    for pooling in vectors.poolings:
        products = vectors.of(pooling, first).astype(np.float64) * vectors.of(pooling, second)
        by_pooling[pooling] = Similarities(task, pairs, np.clip(products.sum(axis=1), -1.0, 1.0))
    return by_pooling
