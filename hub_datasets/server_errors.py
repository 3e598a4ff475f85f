"""What a failed request means: try again, this question cannot be answered, or no question can."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import printable

try:
    import openai
except ModuleNotFoundError as error:
    raise InputError(
        f"language models need the package {error.name}: pip install 'turkic-idiom-tasks[openai]'"
    ) from error

KEY_VARIABLE = "OPENAI_API_KEY"
_SHOWN = 200  # characters of a server's message
_TOO_LONG = re.compile(
    r"context.{0,20}(length|window|size)|maximum.{0,40}tokens|too (long|large|many tokens)", re.IGNORECASE
)
_HTML = re.compile(r"\s*<(!doctype|html|head|body|\?xml)", re.IGNORECASE)


class TryAgainError(Exception):
    """A request failed for a reason that may be gone the next time.

    Attributes:
        wait: seconds to wait, as the server asks; None if it does not say.
    """

    def __init__(self, message: str, *, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class ProtocolError(Exception):
    """A response that no server of the protocol gives."""

    def __init__(self, text: str) -> None:
        what = "an HTML page" if _HTML.match(text) else "something that is no JSON"
        super().__init__(f"answers with {what}; check --base-url, which mostly ends in /v1")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the server does not answer.

    Attributes:
        message: one line, without the key.
        is_final: whether no other question would be answered either.
        parameters: what the server says of the parameters of the request.
    """

    message: str
    is_final: bool = False
    parameters: str = ""

    def names(self, *parameters: str) -> bool:
        """Return whether the server complains about one of these parameters."""
        return any(parameter in self.parameters for parameter in parameters)


class RefusalError(Exception):
    """One question is not answered."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


def refusal_of(error: Exception, *, key: str) -> Refusal:
    """Return why the server does not answer.

    Args:
        error: what the request raised.
        key: the secret that must not be in any message.

    Raises:
        TryAgainError: the server is busy or out of order, or the connection was cut.
    """
    if isinstance(error, ProtocolError):
        return Refusal(str(error), is_final=True)
    message = _one_line(error, key)
    if isinstance(error, openai.APITimeoutError):
        raise TryAgainError("no answer within the time limit (--set timeout=SECONDS)") from error
    if isinstance(error, openai.APIConnectionError):
        cause = _one_line(error.__cause__, key) if error.__cause__ else "connection failed"
        raise TryAgainError(f"no connection ({cause}); is the server running, and is --base-url right?") from error
    if not isinstance(error, openai.APIStatusError):
        raise TryAgainError(message) from error  # a response that is cut off, or is no JSON after all
    status = error.status_code
    if status == 429 and error.code == "insufficient_quota":
        return Refusal(f"429: {message}", is_final=True)
    if status in (408, 409, 429) or status >= 500:
        raise TryAgainError(f"{status}: {message}", wait=_stated_wait(error.response.headers)) from error
    if status in (401, 403):
        return Refusal(f"{status}, the key in {KEY_VARIABLE} is not accepted: {message}", is_final=True)
    if status == 404:
        return Refusal(f"404, no such model, or --base-url does not end in /v1: {message}", is_final=True)
    if status in (400, 413, 422):
        return _refused_request(status, message)
    return Refusal(f"{status}: {message}", is_final=True)


def _refused_request(status: int, message: str) -> Refusal:
    if status == 413 or _TOO_LONG.search(message):
        return Refusal(f"{status}, longer than the model can read: {message}")
    if "temperature" in message:
        return Refusal(f"{status}: {message}; pass --set temperature=default", is_final=True)
    return Refusal(f"{status}: {message}", parameters=message)


def _one_line(error: BaseException, key: str) -> str:
    """Return the message of an error in one printable line, shortened and without the key."""
    body: Any = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, Mapping) else None
    text = message if isinstance(message, str) else str(error)
    if _HTML.match(text):
        text = "an HTML page"
    if key:
        text = text.replace(key, "***")
    text = printable(" ".join(text.split())) or type(error).__name__
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _stated_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait, in either of the forms of the header Retry-After; else None."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after", "")
        if re.fullmatch(r"\s*\d+(\.\d+)?\s*", value):
            return float(value)
        if value:
            return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
    return None
