"""What every reader of a language model's answer does first."""

import re

MAX_ANSWER = 10_000  # characters, reasoning not counted; a longer answer to an item or a sentence cannot be read

_TAG = "(?:think|thinking|reasoning)>"
_CLOSED = re.compile(rf"<{_TAG}.*?</{_TAG}", re.DOTALL | re.IGNORECASE)
_TO_LAST_END = re.compile(rf"\A.*</{_TAG}", re.DOTALL | re.IGNORECASE)
_OPENED = re.compile(f"<{_TAG}", re.IGNORECASE)


def without_reasoning(text: str) -> str:
    """Return an answer without the reasoning that the model wrote down in ``<think>`` tags."""
    # Pairs are looked for before the last end only: each of 30,000 tags after it would search the whole rest.
    match = _TO_LAST_END.match(text)
    end = match.end() if match else 0
    # Reasoning that is never opened was opened by the template of the chat.
    spoken = _TO_LAST_END.sub("", _CLOSED.sub("", text[:end])) + text[end:]
    # Reasoning that is never closed was cut off.
    return _OPENED.split(spoken, maxsplit=1)[0]
