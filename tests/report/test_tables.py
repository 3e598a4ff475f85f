"""The tables from small results whose means are computed by hand and whose p-values are scipy's; on a terminal too."""

import csv
import io
import re
from itertools import product

import numpy as np
import pandas as pd
import pytest
from rich.cells import cell_len
from rich.console import Console
from scipy.stats import rankdata, wilcoxon

from turkic_idiom_tasks.cli.output import new_table, print_blocks, print_experiment
from turkic_idiom_tasks.io.csv_files import csv_text
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.report.frame import QUERY_COLUMNS, score_frame
from turkic_idiom_tasks.report.retrieval_tables import RetrievalScores, retrieval_charts, retrieval_tables
from turkic_idiom_tasks.report.span_tables import span_charts, span_tables
from turkic_idiom_tasks.report.tables import Table, short_names
from turkic_idiom_tasks.results.record import DataName, Header, ModelName, SubsetScores, Training

XLMR, MPNET = "FacebookAI/xlm-roberta-base", "sentence-transformers/paraphrase-multilingual-mpnet-base-v2"
OWN = "my/encoder"
LONG_AND_SHORT = ["some-organisation/an-encoder-with-a-very-long-name-v2", "b/short"]
SOURCES = {"T1": "tur", "T3": "tur"}


def header(model, *, settings, subsets, training=None):
    data = DataName(path="p", revision="0" * 40)
    return Header(data=data, model=ModelName(name=model, revision=None), settings=settings, training=training,
                  versions={}, subsets=subsets)  # fmt: skip


def result(model, regime, pooling, tasks, *, language=None, seed=None, kept_step=10):
    """A finished cell: its header and, for each subset, the nDCG of its queries. `tasks`: task -> subset -> nDCG."""
    training = None
    if regime != "pretrained":
        training = Training(regime=regime, language=language, seed=seed, outcome={"kept_step": kept_step})
    subsets, queries = [], []
    for task, of_task in tasks.items():
        for subset, values in of_task.items():
            floor = 0.1 if subset.endswith("azj") else 0.3
            mean = sum(values) / len(values)
            scores = {"ndcg": mean, "ndcg_floor": floor, "ndcg_corrected": (mean - floor) / (1 - floor)}
            scores |= {"ndcg_strict": mean, "ndcg_strict_floor": floor}
            scores |= dict.fromkeys(("ndcg_at_10", "recall_at_1", "recall_at_5", "recall_at_10"), 0.25)
            scores |= {"mrr": mean / 2, "n_queries": float(len(values)), "n_documents": 400.0}
            subsets.append(SubsetScores(task=task, subset=subset, scores=scores))
            for n, value in enumerate(values):
                query, concept = f"{SOURCES.get(task, subset)}:c{n:03d}", f"c{n:03d}"
                queries.append([model, regime, language, seed, pooling, None, task, subset, query, concept, value])
    return header(model, settings={"pooling": pooling}, subsets=subsets, training=training), queries


def summary_of(results, languages=tuple(LANGUAGES)):
    queries = pd.DataFrame([row for _, rows in results for row in rows], columns=QUERY_COLUMNS)
    return RetrievalScores(score_frame(one for one, _ in results), queries, languages)


def by_hand():
    """XLM-R on T1 and T2 in Turkish, Azerbaijani and Uzbek; `mean` is better than `cls` where both are there."""
    return [
        result(XLMR, "pretrained", "cls", {
            "T1": {"tur-azj": [0.9, 0.1], "tur-uzn": [0.1, 0.3]},
            "T2": {"tur": [0.1, 0.1], "azj": [0.1, 0.1], "uzn": [0.1, 0.1]},
        }),
        result(XLMR, "pretrained", "mean", {
            "T1": {"tur-azj": [0.2, 0.4], "tur-uzn": [0.5, 0.7]},
            "T2": {"tur": [0.1, 0.3], "azj": [0.3, 0.5], "uzn": [0.2, 0.4]},
        }),
        *(result(XLMR, "tr-only", "mean", {"T1": {"tur-azj": azj, "tur-uzn": uzn},
                                           "T2": {"tur": [0.6, 0.8], "azj": [0.0, 0.0], "uzn": [0.0, 0.0]}},
                 seed=seed, kept_step=kept)
          for seed, azj, uzn, kept in ((42, [0.4, 0.6], [0.6, 0.8], 0), (43, [0.6, 0.8], [0.8, 1.0], 5))),
        result(XLMR, "cross-lingual", "mean", {"T1": {"tur-azj": [0.3, 0.3]}}, language="az", seed=42),
        result(XLMR, "cross-lingual", "mean", {"T1": {"tur-uzn": [0.9, 0.9]}}, language="uz", seed=42),
        result(XLMR, "monolingual", "mean", {"T2": {"azj": [0.4, 0.6]}}, language="az", seed=42, kept_step=0),
        result(XLMR, "monolingual", "mean", {"T2": {"uzn": [0.8, 1.0]}}, language="uz", seed=42),
    ]  # fmt: skip


