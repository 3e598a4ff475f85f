"""Reader of the benchmark paper's release: JSONL or a JSON list with the keys ``TR-Deyim``, ``TR-Anlam``, ``TR-Ornek``.

The keys of the other languages begin with ``AZ-``, ``TK-`` and ``GA-``, those of further ones with the code of the
language, such as ``UZ-``. A row is one concept in all languages.
A missing key, null, an empty text or a single dash means that a language lacks the field. Keys are recognised in any
letter case and with any spelling of Örnek. A key that is almost one of them is not read, and reported.
"""

import json
import re
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from hub_datasets.cleaning import without_accents
from hub_datasets.import_report import ALMOST, NOTHING, Note, SourceRow, readings_of
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.csv_files import read_text
from turkic_idiom_tasks.io.models import model_errors
from turkic_idiom_tasks.io.reading import display, parse_json
from turkic_idiom_tasks.languages import LANGUAGES

# How the paper's prompt calls the languages of its release
LANGUAGE_NAMES = {"tr": "Turkish", "az": "Azerbaijani Turkish", "tk": "Turkmen Turkish", "gag": "Gagauz Turkish"}
_SHORT = {"ga": "gag"}  # the release's own code
FIELDS = {"deyim": "idiom", "anlam": "meaning", "ornek": "example"}
NO_KEY = "no key of the release"
_KEY = re.compile(rf"([a-z]+)-({'|'.join(FIELDS)})")
_SHOWN = 80  # characters of a value in the report


def read(path: Path) -> Iterator[SourceRow]:
    """Yield one row per concept."""
    text = read_text(path)
    if text.lstrip().startswith("["):
        rows = [source_row(number, item) for number, item in enumerate(_parse(str(path), text), start=1)]
    else:
        lines = enumerate(text.split("\n"), start=1)
        rows = [source_row(number, _parse(f"{path}:{number}", line)) for number, line in lines if line.strip()]
    if all(row.problem == NO_KEY for row in rows):
        first = rows[0] if rows else SourceRow(1, value="an empty list")
        keys = display(first.value)[1:-1] or "none"
        raise InputError(f"{path}:{first.line}: no key such as TR-Deyim, TR-Anlam; found {keys}; check --format")
    yield from rows


def _parse(place: str, text: str) -> Any:
    with model_errors(place, "put one JSON object on each line, or one JSON list"):
        # NaN is what pandas writes for a missing cell
        return parse_json(text.encode("utf-8"), special_numbers=True)


def prefix(code: str) -> str:
    """Return what the keys of a language begin with."""
    return {code: short for short, code in _SHORT.items()}.get(code, code).upper()


def source_row(number: int, item: Any) -> SourceRow:
    """Return the concept that one decoded object of the release holds; `number` is its line or place in the list."""
    if not isinstance(item, dict):
        return SourceRow(number, problem="not a JSON object", value=_as_text(item))
    fields: dict[str, dict[str, str]] = {}
    notes: list[Note] = []
    has_key = False
    for key, value in item.items():
        name = without_accents(key.strip().replace("ı", "i")).lower()
        name = re.sub(r"[\s_\-\u2010-\u2015]+", "-", name)
        match = _KEY.fullmatch(name)
        code = _SHORT.get(match[1], match[1]) if match else ""
        if match is None or code not in LANGUAGES:
            known = [f"{prefix}-{field}" for prefix in (*LANGUAGES, *_SHORT) for field in FIELDS]
            near = get_close_matches(name, known, n=1, cutoff=ALMOST)
            if near:
                hint = f" (nearest: {near[0].upper()})" if near[0][:3] == name[:3] else ""  # or another language
                notes.append(Note(f"unknown key {display(key)} not read{hint}", _as_text(value)))
            continue
        has_key = True
        field = FIELDS[match[2]]
        if isinstance(value, str) and not NOTHING.fullmatch(value):
            fields.setdefault(code, {}).setdefault(field, value)
        elif not isinstance(value, str | None) and value == value:  # of numbers NaN alone is not itself
            notes.append(Note(f"{field} removed: not text", _as_text(value)))
    if not has_key:
        return SourceRow(number, problem=NO_KEY, value=", ".join(item)[:_SHOWN])
    problem = None if fields else "no idiom in any language"
    return SourceRow(number, readings_of(fields), problem=problem, notes=tuple(notes))


def _as_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:_SHOWN]
