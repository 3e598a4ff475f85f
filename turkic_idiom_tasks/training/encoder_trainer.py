"""Trainer of sentence-transformers that the trainings of encoders share: it stops at a loss that is not finite.

Nothing is written while it trains, and nothing is printed but progress bars.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, Protocol

import torch
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.sentence_transformer.evaluation import SentenceEvaluator

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.training.config import n_processes
from turkic_idiom_tasks.training.training import keep_to_bars


class Watcher(Protocol):
    """A callback of the trainer that is told when training diverges.

    Attributes:
        diverged_at: step at which loss or vectors were not finite.
    """

    diverged_at: int | None


class EncoderTrainer(SentenceTransformerTrainer):
    """Stock trainer, changed to stop at a loss that is not finite and to print nothing but progress bars."""

    def __init__(self, watcher: Watcher, **options: Any) -> None:
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


class ScoreEvaluator(SentenceEvaluator):
    """Scores as an evaluator of sentence-transformers; under torchrun only the first process computes them."""

    def __init__(self, main_score: str, scores: Callable[[int], Mapping[str, float]]) -> None:
        """Take the name of the main score, and a function that returns name -> score at a step."""
        super().__init__()
        self.primary_metric = main_score
        self._scores = scores

    def __call__(
        self, model: SentenceTransformer, output_path: str | None = None, epoch: float = -1, steps: int = -1
    ) -> dict[str, float]:
        """Return name -> score of the weights that the model has now."""
        return dict(self._scores(steps))


def trainer_shell(model: SentenceTransformer) -> SentenceTransformer:
    """Return another model with the same modules, for the trainer to wrap for bfloat16; scores stay in float32."""
    return SentenceTransformer(modules=list(model), device=str(model.device))


def encoder_arguments(scratch: str, **settings: Any) -> SentenceTransformerTrainingArguments:
    """Return the arguments of a training that writes, logs and evaluates nothing by itself.

    Args:
        scratch: folder, required by the trainer; nothing is kept in it.
        settings: settings of the training under the names of the trainer; ``seed`` also decides the order of the data.
    """
    return SentenceTransformerTrainingArguments(
        output_dir=scratch,
        optim="adamw_torch_fused",
        lr_scheduler_type="linear",
        use_cpu=not torch.accelerator.is_available(),
        data_seed=settings["seed"],
        eval_strategy="no",  # the watcher requests evaluations
        save_strategy="no",
        logging_strategy="no",
        logging_nan_inf_filter=False,  # the trainer checks the loss itself
        report_to="none",
        disable_tqdm=not sys.stderr.isatty(),
        dataloader_pin_memory=False,
        **settings,
    )


def check_packages(*names: str) -> None:
    """Check that the packages which a training needs are installed.

    Raises:
        InputError: one is missing; says how to install it.
    """
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        raise InputError(
            f"fine-tuning needs {' and '.join(missing)}; install with: pip install 'turkic-idiom-tasks[finetune]'"
        )


def check_batches(n_rows: int, *, batch_size: int) -> None:
    """Check that several processes have a batch each; rows that fill none are dropped.

    Raises:
        InputError: they have not, so that nothing would be trained.
    """
    if n_processes() > 1 and n_rows < n_processes() * batch_size:
        raise InputError(
            f"{n_rows} training rows are not one batch of {batch_size} for each of {n_processes()} processes; use "
            "fewer processes, or a smaller --batch-size"
        )
