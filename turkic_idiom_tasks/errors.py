"""Error for wrong input, whose text is all that the user sees; keys that no text may show; the day that is stated."""

import os
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime

_KEY_VARIABLE = re.compile(r".*_(API_KEY|ACCESS_KEY|TOKEN)")
_SHORTEST_KEY = 8  # characters; a shorter value, such as EMPTY for a server without keys, is no secret but a word
# Secrets that are in no variable: the token in the Hub's own file, a password in an address.
_SECRET = re.compile(r"(?<=Bearer )[\w.~+/=-]{20,}|\bhf_\w{16,}|(?<=//)[^/\s@]+(?=@)")


def without_keys(text: str) -> str:
    """Return a text with asterisks for keys; every text of a client or server goes through here before it is shown."""
    # Clients quote what they send, as in "Illegal header value b'Bearer sk-...'", and servers what they received.
    for variable, value in os.environ.items():
        if _KEY_VARIABLE.fullmatch(variable):
            # The parts too, because a line break in a key is an escape where the key is quoted.
            for part in (value.strip(), ascii(value)[1:-1], *re.split("[^!-~]+", value)):
                text = text.replace(part, "***") if len(part) >= _SHORTEST_KEY else text
    return _SECRET.sub("***", text)


def strip_keys() -> None:
    """Remove white space around the keys in the environment, because no header can hold it."""
    for variable, value in os.environ.items():
        if _KEY_VARIABLE.fullmatch(variable):
            os.environ[variable] = value.strip()


def check_key(variable: str) -> None:
    """Raise an InputError, without the key, if an environment variable holds what no client can send."""
    if not re.fullmatch("[!-~]*", os.environ.get(variable, "").strip()):
        raise InputError(f"{variable}: holds white space or another character that no key has; set it again")


def stated_day() -> date | None:
    """Return the day that SOURCE_DATE_EPOCH states, if any."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        return None if epoch is None else datetime.fromtimestamp(int(epoch), tz=UTC).date()
    except (ValueError, OverflowError, OSError) as error:
        raise usage_error(f"SOURCE_DATE_EPOCH={epoch}: not a date; give seconds since 1970") from error


class InputError(ValueError):
    """Wrong input; the message says what is wrong, the value, where it is (file and line, or id), and what to do next.

    Our commands print it as one line and exit with ``exit_code``: 2 for a wrong argument (unknown task, pooling,
    model), 1 for input that could not be used (a malformed lexicon, an unwritable folder).
    """

    def __init__(self, message: str, *, exit_code: int = 1) -> None:
        super().__init__(without_keys(message))
        self.exit_code = exit_code


def usage_error(message: str) -> InputError:
    """Return an `InputError` for a wrong command-line argument (exit code 2)."""
    return InputError(message, exit_code=2)


def refuse_faults(faults: Sequence[object], *, place: str = "", advice: str = "") -> None:
    """Raise an `InputError` that names the first of the faults, and how many more there are, if there are any."""
    if faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise InputError("; ".join(filter(None, (f"{place}{faults[0]}{more}", advice))))