def is_of(one, regime, language=None):
    training = one[0].training
    return training is not None and (training.regime, training.language) == (regime, language)


def rows_of(tables):
    """Table name -> its rows as its CSV has them."""
    return {table.name: list(csv.DictReader(io.StringIO(csv_text(table.frame)))) for table in tables}


def read(results, *languages):
    return rows_of(retrieval_tables(summary_of(results, languages or tuple(LANGUAGES))))


@pytest.fixture(scope="module")
def whole():
    return read(by_hand())


def numbers(row, *columns):
    return [pytest.approx(float(row[column])) for column in columns]


def test_figure_2_averages_queries_then_seeds_then_languages(whole):
    pretrained, tr_only, cross_lingual = whole["figure2_t1"]
    # pretrained, mean: az (.2 + .4) / 2 = .3, uz .6; their mean .45. cls: (.5 + .2) / 2 = .35, which is worse.
    assert (pretrained["regime"], pretrained["pooling"], pretrained["seeds"]) == ("pretrained", "mean", "1")
    assert numbers(pretrained, "nDCG", "floor") == [0.45, 0.2]  # floors .1 and .3
    assert numbers(pretrained, "corrected") == [((0.3 - 0.1) / 0.9 + (0.6 - 0.3) / 0.7) / 2]
    assert (pretrained["difference to pretrained"], pretrained["untuned kept"]) == ("", "")
    assert (pretrained["may be too short"], tr_only["may be too short"]) == ("nDCG", "nDCG, difference")  # 2 concepts
    # tr-only: queries over seeds: az .5, .7, uz .7, .9; languages .6, .8. Each az query gains .3, each uz query .2.
    assert numbers(tr_only, "nDCG", "difference to pretrained") == [0.7, 0.25]
    assert numbers(tr_only, "difference low", "difference high") == [0.25, 0.25]
    assert (tr_only["seeds"], tr_only["queries"], tr_only["untuned kept"]) == ("2", "4", "az 1/2, uz 1/2")
    # cross-lingual: each language from the cell that was trained for it: (.3 + .9) / 2
    assert numbers(cross_lingual, "nDCG", "difference to pretrained") == [0.6, 0.15]


def test_table_5_takes_turkish_from_the_tr_only_cell(whole):
    (row,) = whole["table5_t2"]
    # pretrained, mean: tr .2, az .4, uz .3. Monolingual: tr .7 (tr-only), az .5 and uz .9 (their own cells): .7.
    assert numbers(row, "pretrained", "monolingual", "difference") == [0.3, 0.7, 0.4]
    assert numbers(row, "low", "high") == [0.4, 0.4]  # tr .5, az .1, uz .6, the same for every query
    assert (row["pretrained pooling"], row["monolingual pooling"], row["queries"]) == ("mean", "mean", "6")
    assert row["untuned kept"] == "tr 1/2, az"
    note = next(table.note for table in retrieval_tables(summary_of(by_hand())) if table.name == "table5_t2")
    assert "Fewer than 30 queries, whose mean says little: tr, az, uz." in note
    assert "optimistic" in note


def test_the_papers_figures_stand_beside_means_over_its_languages_and_no_others(whole):
    own, foreign = ("tur", "azj", "tuk", "gag", "uzn"), ("tur-azj", "tur-tuk", "tur-gag", "tur-uzn")
    scores = {"T1": {key: [0.5] for key in foreign}, "T2": {key: [0.5] for key in own}}
    results = [result(XLMR, "pretrained", pooling, scores) for pooling in ("mean", "cls")]
    tables = read([*results, result(OWN, "pretrained", "mean", scores)])
    assert [row["paper nDCG"] for row in tables["figure2_t1"]] == ["0.346", ""]
    row, _ = tables["table5_t2"]
    assert (row["paper pretrained"], row["paper monolingual"], row["paper difference"]) == ("0.16", "0.22", "0.07")
    assert (row["paper pretrained pooling"], row["paper monolingual pooling"]) == ("mean", "first_last")
    stated = {row["pooling"]: row["paper p"] for row in tables["table6_t2_p"] if row["model"] == XLMR}
    assert stated == {"mean": "0.0682", "cls": "0.964"}
    assert {row["paper nDCG"] for row in whole["figure2_t1"]} == {""}  # of fewer languages
    assert {row["paper pretrained"] for row in whole["table5_t2"]} == {""}


