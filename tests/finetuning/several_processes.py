"""Training of the toy task in several processes with the environment that torchrun gives each of them."""

import multiprocessing
import os
import socket
from pathlib import Path

from tests.finetuning.toy_task import changed, regime
from turkic_idiom_tasks.finetuning.cards import save_tuned, tuning_record
from turkic_idiom_tasks.finetuning.config import is_first_process
from turkic_idiom_tasks.finetuning.retrieval import fine_tune_retrieval
from turkic_idiom_tasks.finetuning.trainee import load_trainee

CONFIG = changed(epochs=8, batch_size=8, patience=99)


def train_in_processes(n_processes, model, out):
    """Train together and save the model below `out`, once for each process that thinks it is the first; exit codes."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])  # the heavy packages are imported once
    processes = []
    for rank in range(n_processes):
        variables = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": n_processes, "LOCAL_WORLD_SIZE": n_processes,
                     "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "OMP_NUM_THREADS": 1}  # fmt: skip
        processes.append(context.Process(target=_train, args=(variables, model, out)))
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        process.kill()
        process.join()
    return [process.exitcode for process in processes]


def _train(variables, model, out):
    os.environ |= {name: str(value) for name, value in variables.items()}
    trainee = load_trainee(str(model), task="T2", device="cpu")
    tuned = fine_tune_retrieval(trainee, regime(), config=CONFIG)
    if is_first_process():
        record = tuning_record(trainee, regime(), tuned, config=CONFIG, path="lexicon", revision="f" * 40)
        save_tuned(tuned, Path(out) / f"by-{os.environ['RANK']}", record)
