"""Tables and tabs of the overview and of single languages: columns, rows, and who is listed where."""

import math
from dataclasses import replace

import pytest

from leaderboard.board import language_boards, make_board
from leaderboard.site import write_site
from leaderboard.tables import ALL_TAB, RETRIEVAL_TAB, SPANS_TAB, Tab, distinctions, tab_table, tabs_of, task_table
from tests.leaderboard.boards_for_tests import FLOOR, make_data, make_scored, scored_of
from turkic_idiom_tasks.results.predictions import SPANS

RETRIEVAL = ("T1", "T2", "T3")
TWO = ("tr", "az")


def tabs_by_language(board):
    return {code: tabs_of(part) for code, part in language_boards(board).items()}


def table_of(board, name):
    """The table of a tab of the overview."""
    tab = next(tab for tab in tabs_of(board) if tab.name == name)
    return tab_table(tab, tabs_by_language(board))


def tabs_in(code, data, *submissions):
    """The tabs of a language, by name."""
    return {tab.name: tab for tab in tabs_by_language(make_board(submissions, data))[code]}


def listed(tab):
    return [row.submission.id for row in tab_table(tab).rows]


def test_macro_scores_and_language_cells_are_means_of_chance_corrected_tasks():
    data = make_data(2, languages=TWO)
    values = {
        ("T1", "tur-azj"): [1, 1],  # corrected 1
        ("T2", "tur"): [1, FLOOR],  # mean (1 + floor) / 2, corrected 0.5
        ("T2", "azj"): [FLOOR, FLOOR],  # corrected 0, so the task has 0.25
        ("T3", "tur-azj"): [1, FLOOR],  # corrected 0.5
        (SPANS, "tr"): [[1, 1, 1], [1, 1, 1]],  # F1 1
        (SPANS, "az"): [[0, 1, 1], [1, 2, 1]],  # F1 2 * 1 / (3 + 2) = 0.4, so the task has 0.7
    }
    board = make_board([scored_of("one", data, values)], data)
    scores = {task: standings["one"].score for task, standings in board.by_task.items()}
    assert scores == pytest.approx({"T1": 1.0, "T2": 0.25, "T3": 0.5, SPANS: 0.7})
    assert board.retrieval["one"].score == pytest.approx((1 + 0.25 + 0.5) / 3)
    assert board.overall["one"].score == pytest.approx((1 + 0.25 + 0.5 + 0.7) / 4)
    assert board.overall.places == {"one": (1, 1, (1, 1))}
    (row,) = table_of(board, ALL_TAB).rows
    assert [score.score for score in row.scores[-2:]] == pytest.approx([(0.5 + 1) / 2, (1 + 0 + 0.5 + 0.4) / 4])
    assert row.lacks == ()


@pytest.mark.parametrize(("n", "small"), [(29, True), (30, False)])
def test_columns_of_fewer_than_thirty_items_are_marked(n, small):
    data = make_data(40, few={"gag": n})
    board = make_board([make_scored("one", data)], data)
    for table in (task_table(board, "T2"), tab_table(tabs_of(board)[0])):
        assert {column.key for column in table.columns if column.small} == ({"gag"} if small else set())


def test_below_the_ranked_stand_models_with_all_retrieval_tasks_by_their_mean():
    data = make_data(30)
    submissions = [
        make_scored("a-span", data, tasks=(SPANS,), skill=0.9),
        make_scored("b-weak", data, tasks=RETRIEVAL, skill=0.1),
        make_scored("c-strong", data, tasks=RETRIEVAL, skill=0.6),
        make_scored("d-whole", data, skill=0.2),
    ]
    board = make_board(submissions, data)
    rows = {row.submission.id: row for row in table_of(board, ALL_TAB).rows}
    assert list(rows) == ["d-whole", "c-strong", "b-weak", "a-span"]
    assert [row.place is None for row in rows.values()] == [False, True, True, True]
    assert rows["b-weak"].lacks == ("Spans",)
    spans = rows["a-span"]
    assert spans.lacks == RETRIEVAL
    undefined = [*[True] * 4, False, *[True] * 5]  # and every language
    assert [math.isnan(score.score) for score in spans.scores] == undefined
    best, *_ = table_of(board, RETRIEVAL_TAB).rows
    assert best.submission.id == "c-strong"
    assert best.scores[0].score == pytest.approx(sum(score.score for score in best.scores[1:4]) / 3)


