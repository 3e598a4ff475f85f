"""Scores of the predictions of a token classifier, by the definitions in `metrics.spans`, as for a record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from turkic_idiom_tasks.dataset.sentences import TestSentences
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N
from turkic_idiom_tasks.metrics.spans import span_f1_interval, subword_scores, word_scores
from turkic_idiom_tasks.results.predictions import Tags
from turkic_idiom_tasks.tasks.spans.subwords import project_tags

if TYPE_CHECKING:  # the module loads sentence-transformers
    from turkic_idiom_tasks.tasks.spans.classifier import Prediction


def predicted_tags(sentences: TestSentences, predictions: Sequence[Prediction]) -> Tags:
    """Return the predictions of a classifier, one for each sentence in the same order, as a record holds them."""
    return Tags(sentences, tuple("".join(tag[0] for tag in prediction.tags) for prediction in predictions))


def score_predictions(sentences: TestSentences, predictions: Sequence[Prediction]) -> dict[str, float]:
    """Return name -> score of a token classifier, NaN if undefined; one prediction for each sentence, in order.

    Sentences of a concept are resampled together.
    """
    gold = [sentence.tags for sentence in sentences.rows]
    predicted = [prediction.tags for prediction in predictions]
    interval = span_f1_interval(gold, predicted, sentences.concepts)
    subwords = [project_tags(tags, one.owners) for tags, one in zip(gold, predictions, strict=True)]
    return {
        **word_scores(gold, predicted),
        "span_f1_ci_low": interval.low,
        "span_f1_ci_high": interval.high,
        "n_sentences": float(len(gold)),
        "n_idioms": float(len(set(sentences.concepts))),
        "small_sample": float(len(gold) < SMALL_N),
        **subword_scores(subwords, [prediction.subword_tags for prediction in predictions]),
    }
