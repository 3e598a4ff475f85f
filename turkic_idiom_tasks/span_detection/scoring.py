"""The scores of span detection, each a function of the same samples, whoever tagged them.

A sample is ``[idiom, gold, predicted]`` with the tags of one sentence as letters (``OOBIO``): what lm-eval logs, and
what every score can be computed from again. Sub-word scores take samples of pieces instead of words; None stands for an
answer that has no pieces.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from turkic_idiom_tasks.metrics.spans import span_f1_interval, span_scores, token_accuracy, token_scores
from turkic_idiom_tasks.metrics.statistics import SMALL_N
from turkic_idiom_tasks.span_detection.classifier import Prediction
from turkic_idiom_tasks.span_detection.sentences import TaggedSentence
from turkic_idiom_tasks.span_detection.subwords import project_tags
from turkic_idiom_tasks.spans import LABELS

Sample = Sequence[str]
Score = Callable[[Sequence[Sample | None]], float]

_LABEL_OF_LETTER = {label[0]: label for label in LABELS}


def sample(idiom: str, gold: Iterable[str], predicted: Iterable[str]) -> list[str]:
    """The tags of one sentence, ready to be scored."""
    return [idiom, "".join(tag[0] for tag in gold), "".join(tag[0] for tag in predicted)]


def score_predictions(sentences: Sequence[TaggedSentence], predictions: Sequence[Prediction]) -> dict[str, float]:
    """Every score of a token classifier, by name; NaN where undefined.

    Args:
        sentences: with their gold tags.
        predictions: one for each.
    """
    pairs = list(zip(sentences, predictions, strict=True))
    words = [sample(wanted.idiom, wanted.tags, found.tags) for wanted, found in pairs]
    pieces = [
        sample(wanted.idiom, project_tags(wanted.tags, found.owners), found.piece_tags) for wanted, found in pairs
    ]
    scores = {name: score(words) for name, score in WORD_SCORES.items()}
    return scores | {name: score(pieces) for name, score in SUBWORD_SCORES.items()}


def _over_tags(score: Callable[[list[list[str]], list[list[str]]], float], samples: Sequence[Sample | None]) -> float:
    """A score of (gold, predicted) over the samples that there are; NaN if there is none."""
    present = [item for item in samples if item is not None]
    if not present:
        return math.nan
    return float(score([_tags(gold) for _, gold, _ in present], [_tags(found) for _, _, found in present]))


def _interval_end(end: str, samples: Sequence[Any]) -> float:
    gold, found = ([_tags(item[position]) for item in samples] for position in (1, 2))
    return float(getattr(span_f1_interval(gold, found, [idiom for idiom, _, _ in samples]), end))


def _tags(letters: str) -> list[str]:
    return [_LABEL_OF_LETTER[letter] for letter in letters]


def n_sentences(samples: Sequence[Any]) -> float:
    """How many sentences were scored."""
    return float(len(samples))


def n_idioms(samples: Sequence[Any]) -> float:
    """How many idioms they hold."""
    return float(len({idiom for idiom, _, _ in samples}))


def small_sample(samples: Sequence[Any]) -> float:
    """1 if so few sentences were scored that only the interval can be trusted, otherwise 0."""
    return float(len(samples) < SMALL_N)


span_f1: Score = partial(_over_tags, lambda gold, found: span_scores(gold, found).f1)
span_precision: Score = partial(_over_tags, lambda gold, found: span_scores(gold, found).precision)
span_recall: Score = partial(_over_tags, lambda gold, found: span_scores(gold, found).recall)
span_f1_ci_low: Score = partial(_interval_end, "low")
span_f1_ci_high: Score = partial(_interval_end, "high")
span_f1_strict: Score = partial(_over_tags, lambda gold, found: span_scores(gold, found, strict=True).f1)
span_precision_strict: Score = partial(_over_tags, lambda gold, found: span_scores(gold, found, strict=True).precision)
span_recall_strict: Score = partial(_over_tags, lambda gold, found: span_scores(gold, found, strict=True).recall)
tag_f1: Score = partial(_over_tags, lambda gold, found: token_scores(gold, found).f1)
tag_precision: Score = partial(_over_tags, lambda gold, found: token_scores(gold, found).precision)
tag_recall: Score = partial(_over_tags, lambda gold, found: token_scores(gold, found).recall)
tag_accuracy: Score = partial(_over_tags, token_accuracy)

WORD_SCORES: dict[str, Score] = {
    "span_f1": span_f1,
    "span_precision": span_precision,
    "span_recall": span_recall,
    "span_f1_ci_low": span_f1_ci_low,
    "span_f1_ci_high": span_f1_ci_high,
    "span_f1_strict": span_f1_strict,
    "span_precision_strict": span_precision_strict,
    "span_recall_strict": span_recall_strict,
    "token_f1": tag_f1,
    "token_precision": tag_precision,
    "token_recall": tag_recall,
    "token_accuracy": tag_accuracy,
    "n_sentences": n_sentences,
    "n_idioms": n_idioms,
    "small_sample": small_sample,
}
SUBWORD_SCORES: dict[str, Score] = {
    "subword_f1": tag_f1,
    "subword_precision": tag_precision,
    "subword_recall": tag_recall,
    "subword_accuracy": tag_accuracy,
}
