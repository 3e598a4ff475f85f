"""Macro F1 of binary labels, with an interval that resamples idioms."""

import math
from collections.abc import Sequence

import numpy as np
from sklearn.metrics import f1_score

from turkic_idiom_tasks.metrics.bootstrap import Interval, Stratum, resample

LABELS = (0, 1)


def macro_f1(gold: Sequence[int], predicted: Sequence[int]) -> float:
    """Return the mean of the F1 of both labels, in [0, 1]; NaN if a label is neither in gold nor predicted."""
    if any(label not in gold and label not in predicted for label in LABELS):  # scikit-learn would take its F1 for 0
        return math.nan
    return float(f1_score(gold, predicted, labels=list(LABELS), average="macro"))


def macro_f1_interval(gold: Sequence[int], predicted: Sequence[int], idioms: Sequence[str]) -> Interval:
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
    return resample(strata).interval()
