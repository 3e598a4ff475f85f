"""Resampling of concepts: scores with other concepts, and their confidence intervals.

A score is the macro average over subsets of a ratio of sums over items. Its items are resampled by whole concepts, in
all subsets and tasks at once, because the items of one concept are not independent. The number of times that a draw
has a concept is Poisson distributed with mean 1 (Hanley and MacGibbon, 2006).

The interval is an expanded percentile interval (Hesterberg, 2015). Its degrees of freedom depend on the number of
concepts that carry the score, see `tail_probabilities`. Its coverage by simulation, of nominal 95%
(benchmarks/interval_coverage.py: 12 scenarios with 30 to 400 concepts, beside five other methods):

- 93.5 to 98.4% for differences with ties, span F1, macro averages, gains that losses balance, and nDCG far from chance,
  where the plain percentile interval has 88.3 to 95.7%;
- 83 to 94% for nDCG near chance, where a few good ranks decide (no other method is more than a point better);
- 46 to 81% for fewer than two expected concepts that differ: 20 to 55% of the samples have no such concept.

A share of right answers, and a mean of such shares, has Wilson's interval (1927) instead. Coverage by simulation for 10
to 200 concepts of 1 to 3 answers, which are independent to identical: 93.5 to 97% at p = .02, .5 and .98, but 92% at
.02 and .98 with 200 concepts whose answers are identical.

So an interval does not cover the true value if the sample lacks the rare concepts that decide. In these cases
`Interval.is_reliable` is False; intervals with True covered in 94.3 to 100% in every scenario and size. If many
concepts carry the score, the interval is 1 to 5% wider than the percentile interval, and 9 to 12% with 30 concepts.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, stdtrit

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.uint8]

RESAMPLES = 10_000
LEVEL = 0.95
SEED = 42
SMALL_N = 30  # a score of fewer queries, sentences or items is flagged; in STS and idiomaticity, of fewer idioms
SMALL_MARK, UNRELIABLE_MARK = "*", "~"  # in tables: fewer than `SMALL_N`; the interval may be too short
FEW = 2  # an interval is not reliable if this many concepts can move the score by more than its half width
UNRELIABLE_NOTE = f"the interval may be too short: {FEW} concepts more or less could move the score out of it"

_TAIL = (1 - LEVEL) / 2
_SAME = 1e-12  # a smaller spread is rounding
_GRID = 2.0**-36  # sums are multiples of it
_BLOCK = 64  # models in one matrix product, which limits the memory


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95% confidence interval of a score or of a difference of scores, in the score's own range."""

    low: float
    high: float
    is_reliable: bool = True  # False if few concepts carry the score: the interval may be too short


@dataclass(frozen=True, slots=True, eq=False)
class Stratum:
    """Items of one subset with their parts in a model's score, which is the ratio of the two sums."""

    concepts: Sequence[str]  # (N) the concept of each item
    sums: Floats  # (N, 2) float64, the parts of each item in the numerator and the denominator, which is never negative


@dataclass(frozen=True, slots=True, eq=False)
class Resampled:
    """A score, or a difference of two scores, with its values under every draw of concepts."""

    score: float
    draws: Floats  # (RESAMPLES,) float64, the score under each draw; NaN if the draw has no item of some subset
    concepts: tuple[str, ...]  # (C,) names, sorted
    influence: Floats  # (C,) float64, the derivative of the score by the weight of each concept; the sum is 0
    reach: float  # the largest change of the score by one concept in one subset, on average
    # (C,) the part of each concept in a share of right answers; None for other scores
    shares: Floats | None = None
    # Such a share if all answers are wrong, which is below 0 when it is corrected for chance; the highest is 1
    lowest: float = 0.0

    def corrected(self, floor: float) -> Resampled:
        """Return the chance-corrected score, (score - floor) / (1 - floor), under the same draws; the floor is < 1."""
        scale = 1 / (1 - floor)
        return replace(
            self,
            score=(self.score - floor) * scale,
            draws=(self.draws - floor) * scale,
            influence=self.influence * scale,
            reach=self.reach * scale,
            lowest=(self.lowest - floor) * scale,
        )

    def interval(self) -> Interval:
        """Return the 95% interval; NaN if all draws are NaN, and the score itself if no concept has any influence."""
        if self.shares is not None:
            # A bootstrap collapses where all answers are alike; Wilson's interval keeps its coverage at 0 and 1. Its
            # number of cases is the effective one, p (1 - p) / variance with the variance clustered by concept, and its
            # quantile is Student's for C - 1 degrees of freedom, as the variance is estimated
            width, n_concepts = 1 - self.lowest, len(self.shares)
            share = (self.score - self.lowest) / width
            variance = float((self.influence**2).sum()) / width**2 * n_concepts / max(n_concepts - 1, 1)
            # The sum of squared shares is 1 / number of cases if the answers of a concept are all alike
            cases = share * (1 - share) / variance if variance > _SAME**2 else 1 / float((self.shares**2).sum())
            quantile = float(stdtrit(max(n_concepts - 1, 1), 1 - _TAIL))
            spread = quantile * math.sqrt(max(share * (1 - share), 0) / cases + (quantile / cases / 2) ** 2)
            centre, scale = share + quantile**2 / cases / 2, 1 + quantile**2 / cases
            # Rounding must not leave the score out of its interval
            low, high = min((centre - spread) / scale, share), max((centre + spread) / scale, share)
            return Interval(self.lowest + width * low, self.lowest + width * high)
        if math.sqrt(float((self.influence**2).sum())) <= _SAME:
            return Interval(self.score, self.score, is_reliable=False)
        tail = float(tail_probabilities(self.influence[None])[0])
        last = len(self.draws) - 1 - int(np.isnan(self.draws).sum())
        if last < 0:
            return Interval(math.nan, math.nan, is_reliable=False)
        places = np.array([tail * last, (1 - tail) * last])
        below = places.astype(np.int64)
        above = np.minimum(below + 1, last)
        # To sort all draws takes three times as long, and a leaderboard has ten thousands of intervals; NaN stays last
        draws = np.partition(self.draws, np.concatenate([below, above]))
        low, high = draws[below] + (places - below) * (draws[above] - draws[below])
        return Interval(float(low), float(high), is_reliable=bool((high - low) / 2 >= FEW * self.reach))


