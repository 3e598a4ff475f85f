"""Error for wrong input; its text is the whole message that the user sees."""

from __future__ import annotations


class InputError(ValueError):
    """Wrong input; the message says what is wrong, the value, where it is (file and line, or id), and what to do next.

    Our commands print it as one line and exit with ``exit_code``: 2 for a wrong argument (unknown task, pooling,
    model), 1 for input that could not be used (a malformed lexicon, an unwritable folder).
    """

    def __init__(self, message: str, *, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def usage_error(message: str) -> InputError:
    """Return an `InputError` for a wrong command-line argument (exit code 2)."""
    return InputError(message, exit_code=2)
