"""What a trainer shows while it works."""

from __future__ import annotations

from typing import Any


def keep_to_bars(trainer: Any) -> None:
    """Leaves a trainer its progress bars, which go to stderr; its logs would go to stdout, which is for results."""
    from transformers import PrinterCallback, ProgressCallback

    class Bars(ProgressCallback):
        def on_log(self, *arguments: Any, **context: Any) -> None:
            """Shows nothing."""

    trainer.remove_callback(PrinterCallback)
    if trainer.pop_callback(ProgressCallback) is not None:
        trainer.add_callback(Bars)
