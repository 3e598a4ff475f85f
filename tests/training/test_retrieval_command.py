"""`turkic-idiom finetune retrieval` as a user calls it, and the score of what it saves by `turkic-idiom run`."""

import json
import re

import pytest

from tests.dataset.conftest import write_config
from tests.training.toy_task import IDIOM, MEANING
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import write_lexicon
from turkic_idiom_tasks.results.record import find_records, read_header
from turkic_idiom_tasks.training.cards import RETRIEVAL_RECORD
from turkic_idiom_tasks.training.regimes import build_regime


@pytest.fixture(scope="module")
def lexicon_folder(tmp_path_factory):
    """98 Azerbaijani concepts that can be learnt."""
    rows = []
    for n in range(98):
        idiom = f"{IDIOM[n % 7]} {IDIOM[n // 7 % 7]} {'ev ' * (n // 49)}".strip()
        meaning = f"{MEANING[n % 7]} {MEANING[n // 7 % 7]} {'gece ' * (n // 49)}".strip()
        rows.append(Entry(f"c-{n}", idiom, meaning))
    folder = tmp_path_factory.mktemp("data") / "lexicon"
    write_lexicon(folder, [Concept(row.concept, "gloss") for row in rows], {"az": rows})
    return folder


def task_score(model, data, folder):
    """The nDCG of T2 in Azerbaijani that `turkic-idiom run` gives a model."""
    assert main(["run", "-m", str(model), "-t", "T2", "-o", str(folder), "--data", str(data)]) == 0
    (record,) = find_records(folder)
    return read_header(record).scores("T2", "azj")["ndcg"]


def test_the_command_tunes_saves_and_the_model_is_scored_at_once(sentence_model, lexicon_folder, tmp_path, capsys):
    folder = tmp_path / "mine"
    command = ["finetune", "retrieval", "-m", str(sentence_model), "--regime", "monolingual", "--language", "az"]
    command += ["--set", "epochs=6", "--set", "learning_rate=5e-3", "--data", str(lexicon_folder), "--out", str(folder)]
    assert main(command) == 0
    shown = capsys.readouterr().out
    record = json.loads((folder / RETRIEVAL_RECORD).read_text())
    data = build_regime(open_dataset(str(lexicon_folder)), "monolingual", language="az")
    assert record["data"]["training_pairs"] == len(data.pairs)
    assert f"{record['untuned_ndcg']:.4f}" in shown
    assert f"{record['tuned_ndcg']:.4f}" in shown
    assert str(folder) in shown
    untuned = task_score(sentence_model, lexicon_folder, tmp_path / "untuned")
    assert task_score(folder, lexicon_folder, tmp_path / "tuned") > untuned + 0.1  # on concepts never trained on
    assert main(command) == 2  # the folder exists now
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--regime", "zero-shot"], 2, "'zero-shot' is not one of 'tr-only'"),
        (["--regime", "monolingual"], 2, r"needs a language: --language tr\|az"),
        (["--regime", "monolingual", "--language", "uz"], 1, "too few pairs .* choose another lexicon with --data"),
        (["--regime", "tr-only", "--language", "az"], 2, "use --regime monolingual"),
        (["--regime", "cross-lingual", "--language", "tr"], 2, "from Turkish to another language"),
        (["--regime", "monolingual", "--language", "az", "--set", "pooling=median"], 2, "median"),
        (["--regime", "tr-only", "--data", "/absent"], 1, "no such directory"),
        (["--regime", "monolingual", "--language", "az", "-m", "./absent"], 2, "no such folder"),
        (["--regime", "monolingual", "--language", "az", "-m", "turkic-idiom/char-ngrams"], 2, "nothing to fine-tune"),
        (["--regime", "tr-only", "--data", "hub"], 2, "holds test queries only"),
    ],
)
def test_bad_input(untrained_bert, lexicon_folder, tmp_path, capsys, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    write_config(tmp_path / "hub", "span-tr", {"test": [{}]})
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(lexicon_folder))
    model = [] if "-m" in arguments else ["-m", str(untrained_bert)]
    assert main(["finetune", "retrieval", *model, *arguments]) == code
    assert re.search(message, capsys.readouterr().err)
    assert not (tmp_path / "tuned").exists() or not list((tmp_path / "tuned").iterdir())
