"""Whether one system is better than another on the same items: paired intervals, tests and effect sizes.

A score is a ratio of sums over items: a mean of nDCG (each item adds its nDCG and 1), or a micro-averaged span F1
(each sentence adds twice its correct spans, and its predicted plus gold spans). Items of one concept are resampled and
permuted together, in all languages at once; every language weighs alike in the score. Differences are second minus
first: positive where the second system is better.

- Interval: percentile bootstrap over concepts (Efron and Tibshirani, 1993, ch. 13). In simulations 93 to 95% of them
  hold the true difference, but only 84 to 90% where a few concepts make all of it, as in nDCG near chance; BCa and
  bootstrap-t intervals did little better there.
- p: two-sided sign-flip test. The systems change places in each concept with probability 1/2; p = (k + 1) / (N + 1)
  with k of N random flips at least as extreme as what was seen, so it is never 0 (Phipson and Smyth, 2010).
- Wilcoxon signed-rank test, scipy's: zeros ranked, then dropped (Pratt, 1959), or dropped at once (Wilcoxon, 1945), as
  in the paper. Of nDCG differences 40% may be 0, so the two differ.
- Effect: matched-pairs rank-biserial correlation (Kerby, 2014), zeros dropped.
- Holm (1979) for the p-values of one table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata, wilcoxon

from turkic_idiom_tasks.metrics.statistics import LEVEL, RESAMPLES, SEED, SMALL_N, Interval

Floats = npt.NDArray[np.float64]

_BATCH = 1000  # resamples held in memory at a time
_SAME = 12  # decimals: what differs by less is rounding, and counts as a tie


@dataclass(frozen=True, slots=True, eq=False)
class Paired:
    """What two systems score on the same items of one language.

    Attributes:
        clusters: the concept of each item, (N); items of one concept are not independent.
        first: (N, 2) float64, what each item adds to numerator and denominator of the first system's score.
        second: (N, 2) float64, the same of the second system.
    """

    clusters: Sequence[str]
    first: Floats
    second: Floats

    def __post_init__(self) -> None:
        expected = (len(self.clusters), 2)
        if self.first.shape != expected or self.second.shape != expected:
            raise ValueError(f"expected scores of shape {expected}, not {self.first.shape} and {self.second.shape}")
        if not (np.isfinite(self.first).all() and np.isfinite(self.second).all()):
            raise ValueError("the scores hold NaN or infinity")
        if not (self.first[:, 1].any() and self.second[:, 1].any()):
            raise ValueError("a comparison needs items with something to score")


@dataclass(frozen=True, slots=True)
class Comparison:
    """The second system against the first.

    Attributes:
        n: items, over all languages.
        n_clusters: distinct concepts; below 30 (`small`) only the scores and the interval can be relied on, and what
            rests on tests is None.
        first: score of the first system, macro-averaged over languages.
        second: score of the second.
        difference: second minus first.
        interval: 95% bootstrap interval of the difference.
        wins: concepts on which the second is better.
        ties: concepts on which both score the same.
        losses: concepts on which the first is better.
        effect: rank-biserial correlation in [-1, 1], positive if the second is better; None also if all is tied.
        p: of the sign-flip test, in (0, 1].
        p_pratt: of the Wilcoxon test with Pratt's zeros; None also if all is tied.
        p_wilcox: of the Wilcoxon test without the zeros; None also if all is tied.
    """

    n: int
    n_clusters: int
    first: float
    second: float
    difference: float
    interval: Interval
    wins: int
    ties: int
    losses: int
    effect: float | None = None
    p: float | None = None
    p_pratt: float | None = None
    p_wilcox: float | None = None

    @property
    def small(self) -> bool:
        """Whether there are too few concepts for a test."""
        return self.n_clusters < SMALL_N


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """(L, C, 2) float64 of each system: numerators and denominators by language and concept."""

    first: Floats
    second: Floats


def compare(strata: Mapping[str, Paired], *, seed: int = SEED) -> Comparison:
    """The second system against the first on one language, or stratified: on several that weigh alike.

    The rank tests, wins and effect look at each concept's part in the difference: for a single language its own
    difference; otherwise the weighted sum of its differences in the languages that have it.

    Args:
        strata: language (subset) -> the scores of both systems.
        seed: of resampling and flips; same data and seed give the same figures in any order of items and languages.

    Raises:
        ValueError: no language.
    """
    if not strata:
        raise ValueError("a comparison needs at least one language")
    sums = _summed(strata)
    first, second = (float(_scores(part.sum(axis=1))) for part in (sums.first, sums.second))
    parts = _parts(sums)
    tests = {}
    if len(parts) >= SMALL_N:
        tests = {
            "effect": rank_biserial(parts),
            "p": sign_flip_p(sums.first, sums.second, seed=seed),
            "p_pratt": _wilcoxon_p(parts, "pratt"),
            "p_wilcox": _wilcoxon_p(parts, "wilcox"),
        }
    return Comparison(
        n=sum(len(pairs.clusters) for pairs in strata.values()),
        n_clusters=len(parts),
        first=first,
        second=second,
        difference=second - first,
        interval=difference_interval(sums.first, sums.second, seed=seed),
        wins=int((parts > 0).sum()),
        ties=int((parts == 0).sum()),
        losses=int((parts < 0).sum()),
        **tests,
    )


def difference_interval(first: Floats, second: Floats, *, seed: int = SEED) -> Interval:
    """95% percentile bootstrap interval of second minus first; draws without an item of some language are left out.

    Args:
        first: (L, C, 2) sums of the first system by language and concept, numerator and denominator.
        second: the same of the second system.
        seed: of the resampling.
    """
    found = []
    for drawn in _resamples(first.shape[1], seed):
        counts = drawn.astype(np.float64)
        found.append(_scores(_weighted(counts, second)) - _scores(_weighted(counts, first)))
    differences = np.concatenate(found)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(differences[~np.isnan(differences)], [tail, 1 - tail])
    return Interval(float(low), float(high))


def sign_flip_p(first: Floats, second: Floats, *, seed: int = SEED) -> float:
    """Two-sided p in (0, 1] that the systems are interchangeable: (k + 1) / (N + 1) over N random exchanges.

    Args:
        first: (L, C, 2) sums of the first system by language and concept, numerator and denominator.
        second: the same of the second system.
        seed: of the exchanges.
    """
    generator = np.random.default_rng([seed, 1])
    observed = abs(float(_scores(second.sum(axis=1)) - _scores(first.sum(axis=1))))
    middle, half = (first + second).sum(axis=1) / 2, (second - first) / 2
    extreme = 0
    for size in _batches():
        signs = 2.0 * generator.integers(0, 2, size=(size, first.shape[1])).astype(np.float64) - 1.0
        moved = _weighted(signs, half)
        differences = np.abs(_scores(middle + moved) - _scores(middle - moved))
        # rounding must not make a mirror image less extreme; an undefined score (NaN) counts as extreme
        extreme += int((~(differences < observed - 10.0**-_SAME)).sum())
    return (extreme + 1) / (RESAMPLES + 1)


def rank_biserial(differences: npt.NDArray[np.floating]) -> float | None:
    """Matched-pairs rank-biserial correlation in [-1, 1]: the rank sums' difference over their total.

    Args:
        differences: (N,); zeros are dropped. None if nothing else is left.
    """
    kept = differences[differences != 0]
    if not len(kept):
        return None
    ranks = rankdata(np.abs(kept))
    return float((ranks[kept > 0].sum() - ranks[kept < 0].sum()) / ranks.sum())


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Each p-value adjusted for all of them (Holm, 1979), in their order; None is no test and stays None."""
    known = sorted((p, position) for position, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, position) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - rank) * p))
        adjusted[position] = highest
    return adjusted


