"""Training of an encoder of texts with its development scores, by the trainer of sentence-transformers."""

from __future__ import annotations

import logging
import math
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from datasets import Dataset
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.sentence_transformer.evaluation import SentenceEvaluator

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.training.config import EncoderSettings, n_processes
from turkic_idiom_tasks.training.trainer import KeepBest, check_packages, keep_to_bars, trainer_arguments

log = logging.getLogger("turkic_idiom_tasks")

IS_FINITE = "is_finite"  # a metric: 0 if vectors hold NaN or infinity


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A score on the development data."""

    step: int  # optimiser steps so far, in the training for similarity epochs; 0 is the untuned model
    score: float  # nDCG in [0, 1] or Spearman's correlation in [-1, 1]; NaN if undefined, or vectors are not finite
    by_language: Mapping[str, float] = field(default_factory=dict)  # of retrieval: language of the meanings -> nDCG


@dataclass(frozen=True, slots=True, eq=False)
class Tuned:
    """An encoder after training, with the weights of its best evaluation, which may be the untuned ones."""

    model: SentenceTransformer  # ready to encode
    loss: str  # that it was trained with
    score_name: str  # of the development score, for texts
    unit: str  # of `Evaluation.step`, for texts
    history: tuple[Evaluation, ...]  # beginning with that of the untuned model
    n_examples: int  # rows of training data
    n_steps: int  # optimiser steps
    diverged_at: int | None  # step at which loss or vectors were not finite and training stopped
    stopped_early: bool  # whether patience ran out before the end of the last epoch

    @property
    def untuned(self) -> Evaluation:
        """Return the evaluation before training."""
        return self.history[0]

    @property
    def tuned(self) -> Evaluation | None:
        """Return the best evaluation of trained weights, the earliest among equal ones; None if none is defined."""
        defined = [evaluation for evaluation in self.history[1:] if math.isfinite(evaluation.score)]
        return max(defined, key=lambda evaluation: evaluation.score, default=None)

    @property
    def kept(self) -> Evaluation:
        """Return the evaluation of the weights that the model has now."""
        if self.tuned is None or self.tuned.score <= self.untuned.score:
            return self.untuned
        return self.tuned

    def record(self) -> dict[str, Any]:
        """Return the outcome for a record, in which None stands for a score that is undefined."""
        name = self.score_name.lower()
        history: list[dict[str, Any]] = []
        for past in self.history:
            history.append({self.unit: past.step, name: None if math.isnan(past.score) else past.score})
            if past.by_language:
                history[-1]["by_language"] = dict(past.by_language)
        return {
            "loss": self.loss,
            f"untuned_{name}": history[0][name],
            f"tuned_{name}": self.tuned.score if self.tuned else None,
            f"kept_{self.unit}": self.kept.step,
            "steps": self.n_steps,
            "diverged_at": self.diverged_at,
            "stopped_early": self.stopped_early,
            "verdict": self.verdict,
            "history": history,
        }

    @property
    def verdict(self) -> str:
        """Return one sentence on the effect of tuning and on the weights that were kept."""
        before, ending = shown(self.untuned.score), ""
        if self.diverged_at is not None:
            ending = f"; loss or vectors were not finite at step {self.diverged_at}, where training stopped"
        if self.tuned is None:
            return f"no tuned weights could be scored{ending}; the untuned weights are kept ({before})"
        after = f"{shown(self.tuned.score)} ({self.unit} {self.tuned.step})"
        if self.kept.step:
            return f"tuning raised development {self.score_name} from {before} to {after}{ending}"
        return (
            f"tuning did not raise development {self.score_name}, {before} untuned and at best {after}{ending}; the "
            "untuned weights are kept"
        )


def train_encoder(
    model: SentenceTransformer,
    rows: Dataset,
    evaluator: SentenceEvaluator,
    *,
    config: EncoderSettings,
    loss: str,
    make_loss: Callable[[SentenceTransformer], torch.nn.Module],
    evaluations: int | None = None,
    patience: int | None = None,
    **arguments: Any,
) -> Tuned:
    """Train the weights of a model, and return it with those of the best evaluation; nothing is written.

    Args:
        model: its weights are changed.
        rows: the training data, as the loss takes it.
        evaluator: called without arguments it returns the metrics of the weights that the model has now, in float32:
            its primary metric, the same by language (``NAME_CODE``), and `IS_FINITE`.
        config: settings of the training.
        loss: name of the loss.
        make_loss: returns the loss of the trainer's model.
        evaluations: number of evaluations, spread evenly over the steps; None evaluates after every epoch.
        patience: evaluations without a new best score after which training stops; None never stops.
        arguments: further arguments of the trainer.
    """
    check_packages("accelerate")
    if n_processes() > 1 and len(rows) < n_processes() * config.batch_size:  # rows that fill no batch are dropped
        raise InputError(
            f"{len(rows)} training rows are not one batch of {config.batch_size} for each of {n_processes()} "
            "processes; use fewer processes, or a smaller --batch-size"
        )
    watcher = _Watcher(model, str(evaluator.primary_metric), evaluations=evaluations, patience=patience)
    watcher.offer({f"eval_{name}": value for name, value in evaluator(model).items()} | {"epoch": 0, "step": 0})
    if not watcher.history[0][f"eval_{IS_FINITE}"]:
        raise InputError("the untuned model's vectors hold NaN or infinity; try another --pooling or model")
    with tempfile.TemporaryDirectory(prefix="turkic-idiom-") as scratch:  # the trainer makes an empty folder in it
        trainer = _EncoderTrainer(
            watcher,
            # another model with the same modules, which the trainer wraps for bfloat16; scores stay in float32
            model=SentenceTransformer(modules=list(model), device=str(model.device)),
            args=trainer_arguments(
                SentenceTransformerTrainingArguments,
                config,
                seed=config.seed,
                output_dir=scratch,
                logging_nan_inf_filter=False,  # the trainer checks the loss itself
                **arguments,
            ),
            train_dataset=rows,
            loss=make_loss,
            evaluator=evaluator,
        )
        trainer.train()
        n_steps = trainer.state.global_step
        if watcher.diverged_at is None and watcher.history[-1]["step"] != n_steps:
            trainer.evaluate()  # because of duplicates there were fewer batches than planned
    watcher.restore()
    history = []
    for number, metrics in enumerate(watcher.history):
        by_language = {}
        for name, value in metrics.items():
            if name.startswith(f"{watcher.score}_"):
                by_language[name.removeprefix(f"{watcher.score}_")] = value
        step = number if evaluations is None else int(metrics["step"])
        history.append(Evaluation(step, metrics[watcher.score], by_language))
    return Tuned(
        model=model.eval(),
        loss=loss,
        score_name=str(evaluator.name),
        unit="epoch" if evaluations is None else "step",
        history=tuple(history),
        n_examples=len(rows),
        n_steps=n_steps,
        diverged_at=watcher.diverged_at,
        stopped_early=watcher.ran_out,
    )


class _Watcher(KeepBest):
    """A callback that also decides when to evaluate an encoder and when to stop."""

    def __init__(
        self, model: SentenceTransformer, score: str, *, evaluations: int | None, patience: int | None
    ) -> None:
        self.score = f"eval_{score}"
        self.diverged_at: int | None = None  # step at which loss or vectors were not finite
        self.ran_out = False  # whether patience did
        self._n_evaluations = evaluations
        self._patience = patience or math.inf
        self._steps: set[int] = set()
        super().__init__(model, lambda metrics: (metrics[self.score],))

    def on_train_begin(self, args: Any, state: Any, control: Any, **context: Any) -> None:
        """Spread the evaluations evenly over the steps; the last one is at the last step."""
        for part in range(1, (self._n_evaluations or 0) + 1):
            self._steps.add(math.ceil(state.max_steps * part / (self._n_evaluations or 1)))

    def on_step_end(self, args: Any, state: Any, control: Any, **context: Any) -> None:
        """Request an evaluation at the planned steps."""
        control.should_evaluate = state.global_step in self._steps and self.diverged_at is None

    def on_epoch_end(self, args: Any, state: Any, control: Any, **context: Any) -> None:
        """Request an evaluation after every epoch, if no steps are planned."""
        control.should_evaluate = self._n_evaluations is None and self.diverged_at is None

    def on_evaluate(self, args: Any, state: Any, control: Any, *, metrics: Mapping[str, float], **context: Any) -> None:
        """Record an evaluation, and stop if vectors are not finite or patience runs out."""
        super().on_evaluate(args, state, control, metrics=metrics)
        name = self.score.removeprefix("eval_")
        log.info(
            "step %d of %d: development %s %s", state.global_step, state.max_steps, name, shown(metrics[self.score])
        )
        if not metrics[f"eval_{IS_FINITE}"]:
            self.diverged_at = state.global_step
            control.should_training_stop = True
            return
        scores = [-math.inf if math.isnan(past[self.score]) else past[self.score] for past in self.history[1:]]
        n_since_best = len(scores) - 1 - scores.index(max(scores))
        if n_since_best >= self._patience and state.global_step < state.max_steps:
            self.ran_out = control.should_training_stop = True


class _EncoderTrainer(SentenceTransformerTrainer):
    """Stock trainer, changed to stop at a loss that is not finite and to print nothing but progress bars."""

    def __init__(self, watcher: _Watcher, **options: Any) -> None:
        super().__init__(**options, callbacks=[watcher])
        self._watcher = watcher
        keep_to_bars(self)

    def add_model_card_callback(self, *arguments: Any, **options: Any) -> None:
        """Add no callback, because `cards` writes the card and the stock callback would tokenise all data."""

    def training_step(self, *arguments: Any, **options: Any) -> torch.Tensor:
        """Return the loss of one step; all processes stop together."""
        loss: torch.Tensor = super().training_step(*arguments, **options)
        if not self.accelerator.gather(loss.reshape(1)).isfinite().all():
            self._watcher.diverged_at = self.state.global_step + 1
            self.control.should_training_stop = True
        return loss


def shown(score: float) -> str:
    """Return a development score for a text."""
    return "undefined" if math.isnan(score) else f"{score:.4f}"
