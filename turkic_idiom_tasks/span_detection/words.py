"""How a sentence is cut into words: the tokens that carry the tags."""

from __future__ import annotations

import re
from collections.abc import Sequence

from turkic_idiom_tasks.spans import Span

# U+02BB and U+02BC of Uzbek are letters (\w); other apostrophes belong to a word only inside it (Ankara'ya).
_LETTER = r"[\w\u0300-\u036f]"
_WORD = re.compile(rf"{_LETTER}+(?:['\u2018\u2019\u201b`\u00b4]{_LETTER}+)*|[^\w\s]")


def words(sentence: str) -> list[Span]:
    """Where the words of an NFC sentence stand, in order; every punctuation mark is a word of its own."""
    return [Span(*found.span()) for found in _WORD.finditer(sentence)]


def locate(tokens: Sequence[str], sentence: str) -> list[Span]:
    """Where given tokens stand in their sentence, each after the one before it.

    Raises:
        ValueError: a token is empty or not in the rest of the sentence; names it.
    """
    spans: list[Span] = []
    end = 0
    for token in tokens:
        start = sentence.find(token, end) if token else -1
        if start < 0:
            raise ValueError(f"token {token!r} is not in the sentence after character {end}: {sentence!r}")
        end = start + len(token)
        spans.append(Span(start, end))
    return spans