def _summed(strata: Mapping[str, Paired]) -> _Sums:
    names = sorted({name for pairs in strata.values() for name in pairs.clusters})
    index = {name: position for position, name in enumerate(names)}
    first, second = (np.zeros((len(strata), len(names), 2)) for _ in range(2))
    for row, stratum in enumerate(sorted(strata)):
        pairs = strata[stratum]
        positions = np.array([index[name] for name in pairs.clusters])
        # floating-point sums depend on their order, so the items are put into one
        order = np.lexsort((*pairs.second.T, *pairs.first.T, positions))
        np.add.at(first[row], positions[order], pairs.first[order])
        np.add.at(second[row], positions[order], pairs.second[order])
    return _Sums(first, second)


def _scores(sums: Floats) -> Floats:
    """(..., L, 2) sums -> (...) mean over languages of numerator / denominator; NaN where a denominator is 0."""
    defined = sums[..., 1] > 0
    ratios = np.where(defined, sums[..., 0] / np.where(defined, sums[..., 1], 1.0), np.nan)
    total: Floats = reduce(np.add, np.moveaxis(ratios, -1, 0)) / ratios.shape[-1]
    return total


def _weighted(weights: Floats, sums: Floats) -> Floats:
    """(R, C) weights of the concepts and (L, C, 2) sums -> (R, L, 2)."""
    n_languages, n_clusters, _ = sums.shape
    flat = weights @ sums.transpose(1, 0, 2).reshape(n_clusters, n_languages * 2)
    return flat.reshape(len(weights), n_languages, 2)


def _parts(sums: _Sums) -> Floats:
    """(C,) each concept's part in the difference, scaled so that of a mean score the parts' mean is the difference.

    What an item lacks to the full score is denominator minus numerator: 1 - nDCG, or the spans missed and invented.
    """
    lacking_first, lacking_second = (part[..., 1] - part[..., 0] for part in (sums.first, sums.second))
    sizes = (sums.first[..., 1] + sums.second[..., 1]).sum(axis=1) / 2
    n_languages, n_clusters = lacking_first.shape
    weights = n_clusters / (n_languages * sizes)
    return np.asarray(np.round(weights @ (lacking_first - lacking_second), _SAME))


def _wilcoxon_p(differences: Floats, zero_method: str) -> float | None:
    if not differences.any():
        return None
    return float(wilcoxon(differences, zero_method=zero_method).pvalue)


@lru_cache(maxsize=4)  # the rows of a table have few numbers of concepts between them
def _resamples(n_clusters: int, seed: int) -> tuple[npt.NDArray[np.uint8], ...]:
    """(resamples, C) in batches: how often each concept is drawn, hardly ever ten times, so a byte will do."""
    generator = np.random.default_rng([seed, 0])
    even = np.full(n_clusters, 1 / n_clusters)
    return tuple(generator.multinomial(n_clusters, even, size=size).astype(np.uint8) for size in _batches())


def _batches() -> Iterator[int]:
    for start in range(0, RESAMPLES, _BATCH):
        yield min(_BATCH, RESAMPLES - start)
