"""lm-eval's own API on our tasks, with models whose every answer is known, and the files of its command."""

import json
import math
import shutil
from collections import defaultdict
from dataclasses import replace
from functools import cache
from pathlib import Path
from unittest.mock import patch

import lm_eval
import pytest
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager
from lm_eval.tasks._index import TaskIndex

from turkic_idiom_tasks.harnesses import TASK_FOLDER


class Scripted(LM):
    """A language model that answers what a function of the document says, written or by likelihood."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def generate_until(self, requests, disable_tqdm=False):
        return [self.answer(request.doc) for request in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        return [(float(self.answer(request.doc) == request.args[1].strip()), False) for request in requests]

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        raise NotImplementedError

    tokenizer_name = "none"

    def chat_template(self, chat_template=False):
        return ""

    def apply_chat_template(self, chat_history, add_generation_prompt=True):
        return chat_history[-1]["content"]


@cache
def _index():
    return TaskIndex.build([TASK_FOLDER])  # takes a second


def our_tasks(**options):
    """The tasks of our folder alone: starts at once."""
    index = {name: replace(entry) for name, entry in _index().items()}
    with patch.object(TaskIndex, "build", staticmethod(lambda paths: index)):
        return TaskManager(include_path=str(TASK_FOLDER), include_defaults=False, **options)


@pytest.fixture(scope="session")
def manager():
    return our_tasks()


def evaluate(model, tasks, manager, **options):
    """Evaluate a model, or a function from a document to an answer; without a list of packages that takes a second."""
    model = Scripted(model) if callable(model) and not isinstance(model, LM) else model
    options = {"bootstrap_iters": 0, "log_samples": True} | options
    with patch("torch.utils.collect_env.get_pip_packages", lambda run: ("pip", "")):
        return simple_evaluate(model=model, tasks=tasks, task_manager=manager, **options)


def write_samples(folder, found):
    """Writes what `lm-eval run --log_samples --output_path` writes."""
    for task, rows in found["samples"].items():
        lines = [json.dumps(row, default=str) + "\n" for row in rows]
        (folder / f"samples_{task}_2026.jsonl").write_text("".join(lines))
    configs = {name: {"metadata": config["metadata"]} for name, config in found["configs"].items()}
    results = {"model_name": "org/llm", "lm_eval_version": "0.4.13", "config": {"model": "hf"}}
    results |= {"n-shot": found["n-shot"], "configs": configs}
    (folder / "results_2026.json").write_text(json.dumps(results, default=str))


def clustered_error(values, clusters):
    """Standard error of a mean: sqrt of the sum of squared sums of residuals, / n, times sqrt(G / (G - 1))."""
    sums = defaultdict(float)
    for value, cluster in zip(values, clusters, strict=True):
        sums[cluster] += value - sum(values) / len(values)
    variance = sum(total**2 for total in sums.values()) / len(values) ** 2
    return math.sqrt(variance * len(sums) / (len(sums) - 1))


def results_of(folder):
    """(results, task -> samples) of one run of the command."""
    (path,) = folder.rglob("results_*.json")
    samples = {}
    for file in folder.rglob("samples_*.jsonl"):
        task = file.name.removeprefix("samples_").rpartition("_")[0]
        samples[task] = [json.loads(line) for line in file.read_text().splitlines()]
    return json.loads(path.read_text()), samples


@pytest.fixture(scope="session")
def few_tasks(tmp_path_factory):
    """The installed lm-eval with one of its own tasks, in six languages; returns what PYTHONPATH must be.

    The code consists of links. A command reads all task files, and of its twenty seconds ten go by with the fourteen
    thousand that lm-eval brings.
    """
    installed = Path(lm_eval.__file__).parent
    folder = tmp_path_factory.mktemp("few_tasks")
    (folder / "lm_eval" / "tasks").mkdir(parents=True)
    for path in installed.iterdir():
        if path.name not in ("tasks", "__pycache__"):
            (folder / "lm_eval" / path.name).symlink_to(path)
    for path in installed.glob("tasks/*.py"):
        (folder / "lm_eval" / "tasks" / path.name).symlink_to(path)
    shutil.copytree(installed / "tasks" / "xwinograd", folder / "lm_eval" / "tasks" / "xwinograd")
    return str(folder)
