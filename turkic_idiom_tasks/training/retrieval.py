"""Fine-tuning an encoder for retrieval on the pairs of a regime, in the paper's configuration.

Trainer, losses, sampler and optimiser are those of sentence-transformers; for plain encoders the loss is PyTorch's
CosineEmbeddingLoss on pooled vectors. Several times per epoch the development queries are scored in the same way as the
test queries of the task, and training ends with the best weights so far, which may be the untuned ones.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.evaluation import SentenceEvaluator
from sentence_transformers.sentence_transformer.losses import (
    CachedMultipleNegativesRankingLoss,
    MultipleNegativesRankingLoss,
)
from sentence_transformers.sentence_transformer.training_args import BatchSamplers
from transformers import set_seed

from turkic_idiom_tasks.dataset.retrieval import RetrievalData
from turkic_idiom_tasks.metrics.ranking import score_rankings
from turkic_idiom_tasks.training.config import COSINE, MNRL, RetrievalConfig, n_processes
from turkic_idiom_tasks.training.encoder_trainer import Tuned, train_encoder
from turkic_idiom_tasks.training.regimes import RegimeData, labelled_pairs
from turkic_idiom_tasks.training.trainee import Trainee
from turkic_idiom_tasks.training.trainer import EVALUATION_BATCH, IS_FINITE, check_packages

log = logging.getLogger("turkic_idiom_tasks")

_CHECKPOINTING = {"gradient_checkpointing": True, "gradient_checkpointing_kwargs": {"use_reentrant": False}}


def fine_tune_retrieval(trainee: Trainee, data: RegimeData, *, config: RetrievalConfig) -> Tuned:
    """Train an encoder's own weights on the pairs of a regime; nothing is written. It must have this pooling."""
    model, prompts = trainee.model, trainee.prompts
    loss = config.loss or (COSINE if trainee.is_plain else MNRL)
    if loss == COSINE and config.negatives == 0:
        log.warning("0 negatives, the paper's setting to the letter: nothing pushes vectors apart, so they collapse")
    if config.lora:
        check_packages("peft")
        from peft import LoraConfig, get_peft_model  # late, because the package is optional

        set_seed(config.seed)  # adapters begin with random weights
        adapters = LoraConfig(r=config.lora, lora_alpha=2 * config.lora, lora_dropout=0.05, target_modules="all-linear")
        model[0].model = get_peft_model(model[0].model, adapters)
    tuned = train_encoder(
        model,
        _training_rows(data, loss=loss, config=config),
        RetrievalEvaluator(model, data.development, prompts=prompts),
        config=config,
        loss=loss,
        score_name="nDCG",
        make_loss=partial(_make_loss, name=loss, config=config),
        evaluations=config.evaluations * config.epochs,
        patience=config.patience,
        batch_sampler=BatchSamplers.NO_DUPLICATES if loss == MNRL else BatchSamplers.BATCH_SAMPLER,
        prompts={"anchor": prompts["query"], "positive": prompts["document"]} if any(prompts.values()) else None,
        **(_CHECKPOINTING if config.gradient_checkpointing else {}),
    )
    if config.lora:
        model[0].model = model[0].model.merge_and_unload()
    return tuned


class RetrievalEvaluator(SentenceEvaluator):
    """Scores development queries as the task does: nDCG over the whole pool, with the expected value for ties.

    The stock ``InformationRetrievalEvaluator`` orders tied documents by their ids, so it finds another nDCG where texts
    repeat or vectors collapse.
    """

    def __init__(
        self, model: SentenceTransformer, data: Mapping[str, RetrievalData], *, prompts: Mapping[str, str]
    ) -> None:
        """Take the model that is scored, the queries by the language of their meanings, and the prompt of each role."""
        super().__init__()
        self._model = model
        self._data = data
        self._prompts = prompts

    def __call__(self, model: Any = None, *arguments: Any, **options: Any) -> dict[str, float]:
        """Return the mean nDCG of each language, and the mean over languages; the model given at first is scored."""
        scores = {f"eval_score_{language}": self._ndcg(data) for language, data in self._data.items()}
        mean = float(np.mean(list(scores.values())))
        return {"eval_score": mean, IS_FINITE: float(math.isfinite(mean))} | scores

    def _ndcg(self, data: RetrievalData) -> float:
        queries = self._vectors(data.queries, "query")
        documents = self._vectors(data.documents, "document")
        if not (np.isfinite(queries).all() and np.isfinite(documents).all()):
            return math.nan
        if self._model.similarity_fn_name in ("cosine", "dot"):
            similarities = queries @ documents.T
        else:
            similarities = np.asarray(self._model.similarity(queries, documents))
        columns = {document: column for column, document in enumerate(data.documents)}
        relevant = []
        for query in data.queries:
            relevant.append([columns[document] for document in data.qrels[query]])
        return float(score_rankings(similarities, relevant).ndcg.mean())

    def _vectors(self, texts: Mapping[str, str], role: str) -> npt.NDArray[np.floating]:
        """Return the vectors of texts, (N, H) float32."""
        vectors = self._model.encode(
            list(texts.values()),
            prompt=self._prompts[role],
            batch_size=EVALUATION_BATCH,
            normalize_embeddings=self._model.similarity_fn_name == "cosine",
            show_progress_bar=False,
        )
        return np.asarray(vectors)


class _CosineEmbeddingLoss(torch.nn.Module):
    """PyTorch's CosineEmbeddingLoss on the vectors of two columns, with labels 1 and -1."""

    def __init__(self, model: SentenceTransformer) -> None:
        super().__init__()
        self.model = model
        self._loss = torch.nn.CosineEmbeddingLoss()

    def forward(self, sentence_features: Any, labels: torch.Tensor) -> torch.Tensor:
        """Return the mean loss of a batch; labels are (B,)."""
        anchors, others = (self.model(features)["sentence_embedding"] for features in sentence_features)
        loss: torch.Tensor = self._loss(anchors, others, labels.to(anchors.dtype))
        return loss


def _training_rows(data: RegimeData, *, loss: str, config: RetrievalConfig) -> Dataset:
    if loss == MNRL:
        anchors = [pair.idiom for pair in data.pairs]
        return Dataset.from_dict({"anchor": anchors, "positive": [pair.meaning for pair in data.pairs]})
    rows = labelled_pairs(data.pairs, negatives=config.negatives, rng=np.random.default_rng(config.seed))
    idioms, meanings, labels = zip(*rows, strict=True)
    return Dataset.from_dict({"anchor": idioms, "positive": meanings, "label": labels})


def _make_loss(model: SentenceTransformer, *, name: str, config: RetrievalConfig) -> torch.nn.Module:
    if name == COSINE:
        return _CosineEmbeddingLoss(model)
    gathers = n_processes() > 1  # the other meanings of all processes are negatives
    if config.cached:
        return CachedMultipleNegativesRankingLoss(
            model, mini_batch_size=config.mini_batch, gather_across_devices=gathers
        )
    return MultipleNegativesRankingLoss(model, gather_across_devices=gathers)
