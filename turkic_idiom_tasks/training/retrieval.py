"""Fine-tuning an encoder for retrieval on the pairs of a regime, in the paper's configuration.

Trainer, losses, sampler and optimiser are those of sentence-transformers; for plain encoders the loss is PyTorch's
CosineEmbeddingLoss.
"""

import logging
import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.losses import (
    CachedMultipleNegativesRankingLoss,
    MultipleNegativesRankingLoss,
)
from sentence_transformers.sentence_transformer.training_args import BatchSamplers
from transformers import set_seed

from turkic_idiom_tasks.dataset.retrieval import RetrievalData
from turkic_idiom_tasks.metrics.ranking import mean_scores, score_rankings
from turkic_idiom_tasks.training.config import COSINE, MNRL, RetrievalConfig, n_processes
from turkic_idiom_tasks.training.encoder_trainer import Tuned, train_encoder
from turkic_idiom_tasks.training.regimes import RegimeData, labelled_pairs
from turkic_idiom_tasks.training.trainee import Trainee
from turkic_idiom_tasks.training.trainer import EVALUATION_BATCH, IS_FINITE, check_package

log = logging.getLogger("turkic_idiom_tasks")

# The reentrant kind needs inputs with gradients, which the frozen embeddings under LoRA do not give.
_CHECKPOINTING = {"gradient_checkpointing": True, "gradient_checkpointing_kwargs": {"use_reentrant": False}}


def fine_tune_retrieval(trainee: Trainee, data: RegimeData, *, config: RetrievalConfig) -> Tuned:
    """Train an encoder's own weights on the pairs of a regime; nothing is written. It must have this pooling."""
    model, prompts = trainee.model, trainee.prompts
    loss = config.loss or (COSINE if trainee.is_plain else MNRL)
    if loss == COSINE and config.negatives == 0:
        log.warning("0 negatives, the paper's setting to the letter: nothing pushes vectors apart, so they collapse")
    if config.lora:
        check_package("peft")
        from peft import LoraConfig, get_peft_model  # late, because the package is optional

        set_seed(config.seed)  # adapters begin with random weights
        adapters = LoraConfig(r=config.lora, lora_alpha=2 * config.lora, lora_dropout=0.05, target_modules="all-linear")
        model[0].model = get_peft_model(model[0].model, adapters)
    make_loss: Callable[[SentenceTransformer], torch.nn.Module] = _CosineEmbeddingLoss
    if loss == MNRL:  # the other meanings of a batch, in all processes, are the wrong ones
        columns: dict[str, Any] = {"anchor": [pair.idiom for pair in data.pairs]}
        columns["positive"] = [pair.meaning for pair in data.pairs]
        kind: Any = MultipleNegativesRankingLoss
        if config.cached:
            kind = partial(CachedMultipleNegativesRankingLoss, mini_batch_size=config.mini_batch)
        make_loss = partial(kind, gather_across_devices=n_processes() > 1)
    else:
        rows = labelled_pairs(data.pairs, negatives=config.negatives, rng=np.random.default_rng(config.seed))
        columns = dict(zip(("anchor", "positive", "label"), zip(*rows, strict=True), strict=True))
    tuned = train_encoder(
        model,
        Dataset.from_dict(columns),
        partial(development_ndcg, model, data.development, prompts=prompts),
        config=config,
        loss=loss,
        score_name="nDCG",
        make_loss=make_loss,
        evaluations=config.evaluations * config.epochs,
        patience=config.patience,
        # without duplicates, because a meaning twice in a batch would be a wrong meaning of its own idiom
        batch_sampler=BatchSamplers.NO_DUPLICATES if loss == MNRL else BatchSamplers.BATCH_SAMPLER,
        prompts={"anchor": prompts["query"], "positive": prompts["document"]} if any(prompts.values()) else None,
        **(_CHECKPOINTING if config.gradient_checkpointing else {}),
    )
    if config.lora:  # so that the saved model needs no peft
        model[0].model = model[0].model.merge_and_unload()
    return tuned


def development_ndcg(
    model: SentenceTransformer, data: Mapping[str, RetrievalData], *, prompts: Mapping[str, str]
) -> dict[str, float]:
    """Return the mean nDCG of development queries by the language of their meanings, and the mean over languages."""
    # As in the task it is that of the whole pool, with the expected value for ties. The stock
    # InformationRetrievalEvaluator orders tied documents by their ids, so it finds another nDCG where texts repeat or
    # vectors collapse.
    by_language: dict[str, float] = {}
    floors = []
    for language, rows in data.items():
        vectors = {}
        for role, texts in (("query", rows.queries), ("document", rows.documents)):
            encoded = model.encode(
                list(texts.values()),
                prompt=prompts[role],
                batch_size=EVALUATION_BATCH,
                normalize_embeddings=model.similarity_fn_name == "cosine",  # so that the product below is the cosine
                show_progress_bar=False,
            )
            vectors[role] = np.asarray(encoded)  # (N, H) float32
        by_language[f"eval_score_{language}"] = math.nan
        if all(np.isfinite(of_role).all() for of_role in vectors.values()):
            if model.similarity_fn_name in ("cosine", "dot"):
                similarities = vectors["query"] @ vectors["document"].T
            else:
                similarities = np.asarray(model.similarity(vectors["query"], vectors["document"]))
            columns = {document: column for column, document in enumerate(rows.documents)}
            relevant = []
            for query in rows.queries:
                relevant.append([columns[document] for document in rows.qrels[query]])
            scores = mean_scores(score_rankings(similarities, relevant))
            by_language[f"eval_score_{language}"] = scores["ndcg"]
            floors.append(scores["ndcg_floor"])
    mean = float(np.mean(list(by_language.values())))
    floor = float(np.mean(floors)) if floors else math.nan
    return {"eval_score": mean, "eval_floor": floor, IS_FINITE: float(math.isfinite(mean))} | by_language


# The library's CosineSimilarityLoss is a regression: it would push wrong pairs on until they are opposite
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
