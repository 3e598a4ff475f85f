"""Report of an import: how many readings were kept, merged or dropped, and why."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from hub_datasets.sources.source_rows import Note
from turkic_idiom_tasks.lexicon.entries import Concept, Entry

REPORT_FILE = "import_report.json"
OUTCOMES = MERGED, DROPPED, CHANGED = ("merged", "dropped", "changed")
EXAMPLES = 5  # cases shown for each reason
_VALUE_LIMIT = 160  # characters shown of a value


class ImportReport:
    """What became of every reading; their number is always the sum of entries, merged and dropped readings.

    A reading is the part of a row for one language: an idiom with meaning and example. A row without anything usable
    counts as one reading, and each sense of a row is a reading of its own. Changes are repairs and removals of single
    fields in readings that were kept, merged or dropped.
    """

    def __init__(self, source_format: str, file: Path) -> None:
        self.format, self.file = source_format, file.name
        self.lines: set[int] = set()  # of the records in the file
        self.readings = 0
        self.concepts = 0
        self.entries: dict[str, int] = {}  # language code -> number of entries written
        self._cases: dict[str, dict[str, list[dict[str, Any]]]] = {outcome: {} for outcome in OUTCOMES}

    def add(self, outcome: str, reason: str, line: int, language: str, value: str) -> None:
        """Count a reading under one of the `OUTCOMES`; `value` is the text that the reason refers to."""
        value = value.encode("utf-8", "replace").decode()  # a JSON source may hold lone surrogates
        shown = value if len(value) <= _VALUE_LIMIT else f"{value[:_VALUE_LIMIT]}…"
        self._cases[outcome].setdefault(reason, []).append({"line": line, "language": language, "value": shown})

    def add_notes(self, notes: Iterable[Note], line: int, language: str) -> None:
        """Count the repairs and removals in a reading."""
        for note in notes:
            self.add(CHANGED, note.what, line, language, note.value)

    def counts(self, outcome: str) -> dict[str, int]:
        """Return reason -> number of readings, the most frequent first."""
        counts = {reason: len(cases) for reason, cases in self._cases[outcome].items()}
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def reasons(self) -> list[tuple[str, int, str]]:
        """Return (outcome, number of readings, reason) in the order of `OUTCOMES`, the most frequent first."""
        reasons = []
        for outcome in OUTCOMES:
            reasons += [(outcome, count, reason) for reason, count in self.counts(outcome).items()]
        return reasons

    def to_json(self) -> dict[str, Any]:
        """Return the report as it is written to the lexicon directory, with the first examples of each reason."""
        report: dict[str, Any] = {
            "format": self.format,
            "file": self.file,
            "rows": len(self.lines),
            "readings": self.readings,
            "entries": sum(self.entries.values()),
            "entries_by_language": self.entries,
            "concepts": self.concepts,
        }
        for outcome in (DROPPED, MERGED, CHANGED):
            report[outcome] = {}
            for reason, count in self.counts(outcome).items():
                report[outcome][reason] = {"count": count, "examples": self._cases[outcome][reason][:EXAMPLES]}
        return report

    def summary(self) -> str:
        """Return the numbers in one sentence, without the reasons."""
        n_merged, n_dropped = (sum(self.counts(outcome).values()) for outcome in (MERGED, DROPPED))
        return (
            f"{len(self.lines)} rows with {self.readings} readings = {sum(self.entries.values())} entries"
            f" + {n_merged} merged + {n_dropped} dropped"
        )


class Imported(NamedTuple):
    """An imported lexicon, entries by language, and the report of the import."""

    concepts: list[Concept]
    entries: dict[str, list[Entry]]
    report: ImportReport
