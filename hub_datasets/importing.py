"""Import of the rows of a source as a cleaned lexicon without duplicates, with a report on every reading.

- A row is a concept, which is named by its idiom in Turkish, or in the first language that it has, unless the source
  gives its id.
- Rows with the same naming idiom and the same meaning are one concept: their languages and variants are joined, and a
  missing example is filled in.
- Rows with the same idiom and another meaning are further senses, in the order of the file: ``--2``, ``--3``.
- A row without a meaning is merged with an idiom that is already there, and its example may fill a gap.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from hub_datasets.cleaning import IdiomKey, clean_reading, compared, concept_stems, sense_id
from hub_datasets.import_report import CHANGED, DROPPED, MERGED, REPORT_FILE, Imported, Reading, SourceRow
from hub_datasets.siblings import dodiom
from hub_datasets.sources import columns, paper, turkish, uzbek
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import is_unseen
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


def import_source(source_format: str, path: Path) -> Imported:
    """Return the lexicon in a source file of one of the `FORMATS`; a file with nothing usable is an InputError."""
    if source_format == dodiom.FORMAT:
        return dodiom.import_dodiom(path)
    imported = Imported(source_format, path.name)
    senses_by_idiom: dict[IdiomKey, list[SourceRow]] = {}  # the first row of each sense, with what later ones add
    for row in READERS[source_format](path):
        readings = _usable_readings(row, imported, keeps_bare_idioms=source_format in _ALIGNED)
        if not readings:
            continue
        naming, first = next(iter(readings.items()))
        language = LANGUAGES[naming]
        key = ("", row.concept) if row.concept else (naming, compared(first.idiom, language))
        senses = senses_by_idiom.setdefault(key, [])
        meaning = compared(first.meaning, language)
        meanings = [compared(sense.readings[naming].meaning, language) for sense in senses]
        place = meanings.index(meaning) if meaning in meanings else None  # of the sense that the row belongs to
        if place is None and senses:
            # A row without a meaning is no sense of its own, whether it comes first or later.
            is_bare = not meaning and len(readings) == 1
            is_only_bare = len(senses) == 1 and len(senses[0].readings) == 1
            if is_bare or (is_only_bare and senses[0].readings[naming].meaning is None):
                place = 0
        if place is None:
            senses.append(replace(row, readings=readings))
            continue
        sense = senses[place]
        merged = dict(sense.readings)
        for code, reading in readings.items():
            merged[code] = _merged(merged[code], reading, code, row.line, imported) if code in merged else reading
        senses[place] = replace(sense, gloss=sense.gloss or row.gloss, readings=merged)
    stems = concept_stems(key for key in senses_by_idiom if key[0])
    stems |= {key: key[1] for key in senses_by_idiom if not key[0]}
    entries: dict[str, list[Entry]] = {code: [] for code in LANGUAGES}
    for key, senses in senses_by_idiom.items():
        for number, sense in enumerate(senses, start=1):
            concept = sense_id(stems[key], number)
            # Invisible characters would make unlike glosses look alike
            gloss = "".join(character for character in sense.gloss if not is_unseen(character))
            imported.concepts.append(Concept(concept, " ".join(gloss.split())))
            for code, reading in sense.readings.items():
                texts = (reading.idiom, reading.meaning, reading.example)
                source = f"{source_format}:{sense.line}"
                entries[code].append(Entry(concept, *texts, variants=reading.variants, source=source))
    imported.entries = {code: rows for code, rows in entries.items() if rows}
    if not imported.entries:
        reason, count = next(iter(imported.counts(DROPPED).items()), ("no rows", 0))
        raise InputError(f"{path}: not one entry could be imported; most frequent reason: {reason} ({count} times)")
    return imported


def write_import(imported: Imported, directory: Path, *, overwrite: bool = False) -> None:
    """Write the lexicon and its report, all files at once."""
    report = json.dumps(imported.to_json(), ensure_ascii=False, indent=2) + "\n"
    others = {REPORT_FILE: report.encode("utf-8")}
    write_lexicon(directory, imported.concepts, imported.entries, others=others, overwrite=overwrite)


def _usable_readings(row: SourceRow, imported: Imported, *, keeps_bare_idioms: bool) -> dict[str, Reading]:
    """Return the cleaned readings of a row, in the order of `LANGUAGES`; the report has the reasons of the others."""
    imported.lines.add(row.line)
    language = next(iter(row.readings)) if len(row.readings) == 1 else ""
    for note in row.notes:
        imported.add(CHANGED, note.what, row.line, language, note.value)
    if row.problem or row.merged or not row.readings:
        imported.readings += 1
        outcome, reason = (MERGED, row.merged) if row.merged else (DROPPED, row.problem or "no idiom")
        imported.add(outcome, reason, row.line, language, row.value)
        return {}
    imported.readings += len(row.readings)
    readings: dict[str, Reading] = {}
    # In this order, and not that of the file's columns, because the first language names the concept.
    for code in LANGUAGES:
        if code not in row.readings:
            continue
        cleaned = clean_reading(row.readings[code], LANGUAGES[code])
        for note in cleaned.notes:
            imported.add(CHANGED, note.what, row.line, code, note.value)
        reading = cleaned.reading
        if reading is None:
            imported.add(DROPPED, cleaned.problem, row.line, code, cleaned.value)
        elif not (keeps_bare_idioms or reading.meaning or reading.example):
            imported.add(DROPPED, "neither meaning nor example", row.line, code, reading.idiom)
        else:
            readings[code] = reading
    return readings


def _merged(before: Reading, reading: Reading, code: str, line: int, imported: Imported) -> Reading:
    """Return the earlier reading of a concept and language, with what a later one adds."""
    language = LANGUAGES[code]
    same_idiom = compared(before.idiom, language) == compared(reading.idiom, language)
    same_meaning = compared(before.meaning, language) == compared(reading.meaning, language)
    if same_idiom and reading.meaning and before.meaning and not same_meaning:
        imported.add(DROPPED, "another meaning of the same concept", line, code, reading.idiom)
        return before
    fills = (not before.example and reading.example) or (not before.meaning and reading.meaning)
    if same_idiom and reading.example and before.example and reading.example != before.example:
        imported.add(CHANGED, "example removed: the idiom already has one", line, code, reading.example)
    if not same_idiom:
        reason = "another idiom of the same concept, kept as a variant"
    elif not same_meaning:
        reason = "no meaning, and the idiom is there already"
    else:
        reason = f"same idiom and meaning{', its example taken' if fills else ''}"
    imported.add(MERGED, reason, line, code, reading.idiom)
    # An example of another idiom would not show the one that the entry keeps, so it is not taken.
    forms = dict.fromkeys((*before.variants, *reading.variants, reading.idiom))
    return replace(
        before,
        meaning=before.meaning or reading.meaning,
        example=before.example or (reading.example if same_idiom else None),
        variants=tuple(form for form in forms if form != before.idiom),
    )
