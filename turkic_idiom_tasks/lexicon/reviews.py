"""Reviews: what native speakers said about the entries, in ``reviews.jsonl`` beside them."""

import json
import unicodedata
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, PositiveInt, StringConstraints, TypeAdapter

from turkic_idiom_tasks.languages import LanguageCode
from turkic_idiom_tasks.lexicon.entries import ConceptId, visible_text

REVIEWS_FILE = "reviews.jsonl"
FORMAT: Literal[1] = 1
FIELDS = FORM, MEANING, CONCEPT, EXAMPLE = ("form", "meaning", "concept", "example")
UNKNOWN = "unknown"  # verdict of a reviewer who does not know the idiom; the others are ok and wrong
MOST_CHARACTERS = 1000  # of a text that a reviewer writes
INITIALS = (2, 4)  # fewest and most letters


def _initials(text: str) -> str:
    fewest, most = INITIALS
    # Capital Latin letters alone, so that one reviewer is not counted as two.
    are_capitals = all(unicodedata.name(letter, "").startswith("LATIN CAPITAL LETTER") for letter in text)
    if not (fewest <= len(text) <= most and are_capitals):
        raise ValueError(f"must be {fewest} to {most} capital Latin letters")
    return text


def _possible(text: str) -> str:
    datetime.fromisoformat(text)  # raises a ValueError that says what is wrong with 2026-02-30
    return text


def _complete_verdicts(verdicts: dict[str, str]) -> dict[str, str]:
    """Return the verdicts in the order of `FIELDS`; a verdict on each field that every entry has must be there."""
    problems = [f"has no verdict on {name!r}" for name in (FORM, CONCEPT) if name not in verdicts]
    if UNKNOWN in verdicts.values() and set(verdicts.values()) != {UNKNOWN}:
        problems.append("must be unknown for every field or for none")
    if problems:
        raise ValueError(", and ".join(problems))
    return {name: verdicts[name] for name in FIELDS if name in verdicts}


_Text = Annotated[str, StringConstraints(max_length=MOST_CHARACTERS), AfterValidator(visible_text)]
_Date = Annotated[str, StringConstraints(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$"), AfterValidator(_possible)]
_CLOCK = StringConstraints(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")
_Time = Annotated[str, _CLOCK, AfterValidator(_possible)]
_Verdicts = dict[Literal["form", "meaning", "concept", "example"], Literal["ok", "wrong", "unknown"]]


class Review(BaseModel):
    """What one reviewer said about one entry, one line of ``reviews.jsonl``."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    format: Literal[1] = FORMAT  # version of the format of this line
    lexicon_revision: Annotated[str, StringConstraints(pattern="^[0-9a-f]{40}$")]  # that the reviewer saw
    language: LanguageCode
    concept: ConceptId
    idiom: _Text  # as it read when it was reviewed
    # Field of `FIELDS` -> ``ok`` or ``wrong``, or ``unknown`` for all fields when the reviewer does not know the idiom;
    # fields that the entry does not have are left out.
    verdicts: Annotated[_Verdicts, AfterValidator(_complete_verdicts)]
    comment: _Text = ""
    correction: _Text = ""  # that the reviewer proposes
    reviewer: Annotated[str, AfterValidator(_initials)]
    date: _Date  # of the verdicts, by the reviewer's clock
    # Of the last change, in UTC, and how many changes there were; earlier pages of reviews stated neither.
    time: _Time | None = None
    sequence: PositiveInt | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """Return language, concept and reviewer; a lexicon keeps one review for each such key."""
        return self.language, self.concept, self.reviewer

    @property
    def stamp(self) -> tuple[str, int]:
        """Return what orders the reviews of one reviewer on one entry; without a time only the day is known."""
        return self.time or self.date, self.sequence or 0

    @property
    def statement(self) -> str:
        """Return what the review says, as one text."""
        return self.model_dump_json(include={"idiom", "verdicts", "comment", "correction"})

    @property
    def knows_idiom(self) -> bool:
        """Return whether the reviewer knew the idiom, and so could judge the entry."""
        return UNKNOWN not in self.verdicts.values()

    def to_json(self) -> str:
        """Return the review as one line of ``reviews.jsonl``."""
        return json.dumps(self.model_dump(exclude_none=True), ensure_ascii=False)


REVIEW = TypeAdapter(Review)


def newest_reviews(reviews: Iterable[Review]) -> list[Review]:
    """Return the newest review of each language, concept and reviewer, sorted by the three; several in a conflict."""
    reviews = list(reviews)
    stamps: dict[tuple[str, str, str], tuple[str, int]] = {}
    for review in reviews:
        stamps[review.key] = max(review.stamp, stamps.get(review.key, review.stamp))
    # A conflict: they have the same stamp and differ, and either may be the one that the reviewer means.
    newest = {(review.key, review.statement): review for review in reviews if review.stamp == stamps[review.key]}
    return [newest[name] for name in sorted(newest)]
