import csv
import io
import math

import numpy as np
import pytest

from leaderboard.details import comparison_json, hardest, item_values
from leaderboard.figures import bars_by_task, few_shot_curves, few_shot_delta, score_by_size
from leaderboard.overview import make_board
from leaderboard.records import SPANS, Record
from leaderboard.tables import overview_rows, size_class, task_rows, to_csv, to_json
from tests.leaderboard.records_for_tests import (
    FLOOR,
    POOL,
    make_data,
    make_metadata,
    make_record,
    retrieval_score,
    span_score,
)


def board_of(*records, data, **options):
    return make_board(records, data, **options)


def test_language_cells_are_the_mean_over_tasks_of_that_language():
    data = make_data(2, languages=("tr", "az"))
    half = [1, FLOOR]  # corrected mean 0.5
    values = {
        ("T1", "tur-azj"): [1, 1],
        ("T2", "tur"): half,
        ("T2", "azj"): [FLOOR, FLOOR],
        ("T3", "tur-azj"): half,
    }
    scores = [retrieval_score(one, np.array(values[one.task, one.name], float)) for one in data.subsets[:4]]
    counts = {"tr": [[1, 1, 1], [1, 1, 1]], "az": [[0, 0, 1], [1, 1, 1]]}
    scores += [span_score(one, np.array(counts[one.name], float)) for one in data.of_task(SPANS)]
    (row,) = overview_rows(board_of(Record("one", make_metadata(), tuple(scores)), data=data))
    turkish, azerbaijani = row.cells[-2:]
    assert turkish.value == pytest.approx((0.5 + 1) / 2)
    # spans: 2 * 1 / (1 + 2) = 2/3
    assert azerbaijani.value == pytest.approx((1 + 0 + 0.5 + 2 / 3) / 4)
    assert turkish.small
    assert row.lacks == ()


@pytest.mark.parametrize(("n", "small"), [(29, True), (30, False)])
def test_fewer_than_thirty_items_are_marked(n, small):
    data = make_data(40, few={"gag": n})
    (row,) = task_rows(board_of(make_record("one", data), data=data), "T2")
    assert {cell.language: cell.small for cell in row.cells[1:]} == {
        code: small if code == "gag" else False for code in data.languages
    }


def test_submissions_without_a_rank_stand_below_with_what_they_have():
    data = make_data(30)
    board = board_of(make_record("a-part", data, tasks=("T1",), skill=0.9), make_record("whole", data), data=data)
    whole, part = overview_rows(board)
    assert (whole.record.id, part.record.id) == ("whole", "a-part")
    assert part.standing is None
    assert part.lacks == ("T2", "T3", "Spans")
    assert [cell.missing for cell in part.cells[:6]] == [True, True, False, True, True, True]
    assert all(cell.missing for cell in part.cells[6:])


def test_below_the_ranked_stand_models_with_all_retrieval_tasks_by_their_mean():
    data = make_data(30)
    retrieval = ("T1", "T2", "T3")
    records = [
        make_record("a-span", data, tasks=(SPANS,), skill=0.9),
        make_record("b-weak", data, tasks=retrieval, skill=0.1),
        make_record("c-strong", data, tasks=retrieval, skill=0.6),
        make_record("d-whole", data, skill=0.2),
    ]
    rows = overview_rows(board_of(*records, data=data))
    assert [row.record.id for row in rows] == ["d-whole", "c-strong", "b-weak", "a-span"]
    assert rows[1].cells[1].value == pytest.approx(sum(cell.value for cell in rows[1].cells[2:5]) / 3)


def test_no_csv_cell_is_a_formula_and_numbers_stay_numbers():
    data = make_data(30)
    hostile = ["=HYPERLINK(1)", "+1", "-1+1", "@SUM(A1)", "\tx", "\rx"]
    records = [
        make_record(f"m{n}", data, skill=0.0, seed=n, name=text, training_data=f"{text} data", few_shot=n)
        for n, text in enumerate(hostile)
    ]
    rows = list(csv.DictReader(io.StringIO(to_csv(board_of(*records, data=data)), newline="")))
    assert {row["name"] for row in rows} == {f"'{text}" for text in hostile}
    assert {row["training_data"] for row in rows} == {f"'{text} data" for text in hostile}
    for row in rows:
        float(row["T1 tur-azj"]), float(row["macro_low"]), int(row["parameters"])
        assert not any(str(cell).startswith(("=", "+", "@", "\t", "\r")) for cell in row.values())


def test_json_holds_every_score_with_its_n_and_interval():
    data = make_data(30, few={"uz": 12})
    record = make_record("one", data)
    told = to_json(board_of(record, data=data, reproduced=("one",)))
    assert told["data"]["revision"] == data.revision
    (model,) = told["models"]
    assert model["badges"] == ["recomputed", "reproduced"]
    assert model["metadata"]["training_data"] == record.metadata.training_data
    assert model["overall"]["rank"] == 1
    assert len(model["subsets"]) == 18
    uzbek = next(one for one in model["subsets"] if (one["task"], one["subset"]) == ("T2", "uzn"))
    score = next(one for one in record.of_task("T2") if one.subset == "uzn")
    assert (uzbek["n"], uzbek["small_n"]) == (12, True)
    assert uzbek["main"] == pytest.approx(float(np.mean(score.values)), abs=1e-6)
    assert uzbek["low"] < uzbek["main"] < uzbek["high"]


