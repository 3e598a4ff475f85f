"""Accuracy and macro F1 of binary labels, with an interval that resamples idioms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from sklearn.metrics import f1_score

from turkic_idiom_tasks.metrics.bootstrap import SEED, SMALL_N, Interval, Stratum, resample

LABELS = (0, 1)
LABEL_SCORES = (
    "macro_f1", "macro_f1_ci_low", "macro_f1_ci_high", "accuracy", "unreadable", "n_items", "n_idioms", "small_sample",
)  # fmt: skip
_UNREADABLE = -1  # equals no label, so it lowers the recall of the right one


def label_scores(gold: Sequence[int], predicted: Sequence[int | None], idioms: Sequence[str]) -> dict[str, float]:
    """Return name -> score of labels that were predicted, the names of `LABEL_SCORES`.

    - ``macro_f1`` with its 95% interval, and ``accuracy``, in [0, 1]; an unreadable answer counts as wrong.
    - ``unreadable``: share of answers that could not be read.
    - ``n_items``, ``n_idioms``, ``small_sample``: sentences, idioms among them, 1 if these are fewer than 30.

    The sequences are as long as there are sentences, at least one: labels 0 or 1, None if the answer could not be read,
    and the idiom, which is what is resampled.
    """
    labels = [_UNREADABLE if label is None else label for label in predicted]
    interval = macro_f1_interval(gold, labels, idioms)
    right = [label == answer for label, answer in zip(gold, labels, strict=True)]
    n_idioms = len(set(idioms))
    return {
        "macro_f1": macro_f1(gold, labels),
        "macro_f1_ci_low": interval.low,
        "macro_f1_ci_high": interval.high,
        "accuracy": sum(right) / len(right),
        "unreadable": labels.count(_UNREADABLE) / len(labels),
        "n_items": float(len(labels)),
        "n_idioms": float(n_idioms),
        "small_sample": float(n_idioms < SMALL_N),
    }


def macro_f1(gold: Sequence[int], predicted: Sequence[int]) -> float:
    """Return the mean of the F1 of both labels, in [0, 1]; NaN if a label is neither in gold nor predicted."""
    if any(label not in gold and label not in predicted for label in LABELS):  # scikit-learn would take its F1 for 0
        return math.nan
    return float(f1_score(gold, predicted, labels=list(LABELS), average="macro"))


def macro_f1_interval(
    gold: Sequence[int], predicted: Sequence[int], idioms: Sequence[str], *, seed: int = SEED
) -> Interval:
    """Return the 95% bootstrap interval of macro F1, which resamples the idioms of the sentences; NaN if undefined.

    The F1 of a label is a ratio of sums over sentences: 2 TP / (2 TP + FP + FN).
    """
    if math.isnan(macro_f1(gold, predicted)):
        return Interval(math.nan, math.nan)
    strata = {}
    for label in LABELS:
        is_gold = np.array(gold) == label
        is_predicted = np.array(predicted) == label
        sums = np.stack([2.0 * (is_gold & is_predicted), is_gold + is_predicted.astype(np.float64)], axis=1)
        strata[str(label)] = Stratum(idioms, sums)
    return resample(strata, seed=seed).interval()
