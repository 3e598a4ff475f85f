"""What all trainings share: stock trainers that write nothing, and the weights of the best evaluation."""

import logging
import math
import tempfile
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, TypeVar

import torch
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments, set_seed

from turkic_idiom_tasks.encoders.checkpoints import load_pretrained
from turkic_idiom_tasks.encoders.tokenizer import load_tokenizer
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.progress import progress
from turkic_idiom_tasks.training.config import TrainerSettings, is_first_process

log = logging.getLogger("turkic_idiom_tasks")

IS_FINITE = "eval_is_finite"  # a metric: 0 if vectors hold NaN or infinity
EVALUATION_BATCH = 64  # texts; larger than in training, because there is no backward pass

Arguments = TypeVar("Arguments", bound=TrainingArguments)
Weights = dict[str, torch.Tensor]


def trainer_arguments(kind: type[Arguments], config: TrainerSettings, *, seed: int, **options: Any) -> Arguments:
    """Return arguments of a stock trainer that saves, logs and uploads nothing; the options are further ones."""
    check_package("accelerate")
    settings = {
        "output_dir": tempfile.gettempdir(),  # required by the trainer; nothing is saved
        "num_train_epochs": config.epochs,
        "per_device_train_batch_size": config.batch_size,
        "learning_rate": config.learning_rate,
        "weight_decay": config.weight_decay,
        "bf16": config.bf16,
        "optim": "adamw_torch_fused",  # transformers' own choice depends on the version of torch
        "lr_scheduler_type": "linear",
        "use_cpu": not torch.accelerator.is_available(),  # transformers refuses bf16 on a CPU that is not chosen
        "seed": seed,
        "data_seed": seed,  # the order of the rows; accelerate would otherwise take torch's state
        "save_strategy": "no",
        "logging_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,  # `train_with_progress` shows the steps
        # True warns on every machine without an accelerator
        "dataloader_pin_memory": False,
    }
    arguments: Arguments = kind(**settings | options)
    return arguments


# The stock load_best_model_at_end does not know the weights from before the training, which are the best ones if every
# evaluation is worse; of equal scores it takes the first, not the one with the smaller loss; and it writes the model to
# the disk at each new best score, 2 GB for a large encoder. EarlyStoppingCallback depends on it.
class KeepBest(TrainerCallback):
    """Keeps the weights of the best evaluation in memory, says when to evaluate, and when to stop."""

    def __init__(
        self, model: torch.nn.Module, *ranks: str, evaluations: int | None = None, patience: int | None = None
    ) -> None:
        """Begin without any evaluation; evaluations are compared by the metrics in `ranks`, the most important first.

        Higher is better, but for ``eval_loss``; NaN is worse than every number. `evaluations` of them are spread evenly
        over the steps; None evaluates after every epoch. Training stops after `patience` evaluations without a new best
        one; None never stops.
        """
        self.history: list[Mapping[str, float]] = []  # metrics of the evaluations
        self.best: Mapping[str, float] = {}  # metrics of the best one, the earliest of equal ones
        self.weights: Weights = {}  # of the best one, on the CPU; empty before the first
        self.diverged_at: int | None = None  # step at which loss or vectors were not finite
        self.ran_out = False  # whether patience did
        self._model = model
        self._ranks = ranks
        self._n_evaluations = evaluations
        self._patience = patience or math.inf
        self._best_rank: tuple[float, ...] = ()

    def offer(self, metrics: Mapping[str, float]) -> None:
        """Record an evaluation, and copy the weights that the model has now if it is the best one so far."""
        self.history.append(metrics)
        rank = []
        for name in self._ranks:
            score = -metrics[name] if name == "eval_loss" else metrics[name]
            rank.append(-math.inf if math.isnan(score) else score)
        if tuple(rank) > self._best_rank:
            self.best, self._best_rank = metrics, tuple(rank)
            self.weights = {}
            # those that are frozen, such as an encoder behind LoRA, cannot have changed and may be gigabytes
            for name, parameter in self._model.named_parameters():
                if parameter.requires_grad:
                    self.weights[name] = parameter.detach().to("cpu", copy=True)

    def on_step_end(self, args: Any, state: Any, control: Any, **context: Any) -> None:
        """Request an evaluation wherever a further part of the steps is complete; the last one is at the last step."""
        n_parts, step = self._n_evaluations or 0, state.global_step
        is_planned = step * n_parts // state.max_steps > (step - 1) * n_parts // state.max_steps
        # After a loss that is not finite the weights are of no use, and scoring them would only take time.
        control.should_evaluate = is_planned and self.diverged_at is None

    def on_epoch_end(self, args: Any, state: Any, control: Any, **context: Any) -> None:
        """Request an evaluation after every epoch, if no steps are planned."""
        control.should_evaluate = self._n_evaluations is None and self.diverged_at is None

    def on_evaluate(self, args: Any, state: Any, control: Any, *, metrics: Mapping[str, float], **context: Any) -> None:
        """Record an evaluation, and stop if vectors are not finite or patience runs out."""
        main = self._ranks[0]
        name = main.removeprefix("eval_")
        log.info("step %d of %d: development %s %.4f", state.global_step, state.max_steps, name, metrics[main])
        self.offer({**metrics, "epoch": state.epoch, "step": state.global_step})
        if not metrics.get(IS_FINITE, True):
            self.diverged_at = state.global_step
            control.should_training_stop = True
        # at the last step the training ends in any case, and patience has stopped nothing
        elif state.global_step < state.max_steps:
            scores = [past[main] for past in self.history if past["epoch"]]  # without those from before the training
            scores = [-math.inf if math.isnan(score) else score for score in scores]
            if len(scores) - 1 - scores.index(max(scores)) >= self._patience:
                self.ran_out = control.should_training_stop = True


