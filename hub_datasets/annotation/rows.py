"""Rows of idioms and sentences from a JSONL file to a JSONL file, tagged or dropped with a reason."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from hub_datasets.annotation.annotate import annotate
from hub_datasets.sources import read_utf8
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.files import write_text
from turkic_idiom_tasks.languages import Language
from turkic_idiom_tasks.span_detection.words import words
from turkic_idiom_tasks.spans import iob2_tags

REQUIRED = ("id", "idiom", "sentence")
_OUTCOME = ("tokens", "ner_tags", "spans", "dropped")  # keys that are written; those of an earlier run are replaced
_SHOWN = 60  # characters of a bad value


@dataclass(frozen=True, slots=True)
class InputRow:
    """A row as it came in: all its keys in `cells`, the line for messages."""

    line: int
    cells: dict[str, Any]


@dataclass(slots=True)
class Account:
    """What became of the rows: how many there were, and how many were dropped for which reason."""

    rows: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    @property
    def annotated(self) -> int:
        """Rows with at least one span."""
        return self.rows - self.dropped.total()

    def summary(self) -> list[str]:
        """Lines for a reader, the most frequent reason first."""
        lines = [f"{self.rows} rows = {self.annotated} annotated + {self.dropped.total()} dropped"]
        return lines + [f"  dropped {count:6d}  {reason}" for reason, count in self.dropped.most_common()]


def check_out(path: Path, *, overwrite: bool) -> None:
    """Makes sure, before any work is done, that a file may be written.

    Raises:
        InputError: it exists and `overwrite` is off, or it is a directory.
    """
    if path.is_dir():
        raise InputError(f"{path}: is a directory; --out takes the name of a file")
    if path.exists() and not overwrite:
        raise InputError(f"{path}: exists; choose another --out, or add --overwrite")


def read_rows(path: Path) -> list[InputRow]:
    """The rows of a JSONL file, blank lines skipped, all of them checked.

    Raises:
        InputError: the file cannot be read, or a row cannot be used; names file, line, value and the next step.
    """
    rows: list[InputRow] = []
    lines_by_id: dict[str, int] = {}
    for number, line in enumerate(read_utf8(path).split("\n"), start=1):
        if line.strip():
            row = InputRow(number, _cells(f"{path}:{number}", line))
            key = json.dumps(row.cells["id"])
            if key in lines_by_id:
                _fail(f"{path}:{number}", f"id {key} is also that of line {lines_by_id[key]}", "give every row its own")
            lines_by_id[key] = number
            rows.append(row)
    return rows


def annotated_rows(rows: Iterable[InputRow], language: Language, account: Account) -> Iterator[dict[str, Any]]:
    """Each row with tokens, ner_tags and spans, or with the reason why it was dropped; counted in `account`."""
    for row in rows:
        kept = {key: value for key, value in row.cells.items() if key not in _OUTCOME}
        sentence = kept["sentence"]
        found = annotate(kept["idiom"], sentence, language, variants=kept.get("variants") or ())
        account.rows += 1
        if found.dropped is not None:
            account.dropped[found.dropped] += 1
            yield kept | {"dropped": found.dropped}
            continue
        places = words(sentence)
        yield kept | {
            "tokens": [place.of(sentence) for place in places],
            "ner_tags": iob2_tags(found.spans, places),
            "spans": [[span.start, span.end] for span in found.spans],
        }


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Writes the rows as JSONL, all or nothing."""
    write_text(path, "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows))


def _cells(place: str, line: str) -> dict[str, Any]:
    try:
        cells = json.loads(line, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        _fail(place, f"malformed JSON at column {error.colno}: {error.msg}", "put one JSON object on each line")
    except (ValueError, RecursionError) as error:
        _fail(place, f"unusable JSON ({error})", "put one plain JSON object on each line")
    if not isinstance(cells, dict):
        _fail(place, f"{_short(cells)} is not a JSON object", f"write {{{', '.join(REQUIRED)}}}")
    missing = [key for key in REQUIRED if key not in cells]
    if missing:
        keys = ", ".join(map(str, cells)) or "none"
        _fail(place, f"the keys {', '.join(missing)} are missing; found {keys}", "rename or add them")
    _check_values(place, cells)
    return cells


def _check_values(place: str, cells: dict[str, Any]) -> None:
    if isinstance(cells["id"], bool) or not isinstance(cells["id"], str | int) or cells["id"] == "":
        _fail(place, f"id {_short(cells['id'])} is neither a text nor a whole number", "give the row an id")
    variants = cells.get("variants")
    if variants is not None and not isinstance(variants, list):
        _fail(place, f"variants {_short(variants)} is not a list", "write a list of texts, or leave the key out")
    texts = [
        ("idiom", cells["idiom"]),
        ("sentence", cells["sentence"]),
        *(("variants", text) for text in variants or ()),
    ]
    for key, text in texts:
        if not isinstance(text, str) or not text.strip():
            _fail(place, f"{key} {_short(text)} is not a text, or an empty one", "fill it in, or take the row out")
        if not unicodedata.is_normalized("NFC", text):
            advice = "spans count NFC code points: pass texts through unicodedata.normalize('NFC', text) first"
            _fail(place, f"{key} {_short(text)} is not in NFC", advice)
    try:
        json.dumps(cells, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        _fail(place, f"half of a surrogate pair ({_short(error.object[error.start])})", "mend the text at its source")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _short(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=True) if not isinstance(value, str) else repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"


def _fail(place: str, problem: str, advice: str) -> NoReturn:
    raise InputError(f"{place}: {problem}; {advice}")
