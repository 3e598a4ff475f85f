"""`turkic-idiom finetune retrieval` as a user calls it on a terminal, and settings as all trainings take them."""

import json
import os
import pty
import re
import sys
import termios
import threading

import pytest
import typer

from tests.dataset.conftest import write_config
from tests.training.toy_task import IDIOM, MEANING
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.cli.finetune import finetune_app, settings_of
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import write_lexicon
from turkic_idiom_tasks.results.record import find_records, read_header
from turkic_idiom_tasks.training.cards import RETRIEVAL_RECORD
from turkic_idiom_tasks.training.config import IdiomaticityConfig, RetrievalConfig, SimilarityOptions, SpanConfig
from turkic_idiom_tasks.training.regimes import build_regime


@pytest.fixture
def learnable(tmp_path):
    """Folder of a lexicon with 98 Azerbaijani concepts whose meanings follow from the words of their idioms."""
    rows = []
    for n in range(98):
        idiom = f"{IDIOM[n % 7]} {IDIOM[n // 7 % 7]} {'ev ' * (n // 49)}".strip()
        meaning = f"{MEANING[n % 7]} {MEANING[n // 7 % 7]} {'gece ' * (n // 49)}".strip()
        rows.append(Entry(f"c-{n}", idiom, meaning))
    write_lexicon(tmp_path / "lexicon", [Concept(row.concept, "gloss") for row in rows], {"az": rows})
    return tmp_path / "lexicon"


def task_score(model, data, folder):
    """The nDCG of T2 in Azerbaijani that `turkic-idiom run` gives a model."""
    assert main(["run", "-m", str(model), "-t", "T2", "-o", str(folder), "--data", str(data)]) == 0
    (record,) = find_records(folder)
    return read_header(record).scores("T2", "azj")["ndcg"]


def test_the_command_tunes_and_saves_and_prints_results_alone(sentence_model, learnable, tmp_path, capsys, monkeypatch):
    """The trainer of transformers prints its logs to stdout as soon as stderr is a terminal."""
    folder = tmp_path / "mine"
    command = ["finetune", "retrieval", "-m", str(sentence_model), "--regime", "monolingual", "--language", "az"]
    command += ["--set", "epochs=6", "--set", "learning_rate=5e-3", "--data", str(learnable), "--out", str(folder)]
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, 120))
    shown = []
    reader = threading.Thread(target=lambda: shown.extend(iter(lambda: read_terminal(ours), b"")))
    reader.start()
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        assert main(command) == 0
        monkeypatch.undo()
    reader.join()
    os.close(ours)
    assert "training, steps" in b"".join(shown).decode()
    printed = capsys.readouterr().out
    assert printed.startswith("monolingual, az: ")
    assert "eval_ndcg" not in printed
    record = json.loads((folder / RETRIEVAL_RECORD).read_text())
    data = build_regime(open_dataset(str(learnable)), "monolingual", language="az")
    assert record["data"]["training_pairs"] == len(data.pairs)
    for text in (f"{record['untuned_ndcg']:.4f}", f"{record['tuned_ndcg']:.4f}", str(folder)):
        assert text in printed
    untuned = task_score(sentence_model, learnable, tmp_path / "untuned")
    assert task_score(folder, learnable, tmp_path / "tuned") > untuned + 0.1  # on concepts never trained on
    assert main(command) == 2  # the folder exists now
    assert "exists already" in capsys.readouterr().err


def read_terminal(descriptor):
    """What was written to it since; nothing once all its writers are gone."""
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--regime", "zero-shot"], 2, "'zero-shot' is not one of 'tr-only'"),
        (["--regime", "monolingual"], 2, r"needs a language: --language tr\|az"),
        (["--regime", "monolingual", "--language", "gag"], 1, "too few pairs .* choose another lexicon with --data"),
        (["--regime", "tr-only", "--language", "az"], 2, "use --regime monolingual"),
        (["--regime", "cross-lingual", "--language", "tr"], 2, "from Turkish to another language"),
        (["--regime", "monolingual", "--language", "az", "--set", "pooling=median"], 2, "median"),
        (["--regime", "tr-only", "--data", "/absent"], 1, "no such directory"),
        (["--regime", "monolingual", "--language", "az", "-m", "./absent"], 2, "no such folder"),
        (["--regime", "monolingual", "--language", "az", "-m", "turkic-idiom/char-ngrams"], 2, "nothing to fine-tune"),
        (["--regime", "tr-only", "--data", "hub"], 2, "holds test queries only"),
    ],
)
def test_bad_input(untrained_bert, grid_data, tmp_path, capsys, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    write_config(tmp_path / "hub", "span-tr", {"test": [{}]})
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(grid_data))
    model = [] if "-m" in arguments else ["-m", str(untrained_bert)]
    assert main(["finetune", "retrieval", *model, *arguments]) == code
    assert re.search(message, capsys.readouterr().err)
    assert not (tmp_path / "tuned").exists() or not list((tmp_path / "tuned").iterdir())


def test_every_setting_has_an_option_with_its_default_or_is_named_by_set():
    kinds = {"retrieval": RetrievalConfig, "span": SpanConfig, "similarity": SimilarityOptions}
    for name, kind in (kinds | {"idiomaticity": IdiomaticityConfig}).items():
        options = {option.name: option for option in typer.main.get_command(finetune_app).commands[name].params}
        fixed = {"pad_to_max", "group_by_length"}  # they only stand in the names of cells
        for setting, default in kind().model_dump(exclude=fixed).items():
            if setting == "seed":
                assert options[setting].default == default
            else:
                assert f"{setting}={json.dumps(default)}" in options["values"].help


def test_what_the_words_set():
    assert settings_of(RetrievalConfig, None, seed=42) == RetrievalConfig()
    values = ("bf16=true", "weight_decay=1e-3", "cached=true", "pooling=mean")
    expected = RetrievalConfig(seed=7, bf16=True, weight_decay=1e-3, cached=True, pooling="mean")
    assert settings_of(RetrievalConfig, values, seed=7) == expected
    with pytest.raises(InputError, match=r"seed.*found 4294967296"):
        settings_of(RetrievalConfig, None, seed=2**32)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["epochs=0"], "field 'epochs': .*greater than 0; found 0"),
        (["learning_rate=Infinity"], "learning_rate.*finite.*found inf"),
        (["loss=hinge"], "loss.*'mnrl' or 'cosine'.*found 'hinge'"),
        (["patience=many"], "patience.*found 'many'"),
        (["patience"], "--set 'patience': expected NAME=VALUE"),
        (["epochs=1", "epochs=2"], "--set 'epochs=2': epochs is set twice"),
        (["seed=3"], "--set 'seed=3': pass --seed instead"),
        (["patient=3"], "unknown field 'patient'; known: .*patience"),
    ],
)
def test_settings_that_cannot_be_used_are_one_line(values, message):
    with pytest.raises(InputError, match=message) as error:
        settings_of(RetrievalConfig, values, seed=42)
    assert "\n" not in str(error.value)
    assert error.value.exit_code == 2