def resample(strata: Mapping[str, Stratum]) -> Resampled:
    """Return the macro average of a model's scores over subsets (subset -> its items), resampled."""
    # the order of a sum decides its last bit
    return mean([resample_models([strata[subset]])[0] for subset in sorted(strata)])


def resample_models(strata: Sequence[Stratum]) -> list[Resampled]:
    """Return the scores of many models on one subset, resampled at once."""
    # One matrix product for all models is much faster than one for each
    summed = [sum_by_concept(stratum) for stratum in strata]
    models_by_concepts: dict[tuple[str, ...], list[int]] = {}
    for model, (concepts, _) in enumerate(summed):
        models_by_concepts.setdefault(concepts, []).append(model)
    resampled: dict[int, Resampled] = {}
    for concepts, models in models_by_concepts.items():
        counts = poisson_counts(concepts).astype(np.float64)
        for start in range(0, len(models), _BLOCK):
            block = models[start : start + _BLOCK]
            sums = np.stack([summed[model][1] for model in block])  # (M, C, 2)
            totals = sums.sum(axis=1)
            ratios = totals[:, 0] / totals[:, 1]
            numerators = sums[:, :, 0] @ counts
            # All rankings and answers have the same denominators, the numbers of queries or items of each concept
            are_shared = bool((sums[:, :, 1] == sums[0, :, 1]).all())
            denominators = sums[: 1 if are_shared else None, :, 1] @ counts
            denominators[denominators == 0] = np.nan  # a draw without any item of the subset has no score
            draws = numerators / denominators
            # the derivative of the ratio n / D by the weight of a concept c: (n_c - ratio * d_c) / D
            residuals = sums[:, :, 0] - ratios[:, None] * sums[:, :, 1]
            influences = residuals / totals[:, 1, None]
            for row, model in enumerate(block):
                score, reach = float(ratios[row]), 1 / len(concepts)
                # a share of right answers: every item is one case that is right or wrong
                numerator, denominator = strata[model].sums.T
                is_share = (denominator == 1).all() and np.isin(numerator, (0, 1)).all()
                shares = sums[row, :, 1] / totals[row, 1] if is_share else None
                resampled[model] = Resampled(score, draws[row], concepts, influences[row], reach, shares)
    return [resampled[model] for model in range(len(strata))]


def difference(second: Resampled, first: Resampled) -> Resampled:
    """Return second minus first under the same draws; positive if the second is better."""
    concepts, (influences, _) = _align([second, first])
    return Resampled(
        score=second.score - first.score,
        draws=second.draws - first.draws,
        concepts=concepts,
        influence=influences[0] - influences[1],
        reach=max(second.reach, first.reach),
    )


def mean(parts: Sequence[Resampled]) -> Resampled:
    """Return the macro average of scores with equal weights, under the same draws."""
    if len(parts) == 1:
        return parts[0]
    concepts, (influences, shares) = _align(parts)
    draws = np.zeros(RESAMPLES)
    # In the given order, which decides the last bit
    for part in parts:
        draws += part.draws
    return Resampled(
        score=sum(part.score for part in parts) / len(parts),
        draws=draws / len(parts),
        concepts=concepts,
        influence=influences.sum(axis=0) / len(parts),
        reach=sum(part.reach for part in parts) / len(parts) ** 2,
        shares=shares.sum(axis=0) / len(parts) if all(part.shares is not None for part in parts) else None,
        lowest=sum(part.lowest for part in parts) / len(parts),
    )


