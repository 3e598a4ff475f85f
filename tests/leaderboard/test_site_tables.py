import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from leaderboard.board import make_board
from leaderboard.comparison import DRAWS_FILE, comparison_files, comparison_json, concept_names, concept_sums
from leaderboard.exports import leaderboard_file, to_csv
from leaderboard.figures import (
    few_shot_curves,
    few_shot_delta,
    forest_by_language,
    forest_by_task,
    forest_of_model,
    score_by_size,
    score_by_throughput,
)
from leaderboard.items import hardest, item_values
from leaderboard.language_boards import language_boards, standings_by_language
from leaderboard.tables import distinctions, size_class, task_columns
from leaderboard.tabs import ALL_TAB, RETRIEVAL_TAB, SPANS_TAB, default_tab, tab_columns, tab_rows, tabs_of
from tests.leaderboard.boards_for_tests import FLOOR, POOL, make_data, make_scored, scored_of
from turkic_idiom_tasks.metrics.bootstrap import poisson_counts
from turkic_idiom_tasks.results.predictions import SPANS


def board_of(*submissions, data, **options):
    return make_board(submissions, data, **options)


def rows_of(board, name):
    """The rows of a tab of the overview."""
    tab = next(tab for tab in tabs_of(board) if tab.name == name)
    return tab_rows(board, tab, standings_by_language(language_boards(board), board.data, tab))


def test_language_cells_are_the_mean_over_tasks_of_that_language():
    data = make_data(2, languages=("tr", "az"))
    half = [1, FLOOR]  # corrected mean 0.5
    values = {
        ("T1", "tur-azj"): [1, 1],
        ("T2", "tur"): half,
        ("T2", "azj"): [FLOOR, FLOOR],
        ("T3", "tur-azj"): half,
    }
    values |= {(SPANS, "tr"): [[1, 1, 1], [1, 1, 1]], (SPANS, "az"): [[0, 0, 1], [1, 1, 1]]}
    (row,) = rows_of(board_of(scored_of("one", data, values), data=data), ALL_TAB)
    turkish, azerbaijani = row.scores[-2:]
    assert turkish.value == pytest.approx((0.5 + 1) / 2)
    # spans: 2 * 1 / (1 + 2) = 2/3
    assert azerbaijani.value == pytest.approx((1 + 0 + 0.5 + 2 / 3) / 4)
    assert row.lacks == ()


@pytest.mark.parametrize(("n", "small"), [(29, True), (30, False)])
def test_columns_of_fewer_than_thirty_items_are_marked(n, small):
    data = make_data(40, few={"gag": n})
    board = board_of(make_scored("one", data), data=data)
    for columns in (task_columns(board, "T2"), tab_columns(board, tabs_of(board)[0])):
        assert {column.key for column in columns if column.small} == ({"gag"} if small else set())


def test_submissions_without_a_rank_stand_below_with_what_they_have():
    data = make_data(30)
    board = board_of(make_scored("a-part", data, tasks=("T1",), skill=0.9), make_scored("whole", data), data=data)
    whole, part = rows_of(board, ALL_TAB)
    assert (whole.submission.id, part.submission.id) == ("whole", "a-part")
    assert part.standing is None
    assert part.lacks == ("T2", "T3", "Spans")
    assert [shown.missing for shown in part.scores[:5]] == [True, False, True, True, True]
    assert all(shown.missing for shown in part.scores[5:])


def test_below_the_ranked_stand_models_with_all_retrieval_tasks_by_their_mean():
    data = make_data(30)
    retrieval = ("T1", "T2", "T3")
    submissions = [
        make_scored("a-span", data, tasks=(SPANS,), skill=0.9),
        make_scored("b-weak", data, tasks=retrieval, skill=0.1),
        make_scored("c-strong", data, tasks=retrieval, skill=0.6),
        make_scored("d-whole", data, skill=0.2),
    ]
    board = board_of(*submissions, data=data)
    assert [row.submission.id for row in rows_of(board, ALL_TAB)] == ["d-whole", "c-strong", "b-weak", "a-span"]
    best, *_ = rows_of(board, RETRIEVAL_TAB)
    assert best.submission.id == "c-strong"
    assert best.scores[0].value == pytest.approx(sum(shown.value for shown in best.scores[1:4]) / 3)


