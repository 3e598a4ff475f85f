"""From predictions to scores, against hand arithmetic."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from tests.results.conftest import OnePool
from turkic_idiom_tasks.dataset.retrieval import Pool, RetrievalData
from turkic_idiom_tasks.dataset.sentences import TaggedSentence, TestSentences
from turkic_idiom_tasks.results.predictions import Rankings, Tags, to_lines
from turkic_idiom_tasks.results.reader import read_lines
from turkic_idiom_tasks.results.scored import score_subset
from turkic_idiom_tasks.spans import LABELS

O, B, I = LABELS  # noqa: E741


def qrels_of(relevant):
    return {query: dict.fromkeys(documents, 1) for query, documents in relevant.items()}


def pool_of(relevant, own=None):
    """Queries with the relevant ones of four documents, and those of their own concepts."""
    queries = dict.fromkeys(relevant, "text")
    documents = {f"azj:d{n}": "text" for n in range(4)}
    strict_qrels = None if own is None else qrels_of(own)
    return Pool("T1", "tur-azj", RetrievalData(queries, documents, qrels_of(relevant), strict_qrels))


def test_scores_by_hand():
    """Queries stand in another order in the data; d1 is second for a, and ties with another at ranks 1 and 2 for b."""
    pool = pool_of({"tur:b": ["azj:d1"], "tur:a": ["azj:d1"]})
    score = score_subset(Rankings(pool, np.array([[2, 1, 0, 3], [0, 0, 2, 3]], dtype=np.int32)))
    second = 1 / math.log2(3)
    assert score.items == ("tur:a", "tur:b")
    assert score.concepts == ("a", "b")
    assert score.sums[:, 0] == pytest.approx([second, (1 + second) / 2])
    assert score.sums[:, 1].tolist() == [1, 1]
    assert score.main == score.scores["ndcg"] == pytest.approx((second + (1 + second) / 2) / 2)
    assert score.scores["mrr"] == pytest.approx((1 / 2 + (1 + 1 / 2) / 2) / 2)
    assert score.scores["recall_at_1"] == pytest.approx((0 + 1 / 2) / 2)
    floor = sum(1 / math.log2(1 + rank) for rank in range(1, 5)) / 4  # any of the four ranks
    assert score.floor == score.scores["ndcg_floor"] == pytest.approx(floor)
    assert score.scores["ndcg_corrected"] == pytest.approx((score.main - floor) / (1 - floor))
    assert (score.task, score.subset, score.language, score.n, score.cut) == ("T1", "tur-azj", "az", 2, None)
    assert score.solved.tolist() == [False, False]  # second, and first together with another


def test_the_strict_score_counts_the_own_concept_alone():
    """The own document d1 stands third, an interchangeable one, d0, first."""
    pool = pool_of({"tur:a": ["azj:d0", "azj:d1"]}, own={"tur:a": ["azj:d1"]})
    score = score_subset(Rankings(pool, np.array([[0, 2, 1, 3]], dtype=np.int32)))
    ideal = 1 + 1 / math.log2(3)
    assert score.solved.tolist() == [True]  # although the other relevant document stands third
    assert score.main == pytest.approx((1 + 1 / math.log2(4)) / ideal)
    assert score.scores["ndcg_strict"] == pytest.approx(1 / math.log2(4))
    discounts = sum(1 / math.log2(1 + rank) for rank in range(1, 5))
    assert score.floor == pytest.approx(2 / 4 * discounts / ideal)
    assert score.scores["ndcg_strict_floor"] == pytest.approx(1 / 4 * discounts)


def test_what_a_ranking_leaves_out_ties_at_the_end():
    pool = pool_of({"tur:a": ["azj:d3"], "tur:b": ["azj:d0"]})
    above = np.array([[0, 1, 1, 1], [0, 1, 2, 3]], dtype=np.int32)
    score = score_subset(Rankings(pool, above, n_listed=np.array([1, 3], dtype=np.int32)))
    ranks = [1 / math.log2(1 + rank) for rank in (2, 3, 4)]  # d3 is one of three that are not listed
    assert score.sums[:, 0] == pytest.approx([sum(ranks) / 3, 1])
    assert score.cut == 1


@pytest.mark.parametrize(
    ("beyond", "fault"),
    [
        ([[2, 1, 2], [3, 1, 2]], None),  # both stand on places 2 and 3
        ([[2, 1, 1], [3, 2, 1]], None),
        ([[2, 1, 1], [3, 1, 1]], "contradict each other"),  # both alone on place 2
        ([[2, 1, 2], [3, 1, 1]], "contradict each other"),  # one says that it has company
        ([[2, 1, 2], [3, 2, 1]], "contradict each other"),  # place 3 twice
        ([[2, 0, 1], [3, 1, 1]], "no place behind"),  # the listed document stands there
        ([[2, 1, 0], [3, 1, 1]], "no place behind"),
        ([[2, 2, 3], [3, 1, 1]], "no place behind"),  # places 3 to 5 of four documents
    ],
)
def test_places_behind_the_listed_documents_must_be_possible(beyond, fault):
    pool = pool_of({"tur:a": ["azj:d2", "azj:d3"]})
    head, _ = to_lines({("T1", "tur-azj"): Rankings(pool, np.array([[0, 1, 2, 3]], dtype=np.int32))})
    line = json.dumps({"query": "tur:a", "ranking": [0], "beyond": beyond})
    _, faults = read_lines(Path("x"), [head.encode(), line.encode()], OnePool(pool))
    assert len(faults) == (fault is not None)
    assert all(fault in found.message for found in faults)


def test_spans_by_hand():
    rows = [
        TaggedSentence("b", "tr", "göz yummak", "x x x", ("x", "x", "x"), (B, I, O)),
        TaggedSentence("c", "tr", "göz yummak", "x x", ("x", "x"), (B, O)),
        TaggedSentence("a", "tr", "kulak asmak", "x x x", ("x", "x", "x"), (O, B, I)),
    ]
    score = score_subset(Tags(TestSentences("tr", rows), ("BBI", "BIO", "OO")))  # of a, b, c
    assert score.items == ("a", "b", "c")
    assert score.concepts == ("a", "b", "b")  # the sentences of one idiom
    # spans right, found and true: a 1, 2, 1; b 1, 1, 1; c 0, 0, 1
    assert score.sums.tolist() == [[2, 3], [2, 2], [0, 1]]
    assert score.solved.tolist() == [False, True, False]
    expected = dict.fromkeys(("span_precision", "span_recall", "span_f1"), 2 / 3)
    expected |= {"token_f1": 2 * 4 / (5 + 5), "token_accuracy": 6 / 8}
    assert {name: score.scores[name] for name in expected} == pytest.approx(expected)
    assert (score.task, score.subset, score.language, score.n, score.cut) == ("spans", "tr", "tr", 3, None)
    # idiom a alone: 2 * 1 / (2 + 1); the other alone: 2 * 1 / (1 + 2): every draw of concepts gives two thirds
    interval = score.resampled().interval()
    assert (interval.low, interval.high) == pytest.approx((2 / 3, 2 / 3))