def standard_error(strata: Sequence[Stratum]) -> float:
    """Return the standard error, clustered by concept, of the mean of the ratios of strata; NaN for one concept.

    It is sqrt(sum of squared influences * C / (C - 1)), that of a mean where each of C concepts has one item.
    """
    influence: dict[str, float] = {}
    for stratum in strata:
        concepts, sums = sum_by_concept(stratum)
        numerator, denominator = sums.sum(axis=0)
        residuals = sums[:, 0] - numerator / denominator * sums[:, 1]
        for concept, residual in zip(concepts, residuals / denominator / len(strata), strict=True):
            influence[concept] = influence.get(concept, 0.0) + float(residual)
    n_concepts = len(influence)
    squares = sum(value**2 for value in influence.values())
    return math.sqrt(squares * n_concepts / (n_concepts - 1)) if n_concepts > 1 else math.nan


def tail_probabilities(influences: Floats) -> Floats:
    """Return (M,) the share of draws that an interval leaves out at either end, from (M, C) influences.

    It is 2.5% for many concepts of equal influence, and less for few; that of a row of zeros means nothing.
    """
    n_concepts = influences.shape[1]
    squares = influences**2
    with np.errstate(invalid="ignore", divide="ignore"):
        # With few concepts, or a few that carry most of the score, the estimate of the spread is uncertain itself, so
        # Student's distribution applies. Its degrees of freedom are Satterthwaite's (1946), from the kurtosis
        kurtosis_shares = (squares**2).sum(axis=1) / squares.sum(axis=1) ** 2  # kurtosis / C, in [1 / C, 1]
        freedom = np.minimum(2 / np.maximum(kurtosis_shares - 1 / n_concepts, 0), n_concepts - 1)
        # A bootstrap estimates the spread without the correction for the mean (Hesterberg, 2015)
        quantiles = stdtrit(freedom, 1 - _TAIL) * np.sqrt(np.float64(n_concepts) / (n_concepts - 1))
    # The percentile interval is as wide as one from the normal distribution
    return np.asarray(ndtr(-quantiles), dtype=np.float64)


def sum_by_concept(stratum: Stratum) -> tuple[tuple[str, ...], Floats]:
    """Return the concepts of a subset, sorted, and (C, 2) float64, the sums over the items of each concept."""
    concepts, positions = concept_positions(tuple(stratum.concepts))
    # To multiples of 2^-36 (1.5e-11). Sums and products with whole numbers are then exact in float64, as long as totals
    # stay below 100,000: the same to the last bit in any order of items, on any machine, beside any other models
    rounded = np.round(stratum.sums / _GRID) * _GRID
    sums = np.zeros((len(concepts), 2))
    np.add.at(sums, positions, rounded)  # `sums[positions] += ...` would count one item of each concept
    return concepts, sums


@lru_cache(maxsize=16)  # about the number of subsets with different concepts on a leaderboard; 10 kB per concept
def poisson_counts(concepts: tuple[str, ...]) -> Counts:
    """Return (C, RESAMPLES) uint8, the number of times that each draw has each concept."""
    counts = np.stack([_counts_of_concept(concept) for concept in concepts])
    counts.flags.writeable = False  # the cache hands the same array to every caller
    return counts


def digest(concept: str) -> int:
    """Return 64 bits of a hash of the name of a concept, for the seed of a generator."""
    return int.from_bytes(hashlib.sha256(concept.encode("utf-8")).digest()[:8], "big")


@lru_cache(maxsize=4096)
def _counts_of_concept(concept: str) -> Counts:
    # From the name alone, so that no result of a model depends on which other models, subsets or items are resampled
    generator = np.random.default_rng([SEED, digest(concept)])
    return generator.poisson(1.0, RESAMPLES).astype(np.uint8)


@lru_cache(maxsize=64)
def concept_positions(concepts: tuple[str, ...]) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
    """Return the distinct concepts, sorted, and (N,) int64 the position of each item's concept among them."""
    names = tuple(sorted(set(concepts)))
    positions = {name: position for position, name in enumerate(names)}
    return names, np.array([positions[name] for name in concepts], dtype=np.int64)


def _align(parts: Sequence[Resampled]) -> tuple[tuple[str, ...], Floats]:
    """Return the concepts of all parts, sorted, and (2, P, C) their influences and shares in each part."""
    names = tuple(sorted(set().union(*(part.concepts for part in parts))))
    positions = {name: position for position, name in enumerate(names)}
    aligned = np.zeros((2, len(parts), len(names)))
    for row, part in enumerate(parts):
        columns = [positions[name] for name in part.concepts]
        aligned[0, row, columns] = part.influence
        if part.shares is not None:
            aligned[1, row, columns] = part.shares
    return names, aligned
