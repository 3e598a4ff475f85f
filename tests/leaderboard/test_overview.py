import dataclasses

import numpy as np
import pytest

from leaderboard.overview import make_board
from leaderboard.ranking import rank, resample, task_scores
from leaderboard.records import SPANS, Record
from tests.leaderboard.records_for_tests import (
    FLOOR,
    make_data,
    make_metadata,
    make_record,
    retrieval_score,
    span_score,
)
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.metrics.statistics import bootstrap_interval, interval_of_ratio

TURKISH_AND_AZERBAIJANI = ("tr", "az")


def standings(records, data, tasks):
    parts = resample(records, data)
    return rank([parts[task] for task in tasks])


def record_of(name, data, values):
    """A record from (task, subset) -> nDCG of each query, or counts of each sentence."""
    scores = []
    for subset in data.subsets:
        if (subset.task, subset.name) in values:
            make = span_score if subset.task == SPANS else retrieval_score
            scores.append(make(subset, np.array(values[subset.task, subset.name], dtype=float)))
    return Record(name, make_metadata(), tuple(scores))


def test_the_macro_score_is_the_mean_of_chance_corrected_tasks():
    data = make_data(2, languages=TURKISH_AND_AZERBAIJANI)
    record = record_of(
        "one",
        data,
        {
            ("T1", "tur-azj"): [1, 1],  # corrected 1
            ("T2", "tur"): [1, 1],  # corrected 1
            ("T2", "azj"): [FLOOR, FLOOR],  # corrected 0, so the task has 0.5
            ("T3", "tur-azj"): [1, FLOOR],  # mean (1 + floor) / 2, corrected 0.5
            (SPANS, "tr"): [[1, 1, 1], [1, 1, 1]],  # F1 1
            (SPANS, "az"): [[0, 1, 1], [1, 2, 1]],  # F1 2 * 1 / (3 + 2) = 0.4, so the task has 0.7
        },
    )
    assert task_scores(record, data) == pytest.approx({"T1": 1.0, "T2": 0.5, "T3": 0.5, SPANS: 0.7})
    (standing,) = standings([record], data, data.tasks)
    assert standing.score == pytest.approx((1 + 0.5 + 0.5 + 0.7) / 4)
    assert (standing.rank, standing.group) == (1, 1)


def shifted(data, base, shift):
    """All queries of T2 as in `base`, lower by `shift`."""
    return {("T2", subset.name): base - shift for subset in data.of_task("T2")}


def test_pairing_tells_models_apart_whose_intervals_overlap():
    data = make_data(60)
    generator = np.random.default_rng(3)
    base = generator.uniform(0.3, 1.0, size=60)
    worse = shifted(data, base, 0.02 + 0.01 * generator.random(60))
    records = [record_of("better", data, shifted(data, base, 0)), record_of("worse", data, worse)]
    better, behind = standings(records, data, ("T2",))
    assert (better.id, behind.id) == ("better", "worse")
    assert behind.high > better.low  # each alone is uncertain by far more than they differ
    assert (better.group, better.rank) == (1, 1)
    assert (behind.group, behind.rank) == (2, 2)


def test_models_of_a_group_share_a_rank_and_the_next_group_counts_them():
    data = make_data(60)
    generator = np.random.default_rng(4)
    base = generator.uniform(0.3, 0.9, size=60)
    noise = generator.normal(0, 0.1, size=60)
    records = [
        record_of("c-far", data, shifted(data, base, 0.2)),
        record_of("b-like", data, shifted(data, base, noise - noise.mean() + 0.001)),
        record_of("a-best", data, shifted(data, base, 0)),
    ]
    found = standings(records, data, ("T2",))
    assert [(one.id, one.rank, one.group) for one in found] == [("a-best", 1, 1), ("b-like", 1, 1), ("c-far", 3, 2)]


def test_a_concept_is_drawn_for_all_tasks_at_once():
    data = make_data(40, languages=TURKISH_AND_AZERBAIJANI)
    ndcg = np.random.default_rng(5).uniform(0.2, 0.8, size=40)
    opposite = record_of("one", data, {("T1", "tur-azj"): ndcg, ("T3", "tur-azj"): 1 - ndcg})
    (joint,) = standings([opposite], data, ("T1", "T3"))
    (alone,) = standings([opposite], data, ("T1",))
    assert joint.high - joint.low < 1e-9  # the tasks cancel in every draw
    assert alone.high - alone.low > 0.05


def test_intervals_are_those_of_the_bootstrap_of_the_suite():
    data = make_data(50)
    record = make_record("one", data, skill=0.4, seed=6)
    (standing,) = standings([record], data, ("T2",))
    scores = {score.subset: score.values[:, 0] for score in record.of_task("T2")}
    clusters = {score.subset: score.clusters for score in record.of_task("T2")}
    expected = bootstrap_interval(scores, clusters)
    assert standing.low == pytest.approx((expected.low - FLOOR) / (1 - FLOOR), abs=0.005)
    assert standing.high == pytest.approx((expected.high - FLOOR) / (1 - FLOOR), abs=0.005)


def test_span_intervals_are_those_of_a_ratio():
    data = make_data(50, languages=("tr",))
    record = make_record("one", data, skill=0.5, seed=7, tasks=(SPANS,))
    (standing,) = standings([record], data, (SPANS,))
    (score,) = record.of_task(SPANS)
    right, found, true = score.values.T
    expected = interval_of_ratio(2 * right, found + true, clusters=score.clusters)
    assert standing.low == pytest.approx(expected.low, abs=0.012)
    assert standing.high == pytest.approx(expected.high, abs=0.012)


def test_the_order_of_submissions_changes_nothing():
    data = make_data(30)
    records = [make_record(f"m{n}", data, skill=0.2 + 0.05 * n, seed=n) for n in range(6)]
    assert make_board(records, data).overall == make_board(records[::-1], data).overall


def test_submissions_without_all_tasks_are_ranked_by_task_alone():
    data = make_data(30)
    whole, part = make_record("whole", data), make_record("part", data, tasks=("T1", SPANS), skill=0.9)
    board = make_board([part, whole], data)
    assert list(board.overall) == ["whole"]
    assert list(board.by_task["T1"]) == ["part", "whole"]
    assert list(board.by_task["T2"]) == ["whole"]


def test_an_undefined_score_has_no_rank():
    data = make_data(30, languages=("tr",))
    record = make_record("one", data, tasks=(SPANS,))
    score = record.subsets[0]
    undefined = dataclasses.replace(score, scores=dict(score.scores) | {"span_f1": float("nan")})
    assert standings([Record("one", record.metadata, (undefined,))], data, (SPANS,)) == ()


def test_what_cannot_stand_on_one_board_is_refused():
    data = make_data(30)
    record = make_record("one", data)
    with pytest.raises(InputError, match="two submissions have the id 'one'"):
        make_board([record, record], data)
    with pytest.raises(InputError, match=r"one: scored on revision ffffffffffff.*0123456789ab"):
        make_board([make_record("one", data, dataset_revision="f" * 40)], data)
    with pytest.raises(InputError, match="one: the items of T1 tur-azj are not those of tests/data"):
        make_board([make_record("one", make_data(31))], data)
    with pytest.raises(InputError, match="reproduced: no submission 'two'"):
        make_board([record], data, reproduced=("one", "two"))
