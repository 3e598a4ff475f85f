"""Reader of a table of aligned idioms: CSV with a column per language, an idiom in each cell.

The columns are named by the code of a language (``tr``), by its other codes or its English name. ``tr-meaning`` and
``tr-example`` may hold what is known already, ``gloss`` the meaning in English. An empty cell, or one that is only a
dash, means that the language has no such idiom.
"""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

from hub_datasets.import_report import ALMOST, NOTHING, SourceRow, readings_of
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.csv_files import read_table
from turkic_idiom_tasks.io.reading import display
from turkic_idiom_tasks.languages import LANGUAGES

GLOSS = "gloss"
FIELDS = ("idiom", "meaning", "example")
_COLUMN = re.compile(rf"(?P<name>.+?)(?:[-_ ](?P<field>{'|'.join(FIELDS)}))?")


def read(path: Path) -> Iterator[SourceRow]:
    """Yield one row per concept."""
    columns: dict[str, tuple[str, str]] = {}
    for record in read_table(path, ()):
        if record.cells is None:
            yield SourceRow(record.line, problem=record.problem, value=record.value)
            continue
        columns = columns or _columns(path, record.cells)  # every row has the cells of the header
        texts: dict[str, dict[str, str]] = {}
        for column, (code, field) in columns.items():
            cell = record.cells[column]
            if not NOTHING.fullmatch(cell):
                texts.setdefault(code, {})[field] = cell
        problem = None if texts else "no idiom in any language"
        yield SourceRow(record.line, readings_of(texts), gloss=record.cells.get(GLOSS, ""), problem=problem)


def _columns(path: Path, cells: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return column -> language code and field of the columns that hold texts of a language.

    A name that is almost one of them is an error, because its column would silently be missing.
    """
    codes = {}
    for language in LANGUAGES.values():
        for name in (language.code, language.subset, language.script_code.lower(), language.name.lower()):
            codes[name] = language.code
    known = [GLOSS, *codes, *(f"{name}-{field}" for name in codes for field in FIELDS)]
    columns = {}
    for column in cells:
        match = _COLUMN.fullmatch(column)
        if match is not None and match["name"] in codes:
            columns[column] = (codes[match["name"]], match["field"] or "idiom")
        elif column != GLOSS and (near := get_close_matches(column, known, n=1, cutoff=ALMOST)):
            # A short name that is no known code is that of another language: kk-idiom is no misspelt tk-idiom
            advice = "remove it; CONTRIBUTING.md says how to add a language"
            if (name := re.split("[-_ ]", column)[0]) in codes or len(name) > 3:
                advice = f"nearest: {near[0]}; rename or remove it"
            raise InputError(f"{path}:1: unknown column {display(column)}, {advice}")
    if not columns:
        names = display(", ".join(cells))[1:-1]
        raise InputError(f"{path}:1: no column of a language; name the columns {', '.join(LANGUAGES)}, found {names}")
    return columns
