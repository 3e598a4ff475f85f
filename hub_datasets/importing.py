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
from dataclasses import dataclass, replace
from pathlib import Path

from hub_datasets.cleaning import IdiomKey, clean_gloss, clean_reading, compared, concept_stems, sense_id
from hub_datasets.import_report import DROPPED, MERGED, REPORT_FILE, Imported, ImportReport
from hub_datasets.siblings import dodiom
from hub_datasets.sources import columns, paper, turkish, uzbek
from hub_datasets.sources.source_rows import Note, Reading, SourceRow
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import write_lexicon

READERS: dict[str, Callable[[Path], Iterable[SourceRow]]] = {
    "paper": paper.read,
    "columns": columns.read,
    "uz-idioms": uzbek.read,
    "kevser": turkish.read_kevser,
    "tdk": turkish.read_tdk,
}
FORMATS = (*READERS, dodiom.FORMAT)
_ALIGNED = ("paper", "columns")  # whose rows align languages, so that an idiom without meaning and example is an entry


@dataclass(slots=True)
class _Sense:
    """A concept while its rows are read."""

    line: int
    gloss: str
    readings: dict[str, Reading]


def import_source(source_format: str, path: Path) -> Imported:
    """Return the lexicon that a source file in one of the `FORMATS` holds.

    Raises:
        InputError: the file cannot be read as this format, or nothing in it can be used.
    """
    if source_format == dodiom.FORMAT:
        return dodiom.import_dodiom(path)
    report = ImportReport(source_format, path)
    senses: dict[IdiomKey, list[_Sense]] = {}
    for row in READERS[source_format](path):
        readings = _usable_readings(row, report, keeps_bare_idioms=source_format in _ALIGNED)
        if not readings:
            continue
        # The first language names the concept; `LANGUAGES` begins with Turkish.
        code, first = next(iter(readings.items()))
        own_senses = senses.setdefault((code, compared(first.idiom, LANGUAGES[code])), [])
        sense = _same_sense(own_senses, code, readings)
        if sense is None:
            own_senses.append(_Sense(row.line, row.gloss, readings))
            continue
        sense.gloss = sense.gloss or row.gloss
        for code, reading in readings.items():
            _merge(sense.readings, code, reading, row.line, report)
    imported = _as_lexicon(senses, report)
    if not imported.entries:
        reason, count = next(iter(report.counts(DROPPED).items()), ("no rows", 0))
        raise InputError(f"{path}: not one entry could be imported; most frequent reason: {reason} ({count} times)")
    return imported


def write_import(imported: Imported, directory: Path, *, overwrite: bool = False) -> None:
    """Write the lexicon and its report, all files at once."""
    report = json.dumps(imported.report.to_json(), ensure_ascii=False, indent=2) + "\n"
    others = {REPORT_FILE: report.encode("utf-8")}
    write_lexicon(directory, imported.concepts, imported.entries, others=others, overwrite=overwrite)


def _usable_readings(row: SourceRow, report: ImportReport, *, keeps_bare_idioms: bool) -> dict[str, Reading]:
    """Return the cleaned readings of a row, in the order of `LANGUAGES`; the report has the reasons of the others."""
    report.lines.add(row.line)
    language = next(iter(row.readings)) if len(row.readings) == 1 else ""
    report.add_notes(row.notes, row.line, language)
    if row.problem or row.merged or not row.readings:
        report.readings += 1
        outcome, reason = (MERGED, row.merged) if row.merged else (DROPPED, row.problem or "no idiom")
        report.add(outcome, reason, row.line, language, row.value)
        return {}
    report.readings += len(row.readings)
    readings: dict[str, Reading] = {}
    for code in LANGUAGES:
        if code not in row.readings:
            continue
        cleaned = clean_reading(row.readings[code], LANGUAGES[code])
        report.add_notes(cleaned.notes, row.line, code)
        reading = cleaned.reading
        if reading is None:
            report.add(DROPPED, cleaned.problem, row.line, code, cleaned.value)
        elif not (keeps_bare_idioms or reading.meaning or reading.example):
            report.add(DROPPED, "neither meaning nor example", row.line, code, reading.idiom)
        else:
            readings[code] = reading
    return readings


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


def _merge(readings: dict[str, Reading], code: str, reading: Reading, line: int, report: ImportReport) -> None:
    """Join a reading with the earlier reading of the same concept and language."""
    if code not in readings:
        readings[code] = reading
        return
    language = LANGUAGES[code]
    before = readings[code]
    same_idiom = compared(before.idiom, language) == compared(reading.idiom, language)
    same_meaning = compared(before.meaning, language) == compared(reading.meaning, language)
    if same_idiom and reading.meaning and before.meaning and not same_meaning:
        report.add(DROPPED, "another meaning of the same concept", line, code, reading.idiom)
        return
    fills = (not before.example and reading.example) or (not before.meaning and reading.meaning)
    if same_idiom and reading.example and before.example and reading.example != before.example:
        report.add_notes([Note("example removed: the idiom already has one", reading.example)], line, code)
    if not same_idiom:
        reason = "another idiom of the same concept, kept as a variant"
    elif not same_meaning:
        reason = "no meaning, and the idiom is there already"
    else:
        reason = f"same idiom and meaning{', its example taken' if fills else ''}"
    report.add(MERGED, reason, line, code, reading.idiom)
    # An example of another idiom would not show the one that the entry keeps, so it is not taken.
    forms = dict.fromkeys((*before.variants, *reading.variants, reading.idiom))
    readings[code] = replace(
        before,
        meaning=before.meaning or reading.meaning,
        example=before.example or (reading.example if same_idiom else None),
        variants=tuple(form for form in forms if form != before.idiom),
    )


def _as_lexicon(senses_by_idiom: Mapping[IdiomKey, Sequence[_Sense]], report: ImportReport) -> Imported:
    stems = concept_stems(senses_by_idiom)
    concepts: list[Concept] = []
    entries: dict[str, list[Entry]] = {code: [] for code in LANGUAGES}
    for key, senses in senses_by_idiom.items():
        for number, sense in enumerate(senses, start=1):
            concept = Concept(sense_id(stems[key], number), clean_gloss(sense.gloss))
            concepts.append(concept)
            for code, reading in sense.readings.items():
                entry = Entry(
                    concept=concept.id,
                    idiom=reading.idiom,
                    meaning=reading.meaning,
                    example=reading.example,
                    variants=reading.variants,
                    source=f"{report.format}:{sense.line}",
                )
                entries[code].append(entry)
    entries = {code: rows for code, rows in entries.items() if rows}
    report.concepts = len(concepts)
    report.entries = {code: len(rows) for code, rows in entries.items()}
    return Imported(concepts, entries, report)
