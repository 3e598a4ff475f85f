"""The `turkic-idiom` command: one module for each group of commands, which import heavy packages when they run."""

from turkic_idiom_tasks.cli.main import main

__all__ = ["main"]