def test_the_overview_opens_with_the_ranking_that_has_the_most_submissions():
    data = make_data(30)
    tagger = make_scored("tagger", data, tasks=(SPANS,))
    whole = make_scored("whole", data)
    tabs = tabs_of(board_of(tagger, whole, data=data))
    assert {tab.name: len(tab.standings) for tab in tabs} == {RETRIEVAL_TAB: 1, SPANS_TAB: 2, ALL_TAB: 1}
    assert default_tab(tabs).name == SPANS_TAB
    assert default_tab(tabs_of(board_of(whole, data=data))).name == ALL_TAB
    assert [tab.name for tab in tabs_of(board_of(tagger, data=data))] == [SPANS_TAB]
    board = board_of(tagger, whole, data=data)
    of_spans = rows_of(board, SPANS_TAB)
    assert [len(row.scores) for row in of_spans] == [6, 6]  # spans, and its five languages
    best = of_spans[0].submission
    assert [shown.interval for shown in of_spans[0].scores[1:]] == [
        board.interval(best, score) for score in best.of_task(SPANS)
    ]


def test_a_tab_has_columns_of_the_languages_of_its_tasks_alone():
    data = make_data(30, languages=("tr", "az"))
    data = replace(data, subsets=(*data.of_task("T1"), data.of_task(SPANS)[0]))  # Turkish sentences alone
    board = board_of(make_scored("one", data), data=data)
    retrieval, spans, _ = tabs_of(board)
    assert [column.key for column in tab_columns(board, retrieval)] == ["T1", "az"]
    assert [column.key for column in tab_columns(board, spans)] == [SPANS, "tr"]


def test_no_csv_cell_is_a_formula_and_numbers_stay_numbers():
    data = make_data(30)
    hostile = [
        "=HYPERLINK(1)",
        "+1",
        "-1+1",
        "@SUM(A1)",
        "\tx",
        "\rx",
        "\uff1dHYPERLINK(1)",
        "\uff0b1",
        "\uff20SUM(A1)",
    ]
    submissions = [
        make_scored(
            f"m{n}",
            data,
            skill=0.0,
            seed=n,
            name=text,
            training_data=f"{text} data",
            few_shot=n,
            device=text,
            texts_per_second=1.5,
        )
        for n, text in enumerate(hostile)
    ]
    rows = list(csv.DictReader(io.StringIO(to_csv(board_of(*submissions, data=data)), newline="")))
    assert {row["name"] for row in rows} == {f"'{text}" for text in hostile}
    assert {row["training_data"] for row in rows} == {f"'{text} data" for text in hostile}
    assert {row["device"] for row in rows} == {f"'{text}" for text in hostile}
    assert {row["texts_per_second"] for row in rows} == {"1.500000"}
    for row in rows:
        float(row["T1 tur-azj"]), float(row["macro_low"]), int(row["parameters"])
        assert {row["macro_reliable"], row["T1 tur-azj reliable"]} <= {"0", "1"}
        assert not any(str(field).startswith(("=", "+", "@", "\t", "\r", "\uff1d")) for field in row.values())


def test_json_holds_every_score_with_its_n_and_interval():
    data = make_data(30, few={"uz": 12})
    submission = make_scored("one", data)
    told = leaderboard_file(board_of(submission, data=data, reproduced=("one",)))
    assert told["data"]["revision"] == data.revision
    (model,) = told["models"]
    assert model["badges"] == ["recomputed", "reproduced"]
    assert model["metadata"]["training_data"] == submission.metadata.training_data
    assert model["overall"]["rank"] == 1
    assert len(model["subsets"]) == 18
    uzbek = next(one for one in model["subsets"] if (one["task"], one["subset"]) == ("T2", "uzn"))
    score = next(one for one in submission.of_task("T2") if one.subset == "uzn")
    assert (uzbek["n"], uzbek["small_n"]) == (12, True)
    assert uzbek["main"] == pytest.approx(float(np.mean(score.sums[:, 0])), abs=1e-6)
    assert uzbek["low"] < uzbek["main"] < uzbek["high"]