def test_a_mean_is_over_the_languages_that_are_asked_for_and_needs_all_of_them():
    (row,) = (row for row in read(by_hand(), "uz")["figure2_t1"] if row["regime"] == "pretrained")
    assert numbers(row, "nDCG") == [0.6]  # uz (.5 + .7) / 2 under mean
    records = [r for r in by_hand() if not is_of(r, "cross-lingual", "uz")]
    tables = read(records)
    assert [row["nDCG"] != "" for row in tables["figure2_t1"]] == [True, True, False]
    assert tables["figure3_t3"] == []  # nothing is known of T3
    untuned = read([r for r in records if r[0].training is None])
    assert [row["regime"] for row in untuned["figure2_t1"]] == ["pretrained"]
    (row,) = read([r for r in by_hand() if not is_of(r, "tr-only")])["table5_t2"]  # no Turkish
    assert (row["pretrained"] != "", row["monolingual"], row["difference"]) == (True, "", "")
    assert (row["queries"], row["seeds"]) == ("6", "")


def test_poolings_have_everything(whole):
    rows = {(r["task"], r["regime"], r["pooling"]): r for r in whole["poolings"]}
    assert numbers(rows["T1", "pretrained", "cls"], "ndcg", "mrr", "recall_at_1") == [0.35, 0.175, 0.25]
    assert rows["T1", "tr-only", "cls"]["ndcg"] == ""
    assert ("T2", "cross-lingual", "mean") not in rows  # there is no such training for Turkish


def tied(generator, n, *, gain):
    """nDCG before and after training, rounded so that many queries tie."""
    before = generator.integers(1, 9, n) / 10
    return before, np.clip(before + generator.integers(-1, 2, n) / 10 + (generator.random(n) < gain) / 10, 0, 1)


def test_table_6_is_scipys_over_the_queries_of_all_languages():
    """Two poolings of T2 in Turkish and Azerbaijani: `mean` gains, `cls` hardly does."""
    generator = np.random.default_rng(11)
    records, differences = [], {}
    for pooling, gain in (("cls", 0.1), ("mean", 0.6)):
        pairs = {"tur": tied(generator, 50, gain=gain), "azj": tied(generator, 40, gain=gain)}
        before, after = ({subset: values[number].tolist() for subset, values in pairs.items()} for number in (0, 1))
        records += [
            result(XLMR, "pretrained", pooling, {"T2": before}),
            result(XLMR, "tr-only", pooling, {"T2": {"tur": after["tur"]}}),
            result(XLMR, "monolingual", pooling, {"T2": {"azj": after["azj"]}}, language="az", seed=42),
        ]
        differences[pooling] = np.concatenate([after - before for before, after in pairs.values()]).round(9)
    rows = {row["pooling"]: row for row in read(records)["table6_t2_p"]}
    for method in ("wilcox", "pratt"):
        p = {pooling: wilcoxon(d, zero_method=method).pvalue for pooling, d in differences.items()}
        low, high = sorted(p, key=p.get)  # Holm: the smallest of two times two, the other as it is, or the first one's
        expected = {low: 2 * p[low], high: max(p[high], 2 * p[low])}
        for pooling, row in rows.items():
            assert float(row[f"p {method}"]) == pytest.approx(p[pooling], rel=1e-9)
            assert float(row[f"Holm {method}"]) == pytest.approx(expected[pooling], rel=1e-9)
    for pooling, d in differences.items():
        row = rows[pooling]
        assert [int(row[name]) for name in ("wins", "ties", "losses")] == [(d > 0).sum(), (d == 0).sum(), (d < 0).sum()]
        ranks = rankdata(abs(d[d != 0]))
        assert float(row["effect"]) == pytest.approx((ranks * np.sign(d[d != 0])).sum() / ranks.sum())
        # c000 … c049 in Turkish, the first forty in Azerbaijani too
        assert (row["queries"], row["concepts"]) == ("90", "50")
    assert float(rows["mean"]["effect"]) > 0.5
    assert float(rows["mean"]["p by concept"]) < 0.001 < float(rows["cls"]["p by concept"])


def test_no_test_on_few_queries(whole):
    row = next(row for row in whole["table6_t2_p"] if row["pooling"] == "mean")
    assert (row["p wilcox"], row["p pratt"], row["Holm pratt"], row["p by concept"]) == ("", "", "", "")
    assert (row["queries"], row["wins"], row["losses"]) == ("6", "6", "0")


