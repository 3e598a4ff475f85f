"""The retrieval tables from small records whose means are computed by hand and whose p-values are scipy's."""

import csv
import io
import random

import numpy as np
import pytest
from scipy.stats import rankdata, wilcoxon

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.experiments.retrieval_tables import retrieval_charts, retrieval_tables
from turkic_idiom_tasks.experiments.span_charts import span_charts
from turkic_idiom_tasks.experiments.tables import Table, short_names

XLMR, MPNET = "FacebookAI/xlm-roberta-base", "sentence-transformers/paraphrase-multilingual-mpnet-base-v2"
OWN = "my/encoder"
SOURCES = {"T1": "tur", "T3": "tur"}


def record(model, regime, poolings, *, language=None, seed=None, kept_step=10, revision="r1"):
    """A finished cell. `poolings`: name -> task -> subset -> nDCG of its queries."""
    parts = {}
    for pooling, tasks in poolings.items():
        tuning = None if regime == "pretrained" else {"kept_step": kept_step}
        part = parts[pooling] = {"tuning": tuning, "scores": {}, "per_query": {}}
        for task, subsets in tasks.items():
            for subset, values in subsets.items():
                floor = 0.1 if subset.endswith("azj") else 0.3
                queries = {f"{SOURCES.get(task, subset)}:c{n:03d}": value for n, value in enumerate(values)}
                mean = sum(values) / len(values)
                scores = {"ndcg": mean, "ndcg_floor": floor, "ndcg_corrected": (mean - floor) / (1 - floor)}
                scores |= dict.fromkeys(("ndcg_at_10", "recall_at_1", "recall_at_5", "recall_at_10"), 0.25)
                scores |= {"mrr": mean / 2, "n_queries": float(len(values)), "n_documents": 400.0}
                part["scores"].setdefault(task, {})[subset] = scores
                part["per_query"].setdefault(task, {})[subset] = queries
    return {
        "format": 1, "kind": "retrieval", "model": model, "regime": regime, "language": language, "seed": seed,
        "data": {"path": "p", "revision": revision}, "poolings": parts, "seconds": 1.0,
    }  # fmt: skip


def by_hand():
    """XLM-R on T1 and T2 in Turkish, Azerbaijani and Uzbek; `mean` is better than `cls` where both are there."""
    return [
        record(XLMR, "pretrained", {
            "cls": {"T1": {"tur-azj": [0.9, 0.1], "tur-uzn": [0.1, 0.3]},
                    "T2": {"tur": [0.1, 0.1], "azj": [0.1, 0.1], "uzn": [0.1, 0.1]}},
            "mean": {"T1": {"tur-azj": [0.2, 0.4], "tur-uzn": [0.5, 0.7]},
                     "T2": {"tur": [0.1, 0.3], "azj": [0.3, 0.5], "uzn": [0.2, 0.4]}},
        }),
        *(record(XLMR, "tr-only", {"mean": {"T1": {"tur-azj": azj, "tur-uzn": uzn},
                                            "T2": {"tur": [0.6, 0.8], "azj": [0.0, 0.0], "uzn": [0.0, 0.0]}}},
                 seed=seed, kept_step=kept)
          for seed, azj, uzn, kept in ((42, [0.4, 0.6], [0.6, 0.8], 0), (43, [0.6, 0.8], [0.8, 1.0], 5))),
        record(XLMR, "cross-lingual", {"mean": {"T1": {"tur-azj": [0.3, 0.3]}}}, language="az", seed=42),
        record(XLMR, "cross-lingual", {"mean": {"T1": {"tur-uzn": [0.9, 0.9]}}}, language="uz", seed=42),
        record(XLMR, "monolingual", {"mean": {"T2": {"azj": [0.4, 0.6]}}}, language="az", seed=42, kept_step=0),
        record(XLMR, "monolingual", {"mean": {"T2": {"uzn": [0.8, 1.0]}}}, language="uz", seed=42),
    ]  # fmt: skip


def rows_of(tables, name):
    """The rows of a table as its CSV has them."""
    return next(list(csv.DictReader(io.StringIO(table.to_csv()))) for table in tables if table.name == name)


def read(records):
    """Table name -> its rows."""
    tables = retrieval_tables(records)
    return {table.name: rows_of(tables, table.name) for table in tables}


def numbers(row, *columns):
    return [pytest.approx(float(row[column])) for column in columns]


