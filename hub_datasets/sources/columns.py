"""Reader of a table of aligned idioms: CSV with a column per language, an idiom in each cell.

The columns are named by the code of a language (``tr``), by its other codes or its English name. ``tr-meaning``,
``tr-example`` and ``tr-variants`` (further forms, with ``;`` between them) may hold what is known already, ``gloss``
the meaning in English and ``concept`` the id of the concept. An empty cell, or one that is only a dash, means that the
language has no such idiom. Languages that the package does not know are read from ``languages.jsonl`` beside the table.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from hub_datasets.import_report import ALMOST, NOTHING, Note, SourceRow, readings_of
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.csv_files import Record, read_table
from turkic_idiom_tasks.io.files import write_text
from turkic_idiom_tasks.io.reading import display
from turkic_idiom_tasks.languages import LANGUAGES, LANGUAGES_FILE, add_languages
from turkic_idiom_tasks.lexicon.entries import CONCEPT_ID

GLOSS, CONCEPT = "gloss", "concept"
FIELDS = ("idiom", "meaning", "example", "variants")
_SCRIPTS = {"LATIN": "Latn", "CYRILLIC": "Cyrl", "ARABIC": "Arab"}
_CODE = re.compile("[a-z]{2,3}")
_COLUMN = re.compile(rf"(?P<name>.+?)(?:[-_ ](?P<field>{'|'.join(FIELDS)}))?")


def read(path: Path) -> Iterator[SourceRow]:
    """Yield one row per concept."""
    add_languages(path.parent)
    records = list(read_table(path, ()))
    columns: dict[str, tuple[str, str]] = {}
    for record in records:
        if record.cells is None:
            yield SourceRow(record.line, problem=record.problem, value=record.value)
            continue
        notes: tuple[Note, ...] = ()
        if not columns:  # every row has the cells of the header
            columns = _columns(path, record.cells, records)
            not_read = [column for column in record.cells if column not in (*columns, GLOSS, CONCEPT, "")]
            notes = tuple(Note("column not read; name one of idioms CODE-idiom", column) for column in not_read)
        texts: dict[str, dict[str, str]] = {}
        for column, (code, field) in columns.items():
            cell = record.cells[column]
            if not NOTHING.fullmatch(cell):
                texts.setdefault(code, {})[field] = cell
        concept = record.cells.get(CONCEPT, "")
        problem = None if texts else "no idiom in any language"
        if concept and not CONCEPT_ID.fullmatch(concept):
            problem = "concept is no id of lower-case letters, digits and hyphens"
        gloss = record.cells.get(GLOSS, "")
        yield SourceRow(
            record.line, readings_of(texts), gloss, problem=problem, value=concept, notes=notes, concept=concept
        )


def _columns(path: Path, cells: Mapping[str, str], records: Sequence[Record]) -> dict[str, tuple[str, str]]:
    """Return column -> language code and field of the columns that hold texts of a language."""
    codes = {}
    for language in LANGUAGES.values():
        for name in (language.code, language.subset, language.script_code.lower(), language.name.lower()):
            codes[name] = language.code
    known = [GLOSS, CONCEPT, *codes, *(f"{name}-{field}" for name in codes for field in FIELDS)]
    columns = {}
    new_codes: dict[str, str] = {}  # -> the first column of a language that is not known
    problems = []
    for column in cells:
        match = _COLUMN.fullmatch(column)
        if match is not None and match["name"] in codes:
            columns[column] = (codes[match["name"]], match["field"] or "idiom")
        # A short name that is no known code is that of another language: ky-idiom is no misspelt tk-idiom
        elif match is not None and match["field"] and _CODE.fullmatch(match["name"]):
            new_codes.setdefault(match["name"], column)
        # A name that is almost a known one is an error, because its column would silently be missing
        elif column not in (GLOSS, CONCEPT) and (near := get_close_matches(column, known, n=1, cutoff=ALMOST)):
            problems.append(f"unknown column {display(column)}; nearest: {near[0]}; rename or remove it")
    for code, column in new_codes.items():
        record = _record_to_fill_in(path, code, records)
        advice = f"fill in its record in {record}, as CONTRIBUTING.md explains, and run the same command again"
        problems.append(f"unknown column {display(column)}; no language has the code {code}; {advice}")
    if not columns and not problems:
        names = display(", ".join(cells))[1:-1]
        problems.append(f"no column of a language; name the columns {', '.join(LANGUAGES)}, found {names}")
    if problems:
        raise InputError(f"{path}:1: {'; '.join(problems)}")
    return columns


def _record_to_fill_in(path: Path, code: str, records: Sequence[Record]) -> Path:
    """Return the ``languages.jsonl`` beside a table, after adding a record with the letters of a language's columns."""
    file = path.parent / LANGUAGES_FILE
    text = "".join(cell for record in records for name, cell in (record.cells or {}).items() if name.startswith(code))
    letters = "".join(sorted({letter for letter in text.lower() if letter.isalpha()}))
    scripts = Counter(unicodedata.name(letter, "?").split()[0] for letter in letters)
    script = _SCRIPTS.get(scripts.most_common(1)[0][0], "") if scripts else ""
    names = {"code": code, "name": "", "own_name": "", "subset": code if len(code) == 3 else ""}
    facts = {"script": script, "alphabet": letters, "infinitives": [], "function_words": [], "to_common": {}}
    before = file.read_text(encoding="utf-8").rstrip("\n") + "\n" if file.is_file() else ""  # its last line may be open
    write_text(file, f"{before}{json.dumps(names | facts | {'provisional': True}, ensure_ascii=False)}\n")
    return file
