"""`turkic-idiom doctor` and `turkic-idiom lm-eval-path`."""

from __future__ import annotations

import sys

import typer

from turkic_idiom_tasks.cli.main import app
from turkic_idiom_tasks.harnesses.doctor import print_diagnosis


@app.command("doctor")
def doctor_command() -> None:
    """Say what is registered with each harness, and what to do if something is missing."""
    raise typer.Exit(print_diagnosis())


@app.command("lm-eval-path")
def lm_eval_path_command() -> None:
    """Print the folder of the tasks, for lm-eval's --include_path."""
    from turkic_idiom_tasks.harnesses.lm_eval_names import TASK_FOLDER

    sys.stdout.write(f"{TASK_FOLDER}\n")
