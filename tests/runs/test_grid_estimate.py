"""The estimate of `turkic-idiom grid plan` by hand arithmetic."""

import numpy as np
import pytest
from safetensors.numpy import save_file

from tests.runs.grid_data import retrieval_part, span_part, write_grid_file
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.runs.cells import Cell, CellKind, Part
from turkic_idiom_tasks.runs.grid import open_grid
from turkic_idiom_tasks.runs.grid_estimate import ModelSize, estimate_grid, folder_size, model_sizes, n_tokens
from turkic_idiom_tasks.runs.grid_file import read_grid_file
from turkic_idiom_tasks.runs.workload import Passes, Workload
from turkic_idiom_tasks.splits import TEST, TRAIN, VALIDATION
from turkic_idiom_tasks.training.regimes import build_regime


class StatedPart(Part):
    """Models, each with two cells."""

    models: tuple[str, ...]


class StatedKind(CellKind[StatedPart]):
    """Cells whose work is a constant: 100 texts of 4 words, and 50 texts of 2 words in training unless pretrained."""

    name = "stated"
    part = StatedPart

    def __init__(self, regime="tr-only"):
        self.regime = regime

    def cells(self, part, dataset):
        for model in part.models:
            yield from (Cell("stated", model, self.regime, seed=seed) for seed in (1, 2))

    def settings(self, part, cell):
        return {}

    def model_revision(self, model):
        return None

    def shared_work(self, cell):
        return (cell.model,)

    def workload(self, part, cells, dataset):
        trained = Passes() if self.regime == "pretrained" else Passes(50, 100)
        return Workload(encoded=Passes(100, 400), trained=trained)

    def start(self, cells, work):
        raise AssertionError("an estimate runs nothing")


class SilentKind(StatedKind):
    """Cells of a kind that cannot say how much work they are."""

    def workload(self, part, cells, dataset):
        return CellKind.workload(self, part, cells, dataset)


@pytest.fixture(scope="module")
def dataset(grid_data):
    return open_dataset(str(grid_data))


@pytest.fixture
def model(tmp_path):
    """Folder of a model of 10 x 4 embeddings of the vocabulary and a 4 x 4 matrix: 56 parameters."""
    (tmp_path / "model").mkdir()
    tensors = {"embeddings.word_embeddings.weight": np.zeros((10, 4), np.float32), "w": np.zeros((4, 4), np.float32)}
    save_file(tensors, tmp_path / "model" / "model.safetensors")
    return tmp_path / "model"


def estimates(kind, models, dataset, folder):
    """The estimates of a grid of one kind at a thousand operations per second."""
    part = StatedPart(models=tuple(str(model) for model in models))
    return estimate_grid(open_grid([(kind, part)], dataset, folder), tflops=1e-9)


def test_tokens_are_words_and_special_tokens():
    passes = Passes.of(["bir iki", "üç"])
    assert (passes.n_texts, passes.n_words) == (2, 3)
    assert n_tokens(passes) == pytest.approx(3 * 2.4 + 2 * 2)
    assert passes.times(3) + Passes(1, 1) == Passes(7, 10)


def test_sizes_are_those_of_the_tensors_of_the_registry_or_unknown(model, tmp_path):
    assert folder_size(model) == ModelSize(56, 40)
    assert folder_size(model).n_multiplied == 16
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "model.safetensors").write_bytes(b"no tensors")
    names = [str(tmp_path / "broken"), "me/unknown", "intfloat/multilingual-e5-small", "newmindai/TurkEmbed4STS"]
    sizes = model_sizes(names, {})
    assert [size.n_parameters for size in sizes.values()] == [None, None, 118_000_000, 305_000_000]
    # of E5's 118 million the 96,014,208 embeddings of its vocabulary (250,037 by 384) are not multiplied
    assert sizes["intfloat/multilingual-e5-small"].n_multiplied == 118_000_000 - 96_014_208
    assert sizes["newmindai/TurkEmbed4STS"].n_multiplied == 305_000_000  # how many are embeddings is unknown
    assert model_sizes(["me/unknown"], {"me/unknown": 7})["me/unknown"] == ModelSize(7)  # a finished cell counted them


def test_time_is_the_arithmetic_of_the_tokens_and_ten_seconds_per_cell(model, dataset, tmp_path):
    (estimate,) = estimates(StatedKind(), [model], dataset, tmp_path / "out")
    # forward: 400 words * 2.4 + 100 texts * 2 = 1160 tokens, 2 operations; training: 100 * 2.4 + 50 * 2 = 340 tokens, 6
    # (2 * 1160 + 6 * 340) * 16 parameters = 69,760 operations; at a thousand per second, and two cells
    assert estimate.seconds == pytest.approx(69.76 + 2 * 10)
    assert estimate.memory == 56 * 16  # weights 4, gradients 4, two moments 8
    assert (estimate.n_cells, estimate.size) == (2, ModelSize(56, 40))


def test_memory_without_training_is_that_of_the_weights(model, dataset, tmp_path):
    (estimate,) = estimates(StatedKind("pretrained"), [model], dataset, tmp_path / "out")
    assert estimate.memory == 56 * 4
    assert estimate.seconds == pytest.approx(2 * 1160 * 16 / 1000 + 2 * 10)


