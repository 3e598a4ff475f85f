"""Classifiers of sentences by idiomaticity, as `turkic-idiom finetune idiomaticity` saves them, and their decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from transformers import AutoModelForSequenceClassification, DataCollatorWithPadding

from turkic_idiom_tasks.encoders.checkpoints import load_error, quiet_loading
from turkic_idiom_tasks.encoders.classifier_folders import ClassifierFolder, best_classifier
from turkic_idiom_tasks.encoders.tokenizer import load_tokenizer, window_length
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.orthography import lower

_BATCH = 64  # rows


class TextRow(Protocol):
    """What a classifier is asked about."""

    @property
    def first(self) -> str:
        """Return the sentence."""

    @property
    def second(self) -> str:
        """Return the idiom, or a candidate for its meaning; empty if there is none."""

    @property
    def language(self) -> str:
        """Code of a language of the benchmark; empty for others."""


@dataclass(frozen=True, slots=True, eq=False)
class SentenceClassifier:
    """A model that gives a sentence, or a pair of texts, the label 0 or 1.

    Attributes:
        model: from transformers, with a head for two labels.
        tokenizer: its tokenizer.
        name: Hub id or folder.
    """

    model: Any
    tokenizer: Any
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class TrainedClassifier:
    """A classifier that tells whether an idiom is meant.

    Attributes:
        classifier: model and tokenizer.
        origin: the folder that it was loaded from.
    """

    classifier: SentenceClassifier
    origin: ClassifierFolder


def encode_rows(classifier: SentenceClassifier, rows: Sequence[TextRow], *, max_length: int) -> list[dict[str, Any]]:
    """Return the sub-words of every row; of a pair that is too long, the sentence is cut."""
    tokenizer = classifier.tokenizer
    length = window_length(classifier.model.config, tokenizer, max_length=max_length)
    normalizer = tokenizer.backend_tokenizer.normalizer
    lowers = normalizer is not None and normalizer.normalize_str("A") == "a"
    features = []
    for row in rows:
        texts = [row.first] + ([row.second] if row.second else [])
        if lowers and row.language:  # such a tokenizer does not know dotted and dotless i
            texts = [lower(text, LANGUAGES[row.language]) for text in texts]
        encoded = tokenizer(*texts, truncation="only_first" if row.second else True, max_length=length, verbose=False)
        features.append(dict(encoded))
    return features


def predict_labels(classifier: SentenceClassifier, rows: Sequence[TextRow], *, max_length: int) -> list[int]:
    """Return the more likely label of every row."""
    labels: list[int] = []
    device = classifier.model.device
    features = encode_rows(classifier, rows, max_length=max_length)
    collate = DataCollatorWithPadding(classifier.tokenizer)
    for start in range(0, len(features), _BATCH):
        batch = collate(features[start : start + _BATCH])
        with torch.inference_mode():
            logits = classifier.model(**batch.to(device)).logits
        labels += logits.argmax(-1).tolist()
    return labels


def load_sentence_classifier(folder: Path) -> SentenceClassifier:
    """Return a classifier from a local folder, in evaluation mode and float32.

    Raises:
        InputError: it cannot be loaded, or has no trained head for two labels.
    """
    tokenizer = load_tokenizer(str(folder))
    try:
        with quiet_loading():
            model, report = AutoModelForSequenceClassification.from_pretrained(
                str(folder),
                dtype=torch.float32,
                use_safetensors=True,
                trust_remote_code=False,
                local_files_only=True,
                output_loading_info=True,
            )
    except Exception as error:  # libraries raise many unrelated types for a damaged folder
        raise load_error(str(folder), error) from error
    if report["missing_keys"] or model.config.num_labels != 2:
        raise InputError(
            f"{folder}: not a classifier with two labels; make one with turkic-idiom finetune idiomaticity"
        )
    return SentenceClassifier(model.eval(), tokenizer, str(folder))


def load_trained_classifier(folder: Path) -> TrainedClassifier:
    """Return the classifier in a folder that ``turkic-idiom finetune idiomaticity`` has made.

    Args:
        folder: folder of one seed, or of several, of which the one with the best development score is taken.

    Raises:
        InputError: there is no such classifier, or it needs more than a sentence and an idiom.
    """
    best = best_classifier(folder)
    return TrainedClassifier(load_sentence_classifier(best.folder), best)
