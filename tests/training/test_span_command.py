"""`turkic-idiom finetune span` as a user runs it: several seeds, damaged folders, on a terminal."""

import csv
import json
import os
import pty
import shutil
import sys
import termios
import threading

import pytest

from tests.runs.grid_data import span_part, stamps, write_grid_file
from tests.training.toy_task import change_json
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.encoders.folders import folder_revision
from turkic_idiom_tasks.results.predictions import SPANS
from turkic_idiom_tasks.results.record import find_records, read_header

QUICK = ("--set", "epochs=1", "--set", "learning_rate=5e-3")


def span_command(model, data, out, *options):
    return ["finetune", "span", "-m", str(model), "--data", str(data), "--out", str(out), *QUICK, *map(str, options)]


@pytest.fixture(scope="module")
def tuned(untrained_bert, grid_data, tmp_path_factory):
    """Folder of a classifier of one seed."""
    out = tmp_path_factory.mktemp("spans") / "out"
    assert main(span_command(untrained_bert, grid_data, out, "--seed", 1)) == 0
    return out


@pytest.fixture
def copied(tuned, tmp_path):
    return shutil.copytree(tuned, tmp_path / "out")


def test_it_trains_on_one_language_and_tests_on_every_one(tuned, grid_data):
    found = {}
    for path in find_records(tuned / "records"):
        header = read_header(path)
        (row,) = header.subsets
        found[row.subset] = (header.training.language, header.training.size, header.training.seed)
        assert (row.task, header.data.path) == (SPANS, str(grid_data))
    assert found == {"tr": ("tr", "all", 1), "az": ("tr", 0, 1)}
    (checkpoint,) = (tuned / "checkpoints").iterdir()
    assert (checkpoint / "model.safetensors").is_file()
    assert json.loads((checkpoint / "config.json").read_text())["id2label"]["1"] == "B-IDIOM"
    assert "Idiom spans in Turkish" in (checkpoint / "README.md").read_text()


def n_seeds(folder, model):
    """The number of seeds in the row of a model in the table of the source language."""
    with (folder / "tables" / "table2_source.csv").open() as table:
        return next(row["seeds"] for row in csv.DictReader(table) if row["model"] == str(model))


def test_finished_seeds_are_kept_and_stand_in_the_tables(copied, untrained_bert, grid_data, capsys):
    before = stamps(copied)
    assert main(span_command(untrained_bert, grid_data, copied, "--seed", 2)) == 0
    after = stamps(copied)
    assert before.items() <= after.items()
    assert len(after) == 4
    printed = capsys.readouterr().out
    assert n_seeds(copied, untrained_bert) == "2"
    assert f"Checkpoints: {copied / 'checkpoints'}" in printed
    assert main(span_command(untrained_bert, grid_data, copied, "--seed", 1, "--set", "weight_decay=0.1")) == 0
    assert n_seeds(copied, untrained_bert) == "1"  # those of other settings are not counted


def test_tables_of_somebody_else_are_refused_before_anything_is_trained(
    copied, untrained_bert, grid_data, tmp_path, capsys
):
    file = write_grid_file(tmp_path, span=span_part([untrained_bert]))
    write_tables = ["grid", "tables", str(file), "--out", str(copied)]
    commands = [span_command(untrained_bert, grid_data, copied, "--seed", 2), write_tables]
    tables = copied / "tables"
    (tables / "scores.csv").write_text("mine")
    before = stamps(copied)
    for command in commands:
        assert main(command) == 1
        assert "scores.csv: was changed since it was written; move it away" in capsys.readouterr().err
    (tables / ".turkic-idiom.json").unlink()
    for command in commands:
        assert main(command) == 1
        assert "was not written by this command; choose an empty or new folder" in capsys.readouterr().err
    assert (stamps(copied), (tables / "scores.csv").read_text()) == (before, "mine")
    shutil.rmtree(tables)
    assert main(write_tables) == main(write_tables) == 0
    assert {"scores.csv", "table2_source.csv", "table2_source.md"} <= {path.name for path in tables.iterdir()}