def test_the_order_of_the_results_changes_nothing(whole):
    assert read(by_hand()[::-1]) == whole


def test_models_stand_as_in_the_paper_then_others():
    scores = {"T2": {"tur": [0.1, 0.3], "azj": [0.3, 0.5]}}
    results = [result(model, "pretrained", "mean", scores) for model in (OWN, MPNET, XLMR)]
    assert [row["model"] for row in read(results)["table5_t2"]] == [XLMR, MPNET, OWN]


def test_charts_show_the_best_model_first_and_leave_gaps_empty():
    own = result(OWN, "pretrained", "max", {"T1": {"tur-azj": [0.8, 1.0], "tur-uzn": [0.9, 0.9]}})
    charts = retrieval_charts(summary_of([*by_hand(), own]))
    assert list(charts) == ["figure2_t1", "table5_t2"]  # nothing is known of T3
    bars = charts["figure2_t1"].spec["data"]["values"]
    regimes = ("pretrained", "tr-only", "cross-lingual")
    assert [(b["group"], b["series"]) for b in bars] == list(product(("encoder", "xlm-roberta-base"), regimes))
    assert [b["value"] for b in bars] == [
        pytest.approx(0.9), None, None, pytest.approx(0.45), pytest.approx(0.7), pytest.approx(0.6),
    ]  # fmt: skip
    assert bars[3]["low"] <= 0.45 <= bars[3]["high"]
    assert "random ranking scores 0.200" in charts["figure2_t1"].description
    assert charts["figure2_t1"].svg().startswith("<svg")


def span(model, language, size, seed, f1):
    """A finished span cell; Turkish was trained on first."""
    scores = {"subword_precision": 0.1, "subword_recall": 0.2, "subword_f1": f1, "subword_accuracy": 0.9}
    scores |= {"token_f1": 0.3, "span_f1": f1 / 2, "n_sentences": 8.0}
    training = Training(regime="from-tr", language="tr", seed=seed, size=size, outcome={"best_epoch": 1})
    return header(model, settings={}, subsets=[SubsetScores(task="spans", subset=language, scores=scores)],
                  training=training)  # fmt: skip


def test_span_tables_average_seeds_and_stand_beside_the_paper():
    headers = [
        span(XLMR, "tr", "all", 1, 0.6), span(XLMR, "tr", "all", 2, 0.8),
        span(XLMR, "az", 0, 1, 0.2), span(XLMR, "az", 0, 2, 0.4),
        span(XLMR, "az", 10, 1, 0.5), span(XLMR, "az", 10, 2, 0.7),
        span(XLMR, "az", "all", 1, 0.9), span(XLMR, "az", "all", 2, 0.1),
    ]  # fmt: skip
    rows = rows_of(span_tables(score_frame(headers)))
    assert list(rows) == ["table2_source", "table3_zero_shot", "table4_few_shot", "learning_curves"]
    (turkish,) = rows["table2_source"]
    assert float(turkish["F1"]) == pytest.approx(0.7)  # (.6 + .8) / 2
    assert float(turkish["sd over seeds"]) == pytest.approx(0.1 / 2**0.5)  # of span F1 .3 and .4
    assert (turkish["seeds"], turkish["n"], turkish["paper F1"]) == ("2", "8", "0.758")  # the paper's Table 2
    zero = {row["score"]: row["az"] for row in rows["table3_zero_shot"]}
    assert (float(zero["subword_f1"]), zero["paper"], zero["n"]) == (pytest.approx(0.3), "0.69", "8")
    few = {row["score"]: row["az"] for row in rows["table4_few_shot"]}
    assert float(few["subword_f1"]) == pytest.approx(0.6)  # 10 sentences: (.5 + .7) / 2; all: (.9 + .1) / 2
    assert few["paper"] == "0.79"
    assert [row["training sentences"] for row in rows["learning_curves"]] == ["0", "10", "all"]


