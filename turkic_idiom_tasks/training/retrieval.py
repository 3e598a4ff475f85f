"""Fine-tuning an encoder for retrieval on the pairs of a regime, in the paper's configuration.

Trainer, losses, sampler and optimiser are those of sentence-transformers; for plain encoders the loss is PyTorch's
CosineEmbeddingLoss on pooled vectors. Several times per epoch the development queries are scored in the same way as the
test queries of the task. The best weights so far, at first the untuned ones, are kept in memory, and training ends with
them.
"""

from __future__ import annotations

import logging
import math
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainingArguments
from sentence_transformers.sentence_transformer.losses import (
    CachedMultipleNegativesRankingLoss,
    MultipleNegativesRankingLoss,
)
from sentence_transformers.sentence_transformer.training_args import BatchSamplers
from transformers import TrainerCallback, set_seed

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.training.config import COSINE, MNRL, RetrievalConfig, n_processes
from turkic_idiom_tasks.training.development import DevelopmentScore, Evaluation
from turkic_idiom_tasks.training.encoder_trainer import (
    EncoderTrainer,
    ScoreEvaluator,
    check_batches,
    check_packages,
    encoder_arguments,
    trainer_shell,
)
from turkic_idiom_tasks.training.regimes import RegimeData, labelled_pairs
from turkic_idiom_tasks.training.trainee import Trainee
from turkic_idiom_tasks.training.training import BestWeights

log = logging.getLogger("turkic_idiom_tasks")

_NDCG = "ndcg"
_CHECKPOINTING = {"gradient_checkpointing": True, "gradient_checkpointing_kwargs": {"use_reentrant": False}}


@dataclass(frozen=True, slots=True, eq=False)
class TunedEncoder:
    """A tuned encoder with its best weights, which may be the untuned ones.

    Attributes:
        model: the model, made of stock modules and ready to encode.
        loss: loss that it was trained with.
        history: the evaluations, beginning with that of the untuned model.
        diverged_at: step at which loss or vectors were not finite and training stopped; None if there was none.
        n_steps: number of optimiser steps.
        stopped_early: whether patience ran out before the end of the last epoch.
    """

    model: SentenceTransformer
    loss: str
    history: tuple[Evaluation, ...]
    diverged_at: int | None
    n_steps: int
    stopped_early: bool

    @property
    def untuned(self) -> Evaluation:
        """Return the evaluation before training."""
        return self.history[0]

    @property
    def tuned(self) -> Evaluation | None:
        """Return the best evaluation of trained weights, the earliest among equal ones; None if none was finite."""
        finite = [evaluation for evaluation in self.history[1:] if math.isfinite(evaluation.ndcg)]
        return max(finite, key=lambda evaluation: evaluation.ndcg, default=None)

    @property
    def kept(self) -> Evaluation:
        """Return the evaluation of the weights that the model has now."""
        return self.tuned if self.tuned is not None and self.tuned.ndcg > self.untuned.ndcg else self.untuned

    @property
    def verdict(self) -> str:
        """Return one sentence on the effect of tuning and on the weights that were kept."""
        before = f"{self.untuned.ndcg:.4f}"
        ending = ""
        if self.diverged_at is not None:
            ending = f"; loss or vectors were not finite at step {self.diverged_at}, where training stopped"
        if self.tuned is None:
            return f"no tuned weights could be scored{ending}; the untuned weights are kept ({before})"
        after = f"{self.tuned.ndcg:.4f} (step {self.tuned.step})"
        if self.kept.step:
            return f"tuning raised development nDCG from {before} to {after}{ending}"
        if self.tuned.ndcg == self.untuned.ndcg:
            return f"tuning did not change development nDCG, {before}{ending}; the untuned weights are kept"
        scores = f"{before} untuned and at best {after}"
        return f"tuning made it worse: development nDCG {scores}{ending}; the untuned weights are kept"


def fine_tune_retrieval(trainee: Trainee, data: RegimeData, *, config: RetrievalConfig) -> TunedEncoder:
    """Train an encoder's own weights on the pairs of a regime; nothing is written.

    Args:
        trainee: from `trainee.load_trainee`; its weights are changed.
        data: from `regimes.build_regime`.
        config: settings of the training; the trainee must have been loaded with its pooling.

    Raises:
        InputError: the untuned model's vectors are not finite, a package is missing, or there are more processes
            than batches.
    """
    _check(config, n_pairs=len(data.pairs))
    model = trainee.model
    loss = config.loss or (COSINE if trainee.is_plain else MNRL)
    if loss == COSINE and config.negatives == 0:
        log.warning("0 negatives, the paper's setting to the letter: nothing pushes vectors apart, so they collapse")
    set_seed(config.seed)
    if config.lora:
        _add_adapters(model, rank=config.lora)
    score = DevelopmentScore(model, data.development, prompts=trainee.prompts)
    watcher = _Watcher(model, score(step=0), config=config)
    with tempfile.TemporaryDirectory(prefix="turkic-idiom-") as scratch:  # required by the trainer; nothing is kept
        trainer = EncoderTrainer(
            watcher,
            model=trainer_shell(model),
            args=_arguments(config, trainee.prompts, loss=loss, scratch=scratch),
            train_dataset=_training_rows(data, loss=loss, config=config),
            loss=partial(_make_loss, name=loss, config=config),
            evaluator=ScoreEvaluator(_NDCG, partial(_scores, score=score)),
        )
        trainer.train()
        if watcher.diverged_at is None and watcher.history[-1].step != trainer.state.global_step:
            trainer.evaluate()  # because of duplicates there were fewer batches than planned
    watcher.best.restore()
    if config.lora:
        model[0].model = model[0].model.merge_and_unload()
    return TunedEncoder(
        model=model.eval(),
        loss=loss,
        history=tuple(watcher.history),
        diverged_at=watcher.diverged_at,
        n_steps=trainer.state.global_step,
        stopped_early=watcher.ran_out,
    )