@pytest.mark.parametrize("damage", ["other", "none", "settings"])
def test_a_checkpoint_is_used_only_as_it_was_written(copied, untrained_bert, grid_data, tmp_path, capsys, damage):
    (checkpoint,) = (copied / "checkpoints").iterdir()
    weights, about = checkpoint / "model.safetensors", checkpoint / "span_finetuning.json"
    if damage == "other":  # a file of the same size, which would be loaded
        content = weights.read_bytes()
        weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    elif damage == "settings":  # of another training
        change_json(about, lambda record: record["config"].update(epochs=2))
        (checkpoint / ".turkic-idiom-revision").write_text(folder_revision(checkpoint))
    expected = {path.name: scores_at(path) for path in find_records(copied / "records")}
    shutil.rmtree(copied / "records")
    assert main(span_command(untrained_bert, grid_data, copied, "--seed", 1)) == 0
    assert {path.name: scores_at(path) for path in find_records(copied / "records")} == expected
    assert len(list((copied / "checkpoints").iterdir())) == (1 if damage == "none" else 2)  # one is set aside


def scores_at(path):
    (row,) = read_header(path).subsets
    return row.scores


def test_results_of_earlier_weights_are_in_no_table(copied, untrained_bert, grid_data, tmp_path, capsys):
    """The tables hold one result for a model, a seed and a language: that of the weights that are there now."""
    model = shutil.copytree(untrained_bert, tmp_path / "model")
    assert main(span_command(model, grid_data, copied, "--seed", 1)) == 0
    change_json(model / "config.json", lambda config: config.update(note="other weights"))
    capsys.readouterr()
    assert main(span_command(model, grid_data, copied, "--seed", 1, "--seed", 2)) == 0
    assert (n_seeds(copied, model), n_seeds(copied, untrained_bert)) == ("2", "1")
    assert len(find_records(copied / "records")) == 2 + 2 + 4


def test_the_grid_adapts_what_finetune_span_has_trained(copied, untrained_bert, grid_data, tmp_path, capsys):
    file = write_grid_file(tmp_path, span=span_part([untrained_bert]))
    assert main(["grid", "status", str(file), "--out", str(copied)]) == 0
    assert "4 cells: 2 done, 2 missing" in capsys.readouterr().out


def test_a_model_that_cannot_be_loaded_does_not_stop_the_others(copied, untrained_bert, grid_data, capsys, caplog):
    command = span_command("./absent", grid_data, copied, "--seed", 1, "-m", untrained_bert)
    assert main(command) == 1
    printed = capsys.readouterr()
    assert "./absent failed: ./absent: no such folder" in printed.err
    assert caplog.text.count("failed: ./absent") == 1  # of the two cells that it has
    assert n_seeds(copied, untrained_bert) == "1"


@pytest.mark.parametrize(
    ("options", "message", "code"),
    [
        (("--language", "uz"), "no annotated uz sentences to train on; found tr, az", 1),
        (("--language", "xx"), "'language': must be one of tr, az", 2),
        (("-m", "m (pooling=mean)"), "'models.1': 'm (pooling=mean)' names a pooling", 2),
        (("--target", "gag"), "--target gag: no language of the data besides the source language; known: az", 2),
        (("--target", "tr"), "tr is the language that is trained on", 2),
        (("--data", "./nothing"), "./nothing: no such directory", 1),
    ],
)
def test_bad_input_is_one_line(untrained_bert, grid_data, tmp_path, capsys, options, message, code):
    assert main(span_command(untrained_bert, grid_data, tmp_path / "out", *options)) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not list((tmp_path / "out").rglob("*.safetensors"))


def test_on_a_terminal_stdout_still_holds_results_alone(untrained_bert, grid_data, tmp_path, capsys, monkeypatch):
    """The trainer of transformers prints its logs to stdout as soon as stderr is a terminal."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, 120))
    shown = []
    reader = threading.Thread(target=lambda: shown.extend(iter(lambda: read_terminal(ours), b"")))
    reader.start()
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        command = ["finetune", "retrieval", "-m", str(untrained_bert), "--regime", "tr-only", "--data", str(grid_data)]
        assert main([*command, "--out", str(tmp_path / "tuned")]) == 0
        monkeypatch.undo()
    reader.join()
    os.close(ours)
    assert "training, steps" in b"".join(shown).decode()
    printed = capsys.readouterr().out
    assert printed.startswith("tr-only, tr: ")
    assert "eval_ndcg" not in printed


def read_terminal(descriptor):
    """What was written to it since; nothing once all its writers are gone."""
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""