def test_figure_2_averages_queries_then_seeds_then_languages():
    pretrained, tr_only, cross_lingual = read(by_hand())["figure2_t1"]
    # pretrained, mean: az (.2 + .4) / 2 = .3, uz .6; their mean .45. cls: (.5 + .2) / 2 = .35, which is worse.
    assert (pretrained["regime"], pretrained["pooling"], pretrained["seeds"]) == ("pretrained", "mean", "1")
    assert numbers(pretrained, "nDCG", "floor") == [0.45, 0.2]  # floors .1 and .3
    assert numbers(pretrained, "corrected") == [((0.3 - 0.1) / 0.9 + (0.6 - 0.3) / 0.7) / 2]
    assert (pretrained["difference to pretrained"], pretrained["untuned kept"]) == ("", "")
    # tr-only: queries over seeds: az .5, .7, uz .7, .9; languages .6, .8. Each az query gains .3, each uz query .2.
    assert numbers(tr_only, "nDCG", "difference to pretrained") == [0.7, 0.25]
    assert numbers(tr_only, "difference low", "difference high") == [0.25, 0.25]
    assert (tr_only["seeds"], tr_only["queries"], tr_only["untuned kept"]) == ("2", "4", "az 1/2, uz 1/2")
    # cross-lingual: each language from the cell that was trained for it: (.3 + .9) / 2
    assert numbers(cross_lingual, "nDCG", "difference to pretrained") == [0.6, 0.15]


def test_table_5_takes_turkish_from_the_tr_only_cell():
    (row,) = read(by_hand())["table5_t2"]
    # pretrained, mean: tr .2, az .4, uz .3. Monolingual: tr .7 (tr-only), az .5 and uz .9 (their own cells): .7.
    assert numbers(row, "pretrained", "monolingual", "difference") == [0.3, 0.7, 0.4]
    assert numbers(row, "low", "high") == [0.4, 0.4]  # tr .5, az .1, uz .6, the same for every query
    assert (row["pretrained pooling"], row["monolingual pooling"], row["queries"]) == ("mean", "mean", "6")
    assert row["untuned kept"] == "tr 1/2, az"


def test_the_papers_figures_stand_beside_means_over_its_languages_and_no_others():
    own, foreign = ("tur", "azj", "tuk", "gag", "uzn"), ("tur-azj", "tur-tuk", "tur-gag", "tur-uzn")
    scores = {"T1": {key: [0.5] for key in foreign}, "T2": {key: [0.5] for key in own}}
    tables = read(
        [record(XLMR, "pretrained", {"mean": scores, "cls": scores}), record(OWN, "pretrained", {"mean": scores})]
    )
    assert [row["paper nDCG"] for row in tables["figure2_t1"]] == ["0.346", ""]
    row, _ = tables["table5_t2"]
    assert (row["paper pretrained"], row["paper monolingual"], row["paper difference"]) == ("0.16", "0.22", "0.07")
    assert (row["paper pretrained pooling"], row["paper monolingual pooling"]) == ("mean", "first_last")
    stated = {row["pooling"]: row["paper p"] for row in tables["table6_t2_p"] if row["model"] == XLMR}
    assert stated == {"mean": "0.0682", "cls": "0.964"}
    fewer = read(by_hand())
    assert {row["paper nDCG"] for row in fewer["figure2_t1"]} == {""}
    assert {row["paper pretrained"] for row in fewer["table5_t2"]} == {""}


def test_means_are_over_the_languages_that_are_asked_for():
    (row,) = (
        row for row in rows_of(retrieval_tables(by_hand(), {"uz"}), "figure2_t1") if row["regime"] == "pretrained"
    )
    assert numbers(row, "nDCG") == [0.6]  # uz (.5 + .7) / 2 under mean


def test_a_mean_needs_all_its_languages():
    records = [r for r in by_hand() if (r["regime"], r["language"]) != ("cross-lingual", "uz")]
    rows = read(records)["figure2_t1"]
    assert [row["nDCG"] != "" for row in rows] == [True, True, False]
    shown = next(table for table in retrieval_tables(records) if table.name == "figure2_t1").to_markdown()
    assert "| cross-lingual | – | – |" in shown
    records = [r for r in by_hand() if r["regime"] != "tr-only"]  # no Turkish
    (row,) = read(records)["table5_t2"]
    assert (row["pretrained"] != "", row["monolingual"], row["difference"]) == (True, "", "")
    assert (row["queries"], row["seeds"]) == ("6", "")


def test_a_regime_that_was_not_run_has_no_rows_and_a_task_that_the_data_has_not_no_table():
    tables = read([r for r in by_hand() if r["regime"] != "cross-lingual"])
    assert [row["regime"] for row in tables["figure2_t1"]] == ["pretrained", "tr-only"]
    assert tables["figure3_t3"] == []


def test_few_queries_are_pointed_at():
    note = next(table.note for table in retrieval_tables(by_hand()) if table.name == "table5_t2")
    assert "Fewer than 30 queries, whose mean says little: tr, az, uz." in note
    assert "optimistic" in note


