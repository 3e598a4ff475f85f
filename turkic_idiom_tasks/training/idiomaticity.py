"""Training a classifier of sentences: is the idiom meant, or its words (AStitch, Task 1)?

Trainer and optimiser are those of transformers. Each epoch ends with an evaluation on the development rows. The
weights of the best epoch, by macro F1, are kept in memory; the next stage, with sentences of the test idioms, and the
test begin with them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoModelForSequenceClassification,
    DataCollatorWithPadding,
    EvalPrediction,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    set_seed,
)

from turkic_idiom_tasks.encoders.checkpoints import load_error, quiet_loading
from turkic_idiom_tasks.encoders.classifier_folders import IDIOMATICITY_RECORD
from turkic_idiom_tasks.encoders.folders import is_local, local_path
from turkic_idiom_tasks.encoders.sentence_classifier import SentenceClassifier, encode_rows, predict_labels
from turkic_idiom_tasks.encoders.tokenizer import load_tokenizer
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.files import write_json
from turkic_idiom_tasks.io.reading import read_json
from turkic_idiom_tasks.metrics.classification import macro_f1, macro_f1_interval
from turkic_idiom_tasks.results.record import installed_versions
from turkic_idiom_tasks.training.cards import new_model, without_nan
from turkic_idiom_tasks.training.config import IdiomaticityConfig
from turkic_idiom_tasks.training.encoder_trainer import check_packages
from turkic_idiom_tasks.training.labelled import Labelled, LabelledData
from turkic_idiom_tasks.training.training import BestWeights, keep_to_bars, trainer_arguments

_EVALUATION_BATCH = 64  # rows
_F1 = "macro_f1"


@dataclass(frozen=True, slots=True)
class SeedScores:
    """Outcome of the training with one seed.

    Attributes:
        seed: seed of the head, the order of the rows and dropout.
        best_epoch: number of the kept epoch, counted over all stages.
        development_f1: macro F1 of the development rows after it, in [0, 1].
        test_f1: macro F1 of the test rows, in [0, 1]; NaN if undefined.
        low: lower end of its 95% interval by idiom.
        high: upper end.
    """

    seed: int
    best_epoch: int
    development_f1: float
    test_f1: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """A finished stage of a training.

    Attributes:
        best: weights of its best epoch.
        best_epoch: number of that epoch, counted over all stages.
        development_f1: macro F1 of the development rows after it, in [0, 1].
        n_epochs: epochs of this and the earlier stages.
    """

    best: BestWeights
    best_epoch: int
    development_f1: float
    n_epochs: int


def load_classifier(
    name_or_path: str, *, seed: int, revision: str | None = None, trust_remote_code: bool = False
) -> SentenceClassifier:
    """Return a pretrained encoder with an untrained head for two labels, in float32.

    Raises:
        InputError: the model cannot be found or loaded.
    """
    tokenizer = load_tokenizer(name_or_path, revision=revision, trust_remote_code=trust_remote_code)
    set_seed(seed)
    try:
        with quiet_loading():
            model = AutoModelForSequenceClassification.from_pretrained(
                local_path(name_or_path),
                revision=revision or "main",
                num_labels=2,
                ignore_mismatched_sizes=True,  # a head for other labels is replaced
                dtype=torch.float32,
                use_safetensors=True,
                trust_remote_code=trust_remote_code,
                local_files_only=is_local(name_or_path),
            )
    except Exception as error:  # libraries raise many unrelated types for a bad name, folder or connection
        raise load_error(name_or_path, error) from error
    return SentenceClassifier(model, tokenizer, name_or_path)


def train_stage(
    classifier: SentenceClassifier,
    rows: Sequence[Labelled],
    development: Sequence[Labelled],
    *,
    config: IdiomaticityConfig,
    seed: int,
    earlier: Stage | None = None,
) -> Stage:
    """Train a classifier's own weights on the rows of one stage.

    Args:
        classifier: from `load_classifier`; its weights are changed.
        rows: what it learns from.
        development: rows that decide which epoch is the best.
        config: settings of the training.
        seed: seed of the order of the rows and of dropout.
        earlier: the stage with whose weights this one begins; None for those that the classifier has. They are kept if
            every epoch is worse on the development rows.

    Raises:
        InputError: a package is missing, or training diverged.
    """
    check_packages("accelerate")
    watcher = _EpochWatcher(BestWeights(classifier.model))
    if earlier is not None:
        earlier.best.restore()
        watcher.begin_with(earlier)
    outcome = _trainer(classifier, rows, development, config=config, seed=seed, watcher=watcher).train()
    if not math.isfinite(outcome.training_loss):
        raise InputError(
            f"{classifier.name}: training diverged, the loss is not finite; use a smaller learning rate than "
            f"{config.learning_rate:g}"
        )
    return Stage(watcher.best, watcher.best_epoch, watcher.best_f1, watcher.n_earlier_epochs + config.epochs)


def train_seed(
    classifier: SentenceClassifier,
    data: LabelledData,
    *,
    config: IdiomaticityConfig,
    seed: int,
    first: Stage | None = None,
) -> tuple[SeedScores, list[int]]:
    """Train a classifier's own weights, stage after stage, and score it on the test rows; write nothing.

    Args:
        classifier: from `load_classifier`; its weights are changed.
        data: from `labelled.build_labelled`.
        config: settings of the training of each stage.
        seed: seed of the order of the rows and of dropout.
        first: the first stage with these settings, if it was trained before; setups of the same data share it.

    Returns:
        the scores, and the label of every test row.

    Raises:
        InputError: a package is missing, or training diverged.
    """
    stage = first or train_stage(classifier, data.stages[0], data.development, config=config, seed=seed)
    for rows in data.stages[1:]:
        stage = train_stage(classifier, rows, data.development, config=config, seed=seed, earlier=stage)
    stage.best.restore()
    classifier.model.eval()
    gold = [row.label for row in data.test]
    predicted = predict_labels(classifier, data.test, max_length=config.max_length)
    interval = macro_f1_interval(gold, predicted, [row.idiom for row in data.test])
    scores = SeedScores(
        seed=seed,
        best_epoch=stage.best_epoch,
        development_f1=stage.development_f1,
        test_f1=macro_f1(gold, predicted),
        low=interval.low,
        high=interval.high,
    )
    return scores, predicted


def save_classifier(
    classifier: SentenceClassifier, folder: Path, scores: SeedScores, settings: Mapping[str, Any]
) -> None:
    """Write a folder that transformers loads, with the record of the training; write all files or none.

    Args:
        classifier: the classifier to save.
        folder: must not exist.
        scores: its scores.
        settings: everything that decided the weights.

    Raises:
        InputError: the folder cannot be written.
    """
    with new_model(folder) as unfinished:
        classifier.model.save_pretrained(unfinished)
        classifier.tokenizer.save_pretrained(unfinished)
        values = {name: getattr(scores, name) for name in scores.__slots__}
        record = {"settings": dict(settings), "scores": without_nan(values), "versions": installed_versions()}
        write_json(unfinished / IDIOMATICITY_RECORD, record)


def finished_scores(folder: Path, settings: Mapping[str, Any]) -> SeedScores | None:
    """Return the scores of a training that an earlier run saved, or None if there is none.

    Args:
        folder: folder of the seed.
        settings: settings of this run, which must be those of the earlier one.

    Raises:
        InputError: the folder is of another training.
    """
    path = folder / IDIOMATICITY_RECORD
    if not folder.exists():
        return None
    record = read_json(path) if path.is_file() else {}
    if record.get("settings") != dict(settings):
        raise InputError(f"{folder}: holds another training; choose another folder with --out, or remove it")
    values = {name: math.nan if value is None else value for name, value in record["scores"].items()}
    return SeedScores(
        seed=int(values["seed"]),
        best_epoch=int(values["best_epoch"]),
        development_f1=values["development_f1"],
        test_f1=values["test_f1"],
        low=values["low"],
        high=values["high"],
    )


class _EpochWatcher(TrainerCallback):
    """A callback that keeps the weights of the best epoch.

    Attributes:
        best: weights of the best epoch.
        best_epoch: its number, counted from the first stage on.
        best_f1: its macro F1 on the development rows.
        n_earlier_epochs: number of epochs of earlier stages.
    """

    def __init__(self, best: BestWeights) -> None:
        self.best = best
        self.best_epoch = 0
        self.best_f1 = math.nan
        self.n_earlier_epochs = 0

    def begin_with(self, earlier: Stage) -> None:
        """Take the weights of an earlier stage, which the model has now, as the best ones so far."""
        self.best.offer(earlier.development_f1, -math.inf)
        self.best_epoch, self.best_f1 = earlier.best_epoch, earlier.development_f1
        self.n_earlier_epochs = earlier.n_epochs

    def on_evaluate(self, args: Any, state: Any, control: Any, *, metrics: Mapping[str, float], **context: Any) -> None:
        """Record the evaluation at the end of an epoch; of equal epochs the one with the smallest loss is kept."""
        if self.best.offer(metrics[f"eval_{_F1}"], -metrics["eval_loss"]):
            self.best_epoch = self.n_earlier_epochs + round(state.epoch)
            self.best_f1 = metrics[f"eval_{_F1}"]


def _trainer(
    classifier: SentenceClassifier,
    rows: Sequence[Labelled],
    development: Sequence[Labelled],
    *,
    config: IdiomaticityConfig,
    seed: int,
    watcher: _EpochWatcher,
) -> Trainer:
    trainer = Trainer(
        model=classifier.model,
        args=_arguments(config, seed=seed),
        train_dataset=_features(classifier, rows, max_length=config.max_length),
        eval_dataset=_features(classifier, development, max_length=config.max_length),
        processing_class=classifier.tokenizer,
        data_collator=DataCollatorWithPadding(classifier.tokenizer),
        compute_metrics=_scores,
        callbacks=[watcher],
    )
    keep_to_bars(trainer)
    return trainer


def _scores(evaluated: EvalPrediction) -> dict[str, float]:
    predicted = evaluated.predictions.argmax(-1).tolist()
    return {_F1: macro_f1(evaluated.label_ids.tolist(), predicted)}


def _features(classifier: SentenceClassifier, rows: Sequence[Labelled], *, max_length: int) -> list[dict[str, Any]]:
    """Return the sub-words and the label of every row."""
    features = encode_rows(classifier, rows, max_length=max_length)
    return [{**inputs, "labels": row.label} for inputs, row in zip(features, rows, strict=True)]


def _arguments(config: IdiomaticityConfig, *, seed: int) -> TrainingArguments:
    return trainer_arguments(
        seed=seed,
        num_train_epochs=config.epochs,
        per_device_train_batch_size=config.batch_size,
        per_device_eval_batch_size=_EVALUATION_BATCH,
        learning_rate=config.learning_rate,
        weight_decay=config.weight_decay,
        bf16=config.bf16,
        eval_strategy="epoch",
    )