def set_weights(model: torch.nn.Module, weights: Weights) -> None:
    """Set those weights of a model that `KeepBest` has copied; without any evaluation there are none."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name in weights:
                parameter.copy_(weights[name])


class _Steps(TrainerCallback):
    """Shows the steps that are done."""

    def __init__(self, show: Callable[[int, int], None]) -> None:
        self._show = show

    def on_step_end(self, args: Any, state: Any, control: Any, **context: Any) -> None:
        self._show(state.global_step, state.max_steps)


def train_with_progress(trainer: Trainer) -> float:
    """Train, show the steps that are done on stderr, and return the mean training loss."""
    # the stock callback prints every evaluation to stdout, among the results
    trainer.remove_callback(PrinterCallback)
    if not is_first_process():
        return float(trainer.train().training_loss)
    with progress("training, steps") as show:
        trainer.add_callback(_Steps(show))
        return float(trainer.train().training_loss)


def train_model(
    model: Any, *, config: TrainerSettings, seed: int, name: str, best: KeepBest | None = None, **options: Any
) -> float:
    """Train a model of transformers, leave it with the weights of the best epoch, and return the mean training loss.

    Without `best` there is no evaluation, and the last weights stay. The name is for messages; the options are those of
    the stock ``Trainer``.
    """
    arguments = trainer_arguments(
        TrainingArguments,
        config,
        seed=seed,
        per_device_eval_batch_size=EVALUATION_BATCH,
        eval_strategy="no" if best is None else "epoch",
    )
    callbacks = [] if best is None else [best]
    loss = train_with_progress(Trainer(model=model, args=arguments, callbacks=callbacks, **options))
    history = [] if best is None else best.history
    # without those offered from before the training (epoch 0), whose loss is infinite on purpose
    losses = [loss, *(metrics["eval_loss"] for metrics in history if metrics["epoch"])]
    if not all(map(math.isfinite, losses)):
        raise InputError(
            f"{name}: training diverged, a loss is not finite; use a smaller learning rate than "
            f"{config.learning_rate:g}"
        )
    if best is not None:
        set_weights(model, best.weights)
    model.eval()
    return loss


def load_with_new_head(
    auto_class: Any,
    name_or_path: str,
    *,
    seed: int,
    revision: str | None = None,
    trust_remote_code: bool = False,
    **labels: Any,
) -> tuple[Any, Any]:
    """Return a pretrained encoder with an untrained head for some labels, in float32, and its tokenizer."""
    tokenizer = load_tokenizer(name_or_path, revision=revision, trust_remote_code=trust_remote_code)
    # before loading, because the new head gets random weights
    set_seed(seed)
    model = load_pretrained(
        auto_class,
        name_or_path,
        revision=revision,
        trust_remote_code=trust_remote_code,
        ignore_mismatched_sizes=True,  # a head for other labels is replaced
        dtype=torch.float32,  # otherwise a checkpoint in half precision would be trained in half precision
        **labels,
    )
    return model, tokenizer


def check_package(name: str) -> None:
    """Raise InputError if a package that a training needs is not installed."""
    if find_spec(name) is None:
        raise InputError(f"fine-tuning needs {name}; install with: pip install 'turkic-idiom-tasks[finetune]'")
