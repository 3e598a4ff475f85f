"""Two processes under torchrun, which start once for both commands: their imports take most of the time."""

import json
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.runs.grid_data import small_lexicon
from tests.warm_commands import run_to_end
from turkic_idiom_tasks.results.record import find_records
from turkic_idiom_tasks.training.cards import RETRIEVAL_RECORD


@pytest.mark.long
def test_two_processes_write_every_record_of_spans_once_and_train_one_retrieval_model(
    sentence_model, untrained_bert, tmp_path
):
    folder = tmp_path
    data = small_lexicon(folder / "lexicon")
    torchrun = Path(sys.executable).parent / "torchrun"
    launch = (torchrun, "--standalone", "--nproc_per_node", "2", "-m", "tests.training.several_processes")
    span = ("finetune", "span", "-m", untrained_bert, "--data", data, "--out", folder / "spans")
    settings = ("--set", "epochs=1", "--set", "learning_rate=5e-3", "--seed", "1")
    command = (*launch, sentence_model, folder / "retrieval", *span, *settings)
    run = run_to_end(command, cwd=REPOSITORY, timeout=600)
    assert run.returncode == 0, run.stderr[-2000:]
    assert len(find_records(folder / "spans" / "records")) == 2
    assert run.stdout.count("Fine-tuned and tested on the source language") == 1
    (folder,) = (folder / "retrieval").iterdir()
    record = json.loads((folder / RETRIEVAL_RECORD).read_text())
    # 41 pairs are 2 batches of 8 for each of two processes, 8 times; one process would make 5 steps an epoch
    assert record["steps"] == 8 * 2
    assert record["tuned_ndcg"] > record["untuned_ndcg"] + 0.1
