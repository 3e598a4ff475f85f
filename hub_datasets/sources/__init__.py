"""Readers of outside data: one module per format, each with ``read(path)``, all giving `SourceRow`."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from turkic_idiom_tasks.errors import InputError

_DELIMITERS = (",", ";", "\t")
_CELL_LIMIT = 1 << 20  # characters; a cell that is longer means an unclosed quotation mark


@dataclass(frozen=True, slots=True)
class Note:
    """Something a reader repaired in a row or took out of it, for the report."""

    what: str
    value: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What a row says of one language; `idiom` is empty when the row has only the rest of it."""

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
        readings: language code -> idiom with what is said of it.
        gloss: the meaning in English; empty when the source has none.
        problem: why the whole row is of no use; None when it can be used.
        merged: why the row is not an entry of its own though nothing of it is lost; None otherwise.
        value: what the problem or the merger is about.
        notes: repairs.
    """

    line: int
    readings: Mapping[str, Reading] = field(default_factory=dict)
    gloss: str = ""
    problem: str | None = None
    merged: str | None = None
    value: str = ""
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a table: cells by column, or None when the number of cells is wrong."""

    line: int
    cells: Mapping[str, str] | None
    problem: str = ""


def read_utf8(path: Path) -> str:
    """The text of a file, without a byte order mark.

    Raises:
        InputError: it does not exist, is no file, is empty, or is not UTF-8.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file; check the path" if not path.exists() else f"{path}: is not a file")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check its permissions") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # object holds the data without a byte order mark, which changes no line number
        line = bytes(error.object[: error.start]).count(b"\n") + 1
        byte = error.object[error.start]
        raise InputError(
            f"{path}:{line}: not UTF-8 (byte 0x{byte:02X}); convert it first, such as: iconv -f WINDOWS-1254 -t UTF-8"
        ) from error
    if not text.strip():
        raise InputError(f"{path}: is empty; nothing to import")
    return text


def read_table(path: Path, required: tuple[str, ...]) -> Iterator[Record]:
    """The records of a CSV file with a header line; comma, semicolon or tab, whichever the header uses.

    Column names are compared without regard to case and surrounding white space.

    Raises:
        InputError: a required column is missing (names those that were found), or the file is not a CSV table.
    """
    text = read_utf8(path)
    header_line = text.lstrip("\r\n").splitlines()[0]
    delimiter = max(_DELIMITERS, key=header_line.count)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
    csv.field_size_limit(_CELL_LIMIT)
    line = 1
    header: list[str] | None = None
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise InputError(f"{path}:{line}: malformed CSV ({error}); look for an unclosed quotation mark") from error
        if cells is None:
            break
        begins, line = line, reader.line_num + 1
        if not any(cell.strip() for cell in cells):
            continue
        if header is None:
            header = [cell.strip().lower() for cell in cells]
            _check_columns(path, header, required)
        elif len(cells) != len(header):
            yield Record(begins, None, f"{len(cells)} cells instead of {len(header)}")
        else:
            yield Record(begins, dict(zip(header, cells, strict=True)))


def _check_columns(path: Path, header: list[str], required: tuple[str, ...]) -> None:
    missing = [name for name in required if name.lower() not in header]
    if missing:
        found = ", ".join(header)
        raise InputError(
            f"{path}:1: the columns {', '.join(missing)} are missing; found {found}; is --format the right one?"
        )
