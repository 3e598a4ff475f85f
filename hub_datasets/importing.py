"""Import of the rows of a source as a cleaned lexicon without duplicates, with a report on every reading.

- A row is a concept, which is named by its idiom in Turkish, or in the first language that it has.
- Rows with the same naming idiom and the same meaning are one concept: their languages and variants are joined, and a
  missing example is filled in.
- Rows with the same idiom and another meaning are further senses, in the order of the file: ``--2``, ``--3``.
- A row without a meaning is merged with an idiom that is already there, and its example may fill a gap.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from hub_datasets.cleaning import IdiomKey, clean_gloss, clean_reading, compared, concept_stems, sense_id
from hub_datasets.import_report import REPORT_FILE, Case, ImportReport, Tally
from hub_datasets.sources import columns, paper, turkish, uzbek
from hub_datasets.sources.source_rows import Note, Reading, SourceRow
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Concept, Entry, parse_entry
from turkic_idiom_tasks.lexicon.load import write_lexicon


@dataclass(frozen=True, slots=True)
class SourceFormat:
    """A source format.

    Attributes:
        name: its name for `--format`.
        read: function that yields the rows of a file.
        keeps_bare_idioms: whether an idiom without meaning and example becomes an entry, because rows align languages.
    """

    name: str
    read: Callable[[Path], Iterable[SourceRow]]
    keeps_bare_idioms: bool = False


FORMATS = {
    "paper": SourceFormat("paper", paper.read, keeps_bare_idioms=True),
    "columns": SourceFormat("columns", columns.read, keeps_bare_idioms=True),
    "uz-idioms": SourceFormat("uz-idioms", uzbek.read),
    "kevser": SourceFormat("kevser", turkish.read_kevser),
    "tdk": SourceFormat("tdk", turkish.read_tdk),
}


@dataclass(frozen=True, slots=True)
class Imported:
    """An imported lexicon, and the report of the import."""

    concepts: list[Concept]
    entries: dict[str, list[Entry]]
    report: ImportReport


@dataclass(slots=True)
class _Sense:
    """A concept while its rows are read."""

    line: int
    gloss: str
    readings: dict[str, Reading]


@dataclass(slots=True)
class _Ledger:
    """Concepts and the numbers of the report while rows are read."""

    rows: set[int] = field(default_factory=set)
    readings: int = 0
    dropped: Tally = field(default_factory=Tally)
    merged: Tally = field(default_factory=Tally)
    changed: Tally = field(default_factory=Tally)
    senses: dict[IdiomKey, list[_Sense]] = field(default_factory=dict)

    def note(self, line: int, language: str, notes: Iterable[Note]) -> None:
        """Record the repairs and removals in a reading."""
        for note in notes:
            self.changed.add(note.what, Case(line, language, note.value))


def find_format(name: str) -> SourceFormat:
    """Return a source format by its name.

    Raises:
        InputError: there is no format with this name.
    """
    if name not in FORMATS:
        raise usage_error(f"unknown format {name!r}; known: {', '.join(FORMATS)}")
    return FORMATS[name]


def import_source(source: SourceFormat, path: Path) -> Imported:
    """Return the lexicon that a source file holds.

    Raises:
        InputError: the file cannot be read as this format, or nothing in it can be used.
    """
    ledger = _Ledger()
    for row in source.read(path):
        _take_row(ledger, row, keeps_bare_idioms=source.keeps_bare_idioms)
    concepts, entries = _as_lexicon(ledger.senses, source.name)
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


def write_import(imported: Imported, directory: Path, *, overwrite: bool = False) -> None:
    """Write the lexicon and its report, all files at once.

    Raises:
        InputError: see `lexicon.load.check_target`; or the directory cannot be written to.
    """
    for code, entries in imported.entries.items():
        for entry in entries:
            _, problems = parse_entry(json.loads(entry.to_json()), LANGUAGES[code])
            if problems:
                raise RuntimeError(f"the imported entry {entry.concept} of {code} is not valid: {problems[0]}")
    report = json.dumps(imported.report.to_json(), ensure_ascii=False, indent=2) + "\n"
    others = {REPORT_FILE: report.encode("utf-8")}
    write_lexicon(directory, imported.concepts, imported.entries, others=others, overwrite=overwrite)


def _take_row(ledger: _Ledger, row: SourceRow, *, keeps_bare_idioms: bool) -> None:
    ledger.rows.add(row.line)
    language = next(iter(row.readings)) if len(row.readings) == 1 else ""
    ledger.note(row.line, language, row.notes)
    if row.problem or row.merged or not row.readings:
        ledger.readings += 1
        tally = ledger.merged if row.merged else ledger.dropped
        tally.add(row.merged or row.problem or "no idiom", Case(row.line, language, row.value))
        return
    ledger.readings += len(row.readings)
    readings: dict[str, Reading] = {}
    for code in LANGUAGES:
        if code not in row.readings:
            continue
        cleaned = clean_reading(row.readings[code], LANGUAGES[code])
        ledger.note(row.line, code, cleaned.notes)
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
    """Add the readings of a row to the sense they belong to, or as a new sense."""
    code, first = next(iter(readings.items()))
    senses = ledger.senses.setdefault((code, compared(first.idiom, LANGUAGES[code])), [])
    sense = _same_sense(senses, code, readings)
    if sense is None:
        senses.append(_Sense(row.line, row.gloss, readings))
        return
    sense.gloss = sense.gloss or row.gloss
    for code, reading in readings.items():
        _merge(ledger, row.line, code, sense.readings, reading)


def _same_sense(senses: Sequence[_Sense], code: str, readings: Mapping[str, Reading]) -> _Sense | None:
    """Return the sense that a row belongs to, or None if it is a new one; `code` is the naming language."""
    meaning = compared(readings[code].meaning, LANGUAGES[code])
    for sense in senses:
        if compared(sense.readings[code].meaning, LANGUAGES[code]) == meaning:
            return sense
    if not meaning and len(readings) == 1:
        return senses[0] if senses else None
    if len(senses) == 1 and senses[0].readings[code].meaning is None and len(senses[0].readings) == 1:
        return senses[0]  # the row without a meaning came first, this one has the meaning
    return None


def _merge(ledger: _Ledger, line: int, code: str, readings: dict[str, Reading], reading: Reading) -> None:
    """Join a reading with the earlier reading of the same concept and language."""
    if code not in readings:
        readings[code] = reading
        return
    language = LANGUAGES[code]
    before = readings[code]
    case = Case(line, code, reading.idiom)
    same_idiom = compared(before.idiom, language) == compared(reading.idiom, language)
    same_meaning = compared(before.meaning, language) == compared(reading.meaning, language)
    if same_idiom and reading.meaning and before.meaning and not same_meaning:
        ledger.dropped.add("another meaning of the same concept", case)
        return
    fills = (not before.example and reading.example) or (not before.meaning and reading.meaning)
    if same_idiom and reading.example and before.example and reading.example != before.example:
        ledger.note(line, code, (Note("example removed: the idiom already has one", reading.example),))
    if not same_idiom:
        ledger.merged.add("another idiom of the same concept, kept as a variant", case)
    elif not same_meaning:
        ledger.merged.add("no meaning, and the idiom is there already", case)
    else:
        ledger.merged.add(f"same idiom and meaning{', its example taken' if fills else ''}", case)
    forms = dict.fromkeys((*before.variants, *reading.variants, reading.idiom))
    readings[code] = replace(
        before,
        meaning=before.meaning or reading.meaning,
        example=before.example or (reading.example if same_idiom else None),
        variants=tuple(form for form in forms if form != before.idiom),
    )


def _as_lexicon(
    senses_by_idiom: Mapping[IdiomKey, Sequence[_Sense]], source: str
) -> tuple[list[Concept], dict[str, list[Entry]]]:
    """Return the concepts, and language code -> entries for each language with entries."""
    stems = concept_stems(senses_by_idiom)
    concepts: dict[str, Concept] = {}
    entries: dict[str, list[Entry]] = {}
    for code in LANGUAGES:
        entries[code] = []
    for key, senses in senses_by_idiom.items():
        for number, sense in enumerate(senses, start=1):
            concept = sense_id(stems[key], number)
            if concept in concepts:
                raise RuntimeError(f"two idioms got the concept id {concept!r}")
            concepts[concept] = Concept(concept, clean_gloss(sense.gloss))
            for code, reading in sense.readings.items():
                entries[code].append(_entry(concept, reading, f"{source}:{sense.line}"))
    return list(concepts.values()), {code: rows for code, rows in entries.items() if rows}


def _entry(concept: str, reading: Reading, source: str) -> Entry:
    return Entry(
        concept=concept,
        idiom=reading.idiom,
        meaning=reading.meaning,
        example=reading.example,
        variants=reading.variants,
        source=source,
    )
