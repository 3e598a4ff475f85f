import itertools
import math

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from turkic_idiom_tasks.metrics.ranking import chance_corrected, random_ndcg, score_rankings

NAMES = ("ndcg", "ndcg_at_10", "mrr", "recall_at_1", "recall_at_5", "recall_at_10")


def one(similarities, relevant):
    scores = score_rankings(np.array([similarities]), [relevant])
    return {name: scores[name][0] for name in (*NAMES, "ndcg_floor")}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_without_ties_the_figures_are_those_of_trec_eval(data):
    n_documents = data.draw(st.integers(2, 40))
    order = data.draw(st.permutations(range(n_documents)))
    relevant = data.draw(st.lists(st.integers(0, n_documents - 1), min_size=1, max_size=4, unique=True))
    scores = one([float(value) for value in order], relevant)
    run = {"q": {f"d{column}": float(value) for column, value in enumerate(order)}}
    evaluator = pytrec_eval.RelevanceEvaluator(
        {"q": {f"d{column}": 1 for column in relevant}}, {"ndcg", "ndcg_cut.10", "recip_rank", "recall.1,5,10"}
    )
    expected = evaluator.evaluate(run)["q"]
    theirs = ("ndcg", "ndcg_cut_10", "recip_rank", "recall_1", "recall_5", "recall_10")
    for ours, name in zip(NAMES, theirs, strict=True):
        assert scores[ours] == pytest.approx(expected[name], abs=1e-12), ours


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 2), min_size=2, max_size=6), st.data())
def test_ties_are_scored_by_the_mean_over_all_their_orders(values, data):
    relevant = data.draw(st.lists(st.integers(0, len(values) - 1), min_size=1, max_size=3, unique=True))
    scores = one([float(value) for value in values], relevant)
    orders = []
    for permutation in itertools.permutations(range(len(values))):
        if all(values[a] >= values[b] for a, b in itertools.pairwise(permutation)):
            distinct = [0.0] * len(values)
            for rank, column in enumerate(permutation):
                distinct[column] = -float(rank)
            orders.append(one(distinct, relevant))
    for name in NAMES:
        assert scores[name] == pytest.approx(np.mean([order[name] for order in orders])), name


def test_the_floor_is_the_mean_over_all_rankings():
    # three documents, one relevant: ranks 1, 2, 3 equally likely: (1 + 1/log2(3) + 1/2) / 3
    assert random_ndcg(3, 1) == pytest.approx((1 + 1 / math.log2(3) + 0.5) / 3)
    permutations = [one(list(map(float, p)), [0, 1])["ndcg"] for p in itertools.permutations(range(5))]
    assert random_ndcg(5, 2) == pytest.approx(np.mean(permutations))


def test_chance_corrected():
    assert chance_corrected(0.25, 0.25) == 0.0
    assert chance_corrected(1.0, 0.25) == 1.0
    assert chance_corrected(0.1, 0.25) == pytest.approx(-0.2)
    assert math.isnan(chance_corrected(1.0, 1.0))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 4) | st.just(-np.inf), min_size=6, max_size=6), min_size=1, max_size=4), st.data()
)
def test_queries_are_scored_together_as_alone(rows, data):
    columns = st.lists(st.integers(0, 5), min_size=1, max_size=3, unique=True)
    relevant = [data.draw(columns) for _ in rows]
    together = score_rankings(np.array(rows, dtype=float), relevant)
    for row, (values, own) in enumerate(zip(rows, relevant, strict=True)):
        alone = one(values, own)
        for name in (*NAMES, "ndcg_floor"):
            assert together[name][row] == pytest.approx(alone[name], abs=1e-12), name
