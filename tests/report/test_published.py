"""The transcription against what the paper says elsewhere of the same figures: averages, differences, its prose."""

import pytest

from turkic_idiom_tasks.encoders.names import PAPER_ENCODERS
from turkic_idiom_tasks.report.published import paper, published_tables

XLMR, MBERT = "FacebookAI/xlm-roberta-base", "google-bert/bert-base-multilingual-cased"
BERTURK, ELECTRA = "dbmdz/bert-base-turkish-cased", "dbmdz/electra-base-turkish-cased-discriminator"
DISTILBERT, CONVBERT = "dbmdz/distilbert-base-turkish-cased", "dbmdz/convbert-base-turkish-mc4-cased"
TURKISH_E5, E5 = "ytu-ce-cosmos/turkish-e5-large", "intfloat/multilingual-e5-large"
MPNET = "sentence-transformers/paraphrase-multilingual-mpnet-base-v2"
SPAN_MODELS = {XLMR, MBERT, BERTURK, ELECTRA, DISTILBERT, CONVBERT, TURKISH_E5}


def test_the_models_are_the_projects():
    tables = published_tables()
    assert set(tables) == {
        "span_turkish", "span_zero_shot", "span_few_shot",
        "retrieval_t1", "retrieval_t2", "retrieval_t2_p", "retrieval_t3",
    }  # fmt: skip
    for name, table in tables.items():
        assert set(table.models) <= set(PAPER_ENCODERS), name
        assert {len(row) for row in table.models.values()} == {len(table.columns)}, name
        if not name.startswith("retrieval_t1") and name != "retrieval_t3":
            assert set(table.models) == SPAN_MODELS | ({E5, MPNET} if name.startswith("retrieval") else set()), name
    assert "Turkic Idiom Understanding Benchmark" in paper()


def test_tables_of_spans_agree_with_their_averages_and_with_each_other():
    tables = published_tables()
    printed = {XLMR: 0.56, MBERT: 0.45, BERTURK: 0.38, ELECTRA: 0.46, DISTILBERT: 0.25, CONVBERT: 0.49}
    for model, average in (printed | {TURKISH_E5: 0.66}).items():
        precision, recall, f1, accuracy = tables["span_turkish"].models[model]
        assert f1 == pytest.approx(2 * precision * recall / (precision + recall), abs=0.0015), model
        assert accuracy > f1
        zero_shot, few_shot = (tables[name].models[model] for name in ("span_zero_shot", "span_few_shot"))
        assert sum(zero_shot) / 4 == pytest.approx(average, abs=0.01), model  # both sides are rounded to two places
        # adaptation never costs anything in Table 4
        assert all(few >= zero for zero, few in zip(zero_shot, few_shot, strict=True)), model


def test_differences_of_table_5_are_those_of_its_columns():
    table = published_tables()["retrieval_t2"]
    for model in table.models:
        row = table.of(model)
        assert row["difference"] == pytest.approx(row["monolingual"] - row["pretrained"], abs=0.011), model
    # "with Turkish-E5 (+0.21), followed by MPNet and Multilingual-E5 (+0.13 each)"
    assert [table.of(model)["difference"] for model in (TURKISH_E5, MPNET, E5)] == [0.21, 0.13, 0.13]
    assert {model for model in table.models if "first_last" in table.models[model]} == {XLMR, MBERT}


def test_tasks_1_and_3_are_as_the_text_has_them():
    t1, t3 = (published_tables()[f"retrieval_{task}"] for task in ("t1", "t3"))
    for model, gain in ((TURKISH_E5, 0.136), (MPNET, 0.107)):
        assert t3.of(model)["tr-only"] - t3.of(model)["pretrained"] == pytest.approx(gain)
        assert t3.of(model)["cross-lingual"] < t3.of(model)["tr-only"]  # "minimal benefits"
    assert t1.of(E5) == {"pretrained": 0.693, "tr-only": 0.672, "cross-lingual": None}
    assert [t1.of(model)["tr-only"] for model in (TURKISH_E5, MPNET, MBERT)] == [0.751, 0.628, 0.579]
    assert [t1.of(model)["pretrained"] for model in (XLMR, BERTURK, DISTILBERT)] == [0.346, 0.302, 0.310]
    assert t1.of(ELECTRA) == dict.fromkeys(t1.columns)  # drawn, not stated


def test_significance_in_table_6_is_where_the_paper_prints_it_bold():
    table = published_tables()["retrieval_t2_p"]
    not_bold = {(XLMR, "mean"), (XLMR, "cls"), (XLMR, "max")} | {(CONVBERT, pooling) for pooling in table.columns}
    assert {(m, c) for m in table.models for c, p in table.of(m).items() if p >= 0.05} == not_bold
    # one and the same p under all poolings
    assert {m for m in table.models if len(set(table.models[m])) == 1} == {BERTURK, ELECTRA, DISTILBERT, CONVBERT}
