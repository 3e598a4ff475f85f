"""What each process of a torchrun launch does in `test_several_processes`: a command, then a training.

As a program: torchrun --nproc_per_node N -m tests.training.several_processes MODEL OUT COMMAND...
"""

import gc
import os
import sys
from pathlib import Path

gc.disable()  # a fifth of the time of the imports, which is most of the time of the test
# ruff: noqa: E402

from tests.training.toy_task import changed, record_of, regime
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.training.cards import save_tuned
from turkic_idiom_tasks.training.config import is_first_process
from turkic_idiom_tasks.training.retrieval import fine_tune_retrieval
from turkic_idiom_tasks.training.trainee import load_trainee

CONFIG = changed(epochs=8, batch_size=8, patience=99)


def train(model, out):
    """Train on the toy task and save the model below `out`, once for each process that thinks it is the first."""
    trainee = load_trainee(model, task="T2")
    tuned = fine_tune_retrieval(trainee, regime(), config=CONFIG)
    if is_first_process():
        save_tuned(tuned, Path(out) / f"by-{os.environ['RANK']}", record_of(trainee, tuned, config=CONFIG))


if __name__ == "__main__":
    model, out, *command = sys.argv[1:]
    code = main(command)
    train(model, out)
    sys.exit(code)
