"""Scores of idiomatic similarity: how well the similarities of sentence pairs agree with what the idioms mean.

For a sentence E with an idiom, E_c with the idiom replaced by what it means, and E_i with the idiom replaced by what it
does not mean, sim(E, E_c) should be 1, and sim(E, E_i) should equal sim(E_c, E_i). The gold score of the second pair is
therefore the model's own similarity of another pair (Tayyar Madabushi et al., 2021, section 3.3.2; the evaluator of
SemEval-2022 Task 2 B computes the same). The main score is Spearman's correlation over all pairs.
"""

import math

import numpy as np

from turkic_idiom_tasks.dataset.similarity import NOWHERE, SentencePairs
from turkic_idiom_tasks.metrics.bootstrap import (
    RESAMPLES,
    SMALL_N,
    Floats,
    Resampled,
    concept_positions,
    poisson_counts,
)

_DRAWS_AT_ONCE = 250  # whose weights and ranks stay in the processor's cache


def similarity_scores(
    pairs: SentencePairs, similarities: Floats, resampled: Resampled | None = None
) -> dict[str, float]:
    """Return name -> score; NaN where undefined, as Spearman's correlation is for a constant model.

    - ``spearman``, ``spearman_idiom``, ``spearman_general``: over all pairs, those with idioms, those without; in
      [-1, 1], higher is better. ``spearman_ci_low`` and ``spearman_ci_high``: 95% interval of the first.
    - ``affinity``: mean of sim(E, E_c) - sim(E, E_i), in [-2, 2]; above 0 is better than below (He et al., 2025).
    - ``scaled_similarity``: the same as a share of the room above sim(E, E_i): the sum of sim(E, E_c) - sim(E, E_i)
      over the sum of 1 - sim(E, E_i). He et al. (2025) put random words in the place of the idiom; here E_i does that.
    - ``accuracy``: share of sentences with sim(E, E_c) > sim(E, E_i); a tie counts one half.
    - ``n_pairs``, ``n_idioms``, ``small_sample``: scored pairs, idioms among them, 1 if these are fewer than 30.

    The similarities of the model are (P,) float64 and finite; `resampled` is what `resampled_spearman` returns for
    them, if the caller has it.
    """
    targets = target_similarities(pairs, similarities)
    idioms = pairs.is_scored & pairs.is_idiom
    general = pairs.is_scored & ~pairs.is_idiom
    interval = (resampled or resampled_spearman(pairs, similarities)).interval()
    n_idioms = len({pairs.concepts[position] for position in np.flatnonzero(idioms)})
    incorrect = np.flatnonzero(pairs.correct != NOWHERE)
    of_incorrect = similarities[incorrect]
    gain = similarities[pairs.correct[incorrect]] - of_incorrect
    room = float((1 - of_incorrect).sum())
    has_triples = len(incorrect) > 0
    return {
        "spearman": spearman(targets[pairs.is_scored], similarities[pairs.is_scored]),
        "spearman_ci_low": interval.low,
        "spearman_ci_high": interval.high,
        "spearman_idiom": spearman(targets[idioms], similarities[idioms]),
        "spearman_general": spearman(targets[general], similarities[general]),
        "affinity": float(gain.mean()) if has_triples else math.nan,
        "scaled_similarity": float(gain.sum()) / room if abs(room) > 1e-9 else math.nan,  # no room: all are alike
        "accuracy": float(((gain > 0) + 0.5 * (gain == 0)).mean()) if has_triples else math.nan,
        "n_pairs": float(pairs.is_scored.sum()),
        "n_idioms": float(n_idioms),
        "small_sample": float(n_idioms < SMALL_N),
    }


def target_similarities(pairs: SentencePairs, similarities: Floats) -> Floats:
    """Return (P,) float64, the gold score of every pair, with the model's own similarity where another pair counts."""
    return np.where(pairs.other == NOWHERE, pairs.gold, similarities[pairs.other])


def spearman(first: Floats, second: Floats) -> float:
    """Return Spearman's rank correlation in [-1, 1], with mean ranks for ties; NaN if either side is constant."""
    if len(first) == 0:
        return math.nan
    return float(weighted_spearman(first, second, np.ones((len(first), 1)))[0])


def weighted_spearman(first: Floats, second: Floats, weights: Floats) -> Floats:
    """Return (D,) Spearman's correlation of (N,) values under (N, D) weights; NaN where a side is constant.

    A weight of 2 means that the pair occurs twice; none is negative.
    """
    first_ranks, first_cubes = _weighted_ranks(first, weights)
    second_ranks, second_cubes = _weighted_ranks(second, weights)
    totals = weights.sum(axis=0)
    # in place: with 250 draws at once these arrays should not leave the cache
    first_ranks *= second_ranks
    first_ranks *= weights
    # Ranks that run from 0 have the mean (W - 1) / 2 for a sum of weights W, and their squared deviations from it the
    # sum (W^3 - sum of t^3) / 12, where t is the weight of each group of ties
    covariance = first_ranks.sum(axis=0) - totals * ((totals - 1) / 2) ** 2
    spread = (totals**3 - first_cubes) * (totals**3 - second_cubes) / 144
    is_constant = spread <= 1e-9  # ranks are multiples of one half
    return np.where(is_constant, np.nan, covariance / np.sqrt(np.where(is_constant, 1.0, spread)))


def resampled_spearman(pairs: SentencePairs, similarities: Floats) -> Resampled:
    """Return Spearman's correlation over all scored pairs, with its values under every draw of concepts."""
    scored = np.flatnonzero(pairs.is_scored)
    first = target_similarities(pairs, similarities)[scored]
    second = similarities[scored]
    names, rows = concept_positions(tuple(pairs.concepts[position] for position in scored))
    counts = poisson_counts(names)
    draws = np.empty(RESAMPLES)
    for start in range(0, RESAMPLES, _DRAWS_AT_ONCE):
        block = counts[:, start : start + _DRAWS_AT_ONCE].astype(np.float64)
        draws[start : start + _DRAWS_AT_ONCE] = weighted_spearman(first, second, block[rows])
    score = spearman(first, second)
    # A correlation is no ratio of sums, so an influence is the change when the pairs of a concept are left out
    without = weighted_spearman(first, second, (1.0 - np.eye(len(names)))[rows])
    influence = np.nan_to_num(score - without)  # undefined where one side is constant without the concept
    # The reach is that of a ratio, 1 / C, times 2, because a correlation goes from -1 to 1.
    return Resampled(score, draws, names, influence - influence.mean(), reach=2 / len(names))


def _weighted_ranks(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the mean ranks, counted from 0, of (N,) values under (N, D) weights, and (D,) the sum of t^3 over ties."""
    _, group_of = np.unique(values, return_inverse=True)
    order = np.argsort(group_of, kind="stable")
    starts = np.flatnonzero(np.diff(group_of[order], prepend=-1))
    # One row for each value keeps the draws side by side in memory, which is what makes it fast
    weight_of_group = np.add.reduceat(weights[order], starts, axis=0)
    ranks = np.cumsum(weight_of_group, axis=0)
    ranks -= (weight_of_group + 1) / 2
    cubes: Floats = (weight_of_group**3).sum(axis=0)
    return ranks[group_of], cubes
