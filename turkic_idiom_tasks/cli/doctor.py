"""`turkic-idiom doctor` and `turkic-idiom lm-eval-path`."""

from __future__ import annotations

import sys

import typer

from turkic_idiom_tasks.cli.main import app


@app.command("doctor")
def doctor_command() -> None:
    """Say what is registered with each harness, and what to do if something is missing."""
    from turkic_idiom_tasks.integrations.doctor import diagnose
    from turkic_idiom_tasks.reading import printable

    diagnosis = diagnose()
    for line in diagnosis.lines():
        sys.stdout.write(printable(line) + "\n")
    if not diagnosis.is_healthy:
        raise typer.Exit(1)


@app.command("lm-eval-path")
def lm_eval_path_command() -> None:
    """Print the folder of the span tasks, for lm-eval's --include_path."""
    from turkic_idiom_tasks.integrations.lm_eval_plugin import TASK_FOLDER

    sys.stdout.write(f"{TASK_FOLDER}\n")
