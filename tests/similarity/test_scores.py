"""Scores of idiomatic similarity, against hand arithmetic, scipy and the evaluator of SemEval-2022 Task 2 B."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from turkic_idiom_tasks.dataset.similarity import (
    CORRECT,
    GENERAL,
    INCORRECT,
    REFERENCE,
    SentencePair,
    SentencePairs,
    lexicon_pairs,
)
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.lexicon.load import load_lexicon
from turkic_idiom_tasks.metrics.similarity import resampled_spearman, similarity_scores, spearman, weighted_spearman

VALUES = st.lists(st.integers(0, 5), min_size=3, max_size=12)


def two_idioms():
    """The pairs of two idioms (E, E_c), (E, E_i), (E_c, E_i), and two general pairs."""
    rows = []
    for name in ("a", "b"):
        rows += [
            SentencePair(f"{name}/c", f"{name} E", f"{name} Ec", CORRECT, 1.0, None, name),
            SentencePair(f"{name}/i", f"{name} E", f"{name} Ei", INCORRECT, None, f"{name}/r", name),
            SentencePair(f"{name}/r", f"{name} Ec", f"{name} Ei", REFERENCE, 0.0, None, name),
        ]
    rows += [
        SentencePair(f"g{n}", f"g{n}", "other", GENERAL, score, None, f"g{n}") for n, score in ((1, 0.2), (2, 0.4))
    ]
    return SentencePairs("tur", rows)


def test_scores_by_hand():
    #        a/c  a/i  a/r  b/c  b/i  b/r  g1   g2
    stated = [0.9, 0.7, 0.3, 0.65, 0.8, 0.5, 0.1, 0.2]
    scores = similarity_scores(two_idioms(), np.array(stated))
    # gold of the six scored pairs: 1, .3 (a/r), 1, .5 (b/r), .2, .4; ranks 5.5 2 5.5 4 1 3, of the similarities
    # .9 .7 .65 .8 .1 .2: 6 4 3 5 1 2. Differences -.5 -2 2.5 -1 0 1. Gold has a tie, so Pearson on ranks:
    gold_ranks, ranks = [5.5, 2, 5.5, 4, 1, 3], [6, 4, 3, 5, 1, 2]
    assert scores["spearman"] == pytest.approx(np.corrcoef(gold_ranks, ranks)[0, 1], abs=1e-12)
    assert scores["spearman_general"] == 1
    # idiom pairs: gold 1 .3 1 .5 against .9 .7 .65 .8; ranks 3.5 1 3.5 2 and 4 2 1 3
    assert scores["spearman_idiom"] == pytest.approx(np.corrcoef([3.5, 1, 3.5, 2], [4, 2, 1, 3])[0, 1], abs=1e-12)
    assert scores["affinity"] == pytest.approx((0.2 - 0.15) / 2)
    assert scores["scaled_similarity"] == pytest.approx((0.2 - 0.15) / (0.3 + 0.2))
    assert scores["accuracy"] == 0.5  # a: .9 > .7, b: .65 < .8
    assert (scores["n_pairs"], scores["n_idioms"], scores["small_sample"]) == (6, 2, 1)


def test_a_constant_model_has_no_correlation_and_a_tie_counts_one_half():
    scores = similarity_scores(two_idioms(), np.full(8, 1.0))
    for name in ("spearman", "spearman_ci_low", "spearman_idiom", "spearman_general"):
        assert math.isnan(scores[name])
    assert scores["accuracy"] == 0.5


@given(first=VALUES, data=st.data())
@settings(max_examples=60, deadline=None)
def test_spearman_is_that_of_scipy_on_repeated_pairs(first, data):
    second = data.draw(st.lists(st.integers(0, 5), min_size=len(first), max_size=len(first)))
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(first), max_size=len(first)))
    one, other = np.repeat(first, weights), np.repeat(second, weights)
    (value,) = weighted_spearman(np.array(first, float), np.array(second, float), np.array([weights], float).T)
    if len(set(one.tolist())) < 2 or len(set(other.tolist())) < 2:
        assert math.isnan(value)
    else:
        assert value == pytest.approx(spearmanr(one, other)[0], abs=1e-9)


def test_the_interval_holds_the_score_and_depends_on_the_idioms_alone():
    generator = np.random.default_rng(1)
    pairs = lexicon_pairs(load_lexicon(), "tr")
    similarities = generator.random(len(pairs.rows))
    scores = similarity_scores(pairs, similarities)
    assert scores["spearman_ci_low"] < scores["spearman"] < scores["spearman_ci_high"]
    again = similarity_scores(SentencePairs("tur", pairs.rows[::-1]), similarities[::-1])
    assert again == pytest.approx(scores, abs=1e-9, nan_ok=True)


def test_a_draw_without_a_concept_is_the_score_without_its_pairs():
    pairs = two_idioms()
    stated = np.array([0.9, 0.7, 0.3, 0.6, 0.8, 0.5, 0.1, 0.2])
    resampled = resampled_spearman(pairs, stated)
    assert resampled.influence.sum() == pytest.approx(0, abs=1e-12)
    without_a = spearman(np.array([1.0, 0.5, 0.2, 0.4]), stated[[3, 4, 6, 7]])  # gold of b/c, b/i, g1, g2
    without_b = spearman(np.array([1.0, 0.3, 0.2, 0.4]), stated[[0, 1, 6, 7]])
    of_a, of_b = (resampled.influence[resampled.concepts.index(concept)] for concept in "ab")
    assert of_a - of_b == pytest.approx(without_b - without_a, abs=1e-12)


def test_a_control_partner_never_means_the_same():
    lexicon = load_lexicon()
    for code in ("tr", "az", "uz", "tk"):
        concept_of = {entry.original: concept for concept, entry in lexicon.of(code).items()}
        controls = [row for row in lexicon_pairs(lexicon, code).rows if row.id.endswith("other-original")]
        assert len(controls) > 20
        for row in controls:
            other = concept_of[row.sentence2]
            assert other != row.concept
            assert tuple(sorted((row.concept, other))) not in lexicon.equivalents


@pytest.mark.parametrize(
    ("row", "part"),
    [
        (SentencePair("x", "\u200b ", "E", CORRECT, 1.0, None, "a"), "lacks a sentence"),
        (SentencePair("x", "E", "F", CORRECT, None, None, "a"), "either a gold score"),
        (SentencePair("x", "E", "F", CORRECT, 1.5, None, "a"), "1.5"),
        (SentencePair("x", "E", "F", INCORRECT, None, "y", "a"), "'y'"),
    ],
)
def test_a_pair_that_does_not_fit_is_named(row, part):
    with pytest.raises(InputError, match=part) as caught:
        SentencePairs("tur", [row])
    assert "'x'" in str(caught.value)
