"""`turkic-idiom doctor` in broken environments: packages with a wrong version, and packages whose import raises."""

import os
import sys
from pathlib import Path

import pytest

from turkic_idiom_tasks.harnesses import doctor
from turkic_idiom_tasks.harnesses.private_names import installed_version

OWN_REQUIREMENTS = (
    "mteb[bm25s]<3,>=2.11.6",
    "lm-eval[api,hf]<0.5,>=0.4.13",
    "pydantic<3,>=2.11",
    *("torch<3,>=2.6", "transformers<6,>=5.0", "typer>=0.16", "pyyaml>=6.0", "huggingface-hub<3,>=1.4"),
    "absent-tool>=1; extra == 'tool'",
)

BROKEN = {
    "pydantic": "TypeError('metaclass conflict')",  # what pydantic 2.0 raised beside a newer mteb
    "torch": "OSError('libcudart.so.13: cannot open')",
    "transformers": "type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})",
    "mteb": "SystemExit(3)",
    "lm-eval": "BaseException('a panic')",
    "pyyaml": "ImportError('_yaml')",
}


class StandIns:
    """A folder that comes before site-packages, with metadata and modules that take the place of installed ones."""

    def __init__(self, folder, command):
        self.folder, self.command = folder, command

    def metadata(self, name, version, *requirements):
        folder = self.folder / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", "Provides-Extra: api"]
        lines += [f"Requires-Dist: {requirement}" for requirement in requirements]
        (folder / "METADATA").write_text("\n".join(lines) + "\n")

    def module(self, name, code):
        (self.folder / name).mkdir()
        (self.folder / name / "__init__.py").write_text(code + "\n")

    def broken(self, *distributions):
        """Give distributions a version that is too old, and modules whose import raises what `BROKEN` has for them."""
        for distribution in distributions:
            self.metadata(distribution, "0.0.1")
            module = {"lm-eval": "lm_eval", "pyyaml": "yaml"}.get(distribution, distribution)
            self.module(module, f"raise {BROKEN[distribution]}")

    def leave_out(self, *names):
        """Make the import of modules fail, to save its time, unless there are stand-ins for them already."""
        for name in (*names, "torch", "transformers", "lm_eval", "sentence_transformers"):
            if not (self.folder / name).exists():
                self.module(name, "raise ImportError('left out here, to save time')")

    def run(self, *arguments, **environment):
        """Run the installed command, as a user would; it must end with 1 and without a traceback."""
        path = os.pathsep.join([str(self.folder), os.environ.get("PYTHONPATH", "")])
        run = self.command("turkic-idiom", *arguments, PYTHONPATH=path, **environment)
        assert run.returncode == 1, run.stdout + run.stderr
        assert "Traceback" not in run.stderr
        return run


@pytest.fixture
def stand_ins(command, tmp_path, monkeypatch):
    folder = tmp_path / "stand_ins"
    folder.mkdir()
    stand_ins = StandIns(folder, command)
    stand_ins.metadata("turkic-idiom-tasks", "0.1.0", *OWN_REQUIREMENTS)
    monkeypatch.syspath_prepend(str(folder))
    return stand_ins


@pytest.mark.long
@pytest.mark.slow
def test_doctor_begins_with_the_verdict(command):
    run = command("turkic-idiom", "doctor")
    assert run.returncode == 0, run.stdout
    verdict, blank, *details = run.stdout.splitlines()
    assert verdict.startswith("everything is registered")
    assert not blank
    assert "mteb task TurkicIdiomT1: registered" in details
    label, folder = details[-1].split(": ")  # for lm-eval's --include_path
    assert label == "task folder"
    assert list(Path(folder).glob("*.yaml"))


