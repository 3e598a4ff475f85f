"""Two processes under torchrun, which start once for both commands: their imports take most of the time.

As a program it is what each process does, a command and then a training:
torchrun --nproc_per_node N -m tests.training.test_several_processes MODEL OUT COMMAND...
"""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.runs.grid_data import small_lexicon
from tests.training.toy_task import changed, record_of, regime
from tests.warm_commands import run_to_end
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.results.record import find_records
from turkic_idiom_tasks.training.cards import RETRIEVAL_RECORD, save_tuned
from turkic_idiom_tasks.training.config import is_first_process
from turkic_idiom_tasks.training.retrieval import fine_tune_retrieval
from turkic_idiom_tasks.training.trainee import load_trainee


def train(model, out):
    """Train on the toy task and save the model below `out`, once for each process that thinks it is the first."""
    config = changed(epochs=8, batch_size=8, patience=99)
    trainee = load_trainee(model, task="T2")
    tuned = fine_tune_retrieval(trainee, regime(), config=config)
    if is_first_process():
        save_tuned(tuned, Path(out) / f"by-{os.environ['RANK']}", record_of(trainee, tuned, config=config))


@pytest.mark.long
def test_two_processes_write_every_result_once_and_train_one_model(sentence_model, untrained_bert, tmp_path):
    data = small_lexicon(tmp_path / "lexicon")
    command = [Path(sys.executable).parent / "torchrun", "--standalone", "--nproc_per_node", "2", "-m", __name__]
    command += [sentence_model, tmp_path / "retrieval", "finetune", "span", "-m", untrained_bert, "--data", data]
    command += ["--out", tmp_path / "spans", "--set", "epochs=1", "--set", "learning_rate=5e-3", "--seed", "1"]
    run = run_to_end(command, cwd=Path(__file__).parents[2], timeout=600)
    assert run.returncode == 0, run.stderr[-2000:]
    assert len(find_records(tmp_path / "spans" / "records")) == 2
    assert run.stdout.count("Fine-tuned and tested on the source language") == 1
    (folder,) = (tmp_path / "retrieval").iterdir()
    record = json.loads((folder / RETRIEVAL_RECORD).read_text())
    # 41 pairs are 2 batches of 8 for each of two processes, 8 times; one process would make 5 steps an epoch
    assert record["steps"] == 8 * 2
    assert record["tuned_ndcg"] > record["untuned_ndcg"] + 0.1


if __name__ == "__main__":
    code = main(sys.argv[3:])
    train(*sys.argv[1:3])
    sys.exit(code)
