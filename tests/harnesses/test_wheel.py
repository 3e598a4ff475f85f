"""A plain installation of the wheel, apart from this checkout: what a user gets."""

import json
import os
import site
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.warm_commands import run_to_end

pytestmark = pytest.mark.slow


def python(executable, *arguments, folder):
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    run = run_to_end([executable, *arguments], cwd=folder, env=variables)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An environment with the wheel installed by pip; its dependencies are those of this environment."""
    folder = tmp_path_factory.mktemp("wheel")
    build = ("-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, REPOSITORY)
    python(sys.executable, *build, folder=folder)
    (wheel,) = folder.glob("turkic_idiom_tasks-*.whl")
    python(sys.executable, "-m", "venv", "--without-pip", folder / "env", folder=folder)  # it gets that of this one
    executable = folder / "env" / "bin" / "python"
    (packages,) = folder.glob("env/lib/python*/site-packages")
    # Added this way, a path brings its packages but not its .pth files: our hook comes from the wheel or not at all.
    (packages / "zz_dependencies.pth").write_text("".join(f"{path}\n" for path in site.getsitepackages()))
    python(executable, "-m", "pip", "install", "--quiet", "--no-deps", wheel, folder=folder)
    return executable, folder


def test_the_wheel_carries_the_start_up_files_and_the_lexicon(installed):
    executable, folder = installed
    code = "import turkic_idiom_tasks, hub_datasets; print(turkic_idiom_tasks.__file__, hub_datasets.__file__)"
    for path in python(executable, "-c", code, folder=folder).split():
        assert Path(path).is_relative_to(folder)
    (packages,) = folder.glob("env/lib/python*/site-packages")
    for name in ("lexicon/data/gag.jsonl", "harnesses/lm_eval_tasks/_span_common"):
        assert (packages / "turkic_idiom_tasks" / name).is_file(), name
    assert {*packages.glob("turkic_idiom_tasks.*")} == {
        packages / f"turkic_idiom_tasks.{end}" for end in ("pth", "start")
    }
    assert not (packages / "tests").exists()


def test_the_stock_command_runs_after_a_plain_installation(installed):
    executable, folder = installed
    arguments = ("run", "-m", "turkic-idiom/char-ngrams", "-t", "TurkicIdiomT1", "-l", "gag", "--output-folder", "out")
    python(executable, "-m", "mteb", *arguments, folder=folder)
    (path,) = folder.glob("out/results/turkic-idiom__char-ngrams/*/TurkicIdiomT1.json")
    (row,) = json.loads(path.read_text())["scores"]["test"]
    assert row["hf_subset"] == "tur-gag"
    assert row["ndcg_corrected"] > 0.3  # cognates: far above chance


@pytest.mark.long
def test_lm_eval_knows_the_span_tasks_after_a_plain_installation(installed):
    executable, folder = installed
    arguments = ("run", "--model", "dummy", "--tasks", "turkic_idiom_span_gag", "--output_path", "spans")
    python(executable, "-m", "lm_eval", *arguments, folder=folder)
    (path,) = folder.glob("spans/**/results_*.json")
    scores = json.loads(path.read_text())["results"]["turkic_idiom_span_gag"]
    assert scores["unreadable,strict"] == 1.0  # the dummy model answers "lol"


@pytest.mark.long
def test_uninstalling_leaves_mteb_as_it_was(installed):
    executable, folder = installed
    python(executable, "-m", "pip", "uninstall", "--yes", "--quiet", "turkic-idiom-tasks", folder=folder)
    code = "import mteb; print(sum('TurkicIdiom' in task.metadata.name for task in mteb.get_tasks()))"
    assert python(executable, "-c", code, folder=folder).strip() == "0"
