"""The hook in real interpreters: what it costs, what it registers, and that it never breaks its host."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import turkic_idiom_tasks

SEES_TASKS = "import mteb; print(sorted(t.metadata.name for t in mteb.get_tasks() if 'TurkicIdiom' in t.metadata.name))"
ALL_TASKS = "['TurkicIdiomT1', 'TurkicIdiomT2', 'TurkicIdiomT3']"


def python(code, *flags, check=True, **environment):
    variables = {**os.environ, **environment}
    return subprocess.run(
        [sys.executable, *flags, "-c", code], env=variables, capture_output=True, text=True, timeout=120, check=check
    )


def test_mteb_sees_tasks_benchmark_and_models_after_installation():
    code = """
import json, mteb
from mteb.models.model_implementations import MODEL_REGISTRY
task = mteb.get_task("TurkicIdiomT1", languages=["azj"])
print(json.dumps({
    "subsets": task.hf_subsets,
    "benchmark": [t.metadata.name for t in mteb.get_benchmark("TurkicIdiom(v1)").tasks],
    "alias": mteb.get_benchmark("TurkicIdiom").name,
    "by_language": sorted(t.metadata.name for t in mteb.get_tasks(languages=["gag"]) if "Turkic" in t.metadata.name),
    "baseline": "turkic-idiom/char-ngrams" in MODEL_REGISTRY,
    "pooled": sum("(pooling=" in name for name in MODEL_REGISTRY) >= 45,
    "similar": mteb.get_task("TurkicIdiomT2").metadata.is_filled(),
}))"""
    found = json.loads(python(code).stdout.splitlines()[-1])
    assert found == {
        "subsets": ["tur-azj"],
        "benchmark": ["TurkicIdiomT1", "TurkicIdiomT2", "TurkicIdiomT3"],
        "alias": "TurkicIdiom(v1)",
        "by_language": ["TurkicIdiomT1", "TurkicIdiomT2", "TurkicIdiomT3"],
        "baseline": True,
        "pooled": True,
        "similar": True,
    }


def test_the_hook_imports_nothing_of_weight():
    code = "import sys; print([m for m in sys.modules if m.split('.')[0] in ('mteb', 'numpy', 'turkic_idiom_tasks')])"
    assert python(code).stdout.strip() == str(
        ["turkic_idiom_tasks", "turkic_idiom_tasks.startup", "turkic_idiom_tasks.startup.hook"]
    )


def test_the_hook_costs_less_than_a_millisecond(tmp_path):
    # microseconds for the hook's three modules by -X importtime, compiled files in place as pip leaves them
    costs = []
    for _ in range(9):
        run = python("pass", "-X", "importtime", PYTHONPYCACHEPREFIX=str(tmp_path), PYTHONDONTWRITEBYTECODE="")
        (line,) = [line for line in run.stderr.splitlines() if line.endswith(" turkic_idiom_tasks.startup.hook")]
        costs.append(int(line.split("|")[1]))
    assert min(costs) < 1000


def test_it_can_be_turned_off_and_registered_by_hand():
    assert python(SEES_TASKS, TURKIC_IDIOM_NO_HOOK="1").stdout.strip() == "[]"
    by_hand = "import mteb, turkic_idiom_tasks; turkic_idiom_tasks.register(); turkic_idiom_tasks.register(); "
    late = python(
        by_hand + SEES_TASKS + "; print(mteb.get_benchmark('TurkicIdiom(v1)').name)", TURKIC_IDIOM_NO_HOOK="1"
    )
    assert late.stdout.split("\n")[:2] == [ALL_TASKS, "TurkicIdiom(v1)"]


def test_our_tasks_imported_before_mteb():
    code = "from turkic_idiom_tasks.retrieval.tasks import TurkicIdiomT1; " + SEES_TASKS
    assert python(code).stdout.strip() == ALL_TASKS
    assert python(code, TURKIC_IDIOM_NO_HOOK="1").stdout.strip() == ALL_TASKS
    assert (
        python("from turkic_idiom_tasks import TurkicIdiomT2; print(TurkicIdiomT2.metadata.name)").stdout
        == "TurkicIdiomT2\n"
    )


def test_an_mteb_task_of_our_name_stays_mtebs():
    code = """
import sys, types
from turkic_idiom_tasks.startup import mteb_plugin
from turkic_idiom_tasks.retrieval.tasks import TurkicIdiomT1
class Theirs: metadata = TurkicIdiomT1.metadata
module = types.ModuleType("mteb.tasks"); module.TurkicIdiomT1 = Theirs
mteb_plugin.add_tasks(module)
print(module.TurkicIdiomT1 is Theirs, hasattr(module, "TurkicIdiomT2"))"""
    assert python(code).stdout.strip() == "True True"


def test_api_drift_warns_once_and_never_breaks_mteb(tmp_path):
    # an mteb whose retrieval base class has gone: simulated by a module that shadows ours and raises
    code = """
import sys, turkic_idiom_tasks.retrieval as package
class Raises:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "turkic_idiom_tasks.retrieval.tasks": raise ImportError("cannot import name 'AbsTaskRetrieval'")
sys.meta_path.insert(0, Raises)
import mteb
print(len(mteb.get_tasks(tasks=["STS12"])))"""
    run = python(code)
    assert run.stdout.strip() == "1"
    assert "turkic-idiom-tasks could not register with mteb" in run.stderr
    assert "AbsTaskRetrieval" in run.stderr
    assert "run `turkic-idiom doctor`" in run.stderr
    assert "Traceback" not in run.stderr


def test_without_our_package_the_start_up_file_is_silent_for_the_user(tmp_path):
    pth = (Path(turkic_idiom_tasks.__file__).parent / "startup" / "turkic_idiom_tasks.pth").read_text()
    run = python(f"import sys; sys.modules['turkic_idiom_tasks'] = None\nexec({pth!r}); print('alive')", "-S")
    assert run.stdout.strip() == "alive"
    assert run.stderr.startswith("turkic-idiom-tasks: start-up hook not installed: ")
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize("disabled", [False, True])
def test_doctor_says_what_is_registered_and_what_to_do(command, disabled):
    run = command("turkic-idiom", "doctor", TURKIC_IDIOM_NO_HOOK="1" if disabled else "0")
    if disabled:
        assert run.returncode == 1
        assert "start-up hook: NOT ACTIVE" in run.stdout
        assert "-> TURKIC_IDIOM_NO_HOOK is set: unset it, or call turkic_idiom_tasks.register()" in run.stdout
    else:
        assert run.returncode == 0, run.stdout
        assert "mteb task TurkicIdiomT1: registered" in run.stdout
        assert run.stdout.endswith("everything is registered\n")
