"""Messages to the user inside a harness: failed registrations, and wrong input as one line."""

import logging
import sys
from types import TracebackType

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses.private_names import installed_version
from turkic_idiom_tasks.io.reading import printable

failures: dict[str, str] = {}  # place -> error, for `turkic-idiom doctor`


def report_failure(where: str, error: Exception) -> None:
    """Record a failed registration and warn about it once per place, such as ``mteb.tasks`` or the name of one task."""
    if where in failures:
        return
    failures[where] = f"{type(error).__name__}: {error}"
    distribution = where.partition(".")[0]
    logging.getLogger("turkic_idiom_tasks").warning(
        "turkic-idiom-tasks could not register with %s %s (at %s): %s. The harness itself is unaffected; "
        "run `turkic-idiom doctor`.",
        distribution,
        installed_version(distribution) or "(version unknown)",
        where,
        failures[where],
    )


def show_input_errors_as_one_line() -> None:
    """Print one line instead of a traceback when an `InputError` ends a program; may be called repeatedly."""
    previous = sys.excepthook
    if getattr(previous, "__module__", "") == __name__:
        return

    def show(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        if isinstance(error, InputError):
            sys.stderr.write(f"turkic-idiom-tasks: error: {printable(str(error))}\n")
        else:
            previous(kind, error, traceback)

    sys.excepthook = show
