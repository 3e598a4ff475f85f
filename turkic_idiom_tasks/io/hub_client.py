"""Use of the Hub's own client, which finds the token itself: without its warnings, with its errors in our words."""

import json
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.client import HTTPException

from huggingface_hub import constants, errors
from huggingface_hub.utils import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars, logging

from turkic_idiom_tasks.errors import InputError, check_key
from turkic_idiom_tasks.io.reading import first_line, printable

REACH_TIMEOUT = 5.0  # seconds; the client itself would try every file again for half a minute
# By the names of packages, because the client has changed the one that carries its requests, and may do so again.
_TRANSPORTS = ("httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3")
_AGAIN = "run the same command again, which continues where it stopped"
_MESSAGES = {
    401: "the Hub asks for a valid token (401); log in with `hf auth login`, or set HF_TOKEN",
    403: "the token has no right to write there (403); ask the owner for it, or log in with another: hf auth login",
    404: "not there, or the token may not see it (404); check the name, or log in with `hf auth login`",
    409: "somebody else changed it meanwhile (409); run the same command again, which makes a new plan",
    412: "somebody else changed it meanwhile (412); run the same command again, which makes a new plan",
    429: "too many requests (429); wait a while, then run the same command again",
}


@contextmanager
def hub_errors(place: str) -> Iterator[None]:
    """Turn what the client raises into an InputError that begins with what is being used, ``dataset ORG/NAME``.

    Meanwhile the client's warnings stay off the terminal, because addresses in them carry signatures, and its bars off
    files.
    """
    for variable in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        check_key(variable)  # the client would call it a broken connection
    verbosity = logging.get_verbosity()
    hides_bars = not sys.stderr.isatty() and not are_progress_bars_disabled()
    logging.set_verbosity_error()
    if hides_bars:
        disable_progress_bars()
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # the client raises many kinds: network, authorisation, unknown names
        raise InputError(f"{place}: {explanation(error)}") from error
    finally:
        logging.set_verbosity(verbosity)
        if hides_bars:
            enable_progress_bars()


def explanation(error: BaseException) -> str:
    """Return what went wrong with the Hub and what to do, in our own words; the client's may have signed addresses."""
    for cause in causes(error):
        if isinstance(cause, errors.OfflineModeIsEnabled):
            return "HF_HUB_OFFLINE is set; unset it to use the Hub"
        if isinstance(cause, errors.LocalTokenNotFoundError):
            return "no token; log in with `hf auth login`, or set HF_TOKEN"
        if isinstance(cause, errors.HfHubHTTPError):
            status = cause.response.status_code
            if status >= 500:
                return f"the Hub failed ({status}); {_AGAIN}"
            answer = (cause.server_message or "").strip().partition("\n")[0] or "it gave no reason"
            return _MESSAGES.get(status, f"the Hub refused ({status}): {printable(answer)}")
        # What a log-in page answers is no JSON, or not of the size that the file has.
        if isinstance(cause, json.JSONDecodeError) or "Consistency check failed" in str(cause):
            return (
                f"{constants.ENDPOINT} does not answer as the Hub does ({first_line(cause)}); check HF_ENDPOINT, and "
                f"that no log-in page answers in its place, then {_AGAIN}"
            )
        is_network = isinstance(cause, ConnectionError | TimeoutError)
        if is_network or type(cause).__module__.partition(".")[0] in _TRANSPORTS:
            return f"the connection to {constants.ENDPOINT} broke ({type(cause).__name__}); {_AGAIN}"
    return first_line(error)


@cache
def is_reachable() -> bool:
    """Return whether the Hub answers now: one request per process. HF_HUB_OFFLINE and HF_ENDPOINT are respected."""
    if constants.HF_HUB_OFFLINE or not constants.ENDPOINT.startswith(("https://", "http://")):
        return False
    try:
        request = urllib.request.Request(constants.ENDPOINT, method="HEAD")  # noqa: S310  # the scheme is checked above
        with urllib.request.urlopen(request, timeout=REACH_TIMEOUT):  # noqa: S310
            return True
    except (OSError, HTTPException, ValueError) as error:  # the latter two: no HTTP in the answer, no address
        return isinstance(error, urllib.error.HTTPError)  # the Hub answered, although with an error


@contextmanager
def offline_if_unreachable() -> Iterator[None]:
    """Keep the client from trying every file again for half a minute while the Hub cannot be reached."""
    was_offline = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = not is_reachable()
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = was_offline


def reason(error: BaseException) -> str:
    """Return why a model could not be loaded from the Hub, as a message; empty if the error has another cause."""
    unreachable = (errors.OfflineModeIsEnabled, errors.LocalEntryNotFoundError, ConnectionError)
    for cause in causes(error):
        if isinstance(cause, errors.GatedRepoError):
            return (
                "access to this model must be granted on its page at huggingface.co; then log in with `hf auth login`"
            )
        if isinstance(cause, errors.RepositoryNotFoundError):
            return "no such model on the Hugging Face Hub (or it is private: log in with `hf auth login`)"
        if isinstance(cause, errors.RevisionNotFoundError):
            return "the Hugging Face Hub has this model, but not this revision"
        if isinstance(cause, errors.HFValidationError):
            return "neither a folder here nor a possible name on the Hugging Face Hub"
        if isinstance(cause, unreachable) or type(cause).__module__.partition(".")[0] in _TRANSPORTS:
            return "not in the local cache, and the Hugging Face Hub could not be reached; connect, or give a folder"
    return ""


def causes(error: BaseException) -> list[BaseException]:
    """Return an exception and everything that it was raised from, outermost first."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:  # an exception may be a cause of its own
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    return chain
