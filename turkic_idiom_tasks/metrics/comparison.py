"""Comparison of two systems on the same items: paired intervals, tests and effect sizes.

A score is a ratio of sums over items: a mean of nDCG (each item adds its nDCG and 1), or a micro-averaged span F1
(each sentence adds twice its correct spans, and its predicted plus gold spans). Items of one concept are resampled and
exchanged together, in all languages at once; every language has the same weight in the score. Differences are second
minus first: positive if the second system is better.

- Interval: expanded percentile bootstrap over concepts, see `bootstrap`.
- p: two-sided sign-flip test, with the systems exchanged in each concept with probability 1/2.
- Wilcoxon signed-rank test of scipy: zeros ranked, then dropped (Pratt, 1959), or dropped at once (Wilcoxon, 1945), as
  in the paper.
- Effect: matched-pairs rank-biserial correlation (Kerby, 2014), zeros dropped.
- Holm (1979) for the p-values of one table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata, wilcoxon

from turkic_idiom_tasks.metrics.bootstrap import (
    RESAMPLES,
    SEED,
    SMALL_N,
    Floats,
    Interval,
    Stratum,
    difference,
    digest,
    mean,
    resample_models,
    sum_by_concept,
)

_SAME = 9  # decimals: scores that differ by less are tied; sums are rounded to 1.5e-11
EXCHANGES = 1  # makes the random exchanges independent of the draws of the bootstrap

Pair = tuple[Stratum, Stratum]  # the same items of one language under the first and under the second system


@dataclass(frozen=True, slots=True)
class Comparison:
    """Result of the second system against the first."""

    n: int  # items in all languages
    n_concepts: int  # distinct ones
    first: float  # score of the first system, macro-averaged over languages
    second: float
    difference: float  # second minus first
    interval: Interval  # of the difference
    wins: int  # concepts on which the second is better
    ties: int
    losses: int
    # None with fewer than 30 concepts (`small`), and all but `p` also if all concepts are ties.
    effect: float | None = None  # rank-biserial correlation in [-1, 1], positive if the second is better
    p: float | None = None  # of the sign-flip test, in (0, 1]
    p_pratt: float | None = None  # of the Wilcoxon test with Pratt's zeros
    p_wilcox: float | None = None  # of the Wilcoxon test without the zeros

    @property
    def small(self) -> bool:
        """Return whether there are too few concepts for a test."""
        return self.n_concepts < SMALL_N


def compare(pairs: Mapping[str, Pair]) -> Comparison:
    """Compare two systems on one language, or on several with equal weights.

    The rank tests, wins and effect use each concept's part in the difference: for a single language its own
    difference, otherwise the weighted sum of its differences in the languages that have it. The pairs are
    language (subset) -> items under both systems.
    """
    # Sorted, so that the order of languages does not change the last bit
    resampled = [resample_models(pairs[language]) for language in sorted(pairs)]
    first, second = (mean(of_system) for of_system in zip(*resampled, strict=True))
    gap = difference(second, first)
    # The distance of an item from the full score is denominator minus numerator: 1 - nDCG, or the number of missed and
    # wrong spans. The mean of the parts of the concepts is the difference of mean scores for nDCG, and near it for span
    # F1, where the two systems predict different numbers of spans, so that their denominators differ.
    concepts, sums = _sum_pairs(pairs)
    shortfall_first, shortfall_second = sums[..., 1] - sums[..., 0]
    sizes = (sums[0, ..., 1] + sums[1, ..., 1]).sum(axis=1) / 2
    parts = np.round(len(concepts) / (len(pairs) * sizes) @ (shortfall_first - shortfall_second), _SAME)  # (C,)
    tests = {}
    if len(parts) >= SMALL_N:
        tests = {"effect": rank_biserial(parts), "p": sign_flip_p(pairs)}
        if parts.any():  # scipy gives NaN and a warning where nothing differs
            # Both, because up to 40% of the differences of nDCG may be 0
            tests["p_pratt"] = float(wilcoxon(parts, zero_method="pratt").pvalue)
            tests["p_wilcox"] = float(wilcoxon(parts, zero_method="wilcox").pvalue)
    return Comparison(
        n=sum(len(before.concepts) for before, _ in pairs.values()),
        n_concepts=len(parts),
        first=first.score,
        second=second.score,
        difference=gap.score,
        interval=gap.interval(),
        wins=int((parts > 0).sum()),
        ties=int((parts == 0).sum()),
        losses=int((parts < 0).sum()),
        **tests,
    )


def sign_flip_p(pairs: Mapping[str, Pair]) -> float:
    """Return the two-sided p in (0, 1] for the hypothesis that the systems are equal, for any number of concepts."""
    concepts, (first, second) = _sum_pairs(pairs)
    # To exchange the systems in a concept is to turn the sign of half its difference; what they share stays.
    middle = (first + second).sum(axis=1) / 2
    half = (second - first) / 2
    observed = abs(float(_macro_score(second.sum(axis=1)) - _macro_score(first.sum(axis=1))))
    signs = np.stack([signs_of_concept(concept) for concept in concepts]).astype(np.float64)
    n_languages = len(half)
    moved = (signs.T @ half.transpose(1, 0, 2).reshape(len(signs), -1)).reshape(RESAMPLES, n_languages, 2)
    differences = np.abs(_macro_score(middle + moved) - _macro_score(middle - moved))
    # Rounding must not make an equal difference less extreme; an undefined score (NaN) counts as extreme.
    extreme = int((~(differences < observed - 10.0**-_SAME)).sum())
    # The observed data count as one more exchange, so that p is never 0 (Phipson and Smyth, 2010)
    return (extreme + 1) / (RESAMPLES + 1)


def rank_biserial(differences: npt.NDArray[np.floating]) -> float | None:
    """Return the matched-pairs rank-biserial correlation in [-1, 1]: the difference of the rank sums over their total.

    Zeros are dropped; None if all of the (N,) differences are zeros.
    """
    kept = differences[differences != 0]
    if not len(kept):
        return None
    ranks = rankdata(np.abs(kept))
    return float((ranks[kept > 0].sum() - ranks[kept < 0].sum()) / ranks.sum())


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the p-values adjusted for all of them (Holm, 1979), in their order; None is no test and stays None."""
    known = sorted((p, position) for position, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, position) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - rank) * p))  # a larger p never becomes the smaller one
        adjusted[position] = highest
    return adjusted


