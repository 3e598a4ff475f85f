"""Install the project with the lowest or the newest dependencies that it allows, and run the stock commands.

    python tests/versions/try_versions.py lowest
    python tests/versions/try_versions.py newest --python python3.13

The environment is a temporary one. ``lowest`` turns every ``>=`` of pyproject.toml into ``==``; ``newest`` lets pip
choose inside the bounds. torch is the one that constraints.txt pins, in both, because the newest one of a registry may
bring gigabytes of GPU libraries. It needs only Python's standard library, and exits with 1 if the installation or a
command failed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
OWN_NAME = "turkic-idiom-tasks"
EXTRAS = ("hub", "leaderboard", "ray")  # ray includes grid, finetune and figures
WITHOUT_FLOORS = ("bench", "dev", "lighteval")  # extras that state other bounds, and are not tried
TIME_LIMIT = 1800  # seconds for one command, the installation too; a longer one ends the program
SHOWN_LINES = 30  # of the output of a command that failed
FLOOR = re.compile(r"(?P<name>[A-Za-z0-9._-]+)[^;]*?>=\s*(?P<version>[0-9][\w.]*)")

# lm-eval registers its API models whether or not their packages are there; only making one tells.
MAKE_CHAT_MODEL = """
from lm_eval.api.registry import get_model
get_model("local-chat-completions")(model="any", base_url="http://127.0.0.1:9/v1/chat/completions")
"""
CHAR_NGRAMS = ("-m", "turkic-idiom/char-ngrams", "-l", "azj")
COMMANDS = (
    ("pip", "check"),
    ("turkic-idiom", "run", "--help"),
    ("mteb", "run", *CHAR_NGRAMS, "-t", "TurkicIdiomT1", "--output-folder", "mteb"),
    ("lm-eval", "run", "--model", "dummy", "--tasks", "turkic_idiom_span", "--limit", "5", "--output_path", "spans"),
    ("python", "-c", MAKE_CHAT_MODEL),
    ("turkic-idiom", "run", *CHAR_NGRAMS, "--out", "results"),
    ("turkic-idiom", "submit", "results", "--out", "sent", "--contact", "try_versions", "--training-data", "none"),
    ("turkic-idiom", "leaderboard", "build", "sent", "--out", "site"),
    ("turkic-idiom", "dataset", "check"),
    ("turkic-idiom", "dataset", "export", "--out", "exported"),
    ("turkic-idiom", "doctor"),
)


def main() -> int:
    """Run the program and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("which", choices=["lowest", "newest"], help="the dependencies to install")
    parser.add_argument("--python", default=sys.executable, metavar="PROGRAM", help="the Python to try")
    options = parser.parse_args()
    pinned = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8")
    constraints = dict(re.findall("^(torch)==(.+)$", pinned, re.MULTILINE))
    if options.which == "lowest":
        constraints = lowest_versions() | constraints
    with tempfile.TemporaryDirectory(prefix="try-versions-") as folder:
        return try_versions(Path(folder), options, constraints)


def lowest_versions() -> dict[str, str]:
    """Return the floor of every requirement by its name."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    requirements = list(project["dependencies"])
    for extra, texts in project["optional-dependencies"].items():
        if extra not in WITHOUT_FLOORS:
            requirements += [text for text in texts if not text.startswith(OWN_NAME)]
    versions = {}
    for text in requirements:
        floor = FLOOR.match(text)
        if floor is None:
            raise SystemExit(f"pyproject.toml: {text!r} states no lowest version")
        versions[floor["name"]] = floor["version"]
    return versions


def try_versions(folder: Path, options: argparse.Namespace, constraints: dict[str, str]) -> int:
    """Install into a fresh environment below a folder, run every command, report, and return the exit code."""
    programs = folder / "environment" / "bin"
    constraints_file = folder / "constraints.txt"
    constraints_file.write_text("".join(f"{name}=={version}\n" for name, version in constraints.items()))
    python = str(programs / "python")
    install = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "-c", str(constraints_file)]

    print(f"installing the {options.which} versions with {options.python} ...", flush=True)
    subprocess.run([options.python, "-m", "venv", str(folder / "environment")], check=True)
    if not succeeds([*install, f"{REPOSITORY}[{','.join(EXTRAS)}]"], folder=folder):
        return 1
    subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "list"], check=True)
    commands = [[str(programs / program), *arguments] for program, *arguments in COMMANDS]
    failed = [command for command in commands if not succeeds(command, folder=folder)]
    print(f"\n{options.which} versions: {len(failed)} commands FAILED" if failed else "every command succeeded")
    return 1 if failed else 0


def succeeds(command: list[str], *, folder: Path) -> bool:
    """Run a command in a folder, print how it ended, and return whether it exited with 0."""
    variables = {"HF_HUB_OFFLINE": "1"}  # offline, and without what would change Python or our data
    for name, value in os.environ.items():
        if not name.startswith(("PYTHON", "TURKIC_IDIOM_", "VIRTUAL_ENV")):
            variables.setdefault(name, value)
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    run = subprocess.run(
        command, cwd=folder, env=variables, text=True, errors="replace", timeout=TIME_LIMIT, check=False, **streams
    )
    label = " ".join([Path(command[0]).name, *command[1:]]).strip().splitlines()[0]
    print(f"{'FAILED' if run.returncode else 'ok':<7} {label}", flush=True)
    for line in run.stdout.splitlines()[-SHOWN_LINES:] if run.returncode else ():
        print(f"    {line}")
    return run.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
