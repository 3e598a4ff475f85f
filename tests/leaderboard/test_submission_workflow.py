"""The workflow that checks pull requests: its own script on true git repositories, and what it may never do."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

PATH = Path(__file__).parents[2] / ".github" / "workflows" / "check-submissions.yml"
WORKFLOW = yaml.safe_load(PATH.read_text("utf-8"))
STEPS = WORKFLOW["jobs"]["check"]["steps"]
(SCRIPT,) = [step["run"] for step in STEPS if "new files" in step.get("name", "")]


def git(folder, *arguments):
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", "-C", folder, *who, *arguments], check=True, capture_output=True, text=True).stdout


def commit(folder):
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "a change")
    return git(folder, "rev-parse", "HEAD").strip()


def step(folder, base):
    """Runs the script as the runner does."""
    environment = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "BASE": base}
    command = ["bash", "-e", "-o", "pipefail", "-c", SCRIPT]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def proposed(tmp_path):
    """A repository with one submission, and the commit that pull requests start from."""
    folder = tmp_path / "proposed"
    (folder / "leaderboard" / "submissions" / "old-model-1").mkdir(parents=True)
    (folder / "leaderboard" / "submissions" / "old-model-1" / "submission.json").write_text("{}")
    (folder / "setup.py").write_text("")
    git(tmp_path, "init", "-q", "-b", "main", str(folder))
    return folder, commit(folder)


@pytest.fixture
def check(tmp_path, proposed):
    """Commits what has been changed and runs the step."""

    def run():
        folder, base = proposed
        commit(folder)
        return step(tmp_path, base)

    return run


def add(folder, path, content="x"):
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(content)


def test_new_submissions_are_checked_and_no_others(proposed, check, tmp_path):
    for name in ("new.model-2", "another_1"):
        add(proposed[0], f"leaderboard/submissions/{name}/submission.json")
        add(proposed[0], f"leaderboard/submissions/{name}/T1.jsonl.gz")
    run = check()
    assert run.returncode == 0, run.stderr
    folders = (tmp_path / "folders").read_text().splitlines()
    assert folders == ["proposed/leaderboard/submissions/another_1", "proposed/leaderboard/submissions/new.model-2"]


def test_main_may_have_moved_on(proposed, check, tmp_path):
    """The base is the tip of main: what has come in there since is not a change of the pull request."""
    folder, base = proposed
    git(folder, "checkout", "-q", "-b", "main-moves")
    add(folder, "setup.py", "new code on main")
    tip = commit(folder)
    git(folder, "checkout", "-q", "-b", "request", base)
    add(folder, "leaderboard/submissions/new/submission.json")
    commit(folder)
    run = step(tmp_path, tip)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "folders").read_text() == "proposed/leaderboard/submissions/new\n"


def executable(folder):
    add(folder, "leaderboard/submissions/new/submission.json")
    (folder / "leaderboard/submissions/new/submission.json").chmod(0o755)


def link(folder):
    (folder / "leaderboard" / "submissions" / "new").mkdir()
    (folder / "leaderboard" / "submissions" / "new" / "T1.jsonl.gz").symlink_to("/etc/passwd")


def link_for_all(folder):
    (folder / "leaderboard" / "submissions" / "old-model-1" / "submission.json").unlink()
    (folder / "leaderboard" / "submissions" / "old-model-1").rmdir()
    (folder / "leaderboard" / "submissions").rmdir()
    (folder / "leaderboard" / "submissions").symlink_to("/etc")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda folder: add(folder, "setup.py", "import os"), "'setup.py' (status M"),
        (lambda folder: add(folder, "leaderboard/submissions/../../pyproject.toml"), "'pyproject.toml' (status A"),
        (lambda folder: add(folder, ".github/workflows/mine.yml"), "'.github/workflows/mine.yml'"),
        (lambda folder: add(folder, "leaderboard/submissions/old-model-1/submission.json", "[]"), "status M"),
        (
            lambda folder: add(folder, "leaderboard/submissions/old-model-1/spans.jsonl.gz"),
            "'leaderboard/submissions/old-model-1/spans.jsonl.gz'",
        ),
        (lambda folder: (folder / "leaderboard/submissions/old-model-1/submission.json").unlink(), "status D"),
        (lambda folder: add(folder, "leaderboard/submissions/README"), "'leaderboard/submissions/README'"),
        (
            lambda folder: add(folder, "leaderboard/submissions/new/deep/T1.jsonl.gz"),
            "'leaderboard/submissions/new/deep/T1.jsonl.gz'",
        ),
        (
            lambda folder: add(folder, "leaderboard/submissions/-rf/submission.json"),
            "'leaderboard/submissions/-rf/submission.json'",
        ),
        (
            lambda folder: add(folder, "leaderboard/submissions/$(id)/submission.json"),
            "'leaderboard/submissions/$(id)/submission.json'",
        ),
        (lambda folder: add(folder, "leaderboard/submissions/a\n::error::b/submission.json"), r"a\n::error::b"),
        (
            lambda folder: add(folder, os.fsdecode(b"leaderboard/submissions/\xff/submission.json")),
            r"xff/submission.json",
        ),
        (executable, "mode 100755"),
        (link, "mode 120000"),
        (link_for_all, "Refused"),
    ],
)
def test_anything_else_is_refused(proposed, check, change, what):
    change(proposed[0])
    run = check()
    assert run.returncode == 1
    (line,) = [line for line in run.stderr.splitlines() if line.startswith("Refused: ")]
    assert what in line


def test_the_code_is_mains_and_the_token_can_only_read():
    text = PATH.read_text("utf-8")
    assert list(WORKFLOW[True]) == ["pull_request_target"]  # YAML 1.1 reads `on` as a truth
    assert WORKFLOW["permissions"] == {}
    assert WORKFLOW["jobs"]["check"]["permissions"] == {"contents": "read"}
    assert "secrets" not in re.sub(r"#.*", "", text)
    for step in STEPS:
        assert "${{" not in step.get("run", "")  # nothing of the pull request becomes part of a script
        if "uses" in step:
            assert re.fullmatch(r"actions/(checkout|setup-python)@[0-9a-f]{40}", step["uses"])
    code, data = (step["with"] for step in STEPS if "checkout" in step.get("uses", ""))
    assert (code["path"], "pull_request" in code["ref"], code["persist-credentials"]) == ("main", False, False)
    assert (data["path"], data["persist-credentials"]) == ("proposed", False)
    installs = [step["run"] for step in STEPS if "pip install" in step.get("run", "")]
    assert installs == ["python -m pip install --quiet -c main/constraints.txt ./main"]
