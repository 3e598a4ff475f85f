"""The processes that torchrun starts: every one trains, the first one writes and reports."""

from __future__ import annotations

import os


def is_first_process() -> bool:
    """Whether this process writes: the only one, or the first of several."""
    return int(os.environ.get("RANK", "0")) == 0


def n_processes() -> int:
    """How many train together."""
    return int(os.environ.get("WORLD_SIZE", "1"))