def test_poolings_and_cells_have_everything():
    tables = read(by_hand())
    rows = {(r["task"], r["regime"], r["pooling"]): r for r in tables["poolings"]}
    assert numbers(rows["T1", "pretrained", "cls"], "ndcg", "mrr", "recall_at_1") == [0.35, 0.175, 0.25]
    assert rows["T1", "tr-only", "cls"]["ndcg"] == ""
    assert ("T2", "cross-lingual", "mean") not in rows  # there is no such training for Turkish
    cells = tables["retrieval_cells"]
    assert len(cells) == 2 * 5 + 2 * 5 + 2 + 2
    kept = {(r["regime"], r["language"], r["seed"]): r["untuned kept"] for r in cells}
    assert kept["pretrained", "", ""] == ""
    assert (kept["tr-only", "", "42"], kept["tr-only", "", "43"]) == ("yes", "no")


def tied(generator, n, *, gain):
    """nDCG before and after training, rounded so that many queries tie."""
    before = generator.integers(1, 9, n) / 10
    return before, np.clip(before + generator.integers(-1, 2, n) / 10 + (generator.random(n) < gain) / 10, 0, 1)


@pytest.fixture(scope="module")
def significant():
    """Two poolings of T2 in Turkish and Azerbaijani: `mean` gains, `cls` hardly does. The pairs, and the table."""
    generator = np.random.default_rng(11)
    pairs = {
        "cls": {"tur": tied(generator, 50, gain=0.1), "azj": tied(generator, 40, gain=0.1)},
        "mean": {"tur": tied(generator, 50, gain=0.6), "azj": tied(generator, 40, gain=0.6)},
    }

    def side(number, subsets):
        return {p: {"T2": {s: of[s][number].tolist() for s in subsets}} for p, of in pairs.items()}

    records = [
        record(XLMR, "pretrained", side(0, ("tur", "azj"))),
        record(XLMR, "tr-only", side(1, ("tur",))),
        record(XLMR, "monolingual", side(1, ("azj",)), language="az", seed=42),
    ]
    table = next(table for table in retrieval_tables(records) if table.name == "table6_t2_p")
    rows = {row["pooling"]: row for row in csv.DictReader(io.StringIO(table.to_csv()))}
    differences = {p: np.concatenate([after - before for before, after in of.values()]).round(9)
                   for p, of in pairs.items()}  # fmt: skip
    return differences, rows, table


@pytest.mark.parametrize("method", ["wilcox", "pratt"])
def test_table_6_is_scipys_over_the_queries_of_all_languages(significant, method):
    differences, rows, _ = significant
    p = {pooling: wilcoxon(d, zero_method=method).pvalue for pooling, d in differences.items()}
    for pooling in p:
        assert float(rows[pooling][f"p {method}"]) == pytest.approx(p[pooling], rel=1e-9)
        assert rows[pooling]["queries"] == "90"
    low, high = sorted(p, key=p.get)  # Holm: the smallest of two times two, the other as it is, or the first one's
    assert float(rows[low][f"Holm {method}"]) == pytest.approx(2 * p[low], rel=1e-9)
    assert float(rows[high][f"Holm {method}"]) == pytest.approx(max(p[high], 2 * p[low]), rel=1e-9)


def test_table_6_counts_and_its_effect(significant):
    differences, rows, _ = significant
    for pooling, d in differences.items():
        row = rows[pooling]
        assert [int(row[name]) for name in ("wins", "ties", "losses")] == [(d > 0).sum(), (d == 0).sum(), (d < 0).sum()]
        ranks = rankdata(abs(d[d != 0]))
        effect = (ranks * np.sign(d[d != 0])).sum() / ranks.sum()
        assert float(row["effect"]) == pytest.approx(effect)
        assert row["concepts"] == "50"  # c000 … c049 in Turkish, the first forty in Azerbaijani too
    assert float(rows["mean"]["effect"]) > 0.5
    assert float(rows["mean"]["p by concept"]) < 0.001 < float(rows["cls"]["p by concept"])


def test_small_p_values_are_not_shown_as_zero(significant):
    _, rows, table = significant
    p = float(rows["mean"]["p wilcox"])
    assert 0 < p < 0.0005
    assert f"| {p:.1e} |" in table.to_markdown()
    assert "| 0.000 |" not in table.to_markdown()


def test_no_test_on_few_queries():
    row = next(row for row in read(by_hand())["table6_t2_p"] if row["pooling"] == "mean")
    assert (row["p wilcox"], row["p pratt"], row["Holm pratt"], row["p by concept"]) == ("", "", "", "")
    assert (row["queries"], row["wins"], row["losses"]) == ("6", "6", "0")


