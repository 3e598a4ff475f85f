"""Boards of single languages, and the split of T1 by spelling."""

from dataclasses import replace

import pytest

from leaderboard.board import make_board
from leaderboard.items import board_data
from leaderboard.language_boards import language_boards, standings_by_language
from leaderboard.site import build_site
from leaderboard.spelling import spelling_splits
from leaderboard.tabs import ALL_TAB, RETRIEVAL_TAB, SPANS_TAB, Tab, default_tab, tab_rows, tabs_of
from tests.leaderboard.boards_for_tests import FLOOR, make_data, make_scored, scored_of
from turkic_idiom_tasks.dataset.retrieval import queries_with_shared_stem
from turkic_idiom_tasks.results.predictions import SPANS

RETRIEVAL = ("T1", "T2", "T3")


def board_of_language(code, data, *submissions):
    by_code = {one.code: one for one in language_boards(make_board(submissions, data))}
    return by_code[code]


def tab_of(of_language, name):
    return next(tab for tab in of_language.tabs if tab.name == name)


def tab_of_board(board, name):
    return next(tab for tab in tabs_of(board) if tab.name == name)


def test_the_ranks_of_a_language_are_its_own():
    data = make_data(40, languages=("tr", "az"))
    submissions = [
        scored_of("turkish", data, {("T2", "tur"): [1] * 40, ("T2", "azj"): [FLOOR] * 40}),
        scored_of("azeri", data, {("T2", "tur"): [FLOOR] * 40, ("T2", "azj"): [1] * 40}),
        scored_of("only-tr", data, {("T2", "tur"): [FLOOR] * 20 + [1] * 20}),
    ]
    turkish, azerbaijani = (board_of_language(code, data, *submissions) for code in ("tr", "az"))
    ranks = {name: one.rank for name, one in turkish.default.standings.items()}
    assert ranks == {"turkish": 1, "only-tr": 2, "azeri": 3}
    # corrected: (1 + 0) / 2 for the model that has half of the queries right
    assert turkish.default.standings["only-tr"].score == pytest.approx(0.5)
    assert {name: one.rank for name, one in azerbaijani.default.standings.items()} == {"azeri": 1, "turkish": 2}


def test_a_board_opens_with_the_ranking_that_has_the_most_submissions():
    data = make_data(30, languages=("tr", "az"))
    encoders = [make_scored(f"e{n}", data, tasks=RETRIEVAL, seed=n) for n in range(2)]
    tagger = make_scored("tagger", data, tasks=(SPANS,))
    whole = make_scored("whole", data)
    of_language = board_of_language("az", data, *encoders, tagger, whole)
    assert {tab.name: len(tab.standings) for tab in of_language.tabs} == {RETRIEVAL_TAB: 3, SPANS_TAB: 2, ALL_TAB: 1}
    assert of_language.default.name == RETRIEVAL_TAB
    assert board_of_language("az", data, whole).default.name == ALL_TAB  # of equal ones that with the most tasks
    rows = tab_rows(of_language.board, tab_of(of_language, ALL_TAB))
    assert {row.submission.id: row.lacks for row in rows} == {
        "whole": (),
        "e0": ("Spans",),
        "e1": ("Spans",),
        "tagger": RETRIEVAL,
    }
    assert [row.standing is not None for row in rows] == [True, False, False, False]


def test_a_submission_that_no_tab_ranks_is_listed_in_one(tmp_path):
    """Retrieval ranks nobody, because no submission has both T1 and T2; the tab stays for those that have one."""
    data = make_data(30, languages=("tr", "az"))
    submissions = [make_scored(f"only-{task}", data, tasks=(task,)) for task in ("T1", "T2", SPANS)]
    board = make_board(submissions, data)
    build_site(board, tmp_path / "site")
    pages = {path.name: path.read_text("utf-8") for path in (tmp_path / "site").glob("*.html")}
    for place, of_place in (("index", board), ("az", board_of_language("az", data, *submissions).board)):
        tabs = tabs_of(of_place)
        assert {tab.name: list(tab.standings) for tab in tabs} == {RETRIEVAL_TAB: [], SPANS_TAB: ["only-spans"]}
        assert [row.submission.id for row in tab_rows(of_place, tabs[0])] == ["only-T1", "only-T2"]
        assert default_tab(tabs).name == SPANS_TAB
        for name in ("only-T1", "only-T2"):
            assert f'href="models/{name}.html"' in pages[f"{place}-retrieval.html"]
        assert f'href="{place}-retrieval.html"' in pages[f"{place}.html"]


def test_submissions_that_are_ranked_nowhere_share_one_tab():
    data = make_data(30, languages=("tr", "az"))
    partial = [
        scored_of("retrieval", data, {("T1", "tur-azj"): [1] * 30}),
        scored_of("spans", data, {(SPANS, "az"): [[1, 1, 1]] * 30}),
    ]
    board = make_board(partial, data)
    (tab,) = tabs_of(board)
    assert tab.name == ALL_TAB
    assert {row.submission.id for row in tab_rows(board, tab)} == {"retrieval", "spans"}


