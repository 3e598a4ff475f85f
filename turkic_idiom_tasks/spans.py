"""Spans of text, half-open code point offsets into an NFC sentence, and the IOB2 tags of the words they cover."""

from collections.abc import Sequence
from dataclasses import dataclass

OUTSIDE, BEGIN, INSIDE = LABELS = ("O", "B-IDIOM", "I-IDIOM")  # a tag's position here is its number in files and models
TAG_LETTERS = {label[0]: label for label in LABELS}  # how records, samples and answers write tags: ``OOBIO``


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A range of code points from `start` up to, but not including, `end`."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """Return the part of `text` that the span covers."""
        return text[self.start : self.end]


def span_problem(spans: tuple[Span, ...], text: str) -> str | None:
    """Return what is wrong with spans of `text`, or None."""
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


def iob2_tags(spans: Sequence[Span], words: Sequence[Span]) -> list[str]:
    """Return the tag of every word; one that a span touches is inside it. Spans are in order and do not overlap."""
    tags = [OUTSIDE] * len(words)
    for span in spans:
        # A further fragment of a discontinuous idiom begins with B too: one that begins with I is not valid IOB2.
        next_tag = BEGIN
        for number, word in enumerate(words):
            is_touched = word.start < span.end and span.start < word.end
            if is_touched and tags[number] == OUTSIDE:
                tags[number] = next_tag
                next_tag = INSIDE
    return tags


def tagged_spans(tags: Sequence[str], words: Sequence[Span]) -> tuple[Span, ...]:
    """Return the spans of text that the tags of the words mark, each from its first word to its last."""
    spans = []
    start = None
    for position, tag in enumerate((*tags, OUTSIDE)):
        if start is not None and tag != INSIDE:
            spans.append(Span(words[start].start, words[position - 1].end))
            start = None
        # An I after O begins a span, as in conlleval.
        if tag == BEGIN or (tag == INSIDE and start is None):
            start = position
    return tuple(spans)
