"""The workflows of the repository: they parse, and call only what is there, at versions that cannot move."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_what_is_there(path):
    text = path.read_text("utf-8")
    workflow = yaml.safe_load(text)
    assert workflow[True], "triggers"  # YAML 1.1 reads the key `on` as true
    assert "permissions" in workflow
    for step in (step for job in workflow["jobs"].values() for step in job["steps"]):
        if "uses" in step:
            assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", step["uses"]), step["uses"]
    for target in re.findall(r"(?:make |target: )([a-z][a-z-]*)", text):
        assert target in TARGETS
    for script in re.findall(r"(?<![\w/])(?:tests|benchmarks)/[\w./-]+\.py", text):
        assert (ROOT / script).is_file()