def _scores(step: int, *, score: DevelopmentScore) -> dict[str, float]:
    evaluation = score(step=step)
    by_language = {f"{_NDCG}_{code}": ndcg for code, ndcg in evaluation.by_language.items()}
    return {_NDCG: evaluation.ndcg} | by_language


class _Watcher(TrainerCallback):
    """A callback that decides when to evaluate and when to stop, and that keeps the best weights.

    Attributes:
        history: the evaluations so far, beginning with that of the untuned model.
        best: weights of the best evaluation.
        diverged_at: step at which loss or vectors were not finite.
        ran_out: whether patience ran out.
    """

    def __init__(self, model: SentenceTransformer, untuned: Evaluation, *, config: RetrievalConfig) -> None:
        if not math.isfinite(untuned.ndcg):
            raise InputError("the untuned model's vectors hold NaN or infinity; try another --pooling or model")
        self.history = [untuned]
        self.best = BestWeights(model)
        self.best.offer(untuned.ndcg)
        self.diverged_at: int | None = None
        self.ran_out = False
        self._patience = config.patience
        self._n_evaluations = config.evaluations * config.epochs
        self._steps: set[int] = set()

    def on_train_begin(self, args: Any, state: Any, control: Any, **context: Any) -> None:
        """Spread the evaluations evenly over the steps; the last one is at the last step."""
        for part in range(1, self._n_evaluations + 1):
            self._steps.add(math.ceil(state.max_steps * part / self._n_evaluations))

    def on_step_end(self, args: Any, state: Any, control: Any, **context: Any) -> None:
        """Request an evaluation at the planned steps."""
        control.should_evaluate = state.global_step in self._steps and self.diverged_at is None

    def on_evaluate(self, args: Any, state: Any, control: Any, *, metrics: Mapping[str, float], **context: Any) -> None:
        """Record an evaluation, and stop if it is not finite or patience runs out."""
        prefix = f"eval_{_NDCG}_"
        by_language = {}
        for key, value in metrics.items():
            if key.startswith(prefix):
                by_language[key.removeprefix(prefix)] = value
        evaluation = Evaluation(state.global_step, metrics[f"eval_{_NDCG}"], by_language)
        self.history.append(evaluation)
        self.best.offer(evaluation.ndcg)
        log.info("step %d of %d: development nDCG %.4f", evaluation.step, state.max_steps, evaluation.ndcg)
        if not math.isfinite(evaluation.ndcg):
            self.diverged_at = evaluation.step
            control.should_training_stop = True
        elif self._evaluations_since_best() >= self._patience and evaluation.step < state.max_steps:
            self.ran_out = control.should_training_stop = True

    def _evaluations_since_best(self) -> int:
        """Return the number of evaluations of tuned weights after the best one."""
        scores = [evaluation.ndcg for evaluation in self.history[1:]]
        return len(scores) - 1 - int(np.nanargmax(scores))


class _CosineEmbeddingLoss(torch.nn.Module):
    """PyTorch's CosineEmbeddingLoss on the vectors of two columns, with labels 1 and -1."""

    def __init__(self, model: SentenceTransformer) -> None:
        super().__init__()
        self.model = model
        self._loss = torch.nn.CosineEmbeddingLoss()

    def forward(self, sentence_features: Any, labels: torch.Tensor) -> torch.Tensor:
        """Return the mean loss of a batch; labels are (B,)."""
        anchor_features, other_features = sentence_features
        anchors = self.model(anchor_features)["sentence_embedding"]
        others = self.model(other_features)["sentence_embedding"]
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


def _add_adapters(model: SentenceTransformer, *, rank: int) -> None:
    from peft import LoraConfig, get_peft_model  # late, because the package is optional

    adapters = LoraConfig(r=rank, lora_alpha=2 * rank, lora_dropout=0.05, target_modules="all-linear")
    model[0].model = get_peft_model(model[0].model, adapters)


def _arguments(
    config: RetrievalConfig, prompts: Mapping[str, str], *, loss: str, scratch: str
) -> SentenceTransformerTrainingArguments:
    return encoder_arguments(
        scratch,
        num_train_epochs=config.epochs,
        per_device_train_batch_size=config.batch_size,
        learning_rate=config.learning_rate,
        weight_decay=config.weight_decay,
        batch_sampler=BatchSamplers.NO_DUPLICATES if loss == MNRL else BatchSamplers.BATCH_SAMPLER,
        prompts={"anchor": prompts["query"], "positive": prompts["document"]} if any(prompts.values()) else None,
        bf16=config.bf16,
        seed=config.seed,
        **(_CHECKPOINTING if config.gradient_checkpointing else {}),
    )


def _check(config: RetrievalConfig, *, n_pairs: int) -> None:
    check_packages("accelerate", *(["peft"] if config.lora else []))
    check_batches(n_pairs, batch_size=config.batch_size)
