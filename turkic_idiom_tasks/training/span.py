"""Fine-tuning a token classifier for idiom spans, in the paper's configuration (its Appendix C).

Trainer and optimiser are those of transformers. Each epoch ends with an evaluation on the validation sentences. The
weights of the best epoch are kept in memory, and training ends with them. The best epoch has the highest span F1 of
seqeval, and among equal ones the smallest loss (transformers alone would keep the earliest).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader
from transformers import (
    DataCollatorForTokenClassification,
    EvalPrediction,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    set_seed,
)

from turkic_idiom_tasks.dataset.sentences import TaggedSentence
from turkic_idiom_tasks.encoders.tokenizer import load_tokenizer, window_length
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.metrics.spans import span_scores
from turkic_idiom_tasks.spans import LABELS, OUTSIDE
from turkic_idiom_tasks.tasks.spans.classifier import TokenClassifier, encode_words, load_weights
from turkic_idiom_tasks.tasks.spans.subwords import Labelling, subword_labels, word_tags
from turkic_idiom_tasks.training.config import SpanConfig
from turkic_idiom_tasks.training.training import BestWeights, keep_to_bars, trainer_arguments

_EVALUATION_BATCH = 64  # sentences
_MODEL_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


@dataclass(frozen=True, slots=True, eq=False)
class FineTuned:
    """A classifier with the best of its epochs.

    Attributes:
        classifier: the classifier, ready to tag sentences.
        best_epoch: number of the best epoch; None without validation sentences, if the last one is kept.
        validation_f1: span F1 of that epoch, in [0, 1]; NaN without validation sentences.
        history: number, validation loss and span F1 of every epoch.
    """

    classifier: TokenClassifier
    best_epoch: int | None
    validation_f1: float
    history: tuple[Mapping[str, float], ...]


def load_untuned(
    name_or_path: str, *, seed: int, revision: str | None = None, trust_remote_code: bool = False
) -> TokenClassifier:
    """Return a pretrained encoder with an untrained head for the three tags, in float32.

    Args:
        name_or_path: Hub id or folder of an encoder.
        seed: seed of the head's initial weights.
        revision: Hub commit; None is the newest.
        trust_remote_code: whether code that comes with the model may be executed.

    Raises:
        InputError: the model cannot be found or loaded, or its tokenizer does not say which word a sub-word belongs to.
    """
    tokenizer = load_tokenizer(name_or_path, revision=revision, trust_remote_code=trust_remote_code)
    set_seed(seed)
    model = load_weights(
        name_or_path,
        revision=revision,
        trust_remote_code=trust_remote_code,
        id2label=dict(enumerate(LABELS)),
        label2id={label: number for number, label in enumerate(LABELS)},
        num_labels=len(LABELS),
        ignore_mismatched_sizes=True,  # a head for other labels is replaced
        dtype=torch.float32,  # otherwise a checkpoint in half precision would be trained in half precision
    )
    return TokenClassifier(model, tokenizer, name=name_or_path)


def fine_tune(
    classifier: TokenClassifier,
    train: Sequence[TaggedSentence],
    validation: Sequence[TaggedSentence],
    *,
    config: SpanConfig,
    seed: int,
) -> FineTuned:
    """Train a classifier's own weights on sentences; nothing is written.

    Args:
        classifier: untuned, or tuned on another language; its weights are changed.
        train: sentences to learn from.
        validation: sentences to choose the epoch by; may be empty.
        config: settings of the training.
        seed: seed of the order of the sentences and of dropout.

    Raises:
        InputError: there is no training sentence, or the loss is not finite.
    """
    if not train:
        raise InputError("no training sentence; choose a language or data with annotated examples in its train split")
    set_seed(seed)
    model, tokenizer = classifier.model, classifier.tokenizer
    length = window_length(model.config, tokenizer, max_length=config.max_length)
    padding: dict[str, Any] = {"padding": "max_length", "max_length": length} if config.pad_to_max else {}
    best = BestWeights(model)
    watcher = _EpochWatcher(best)
    trainer = _InOrderTrainer(
        model=model,
        args=_arguments(config, seed=seed, validates=bool(validation)),
        train_dataset=_features(tokenizer, train, length, labelling=config.labelling),
        eval_dataset=_features(tokenizer, validation, length, labelling=config.labelling) or None,
        processing_class=tokenizer,
        data_collator=DataCollatorForTokenClassification(tokenizer, **padding),
        compute_metrics=_Validation(tokenizer, validation, length) if validation else None,
        preprocess_logits_for_metrics=_most_likely_labels,
        callbacks=[watcher],
    )
    keep_to_bars(trainer)
    outcome = trainer.train()
    best.restore()
    model.eval()
    losses = [outcome.training_loss, *(epoch["loss"] for epoch in watcher.history)]
    if not all(map(math.isfinite, losses)):
        raise InputError(
            f"{classifier.name}: training diverged, a loss is not finite; use a smaller learning rate than "
            f"{config.learning_rate:g}"
        )
    return FineTuned(classifier, watcher.best_epoch, watcher.best_f1, tuple(watcher.history))


def few_shot_sample(sentences: Sequence[TaggedSentence], size: int | None, *, seed: int) -> list[TaggedSentence]:
    """Return the first `size` sentences in a seeded order; smaller samples of a seed are part of larger ones.

    Args:
        sentences: sentences of a training split.
        size: number of sentences; None means all of them.
        seed: seed of the order.
    """
    ordered = sorted(sentences, key=lambda sentence: sentence.id)
    order = np.random.default_rng(seed).permutation(len(ordered))
    return [ordered[position] for position in order[:size]]


class _InOrderTrainer(Trainer):
    """Stock trainer, changed to keep the order of the validation sentences also when it groups by length."""

    def get_eval_dataloader(self, eval_dataset: Any = None) -> DataLoader[Any]:
        """Return the batches of the validation sentences, in their order."""
        loader: DataLoader[Any] = DataLoader(
            self.eval_dataset, batch_size=self.args.eval_batch_size, collate_fn=self.data_collator
        )
        prepared: DataLoader[Any] = self.accelerator.prepare(loader)
        return prepared


class _EpochWatcher(TrainerCallback):
    """A callback that records the evaluation of every epoch and keeps the weights of the best one.

    Attributes:
        history: number, validation loss and span F1 of every epoch.
        best_epoch: number of the best epoch; None before the first evaluation.
        best_f1: its span F1; NaN before the first evaluation.
    """

    def __init__(self, best: BestWeights) -> None:
        self.history: list[dict[str, float]] = []
        self.best_epoch: int | None = None
        self.best_f1 = math.nan
        self._best = best

    def on_evaluate(self, args: Any, state: Any, control: Any, *, metrics: Mapping[str, float], **context: Any) -> None:
        """Record the evaluation at the end of an epoch."""
        f1, loss = metrics["eval_span_f1"], metrics["eval_loss"]
        self.history.append({"epoch": state.epoch, "loss": loss, "span_f1": f1})
        if self._best.offer(f1, -loss):
            self.best_epoch, self.best_f1 = round(state.epoch), f1


class _Validation:
    """Computes span F1 over the words of the validation sentences from the labels of their sub-words."""

    def __init__(self, tokenizer: Any, sentences: Sequence[TaggedSentence], length: int) -> None:
        encoded = _encode(tokenizer, sentences, length)
        self._word_ids = [encoded.word_ids(row) for row in range(len(sentences))]
        self._gold = [sentence.tags for sentence in sentences]

    def __call__(self, evaluated: EvalPrediction) -> dict[str, float]:
        """Return the scores of an evaluation; its predictions are (sentences, T) labels."""
        predicted = []
        for row, (word_ids, gold) in enumerate(zip(self._word_ids, self._gold, strict=True)):
            owners = []
            tags = []
            for label, word in zip(evaluated.predictions[row][: len(word_ids)], word_ids, strict=True):
                if word is not None:
                    owners.append(word)
                    tags.append(LABELS[label])
            predicted.append([tag or OUTSIDE for tag in word_tags(tags, owners, len(gold))])
        return {"span_f1": span_scores(self._gold, predicted).f1}


def _most_likely_labels(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return logits.argmax(-1)


def _encode(tokenizer: Any, sentences: Sequence[TaggedSentence], length: int) -> Any:
    tokens = [sentence.tokens for sentence in sentences]
    return encode_words(tokenizer, tokens, [sentence.language for sentence in sentences], max_length=length)


def _features(
    tokenizer: Any, sentences: Sequence[TaggedSentence], length: int, *, labelling: Labelling
) -> list[dict[str, list[int]]]:
    if not sentences:
        return []
    encoded = _encode(tokenizer, sentences, length)
    rows = []
    for row, sentence in enumerate(sentences):
        features = {name: encoded[name][row] for name in _MODEL_INPUTS if name in encoded}
        features["labels"] = subword_labels(sentence.tags, encoded.word_ids(row), labelling=labelling)
        rows.append(features)
    return rows


def _arguments(config: SpanConfig, *, seed: int, validates: bool) -> TrainingArguments:
    return trainer_arguments(
        seed=seed,
        num_train_epochs=config.epochs,
        per_device_train_batch_size=config.batch_size,
        per_device_eval_batch_size=_EVALUATION_BATCH,
        learning_rate=config.learning_rate,
        weight_decay=config.weight_decay,
        train_sampling_strategy="group_by_length" if config.group_by_length else "random",
        bf16=config.bf16,
        eval_strategy="epoch" if validates else "no",
        remove_unused_columns=False,
    )
