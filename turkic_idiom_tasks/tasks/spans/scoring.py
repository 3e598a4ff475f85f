"""Scores of span detection: of the samples of lm-eval and of the predictions of a token classifier.

Both are scored by the definitions in `metrics.spans`, as are the tags of a record (`results.scored`), so that the same
tags always have the same scores.

A sample is ``[concept, gold, predicted]`` with the tags of one sentence as letters (``OOBIO``). lm-eval logs it, so
every score can be computed again. Samples of a concept are resampled together. Sub-word scores take samples of
sub-words instead of words; None is an answer without sub-words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from turkic_idiom_tasks.dataset.sentences import TestSentences
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N
from turkic_idiom_tasks.metrics.spans import span_f1_interval, subword_scores, word_scores
from turkic_idiom_tasks.results.predictions import TAG_LETTERS, Tags
from turkic_idiom_tasks.tasks.spans.subwords import project_tags

if TYPE_CHECKING:  # the module loads sentence-transformers, which lm-eval's tasks do not need
    from turkic_idiom_tasks.tasks.spans.classifier import Prediction

Sample = Sequence[str]
Score = Callable[[Sequence[Sample | None]], float]
_Samples = tuple[tuple[str, str, str], ...]


def sample(concept: str, gold: Iterable[str], predicted: Iterable[str]) -> list[str]:
    """Return the tags of one sentence, ready to be scored."""
    return [concept, _letters(gold), _letters(predicted)]


def predicted_tags(sentences: TestSentences, predictions: Sequence[Prediction]) -> Tags:
    """Return the predictions of a classifier as a record holds them.

    Args:
        sentences: the tagged sentences.
        predictions: one prediction for each sentence, in the same order.
    """
    return Tags(sentences, tuple(_letters(prediction.tags) for prediction in predictions))


def score_predictions(sentences: TestSentences, predictions: Sequence[Prediction]) -> dict[str, float]:
    """Return name -> score of a token classifier; NaN if undefined.

    Args:
        sentences: the sentences with their gold tags.
        predictions: one prediction for each sentence, in the same order.
    """
    word_samples = []
    subword_samples = []
    for sentence, concept, prediction in zip(sentences.rows, sentences.concepts, predictions, strict=True):
        word_samples.append((concept, _letters(sentence.tags), _letters(prediction.tags)))
        gold = project_tags(sentence.tags, prediction.owners)
        subword_samples.append((concept, _letters(gold), _letters(prediction.subword_tags)))
    return {**_word_scores(tuple(word_samples)), **_subword_scores(tuple(subword_samples))}


def score_samples(samples: Iterable[Sample]) -> Mapping[str, float]:
    """Return name -> score of the words of samples, the names of `WORD_METRICS`; NaN if undefined."""
    return _word_scores(tuple((concept, gold, predicted) for concept, gold, predicted in samples))


@lru_cache(maxsize=4)  # lm-eval computes one metric at a time
def _word_scores(samples: _Samples) -> Mapping[str, float]:
    concepts = [concept for concept, _, _ in samples]
    gold, predicted = _labels(samples)
    interval = span_f1_interval(gold, predicted, concepts)
    return word_scores(gold, predicted) | {
        "span_f1_ci_low": interval.low,
        "span_f1_ci_high": interval.high,
        "n_sentences": float(len(samples)),
        "n_idioms": float(len(set(concepts))),
        "small_sample": float(len(samples) < SMALL_N),
    }


@lru_cache(maxsize=4)
def _subword_scores(samples: _Samples) -> Mapping[str, float]:
    return subword_scores(*_labels(samples))


def _labels(samples: _Samples) -> tuple[list[list[str]], list[list[str]]]:
    """Return the gold and the predicted tags of samples."""
    gold = []
    predicted = []
    for _, gold_letters, predicted_letters in samples:
        gold.append([TAG_LETTERS[letter] for letter in gold_letters])
        predicted.append([TAG_LETTERS[letter] for letter in predicted_letters])
    return gold, predicted


def _letters(tags: Iterable[str]) -> str:
    return "".join(tag[0] for tag in tags)


def _score(compute: Callable[[_Samples], Mapping[str, float]], name: str, samples: Sequence[Sample | None]) -> float:
    """Return one score of the samples that are not None; NaN if there are none."""
    present: list[tuple[str, str, str]] = []
    for item in samples:
        if item is not None:
            concept, gold, predicted = item
            present.append((concept, gold, predicted))
    return compute(tuple(present))[name] if present else math.nan


# Functions that the task files of lm-eval name, one for each metric.
span_f1: Score = partial(_score, _word_scores, "span_f1")
span_precision: Score = partial(_score, _word_scores, "span_precision")
span_recall: Score = partial(_score, _word_scores, "span_recall")
span_f1_ci_low: Score = partial(_score, _word_scores, "span_f1_ci_low")
span_f1_ci_high: Score = partial(_score, _word_scores, "span_f1_ci_high")
span_f1_strict: Score = partial(_score, _word_scores, "span_f1_strict")
span_precision_strict: Score = partial(_score, _word_scores, "span_precision_strict")
span_recall_strict: Score = partial(_score, _word_scores, "span_recall_strict")
token_f1: Score = partial(_score, _word_scores, "token_f1")
token_precision: Score = partial(_score, _word_scores, "token_precision")
token_recall: Score = partial(_score, _word_scores, "token_recall")
token_accuracy: Score = partial(_score, _word_scores, "token_accuracy")
joint_f1: Score = partial(_score, _word_scores, "joint_f1")
sequence_accuracy: Score = partial(_score, _word_scores, "sequence_accuracy")
f1_and_sequence_mean: Score = partial(_score, _word_scores, "f1_and_sequence_mean")
n_sentences: Score = partial(_score, _word_scores, "n_sentences")
n_idioms: Score = partial(_score, _word_scores, "n_idioms")
small_sample: Score = partial(_score, _word_scores, "small_sample")
subword_f1: Score = partial(_score, _subword_scores, "subword_f1")
subword_precision: Score = partial(_score, _subword_scores, "subword_precision")
subword_recall: Score = partial(_score, _subword_scores, "subword_recall")
subword_accuracy: Score = partial(_score, _subword_scores, "subword_accuracy")

WORD_METRICS = (
    "span_f1", "span_precision", "span_recall", "span_f1_ci_low", "span_f1_ci_high",
    "span_f1_strict", "span_precision_strict", "span_recall_strict",
    "token_f1", "token_precision", "token_recall", "token_accuracy",
    "joint_f1", "sequence_accuracy", "f1_and_sequence_mean", "n_sentences", "n_idioms", "small_sample",
)  # fmt: skip
SUBWORD_METRICS = ("subword_f1", "subword_precision", "subword_recall", "subword_accuracy")
