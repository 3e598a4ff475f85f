"""`--trust-remote-code` of the commands that load models, with a model whose architecture only its own code knows."""

import json

import pytest
from sentence_transformers import SentenceTransformer

from tests.runs.grid_data import retrieval_part, span_part, write_grid_file
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.results.record import read_header
from turkic_idiom_tasks.training.cards import RETRIEVAL_RECORD
from turkic_idiom_tasks.training.siblings.idiomaticity import load_classifier
from turkic_idiom_tasks.training.span import load_untuned

TRUST = "--trust-remote-code"


def settings_of_records(folder):
    """Path -> settings of every record."""
    return {path: read_header(path).settings for path in folder.rglob("*.record.jsonl.gz")}


def test_results_of_run_state_it_and_lie_apart(custom_model, executed, untrained_bert, grid_data, tmp_path, capsys):
    run = ["run", "-t", "T2", "-l", "uz", "--data", str(grid_data), "-o", str(tmp_path), "--set", "device=cpu"]
    assert main([*run, "-m", str(custom_model)]) == 2
    assert TRUST in capsys.readouterr().err
    assert not executed.exists()
    assert main([*run, "-m", str(custom_model), "-m", str(untrained_bert), TRUST]) == 0
    assert executed.exists()
    assert main([*run, "-m", str(untrained_bert)]) == 0  # finished already, but with another setting
    with_trust, without = [], []
    for path, settings in settings_of_records(tmp_path).items():
        (with_trust if settings.get("trust_remote_code") else without).append(path)
        assert any("trust_remote_code" in part for part in path.parts) == ("trust_remote_code" in settings)
    assert (len(with_trust), len(without)) == (2, 1)


def test_a_grid_needs_it_for_both_kinds_of_cells(custom_model, executed, grid_data, tmp_path, capsys):
    retrieval = retrieval_part([custom_model], regimes=["pretrained", "tr-only"], poolings=["mean"])
    file = write_grid_file(tmp_path, retrieval=retrieval, span=span_part([custom_model], adapt=False))
    grid = [str(file), "--data", str(grid_data), "--out", str(tmp_path / "out")]
    assert main(["grid", "run", *grid]) == 1
    assert capsys.readouterr().out.count(TRUST) == 4  # the reason of every failed cell
    assert not executed.exists()
    assert main(["grid", "run", *grid, TRUST]) == 0
    assert f"Tables: turkic-idiom grid tables {file} --out {tmp_path / 'out'}\n" in capsys.readouterr().out
    records = settings_of_records(tmp_path)
    assert [settings["trust_remote_code"] for settings in records.values()] == [True] * 4
    (checkpoint,) = (tmp_path / "out" / "checkpoints").iterdir()
    assert json.loads((checkpoint / "span_finetuning.json").read_text())["trust_remote_code"] is True
    for path in records:  # the cells of the spans continue from the saved checkpoint, which has the code too
        path.unlink()
    assert main(["grid", "run", *grid, TRUST]) == 0
    assert main(["grid", "status", str(file), "--out", str(tmp_path / "out")]) == 0
    assert "4 cells: 4 done" in capsys.readouterr().out  # the folder says that its last run had the option
    assert main(["grid", "run", *grid]) == 1
    assert main(["grid", "status", str(file), "--out", str(tmp_path / "out")]) == 0
    assert "4 cells: 4 failed" in capsys.readouterr().out  # without the option they are other cells


def test_a_tuned_encoder_states_it_and_can_be_loaded_again(custom_model, executed, grid_data, tmp_path, capsys):
    tune = ["finetune", "retrieval", "-m", str(custom_model), "--regime", "tr-only", "--data", str(grid_data)]
    assert main([*tune, "--out", str(tmp_path / "tuned")]) == 2
    assert TRUST in capsys.readouterr().err
    assert main([*tune, "--out", str(tmp_path / "tuned"), TRUST]) == 0
    assert f"turkic-idiom run -m {tmp_path / 'tuned'} {TRUST}" in capsys.readouterr().out
    assert json.loads((tmp_path / "tuned" / RETRIEVAL_RECORD).read_text())["trust_remote_code"] is True
    loaded = SentenceTransformer(str(tmp_path / "tuned"), device="cpu", trust_remote_code=True)
    assert loaded.encode(["göz"]).shape == (1, 32)


def test_a_classifier_of_sentences_needs_it_too(custom_model, executed):
    with pytest.raises(InputError, match=TRUST):
        load_classifier(str(custom_model), seed=1)
    assert not executed.exists()
    assert load_classifier(str(custom_model), seed=1, trust_remote_code=True).model.num_labels == 2


def test_lm_eval_needs_it_as_an_argument_of_the_model(custom_model, executed, tmp_path):
    from turkic_idiom_tasks.harnesses.lm_eval_model import TokenClassifierLM

    folder = tmp_path / "classifier"
    classifier = load_untuned(str(custom_model), seed=1, trust_remote_code=True)
    classifier.model.save_pretrained(folder)
    classifier.tokenizer.save_pretrained(folder)
    with pytest.raises(InputError, match="trust_remote_code=True into --model_args"):
        TokenClassifierLM(str(folder))
    info = TokenClassifierLM(str(folder), device="cpu", trust_remote_code=True).get_model_info()
    assert info["model_num_parameters"] == classifier.model.num_parameters()