def test_a_page_opens_with_the_ranking_that_has_the_most_submissions_or_else_the_most_tasks(tmp_path):
    data = make_data(3, languages=TWO)
    tagger, whole = make_scored("tagger", data, tasks=(SPANS,)), make_scored("whole", data)
    for submissions, opened, ranked in (
        ([tagger, whole], SPANS_TAB, {RETRIEVAL_TAB: 1, SPANS_TAB: 2, ALL_TAB: 1}),
        ([whole], ALL_TAB, {RETRIEVAL_TAB: 1, SPANS_TAB: 1, ALL_TAB: 1}),
    ):
        board = make_board(submissions, data)
        assert {tab.name: len(tab.standings) for tab in tabs_of(board)} == ranked
        write_site(board, tmp_path)
        for place in ("index", "az"):
            assert (tmp_path / f"{place}.html").read_bytes() == (tmp_path / f"{place}-{opened}.html").read_bytes()
    assert [tab.name for tab in tabs_of(make_board([tagger], data))] == [SPANS_TAB]


def test_a_tab_has_columns_of_the_languages_of_its_tasks_alone():
    data = make_data(30, languages=TWO)
    data = replace(data, subsets=(*data.of_task("T1"), data.of_task(SPANS)[0]))  # Turkish sentences alone
    retrieval, spans, _ = tabs_of(make_board([make_scored("one", data)], data))
    assert [column.key for column in tab_table(retrieval).columns] == ["T1", "az"]
    assert [column.key for column in tab_table(spans).columns] == [SPANS, "tr"]


def test_the_ranks_of_a_language_are_its_own():
    data = make_data(40, languages=TWO)
    submissions = [
        scored_of("turkish", data, {("T2", "tur"): [1] * 40, ("T2", "azj"): [FLOOR] * 40}),
        scored_of("azeri", data, {("T2", "tur"): [FLOOR] * 40, ("T2", "azj"): [1] * 40}),
        scored_of("only-tr", data, {("T2", "tur"): [FLOOR] * 20 + [1] * 20}),
    ]
    turkish, azerbaijani = (tabs_in(code, data, *submissions)[RETRIEVAL_TAB].standings for code in TWO)
    assert {name: place.rank for name, place in turkish.places.items()} == {"turkish": 1, "only-tr": 2, "azeri": 3}
    # corrected: (1 + 0) / 2 for the model that has half of the queries right
    assert turkish["only-tr"].score == pytest.approx(0.5)
    assert {name: place.rank for name, place in azerbaijani.places.items()} == {"azeri": 1, "turkish": 2}


def test_a_submission_that_no_tab_ranks_is_listed_in_one(tmp_path):
    """Retrieval ranks nobody, because no submission has both T1 and T2; the tab stays for those that have one."""
    data = make_data(3, languages=TWO)
    board = make_board([make_scored(f"only-{task}", data, tasks=(task,)) for task in ("T1", "T2", SPANS)], data)
    write_site(board, tmp_path / "site")
    pages = {path.name: path.read_text("utf-8") for path in (tmp_path / "site").glob("*.html")}
    for place, tabs in (("index", tabs_of(board)), ("az", tabs_by_language(board)["az"])):
        assert {tab.name: list(tab.standings) for tab in tabs} == {RETRIEVAL_TAB: [], SPANS_TAB: ["only-spans"]}
        assert listed(tabs[0]) == ["only-T1", "only-T2"]
        assert pages[f"{place}.html"] == pages[f"{place}-spans.html"]
        assert f'href="{place}-retrieval.html"' in pages[f"{place}.html"]


def test_submissions_that_are_ranked_nowhere_share_one_tab():
    data = make_data(30, languages=TWO)
    partial = [
        scored_of("retrieval", data, {("T1", "tur-azj"): [1] * 30}),
        scored_of("spans", data, {(SPANS, "az"): [[1, 1, 1]] * 30}),
    ]
    (tab,) = tabs_of(make_board(partial, data))
    assert tab.name == ALL_TAB
    assert set(listed(tab)) == {"retrieval", "spans"}


def test_tasks_that_nobody_submitted_have_no_column_and_no_tab():
    data = make_data(30, languages=TWO)
    (tab,) = tabs_in("az", data, make_scored("one", data, tasks=("T1", "T3"))).values()
    assert (tab.name, tab.shown) == (RETRIEVAL_TAB, ("T1", "T3"))
    (row,) = tab_table(tab).rows
    assert not any(math.isnan(score.score) for score in row.scores)
    assert len(row.scores) == 3  # the mean of two tasks, and each
    assert tabs_in("tr", data, make_scored("one", data, tasks=("T1",))) == {}


