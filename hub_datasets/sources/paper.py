"""The benchmark paper's release: JSONL or a JSON list with the keys ``TR-Deyim``, ``TR-Anlam``, ``TR-Ornek``.

The other languages have ``AZ-``, ``TK-``, ``GA-`` and ``UZ-`` alike. A row is one concept over all languages. A
missing key, null, an empty text and a lone dash mean that a language has none. Keys are recognised in any case and
spelling of Örnek.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hub_datasets.sources import Note, Reading, SourceRow, read_utf8
from turkic_idiom_tasks.errors import InputError

CODES = {"tr": "tr", "az": "az", "tk": "tk", "ga": "gag", "gag": "gag", "uz": "uz"}
FIELDS = {"deyim": "idiom", "anlam": "meaning", "ornek": "example"}
_KEY = re.compile(rf"({'|'.join(CODES)})-({'|'.join(FIELDS)})")
_NOTHING = re.compile(r"[\s\-\u2010-\u2015\u2212\u00ad]*")


def read(path: Path) -> Iterator[SourceRow]:
    """One row per concept.

    Raises:
        InputError: malformed JSON (names file and line), or not one key of the release in the whole file.
    """
    rows = [_source_row(number, item) for number, item in _items(path)]
    if all(row.problem == "no key of the release" for row in rows):
        raise InputError(
            f"{path}:{rows[0].line}: no key such as TR-Deyim, TR-Anlam, TR-Ornek; found {rows[0].value or 'none'}; "
            "is --format the right one?"
        )
    yield from rows


def _items(path: Path) -> Iterator[tuple[int, Any]]:
    text = read_utf8(path)
    if text.lstrip().startswith("["):
        try:
            items = json.loads(text)
        except json.JSONDecodeError as error:
            raise _malformed(path, error.lineno, error) from error
        if not items:
            raise InputError(f"{path}: the JSON list is empty; nothing to import")
        yield from enumerate(items, start=1)
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except json.JSONDecodeError as error:
                raise _malformed(path, number, error) from error


def _malformed(path: Path, line: int, error: json.JSONDecodeError) -> InputError:
    advice = "one JSON object a line is expected, or one JSON list"
    return InputError(f"{path}:{line}: malformed JSON at column {error.colno}: {error.msg}; {advice}")


def _source_row(number: int, item: Any) -> SourceRow:
    if not isinstance(item, dict):
        return SourceRow(number, problem="not a JSON object", value=json.dumps(item, ensure_ascii=False)[:80])
    fields: dict[str, dict[str, str | None]] = {}
    notes: list[Note] = []
    for key, value in item.items():
        found = _KEY.fullmatch(_normalised(key))
        if found is None:
            continue
        text = _text(value)
        if text is None and not _means_nothing(value):
            notes.append(Note(f"{FIELDS[found[2]]} removed: not text", json.dumps(value, ensure_ascii=False)[:80]))
        slot = fields.setdefault(CODES[found[1]], {})
        slot[FIELDS[found[2]]] = slot.get(FIELDS[found[2]]) or text
    if not fields:
        return SourceRow(number, problem="no key of the release", value=", ".join(item)[:80])
    readings = {
        code: Reading(slot.get("idiom") or "", slot.get("meaning"), slot.get("example"))
        for code, slot in fields.items()
        if any(slot.values())
    }
    if not readings:
        return SourceRow(number, problem="no idiom in any language", notes=tuple(notes))
    return SourceRow(number, readings, notes=tuple(notes))


def _normalised(key: str) -> str:
    decomposed = unicodedata.normalize("NFKD", key.strip().replace("ı", "i"))
    letters = "".join(character for character in decomposed if not unicodedata.combining(character))
    return re.sub(r"[\s_\-\u2010-\u2015]+", "-", letters.lower())


def _text(value: Any) -> str | None:
    """The text of a field; of a list of texts the first; None when there is none."""
    if isinstance(value, list):
        value = next((item for item in value if isinstance(item, str) and not _means_nothing(item)), None)
    return None if not isinstance(value, str) or _means_nothing(value) else value


def _means_nothing(value: Any) -> bool:
    """None, an empty text, dashes only, an empty list, and NaN, which is what pandas writes for a missing cell."""
    if isinstance(value, float):
        return value != value
    if isinstance(value, list):
        return all(_means_nothing(item) for item in value)
    return value is None or (isinstance(value, str) and _NOTHING.fullmatch(value) is not None)
