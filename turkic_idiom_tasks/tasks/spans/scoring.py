"""Scores of span detection: of samples of a harness and of the predictions of a token classifier.

Both are scored by the definitions in `metrics.spans`, as are the tags of a record (`results.scored`), so that the same
tags always have the same scores.

A sample is ``[concept, gold, predicted]`` with the tags of one sentence as letters (``OOBIO``). Samples of a concept
are resampled together. Sub-word scores take samples of sub-words instead of words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from turkic_idiom_tasks.dataset.sentences import TestSentences
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N
from turkic_idiom_tasks.metrics.spans import span_f1_interval, subword_scores, word_scores
from turkic_idiom_tasks.results.predictions import Tags
from turkic_idiom_tasks.spans import TAG_LETTERS
from turkic_idiom_tasks.tasks.spans.subwords import project_tags

if TYPE_CHECKING:  # the module loads sentence-transformers, which lm-eval's tasks do not need
    from turkic_idiom_tasks.tasks.spans.classifier import Prediction

Sample = Sequence[str]


def sample(concept: str, gold: Iterable[str], predicted: Iterable[str]) -> list[str]:
    """Return the tags of one sentence, ready to be scored."""
    return [concept, _letters(gold), _letters(predicted)]


def predicted_tags(sentences: TestSentences, predictions: Sequence[Prediction]) -> Tags:
    """Return the predictions of a classifier, one for each sentence in the same order, as a record holds them."""
    return Tags(sentences, tuple(_letters(prediction.tags) for prediction in predictions))


def score_predictions(sentences: TestSentences, predictions: Sequence[Prediction]) -> dict[str, float]:
    """Return name -> score of a token classifier, NaN if undefined; one prediction for each sentence, in order."""
    word_samples = []
    subword_samples = []
    for sentence, concept, prediction in zip(sentences.rows, sentences.concepts, predictions, strict=True):
        word_samples.append(sample(concept, sentence.tags, prediction.tags))
        gold = project_tags(sentence.tags, prediction.owners)
        subword_samples.append(sample(concept, gold, prediction.subword_tags))
    return score_samples(word_samples) | subword_scores(*_labels(subword_samples))


def score_samples(samples: Sequence[Sample]) -> dict[str, float]:
    """Return name -> score of the words of samples, NaN if undefined."""
    concepts = [concept for concept, _, _ in samples]
    gold, predicted = _labels(samples)
    interval = span_f1_interval(gold, predicted, concepts)
    return {
        **word_scores(gold, predicted),
        "span_f1_ci_low": interval.low,
        "span_f1_ci_high": interval.high,
        "n_sentences": float(len(samples)),
        "n_idioms": float(len(set(concepts))),
        "small_sample": float(len(samples) < SMALL_N),
    }


def _labels(samples: Iterable[Sample]) -> tuple[list[list[str]], list[list[str]]]:
    """Return the gold and the predicted tags of samples."""
    gold = []
    predicted = []
    for _, gold_letters, predicted_letters in samples:
        gold.append([TAG_LETTERS[letter] for letter in gold_letters])
        predicted.append([TAG_LETTERS[letter] for letter in predicted_letters])
    return gold, predicted


def _letters(tags: Iterable[str]) -> str:
    return "".join(tag[0] for tag in tags)