def test_the_order_of_the_records_changes_nothing():
    records = by_hand()
    shuffled = random.Random(3).sample(records, len(records))
    assert retrieval_tables(shuffled)[:-1] == retrieval_tables(records)[:-1]  # the last one lists the records


def test_models_stand_as_in_the_paper_then_others():
    same = by_hand()[0]["poolings"]
    records = [{**by_hand()[0], "model": model, "poolings": same} for model in (OWN, MPNET, XLMR)]
    assert [row["model"] for row in read(records)["table5_t2"]] == [XLMR, MPNET, OWN]


def test_results_of_different_data_are_refused():
    other = record(XLMR, "tr-only", {"mean": {"T1": {"tur-azj": [0.1]}}}, seed=42, revision="r2")
    with pytest.raises(InputError, match="different data \\(r1, r2\\): choose one with --data"):
        retrieval_tables([*by_hand(), other])


def test_charts_show_the_best_model_first_and_leave_gaps_empty():
    own = record(OWN, "pretrained", {"max": {"T1": {"tur-azj": [0.8, 1.0], "tur-uzn": [0.9, 0.9]}}})
    charts = retrieval_charts([*by_hand(), own])
    assert list(charts) == ["figure2_t1", "table5_t2"]  # nothing is known of T3
    bars = charts["figure2_t1"].spec["data"]["values"]
    assert [(b["group"], b["series"]) for b in bars] == [
        (name, regime)
        for name in ("encoder", "xlm-roberta-base")
        for regime in ("pretrained", "tr-only", "cross-lingual")
    ]
    assert [b["value"] for b in bars] == [
        pytest.approx(0.9), None, None, pytest.approx(0.45), pytest.approx(0.7), pytest.approx(0.6),
    ]  # fmt: skip
    assert bars[3]["low"] <= 0.45 <= bars[3]["high"]
    assert "random ranking scores 0.200" in charts["figure2_t1"].description
    assert charts["figure2_t1"].svg().startswith("<svg")


def span(model, language, size, seed, f1):
    return {"model": model, "language": language, "size": size, "seed": seed, "source_language": "tr",
            "scores": {"subword_f1": f1}}  # fmt: skip


def test_figures_of_the_span_grid():
    records = [
        span(XLMR, "tr", "all", 1, 0.9),
        span(XLMR, "az", "all", 1, 0.5), span(XLMR, "az", 10, 1, 0.5), span(XLMR, "az", 10, 2, 0.7),
        span(XLMR, "az", 0, 1, 0.2), span(XLMR, "az", 0, 2, 0.4),
        span(XLMR, "uz", 0, 1, 0.6), span(XLMR, "uz", "all", 1, 0.5),
        span(OWN, "az", 0, 1, 0.1),
    ]  # fmt: skip
    charts = span_charts(records)
    gains = {(c["row"], c["column"]): c["value"] for c in charts["figure1_few_shot_gain"].spec["data"]["values"]}
    assert gains == {
        ("xlm-roberta-base", "Azerbaijani"): pytest.approx(0.3),  # 10 sentences: .6, better than all: .5; before: .3
        ("xlm-roberta-base", "Uzbek"): pytest.approx(-0.1),
        ("encoder", "Azerbaijani"): None,
        ("encoder", "Uzbek"): None,
    }
    points = charts["figure4_learning_curves"].spec["data"]["values"]
    curve = [(p["x"], p["value"]) for p in points if (p["panel"], p["series"]) == ("Azerbaijani", "xlm-roberta-base")]
    assert curve == [("0", pytest.approx(0.3)), ("10", pytest.approx(0.6)), ("all", pytest.approx(0.5))]


def test_a_span_grid_without_adaptation_has_no_figures():
    assert span_charts([span(XLMR, "tr", "all", 1, 0.9), span(XLMR, "az", 0, 1, 0.2)]) == {}


def test_names_are_short_where_they_stay_apart():
    assert short_names([XLMR, "a/same", "b/same", "./local/"]) == {
        XLMR: "xlm-roberta-base", "a/same": "a/same", "b/same": "b/same", "./local/": "local",
    }  # fmt: skip


def test_markdown_shows_three_places_and_marks_what_is_missing():
    table = Table("t", "Title", ("a", "p", "b"), ((0.12345, 0.0000123, None), ("x", 0.0123, 7)), "Note.", ("p",))
    assert table.to_markdown() == (
        "## Title\n\nNote.\n\n| a | p | b |\n|---|---|---|\n| 0.123 | 1.2e-05 | – |\n| x | 0.012 | 7 |\n"
    )
    assert table.to_csv() == "a,p,b\n0.12345,1.23e-05,\nx,0.0123,7\n"
