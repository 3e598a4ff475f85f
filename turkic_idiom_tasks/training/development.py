"""Evaluation of an encoder on development queries, by the main score of the task."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sentence_transformers import SentenceTransformer

from turkic_idiom_tasks.dataset.retrieval import RetrievalData
from turkic_idiom_tasks.metrics.ranking import score_rankings

BATCH_SIZE = 64  # texts; larger than in training, because there is no backward pass

Floats = npt.NDArray[np.floating]


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
    """Scores development queries as the task does: nDCG over the whole pool, with the expected value for ties."""

    def __init__(
        self, model: SentenceTransformer, data: Mapping[str, RetrievalData], *, prompts: Mapping[str, str]
    ) -> None:
        self._model = model
        self._data = data
        self._prompts = prompts

    def __call__(self, *, step: int) -> Evaluation:
        """Return the evaluation of the weights that the model has now, in float32."""
        by_language = {language: self._ndcg(data) for language, data in self._data.items()}
        return Evaluation(step, float(np.mean(list(by_language.values()))), by_language)

    def _ndcg(self, data: RetrievalData) -> float:
        queries = self._vectors(data.queries, "query")
        documents = self._vectors(data.documents, "document")
        if not (np.isfinite(queries).all() and np.isfinite(documents).all()):
            return math.nan
        columns = {document: column for column, document in enumerate(data.documents)}
        relevant = []
        for query in data.queries:
            relevant.append([columns[document] for document in data.qrels[query]])
        return float(score_rankings(self._similarities(queries, documents), relevant).ndcg.mean())

    def _vectors(self, texts: Mapping[str, str], role: str) -> Floats:
        """Return the vectors of texts, (N, H) float32."""
        vectors = self._model.encode(
            list(texts.values()),
            prompt=self._prompts[role],
            batch_size=BATCH_SIZE,
            normalize_embeddings=self._model.similarity_fn_name == "cosine",
            show_progress_bar=False,
        )
        return np.asarray(vectors)

    def _similarities(self, queries: Floats, documents: Floats) -> Floats:
        """Return the similarities of (Q, H) and (N, H) vectors, (Q, N)."""
        if self._model.similarity_fn_name in ("cosine", "dot"):
            return np.asarray(queries @ documents.T)
        return np.asarray(self._model.similarity(queries, documents))
