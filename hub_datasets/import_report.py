"""Report of an import: how many readings were kept, merged or dropped, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

REPORT_FILE = "import_report.json"
EXAMPLES = 5  # cases shown for each reason
_VALUE_LIMIT = 160  # characters shown of a value


@dataclass(frozen=True, slots=True)
class Case:
    """One reading that was merged, dropped or changed."""

    line: int
    language: str
    value: str

    def to_json(self) -> dict[str, Any]:
        """Return the case as the report shows it, with a shortened value that has no lone surrogates."""
        value = self.value.encode("utf-8", "replace").decode()
        value = value if len(value) <= _VALUE_LIMIT else f"{value[:_VALUE_LIMIT]}…"
        return {"line": self.line, "language": self.language, "value": value}


@dataclass(slots=True)
class Tally:
    """Reason -> cases, in the order of the rows."""

    cases: dict[str, list[Case]] = field(default_factory=dict)

    def add(self, reason: str, case: Case) -> None:
        """Add a case to a reason."""
        self.cases.setdefault(reason, []).append(case)

    def total(self) -> int:
        """Return the number of cases over all reasons."""
        return sum(map(len, self.cases.values()))

    def counts(self) -> dict[str, int]:
        """Return reason -> number of cases, the most frequent first."""
        counts = {}
        for reason, cases in sorted(self.cases.items(), key=lambda item: (-len(item[1]), item[0])):
            counts[reason] = len(cases)
        return counts

    def to_json(self) -> dict[str, Any]:
        """Return reason -> count and the first examples."""
        report = {}
        for reason, count in self.counts().items():
            examples = [case.to_json() for case in self.cases[reason][:EXAMPLES]]
            report[reason] = {"count": count, "examples": examples}
        return report


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Report of an import; `readings` is always the sum of entries, merged and dropped readings.

    A reading is the part of a row for one language: an idiom with meaning and example. A row without anything usable
    counts as one reading, and each sense of a row is a reading of its own.

    Attributes:
        format: name of the source format.
        file: name of the source file.
        rows: number of records in the file.
        readings: number of readings in them.
        entries: language code -> number of entries written.
        concepts: number of concepts written.
        dropped: readings that are not in the result.
        merged: readings whose content is part of another entry.
        changed: repairs and removals of single fields in readings that were kept, merged or dropped.
    """

    format: str
    file: str
    rows: int
    readings: int
    entries: Mapping[str, int]
    concepts: int
    dropped: Tally
    merged: Tally
    changed: Tally

    def __post_init__(self) -> None:
        accounted = sum(self.entries.values()) + self.dropped.total() + self.merged.total()
        if accounted != self.readings:
            raise RuntimeError(f"import of {self.file}: {self.readings} readings, but {accounted} accounted for")

    def to_json(self) -> dict[str, Any]:
        """Return the report as it is written to the lexicon directory."""
        return {
            "format": self.format,
            "file": self.file,
            "rows": self.rows,
            "readings": self.readings,
            "entries": sum(self.entries.values()),
            "entries_by_language": dict(self.entries),
            "concepts": self.concepts,
            "dropped": self.dropped.to_json(),
            "merged": self.merged.to_json(),
            "changed": self.changed.to_json(),
        }

    def summary(self) -> str:
        """Return the numbers in one sentence, without the reasons."""
        return (
            f"{self.rows} rows with {self.readings} readings = {sum(self.entries.values())} entries"
            f" + {self.merged.total()} merged + {self.dropped.total()} dropped"
        )

    def reasons(self) -> list[tuple[str, int, str]]:
        """Return (outcome, number of readings, reason) of merged, dropped and changed readings, most frequent first."""
        reasons = []
        for outcome, tally in (("merged", self.merged), ("dropped", self.dropped), ("changed", self.changed)):
            for reason, count in tally.counts().items():
                reasons.append((outcome, count, reason))
        return reasons
