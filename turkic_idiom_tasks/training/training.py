"""Parts that the trainings share: arguments of the trainer, progress bars, and the best weights so far."""

from __future__ import annotations

import math
import sys
import tempfile
from typing import Any

import torch
from transformers import PrinterCallback, ProgressCallback, TrainingArguments


def trainer_arguments(*, seed: int, **options: Any) -> TrainingArguments:
    """Return arguments of a stock Trainer that saves, logs and uploads nothing; AdamW, with a rate that falls to 0.

    Args:
        seed: seed of the order of the data and of dropout.
        options: what the training itself decides, by the names of `TrainingArguments`.
    """
    return TrainingArguments(
        output_dir=tempfile.gettempdir(),  # required by the trainer; nothing is saved
        optim="adamw_torch_fused",
        lr_scheduler_type="linear",
        use_cpu=not torch.accelerator.is_available(),
        seed=seed,
        data_seed=seed,
        save_strategy="no",
        logging_strategy="no",
        report_to="none",
        disable_tqdm=not sys.stderr.isatty(),
        dataloader_pin_memory=False,
        **options,
    )


class BestWeights:
    """A copy in memory of the weights that a model had at its best evaluation."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._model = model
        self._rank: tuple[float, ...] | None = None
        self._weights: dict[str, torch.Tensor] = {}

    def offer(self, *rank: float) -> bool:
        """Copy the weights of the model if their evaluation is better than all earlier ones; return whether it is.

        Args:
            rank: scores of the evaluation, higher is better, compared from left to right; NaN is below every number.
        """
        comparable = tuple(-math.inf if math.isnan(score) else score for score in rank)
        if self._rank is not None and comparable <= self._rank:
            return False
        self._rank = comparable
        self._weights = {}
        for name, parameter in self._model.named_parameters():
            if parameter.requires_grad:
                self._weights[name] = parameter.detach().to("cpu", copy=True)
        return True

    def restore(self) -> None:
        """Set the weights of the model to the best ones; without any evaluation they stay as they are."""
        with torch.no_grad():
            for name, parameter in self._model.named_parameters():
                if name in self._weights:
                    parameter.copy_(self._weights[name])


class _SilentProgress(ProgressCallback):
    """Trainer's progress bars on stderr, without its logs, which would go to stdout among the results."""

    def on_log(self, *arguments: Any, **context: Any) -> None:
        """Write nothing."""


def keep_to_bars(trainer: Any) -> None:
    """Remove the output of a trainer of transformers, except its progress bars."""
    trainer.remove_callback(PrinterCallback)
    if trainer.pop_callback(ProgressCallback) is not None:
        trainer.add_callback(_SilentProgress)
