"""Amount of text that the cells of a grid pass through a model, from which `grid_estimate` computes time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

TFLOPS = 5.0  # a quarter of the 19.5 that an A100 can reach in float32 by its data sheet; short texts leave much idle


@dataclass(frozen=True, slots=True)
class Passes:
    """Passes of texts through a model; a text that passes twice counts twice.

    Attributes:
        n_texts: number of texts.
        n_words: number of their words, without prompts.
    """

    n_texts: int = 0
    n_words: int = 0

    @classmethod
    def of(cls, texts: Iterable[str]) -> Passes:
        """Return one pass of each text."""
        n_words = [len(text.split()) for text in texts]
        return cls(len(n_words), sum(n_words))

    def __add__(self, other: Passes) -> Passes:
        return Passes(self.n_texts + other.n_texts, self.n_words + other.n_words)

    def times(self, factor: int) -> Passes:
        """Return the passes repeated, for example once for each epoch."""
        return Passes(self.n_texts * factor, self.n_words * factor)


@dataclass(frozen=True, slots=True)
class Workload:
    """Work of some cells.

    Attributes:
        encoded: texts that only pass forward: those of the tests, and of the evaluations during training.
        trained: texts that pass forward and backward; examples times epochs.
    """

    encoded: Passes = Passes()
    trained: Passes = Passes()

    def __add__(self, other: Workload) -> Workload:
        return Workload(self.encoded + other.encoded, self.trained + other.trained)
