"""The stock `lighteval` command on our tasks: its scores are those of lm-eval on the same answers."""

import hashlib
import json
import os
import sys
from pathlib import Path

import pytest

from tests.lm_eval_runs import evaluate, manager  # noqa: F401
from tests.warm_commands import run_to_end

lighteval = pytest.importorskip("lighteval")

MODEL = """
import hashlib

from lighteval.models.abstract_model import LightevalModel
from lighteval.models.model_output import ModelResponse
from lighteval.utils.cache_management import SampleCache


class Hashed(LightevalModel):
    tokenizer, add_special_tokens, max_length = None, False, 2048

    def __init__(self, config):
        self.config = config
        self._cache = SampleCache(config)  # which lighteval's command expects

    def greedy_until(self, docs):
        raise NotImplementedError

    loglikelihood_rolling = greedy_until

    def loglikelihood(self, docs):
        responses = []
        for doc in docs:
            chosen = hashlib.sha256(doc.query.encode()).digest()[0] % len(doc.choices)
            values = [float(number == chosen) for number in range(len(doc.choices))]
            responses.append(ModelResponse(logprobs=values, argmax_logits_eq_gold=[False] * len(values)))
        return responses
"""


def make_overlay(folder):
    """Link the installed lighteval with one of its tasks in a folder.

    Some task modules download files when they are imported, which the command does with all of them.
    """
    installed = Path(lighteval.__file__).parent
    tasks = folder / "lighteval" / "tasks"
    (tasks / "tasks").mkdir(parents=True)
    for source, target in ((installed, tasks.parent), (installed / "tasks", tasks)):
        for path in source.iterdir():
            if path.name not in ("tasks", "__pycache__"):
                (target / path.name).symlink_to(path)
    (tasks / "tasks" / "sciq.py").symlink_to(installed / "tasks" / "tasks" / "sciq.py")


def test_scores_are_those_of_lm_eval(manager, tmp_path):  # noqa: F811
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    make_overlay(tmp_path / "overlay")
    asked = [*(f"turkic_idiom_{kind}|0" for kind in ("meaning", "usage", "cloze")), "turkic_idiom_equivalent:tr_uz|0"]
    arguments = ["custom", "hashed", "model.py", ",".join(asked), "--output-dir", "out"]
    arguments += ["--custom-tasks", "turkic_idiom_tasks.harnesses.lighteval"]
    folders = {"PYTHONPATH": "overlay", "HF_HOME": "hf", "XDG_CACHE_HOME": "cache"}
    environment = os.environ | {name: str(tmp_path / folder) for name, folder in folders.items()}
    run = run_to_end([sys.executable, "-m", "lighteval", *arguments], env=environment, cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    (path,) = (tmp_path / "out").rglob("results_*.json")
    scores = json.loads(path.read_text(encoding="utf-8"))["results"]
    of_lighteval = {}
    for name, score in scores.items():
        if ":" in name and "_average" not in name:
            of_lighteval[name.partition("|")[0].replace(":", "_")] = score["acc"]
    # All six languages have meanings, four literal sentences for usage, and all but Kazakh cloze
    assert len(of_lighteval) == 6 + 4 + 5 + 1

    def answer(document):
        return document["letters"][hashlib.sha256(document["query"].encode()).digest()[0] % len(document["letters"])]

    expected = evaluate(answer, [*of_lighteval], manager, log_samples=False)["results"]
    of_lm_eval = {name: score["acc,none"] for name, score in expected.items()}
    assert of_lighteval == pytest.approx(of_lm_eval, abs=1e-12)
    assert len(set(of_lm_eval.values())) > 10  # the answers tell the tasks apart
