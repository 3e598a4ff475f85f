"""Vectors of texts that several tasks share, so that no text is encoded twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from turkic_idiom_tasks.encoders.names import BATCH_SIZE
from turkic_idiom_tasks.encoders.pooled import PooledEncoder

Vectors = npt.NDArray[np.float32]


class TextVectors:
    """Vectors of every text so far, under each pooling."""

    def __init__(self, encoder: PooledEncoder, poolings: Sequence[str], *, batch_size: int = BATCH_SIZE) -> None:
        self.poolings = tuple(poolings)  # names from `POOLINGS`; all come from the same forward passes
        self._encoder = encoder
        self._batch_size = batch_size
        self._row_of_text: dict[str, int] = {}
        self._vectors = {pooling: np.zeros((0, encoder.dimension), np.float32) for pooling in poolings}

    def add(self, texts: Sequence[str], *, progress: Callable[[int, int], None] | None = None) -> None:
        """Encode the new texts, prompts included, in one call, so that batches hold texts of similar length."""
        new = [text for text in dict.fromkeys(texts) if text not in self._row_of_text]
        if not new:
            return
        encoded = self._encoder.encode(new, poolings=self.poolings, batch_size=self._batch_size, progress=progress)
        for text in new:
            self._row_of_text[text] = len(self._row_of_text)
        for pooling, vectors in encoded.items():
            self._vectors[pooling] = np.concatenate([self._vectors[pooling], vectors])

    def of(self, pooling: str, texts: Sequence[str]) -> Vectors:
        """Return the (N, H) vectors, each of length 1, of texts that were added."""
        return self._vectors[pooling][[self._row_of_text[text] for text in texts]]
