"""Rows that every reader of a source yields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

# A cell that says that a language has no such idiom; a soft hyphen draws nothing.
NOTHING = re.compile(r"[\s\-\u2010-\u2015\u2212\u00ad]*")
ALMOST = 0.85  # similarity of two names, from which one is taken for a misspelling of the other


class Note(NamedTuple):
    """A repair or removal in a row, for the report."""

    what: str
    value: str


@dataclass(frozen=True, slots=True)
class Reading:
    """Part of a row for one language; `idiom` is empty if the row has only a meaning or an example."""

    idiom: str
    meaning: str | None = None
    example: str | None = None
    variants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One meaning as a source gives it, or a row that the reader could not use."""

    line: int  # on which the record begins (in a JSON list: number of the item), from 1; its senses share it
    readings: Mapping[str, Reading] = field(default_factory=dict)  # by language code
    gloss: str = ""  # the meaning in English, if the source has it
    problem: str | None = None  # why the whole row cannot be used
    merged: str | None = None  # why the row is a part of another entry
    value: str = ""  # the text that `problem` or `merged` refers to
    notes: tuple[Note, ...] = ()


def readings_of(fields: Mapping[str, Mapping[str, str]]) -> dict[str, Reading]:
    """Return language code -> reading of a row whose fields (idiom, meaning, example) are given by language."""
    readings = {}
    for code, texts in fields.items():
        readings[code] = Reading(texts.get("idiom", ""), texts.get("meaning"), texts.get("example"))
    return readings
