"""The hook in real interpreters: what it costs, what it registers, and that it never breaks its host."""

import json
import os
import sys
import types
from dataclasses import replace
from pathlib import Path

import pytest

import turkic_idiom_tasks
from tests.warm_commands import run_to_end
from turkic_idiom_tasks.harnesses import mteb_plugin
from turkic_idiom_tasks.harnesses.private_names import HARNESSES

SEES_TASKS = "import mteb; print(sorted(t.metadata.name for t in mteb.get_tasks() if 'TurkicIdiom' in t.metadata.name))"
ALL_TASKS = "['TurkicIdiomSTS', 'TurkicIdiomT1', 'TurkicIdiomT2', 'TurkicIdiomT3', 'TurkicIdiomT4']"


def python(code, *, flags=(), **environment):
    code = f"import gc; gc.disable()\n{code}"  # a fifth of the time of the import of mteb
    return run_to_end([sys.executable, *flags, "-c", code], env=os.environ | environment)


IN_ONE_PROCESS = """
import json, os, sys, mteb
from mteb.models.model_implementations import MODEL_REGISTRY
from turkic_idiom_tasks.errors import InputError
task = mteb.get_task("TurkicIdiomT1", languages=["azj"])
print(json.dumps({
    "subsets": task.hf_subsets,
    "benchmark": [t.metadata.name for t in mteb.get_benchmark("TurkicIdiom(v1)").tasks],
    "alias": mteb.get_benchmark("TurkicIdiom").name,
    "by_language": sorted(t.metadata.name for t in mteb.get_tasks(languages=["gag"]) if "Turkic" in t.metadata.name),
    "baseline": "turkic-idiom/char-ngrams" in MODEL_REGISTRY,
    "pooled": sum("(pooling=" in name for name in MODEL_REGISTRY) >= 45,
    "similar": mteb.get_task("TurkicIdiomT2").metadata.is_filled(),
}))
os.environ["TURKIC_IDIOM_DATA"] = "./absent"
try:
    mteb.get_task("TurkicIdiomT1").load_data()
except InputError as error:
    print("caught", error)
try:
    raise KeyError("theirs")
except KeyError:
    sys.excepthook(*sys.exc_info())
mteb.get_task("TurkicIdiomT1").load_data()
"""


def test_in_one_process_mteb_knows_us_and_an_uncaught_input_error_is_one_line():
    """Other errors keep their traceback, and a program that catches an InputError gets it."""
    run = python(IN_ONE_PROCESS)
    assert json.loads(run.stdout.splitlines()[0]) == {
        "subsets": ["tur-azj"],
        "benchmark": ["TurkicIdiomT1", "TurkicIdiomT2", "TurkicIdiomT3"],
        "alias": "TurkicIdiom(v1)",
        "by_language": ["TurkicIdiomT1", "TurkicIdiomT2", "TurkicIdiomT3"],
        "baseline": True,
        "pooled": True,
        "similar": True,
    }
    assert run.returncode == 1
    caught = run.stdout.splitlines()[1]
    assert caught.startswith("caught ./absent: no such directory")
    *traceback, line = run.stderr.splitlines()
    assert traceback[0].startswith("Traceback")
    assert traceback[-1] == "KeyError: 'theirs'"
    assert line == f"turkic-idiom-tasks: error: {caught.removeprefix('caught ')}"


def test_the_hook_loads_nothing_but_itself():
    """A start of Python that never imports mteb or lm-eval pays for the hook's own modules alone."""
    names = "import sys; print(*sys.modules)"
    with_hook = set(python(names).stdout.split())
    without = set(python(names, flags=("-S",)).stdout.split())
    ours = {name for name in with_hook if name.startswith("turkic_idiom_tasks")}
    assert "turkic_idiom_tasks.harnesses.hook" in ours
    assert len(ours) <= 4
    packages = {name.partition(".")[0] for name in with_hook - without}
    assert packages.isdisjoint({"mteb", "lm_eval", "torch", "numpy", "yaml", "pydantic", "datasets", "transformers"})


