import csv
import json
import shutil

import pytest

from tests.finetuning.test_span import sentences
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.experiments import span_grid
from turkic_idiom_tasks.experiments.span_grid import SpanCell, SpanGrid, read_results, run_grid, source_first
from turkic_idiom_tasks.experiments.span_tables import span_tables
from turkic_idiom_tasks.experiments.tables import write_tables
from turkic_idiom_tasks.finetuning.span import SpanConfig
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import write_lexicon
from turkic_idiom_tasks.span_detection.sentences import open_spans
from turkic_idiom_tasks.splits import span_split


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A lexicon of 80 Turkish and 60 Azerbaijani sentences that all hold `göz kalp`."""
    folder = tmp_path_factory.mktemp("spans") / "lexicon"
    rows = {"tr": 80, "az": 60}
    entries = {
        code: [Entry(f"c{n:03d}", row.idiom, None, row.sentence, row.spans()) for n, row in enumerate(sentences(count))]
        for code, count in rows.items()
    }
    write_lexicon(folder, [Concept(f"c{n:03d}", "") for n in range(80)], entries)
    return open_spans(str(folder))


@pytest.fixture
def grid(source, untrained_bert, tmp_path):
    return SpanGrid(
        (str(untrained_bert),), tmp_path / "out", source, ("tr", "az"), sizes=(5, 10, 500), seeds=(1, 2),
        config=SpanConfig(epochs=2, learning_rate=5e-3),
    )  # fmt: skip


@pytest.fixture(scope="module")
def finished(source, untrained_bert, tmp_path_factory):
    grid = SpanGrid(
        (str(untrained_bert),), tmp_path_factory.mktemp("grid"), source, ("tr", "az"), sizes=(5,), seeds=(1, 2),
        config=SpanConfig(epochs=2, learning_rate=5e-3),
    )  # fmt: skip
    assert run_grid(grid) == {}
    return grid


def test_the_cells_of_a_model(grid):
    model = grid.models[0]
    assert list(grid.cells(model, 1)) == [
        SpanCell(model, "tr", "all", 1),
        SpanCell(model, "az", 0, 1),
        SpanCell(model, "az", 5, 1),
        SpanCell(model, "az", 10, 1),  # there are no 500 training sentences
        SpanCell(model, "az", "all", 1),
    ]


def test_a_result_can_be_scored_again_from_its_tags(finished):
    from seqeval.metrics import f1_score

    records = read_results(finished)
    assert [(r["language"], r["size"], r["seed"]) for r in records] == [
        (language, size, seed)
        for language, sizes in (("tr", ["all"]), ("az", [0, 5, "all"]))
        for seed in (1, 2)
        for size in sizes
    ]
    labels = {"O": "O", "B": "B-IDIOM", "I": "I-IDIOM"}
    for record in records:
        test = finished.source.load(record["language"])["test"]
        assert list(record["tags"]) == [row.id for row in test]
        found = [[labels[letter] for letter in record["tags"][row.id]] for row in test]
        expected = f1_score([list(row.tags) for row in test], found, zero_division=0)
        assert record["scores"]["span_f1"] == pytest.approx(expected)
        assert record["scores"]["n_sentences"] == len(test)


def test_no_test_idiom_is_trained_on(finished):
    for language in ("tr", "az"):
        splits = finished.source.load(language)
        assert {span_split(row.id) for row in splits["test"]} == {"test"}
        assert not {row.id for row in splits["test"]} & {row.id for row in (*splits["train"], *splits["validation"])}


def test_adaptation_starts_from_the_source_checkpoint_not_from_the_last_cell(finished, tmp_path):
    """The cells of a run in one go equal those of a run that had only this cell left to do."""
    cell = SpanCell(finished.models[0], "az", "all", 1)
    path = finished.result_path(cell)
    before = json.loads(path.read_text())
    path.unlink()
    run_grid(finished)
    after = json.loads(path.read_text())
    assert after["tags"] == before["tags"]
    assert after["history"] == before["history"]


def test_a_second_run_computes_nothing(finished, monkeypatch):
    monkeypatch.setattr(span_grid, "load_untuned", None)
    monkeypatch.setattr(span_grid, "fine_tune", None)
    stamps = {path: path.stat().st_mtime_ns for path in finished.output.rglob("*.json")}
    assert run_grid(finished) == {}
    assert {path: path.stat().st_mtime_ns for path in finished.output.rglob("*.json")} == stamps


def test_other_data_or_settings_are_other_cells(finished, grid):
    model = finished.models[0]
    cell = SpanCell(model, "tr", "all", 1)
    assert finished.result_path(cell).name == grid.result_path(cell).name  # sizes asked for play no part
    slower = SpanGrid(grid.models, grid.output, grid.source, grid.languages, config=SpanConfig(learning_rate=1e-5))
    assert slower.result_path(cell).name != grid.result_path(cell).name


def test_a_model_that_cannot_be_loaded_does_not_stop_the_others(source, untrained_bert, tmp_path):
    grid = SpanGrid(
        ("./absent", str(untrained_bert)), tmp_path, source, ("tr", "az"), seeds=(1,), adapts=False,
        config=SpanConfig(epochs=1),
    )  # fmt: skip
    failed = run_grid(grid)
    assert list(failed) == ["./absent"]
    assert [record["model"] for record in read_results(grid)] == [str(untrained_bert)] * 2


def test_results_of_earlier_runs_stay_in_the_tables_and_those_of_other_settings_do_not(finished, tmp_path):
    shutil.copytree(finished.output, tmp_path / "copy")
    of_one_seed = SpanGrid(
        finished.models, tmp_path / "copy", finished.source, finished.languages, seeds=(2,), adapts=False,
        config=finished.config,
    )  # fmt: skip
    assert read_results(of_one_seed) == read_results(finished)
    other = SpanGrid(finished.models, tmp_path / "copy", finished.source, finished.languages,
                     config=SpanConfig(learning_rate=1e-5))  # fmt: skip
    assert read_results(other) == []


def test_a_damaged_result_is_named(finished, tmp_path):
    copy = SpanGrid(finished.models, tmp_path / "copy", finished.source, finished.languages, seeds=(1,),
                    config=finished.config)  # fmt: skip
    shutil.copytree(finished.output, copy.output)
    path = copy.result_path(SpanCell(copy.models[0], "tr", "all", 1))
    path.write_text("{")
    with pytest.raises(InputError, match=f"{path.name}: damaged .* delete it and run the grid again"):
        read_results(copy)


def test_the_source_language_comes_first():
    assert source_first(("az", "tr", "uz")) == ("tr", "az", "uz")
    with pytest.raises(InputError, match="no annotated tr sentences to train on; found az, uz"):
        source_first(("az", "uz"))


def record(model, language, size, seed, f1):
    scores = {"subword_precision": 0.1, "subword_recall": 0.2, "subword_f1": f1, "subword_accuracy": 0.9}
    scores |= {"token_f1": 0.3, "span_f1": f1 / 2, "n_sentences": 8.0}
    return {"model": model, "language": language, "size": size, "seed": seed, "source_language": "tr", "best_epoch": 1,
            "scores": scores}  # fmt: skip


def test_tables_average_seeds_and_stand_beside_the_paper(tmp_path):
    model = "FacebookAI/xlm-roberta-base"
    records = [
        record(model, "tr", "all", 1, 0.6), record(model, "tr", "all", 2, 0.8),
        record(model, "az", 0, 1, 0.2), record(model, "az", 0, 2, 0.4),
        record(model, "az", 10, 1, 0.5), record(model, "az", 10, 2, 0.7),
        record(model, "az", "all", 1, 0.9), record(model, "az", "all", 2, 0.1),
    ]  # fmt: skip
    files = write_tables(span_tables(records), tmp_path)
    assert [path.name for path in files] == [
        "table2_source.md", "table3_zero_shot.md", "table4_few_shot.md", "learning_curves.md", "cells.md",
    ]  # fmt: skip
    rows = {path.stem: list(csv.DictReader(path.open(encoding="utf-8"))) for path in tmp_path.glob("*.csv")}
    (turkish,) = rows["table2_source"]
    assert float(turkish["F1"]) == pytest.approx(0.7)  # (.6 + .8) / 2
    assert float(turkish["sd over seeds"]) == pytest.approx(0.1 / 2**0.5)  # of span F1 .3 and .4
    assert turkish["paper F1"] == "0.758"  # the paper's Table 2
    zero = {row["score"]: row["az"] for row in rows["table3_zero_shot"]}
    assert (float(zero["subword_f1"]), zero["paper"], zero["n"]) == (pytest.approx(0.3), "0.69", "8")
    few = {row["score"]: row["az"] for row in rows["table4_few_shot"]}
    assert float(few["subword_f1"]) == pytest.approx(0.6)  # 10 sentences: (.5 + .7) / 2; all: (.9 + .1) / 2
    assert few["paper"] == "0.79"
    assert [row["training sentences"] for row in rows["learning_curves"]] == ["0", "10", "all"]
    assert len(rows["cells"]) == 8
