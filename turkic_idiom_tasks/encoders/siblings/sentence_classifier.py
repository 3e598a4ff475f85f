"""Classifiers of sentences by idiomaticity, as `turkic-idiom finetune idiomaticity` saves them, and their decisions."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from transformers import AutoModelForSequenceClassification, DataCollatorWithPadding

from turkic_idiom_tasks.encoders.checkpoints import load_pretrained
from turkic_idiom_tasks.encoders.tokenizer import load_tokenizer, lowers_case, window_length
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.orthography import lower

_BATCH = 64  # rows


class TextRow(NamedTuple):
    """What a classifier is asked about."""

    first: str  # the sentence
    second: str  # the idiom, or a candidate for its meaning; empty if there is none
    language: str  # code of a language of the benchmark; empty for others


@dataclass(frozen=True, slots=True, eq=False)
class SentenceClassifier:
    """A model that gives a sentence, or a pair of texts, the label 0 or 1."""

    model: Any  # from transformers, with a head for two labels
    tokenizer: Any
    name: str  # Hub id or folder


def encode_rows(classifier: SentenceClassifier, rows: Sequence[TextRow], *, max_length: int) -> list[dict[str, Any]]:
    """Return the sub-words of every row; of a pair that is too long, the sentence is cut."""
    tokenizer = classifier.tokenizer
    length = window_length(classifier.model.config, tokenizer, max_length=max_length)
    is_uncased = lowers_case(tokenizer)
    features = []
    for row in rows:
        texts = [row.first] + ([row.second] if row.second else [])
        if is_uncased and row.language:
            texts = [lower(text, LANGUAGES[row.language]) for text in texts]
        encoded = tokenizer(*texts, truncation="only_first" if row.second else True, max_length=length, verbose=False)
        features.append(dict(encoded))
    return features


def predict_labels(classifier: SentenceClassifier, rows: Sequence[TextRow], *, max_length: int) -> list[int]:
    """Return the more likely label of every row."""
    labels: list[int] = []
    features = encode_rows(classifier, rows, max_length=max_length)
    collate = DataCollatorWithPadding(classifier.tokenizer)
    for start in range(0, len(features), _BATCH):
        batch = collate(features[start : start + _BATCH])
        with torch.inference_mode():
            logits = classifier.model(**batch.to(classifier.model.device)).logits
        labels += logits.argmax(-1).tolist()
    return labels


def load_sentence_classifier(folder: Path) -> SentenceClassifier:
    """Return a classifier from a local folder, in evaluation mode and float32."""
    tokenizer = load_tokenizer(str(folder))
    model, report = load_pretrained(
        AutoModelForSequenceClassification, str(folder), dtype=torch.float32, output_loading_info=True
    )
    # transformers gives a checkpoint without a head a random one
    if report["missing_keys"] or model.config.num_labels != 2:
        raise InputError(
            f"{folder}: not a classifier with two labels; make one with turkic-idiom finetune idiomaticity"
        )
    return SentenceClassifier(model.eval(), tokenizer, str(folder))
