"""Text files and CSV tables: those from outside, whose faults are named by line, and every table that we write."""

from __future__ import annotations

import codecs
import csv
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import display, input_errors, read_file

if TYPE_CHECKING:
    import pandas as pd

_STRAY_QUOTE = "stray quotation mark"
_ROWS_IN_A_CELL = (
    "stray quotation mark, or line breaks in a cell whose lines look like rows; write that cell in one line"
)
_DELIMITERS = (",", ";", "\t")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet runs a cell that begins like this
_CELL_LIMIT = 1 << 20  # characters; a longer cell means an unclosed quotation mark


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a table."""

    line: int  # on which it begins, from 1
    cells: Mapping[str, str] | None  # column -> cell; None if the record cannot be used
    problem: str = ""  # why it cannot be used
    value: str = ""  # the text that has the problem


def read_text(path: Path) -> str:
    """Return the text of a file, without a byte order mark."""
    with input_errors(path):
        data = read_file(path).removeprefix(codecs.BOM_UTF8)  # which Excel writes
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        advice = "convert it first, such as: iconv -f WINDOWS-1254 -t UTF-8"  # the code page of Turkish Windows
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            advice = "convert it first: iconv -f UTF-16 -t UTF-8"
        elif data.startswith(b"PK"):
            advice = "this is an Excel or zip file; export it as CSV in UTF-8"
        raise InputError(f"{path}:{line}: not UTF-8 (byte 0x{data[error.start]:02X}); {advice}") from error
    if not text.strip():
        raise InputError(f"{path}: is empty")
    return text


def read_table(path: Path, required: tuple[str, ...]) -> Iterator[Record]:
    """Yield the records of a CSV file with a header line, whose cells a comma, a semicolon or a tab separates.

    Column names are compared without regard to case and surrounding white space.
    """
    text = read_text(path)
    header_line = text.lstrip("\r\n").splitlines()[0]
    delimiter = max(_DELIMITERS, key=header_line.count)
    header: list[str] | None = None
    for number, lines, cells in read_records(path, text, delimiter):
        if header is None:
            header = [cell.strip().lower() for cell in cells]
            missing = [name for name in required if name.lower() not in header]
            twice = [name for name in header if name and header.count(name) > 1]
            fault = ""
            if missing:
                found = display(", ".join(header))[1:-1]
                fault = f"the columns {', '.join(missing)} are missing; found {found}; is it the right file?"
            elif twice:
                spelling = next((name for name in required if name.lower() == twice[0]), twice[0])
                fault = f"the column {spelling} appears twice; rename or remove one"
            if fault:
                raise InputError(f"{path}:{number}: {fault}")
            continue
        problem = _quote_problem(lines, cells, delimiter, len(header)) if len(lines) > 1 else ""
        if not problem:
            yield _record(number, cells, header)
            continue
        # A stray quotation mark joins the lines after it into one cell, so they are read one by one.
        for place, line in enumerate(lines, start=number):
            if not line.strip():
                continue
            try:
                record = _record(place, next(csv.reader([line], delimiter=delimiter, strict=True)), header)
            except csv.Error:
                record = Record(place, None, problem, line.strip())
            # The last line of such a cell would otherwise count as a row that begins in the middle of a text.
            if problem == _ROWS_IN_A_CELL and line.count('"') % 2:
                record = Record(place, None, problem, line.strip())
            yield record


def read_whole_table(path: Path, required: tuple[str, ...]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield ``PATH:LINE`` and the cells of every record of a table; a record with a problem is an InputError."""
    for record in read_table(path, required):
        place = f"{path}:{record.line}"
        if record.cells is None:
            raise InputError(f"{place}: {record.problem}: {display(record.value)}; correct the file")
        yield place, record.cells


def csv_text(frame: pd.DataFrame, *, line_end: str = "\n", float_format: str | None = None) -> str:
    """Return a table as CSV, with an apostrophe before each text that a spreadsheet would take for a formula."""
    safe = frame.rename(columns=_harmless)
    for name, dtype in frame.dtypes.items():
        if dtype.kind == "O":
            cells = frame[name].to_numpy(dtype=object, copy=True)  # Series.map would make 8 and None 8.0 and NaN
            cells[:] = [_harmless(cell) for cell in cells]
            safe[_harmless(name)] = cells
    write = partial(safe.to_csv, index=False, lineterminator=line_end, float_format=float_format)
    text = str(write())
    # Only the characters of the line end make Python quote a cell, but readers end a line at any \r
    return str(write(quoting=csv.QUOTE_NONNUMERIC)) if "\r" in text.replace(line_end, "") else text


def _harmless(value: object) -> object:
    if not isinstance(value, str):
        return value
    plain = unicodedata.normalize("NFKC", value)  # some spreadsheets read a full-width sign as the plain one
    return f"'{value}" if plain.lstrip(" ").startswith(_FORMULA_STARTS) else value


def read_records(path: Path, text: str, delimiter: str) -> Iterator[tuple[int, Sequence[str], list[str]]]:
    """Yield the number of the first line, the lines and the cells of every record of a file that is not blank."""
    lines = list(StringIO(text, newline=""))  # str.splitlines would also end a line at U+2028 and the like
    csv.field_size_limit(_CELL_LIMIT)  # of the whole process; Python's own is 128 KiB
    reader = csv.reader(lines, delimiter=delimiter)
    first = 0
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield first + 1, lines[first : reader.line_num], cells
            first = reader.line_num  # which counts lines, not records: a cell may have line breaks
    except csv.Error as error:
        problem = f"malformed CSV ({error}); look for an unclosed quotation mark"
        raise InputError(f"{path}:{first + 1}: {problem}") from error


def _quote_problem(lines: Sequence[str], cells: Sequence[str], delimiter: str, n_columns: int) -> str:
    """Return the problem of a record of lines that a stray quotation mark may have joined; "" if it is sound."""
    # A cell may have line breaks. In that case its last quotation mark ends a cell, the record has as many cells as the
    # header, and its lines are not valid rows by themselves.
    try:
        next(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error:
        return _STRAY_QUOTE
    if len(cells) != n_columns:
        return _STRAY_QUOTE
    reads_as_rows = all(line.count(delimiter) == n_columns - 1 for line in lines)
    return _ROWS_IN_A_CELL if reads_as_rows else ""


def _record(number: int, cells: Sequence[str], header: Sequence[str]) -> Record:
    if [cell.strip().lower() for cell in cells] == header:  # as where files were put together
        return Record(number, None, "the header again", ", ".join(cells))
    if len(cells) != len(header):
        return Record(number, None, "wrong number of cells", f"{len(cells)} cells instead of {len(header)}")
    return Record(number, dict(zip(header, cells, strict=True)))
