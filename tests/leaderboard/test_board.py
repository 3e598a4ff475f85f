"""Scores, intervals, ranks and groups of ties; and that no number of a submission depends on the others."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leaderboard.board import language_boards, make_board
from leaderboard.exports import records_of
from leaderboard.ranking import Standings
from tests.leaderboard.boards_for_tests import make_data, make_scored, scored_of
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.metrics.bootstrap import FEW, Stratum, difference, mean, resample, resample_models
from turkic_idiom_tasks.results.predictions import SPANS

TWO = ("tr", "az")


@pytest.mark.parametrize(
    ("between", "last", "allowed", "pairs"),
    [
        # two that are alike share a rank, and the next group counts them: bits 011 of the pairs 1-2, 1-3, 2-3, 0x60
        (0.001, 0.2, [(1, 2), (1, 2), (3, 3)], "YA=="),
        # between is beside both, give or take .03; last is below the best on every query: bits 010, 0x40
        (0.015, 0.03, [(1, 2), (1, 3), (2, 3)], "QA=="),
    ],
)
def test_a_group_ends_at_the_first_model_worse_than_its_best(between, last, allowed, pairs):
    data = make_data(60)
    generator = np.random.default_rng(4)
    base = generator.uniform(0.3, 0.9, size=60)
    noise = generator.normal(0, 0.1, size=60)
    shifts = {"a-last": last, "b-between": noise - noise.mean() + between, "c-best": 0}
    submissions = []
    for name, shift in shifts.items():
        values = {("T2", subset.name): base - shift for subset in data.of_task("T2")}
        submissions.append(scored_of(name, data, values))
    standings = make_board(submissions, data).by_task["T2"]
    assert list(standings) == ["c-best", "b-between", "a-last"]
    # rank, group, and the first and the last rank that the data allow
    assert list(standings.places.values()) == list(zip((1, 1, 3), (1, 1, 2), allowed, strict=True))
    assert standings.pairs == pairs


def test_scores_are_those_of_the_one_resampler_and_a_provisional_language_decides_no_rank_but_its_own():
    task, data = SPANS, make_data(50, few={"gag": 12})
    submission, certain = make_scored("all", data, skill=0.2, seed=6), make_scored("certain", data, skill=0.5, seed=7)
    certain = replace(certain, subsets=tuple(score for score in certain.subsets if score.language != "gag"))
    board = make_board([submission, certain], data)
    strata = {score.subset: Stratum(score.concepts, score.sums) for score in submission.of_task(task)}
    expected = mean([resample({name: strata[name]}) for name in strata if name != "gag"])  # which is provisional
    assert board.by_task[task]["all"].interval == expected.interval()
    assert board.by_task[task]["all"].score == expected.score
    for subset, stratum in strata.items():
        assert board.main_scores["all"][task, subset].interval == resample({subset: stratum}).interval()
    assert [(name, place.rank) for name, place in board.overall.places.items()] == [("certain", 1), ("all", 2)]
    assert list(language_boards(board)["gag"].overall) == ["all"]


LAW_DATA = make_data(20, languages=TWO, few={"az": 12})


@st.composite
def submissions_of_law(draw):
    """Some submissions, each of some of the tasks."""
    submissions = []
    for number in range(draw(st.integers(1, 4))):
        tasks = draw(st.sets(st.sampled_from(["T1", "T2", "T3", SPANS]), min_size=1))
        skill, seed = draw(st.sampled_from([0.1, 0.4, 0.9])), draw(st.integers(0, 5))
        submissions.append(make_scored(f"m{number}", LAW_DATA, skill=skill, seed=seed, tasks=tuple(sorted(tasks))))
    return submissions


def numbers_of(board):
    """id -> every number of a submission but its ranks, which are about the others."""
    numbers = {}
    for name, record in records_of(board).items():
        row = record.model_dump()
        for standing in (row["overall"], row["retrieval"], *row["tasks"].values()):
            if standing is not None:
                del standing["rank"], standing["group"]
        scores = {task: by_id[name].score for task, by_id in board.by_task.items() if name in by_id}
        numbers[name] = (row, dict(board.main_scores[name]), scores)
    return numbers


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(submissions_of_law(), st.data())
def test_adding_removing_and_permuting_submissions_changes_no_number_of_another(submissions, data):
    every_number = numbers_of(make_board(submissions, LAW_DATA))
    kept = data.draw(st.permutations(submissions))[: data.draw(st.integers(1, len(submissions)))]
    board = make_board(kept, LAW_DATA)
    for name, numbers in numbers_of(board).items():
        assert numbers == every_number[name]


def test_an_undefined_score_has_no_rank():
    data = make_data(3, languages=("tr",))
    data = replace(data, subsets=tuple(replace(subset, floor=1.0) for subset in data.subsets))
    # no span at all; and one candidate, whose corrected score would be a division by zero
    submission = scored_of("one", data, {(SPANS, "tr"): np.zeros((3, 3)), ("T2", "tur"): [1, 1, 1]})
    board = make_board([submission], data)
    assert board.by_task[SPANS] == board.by_task["T2"] == {}
    interval = board.main_scores["one"][SPANS, "tr"].interval
    assert np.isnan([interval.low, interval.high]).all()
    record = records_of(board)["one"]  # in JSON it is null
    spans = record.subsets[-1]
    assert (spans.task, spans.main, spans.low, spans.scores["span_f1"], record.overall) == (SPANS, *[None] * 4)


def test_what_cannot_stand_on_one_board_is_refused():
    data = make_data(30)
    with pytest.raises(InputError, match=r"one: the items of T1 tur-azj, scored on revision f{12}, .*0123456789ab"):
        make_board([make_scored("one", data, dataset_revision="f" * 40)], data)
    with pytest.raises(InputError, match=r"one: the items of T1 tur-azj, .* are not those of tests/data"):
        make_board([make_scored("one", make_data(31))], data)


@pytest.mark.parametrize(
    ("n_concepts", "spread"),
    [(60, 0.02), (60, 0.3), (200, 0.1), (30, 0.1), (5, 0.1)],  # of five concepts some draws hold none
)
def test_pairs_are_told_apart_by_the_interval_of_their_difference(n_concepts, spread):
    """Of 25 models, the best first, two of them equal."""
    generator = np.random.default_rng(1)
    base = generator.uniform(0.2, 0.8, n_concepts)
    values = [base + spread * generator.normal(number / 10, 1, n_concepts) for number in range(24)]
    concepts = [f"c{number:03d}" for number in range(n_concepts)]
    strata = [Stratum(concepts, np.stack([ndcg, np.ones(n_concepts)], axis=1)) for ndcg in [*values, values[0]]]
    models = sorted(resample_models(strata), key=lambda model: -model.score)
    is_better = Standings({f"m{place:02d}": model for place, model in enumerate(models)}).is_better
    expected = np.zeros((25, 25), dtype=bool)
    for upper in range(25):
        for lower in range(upper + 1, 25):
            gap = difference(models[upper], models[lower])
            expected[upper, lower] = gap.interval().low > 1e-12 and gap.score > FEW * gap.reach
    assert np.array_equal(is_better, expected)