def test_the_overview_shows_a_language_with_the_score_and_interval_of_its_own_board():
    """Spans has no Gagauz here, so that its ranking over all tasks is that of retrieval."""
    data = make_data(30, languages=("tr", "az", "gag"))
    data = replace(data, subsets=tuple(one for one in data.subsets if (one.task, one.language) != (SPANS, "gag")))
    submissions = [make_scored("one", data), make_scored("two", data, skill=0.7, seed=1)]
    board = make_board([*submissions, make_scored("part", data, tasks=("T2",))], data)
    *ranked, part = table_of(board, ALL_TAB).rows
    boards = language_boards(board)
    for code, place in (("tr", -3), ("az", -2), ("gag", -1)):
        standings = boards[code].overall
        assert set(standings) == {"one", "two"}
        for row in ranked:
            shown, of_language = row.scores[place], standings[row.submission.id]
            assert (shown.score, shown.interval) == (of_language.score, of_language.interval)
            assert shown.interval.low < shown.score < shown.interval.high
    assert part.submission.id == "part"
    assert all(math.isnan(score.score) for score in part.scores[-3:])


def test_a_language_in_which_nobody_submitted_a_task_has_no_mean_over_the_tasks():
    data = make_data(30, languages=TWO)
    submission = make_scored("one", data)
    subsets = tuple(one for one in submission.subsets if (one.task, one.subset) != ("T2", "azj"))
    board = make_board([replace(submission, subsets=subsets)], data)
    tab = Tab(RETRIEVAL_TAB, board, RETRIEVAL, RETRIEVAL, board.retrieval)
    of_languages = {column.key: column.scores for column in tab_table(tab, tabs_by_language(board)).columns[-2:]}
    assert {code: bool(scores) for code, scores in of_languages.items()} == {"tr": True, "az": False}


def test_an_extra_task_has_a_column_and_does_not_count():
    data = make_data(30, languages=TWO, extra=("T4",))
    old = make_scored("old", data, tasks=RETRIEVAL)
    submissions = [old, make_scored("new", data, tasks=(*RETRIEVAL, "T4"), seed=1)]
    board = make_board(submissions, data)
    assert list(board.by_task["T4"]) == ["new"]
    assert set(board.retrieval) == {"old", "new"}
    tab = tabs_in("az", data, *submissions)[RETRIEVAL_TAB]
    assert (tab.tasks, tab.shown) == (RETRIEVAL, (*RETRIEVAL, "T4"))
    assert set(tab.standings) == {"old", "new"}
    alone = make_scored("alone", data, tasks=("T4",))
    assert listed(tabs_in("az", data, alone, old)[RETRIEVAL_TAB]) == ["old", "alone"]
    assert list(tabs_in("az", data, alone)[RETRIEVAL_TAB].standings) == ["alone"]


def notes_of(*named):
    data = make_data(2, languages=TWO)
    return distinctions([make_scored(f"m{n}", data, tasks=("T1",), **about) for n, about in enumerate(named)])


def test_names_that_look_alike_are_shown_as_different():
    names = ("org/model", "Org/Model", "org/mode1", "org/other")
    assert notes_of(*({"name": name} for name in names)) == {
        "m0": "similar name: Org/Model, org/mode1",
        "m1": "similar name: org/model, org/mode1",
        "m2": "similar name: org/model, Org/Model",
    }
    many = [{"name": f"org/model{'-' * n}x"} for n in range(5)]  # nobody can fill the row of another
    assert notes_of(*many)["m0"] == "similar name: org/model-x, org/model--x and 2 more"


def test_the_same_name_without_revision_is_shown_as_different():
    assert notes_of({"revision": "abcdef" * 6}, {"revision": None}, {"pooling": "cls"}) == {}
    same = {"name": "org/model"}
    for first, second, notes in (
        ("abcdef" * 6, None, ("revision abcdefab", "no revision stated")),
        ("abcdefab1", "abcdefab2", ("revision abcdefab1", "revision abcdefab2")),
    ):
        found = notes_of(same | {"revision": first}, same | {"revision": second})
        assert found == {"m0": notes[0], "m1": notes[1]}
    assert notes_of(same, same | {"pooling": "cls"}) == {}  # another variant, which is shown anyway
