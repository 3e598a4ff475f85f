"""Intervals for scores: the percentile bootstrap over concepts (Efron and Tibshirani, 1993, ch. 13)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

RESAMPLES = 10_000
LEVEL = 0.95
SEED = 42
SMALL_N = 30  # below this many queries a figure is flagged


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval of a mean score, in the score's own range."""

    low: float
    high: float


def bootstrap_interval(
    scores: Mapping[str, npt.NDArray[np.float64]], clusters: Mapping[str, Sequence[str]], *, seed: int = SEED
) -> Interval:
    """95% percentile interval of the macro average over groups, resampling whole clusters.

    A concept that stands in several languages is one cluster: it is drawn for all of them or for none, so the macro
    interval does not pretend that the languages are independent samples.

    Args:
        scores: group (subset) -> (Q,) scores of its queries.
        clusters: group -> the cluster (concept) of each of those queries.
        seed: of the resampling; the same seed and data give the same interval in any order of groups or queries.

    Raises:
        ValueError: no group, or a group without queries.
    """
    if not scores or any(len(values) == 0 for values in scores.values()):
        raise ValueError("a bootstrap needs at least one query in every group")
    names = tuple(sorted({name for group in clusters.values() for name in group}))
    index = {name: position for position, name in enumerate(names)}
    means = np.zeros(RESAMPLES)
    undefined = np.zeros(RESAMPLES, dtype=bool)
    counts = _resamples(names, seed)
    for group in sorted(scores):
        positions = np.array([index[name] for name in clusters[group]])
        total = np.bincount(positions, weights=scores[group], minlength=len(names))
        size = np.bincount(positions, minlength=len(names)).astype(np.float64)
        drawn = counts @ size
        undefined |= drawn == 0
        means += (counts @ total) / np.maximum(drawn, 1) / len(scores)
    return _percentiles(means[~undefined])


def interval_of_ratio(
    numerators: npt.NDArray[np.float64],
    denominators: npt.NDArray[np.float64],
    *,
    clusters: Sequence[str],
    seed: int = SEED,
) -> Interval:
    """95% percentile interval of a ratio of sums, such as a micro-averaged F1, resampling whole clusters.

    Args:
        numerators: (N,) what each item adds to the numerator.
        denominators: (N,) what it adds to the denominator, none negative; draws that sum to 0 are left out.
        clusters: the cluster of each item; its items are drawn together.
        seed: of the resampling; the same seed and data give the same interval in any order of items.

    Raises:
        ValueError: every denominator is 0.
    """
    if not denominators.any():
        raise ValueError("a ratio needs an item with a denominator")
    names = tuple(sorted(set(clusters)))
    index = {name: position for position, name in enumerate(names)}
    positions = np.array([index[name] for name in clusters])
    counts = _resamples(names, seed)
    above, below = (
        counts @ np.bincount(positions, weights=weights, minlength=len(names)) for weights in (numerators, denominators)
    )
    return _percentiles(above[below > 0] / below[below > 0])


def _percentiles(values: npt.NDArray[np.float64]) -> Interval:
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return Interval(float(low), float(high))


@lru_cache(maxsize=16)  # the models of a table are all resampled alike; a leaderboard of the bundled data needs nine
def _resamples(names: tuple[str, ...], seed: int) -> npt.NDArray[np.float64]:
    """(RESAMPLES, clusters): how often each cluster is drawn; it depends on the clusters and the seed alone."""
    generator = np.random.default_rng([seed, _digest(names)])
    counts = generator.multinomial(len(names), np.full(len(names), 1 / len(names)), size=RESAMPLES)
    return counts.astype(np.float64)


def _digest(names: Sequence[str]) -> int:
    return int.from_bytes(hashlib.sha256("\n".join(names).encode()).digest()[:8], "big")
