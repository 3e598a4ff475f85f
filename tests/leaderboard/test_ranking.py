"""Pairs of models that cannot be told apart, and the ranks that follow from them."""

import base64

import numpy as np
import pytest

from leaderboard.board import make_board
from leaderboard.ranking import better_pairs
from tests.leaderboard.boards_for_tests import make_data, make_scored
from turkic_idiom_tasks.metrics.bootstrap import FEW, Stratum, difference, resample_models


def models_of(n_models, n_concepts, *, spread, seed=1):
    """Resampled scores, best first, among them two equal ones."""
    generator = np.random.default_rng(seed)
    base = generator.uniform(0.2, 0.8, n_concepts)
    values = [base + spread * generator.normal(number / 10, 1, n_concepts) for number in range(n_models - 1)]
    strata = []
    for ndcg in [*values, values[0]]:
        sums = np.stack([ndcg, np.ones(n_concepts)], axis=1)
        strata.append(Stratum([f"c{number:03d}" for number in range(n_concepts)], sums))
    return sorted(resample_models(strata), key=lambda model: -model.score)


@pytest.mark.parametrize(
    ("n_concepts", "spread"),
    [(60, 0.02), (60, 0.3), (200, 0.1), (30, 0.1), (5, 0.1)],  # of five concepts some draws hold none
)
def test_pairs_are_told_apart_by_the_interval_of_their_difference(n_concepts, spread):
    models = models_of(25, n_concepts, spread=spread)
    is_better = better_pairs(models)
    expected = np.zeros((25, 25), dtype=bool)
    for upper in range(25):
        for lower in range(upper + 1, 25):
            gap = difference(models[upper], models[lower])
            expected[upper, lower] = gap.interval().low > 1e-12 and gap.score > FEW * gap.reach
    assert np.array_equal(is_better, expected)


def test_a_constant_advantage_counts_and_equal_models_are_tied():
    ndcg = np.linspace(0.2, 0.8, 40)
    strata = []
    for shift in (0.1, 0.0, 0.0):
        sums = np.stack([ndcg + shift, np.ones(40)], axis=1)
        strata.append(Stratum([f"c{number:03d}" for number in range(40)], sums))
    is_better = better_pairs(resample_models(strata))
    assert is_better.tolist() == [[False, True, True], [False, False, False], [False, False, False]]


def test_nothing_and_one_model_have_no_pairs():
    assert better_pairs([]).shape == (0, 0)
    assert better_pairs(models_of(2, 40, spread=0.1)[:1]).tolist() == [[False]]


def test_the_bits_of_the_page_are_the_pairs_row_by_row():
    data = make_data(40, languages=("tr", "az"))
    standings = make_board([make_scored(f"m{n}", data, skill=0.2 + 0.08 * n, seed=n) for n in range(5)], data).overall
    bits = np.unpackbits(np.frombuffer(base64.b64decode(standings.pairs), dtype=np.uint8))
    rows = standings.is_better
    expected = [*rows[0, 1:], *rows[1, 2:], *rows[2, 3:], rows[3, 4]]
    assert bits[:10].tolist() == [int(bit) for bit in expected]
    assert 0 < sum(expected) < 10
