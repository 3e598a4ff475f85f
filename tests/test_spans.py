"""IOB2 tags of words and back, by hand and by law."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import IOB2, Entities

from turkic_idiom_tasks.spans import LABELS, Span, iob2_tags, span_problem, tagged_spans

O, B, I = LABELS  # noqa: E741


@st.composite
def word_places(draw):
    """Words of 1 to 4 characters, some of them without a space between, as punctuation stands."""
    places, position = [], 0
    for gap, length in draw(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)), min_size=1, max_size=10)):
        places.append(Span(position + gap, position + gap + length))
        position += gap + length
    return places


@st.composite
def tagged_words(draw):
    places = draw(word_places())
    return [draw(st.sampled_from(LABELS)) for _ in places], places


@given(tagged_words())
def test_spans_survive_whatever_the_tags(case):
    tags, places = case
    spans = tagged_spans(tags, places)
    again = iob2_tags(spans, places)
    assert tagged_spans(again, places) == spans
    assert [tag == O for tag in again] == [tag == O for tag in tags]
    assert span_problem(spans, "x" * places[-1].end) is None
    # what comes back is proper IOB2: strict seqeval finds as many spans as there are
    assert len(Entities([again], IOB2).entities[0]) == len(spans)


@given(st.lists(st.sampled_from(LABELS), max_size=12))
def test_ranges_are_seqevals(tags):
    theirs = sorted((start, end + 1) for _, start, end in get_entities(tags)) if tags else []
    spans = tagged_spans(tags, [Span(number, number + 1) for number in range(len(tags))])
    assert [(span.start, span.end) for span in spans] == theirs


@given(st.data())
def test_every_touched_word_is_inside_and_no_other(data):
    places = data.draw(word_places())
    cuts = sorted(data.draw(st.sets(st.integers(0, places[-1].end), min_size=2, max_size=6)))
    spans = [Span(start, end) for start, end in zip(cuts[::2], cuts[1::2], strict=False)]
    tags = iob2_tags(spans, places)
    for place, tag in zip(places, tags, strict=True):
        covered = set(range(place.start, place.end))
        touched = any(covered & set(range(span.start, span.end)) for span in spans)
        assert (tag != O) == touched


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([], [O, O, O, O]),
        ([(0, 9)], [B, I, O, O]),  # ends inside the second word
        ([(0, 10)], [B, I, O, O]),
        ([(3, 4)], [B, O, O, O]),  # a part of the first word
        ([(6, 7)], [O, O, O, O]),  # the space alone
        ([(0, 6), (11, 16)], [B, O, B, O]),  # discontinuous: each fragment begins with B
        ([(0, 6), (7, 10)], [B, B, O, O]),  # neighbours stay two spans
        ([(0, 6), (7, 16)], [B, B, I, O]),
        ([(0, 21)], [B, I, I, I]),
        ([(0, 8), (8, 16)], [B, I, B, O]),  # a word that two spans share stays with the first
        ([(0, 3), (3, 6)], [B, O, O, O]),  # two spans in one word: the word can begin one only
    ],
)
def test_tags_by_hand(spans, expected):
    places = [Span(0, 6), Span(7, 10), Span(11, 16), Span(17, 21)]  # gözden hem gönül oldu
    assert iob2_tags([Span(*span) for span in spans], places) == expected
