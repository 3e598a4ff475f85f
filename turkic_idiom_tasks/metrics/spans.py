"""Scores of tagged sentences: seqeval's spans, the words' tags, and an interval for the span F1.

Span scores are those of seqeval 1.2.2 (Nakayama, 2018), micro-averaged over all spans of the corpus. In its default
mode an I after O begins a span, as in conlleval. In strict mode (``mode="strict", scheme=IOB2``) such a span does not
count, in gold either. Token scores are micro-averaged over the tags B and I, where a B for an I is wrong; accuracy
counts O too. A score without any cases is NaN: the precision if nothing was marked, the recall if gold has nothing, and
F1 if both are empty.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import IOB2, Entities

from turkic_idiom_tasks.metrics.bootstrap import Interval, Stratum, resample
from turkic_idiom_tasks.spans import OUTSIDE

Tags = Sequence[str]


def micro_scores(counts: npt.NDArray[np.int64], unit: str, suffix: str = "") -> dict[str, float]:
    """Return F1, precision and recall over all sentences, each in [0, 1], higher is better, NaN if undefined.

    The counts are from `span_counts` or `token_counts`; the names begin with the unit: ``span_f1``, ``span_precision``.
    """
    n_correct, n_predicted, n_gold = counts.sum(axis=0).tolist()
    return {
        f"{unit}_f1{suffix}": _share(2 * n_correct, n_predicted + n_gold),
        f"{unit}_precision{suffix}": _share(n_correct, n_predicted),
        f"{unit}_recall{suffix}": _share(n_correct, n_gold),
    }


def span_counts(gold: Sequence[Tags], predicted: Sequence[Tags], *, strict: bool = False) -> npt.NDArray[np.int64]:
    """Return (sentences, 3) int64: spans that are correct at both ends, predicted, and in gold.

    In this and the other functions gold and predicted are the tags of each sentence. A strict span must be proper IOB2.
    """
    counts = np.zeros((len(gold), 3), dtype=np.int64)
    for row, (gold_tags, predicted_tags) in enumerate(zip(gold, predicted, strict=True)):
        if len(gold_tags) != len(predicted_tags):  # the other functions notice it by themselves
            raise ValueError(f"sentence {row} has {len(gold_tags)} tags in gold, {len(predicted_tags)} predicted")
        in_gold = _spans_of(tuple(gold_tags), strict=strict)
        in_predicted = _spans_of(tuple(predicted_tags), strict=strict)
        counts[row] = len(in_gold & in_predicted), len(in_predicted), len(in_gold)
    return counts


def token_counts(gold: Sequence[Tags], predicted: Sequence[Tags]) -> npt.NDArray[np.int64]:
    """Return (sentences, 3) int64: tags other than O that are correct, predicted, and in gold."""
    counts = np.zeros((len(gold), 3), dtype=np.int64)
    for row, (gold_tags, tags) in enumerate(zip(gold, predicted, strict=True)):
        n_correct = sum(one == other != OUTSIDE for one, other in zip(gold_tags, tags, strict=True))
        counts[row] = n_correct, len(tags) - tags.count(OUTSIDE), len(gold_tags) - gold_tags.count(OUTSIDE)
    return counts


def token_accuracy(gold: Sequence[Tags], predicted: Sequence[Tags]) -> float:
    """Return the share of tags, O included, that are correct, in [0, 1]; NaN without any tag."""
    n_correct = n_tags = 0
    for gold_tags, tags in zip(gold, predicted, strict=True):
        n_correct += sum(one == other for one, other in zip(gold_tags, tags, strict=True))
        n_tags += len(tags)
    return _share(n_correct, n_tags)


def joint_f1(gold: Sequence[Tags], predicted: Sequence[Tags]) -> float:
    """Return the F1 of sentences, one of which is correct if it has an idiom and every span is exact; NaN if undefined.

    This is the joint scoring of MultiIdiom (2026), with the spans of seqeval's default mode. A sentence counts as
    predicted if anything is marked in it, and as gold if it holds an idiom.
    """
    correct = n_predicted = n_gold = 0
    for n_correct_spans, n_predicted_spans, n_gold_spans in span_counts(gold, predicted).tolist():
        correct += n_gold_spans > 0 and n_correct_spans == n_predicted_spans == n_gold_spans
        n_predicted += n_predicted_spans > 0
        n_gold += n_gold_spans > 0
    return _share(2 * correct, n_predicted + n_gold)


def word_scores(gold: Sequence[Tags], predicted: Sequence[Tags]) -> dict[str, float]:
    """Return name -> score of the tags of words, with the names of results; NaN if undefined.

    ``span_*`` counts whole spans in seqeval's default mode, ``span_*_strict`` in its strict mode, ``token_*`` tags.
    ``sequence_accuracy`` is the share of sentences, with or without idioms, of which every tag is correct.
    ``f1_and_sequence_mean`` is the geometric mean of ``span_f1`` and ``sequence_accuracy`` (Matheny, Nguyen and Nguyen,
    2026, arXiv 2603.22799), low if either of them is.
    """
    n_correct = sum(tuple(gold_tags) == tuple(tags) for gold_tags, tags in zip(gold, predicted, strict=True))
    sequence_accuracy = _share(n_correct, len(gold))
    spans = micro_scores(span_counts(gold, predicted), "span")
    return {
        **spans,
        **micro_scores(span_counts(gold, predicted, strict=True), "span", "_strict"),
        **micro_scores(token_counts(gold, predicted), "token"),
        "token_accuracy": token_accuracy(gold, predicted),
        "joint_f1": joint_f1(gold, predicted),
        "sequence_accuracy": sequence_accuracy,
        "f1_and_sequence_mean": math.sqrt(spans["span_f1"] * sequence_accuracy),
    }


def f1_sums(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return (sentences, 2) the parts of F1, from `span_counts` or `token_counts`: 2 * correct, predicted + gold."""
    correct, n_predicted, n_gold = counts.T.astype(np.float64)
    return np.stack([2 * correct, n_predicted + n_gold], axis=1)


def span_f1_interval(gold: Sequence[Tags], predicted: Sequence[Tags], concepts: Sequence[str]) -> Interval:
    """Return the 95% bootstrap interval of the span F1 (default mode); NaN if undefined."""
    sums = f1_sums(span_counts(gold, predicted))
    if not sums[:, 1].any():
        return Interval(math.nan, math.nan)
    return resample({"spans": Stratum(concepts, sums)}).interval()


@lru_cache(maxsize=65536)  # every metric needs the spans of the same few tag sequences
def _spans_of(tags: tuple[str, ...], *, strict: bool) -> frozenset[tuple[int, int]]:
    """Return the half-open word ranges that seqeval finds."""
    if strict:
        # As with mode="strict" and scheme=IOB2; with only one of the two, seqeval silently takes the default mode
        entities = Entities([list(tags)], IOB2).entities[0]
        return frozenset((entity.start, entity.end) for entity in entities)
    return frozenset((start, end + 1) for _, start, end in get_entities(list(tags)))


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan  # seqeval returns 0
