"""Spans of text: half-open code point offsets into an NFC sentence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """The code points from `start` up to, not including, `end`."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The part of `text` that the span covers."""
        return text[self.start : self.end]


def span_problem(spans: tuple[Span, ...], text: str) -> str | None:
    """What is wrong with spans of `text`, or None: each must be inside it, not empty, after the one before it."""
    previous_end = 0
    for span in spans:
        if not 0 <= span.start < span.end <= len(text):
            return f"span [{span.start}, {span.end}] is not inside the example of {len(text)} characters"
        if span.start < previous_end:
            return f"span [{span.start}, {span.end}] overlaps or precedes the one before it"
        if span.of(text) != span.of(text).strip():
            return f"span [{span.start}, {span.end}] begins or ends with white space: {span.of(text)!r}"
        previous_end = span.end
    return None
