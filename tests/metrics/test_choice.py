"""Scores of choices and of the open cloze: expected values by hand."""

import math

import pytest

from turkic_idiom_tasks.metrics.choice import choice_scores, open_scores, pair_scores

TYPES = (None, "near", "lexical", "random")  # of the options of each item; the first is right


def scores(answers, *, gold=0, types=TYPES, concepts=None):
    n = len(answers)
    return choice_scores(
        [gold] * n, answers, concepts=concepts or [f"c{number}" for number in range(n)], traps=[types] * n
    )


def test_accuracy_errors_and_unreadable_answers():
    result = scores([0, 0, 0, 1, 1, 2, None, 3])
    assert result["accuracy"] == 3 / 8  # the unreadable answer is wrong
    assert result["accuracy_corrected"] == pytest.approx((3 / 8 - 1 / 4) / (3 / 4))  # 1/6
    assert result["near_share"] == 2 / 4  # wrong and readable: near, near, lexical, random
    assert result["lexical_share"] == result["random_share"] == 1 / 4
    assert result["unreadable"] == 1 / 8
    assert 0 <= result["accuracy_ci_low"] < 3 / 8 < result["accuracy_ci_high"] <= 1


def test_undefined_scores_are_nan_not_zero():
    assert math.isnan(scores([0, 0])["near_share"])  # no error
    assert math.isnan(scores([None])["random_share"])  # no readable error
    assert scores([None])["accuracy"] == 0
    assert math.isnan(scores([1, 1], types=(None, None))["near_share"])  # no trap has a type
    empty = scores([])
    assert math.isnan(empty["accuracy"])
    assert math.isnan(empty["accuracy_ci_low"])


def test_the_answers_of_a_concept_are_resampled_together():
    """Two answers to each of four concepts, both right or both wrong, are as uncertain as four answers."""
    four = scores([0, 1, 0, 1], concepts=list("abcd"))
    eight = scores([0, 1, 0, 1] * 2, concepts=list("abcdabcd"))
    for end in ("accuracy_ci_low", "accuracy_ci_high"):
        assert eight[end] == pytest.approx(four[end])


def test_a_pair_counts_only_if_both_answers_are_right():
    names = ["a", "a", "b", "b", "c", "c", "alone"]
    result = pair_scores(
        [True, True, True, False, False, True, True],
        concepts=names,
        is_figurative=[True, False, True, False, True, False, True],
    )
    assert result["pair_accuracy"] == pytest.approx(1 / 3)  # a of a, b, c; "alone" is no pair
    assert result["recall_figurative"] == 3 / 4  # a, b, alone of a, b, c, alone
    assert result["recall_literal"] == pytest.approx(2 / 3)  # a, c of a, b, c
    one_sense = pair_scores([True], concepts=["a"], is_figurative=[True])
    assert math.isnan(one_sense["pair_accuracy"])
    assert math.isnan(one_sense["recall_literal"])


def test_open_cloze():
    judged = {
        "exact": [True, False, False, False],
        "accepted": [True, True, True, False],
        "lemma": [True, True, False, False],
        "unreadable": [False, False, False, True],
        "unjudged": [False, False, True, True],
    }
    result = open_scores(judged, concepts=list("abcd"))
    assert result["unjudged"] == 2 / 4
    assert [result[name] for name in ("exact", "accepted", "lemma", "unreadable")] == [1 / 4, 3 / 4, 2 / 4, 1 / 4]
    assert result["accepted_ci_low"] < 3 / 4 < result["accepted_ci_high"]
