"""Fine-tuning an encoder for retrieval on the pairs of a regime, in the paper's configuration.

Trainer, losses, sampler and optimiser are those of sentence-transformers; for plain encoders the loss is PyTorch's
CosineEmbeddingLoss on pooled vectors. Several times per epoch the development queries are scored as the task scores its
own. The best weights so far, the untuned ones to begin with, are kept in memory and are what training ends with.
"""

from __future__ import annotations

import logging
import math
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.finetuning.development import BestWeights, DevelopmentScore, Evaluation
from turkic_idiom_tasks.finetuning.processes import n_processes
from turkic_idiom_tasks.finetuning.progress import keep_to_bars
from turkic_idiom_tasks.finetuning.regimes import RegimeData, labelled_pairs
from turkic_idiom_tasks.finetuning.trainee import Trainee

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

log = logging.getLogger("turkic_idiom_tasks")

MNRL, COSINE = LOSSES = ("mnrl", "cosine")
LARGEST_SEED = 2**32 - 1  # that NumPy takes
_NDCG = "ndcg"


@dataclass(frozen=True, slots=True)
class RetrievalConfig:
    """How an encoder is fine-tuned; the defaults are the paper's where it says something.

    Attributes:
        epochs: passes over the training pairs.
        batch_size: pairs per step and device.
        learning_rate: of AdamW, falling linearly to 0.
        weight_decay: of AdamW.
        seed: of the order of the pairs, the negatives and dropout.
        loss: ``mnrl`` or ``cosine``; None is mnrl for sentence-transformers models and cosine for plain encoders.
        negatives: wrong meanings per pair for the cosine loss; 0 is the paper to the letter and collapses the encoder.
        pooling: one of the five; None is the model's own, for plain encoders the mean.
        evaluations: on the development queries, per epoch.
        patience: evaluations without a new best after which training stops.
        cached: mnrl over the whole batch in the memory of `mini_batch` pairs.
        mini_batch: pairs per forward pass where cached.
        bf16: train in bfloat16 autocast; weights and development scores stay float32.
        gradient_checkpointing: compute activations twice instead of keeping them.
        lora: rank of low-rank adapters, merged into the weights at the end; 0 trains all weights.
    """

    epochs: int = 1
    batch_size: int = 16
    learning_rate: float = 2e-5
    weight_decay: float = 0.01
    seed: int = 42
    loss: str | None = None
    negatives: int = 1
    pooling: str | None = None
    evaluations: int = 4
    patience: int = 3
    cached: bool = False
    mini_batch: int = 32
    bf16: bool = False
    gradient_checkpointing: bool = False
    lora: int = 0

    def __post_init__(self) -> None:
        if self.loss not in (None, *LOSSES):
            raise usage_error(f"unknown loss {self.loss!r}; known: {', '.join(LOSSES)}")
        for name in ("epochs", "batch_size", "evaluations", "patience", "mini_batch"):
            if getattr(self, name) < 1:
                raise usage_error(f"{name} must be at least 1, not {getattr(self, name)}")
        if not 0 < self.learning_rate < math.inf or not 0 <= self.weight_decay < math.inf:
            raise usage_error("the learning rate must be above 0, the weight decay not below it, and both finite")
        if min(self.negatives, self.lora) < 0 or not 0 <= self.seed <= LARGEST_SEED:
            raise usage_error(f"negatives and lora must not be below 0, and seed not outside 0 to {LARGEST_SEED}")
        if self.cached and self.gradient_checkpointing:
            raise usage_error("cached and gradient_checkpointing save the same memory twice; choose one of them")


@dataclass(frozen=True, slots=True, eq=False)
class TunedEncoder:
    """An encoder with the best of the weights it had, the untuned ones among them.

    Attributes:
        model: ready to encode, made of stock modules.
        loss: that it was trained with.
        history: the evaluations, of the untuned model first.
        diverged_at: step whose loss or vectors were not finite, where training stopped; None if all were.
        n_steps: optimiser steps that were made.
        stopped_early: whether patience ran out before the last epoch ended.
    """

    model: SentenceTransformer
    loss: str
    history: tuple[Evaluation, ...]
    diverged_at: int | None
    n_steps: int
    stopped_early: bool

    @property
    def untuned(self) -> Evaluation:
        """The evaluation before training."""
        return self.history[0]

    @property
    def tuned(self) -> Evaluation | None:
        """The best evaluation of weights that were trained, the earliest of equals; None if none was finite."""
        finite = [one for one in self.history[1:] if math.isfinite(one.ndcg)]
        return max(finite, key=lambda one: one.ndcg, default=None)

    @property
    def kept(self) -> Evaluation:
        """The evaluation of the weights that the model has now."""
        return self.tuned if self.tuned is not None and self.tuned.ndcg > self.untuned.ndcg else self.untuned

    @property
    def verdict(self) -> str:
        """One sentence: what tuning did, and which weights stand."""
        before = f"{self.untuned.ndcg:.4f}"
        diverged = f"; loss or vectors were not finite at step {self.diverged_at}, where training stopped"
        ending = diverged if self.diverged_at is not None else ""
        if self.tuned is None:
            return f"no tuned weights could be scored{ending}; the untuned weights are kept ({before})"
        after = f"{self.tuned.ndcg:.4f} (step {self.tuned.step})"
        if self.kept.step:
            return f"tuning raised development nDCG from {before} to {after}{ending}"
        what = "did not change" if self.tuned.ndcg == self.untuned.ndcg else "made it worse:"
        scores = f"{before} untuned and at best {after}"
        return f"tuning {what} development nDCG, {scores}{ending}; the untuned weights are kept"