def test_undefined_scores_are_null():
    data = make_data(2, languages=("tr",))
    nothing = [[0, 0, 1], [0, 0, 1]]  # nothing marked: precision is undefined
    submission = scored_of("one", data, {(SPANS, "tr"): nothing})
    (model,) = leaderboard_file(board_of(submission, data=data))["models"]
    assert model["subsets"][0]["scores"]["span_precision"] is None
    assert model["overall"] is None


@pytest.mark.parametrize(
    ("n", "name"),
    [
        (None, "not known"),
        (0, "under 100M"),
        (99_999_999, "under 100M"),
        (100_000_000, "100M to 500M"),
        (10**14, "2B and more"),
    ],
)
def test_size_classes(n, name):
    assert size_class(n) == name


def test_the_hardest_queries_come_with_text_answer_and_rank():
    data = make_data(5, languages=("tr", "az"))
    # ranks 1, 7, 1, 63 and 3: nDCG 1, 1/3, 1, 1/6 and 1/2
    submission = scored_of("one", data, {("T1", "tur-azj"): [1, 1 / 3, 1, 1 / 6, 1 / 2]})
    found = hardest(submission.of_task("T1"), data)
    assert [(one.text, one.answer, one.result) for one in found] == [
        ("Turkish idiom c003", "Azerbaijani idiom c003", f"rank 63 of {POOL}"),
        ("Turkish idiom c001", "Azerbaijani idiom c001", f"rank 7 of {POOL}"),
        ("Turkish idiom c004", "Azerbaijani idiom c004", f"rank 3 of {POOL}"),
    ]
    assert {(one.language, one.answer_language) for one in found} == {("tr", "az")}


def test_the_hardest_sentences_say_what_was_found():
    data = make_data(4, languages=("tr",))
    counts = [[1, 1, 1], [0, 2, 1], [0, 0, 1], [1, 3, 1]]
    submission = scored_of("one", data, {(SPANS, "tr"): counts})
    # F1 1, 0, 0 and 2 * 1 / (3 + 1); of the two zeros the one with more mistakes first
    assert [one.result for one in hardest(submission.of_task(SPANS), data)] == [
        "0 of 1 found, 2 wrong",
        "0 of 1 found",
        "1 of 1 found, 2 wrong",
    ]


def test_values_per_item_are_in_the_order_of_the_items():
    data = make_data(3, languages=("tr", "az"))
    submission = make_scored("one", data, seed=9)
    values = item_values(submission.subsets)
    score = submission.of_task("T2")[1]
    assert values["T2/azj"] == score.sums[:, 0].tolist()
    assert len(values["spans/tr"]) == 6  # numerator and denominator of three sentences
    setup = comparison_json(board_of(submission, data=data))
    assert setup["concepts"] == 3
    assert [subset["key"] for subset in setup["subsets"]] == list(values) == list(concept_sums(submission))
    assert all(subset["concepts"] == [0, 1, 2] for subset in setup["subsets"])
    assert [subset["sizes"] for subset in setup["subsets"]] == [[1, 1, 1]] * 4 + [None] * 2


def test_the_draws_of_the_page_are_those_of_the_resampler():
    """Unpacked here as in the page: a pair in a character, or a mark and a character for each of two larger counts."""
    board = board_of(data=make_data(40, languages=("tr", "az")))
    pairs = comparison_json(board)["pairs"]
    (content,) = (content for name, content in comparison_files(board) if name == DRAWS_FILE)
    rows = json.loads(content.decode().removeprefix("turkicIdiomDraws(").removesuffix(");\n"))
    counts = poisson_counts(concept_names(board.data))
    assert counts.max() >= 8
    for row, expected in zip(rows, counts, strict=True):
        unpacked, place = [], 0
        while place < len(row):
            if row[place] == "~":
                unpacked += [pairs.index(row[place + 1]), pairs.index(row[place + 2])]
                place += 3
            else:
                unpacked += divmod(pairs.index(row[place]), 9)
                place += 1
        assert unpacked == expected.tolist()
    assert any("~" in row for row in rows)


