"""What pages show besides tables: hard items, figures, shares of spelling, draws; and the CSV and JSON of a board."""

import csv
import io

import pytest

from leaderboard.board import make_board
from leaderboard.data import board_data
from leaderboard.details import spelling_splits
from leaderboard.exports import leaderboard_file, records_of, to_csv
from leaderboard.figures import forest_by_language, forest_by_task, forest_of_model
from leaderboard.tables import tabs_of
from tests.leaderboard.boards_for_tests import FLOOR, make_data, make_scored, scored_of
from turkic_idiom_tasks.results.headlines import spelling_free
from turkic_idiom_tasks.results.predictions import SPANS


def test_no_csv_cell_is_a_formula_and_numbers_stay_numbers():
    data = make_data(30)
    fullwidth = ["\uff1dHYPERLINK(1)", "\uff0b1", "\uff20SUM(A1)"]
    hostile = ["=HYPERLINK(1)", "+1", "-1+1", "@SUM(A1)", "\tx", "\rx", *fullwidth]
    submissions = []
    for n, text in enumerate(hostile):
        about = {"name": text, "training_data": f"{text} data", "few_shot": n, "device": text, "texts_per_second": 1.5}
        submissions.append(make_scored(f"m{n}", data, skill=0.0, seed=n, **about))
    board = make_board(submissions, data)
    content = to_csv(board, leaderboard_file(board, records_of(board)))
    rows = list(csv.DictReader(io.StringIO(content, newline="")))
    shown = {(row["name"], row["training_data"], row["device"], row["texts_per_second"]) for row in rows}
    assert shown == {(f"'{text}", f"'{text} data", f"'{text}", "1.500000") for text in hostile}
    for row in rows:
        float(row["T1 tur-azj"]), float(row["macro_low"]), int(row["parameters"])
        assert {row["macro_reliable"], row["T1 tur-azj reliable"]} <= {"0", "1"}
        assert not any(str(field).startswith(("=", "+", "@", "\t", "\r", "\uff1d")) for field in row.values())


def test_the_queries_of_t1_are_split_by_whether_spelling_finds_the_answer():
    data = make_data(4, languages=("tr", "az"))  # spelling finds that of the first of four queries
    one = scored_of("one", data, {("T1", "tur-azj"): [1, 0.25, 0.5, 0.75]})
    board = make_board([one, make_scored("other", data, tasks=("T2",))], data)
    (split,) = spelling_splits(board, "T1")
    free, other = split["groups"]
    assert other["scores"]["one"].score == 1
    score = free["scores"]["one"]
    assert score.score == pytest.approx(0.5)  # (.25 + .5 + .75) / 3
    assert score.interval.low < 0.5 < score.interval.high
    assert (other["n"], free["n"]) == (1, 3)
    assert free["floor"] == pytest.approx(FLOOR)
    assert set(free["scores"]) == set(other["scores"]) == {"one"}
    assert spelling_splits(board, "T2") == []


def test_the_groups_are_those_of_the_command_run(submission_dataset):
    for subset in board_data(submission_dataset).of_task("T1"):
        pool = submission_dataset.pool("T1", subset.name)
        free = [query for query, is_free in zip(pool.queries, spelling_free(pool), strict=True) if is_free]
        assert subset.spelling_free == frozenset(free)


def test_the_forest_of_a_tab_has_its_models_by_task_and_labels_that_tell_them_apart():
    data, same = make_data(30), {"name": "org/same"}
    submissions = [
        make_scored("strong", data, skill=0.9, tasks=("T1", "T2", "T3"), **same),
        make_scored("weak", data, skill=0.3, regime="tr-only", **same),
        make_scored("other", data, skill=0.1),
    ]
    board = make_board(submissions, data)
    retrieval, spans, _ = (forest_by_task(tab)["groups"] for tab in tabs_of(board))
    titles = ["T1: idiom → idiom", "T2: idiom → meaning", "T3: idiom → foreign meaning"]
    assert [title for title, _, _ in retrieval] == titles
    for (_, rows, _), task in zip(retrieval, ("T1", "T2", "T3"), strict=True):
        assert [label for label, _, _ in rows] == ["same (pretrained)", "same (tr-only)", "other"]
        assert rows[1][1].interval == board.by_task[task]["weak"].interval
    assert [label for label, _, _ in spans[0][1]] == ["same", "other"]


def test_the_forest_of_a_model_has_every_language_with_its_floor():
    data = make_data(30, languages=("tr", "az"))
    submission = make_scored("one", data, tasks=("T2", SPANS))
    board = make_board([submission], data)
    groups = forest_of_model(board, submission)["groups"]
    for (_, rows, _), task, floor in zip(groups, ("T2", SPANS), (FLOOR, 0), strict=True):
        scores = [score.main for score in submission.of_task(task)]
        assert [(label, shown.score, at) for label, shown, at in rows] == [
            ("Turkish", scores[0], floor),
            ("Azerbaijani", scores[1], floor),
        ]
        assert forest_by_language(board, task)["groups"] == [("one", rows, "one")]
