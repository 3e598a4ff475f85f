"""Training of an encoder of texts with its development scores, by the trainer of sentence-transformers."""

import math
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.sentence_transformer.evaluation import SentenceEvaluator

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.metrics.ranking import are_near_floor
from turkic_idiom_tasks.training.cards import shown
from turkic_idiom_tasks.training.config import EncoderSettings, n_processes
from turkic_idiom_tasks.training.trainer import (
    IS_FINITE,
    KeepBest,
    check_package,
    set_weights,
    train_with_progress,
    trainer_arguments,
)


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
    floor: float = math.nan  # development score of a random ranking

    @property
    def tuned(self) -> Evaluation | None:
        """Return the best evaluation of trained weights, the earliest among equal ones; None if none is defined."""
        defined = [evaluation for evaluation in self.history[1:] if math.isfinite(evaluation.score)]
        return max(defined, key=lambda evaluation: evaluation.score, default=None)

    @property
    def kept(self) -> Evaluation:
        """Return the evaluation of the weights that the model has now."""
        untuned = self.history[0]
        if self.tuned is None or self.tuned.score <= untuned.score:
            return untuned
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
        untuned = self.history[0]
        before, ending = shown(untuned.score, 4), ""
        if self.diverged_at is not None:
            ending = f"; loss or vectors were not finite at step {self.diverged_at}, where training stopped"
        if self.tuned is None:
            return f"no tuned weights could be scored{ending}; the untuned weights are kept ({before})"
        after = f"{shown(self.tuned.score, 4)} ({self.unit} {self.tuned.step})"
        if are_near_floor((untuned.score, self.tuned.score), self.floor):
            ending += f"; both are near the {self.floor:.4f} of a random ranking, where a difference says little"
        if self.kept.step:
            return f"tuning raised development {self.score_name} from {before} to {after}{ending}"
        return (
            f"tuning did not raise development {self.score_name}, {before} untuned and at best {after}{ending}; the "
            "untuned weights are kept"
        )


def train_encoder(
    model: SentenceTransformer,
    rows: Dataset,
    evaluate: Callable[[], dict[str, float]],
    *,
    config: EncoderSettings,
    loss: str,
    score_name: str,
    make_loss: Callable[[SentenceTransformer], torch.nn.Module],
    evaluations: int | None = None,
    patience: int | None = None,
    **arguments: Any,
) -> Tuned:
    """Train the weights of a model, and return it with those of the best evaluation; nothing is written.

    `evaluate` returns the scores of the weights that the model has now: the metrics ``eval_score``, by language
    ``eval_score_CODE``, and `IS_FINITE`. `evaluations` of them are spread over the steps; None evaluates after every
    epoch. See `KeepBest` for the patience. `arguments` are further ones of the trainer.
    """
    check_package("accelerate")  # before the untuned model is scored
    # With several processes, the trainer drops rows that fill no batch, and would train on nothing without a word.
    if n_processes() > 1 and len(rows) < n_processes() * config.batch_size:
        raise InputError(
            f"{len(rows)} training rows are not one batch of {config.batch_size} for each of {n_processes()} "
            "processes; use fewer processes, or a smaller batch_size"
        )
    # the untuned weights are scored too: they are kept if no training makes them better
    best = KeepBest(model, "eval_score", evaluations=evaluations, patience=patience)
    best.offer(evaluate() | {"epoch": 0, "step": 0})
    if not best.history[0][IS_FINITE]:
        raise InputError("the untuned model's vectors hold NaN or infinity; try another pooling or model")
    with tempfile.TemporaryDirectory(prefix="turkic-idiom-") as scratch:  # the trainer makes an empty folder in it
        trainer = _EncoderTrainer(
            best,
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
            evaluator=_Evaluator(evaluate),
        )
        train_with_progress(trainer)
        n_steps = trainer.state.global_step
        if best.diverged_at is None and best.history[-1]["step"] != n_steps:
            trainer.evaluate()  # because of duplicates there were fewer batches than planned
    set_weights(model, best.weights)
    history = []
    for number, metrics in enumerate(best.history):
        prefix = "eval_score_"
        by_language = {name.removeprefix(prefix): metrics[name] for name in metrics if name.startswith(prefix)}
        step = number if evaluations is None else int(metrics["step"])
        history.append(Evaluation(step, metrics["eval_score"], by_language))
    return Tuned(
        model=model.eval(),
        loss=loss,
        score_name=score_name,
        unit="epoch" if evaluations is None else "step",
        history=tuple(history),
        n_examples=len(rows),
        n_steps=n_steps,
        diverged_at=best.diverged_at,
        stopped_early=best.ran_out,
        floor=best.history[0].get("eval_floor", math.nan),
    )


class _Evaluator(SentenceEvaluator):
    """Scores the model that is trained; under torchrun one process alone does."""

    def __init__(self, evaluate: Callable[[], dict[str, float]]) -> None:
        super().__init__()
        self._evaluate = evaluate

    def __call__(self, *arguments: Any, **options: Any) -> dict[str, float]:
        # Not the model among the arguments, which the trainer has wrapped for bfloat16
        return self._evaluate()


class _EncoderTrainer(SentenceTransformerTrainer):
    """Stock trainer, changed to stop at a loss that is not finite and to print nothing but progress bars."""

    def __init__(self, best: KeepBest, **options: Any) -> None:
        super().__init__(**options, callbacks=[best])
        self._best = best

    def add_model_card_callback(self, *arguments: Any, **options: Any) -> None:
        """Add no callback, because `cards` writes the card and the stock callback would tokenise all data."""

    def training_step(self, *arguments: Any, **options: Any) -> torch.Tensor:
        """Return the loss of one step; all processes stop together."""
        loss: torch.Tensor = super().training_step(*arguments, **options)
        # gathered, because a process that stopped alone would leave the others waiting for its gradients
        if not self.accelerator.gather(loss.reshape(1)).isfinite().all():
            self._best.diverged_at = self.state.global_step + 1
            self.control.should_training_stop = True
        return loss