def fine_tune_retrieval(trainee: Trainee, data: RegimeData, *, config: RetrievalConfig) -> TunedEncoder:
    """Trains an encoder's own weights on the pairs of a regime; nothing is written.

    Args:
        trainee: from `trainee.load_trainee`; its weights are changed.
        data: from `regimes.build_regime`.
        config: how; the trainee was loaded with its pooling.

    Raises:
        InputError: the untuned model's vectors are not finite, a package is missing, or there are more processes
            than batches.
    """
    from transformers import set_seed

    _check(config, n_pairs=len(data.pairs))
    loss = config.loss or (COSINE if trainee.is_plain else MNRL)
    if loss == COSINE and config.negatives == 0:
        log.warning("0 negatives, the paper's setting to the letter: nothing pushes vectors apart, so they collapse")
    set_seed(config.seed)
    if config.lora:
        _add_adapters(trainee.model, rank=config.lora)
    development = DevelopmentScore(trainee.model, data.development, prompts=trainee.prompts)
    best = BestWeights(trainee.model, development(step=0))
    watcher = _watcher_class()(best, config=config)
    with tempfile.TemporaryDirectory(prefix="turkic-idiom-") as scratch:  # must be given; nothing of it is kept
        trainer = _trainer_class()(
            watcher,
            model=_shell(trainee.model),
            args=_arguments(config, trainee.prompts, loss=loss, scratch=scratch),
            train_dataset=_dataset(data, loss=loss, config=config),
            loss=lambda model: _loss(model, loss, config=config),
            evaluator=_as_evaluator(development),
        )
        trainer.train()
        if watcher.diverged_at is None and best.history[-1].step != trainer.state.global_step:
            trainer.evaluate()  # duplicates made fewer batches than were planned
    best.restore()
    if config.lora:
        trainee.model[0].model = trainee.model[0].model.merge_and_unload()
    history, steps = tuple(best.history), trainer.state.global_step
    return TunedEncoder(trainee.model.eval(), loss, history, watcher.diverged_at, steps, watcher.ran_out)


def _as_evaluator(development: DevelopmentScore) -> Any:
    """The score as sentence-transformers' evaluator; under torchrun the first process scores for all."""
    from sentence_transformers.sentence_transformer.evaluation import SentenceEvaluator

    class Development(SentenceEvaluator):
        def __init__(self) -> None:
            super().__init__()
            self.primary_metric = _NDCG

        def __call__(self, model: Any, output_path: str | None = None, epoch: float = -1, steps: int = -1) -> Any:
            found = development(step=steps)
            return {_NDCG: found.ndcg} | {f"{_NDCG}_{code}": score for code, score in found.by_language.items()}

    return Development()


def _watcher_class() -> Any:
    """A callback that says when to evaluate and when to stop."""
    from transformers import TrainerCallback

    class Watcher(TrainerCallback):
        diverged_at: int | None = None
        ran_out = False

        def __init__(self, best: BestWeights, *, config: RetrievalConfig) -> None:
            self._best, self._patience = best, config.patience
            self._n_evaluations = config.evaluations * config.epochs
            self._steps: set[int] = set()

        def on_train_begin(self, args: Any, state: Any, control: Any, **context: Any) -> None:
            parts = range(1, self._n_evaluations + 1)
            self._steps = {math.ceil(state.max_steps * part / self._n_evaluations) for part in parts}

        def on_step_end(self, args: Any, state: Any, control: Any, **context: Any) -> None:
            control.should_evaluate = state.global_step in self._steps and self.diverged_at is None

        def on_evaluate(self, args: Any, state: Any, control: Any, **context: Any) -> None:
            start = f"eval_{_NDCG}_"
            metrics = context["metrics"]
            by_language = {key.removeprefix(start): score for key, score in metrics.items() if key.startswith(start)}
            found = Evaluation(state.global_step, metrics[f"eval_{_NDCG}"], by_language)
            self._best.add(found)
            log.info("step %d of %d: development nDCG %.4f", found.step, state.max_steps, found.ndcg)
            if not math.isfinite(found.ndcg):
                self.diverged_at = found.step
                control.should_training_stop = True
            elif self._best.evaluations_since >= self._patience and found.step < state.max_steps:
                self.ran_out = control.should_training_stop = True

    return Watcher


