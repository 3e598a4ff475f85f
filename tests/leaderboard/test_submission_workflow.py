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
PLACE = "leaderboard/submissions"


def git(folder, *arguments):
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", "-C", folder, *who, *arguments], check=True, capture_output=True, text=True).stdout


def commit(folder):
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "a change")


def add(folder, path, content="x"):
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(content)


@pytest.fixture
def proposed(tmp_path):
    """A repository with one submission."""
    folder = tmp_path / "proposed"
    add(folder, f"{PLACE}/old-model-1/submission.json", "{}")
    add(folder, "setup.py", "")
    git(tmp_path, "init", "-q", "-b", "main", str(folder))
    commit(folder)
    return folder


@pytest.fixture
def check(proposed, tmp_path):
    """Commits what has been changed and runs the script as the runner does, from a commit of main."""

    def run(base="HEAD~1"):
        commit(proposed)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {"PATH": path, "BASE": git(proposed, "rev-parse", base).strip()}
        command = ["bash", "-e", "-o", "pipefail", "-c", SCRIPT]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    return run


def test_new_submissions_are_checked_and_no_others(proposed, check, tmp_path):
    """The base is the tip of main, which may have moved on: what came in there is no change of the pull request."""
    git(proposed, "checkout", "-q", "-b", "request")
    git(proposed, "checkout", "-q", "main")
    add(proposed, "setup.py", "new code on main")
    commit(proposed)
    git(proposed, "checkout", "-q", "request")
    for name in ("new.model-2", "another_1"):
        add(proposed, f"{PLACE}/{name}/submission.json")
        add(proposed, f"{PLACE}/{name}/T1.jsonl.gz")
    run = check("main")
    assert run.returncode == 0, run.stderr
    folders = (tmp_path / "folders").read_text().splitlines()
    assert folders == [f"proposed/{PLACE}/another_1", f"proposed/{PLACE}/new.model-2"]


def executable(folder):
    add(folder, f"{PLACE}/new/submission.json")
    (folder / f"{PLACE}/new/submission.json").chmod(0o755)


def link(folder):
    (folder / PLACE / "new").mkdir()
    (folder / PLACE / "new" / "T1.jsonl.gz").symlink_to("/etc/passwd")


def link_for_all(folder):
    (folder / PLACE).rename(folder / "elsewhere")
    (folder / PLACE).symlink_to("/etc")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("setup.py", "'setup.py' (status M"),
        (f"{PLACE}/../../pyproject.toml", "'pyproject.toml' (status A"),
        (".github/workflows/mine.yml", "'.github/workflows/mine.yml'"),
        (f"{PLACE}/old-model-1/submission.json", "status M"),
        (f"{PLACE}/old-model-1/spans.jsonl.gz", f"'{PLACE}/old-model-1/spans.jsonl.gz'"),
        (lambda folder: (folder / f"{PLACE}/old-model-1/submission.json").unlink(), "status D"),
        (f"{PLACE}/README", f"'{PLACE}/README'"),
        (f"{PLACE}/new/deep/T1.jsonl.gz", f"'{PLACE}/new/deep/T1.jsonl.gz'"),
        (f"{PLACE}/-rf/submission.json", f"'{PLACE}/-rf/submission.json'"),
        (f"{PLACE}/$(id)/submission.json", f"'{PLACE}/$(id)/submission.json'"),
        (f"{PLACE}/a\n::error::b/submission.json", r"a\n::error::b"),
        (os.fsdecode(f"{PLACE}/".encode() + b"\xff/submission.json"), r"xff/submission.json"),
        (executable, "mode 100755"),
        (link, "mode 120000"),
        (link_for_all, "Refused"),
    ],
)
def test_anything_else_is_refused(proposed, check, change, what):
    if callable(change):
        change(proposed)
    else:
        add(proposed, change)
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
