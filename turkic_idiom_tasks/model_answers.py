"""What every reader of a language model's answer does first."""

from __future__ import annotations

import re

MAX_ANSWER = 10_000  # characters, reasoning not counted; a longer answer to an item or a sentence cannot be read

_TAG = "(think|thinking|reasoning)>"
_CLOSED = re.compile(rf"<{_TAG}.*?</\1>", re.DOTALL | re.IGNORECASE)
_BEFORE_END = re.compile(rf"\A.*</{_TAG}", re.DOTALL | re.IGNORECASE)
_FROM_START = re.compile(rf"<{_TAG}.*\Z", re.DOTALL | re.IGNORECASE)


def without_reasoning(text: str) -> str:
    """Return an answer without the reasoning that the model wrote down in ``<think>`` tags.

    Reasoning that is never closed was cut off, so nothing after its beginning counts. Reasoning that is never opened
    was opened by the template of the chat, so nothing before its end counts.
    """
    return _FROM_START.sub("", _BEFORE_END.sub("", _CLOSED.sub("", text)))
