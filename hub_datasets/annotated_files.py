"""Input and output of `dataset annotate`: rows of idioms and sentences, or a lexicon whose examples lack spans."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from turkic_idiom_tasks.annotation.annotate import annotate
from turkic_idiom_tasks.dataset.sentences import words
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.files import write_text
from turkic_idiom_tasks.io.reading import display, read_json_lines
from turkic_idiom_tasks.languages import LANGUAGES, Language
from turkic_idiom_tasks.lexicon.entries import Entry
from turkic_idiom_tasks.lexicon.load import check_target, load_lexicon, write_lexicon
from turkic_idiom_tasks.spans import iob2_tags

REQUIRED = ("id", "idiom", "sentence")
ANNOTATED, HAD_SPANS, NO_EXAMPLE = "annotated", "had spans", "the entry has no example"
_OUTCOME = ("tokens", "ner_tags", "spans", "dropped")  # keys that are written; those of an earlier run are replaced


@dataclass(slots=True)
class Account:
    """Number of rows, and for each reason the number of rows that were dropped."""

    rows: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    @property
    def annotated(self) -> int:
        """Return the number of rows with at least one span."""
        return self.rows - self.dropped.total()

    def summary(self) -> str:
        """Return the account in one line, without the reasons."""
        return f"{self.rows} rows = {self.annotated} annotated + {self.dropped.total()} dropped"


def check_out(path: Path, *, overwrite: bool) -> None:
    """Check, before any work is done, that a file may be written.

    Raises:
        InputError: the file exists and `overwrite` is off, or it is a directory.
    """
    if path.is_dir():
        raise InputError(f"{path}: is a directory; --out takes the name of a file")
    if path.exists() and not overwrite:
        raise InputError(f"{path}: exists; choose another --out, or add --overwrite")


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a JSONL file after checking all of them; blank lines are skipped.

    Raises:
        InputError: the file cannot be read, or a row cannot be used; names file, line, value and the next step.
    """
    rows: list[dict[str, Any]] = []
    lines_by_id: dict[str, int] = {}
    for line in read_json_lines(path):
        place = f"{path}:{line.number}"
        if line.problem:
            _fail(place, line.problem, "put one JSON object on each line")
        _check_row(place, line.value)
        key = json.dumps(line.value["id"])
        if key in lines_by_id:
            _fail(place, f"id {display(line.value['id'])} is also that of line {lines_by_id[key]}", "give it its own")
        lines_by_id[key] = line.number
        rows.append(line.value)
    if not rows:
        raise InputError(f"{path}: is empty; nothing to annotate")
    return rows


def annotated_rows(rows: Iterable[Mapping[str, Any]], language: Language, account: Account) -> Iterator[dict[str, Any]]:
    """Yield each row with tokens, ner_tags and spans, or with the reason why it was dropped; count it in `account`."""
    for row in rows:
        cells = {key: value for key, value in row.items() if key not in _OUTCOME}
        sentence = cells["sentence"]
        annotation = annotate(cells["idiom"], sentence, language, variants=cells.get("variants") or ())
        account.rows += 1
        if annotation.dropped is not None:
            account.dropped[annotation.dropped] += 1
            cells["dropped"] = annotation.dropped
        else:
            places = words(sentence)
            cells["tokens"] = [place.of(sentence) for place in places]
            cells["ner_tags"] = iob2_tags(annotation.spans, places)
            cells["spans"] = [[span.start, span.end] for span in annotation.spans]
        yield cells


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write all rows as JSONL at once."""
    lines = [json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows]
    write_text(path, "".join(lines))


def annotate_lexicon(source: Path, target: Path, *, overwrite: bool = False) -> dict[str, Counter[str]]:
    """Write a copy of a lexicon in which examples without spans have the spans that the annotator finds.

    Args:
        source: a lexicon directory.
        target: another directory, new or empty unless `overwrite`.
        overwrite: whether to replace the lexicon in `target`.

    Returns:
        language code -> outcome (`ANNOTATED`, `HAD_SPANS`, or the reason why there are no spans) -> number of entries.

    Raises:
        InputError: `source` is not a lexicon, or `target` is the same directory or holds something.
    """
    if source.resolve() == target.resolve():
        raise InputError(f"{target}: is the lexicon that is read; choose another --out")
    check_target(target, overwrite=overwrite)
    lexicon = load_lexicon(source)
    outcomes: dict[str, Counter[str]] = {}
    entries: dict[str, list[Entry]] = {}
    for code, rows in lexicon.entries.items():
        entries[code], outcomes[code] = [], Counter()
        for row in rows.values():
            entry, outcome = _with_spans(row, LANGUAGES[code])
            entries[code].append(entry)
            outcomes[code][outcome] += 1
    write_lexicon(
        target,
        list(lexicon.concepts.values()),
        entries,
        equivalents=lexicon.equivalents,
        reviews=lexicon.reviews,
        overwrite=overwrite,
    )
    return outcomes


def _with_spans(entry: Entry, language: Language) -> tuple[Entry, str]:
    """Return an entry with the spans of its example, and the outcome."""
    if entry.spans is not None:
        return entry, HAD_SPANS
    if entry.example is None:
        return entry, NO_EXAMPLE
    annotation = annotate(entry.idiom, entry.example, language, variants=entry.variants)
    if annotation.dropped is not None:
        return entry, annotation.dropped
    return replace(entry, spans=annotation.spans), ANNOTATED


def _check_row(place: str, cells: Any) -> None:
    if not isinstance(cells, dict):
        _fail(place, f"{display(cells)} is not a JSON object", f"write {{{', '.join(REQUIRED)}}}")
    missing = [key for key in REQUIRED if key not in cells]
    if missing:
        keys = display(", ".join(cells))[1:-1] or "none"
        _fail(place, f"the keys {', '.join(missing)} are missing; found {keys}", "rename or add them")
    identifier, variants = cells["id"], cells.get("variants")
    if isinstance(identifier, bool) or not isinstance(identifier, str | int) or identifier == "":
        _fail(place, f"id {display(identifier)} is neither a text nor a whole number", "give the row an id")
    if variants is not None and not isinstance(variants, list):
        _fail(place, f"variants {display(variants)} is not a list", "write a list of texts, or leave the key out")
    _check_text(place, "idiom", cells["idiom"])
    _check_text(place, "sentence", cells["sentence"])
    for variant in variants or ():
        _check_text(place, "variants", variant)


def _check_text(place: str, key: str, text: Any) -> None:
    if not isinstance(text, str) or not text.strip():
        _fail(place, f"{key} {display(text)} is not a text, or an empty one", "fill it in, or take the row out")
    if not unicodedata.is_normalized("NFC", text):
        advice = "spans count NFC code points: pass texts through unicodedata.normalize('NFC', text) first"
        _fail(place, f"{key} {display(text)} is not in NFC", advice)


def _fail(place: str, problem: str, advice: str) -> NoReturn:
    raise InputError(f"{place}: {problem}; {advice}")