def test_undefined_scores_are_null():
    data = make_data(2, languages=("tr",))
    nothing = np.array([[0, 0, 1], [0, 0, 1]], float)  # nothing marked: precision is undefined
    record = Record("one", make_metadata(), (span_score(data.of_task(SPANS)[0], nothing),))
    (model,) = to_json(board_of(record, data=data))["models"]
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
    ndcg = np.array([1, 1 / 3, 1, 1 / 6, 1 / 2])
    record = Record("one", make_metadata(), (retrieval_score(data.of_task("T1")[0], ndcg),))
    found = hardest(record, data, "T1")
    assert [(one.text, one.answer, one.result) for one in found] == [
        ("Turkish idiom c003", "Azerbaijani idiom c003", f"rank 63 of {POOL}"),
        ("Turkish idiom c001", "Azerbaijani idiom c001", f"rank 7 of {POOL}"),
        ("Turkish idiom c004", "Azerbaijani idiom c004", f"rank 3 of {POOL}"),
    ]
    assert {(one.language, one.answer_language) for one in found} == {("tr", "az")}


def test_the_hardest_sentences_say_what_was_found():
    data = make_data(4, languages=("tr",))
    counts = np.array([[1, 1, 1], [0, 2, 1], [0, 0, 1], [1, 3, 2]], float)
    record = Record("one", make_metadata(), (span_score(data.of_task(SPANS)[0], counts),))
    # F1 1, 0, 0 and 2/5; of the two zeros the one with more mistakes first
    assert [one.result for one in hardest(record, data, SPANS)] == [
        "0 of 1 found, 2 wrong",
        "0 of 1 found",
        "1 of 2 found, 2 wrong",
    ]


def test_values_per_item_are_in_the_order_of_the_items():
    data = make_data(3, languages=("tr", "az"))
    record = make_record("one", data, seed=9)
    values = item_values(record)
    score = record.of_task("T2")[1]
    assert values["T2/azj"] == pytest.approx(score.values[:, 0].tolist(), abs=1e-6)
    assert len(values["spans/tr"]) == 9
    told = comparison_json((record,), data)
    assert (told["concepts"], told["whole"]) == (3, 6)
    assert [one["key"] for one in told["subsets"]] == list(values)
    assert all(one["concepts"] == [0, 1, 2] for one in told["subsets"])


def spec_values(chart):
    return next(iter(chart.spec["datasets"].values())) if "datasets" in chart.spec else chart.spec["data"]["values"]


def test_figures_of_few_shot_submissions():
    data = make_data(40, languages=("tr", "az"))
    records = [
        make_record(f"x-{n}", data, skill=skill, tasks=(SPANS,), name="org/llm", few_shot=n)
        for n, skill in ((0, 0.2), (10, 0.5), (50, 0.9))
    ]
    board = board_of(*records, data=data)
    points = spec_values(few_shot_curves(board))
    assert [(one["panel"], one["x"]) for one in points] == [
        (panel, x) for panel in ("Turkish", "Azerbaijani") for x in ("0", "10", "50")
    ]
    gain = records[2].of_task(SPANS)[0].main - records[0].of_task(SPANS)[0].main
    assert spec_values(few_shot_delta(board))[0]["value"] == pytest.approx(gain)


def test_figures_without_anything_to_show_are_left_out():
    data = make_data(30)
    board = board_of(make_record("part", data, tasks=("T1",)), data=data)
    assert [make(board) for make in (bars_by_task, score_by_size, few_shot_curves, few_shot_delta)] == [None] * 4


def test_figures_show_models_without_spans_after_those_with_all_tasks():
    data = make_data(30)
    records = [make_record("weak", data, skill=0.3), make_record("strong", data, skill=0.9, tasks=("T1", "T2", "T3"))]
    board = board_of(*records, data=data)
    bars = spec_values(bars_by_task(board))
    assert [len([one for one in bars if one["group"].startswith(name)]) for name in ("weak", "strong")] == [4, 3]
    assert len(spec_values(score_by_size(board))) == 2


def test_labels_of_a_figure_tell_submissions_of_one_model_apart():
    data = make_data(30)
    records = [
        make_record("a", data, name="org/same", regime="pretrained"),
        make_record("b", data, name="org/same", regime="tr-only"),
        make_record("c", data, name="org/other"),
    ]
    labels = {one["group"] for one in spec_values(bars_by_task(board_of(*records, data=data)))}
    assert labels == {"same (pretrained)", "same (tr-only)", "other"}
    assert not any(math.isnan(one["value"]) for one in spec_values(bars_by_task(board_of(*records, data=data))))
