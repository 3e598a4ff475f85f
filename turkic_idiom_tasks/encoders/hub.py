"""Whether the Hugging Face Hub answers, and what its errors mean."""

from __future__ import annotations

import urllib.error
import urllib.request
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TIMEOUT = 5.0  # seconds; huggingface_hub itself would retry every file for half a minute
_TRANSPORTS = ("httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3")


@cache
def is_reachable() -> bool:
    """Whether the Hub can be asked now: one request, remembered; HF_HUB_OFFLINE and HF_ENDPOINT are respected."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return False
    if not constants.ENDPOINT.startswith(("https://", "http://")):
        return False
    try:
        request = urllib.request.Request(constants.ENDPOINT, method="HEAD")  # noqa: S310  # checked above
        with urllib.request.urlopen(request, timeout=TIMEOUT):  # noqa: S310
            return True
    except urllib.error.HTTPError:  # it answered
        return True
    except OSError:
        return False


@contextmanager
def offline_if_unreachable() -> Iterator[None]:
    """Spares whatever is loaded inside the retries of huggingface_hub, half a minute a file, when the Hub is away."""
    from huggingface_hub import constants

    was_offline = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = not is_reachable()
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = was_offline


def reason(error: BaseException) -> str:
    """Why the Hub did not deliver, in words; empty when the error has another cause."""
    from huggingface_hub import errors

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
        unreachable = (errors.OfflineModeIsEnabled, errors.LocalEntryNotFoundError, ConnectionError)
        if isinstance(cause, unreachable) or type(cause).__module__.partition(".")[0] in _TRANSPORTS:
            return "not in the local cache, and the Hugging Face Hub could not be reached; connect, or give a folder"
    return ""


def causes(error: BaseException) -> list[BaseException]:
    """An exception and everything it came from, outermost first."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    return chain