def test_what_is_unknown_is_not_guessed(model, dataset, tmp_path):
    known, unknown = estimates(StatedKind(), [model, "me/unknown"], dataset, tmp_path / "out")
    assert known.seconds is not None
    assert (unknown.seconds, unknown.memory) == (None, None)
    assert unknown.workload == known.workload
    (silent,) = estimates(SilentKind(), [model], dataset, tmp_path / "out")
    assert (silent.workload, silent.seconds, silent.memory) == (None, None, None)


def workload(tmp_path, dataset, *, cell, **parts):
    """The work of the job with the cell that `cell` accepts, of a grid file with one part."""
    ((kind, part),) = read_grid_file(write_grid_file(tmp_path, **parts))
    (found,) = [one for one in kind.cells(part, dataset) if cell(one)]
    return kind.workload(part, [found], dataset)


def test_a_pretrained_cell_encodes_every_distinct_text_once(tmp_path, dataset):
    found = workload(
        tmp_path,
        dataset,
        cell=lambda cell: True,
        retrieval={"models": ["m"], "regimes": ["pretrained"], "poolings": ["cls"]},
    )
    texts = set()
    for task in ("T1", "T2", "T3"):
        for subset in dataset.subsets(task):
            data = dataset.retrieval(task, subset)
            texts |= {*data.queries.values(), *data.documents.values()}
    assert found.encoded.n_texts == len(texts)
    assert found.encoded.n_words == sum(text.count(" ") + 1 for text in texts)
    assert found.trained == Passes()


@pytest.mark.parametrize(("training", "n_meanings"), [({"loss": "mnrl"}, 1), ({"negatives": 2}, 3), ({"epochs": 2}, 2)])
def test_a_tuned_cell_trains_on_both_texts_of_a_pair_and_evaluates_between(tmp_path, dataset, training, n_meanings):
    part = retrieval_part(["m"], regimes=["monolingual"], languages=["uz"], poolings=["mean"], training=training)
    found = workload(tmp_path, dataset, cell=lambda cell: True, retrieval=part)
    data = build_regime(dataset, "monolingual", language="uz")
    epochs = training.get("epochs", 1)
    # an idiom and a meaning; the cosine loss, which a file without a loss may mean, has wrong meanings too: one, or two
    assert found.trained.n_texts == len(data.pairs) * 2 * n_meanings * epochs
    development = data.development["uz"]
    n_development = len({*development.queries.values(), *development.documents.values()})
    tested = set()
    for task, subset in (("T1", "tur-uzn"), ("T2", "uzn"), ("T3", "tur-uzn")):
        retrieval = dataset.retrieval(task, subset)
        tested |= {*retrieval.queries.values(), *retrieval.documents.values()}
    assert found.encoded.n_texts == len(tested) + n_development * (1 + 4 * epochs)  # untuned, and four per epoch


def test_span_cells_count_their_sample_and_the_validation_of_each_epoch(tmp_path, dataset):
    part = span_part(["m"], training={"epochs": 3})
    splits = {code: {name: len(rows) for name, rows in dataset.sentences(code).items()} for code in ("tr", "az")}
    for target, size, n_trained in (("tr", "all", splits["tr"][TRAIN]), ("az", 0, 0), ("az", 5, 5)):
        found = workload(
            tmp_path, dataset, cell=lambda cell, key=(target, size): (cell.target, cell.size) == key, span=part
        )
        assert found.trained.n_texts == 3 * n_trained
        n_validations = 3 if n_trained else 0
        assert found.encoded.n_texts == splits[target][TEST] + n_validations * splits[target][VALIDATION]


@pytest.mark.parametrize("width", [80, 120])
def test_the_plan_prints_a_row_for_each_model(untrained_bert, grid_data, tmp_path, monkeypatch, capsys, width):
    monkeypatch.setenv("COLUMNS", str(width))
    long_name = "sentence-transformers/static-similarity-mrl-multilingual-v1"
    models = [untrained_bert, long_name, "me/unknown"]
    file = write_grid_file(tmp_path, retrieval=retrieval_part(models, regimes=["pretrained"], poolings=["mean"]))
    plan = ["grid", "plan", str(file), "--data", str(grid_data), "--out", str(tmp_path / "out")]
    assert main([*plan, "--tflops", "0.5"]) == 0
    table = capsys.readouterr().out.partition("\n\n")[2]
    lines = table.splitlines()
    assert max(len(line) for line in lines) <= width
    assert "0.5 TFLOP/s" in lines[0]
    assert lines[1].split() == ["model", "size", "cells", "encoded", "trained", "hours", "GiB"]
    # 108,420,096 parameters, all of them embeddings: ten seconds, and 4 * 108,420,096 / 2^30 = 0.404 GiB
    (row,) = [line for line in lines if "108M" in line]
    assert row.split()[-2:] == ["<0.01", "0.4"]
    (row,) = [line for line in lines if line.startswith("me/unknown")]
    assert row.split()[1] == "?"
    assert row.split()[-2:] == ["?", "?"]
    assert "not in the sum: 1 model of unknown size" in table


@pytest.mark.long
def test_finished_cells_are_not_in_the_estimate(finished, grid_data, capsys):
    out, file = finished
    assert main(["grid", "plan", str(file), "--data", str(grid_data), "--out", str(out)]) == 0
    assert "TFLOP/s" not in capsys.readouterr().out
