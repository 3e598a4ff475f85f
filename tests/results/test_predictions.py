"""Predictions to lines and back, and what is wrong with lines that somebody else wrote."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from turkic_idiom_tasks.metrics.ranking import mean_scores, score_rankings
from turkic_idiom_tasks.results.predictions import SPANS, Rankings, Tags, to_lines
from turkic_idiom_tasks.results.reader import read_lines
from turkic_idiom_tasks.results.scored import score_subset

KEY = ("T1", "tur-azj")
N_QUERIES, N_DOCUMENTS = 4, 9


def similarities():
    """Small whole numbers, so that documents tie; -inf stands for what was not retrieved."""
    numbers = st.integers(0, 12).map(float) | st.just(-np.inf)
    return arrays(np.float64, (N_QUERIES, N_DOCUMENTS), elements=numbers)


def lines_of(predictions, **options):
    return [line.encode() for line in to_lines(predictions, **options)]


def read(lines, dataset):
    predictions, faults = read_lines(Path("x"), lines, dataset)
    assert not faults, [str(fault) for fault in faults]
    return predictions


def test_lines_by_hand(dataset):
    """Nine documents; the third is best, the first and second tie behind it, the last was not retrieved."""
    pool = dataset.pool(*KEY)
    row = [0.5, 0.5, 0.9, 0.4, 0.3, 0.2, 0.1, 0.0, -np.inf]
    rankings = Rankings.from_similarities(pool, np.array([row] * N_QUERIES))
    head, first, *_ = to_lines({KEY: rankings})
    assert json.loads(head) == {"task": "T1", "subset": "tur-azj", "documents": list(pool.documents)}
    assert first == f'{{"query":"{pool.queries[0]}","ranking":[2,[0,1],3,4,5,6,7,8]}}'
    cut = list(to_lines({KEY: rankings}, top_k=2))[1:]
    for line, columns in zip(cut, pool.relevant, strict=True):
        values = json.loads(line)
        assert values["ranking"] == [2, [0, 1]]  # a group of ties is never cut
        beyond = [[column, column, 1] for column in columns if column > 2]  # its place: as many are better
        assert values.get("beyond", []) == beyond
    assert rankings.above[0].tolist() == [1, 1, 0, 3, 4, 5, 6, 7, 8]


@settings(deadline=None, max_examples=60)
@given(matrix=similarities())
def test_rankings_round_trip_and_score_as_the_similarities_do(dataset, matrix):
    pool = dataset.pool(*KEY)
    rankings = Rankings.from_similarities(pool, matrix)
    lines = lines_of({KEY: rankings})
    back = read(lines, dataset)[KEY]
    np.testing.assert_array_equal(back.above, rankings.above)
    assert back.n_listed is None
    assert lines_of({KEY: back}) == lines
    expected = mean_scores(score_rankings(matrix, pool.relevant))
    assert {name: score_subset(back).scores[name] for name in expected} == pytest.approx(expected, abs=1e-12)


@settings(deadline=None, max_examples=80)
@given(matrix=similarities(), top_k=st.integers(1, 12), again=st.integers(1, 12))
def test_a_cut_ranking_keeps_its_exact_scores(dataset, matrix, top_k, again):
    rankings = Rankings.from_similarities(dataset.pool(*KEY), matrix)
    lines = lines_of({KEY: rankings}, top_k=top_k)
    back = read(lines, dataset)[KEY]
    scores, whole = score_subset(back), score_subset(rankings)
    assert scores.scores == pytest.approx(whole.scores, abs=1e-12)
    np.testing.assert_allclose(scores.sums, whole.sums, atol=1e-12)
    for line in lines[1:]:
        sizes = [len(group) if isinstance(group, list) else 1 for group in json.loads(line)["ranking"]]
        assert sum(sizes) >= min(top_k, N_DOCUMENTS)
        assert sum(sizes[:-1]) < top_k  # no group more than needed
    listed = [len(json.loads(line)["ranking"]) for line in lines[1:]]
    whole_lines = [len(json.loads(line)["ranking"]) for line in lines_of({KEY: rankings})[1:]]
    assert (back.n_listed is None) == (listed == whole_lines)
    assert lines_of({KEY: back}) == lines
    assert lines_of({KEY: back}, top_k=again) == lines_of({KEY: rankings}, top_k=min(again, top_k))


@settings(deadline=None, max_examples=30)
@given(shuffle=st.randoms(use_true_random=False))
def test_the_order_of_lines_and_of_ties_decides_nothing(dataset, predictions, shuffle):
    head, *lines = lines_of({KEY: predictions[KEY]})
    shuffle.shuffle(lines)
    shuffled = []
    for line in lines:
        values = json.loads(line)
        for group in values["ranking"]:
            if isinstance(group, list):
                shuffle.shuffle(group)
        shuffled.append(json.dumps(values).encode())
    back = read([head, *shuffled], dataset)[KEY]
    np.testing.assert_array_equal(back.above, predictions[KEY].above)


@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_tags_round_trip(dataset, data):
    sentences = dataset.test_sentences("tr")
    lengths = [len(row.tokens) for row in sentences.rows]
    tags = Tags(sentences, tuple(data.draw(st.text("OBI", min_size=n, max_size=n)) for n in lengths))
    lines = lines_of({(SPANS, "tr"): tags})
    back = read(lines, dataset)[SPANS, "tr"]
    assert back.letters == tags.letters
    assert json.loads(lines[0]) == {"task": "spans", "subset": "tr"}
    assert score_subset(back).scores == score_subset(tags).scores


def test_subsets_stand_in_their_usual_order(dataset, predictions):
    lines = lines_of(dict(reversed(predictions.items())))
    assert lines == lines_of(predictions)
    assert list(read(lines, dataset)) == [KEY, (SPANS, "tr")]


def test_nan_is_refused(dataset):
    matrix = np.zeros((N_QUERIES, N_DOCUMENTS))
    matrix[2, 3] = np.nan
    with pytest.raises(ValueError, match=f"similarities of query {dataset.pool(*KEY).queries[2]} hold NaN"):
        Rankings.from_similarities(dataset.pool(*KEY), matrix)


# tests/leaderboard/test_submission.py has the faults that submissions can have too


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"task":"T9","subset":"tur-azj","documents":[]}', "the task 'T9' is unknown"),
        (b'{"task":"T2","subset":"tur"}', "the head of a T2 subset has the keys"),
        (b'{"subset":"tur","documents":[]}', "the task None is unknown"),
    ],
)
def test_a_line_that_does_not_belong_there_is_named(dataset, predictions, line, problem):
    lines = lines_of({KEY: predictions[KEY]})
    found, faults = read_lines(Path("x"), [*lines, line], dataset)
    assert not found
    assert problem in str(faults[0])
