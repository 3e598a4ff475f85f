"""How similar a model finds the sentences of each pair, as one more prediction.

A head line begins a subset: ``{"task": "STS", "subset": "tur"}``. A line for each pair follows, also for those that
only serve as the gold score of others: ``{"pair": id, "similarity": 0.83}``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from turkic_idiom_tasks.dataset.similarity import SentencePairs
from turkic_idiom_tasks.io.reading import MalformedError, display
from turkic_idiom_tasks.metrics.bootstrap import Floats

_LARGEST = 1.001  # a cosine, with room for rounding in half precision


@dataclass(frozen=True, slots=True, eq=False)
class Similarities:
    """A model's similarities of the sentence pairs of one subset.

    Attributes:
        task: short name.
        pairs: which pairs, and in which order.
        values: (P,) float64, cosine similarities in [-1, 1].
    """

    task: str
    pairs: SentencePairs
    values: Floats


def similarity_rows(similarities: Similarities) -> Iterator[dict[str, Any]]:
    """Yield the row of each pair, ready to be written."""
    for pair, value in zip(similarities.pairs.rows, similarities.values.tolist(), strict=True):
        yield {"pair": pair.id, "similarity": value}


class SimilaritySection:
    """Similarities of the pairs of one subset, line by line."""

    def __init__(self, task: str, pairs: SentencePairs) -> None:
        self._task = task
        self._pairs = pairs
        self._values: dict[int, float] = {}

    def add(self, line: Mapping[str, Any]) -> None:
        """Read one similarity.

        Raises:
            MalformedError: an unknown or repeated pair, or no similarity in [-1, 1].
        """
        name, value = line.get("pair"), line.get("similarity")
        position = self._pairs.row.get(name) if isinstance(name, str) else None
        if position is None:
            raise MalformedError(f"{self._task}, {self._pairs.subset} has no pair {display(name)}")
        if position in self._values:
            raise MalformedError(f"pair {display(name)} appears twice")
        self._values[position] = 0.0
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        # Compared before it becomes a float, because a whole number may be too large for one; NaN fails too
        if value is None or not is_number or not -_LARGEST <= value <= _LARGEST:
            raise MalformedError(f"pair {display(name)} needs a similarity from -1 to 1, not {display(value)}")
        self._values[position] = float(value)

    def missing(self) -> list[str]:
        """Return the pairs that have no similarity."""
        return [row.id for position, row in enumerate(self._pairs.rows) if position not in self._values]

    def predictions(self) -> Similarities:
        """Return what was read."""
        values = [self._values.get(position, 0.0) for position in range(len(self._pairs.rows))]
        return Similarities(self._task, self._pairs, np.array(values, dtype=np.float64))