def names_and_notes(data, *named):
    submissions = []
    for number, metadata in enumerate(named):
        submissions.append(make_scored(f"m{number}", data, tasks=("T1",), **metadata))
    return distinctions(submissions)


def test_names_that_look_alike_are_shown_as_different():
    data = make_data(2, languages=("tr", "az"))
    notes = names_and_notes(
        data, {"name": "org/model"}, {"name": "Org/Model"}, {"name": "org/mode1"}, {"name": "org/other"}
    )
    assert notes == {
        "m0": "similar name: Org/Model, org/mode1",
        "m1": "similar name: org/model, org/mode1",
        "m2": "similar name: org/model, Org/Model",
    }
    many = [{"name": f"org/model{'-' * n}x"} for n in range(5)]  # nobody can fill the row of another
    assert names_and_notes(data, *many)["m0"] == "similar name: org/model-x, org/model--x and 2 more"


def test_the_same_name_without_revision_is_shown_as_different():
    data = make_data(2, languages=("tr", "az"))
    assert names_and_notes(data, {"revision": "abcdef" * 6}, {"revision": None}, {"pooling": "cls"}) == {}
    same = {"name": "org/model"}
    assert names_and_notes(data, same | {"revision": "abcdef" * 6}, same | {"revision": None}) == {
        "m0": "revision abcdefab",
        "m1": "no revision stated",
    }
    assert names_and_notes(data, same | {"revision": "abcdefab1"}, same | {"revision": "abcdefab2"}) == {
        "m0": "revision abcdefab1",
        "m1": "revision abcdefab2",
    }
    assert names_and_notes(data, same, same | {"pooling": "cls"}) == {}  # another variant, which is shown anyway


def spec_values(chart):
    return next(iter(chart.spec["datasets"].values())) if "datasets" in chart.spec else chart.spec["data"]["values"]


def test_figures_of_few_shot_submissions():
    data = make_data(40, languages=("tr", "az"))
    submissions = [
        make_scored(f"x-{n}", data, skill=skill, tasks=(SPANS,), name="org/llm", few_shot=n)
        for n, skill in ((0, 0.2), (10, 0.5), (50, 0.9))
    ]
    board = board_of(*submissions, data=data)
    points = spec_values(few_shot_curves(board))
    assert [(one["panel"], one["x"]) for one in points] == [
        (panel, x) for panel in ("Turkish", "Azerbaijani") for x in ("0", "10", "50")
    ]
    gain = submissions[2].of_task(SPANS)[0].main - submissions[0].of_task(SPANS)[0].main
    assert spec_values(few_shot_delta(board))[0]["value"] == pytest.approx(gain)


def test_figures_without_anything_to_show_are_left_out():
    data = make_data(30)
    board = board_of(make_scored("part", data, tasks=("T1",)), data=data)
    assert [make(board) for make in (forest_by_task, score_by_size, few_shot_curves, few_shot_delta)] == [None] * 4


def test_forests_show_models_without_spans_after_those_with_all_tasks():
    data = make_data(30)
    submissions = [
        make_scored("weak", data, skill=0.3),
        make_scored("strong", data, skill=0.9, tasks=("T1", "T2", "T3")),
    ]
    board = board_of(*submissions, data=data)
    weak, strong = forest_by_task(board).groups
    assert (weak.submission, [row.label for row in weak.rows]) == ("weak", ["T1", "T2", "T3", "Spans"])
    assert (strong.submission, len(strong.rows)) == ("strong", 3)
    assert weak.rows[0].score.interval == board.by_task["T1"]["weak"].interval


