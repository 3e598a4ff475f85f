"""From the rows of a source to a cleaned, deduplicated lexicon, with an account of every reading.

- A row is a concept; its idiom in Turkish (otherwise in the first language it has) names it.
- Rows with the same naming idiom and the same meaning are one concept; their languages, variants and a missing example
  are taken together.
- Rows with the same idiom and another meaning are further senses, in the order of the file: ``--2``, ``--3``.
- A row without a meaning says nothing new of an idiom that is already there; its example fills a gap.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from hub_datasets.cleaning import clean_reading, compared
from hub_datasets.concept_ids import IdiomKey, concept_stems, sense_id
from hub_datasets.report import REPORT_FILE, Case, ImportReport, Tally
from hub_datasets.sources import Note, Reading, SourceRow, kevser, paper, tdk, uz_idioms
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.files import check_writable, write_json
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import CONCEPTS_FILE, read_lexicon, write_lexicon

_LEXICON_FILES = (*(f"{code}.jsonl" for code in LANGUAGES), CONCEPTS_FILE)


@dataclass(frozen=True, slots=True)
class SourceFormat:
    """A source format.

    Attributes:
        name: as `--format` takes it.
        read: gives the rows of a file.
        keeps_bare_idioms: whether an idiom without meaning and example is worth an entry: it is where rows align
            languages.
    """

    name: str
    read: Callable[[Path], Iterable[SourceRow]]
    keeps_bare_idioms: bool = False


FORMATS = {
    source.name: source
    for source in (
        SourceFormat("paper", paper.read, keeps_bare_idioms=True),
        SourceFormat("uz-idioms", uz_idioms.read),
        SourceFormat("kevser", kevser.read),
        SourceFormat("tdk", tdk.read),
    )
}


@dataclass(frozen=True, slots=True)
class Imported:
    """A lexicon to be written, and the account of how it came about."""

    concepts: list[Concept]
    entries: dict[str, list[Entry]]
    report: ImportReport


@dataclass(slots=True)
class _Sense:
    """A concept while its rows come in."""

    line: int
    gloss: str
    readings: dict[str, Reading]


@dataclass(slots=True)
class _Ledger:
    """The lexicon and its account while rows come in."""

    rows: set[int] = field(default_factory=set)
    readings: int = 0
    dropped: Tally = field(default_factory=Tally)
    merged: Tally = field(default_factory=Tally)
    changed: Tally = field(default_factory=Tally)
    senses: dict[IdiomKey, list[_Sense]] = field(default_factory=dict)


def find_format(name: str) -> SourceFormat:
    """A source format by its name.

    Raises:
        InputError: there is none of that name.
    """
    if name not in FORMATS:
        raise usage_error(f"unknown format {name!r}; known: {', '.join(FORMATS)}")
    return FORMATS[name]


def import_source(source: SourceFormat, path: Path) -> Imported:
    """The lexicon that a source file holds.

    Raises:
        InputError: the file cannot be read as this format, or nothing in it can be used.
    """
    ledger = _Ledger()
    for row in source.read(path):
        _take_row(ledger, row, keeps_bare_idioms=source.keeps_bare_idioms)
    stems = concept_stems(ledger.senses)
    concepts: list[Concept] = []
    entries: dict[str, list[Entry]] = {code: [] for code in LANGUAGES}
    for key, senses in ledger.senses.items():
        for number, sense in enumerate(senses, start=1):
            concept = sense_id(stems[key], number)
            concepts.append(Concept(concept, sense.gloss))
            for code, reading in sense.readings.items():
                entries[code].append(_entry(concept, reading, f"{source.name}:{sense.line}"))
    _check_unique(concepts)
    entries = {code: rows for code, rows in entries.items() if rows}
    report = ImportReport(
        format=source.name,
        file=path.name,
        rows=len(ledger.rows),
        readings=ledger.readings,
        entries={code: len(rows) for code, rows in entries.items()},
        concepts=len(concepts),
        dropped=ledger.dropped,
        merged=ledger.merged,
        changed=ledger.changed,
    )
    if not entries:
        reason, count = next(iter(report.dropped.counts().items()), ("no rows", 0))
        raise InputError(f"{path}: not one entry could be imported; most frequent reason: {reason} ({count} times)")
    return Imported(concepts, entries, report)


def check_target(directory: Path, *, overwrite: bool) -> None:
    """Makes sure, before any work is done, that a lexicon may be written to a directory.

    Raises:
        InputError: it holds something and `overwrite` is off, or it is no directory.
    """
    if directory.exists() and not directory.is_dir():
        raise InputError(f"{directory}: is not a directory; choose another --out")
    present = sorted(path.name for path in directory.iterdir()) if directory.is_dir() else []
    if present and not overwrite:
        raise InputError(f"{directory}: not empty (holds {present[0]}); choose another --out, or add --overwrite")
    foreign = [name for name in present if name.endswith(".jsonl") and name not in _LEXICON_FILES]
    if foreign:
        raise InputError(f"{directory}: holds {foreign[0]}, which is no lexicon file; choose another --out")


def write_import(imported: Imported, directory: Path, *, overwrite: bool = False) -> None:
    """Writes the lexicon and its report; the lexicon is complete and valid before the first file of the target changes.

    Raises:
        InputError: see `check_target`; or the directory cannot be written to.
    """
    check_target(directory, overwrite=overwrite)
    check_writable(directory)
    with tempfile.TemporaryDirectory(dir=directory, prefix=".import.") as name:
        staged = Path(name)
        write_lexicon(staged, imported.concepts, imported.entries)
        _, problems = read_lexicon(staged)
        if problems:
            raise RuntimeError(f"the imported lexicon is not valid: {problems[0]}")
        write_json(staged / REPORT_FILE, imported.report.to_json())
        for file in sorted(staged.iterdir()):
            file.replace(directory / file.name)
        for file_name in _LEXICON_FILES:  # of the lexicon that --overwrite replaces
            if file_name != CONCEPTS_FILE and file_name.removesuffix(".jsonl") not in imported.entries:
                (directory / file_name).unlink(missing_ok=True)


def _take_row(ledger: _Ledger, row: SourceRow, *, keeps_bare_idioms: bool) -> None:
    ledger.rows.add(row.line)
    language = next(iter(row.readings), "") if len(row.readings) == 1 else ""
    _note(ledger, row.line, language, row.notes)
    if row.problem or row.merged or not row.readings:
        ledger.readings += 1
        tally = ledger.merged if row.merged else ledger.dropped
        tally.add(row.merged or row.problem or "no idiom", Case(row.line, language, row.value))
        return
    ledger.readings += len(row.readings)
    readings: dict[str, Reading] = {}
    for code in (code for code in LANGUAGES if code in row.readings):
        cleaned = clean_reading(row.readings[code], LANGUAGES[code])
        _note(ledger, row.line, code, cleaned.notes)
        reading = cleaned.reading
        if reading is None:
            ledger.dropped.add(cleaned.problem, Case(row.line, code, cleaned.value))
        elif not (keeps_bare_idioms or reading.meaning or reading.example):
            ledger.dropped.add("neither meaning nor example", Case(row.line, code, reading.idiom))
        else:
            readings[code] = reading
    if readings:
        _place(ledger, row, readings)


def _place(ledger: _Ledger, row: SourceRow, readings: dict[str, Reading]) -> None:
    """Adds the readings of a row to the sense they belong to, or as a new sense."""
    code, first = next(iter(readings.items()))
    senses = ledger.senses.setdefault((code, compared(first.idiom, LANGUAGES[code])), [])
    meaning = compared(first.meaning, LANGUAGES[code])
    same = next((sense for sense in senses if compared(sense.readings[code].meaning, LANGUAGES[code]) == meaning), None)
    if same is None and not meaning and len(readings) == 1:
        same = next(iter(senses), None)
    elif (
        same is None and len(senses) == 1 and senses[0].readings[code].meaning is None and len(senses[0].readings) == 1
    ):
        same = senses[0]  # the other way round: the meaning comes after the row without one
    if same is None:
        senses.append(_Sense(row.line, row.gloss, readings))
        return
    same.gloss = same.gloss or row.gloss
    for code, reading in readings.items():
        _merge(ledger, row.line, code, same.readings, reading)


def _merge(ledger: _Ledger, line: int, code: str, known: dict[str, Reading], reading: Reading) -> None:
    """Joins a reading with that of the same concept and language."""
    if code not in known:
        known[code] = reading
        return
    language = LANGUAGES[code]
    before = known[code]
    case = Case(line, code, reading.idiom)
    same_idiom = compared(before.idiom, language) == compared(reading.idiom, language)
    same_meaning = compared(before.meaning, language) == compared(reading.meaning, language)
    if same_idiom and reading.meaning and before.meaning and not same_meaning:
        ledger.dropped.add("another meaning of the same concept", case)
        return
    fills = (not before.example and reading.example) or (not before.meaning and reading.meaning)
    if same_idiom and reading.example and before.example and reading.example != before.example:
        _note(ledger, line, code, (Note("example removed: the idiom already has one", reading.example),))
    if not same_idiom:
        ledger.merged.add("another idiom of the same concept, kept as a variant", case)
    elif not same_meaning:
        ledger.merged.add("no meaning, and the idiom is there already", case)
    else:
        ledger.merged.add(f"same idiom and meaning{', its example taken' if fills else ''}", case)
    extra = (*reading.variants, *(() if before.idiom == reading.idiom else (reading.idiom,)))
    variants = tuple(dict.fromkeys(form for form in (*before.variants, *extra) if form != before.idiom))
    example = before.example or (reading.example if same_idiom else None)
    known[code] = replace(before, meaning=before.meaning or reading.meaning, example=example, variants=variants)


def _note(ledger: _Ledger, line: int, language: str, notes: Iterable[Note]) -> None:
    for note in notes:
        ledger.changed.add(note.what, Case(line, language, note.value))


def _entry(concept: str, reading: Reading, source: str) -> Entry:
    return Entry(
        concept=concept,
        idiom=reading.idiom,
        meaning=reading.meaning,
        example=reading.example,
        variants=reading.variants,
        source=source,
    )


def _check_unique(concepts: list[Concept]) -> None:
    seen: set[str] = set()
    for concept in concepts:
        if concept.id in seen:
            raise RuntimeError(f"two idioms got the concept id {concept.id!r}")
        seen.add(concept.id)
