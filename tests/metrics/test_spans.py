"""Span and token scores against seqeval and scikit-learn themselves, and against counts made by hand."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import accuracy_score, f1_score, precision_score, recall_score
from seqeval.scheme import IOB2
from sklearn.metrics import precision_recall_fscore_support as per_tag

from turkic_idiom_tasks.metrics.bootstrap import Stratum, resample
from turkic_idiom_tasks.metrics.spans import (
    joint_f1,
    micro_scores,
    span_counts,
    span_f1_interval,
    token_accuracy,
    token_counts,
    word_scores,
)
from turkic_idiom_tasks.spans import LABELS

O, B, I = LABELS  # noqa: E741
TAGS = st.lists(st.sampled_from(LABELS), min_size=1, max_size=8)  # orphan I's among them


@st.composite
def corpora(draw):
    """Gold and predicted tags of one to six sentences."""
    gold = draw(st.lists(TAGS, min_size=1, max_size=6))
    same = st.sampled_from([True, False])
    predicted = [tags if draw(same) else [draw(st.sampled_from(LABELS)) for _ in tags] for tags in gold]
    return gold, predicted


def tags(text):
    """``OBI`` as tags."""
    return [{"O": O, "B": B, "I": I}[letter] for letter in text]


def same(ours, theirs):
    """seqeval and scikit-learn say 0 for a share of nothing."""
    return pytest.approx(theirs, abs=1e-12) == (0.0 if math.isnan(ours) else ours)


@given(corpora())
def test_span_scores_are_seqevals(corpus):
    for strict in (False, True):
        mode = {"mode": "strict", "scheme": IOB2} if strict else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = [score(*corpus, **mode) for score in (f1_score, precision_score, recall_score)]
        ours = micro_scores(span_counts(*corpus, strict=strict), "span")
        assert all(map(same, ours.values(), theirs)), (strict, ours, theirs)


@given(corpora())
def test_token_scores_are_scikit_learns_over_b_and_i(corpus):
    gold, predicted = ([tag for sentence in part for tag in sentence] for part in corpus)
    precision, recall, f1, _ = per_tag(gold, predicted, labels=[B, I], average="micro", zero_division=0)
    ours = micro_scores(token_counts(*corpus), "token")
    assert all(map(same, ours.values(), (f1, precision, recall)))
    assert token_accuracy(*corpus) == pytest.approx(accuracy_score(*corpus))


@pytest.mark.parametrize("strict", [False, True])
def test_a_share_of_nothing_is_undefined(strict):
    nothing, something = [tags("OOO")], [tags("OBO")]
    # F1, precision and recall if there is nothing, if a span is missed, and if one is invented
    cases = [
        ((nothing, nothing), [math.nan] * 3),
        ((something, nothing), [0, math.nan, 0]),
        ((nothing, something), [0, 0, math.nan]),
        (([], []), [math.nan] * 3),
    ]
    for (gold, predicted), expected in cases:
        scores = micro_scores(span_counts(gold, predicted, strict=strict), "span")
        assert list(scores.values()) == pytest.approx(expected, nan_ok=True)


def test_other_scores_of_nothing():
    nothing = [tags("OOO")]
    interval = span_f1_interval(nothing, nothing, ["göz yummak"])
    undefined = [interval.low, interval.high, span_f1_interval([], [], []).low]
    undefined += [joint_f1(nothing, nothing), *word_scores([], []).values()]
    scores = word_scores(nothing, nothing)
    undefined += [scores[name] for name in ("token_precision", "token_f1", "f1_and_sequence_mean")]
    assert np.isnan(undefined).all()
    assert (scores["token_accuracy"], scores["sequence_accuracy"]) == (1, 1)


def test_whole_sentences_counted_by_hand():
    gold = [tags("BIO"), tags("OBO"), tags("BOB"), tags("OOO"), tags("OOO")]
    predicted = [tags("BIO"), tags("OOO"), tags("BOO"), tags("OOO"), tags("BOO")]
    scores = word_scores(gold, predicted)
    # right, missed, one of two spans, rightly unmarked, invented: sentences 1 and 4 are right
    assert scores["sequence_accuracy"] == 2 / 5
    # marked are 1, 3 and 5, idioms are in 1, 2 and 3; only 1 is right in both respects
    assert scores["joint_f1"] == pytest.approx(2 * 1 / (3 + 3))
    # spans: 4 in gold, 3 predicted, 2 right, so F1 is 4/7; sqrt(4/7 * 2/5) = .478
    assert scores["f1_and_sequence_mean"] == pytest.approx((4 / 7 * 2 / 5) ** 0.5) == pytest.approx(0.478, abs=1e-3)


def test_a_span_with_a_wrong_end_makes_the_sentence_wrong_although_tags_are_right():
    scores = word_scores([tags("BIOB")], [tags("BIIB")])
    assert (scores["joint_f1"], scores["sequence_accuracy"]) == (0, 0)
    # an I at the beginning is a span in default mode, but another tag
    scores = word_scores([tags("BI")], [tags("II")])
    assert (scores["joint_f1"], scores["sequence_accuracy"]) == (1, 0)


@pytest.mark.parametrize("score", [word_scores, span_counts, token_counts, token_accuracy, joint_f1])
def test_gold_and_prediction_must_be_of_one_length(score):
    with pytest.raises(ValueError, match=r"sentence 1 has 3 tags|shorter"):
        score([tags("O"), tags("OBI")], [tags("O"), tags("OB")])
    with pytest.raises(ValueError, match="shorter"):
        score([tags("O"), tags("O")], [tags("O")])


def test_the_interval_is_that_of_twice_the_correct_spans_over_predicted_and_gold_ones():
    # of one sentence: gold and predicted tags, twice the correct spans, spans predicted and in gold
    kinds = [("BIO", "BIO", 2, 2), ("BIO", "OOB", 0, 2), ("BBB", "BBO", 4, 5), ("OO", "OO", 0, 0)]
    generator = np.random.default_rng(1)
    rows = [kinds[number] for number in generator.integers(0, 4, size=50)]
    concepts = [f"concept {number}" for number in generator.integers(0, 20, size=50)]
    gold, predicted, *sums = zip(*rows, strict=True)
    found = span_f1_interval(list(map(tags, gold)), list(map(tags, predicted)), concepts)
    assert found == resample({"tr": Stratum(concepts, np.array(sums, dtype=float).T)}).interval()