def test_the_forest_of_a_model_has_every_language_with_its_floor():
    data = make_data(30, languages=("tr", "az"))
    submission = make_scored("one", data, tasks=("T2", SPANS))
    board = board_of(submission, data=data)
    retrieval, spans = forest_of_model(board, submission).groups
    assert [(row.label, row.floor) for row in retrieval.rows] == [("Turkish", FLOOR), ("Azerbaijani", FLOOR)]
    assert [(row.label, row.floor) for row in spans.rows] == [("Turkish", 0), ("Azerbaijani", 0)]
    (group,) = forest_by_language(board, SPANS).groups
    assert [row.score for row in group.rows] == [row.score for row in spans.rows]
    assert spans.rows[0].score.value == submission.of_task(SPANS)[0].main


def test_the_scatter_labels_the_frontier_and_needs_five_sizes():
    data = make_data(30)
    sizes = {"tiny": 10**7, "worse": 2 * 10**7, "better": 10**8, "equal": 10**8, "huge": 10**10}
    skills = {"tiny": 0.3, "worse": 0.1, "better": 0.6, "equal": 0.2, "huge": 0.9}
    submissions = [
        make_scored(name, data, skill=skill, seed=4, n_parameters=sizes[name]) for name, skill in skills.items()
    ]
    assert score_by_size(board_of(*submissions, data=data)) is None  # four different sizes
    more = make_scored("more", data, skill=0.1, seed=5, n_parameters=10**9)
    chart = score_by_size(board_of(*submissions, more, data=data))
    assert [point.submission for point in chart.points if point.is_labelled] == ["tiny", "better", "huge"]
    assert chart.ticks == ((0, "10M"), (1 / 3, "100M"), (2 / 3, "1B"), (1, "10B"))
    places = {point.submission: point.right for point in chart.points}
    assert (places["tiny"], places["better"], places["huge"]) == pytest.approx((0, 1 / 3, 1))
    best = next(point for point in chart.points if point.submission == "huge")
    assert best.up * chart.scores[-1][1] == pytest.approx(best.score.value)


def test_the_throughput_chart_labels_the_frontier_and_keeps_to_one_device():
    data = make_data(30)
    measured = {  # texts per second, and skill
        "fast": (3000.0, 0.3),
        "slower": (900.0, 0.1),
        "better": (100.0, 0.6),
        "equal": (100.0, 0.2),
        "slow": (3.0, 0.9),
    }
    submissions = [make_scored("unmeasured", data, skill=0.95), make_scored("nowhere", data, texts_per_second=5.0)]
    for name, (rate, skill) in measured.items():
        submissions.append(make_scored(name, data, skill=skill, seed=4, texts_per_second=rate, device="H100"))
    for number in range(4):  # fewer than on the other device
        submissions.append(make_scored(f"a{number}", data, texts_per_second=10.0 + number, device="A100"))
    assert score_by_throughput(board_of(*submissions, data=data)) is None  # four different speeds
    submissions.append(make_scored("more", data, skill=0.1, seed=5, texts_per_second=50.0, device="H100"))
    chart = score_by_throughput(board_of(*submissions, data=data))
    assert {point.submission for point in chart.points} == {*measured, "more"}
    assert [point.submission for point in chart.points if point.is_labelled] == ["fast", "better", "slow"]
    assert [tick for _, tick in chart.ticks] == ["1", "10", "100", "1,000", "10,000"]
    places = {point.submission: point.right for point in chart.points}
    assert (places["better"], places["equal"]) == pytest.approx((0.5, 0.5))  # 10^2 between 10^0 and 10^4
    assert "H100" in chart.description
    assert [point.measured for point in chart.points] == ["3,000", "900", "100", "100", "50", "3"]


def test_labels_of_a_figure_tell_submissions_of_one_model_apart():
    data = make_data(30)
    submissions = [
        make_scored("a", data, name="org/same", regime="pretrained"),
        make_scored("b", data, name="org/same", regime="tr-only"),
        make_scored("c", data, name="org/other"),
    ]
    labels = {group.title for group in forest_by_task(board_of(*submissions, data=data)).groups}
    assert labels == {"same (pretrained)", "same (tr-only)", "other"}