def test_figures_of_the_span_grid():
    records = [
        span(OWN, "az", 0, 1, 0.1),
        span(XLMR, "tr", "all", 1, 0.9),
        span(XLMR, "az", "all", 1, 0.5), span(XLMR, "az", 10, 1, 0.5), span(XLMR, "az", 10, 2, 0.7),
        span(XLMR, "az", 0, 1, 0.2), span(XLMR, "az", 0, 2, 0.4),
        span(XLMR, "uz", 0, 1, 0.6), span(XLMR, "uz", "all", 1, 0.5),
    ]  # fmt: skip
    charts = span_charts(score_frame(records))
    gains = {(c["row"], c["column"]): c["value"] for c in charts["figure1_few_shot_gain"].spec["data"]["values"]}
    assert list(gains.items()) == [  # in the order of the results
        (("encoder", "Azerbaijani"), None),
        (("encoder", "Uzbek"), None),
        (("xlm-roberta-base", "Azerbaijani"), pytest.approx(0.3)),  # 10 sentences: .6, better than all: .5; before: .3
        (("xlm-roberta-base", "Uzbek"), pytest.approx(-0.1)),
    ]
    points = charts["figure4_learning_curves"].spec["data"]["values"]
    curve = [(p["x"], p["value"]) for p in points if (p["panel"], p["series"]) == ("Azerbaijani", "xlm-roberta-base")]
    assert curve == [("0", pytest.approx(0.3)), ("10", pytest.approx(0.6)), ("all", pytest.approx(0.5))]
    # without adaptation to another language there is nothing to draw
    assert span_charts(score_frame([span(XLMR, "tr", "all", 1, 0.9), span(XLMR, "az", 0, 1, 0.2)])) == {}


def test_names_are_short_where_they_stay_apart():
    assert short_names([XLMR, "a/same", "b/same", "./local/"]) == {
        XLMR: "xlm-roberta-base", "a/same": "a/same", "b/same": "b/same", "./local/": "local",
    }  # fmt: skip


def test_markdown_shows_three_places_and_marks_what_is_missing():
    frame = pd.DataFrame({"a": [0.12345, "x"], "p": [0.0000123, 0.0123], "b": pd.array([None, 7], dtype="Int64")})
    table = Table("t", "Title", frame, "Note.", p_values=("p",))
    heading, note, *rows = [line for line in table.to_markdown().splitlines() if line]
    assert (heading, note) == ("## Title", "Note.")
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert cells[0] == ["a", "p", "b"]
    assert cells[2:] == [["0.123", "1.2e-05", "–"], ["x", "0.012", "7"]]
    assert csv_text(table.frame) == "a,p,b\n0.12345,1.23e-05,\nx,0.0123,7\n"


@pytest.mark.parametrize("width", [60, 80, 300])
def test_a_wide_table_fits_and_is_complete(capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    frame = pd.DataFrame({"model": LONG_AND_SHORT, "regime": ["cross-lingual", "tr-only"], "nDCG": [0.25, 0.5]})
    for number in range(14):
        frame[f"difference to number {number}"] = [number + 0.125, number + 0.25]
    frame["seeds"] = pd.array([3, None], dtype="Int64")
    frame["untuned kept"] = ["az 1/3, tk", "none"]
    note = "How to read it. " * 20
    long_table = Table("long", "Not shown", frame, is_long=True)
    print_experiment([Table("t", "A title", frame, note), long_table])
    printed = capsys.readouterr().out
    assert "Not shown" not in printed
    assert max(cell_len(line) for line in printed.splitlines()) <= width
    figures = re.findall(r"\d+\.\d{3}", printed)
    expected = [0.25, 0.5] + [number + part for number in range(14) for part in (0.125, 0.25)]
    assert sorted(map(float, figures)) == sorted(expected)
    folded = re.sub(r"\s+", "", "".join(line[:24] for line in printed.splitlines()))
    assert LONG_AND_SHORT[0] in folded  # the columns of names are folded, and nothing is cut
    n_blocks = printed.count("b/short")
    assert n_blocks == printed.count("tr-only") == printed.count("model")
    assert (n_blocks == 1) == (width == 300)
    assert " ".join(note.split()) in " ".join(printed.split())


@pytest.mark.parametrize(("width", "n_blocks"), [(40, 4), (80, 2), (200, 1)])
def test_columns_without_room_follow_in_further_blocks(width, n_blocks):
    subsets = [f"tur-{number:03}" for number in range(8)]
    table = new_table("TurkicIdiomT1", subsets)
    table.add_row("queries", *map(str, range(100, 108)))
    table.add_row("organisation/\na-model", *(f"0.{number}\n.100-.{number}" for number in range(200, 208)))
    out = io.StringIO()
    print_blocks(Console(file=out, width=width), table)
    lines = out.getvalue().splitlines()
    assert max(map(cell_len, lines)) <= width
    assert sum("a-model" in line for line in lines) == sum("queries" in line for line in lines) == n_blocks
    assert re.findall(r"tur-\d+", out.getvalue()) == subsets
    assert re.findall(r"\.100-\.(\d+)", out.getvalue()) == [str(number) for number in range(200, 208)]
