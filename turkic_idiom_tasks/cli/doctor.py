"""`turkic-idiom doctor`."""

from __future__ import annotations

import typer

from turkic_idiom_tasks.cli.main import app
from turkic_idiom_tasks.harnesses.doctor import print_diagnosis


@app.command("doctor")
def doctor_command() -> None:
    """Say what is registered with each harness, and what to do if something is missing.

    The last line is the folder of the tasks, for lm-eval's --include_path.
    """
    raise typer.Exit(print_diagnosis())