def test_a_reader_that_stops_reading_is_no_traceback(monkeypatch):
    """As in `turkic-idiom doctor | head -1`; what was left to write must not fail at the end of the process either."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stream, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        assert doctor.print_diagnosis(doctor.Diagnosis) == 1


@pytest.mark.long
def test_doctor_without_the_hook_says_so_and_finds_nothing_registered(stand_ins):
    stand_ins.leave_out()
    printed = stand_ins.run("doctor", TURKIC_IDIOM_NO_HOOK="1").stdout
    assert "start-up hook: NOT ACTIVE" in printed
    assert "TURKIC_IDIOM_NO_HOOK is set: unset it" in printed
    assert "mteb benchmark TurkicIdiom(v1): MISSING" in printed
    assert "mteb models: 0 registered" in printed


def verdict_on_versions(printed, broken):
    """The first line of a diagnosis, which must name the version of every broken package."""
    verdict, advice, *_ = printed.splitlines()
    for distribution in broken:
        assert f"but you have {distribution} 0.0.1" in verdict
    assert advice == "-> install what is needed: pip install turkic-idiom-tasks"
    assert "start-up hook: active" in printed  # the other checks went on
    return verdict


@pytest.mark.long
@pytest.mark.parametrize("broken", [["pydantic"], ["pyyaml"], [*BROKEN]], ids=["pydantic", "pyyaml", "all"])
def test_doctor_names_the_wrong_versions_of_packages_whose_import_raises(stand_ins, broken):
    stand_ins.broken(*broken)
    stand_ins.leave_out()
    verdict_on_versions(stand_ins.run("doctor").stdout, broken)


@pytest.mark.parametrize("arguments", [pytest.param(("doctor",), marks=pytest.mark.long), ("dataset", "check")])
def test_where_no_command_can_be_loaded_each_prints_the_diagnosis(stand_ins, arguments):
    stand_ins.metadata("typer", "0.0.1")
    stand_ins.module("typer", "raise TypeError('no argument ctx')")
    broken = [distribution for distribution in BROKEN if distribution != "transformers"]
    stand_ins.broken(*broken)
    stand_ins.module("transformers", f"raise {BROKEN['transformers']}")
    # What transformers 5.0.0 and huggingface-hub 2.0.0 state; both are inside our bounds. Others do not concern us.
    stand_ins.metadata("transformers", "5.0.0", "huggingface_hub<2.0,>=1.3.0")
    stand_ins.metadata("huggingface-hub", "2.0.0")
    stand_ins.metadata("unrelated", "1.0", "not-ours>=1")
    stand_ins.leave_out()
    run = stand_ins.run(*arguments)
    verdict = verdict_on_versions(run.stdout, broken)
    assert "transformers 5.0.0 has requirement huggingface_hub<2.0,>=1.3.0" in verdict
    assert "not-ours" not in run.stdout
    assert "turkic-idiom-tasks 0.1.0 has requirement typer>=0.16, but you have typer 0.0.1" in verdict
    assert ("TypeError: no argument ctx" in run.stderr) == (arguments != ("doctor",))


def test_a_package_with_the_right_version_whose_import_raises_is_to_be_installed_again(stand_ins):
    stand_ins.module("pip", "raise RuntimeError('half an installation')")  # nor is there a pip, as under uv
    stand_ins.metadata("pydantic", "2.11.3")
    stand_ins.module("pydantic", "raise ValueError('half an installation')")
    stand_ins.leave_out("mteb")
    printed = stand_ins.run("doctor").stdout
    assert "versions: cannot be checked by pip: RuntimeError: half an installation" in printed
    assert "pydantic cannot be imported" in printed.splitlines()[0]
    assert "import of pydantic fails: ValueError: half an installation" in printed
    assert "pip install --force-reinstall --no-deps 'pydantic==2.11.3'" in printed.splitlines()[1]


def test_a_clash_of_package_names_is_named(stand_ins):
    """Another distribution has a package `leaderboard`, and a folder `hub_datasets` comes before ours."""
    stand_ins.metadata("rankings", "2.0")
    (stand_ins.folder / "rankings-2.0.dist-info" / "top_level.txt").write_text("leaderboard\n")
    stand_ins.module("hub_datasets", "")
    stand_ins.leave_out("pip", "pydantic", "mteb")
    printed = stand_ins.run("doctor").stdout
    assert "package leaderboard: also a package of rankings" in printed
    assert f"package hub_datasets: imported from {stand_ins.folder}" in printed
    assert "-> remove that leaderboard" in printed


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00"])
def test_damaged_metadata_is_as_good_as_none(stand_ins, content):
    stand_ins.metadata("torch", "2.13.0")
    (stand_ins.folder / "torch-2.13.0.dist-info" / "METADATA").write_bytes(content)
    assert installed_version("torch") is None