def _sum_pairs(pairs: Mapping[str, Pair]) -> tuple[tuple[str, ...], Floats]:
    """Return the concepts, sorted, and (2, L, C, 2) the sums of both systems by language and concept; 0 if missing."""
    concepts = tuple(sorted(set().union(*(before.concepts for before, _ in pairs.values()))))
    positions = {name: position for position, name in enumerate(concepts)}
    sums = np.zeros((2, len(pairs), len(concepts), 2))
    for language, subset in enumerate(sorted(pairs)):
        for system, stratum in enumerate(pairs[subset]):
            subset_concepts, subset_sums = sum_by_concept(stratum)
            columns = [positions[name] for name in subset_concepts]
            sums[system, language, columns] = subset_sums
    return concepts, sums


def _macro_score(sums: Floats) -> Floats:
    """Return (...) the mean over languages of numerator / denominator of (..., L, 2) sums; NaN if one is 0 / 0."""
    defined = sums[..., 1] > 0
    ratios = np.where(defined, sums[..., 0] / np.where(defined, sums[..., 1], 1.0), np.nan)
    return np.asarray(ratios.mean(axis=-1))


@lru_cache(maxsize=4096)
def signs_of_concept(concept: str) -> npt.NDArray[np.int8]:
    """Return (RESAMPLES,) int8: -1 if the systems are exchanged in the concept, otherwise 1."""
    # From the name alone, as the draws of the bootstrap
    generator = np.random.default_rng([SEED, digest(concept), EXCHANGES])
    return (2 * generator.integers(0, 2, size=RESAMPLES) - 1).astype(np.int8)
