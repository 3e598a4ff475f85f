"""Rows that every reader of a source yields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Note:
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
    """One meaning as a source gives it, or a row that the reader could not use.

    Attributes:
        line: line of the file on which the record begins (for a JSON list: number of the item), from 1. A record with
            several senses gives several rows of the same line.
        readings: language code -> reading.
        gloss: the meaning in English; empty if the source has none.
        problem: why the whole row cannot be used; None if it can.
        merged: why the row is a part of another entry; None if it is an entry of its own.
        value: the text that `problem` or `merged` refers to.
        notes: repairs.
    """

    line: int
    readings: Mapping[str, Reading] = field(default_factory=dict)
    gloss: str = ""
    problem: str | None = None
    merged: str | None = None
    value: str = ""
    notes: tuple[Note, ...] = ()
