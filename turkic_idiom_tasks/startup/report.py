"""What could not be registered: one warning when it happens, and the list that `turkic-idiom doctor` prints."""

from __future__ import annotations

import logging

failures: dict[str, str] = {}


def report_failure(where: str, error: Exception) -> None:
    """Remembers a failed registration and warns about it once per place.

    Args:
        where: the host module that should have been extended (``mteb.tasks``), or a single task, benchmark or model.
        error: what went wrong.
    """
    if where in failures:
        return
    failures[where] = f"{type(error).__name__}: {error}"
    logging.getLogger("turkic_idiom_tasks").warning(
        "turkic-idiom-tasks could not register with %s %s (at %s): %s. The harness itself is unaffected; "
        "run `turkic-idiom doctor`.",
        where.partition(".")[0],
        _version(where.partition(".")[0]),
        where,
        failures[where],
    )


def _version(distribution: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return "(version unknown)"