@pytest.mark.long
def test_it_can_be_turned_off_and_registered_by_hand():
    early = "; mteb.get_benchmarks(); from mteb.models.model_implementations import MODEL_REGISTRY"
    by_hand = "; import turkic_idiom_tasks; turkic_idiom_tasks.register(); turkic_idiom_tasks.register(); "
    code = SEES_TASKS + early + by_hand + SEES_TASKS + "; print(mteb.get_benchmark('TurkicIdiom(v1)').name)"
    run = python(code + "; print('turkic-idiom/char-ngrams' in MODEL_REGISTRY)", TURKIC_IDIOM_NO_HOOK="1")
    assert run.stdout.splitlines() == ["[]", ALL_TASKS, "TurkicIdiom(v1)", "True"]
    ours_first = "from turkic_idiom_tasks import TurkicIdiomT2; " + SEES_TASKS  # which registers our tasks too
    assert python(ours_first, TURKIC_IDIOM_NO_HOOK="1").stdout.splitlines() == [ALL_TASKS]


def test_an_mteb_task_of_our_name_stays_mtebs():
    module = types.ModuleType("mteb.tasks")
    module.TurkicIdiomT1 = type("Theirs", (), {"metadata": turkic_idiom_tasks.TurkicIdiomT1.metadata})
    theirs = module.TurkicIdiomT1
    mteb_plugin.add_tasks(module)
    assert module.TurkicIdiomT1 is theirs
    assert hasattr(module, "TurkicIdiomT2")


@pytest.mark.parametrize("name", [name for _, names in HARNESSES.values() for name in names], ids=str)
def test_a_name_that_a_harness_does_not_promise_is_there_and_its_loss_would_be_noticed(name):
    assert name.is_there(), f"there is no {name} any more; we need it: {name.reason}"
    assert not replace(name, module="mteb.no_such_module").is_there()
    gone = replace(name, **{"used_in" if name.used_in else "name": f"{name.name}_no_more"})
    assert not gone.is_there()
    assert str(gone) == f"{gone.module}:{gone.name}"


@pytest.mark.long
def test_api_drift_warns_once_and_never_breaks_mteb():
    # an mteb whose retrieval base class has gone: simulated by a module that shadows ours and raises
    code = """
import sys, turkic_idiom_tasks
class Raises:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "turkic_idiom_tasks.harnesses.mteb_tasks":
            raise ImportError("cannot import name 'AbsTaskRetrieval'")
sys.meta_path.insert(0, Raises)
import mteb
print(len(mteb.get_tasks(tasks=["STS12"])))"""
    run = python(code)
    assert run.stdout.strip() == "1"
    assert "turkic-idiom-tasks could not register with mteb" in run.stderr
    assert "AbsTaskRetrieval" in run.stderr
    assert "run `turkic-idiom doctor`" in run.stderr
    assert "Traceback" not in run.stderr


def test_without_our_package_the_start_up_file_is_silent_for_the_user():
    pth = (Path(turkic_idiom_tasks.__file__).parent / "harnesses" / "turkic_idiom_tasks.pth").read_text()
    run = python(f"import sys; sys.modules['turkic_idiom_tasks'] = None\nexec({pth!r}); print('alive')", flags=("-S",))
    assert run.stdout.strip() == "alive"
    assert run.stderr.startswith("turkic-idiom-tasks: start-up hook not installed: ")
    assert "Traceback" not in run.stderr


def test_a_file_in_the_current_folder_does_not_take_the_place_of_our_packages(tmp_path):
    for name in ("leaderboard.py", "hub_datasets.py", "typer.py"):
        (tmp_path / name).write_text("raise SystemExit('the wrong module')")
    run = run_to_end([sys.executable, "-m", "turkic_idiom_tasks", "--version"], cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("turkic-idiom-tasks ")
