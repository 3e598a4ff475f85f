"""The Hub's own client, made quiet, and its errors in words. The token is its affair; it is never read here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from turkic_idiom_tasks.errors import InputError

_TRANSPORTS = ("httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3")
_AGAIN = "run the same command again, it goes on where it stopped"


def check_login(place: str) -> None:
    """Makes sure, before any work is done for it, that the client has a token that the Hub knows.

    Args:
        place: as in `hub_errors`.

    Raises:
        InputError: it has none, or the Hub cannot be asked.
    """
    from huggingface_hub import HfApi

    with hub_errors(place):
        HfApi().whoami()


@contextmanager
def hub_errors(place: str) -> Iterator[None]:
    """Turns what the client raises into one line that says what to do.

    Args:
        place: what is being used, such as ``dataset ORG/NAME``; begins the line.

    Raises:
        InputError: whatever went wrong with the Hub.
    """
    try:
        with quiet_client():
            yield
    except InputError:
        raise
    except Exception as error:  # the client raises many kinds: network, authorisation, unknown names
        raise InputError(f"{place}: {explanation(error)}") from error


@contextmanager
def quiet_client() -> Iterator[None]:
    """Keeps the client's warnings off the terminal, as their addresses carry signatures, and its bars off files."""
    from huggingface_hub.utils import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars, logging

    verbosity, hides_bars = logging.get_verbosity(), not (sys.stderr.isatty() or are_progress_bars_disabled())
    logging.set_verbosity_error()
    if hides_bars:
        disable_progress_bars()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if hides_bars:
            enable_progress_bars()


def explanation(error: BaseException) -> str:
    """What went wrong with the Hub and what to do, in words of ours, as addresses may carry signatures."""
    from huggingface_hub import errors

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, errors.OfflineModeIsEnabled):
            return "HF_HUB_OFFLINE is set; unset it to use the Hub"
        if isinstance(cause, errors.LocalTokenNotFoundError):
            return "no token; log in with `hf auth login`, or set HF_TOKEN"
        if isinstance(cause, errors.HfHubHTTPError):
            return _status_words(cause.response.status_code, cause.server_message)
        broken = isinstance(cause, (ConnectionError, TimeoutError))
        if broken or type(cause).__module__.partition(".")[0] in _TRANSPORTS:
            return f"the connection to the Hub broke ({type(cause).__name__}); {_AGAIN}"
        cause = cause.__cause__ or cause.__context__
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _status_words(status: int, message: str | None) -> str:
    if status == 401:
        return "the Hub asks for a valid token (401); log in with `hf auth login`, or set HF_TOKEN"
    if status == 403:
        return (
            "the token has no right to write there (403); ask the owner for it, or log in with another: hf auth login"
        )
    if status == 404:
        return "not there, or the token may not see it (404); check the name, or log in with `hf auth login`"
    if status in (409, 412):
        return f"somebody else changed it meanwhile ({status}); run the same command again, which plans anew"
    if status == 429:
        return "too many requests (429); wait a while, then run the same command again"
    if status >= 500:
        return f"the Hub failed ({status}); {_AGAIN}"
    return f"the Hub refused ({status}): {(message or 'it gave no reason').splitlines()[0]}"
