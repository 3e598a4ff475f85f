"""Reviews: what native speakers said about the entries.

``reviews.jsonl`` stands beside the entries and has one line per language, concept and reviewer. A review counts while
the idiom of its entry reads as it did when it was reviewed; the others are history and stay in the file.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints, TypeAdapter

from turkic_idiom_tasks.io.reading import MalformedError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import concept_id, one_of, parse_row, visible_text

REVIEWS_FILE = "reviews.jsonl"
FORMAT: Literal[1] = 1
FIELDS = FORM, MEANING, CONCEPT, EXAMPLE = ("form", "meaning", "concept", "example")
UNKNOWN = "unknown"  # verdict of a reviewer who does not know the idiom; the others are ok and wrong
MOST_CHARACTERS = 1000  # of a text that a reviewer writes
INITIALS = (2, 4)  # fewest and most letters


def _initials(text: str) -> str:
    """Return initials; capital letters alone, so that one reviewer is not counted as two."""
    fewest, most = INITIALS
    are_capitals = all(unicodedata.name(letter, "").startswith("LATIN CAPITAL LETTER") for letter in text)
    if not (fewest <= len(text) <= most and are_capitals):
        raise ValueError(f"must be {fewest} to {most} capital Latin letters")
    return text


def _iso_date(text: str) -> str:
    # Dates are compared as texts, and Python reads other ISO forms too, such as 2026-W05-6.
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        raise ValueError("must be a date such as 2026-01-31")
    date.fromisoformat(text)  # a ValueError, which pydantic shows, if there is no such day
    return text


def _complete_verdicts(verdicts: dict[str, str]) -> dict[str, str]:
    """Return the verdicts in the order of `FIELDS`; a verdict on each field that every entry has must be there."""
    for name in (FORM, CONCEPT):
        if name not in verdicts:
            raise ValueError(f"has no verdict on {name!r}")
    if UNKNOWN in verdicts.values() and set(verdicts.values()) != {UNKNOWN}:
        raise ValueError("must be unknown for every field or for none")
    return {name: verdicts[name] for name in FIELDS if name in verdicts}


_Text = Annotated[str, StringConstraints(max_length=MOST_CHARACTERS), AfterValidator(visible_text)]
_Verdicts = dict[Literal["form", "meaning", "concept", "example"], Literal["ok", "wrong", "unknown"]]


class Review(BaseModel):
    """What one reviewer said about one entry, one line of ``reviews.jsonl``."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    format: Literal[1] = FORMAT  # version of the format of this line
    lexicon_revision: Annotated[str, StringConstraints(pattern="^[0-9a-f]{40}$")]  # that the reviewer saw
    language: Annotated[str, one_of(*LANGUAGES)]
    concept: Annotated[str, AfterValidator(concept_id)]
    idiom: _Text  # as it read when it was reviewed
    # Field of `FIELDS` -> ``ok`` or ``wrong``, or ``unknown`` for all fields when the reviewer does not know the idiom;
    # fields that the entry does not have are left out.
    verdicts: Annotated[_Verdicts, AfterValidator(_complete_verdicts)]
    comment: _Text = ""
    correction: _Text = ""  # that the reviewer proposes
    reviewer: Annotated[str, AfterValidator(_initials)]
    date: Annotated[str, AfterValidator(_iso_date)]  # of the verdicts

    @property
    def key(self) -> tuple[str, str, str]:
        """Return language, concept and reviewer; a lexicon keeps one review for each such key."""
        return self.language, self.concept, self.reviewer

    @property
    def knows_idiom(self) -> bool:
        """Return whether the reviewer knew the idiom, and so could judge the entry."""
        return UNKNOWN not in self.verdicts.values()

    def to_json(self) -> str:
        """Return the review as one line of ``reviews.jsonl``."""
        return json.dumps(self.model_dump(), ensure_ascii=False)


_REVIEW = TypeAdapter(Review)


def parse_review(row: Any) -> Review:
    """Return the review in a decoded JSON line; a MalformedError names the first field that is wrong, and its value."""
    parsed = parse_row(_REVIEW, row)
    if parsed[0] is None:
        raise MalformedError(parsed[1][0])
    return parsed[0]


def newest_reviews(reviews: Iterable[Review]) -> list[Review]:
    """Return the newest review of each language, concept and reviewer, sorted by the three.

    Of two with the same date, the one that comes later is taken.
    """
    newest = {review.key: review for review in sorted(reviews, key=lambda review: review.date)}
    return [newest[key] for key in sorted(newest)]
