"""Training a classifier of sentences: is the idiom meant, or its words (AStitch, Task 1)?

Trainer and optimiser are those of transformers. The next stage, with sentences of the test idioms, and the test begin
with the weights of the best epoch on the development rows, by macro F1.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from transformers import AutoModelForSequenceClassification, DataCollatorWithPadding

from turkic_idiom_tasks.encoders.siblings.idiom_tokens import IDIOMATICITY_RECORD
from turkic_idiom_tasks.encoders.siblings.sentence_classifier import (
    SentenceClassifier,
    TextRow,
    encode_rows,
    predict_labels,
)
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.files import write_json
from turkic_idiom_tasks.io.reading import read_json
from turkic_idiom_tasks.metrics.classification import macro_f1, macro_f1_interval
from turkic_idiom_tasks.results.record import installed_versions
from turkic_idiom_tasks.tasks.siblings.astitch import Labelled
from turkic_idiom_tasks.training.cards import new_model, without_nan
from turkic_idiom_tasks.training.config import IdiomaticityConfig
from turkic_idiom_tasks.training.siblings.labelled import LabelledData
from turkic_idiom_tasks.training.trainer import KeepBest, Weights, load_with_new_head, set_weights, train_model


class Stage(NamedTuple):
    """A finished stage of a training."""

    weights: Weights  # of its best epoch
    best_epoch: int  # number of that epoch, counted over all stages
    development_f1: float  # macro F1 of the development rows after it, in [0, 1]
    n_epochs: int  # epochs of this and the earlier stages


def load_classifier(name_or_path: str, **options: Any) -> SentenceClassifier:
    """Return a pretrained encoder with an untrained head for two labels; see `load_with_new_head` for the options."""
    model, tokenizer = load_with_new_head(AutoModelForSequenceClassification, name_or_path, num_labels=2, **options)
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
    """Train a classifier's own weights on the rows of one stage, from those of the earlier stage on."""
    model = classifier.model
    # Of equal epochs the one with the smallest loss counts
    best = KeepBest(model, "eval_macro_f1", "eval_loss")
    if earlier is not None:
        set_weights(model, earlier.weights)
        # They are kept if every epoch is worse; one that is as good takes their place, whatever its loss
        best.offer({"eval_macro_f1": earlier.development_f1, "eval_loss": math.inf, "epoch": 0})
    train_model(
        model,
        config=config,
        seed=seed,
        name=classifier.name,
        best=best,
        train_dataset=_features(classifier, rows, config=config),
        eval_dataset=_features(classifier, development, config=config),
        processing_class=classifier.tokenizer,
        data_collator=DataCollatorWithPadding(classifier.tokenizer),
        compute_metrics=lambda scored: {
            "macro_f1": macro_f1(scored.label_ids.tolist(), scored.predictions.argmax(-1).tolist())
        },
    )
    n_earlier = earlier.n_epochs if earlier is not None else 0
    best_epoch = n_earlier + round(best.best["epoch"])
    if earlier is not None and not best.best["epoch"]:
        best_epoch = earlier.best_epoch
    return Stage(best.weights, best_epoch, best.best["eval_macro_f1"], n_earlier + config.epochs)


def train_seed(
    classifier: SentenceClassifier,
    data: LabelledData,
    *,
    config: IdiomaticityConfig,
    seed: int,
    first: Stage | None = None,
) -> tuple[dict[str, float], list[int]]:
    """Train a classifier's own weights, stage after stage, and return its scores and the label of every test row.

    The scores are macro F1 in [0, 1], NaN if undefined: ``development_f1`` after the kept epoch, ``best_epoch`` counted
    over all stages, and ``test_f1`` with the ends of its 95% interval by idiom, ``low`` and ``high``. The ``seed`` is
    that of the head, the order of the rows and dropout.
    """
    # Setups of the same data share the first stage, so it may have been trained before
    stage = first or train_stage(classifier, data.stages[0], data.development, config=config, seed=seed)
    for rows in data.stages[1:]:
        stage = train_stage(classifier, rows, data.development, config=config, seed=seed, earlier=stage)
    set_weights(classifier.model, stage.weights)
    classifier.model.eval()
    gold = [row.label for row in data.test]
    questions = [TextRow(row.first, row.second, row.language) for row in data.test]
    predicted = predict_labels(classifier, questions, max_length=config.max_length)
    interval = macro_f1_interval(gold, predicted, [row.idiom for row in data.test])
    scores = {
        "seed": seed,
        "best_epoch": stage.best_epoch,
        "development_f1": stage.development_f1,
        "test_f1": macro_f1(gold, predicted),
        "low": interval.low,
        "high": interval.high,
    }
    return scores, predicted


def save_classifier(
    classifier: SentenceClassifier, folder: Path, scores: dict[str, float], settings: Mapping[str, Any]
) -> None:
    """Write a new folder that transformers loads, with the settings and scores; write all files or none."""
    with new_model(folder) as unfinished:
        classifier.model.save_pretrained(unfinished)
        classifier.tokenizer.save_pretrained(unfinished)
        record = {"settings": dict(settings), "scores": without_nan(scores), "versions": installed_versions()}
        write_json(unfinished / IDIOMATICITY_RECORD, record)


def finished_scores(folder: Path, settings: Mapping[str, Any]) -> dict[str, float] | None:
    """Return the scores of a training that an earlier run saved in the folder of the seed, or None if there is none."""
    if not folder.exists():
        return None
    path = folder / IDIOMATICITY_RECORD
    record = read_json(path) if path.is_file() else {}
    if record.get("settings") != dict(settings):
        raise InputError(f"{folder}: holds another training; choose another folder with --out, or remove it")
    return {name: math.nan if value is None else value for name, value in record["scores"].items()}


def _features(
    classifier: SentenceClassifier, rows: Sequence[Labelled], *, config: IdiomaticityConfig
) -> list[dict[str, Any]]:
    texts = [TextRow(row.first, row.second, row.language) for row in rows]
    features = encode_rows(classifier, texts, max_length=config.max_length)
    return [{**inputs, "labels": row.label} for inputs, row in zip(features, rows, strict=True)]