def _trainer_class() -> Any:
    """The trainer, which stops at a loss that is not finite."""
    from sentence_transformers import SentenceTransformerTrainer

    class Trainer(SentenceTransformerTrainer):
        def __init__(self, watcher: Any, **options: Any) -> None:
            super().__init__(**options, callbacks=[watcher])
            self._watcher = watcher
            keep_to_bars(self)

        def add_model_card_callback(self, *arguments: Any, **options: Any) -> None:
            """None: the card is ours, and that of sentence-transformers tokenises the data for its own."""

        def training_step(self, *arguments: Any, **options: Any) -> Any:
            loss = super().training_step(*arguments, **options)
            if not self.accelerator.gather(loss.reshape(1)).isfinite().all():  # all processes must stop together
                self._watcher.diverged_at = self.state.global_step + 1
                self.control.should_training_stop = True
            return loss

    return Trainer


def _shell(model: SentenceTransformer) -> SentenceTransformer:
    """The same modules in another model: the trainer wraps it for bfloat16, and the scores must stay in float32."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(modules=list(model), device=str(model.device))


def _dataset(data: RegimeData, *, loss: str, config: RetrievalConfig) -> Any:
    from datasets import Dataset

    if loss == MNRL:
        columns = {"anchor": [pair.idiom for pair in data.pairs], "positive": [pair.meaning for pair in data.pairs]}
        return Dataset.from_dict(columns)
    rows = labelled_pairs(data.pairs, negatives=config.negatives, rng=np.random.default_rng(config.seed))
    anchors, others, labels = zip(*rows, strict=True)
    return Dataset.from_dict({"anchor": anchors, "positive": others, "label": labels})


def _loss(model: Any, name: str, *, config: RetrievalConfig) -> Any:
    from sentence_transformers.sentence_transformer.losses import (
        CachedMultipleNegativesRankingLoss,
        MultipleNegativesRankingLoss,
    )

    if name == COSINE:
        return _cosine_loss_class()(model)
    gather = n_processes() > 1  # the negatives of all of them
    if config.cached:
        return CachedMultipleNegativesRankingLoss(
            model, mini_batch_size=config.mini_batch, gather_across_devices=gather
        )
    return MultipleNegativesRankingLoss(model, gather_across_devices=gather)


def _cosine_loss_class() -> Any:
    """PyTorch's CosineEmbeddingLoss on the vectors of two columns, with labels 1 and -1."""
    import torch

    class CosineEmbeddingLoss(torch.nn.Module):
        def __init__(self, model: Any) -> None:
            super().__init__()
            self.model = model
            self._loss = torch.nn.CosineEmbeddingLoss()

        def forward(self, sentence_features: Any, labels: Any) -> Any:
            one, other = (self.model(features)["sentence_embedding"] for features in sentence_features)
            return self._loss(one, other, labels.to(one.dtype))

    return CosineEmbeddingLoss


def _add_adapters(model: SentenceTransformer, *, rank: int) -> None:
    from peft import LoraConfig, get_peft_model

    adapters = LoraConfig(r=rank, lora_alpha=2 * rank, lora_dropout=0.05, target_modules="all-linear")
    model[0].model = get_peft_model(model[0].model, adapters)


def _arguments(config: RetrievalConfig, prompts: Mapping[str, str], *, loss: str, scratch: str) -> Any:
    import sys

    import torch
    from sentence_transformers import SentenceTransformerTrainingArguments
    from sentence_transformers.sentence_transformer.training_args import BatchSamplers

    checkpointing = {"gradient_checkpointing": True, "gradient_checkpointing_kwargs": {"use_reentrant": False}}
    return SentenceTransformerTrainingArguments(
        output_dir=scratch,
        num_train_epochs=config.epochs,
        per_device_train_batch_size=config.batch_size,
        learning_rate=config.learning_rate,
        weight_decay=config.weight_decay,
        optim="adamw_torch_fused",
        lr_scheduler_type="linear",
        batch_sampler=BatchSamplers.NO_DUPLICATES if loss == MNRL else BatchSamplers.BATCH_SAMPLER,
        prompts={"anchor": prompts["query"], "positive": prompts["document"]} if any(prompts.values()) else None,
        bf16=config.bf16,
        **(checkpointing if config.gradient_checkpointing else {}),
        use_cpu=not torch.accelerator.is_available(),
        seed=config.seed,
        data_seed=config.seed,
        eval_strategy="no",  # the callback says when
        save_strategy="no",
        logging_strategy="no",
        logging_nan_inf_filter=False,  # the trainer looks itself
        report_to="none",
        disable_tqdm=not sys.stderr.isatty(),
        dataloader_pin_memory=False,
    )


def _check(config: RetrievalConfig, *, n_pairs: int) -> None:
    from importlib.util import find_spec

    needed = ["accelerate", *(["peft"] if config.lora else [])]
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise InputError(
            f"fine-tuning needs {' and '.join(missing)}; install with: pip install 'turkic-idiom-tasks[finetune]'"
        )
    if n_processes() > 1 and n_pairs < n_processes() * config.batch_size:  # uneven batches are dropped there
        raise InputError(
            f"{n_pairs} training pairs are not one batch of {config.batch_size} for each of {n_processes()} "
            "processes; take fewer, or a smaller --batch-size"
        )
