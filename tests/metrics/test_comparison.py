"""Paired comparisons against scipy, hand arithmetic, and simulations whose answer is known."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wilcoxon

from tests.metrics.test_bootstrap import means, names
from turkic_idiom_tasks.metrics.bootstrap import Stratum, difference, resample
from turkic_idiom_tasks.metrics.comparison import compare, holm, rank_biserial, sign_flip_p


def pair(first, second, concepts=None):
    """Items whose score is a mean, under two systems."""
    return means(first, concepts), means(second, concepts)


def ndcg_like(generator, n, *, ties=0.4):
    """nDCG of one relevant document each, under two systems that often put it at the same rank."""
    first = generator.integers(1, 700, n)
    moved = np.maximum(1, (first * generator.uniform(0.6, 1.3, n)).astype(int))
    second = np.where(generator.random(n) < ties, first, moved)
    return 1 / np.log2(first + 1), 1 / np.log2(second + 1)


@pytest.mark.parametrize(("n", "ties"), [(35, 0.4), (689, 0.0), (689, 0.4)])
def test_wilcoxon_is_scipys(n, ties):
    first, second = ndcg_like(np.random.default_rng(n), n, ties=ties)
    found = compare({"tur": pair(first, second)})
    assert found.p_wilcox == pytest.approx(wilcoxon(second - first, zero_method="wilcox").pvalue, rel=1e-9)
    assert found.p_pratt == pytest.approx(wilcoxon(second - first, zero_method="pratt").pvalue, rel=1e-9)
    signs = np.sign(second - first).tolist()
    assert (found.wins, found.ties, found.losses) == (signs.count(1), signs.count(0), signs.count(-1))


def test_rounding_is_a_tie():
    first = np.random.default_rng(0).random(50)
    noise = np.random.default_rng(1).choice([-1e-15, 1e-15], 50)
    noise[:10] = 0.1
    found = compare({"tur": pair(first, first + noise)})
    assert (found.wins, found.ties, found.losses) == (10, 40, 0)


def test_rank_biserial_by_hand():
    # |d| 3 1 2 2 without the zero: ranks 4, 1, 2.5, 2.5; positive 4 + 2.5, negative 1 + 2.5: (6.5 - 3.5) / 10
    assert rank_biserial(np.array([3.0, -1.0, 2.0, 0.0, -2.0])) == pytest.approx(0.3)
    assert rank_biserial(np.array([0.2, 0.1])) == 1
    assert rank_biserial(np.array([-0.2, 0.0])) == -1
    assert rank_biserial(np.zeros(4)) is None


def test_holm_by_hand():
    # four tests, smallest first: 4 * .005 = .02, 3 * .01 = .03, 2 * .03 = .06, 1 * .04 raised to .06
    assert holm([0.01, 0.04, 0.03, None, 0.005]) == pytest.approx([0.03, 0.06, 0.06, None, 0.02])
    assert holm([0.4, 0.9]) == pytest.approx([0.8, 0.9])
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([None]) == [None]
    assert holm([]) == []


def test_the_sign_flip_p_is_that_of_all_sign_patterns():
    generator = np.random.default_rng(5)
    for shift in (0.0, 0.2, 0.6):
        first, second = generator.random(9), generator.random(9) + shift
        difference = second - first
        patterns = np.array(list(itertools.product([-1, 1], repeat=9)))
        exact = np.mean(np.abs(patterns @ difference) >= abs(difference.sum()) - 1e-12)
        # of 10,000 flips the standard error is at most 0.005
        assert sign_flip_p({"tur": pair(first, second)}) == pytest.approx(exact, abs=0.02)


def test_p_is_never_zero_and_at_most_one():
    assert sign_flip_p({"tur": pair(np.zeros(200), np.ones(200))}) == 1 / 10_001  # no flip of 200 signs is as extreme
    same = np.random.default_rng(0).random(40)
    equal = compare({"tur": pair(same, same)})
    assert (equal.p, equal.effect, equal.p_pratt, equal.p_wilcox) == (1, None, None, None)
    assert (equal.wins, equal.ties, equal.losses) == (0, 40, 0)
    assert (equal.difference, equal.interval.low, equal.interval.high) == (0, 0, 0)


def test_the_interval_is_that_of_the_resampled_scores():
    """`run`, the leaderboard and its pages take the difference of two resampled systems: the same figures."""
    generator = np.random.default_rng(18)
    strata = {"azj": pair(*ndcg_like(generator, 60)), "gag": pair(*ndcg_like(generator, 20), names(20, start=50))}
    first, second = (resample({language: systems[system] for language, systems in strata.items()}) for system in (0, 1))
    found = compare(strata)
    assert found.interval == difference(second, first).interval()
    assert (found.first, found.second) == (first.score, second.score)
    assert found.n_concepts == len(difference(second, first).concepts) == 70


def test_the_stratified_p_keeps_its_level_because_concepts_are_flipped_together():
    generator = np.random.default_rng(15)
    together, apart = [], []
    first = np.zeros(35)
    for _ in range(250):
        concept = generator.normal(0, 0.3, 35)  # from which most of the difference comes, in both languages
        azerbaijani, uzbek = (concept + generator.normal(0, 0.05, 35) for _ in range(2))
        together.append(sign_flip_p({"azj": pair(first, azerbaijani), "uzn": pair(first, uzbek)}))
        other_names = pair(first, uzbek, names(35, start=35))
        apart.append(sign_flip_p({"azj": pair(first, azerbaijani), "uzn": other_names}))
    assert np.mean(np.array(together) <= 0.05) <= 0.09
    assert np.mean(np.array(apart) <= 0.05) >= 0.11  # taken for independent concepts: about 17%


def test_languages_weigh_alike():
    # +0.2 on each of 40 concepts in one language, -0.1 on each of 10 of them in the other: (0.2 - 0.1) / 2
    strata = {"azj": pair(np.full(40, 0.5), np.full(40, 0.7)), "gag": pair(np.full(10, 0.5), np.full(10, 0.4))}
    found = compare(strata)
    assert found.difference == pytest.approx(0.05)
    assert (found.first, found.second) == pytest.approx((0.5, 0.55))
    assert (found.n, found.n_concepts) == (50, 40)
    # a concept's part: 0.2 / 40 - 0.1 / 10 < 0 where both languages have it, 0.2 / 40 elsewhere
    assert (found.wins, found.ties, found.losses) == (30, 0, 10)
    # |part| is 0.005 for either sign: all ranks tie, (30 - 10) / 40
    assert found.effect == pytest.approx(0.5)


def test_an_f1_weighs_spans_not_idioms():
    # A finds 3 of 4 spans with 4 marked: 6 / 8; B finds 2 with 2 marked: 4 / 6
    first = np.array([[6.0, 6.0], [0.0, 2.0]])
    second = np.array([[2.0, 4.0], [2.0, 2.0]])
    found = compare({"tr": (Stratum(["a", "b"], first), Stratum(["a", "b"], second))})
    assert (found.first, found.second) == pytest.approx((0.75, 4 / 6))
    # missed and invented spans: a 0 under A, 2 under B; b 2 under A, 0 under B
    assert (found.wins, found.ties, found.losses) == (1, 0, 1)


def test_sentences_of_an_idiom_are_one():
    # one idiom of 40 sentences is one concept: no interval to speak of, and no test
    found = compare({"tr": pair(np.zeros(40), np.ones(40), ["göz yummak"] * 40)})
    assert (found.n, found.n_concepts, found.small) == (40, 1, True)
    assert (found.wins, found.ties, found.losses) == (1, 0, 0)
    assert (found.interval.low, found.interval.high) == (1, 1)
    assert found.p is None


@pytest.mark.parametrize(("n", "small"), [(29, True), (30, False)])
def test_small_samples_get_an_interval_alone(n, small):
    first, second = ndcg_like(np.random.default_rng(2), n)
    found = compare({"tur": pair(first, second)})
    assert found.small == small
    tests = (found.effect, found.p, found.p_pratt, found.p_wilcox)
    assert all((value is None) == small for value in tests)
    assert found.interval.low < found.difference < found.interval.high


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=3, max_size=20), st.randoms(use_true_random=False)
)
def test_the_sign_flip_p_depends_on_names_alone(pairs, random):
    concepts = [f"c{random.randrange(10)}" for _ in pairs]
    order = random.sample(range(len(pairs)), len(pairs))
    first, second = zip(*pairs, strict=True)
    turned = pair(*([column[item] for item in order] for column in (first, second, concepts)))
    p = sign_flip_p({"tur": pair(first, second, concepts)})
    assert p == sign_flip_p({"tur": turned})
    # swapping the systems mirrors every exchange
    assert p == sign_flip_p({"tur": pair(second, first, concepts)})
    # a concept on which both score the same is exchanged without effect, whatever it is called
    tied = pair([*first, 0.5], [*second, 0.5], [*concepts, "zz"])
    other = pair([*first, 0.5], [*second, 0.5], [*concepts, "aa"])
    assert sign_flip_p({"tur": tied}) == sign_flip_p({"tur": other}) == p
