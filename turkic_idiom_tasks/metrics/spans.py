"""Scores of tagged sentences: seqeval's spans, the words' tags, and an interval for the span F1.

Span scores are those of seqeval 1.2.2 (Nakayama, 2018), micro-averaged over all spans of the corpus: in its default
mode an I after O begins a span, as in conlleval; in strict mode (``mode="strict", scheme=IOB2``: one without the other
is silently the default) such a span does not count, in gold either. Token scores are micro-averaged over the tags B
and I, where a B for an I is wrong; accuracy counts O too. A share of nothing is NaN: the precision where nothing was
marked, the recall and F1 where there was nothing to find. seqeval says 0 there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from turkic_idiom_tasks.metrics.statistics import SEED, Interval, interval_of_ratio
from turkic_idiom_tasks.spans import OUTSIDE

Tags = Sequence[str]


@dataclass(frozen=True, slots=True)
class Scores:
    """Precision, recall and F1, each in [0, 1], higher is better, NaN where undefined."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def of_counts(cls, correct: float, predicted: float, gold: float) -> Scores:
        """The scores of so many correct ones among those predicted and those in gold."""
        return cls(_share(correct, predicted), _share(correct, gold), _share(2 * correct, predicted + gold))


def span_scores(gold: Sequence[Tags], predicted: Sequence[Tags], *, strict: bool = False) -> Scores:
    """Micro-averaged scores of whole spans: one is right if both ends are.

    Args:
        gold: tags of each sentence.
        predicted: tags of each sentence, as many as in gold.
        strict: whether a span must be proper IOB2.

    Raises:
        ValueError: a sentence has another number of tags than in gold.
    """
    return Scores.of_counts(*(int(n) for n in span_counts(gold, predicted, strict=strict).sum(axis=0)))


def span_counts(gold: Sequence[Tags], predicted: Sequence[Tags], *, strict: bool = False) -> npt.NDArray[np.int64]:
    """(sentences, 3) int64: spans that are correct, predicted, and in gold."""
    _check_lengths(gold, predicted)
    rows = []
    for wanted, found in zip(gold, predicted, strict=True):
        in_gold, in_predicted = (_entities(tuple(tags), strict=strict) for tags in (wanted, found))
        rows.append((len(in_gold & in_predicted), len(in_predicted), len(in_gold)))
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def token_scores(gold: Sequence[Tags], predicted: Sequence[Tags]) -> Scores:
    """Micro-averaged scores of single tags other than O, of words or of sub-words.

    Raises:
        ValueError: a sentence has another number of tags than in gold.
    """
    pairs = _tag_pairs(gold, predicted)
    correct = sum(wanted == found != OUTSIDE for wanted, found in pairs)
    n_predicted = sum(found != OUTSIDE for _, found in pairs)
    return Scores.of_counts(correct, n_predicted, sum(wanted != OUTSIDE for wanted, _ in pairs))


def token_accuracy(gold: Sequence[Tags], predicted: Sequence[Tags]) -> float:
    """Share of tags, O included, that are right; in [0, 1], NaN without any.

    Raises:
        ValueError: a sentence has another number of tags than in gold.
    """
    pairs = _tag_pairs(gold, predicted)
    return _share(sum(wanted == found for wanted, found in pairs), len(pairs))


def span_f1_interval(
    gold: Sequence[Tags], predicted: Sequence[Tags], idioms: Sequence[str], *, seed: int = SEED
) -> Interval:
    """95% percentile bootstrap interval of the span F1 (default mode), resampling whole idioms; NaN where undefined.

    Args:
        gold: tags of each sentence.
        predicted: tags of each sentence.
        idioms: the idiom of each sentence; its sentences are drawn together.
        seed: of the resampling; the same seed and data give the same interval in any order of sentences.
    """
    correct, found, wanted = span_counts(gold, predicted).T.astype(np.float64)
    if not (found + wanted).any():
        return Interval(math.nan, math.nan)
    return interval_of_ratio(2 * correct, found + wanted, clusters=idioms, seed=seed)


@lru_cache(maxsize=65536)  # the same few tags are asked for by every metric
def _entities(tags: tuple[str, ...], *, strict: bool) -> frozenset[tuple[int, int]]:
    """Half-open word ranges that seqeval finds."""
    from seqeval.metrics.sequence_labeling import get_entities
    from seqeval.scheme import IOB2, Entities

    if strict:
        found: list[Any] = Entities([list(tags)], IOB2).entities[0]
        return frozenset((entity.start, entity.end) for entity in found)
    return frozenset((start, end + 1) for _, start, end in get_entities(list(tags)))


def _tag_pairs(gold: Sequence[Tags], predicted: Sequence[Tags]) -> list[tuple[str, str]]:
    _check_lengths(gold, predicted)
    pairs = zip(gold, predicted, strict=True)
    return [pair for wanted, found in pairs for pair in zip(wanted, found, strict=True)]


def _check_lengths(gold: Sequence[Tags], predicted: Sequence[Tags]) -> None:
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} sentences in gold, {len(predicted)} predicted")
    for number, (wanted, found) in enumerate(zip(gold, predicted, strict=True)):
        if len(wanted) != len(found):
            raise ValueError(f"sentence {number} has {len(wanted)} tags in gold, {len(found)} predicted")


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
