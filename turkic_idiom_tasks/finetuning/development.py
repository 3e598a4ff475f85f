"""How good an encoder is on development queries, by the score of the task itself, and its best weights so far."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.metrics.ranking import score_rankings
from turkic_idiom_tasks.retrieval.relevance import RetrievalData

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

BATCH_SIZE = 64  # texts; larger than in training, as nothing is kept for a backward pass


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One evaluation on the development queries.

    Attributes:
        step: optimiser steps so far; 0 is the untuned model.
        ndcg: mean over languages of the mean nDCG over the whole pool, in [0, 1]; NaN if vectors are not finite.
        by_language: code of the language of the meanings -> its mean nDCG.
    """

    step: int
    ndcg: float
    by_language: Mapping[str, float]


class DevelopmentScore:
    """The task's own score of the development queries: nDCG over the whole pool, ties by their expected value."""

    def __init__(
        self, model: SentenceTransformer, data: Mapping[str, RetrievalData], *, prompts: Mapping[str, str]
    ) -> None:
        self._model = model
        self._data = data
        self._prompts = prompts

    def __call__(self, *, step: int) -> Evaluation:
        """The evaluation of the weights that the model has now, in float32."""
        by_language = {language: self._ndcg(data) for language, data in self._data.items()}
        return Evaluation(step, float(np.mean(list(by_language.values()))), by_language)

    def _ndcg(self, data: RetrievalData) -> float:
        queries, documents = self._vectors(data.queries, "query"), self._vectors(data.documents, "document")
        if not (np.isfinite(queries).all() and np.isfinite(documents).all()):
            return math.nan
        columns = {document: column for column, document in enumerate(data.documents)}
        relevant = [[columns[document] for document in data.qrels[query]] for query in data.queries]
        return float(score_rankings(self._similarities(queries, documents), relevant).ndcg.mean())

    def _vectors(self, texts: Mapping[str, str], role: str) -> np.ndarray:
        return np.asarray(
            self._model.encode(
                list(texts.values()),
                prompt=self._prompts[role],
                batch_size=BATCH_SIZE,
                normalize_embeddings=self._model.similarity_fn_name == "cosine",
                show_progress_bar=False,
            )
        )

    def _similarities(self, queries: np.ndarray, documents: np.ndarray) -> np.ndarray:
        if self._model.similarity_fn_name in ("cosine", "dot"):
            return np.asarray(queries @ documents.T)
        return np.asarray(self._model.similarity(queries, documents))


class BestWeights:
    """The evaluations so far and, in memory, the weights of the best one; the untuned model is the first.

    Attributes:
        history: evaluations, the untuned model's first.
    """

    def __init__(self, model: Any, untuned: Evaluation) -> None:
        if not math.isfinite(untuned.ndcg):
            raise InputError("the untuned model's vectors hold NaN or infinity; try another --pooling or model")
        self.history = [untuned]
        self._model = model
        self._best = untuned.ndcg
        self._weights = self._copy()

    def add(self, found: Evaluation) -> None:
        """Takes note of an evaluation, and of the weights if it is better than all before."""
        self.history.append(found)
        if found.ndcg > self._best:
            self._best, self._weights = found.ndcg, self._copy()

    @property
    def evaluations_since(self) -> int:
        """How many evaluations of tuned weights came after the best of them."""
        scores = [evaluation.ndcg for evaluation in self.history[1:]]
        return len(scores) - 1 - int(np.nanargmax(scores))

    def restore(self) -> None:
        """Puts the best weights back into the model."""
        import torch

        with torch.no_grad():
            for name, parameter in self._model.named_parameters():
                if name in self._weights:
                    parameter.copy_(self._weights[name])

    def _copy(self) -> dict[str, Any]:
        trained = ((name, one) for name, one in self._model.named_parameters() if one.requires_grad)
        return {name: parameter.detach().to("cpu", copy=True) for name, parameter in trained}