def test_tasks_that_nobody_submitted_have_no_column_and_no_tab():
    data = make_data(30, languages=("tr", "az"))
    of_language = board_of_language("az", data, make_scored("one", data, tasks=("T1", "T3")))
    (tab,) = of_language.tabs
    assert (tab.name, tab.shown) == (RETRIEVAL_TAB, ("T1", "T3"))
    (row,) = tab_rows(of_language.board, tab)
    assert not any(shown.missing for shown in row.scores)
    assert len(row.scores) == 3  # the mean of two tasks, and each
    assert board_of_language("tr", data, make_scored("one", data, tasks=("T1",))).default is None


def test_the_overview_shows_a_language_with_the_score_and_interval_of_its_own_board():
    """Spans has no Gagauz here, so that its ranking over all tasks is that of retrieval."""
    data = make_data(30, languages=("tr", "az", "gag"))
    data = replace(data, subsets=tuple(one for one in data.subsets if (one.task, one.language) != (SPANS, "gag")))
    submissions = [make_scored("one", data), make_scored("two", data, skill=0.7, seed=1)]
    board = make_board([*submissions, make_scored("part", data, tasks=("T2",))], data)
    tab = tab_of_board(board, ALL_TAB)
    boards = {one.code: one for one in language_boards(board)}
    rows = tab_rows(board, tab, standings_by_language(list(boards.values()), data, tab))
    for code, place in (("tr", -3), ("az", -2), ("gag", -1)):
        standings = boards[code].board.overall
        assert set(standings) == {"one", "two"}
        for row in rows[:2]:
            shown = row.scores[place]
            of_language = standings[row.submission.id]
            assert (shown.value, shown.interval) == (of_language.score, of_language.interval)
            assert shown.interval.low < shown.value < shown.interval.high
    assert rows[2].submission.id == "part"
    assert all(shown.missing for shown in rows[2].scores[-3:])


def test_a_language_in_which_nobody_submitted_a_task_has_no_mean_over_the_tasks():
    data = make_data(30, languages=("tr", "az"))
    submission = make_scored("one", data)
    subsets = tuple(one for one in submission.subsets if (one.task, one.subset) != ("T2", "azj"))
    board = make_board([replace(submission, subsets=subsets)], data)
    tab = Tab(RETRIEVAL_TAB, RETRIEVAL, RETRIEVAL, board.retrieval)
    assert list(standings_by_language(language_boards(board), data, tab)) == ["tr"]


def test_an_extra_task_has_a_column_and_does_not_count():
    data = make_data(30, languages=("tr", "az"), extra=("T4",))
    submissions = [
        make_scored("old", data, tasks=RETRIEVAL),
        make_scored("new", data, tasks=(*RETRIEVAL, "T4"), seed=1),
    ]
    board = make_board(submissions, data)
    assert list(board.by_task["T4"]) == ["new"]
    assert set(board.retrieval) == {"old", "new"}
    tab = board_of_language("az", data, *submissions).default
    assert (tab.tasks, tab.shown) == (RETRIEVAL, (*RETRIEVAL, "T4"))
    assert set(tab.standings) == {"old", "new"}
    alone = make_scored("alone", data, tasks=("T4",))
    both = board_of_language("az", data, alone, submissions[0])
    assert [row.submission.id for row in tab_rows(both.board, both.default)] == ["old", "alone"]
    of_language = board_of_language("az", data, alone)
    assert list(of_language.default.standings) == ["alone"]


def test_the_queries_of_t1_are_split_by_shared_stems():
    data = make_data(4, languages=("tr", "az"))  # the first of four queries shares a stem
    one = scored_of("one", data, {("T1", "tur-azj"): [1, 0.25, 0.5, 0.75]})
    board = make_board([one, make_scored("other", data, tasks=("T2",))], data)
    (split,) = spelling_splits(board, "T1")
    shared, other = split.scores("one")
    assert (shared.value, other.value) == (1, pytest.approx(0.5))  # (.25 + .5 + .75) / 3
    assert other.interval.low < 0.5 < other.interval.high
    assert (split.shared.n, split.other.n) == (1, 3)
    assert split.other.floor == pytest.approx(FLOOR)
    assert all(shown.missing for shown in split.scores("other"))
    assert spelling_splits(board, "T2") == []


def test_the_groups_are_those_of_the_command_run(submission_dataset):
    data = board_data(submission_dataset)
    for subset in data.of_task("T1"):
        retrieval = submission_dataset.retrieval("T1", subset.name)
        assert subset.shared_stem == queries_with_shared_stem(retrieval, "T1", subset.name)
    assert {subset.shared_stem for subset in data.of_task("T3")} == {None}
