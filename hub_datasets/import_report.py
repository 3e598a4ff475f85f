"""What every reader of a source yields, and what an import makes of it: entries, and what was dropped, and why."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from turkic_idiom_tasks.lexicon.entries import Concept, Entry

REPORT_FILE = "import_report.json"
OUTCOMES = MERGED, DROPPED, CHANGED = ("merged", "dropped", "changed")
EXAMPLES = 5  # cases shown for each reason
_VALUE_LIMIT = 160  # characters shown of a value
# A cell that says that a language has no such idiom; a soft hyphen draws nothing.
NOTHING = re.compile(r"[\s\-\u2010-\u2015\u2212\u00ad]*")
ALMOST = 0.85  # similarity of two names, from which one is taken for a misspelling of the other


class Note(NamedTuple):
    """A repair or removal in a row, for the report."""

    what: str
    value: str


@dataclass(frozen=True, slots=True)
class Reading:
    """Part of a row for one language; `idiom` is empty if the row has only a meaning or an example."""

    idiom: str
    meaning: str | None = None
    example: str | None = None
    variants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One meaning as a source gives it, or a row that the reader could not use."""

    line: int  # on which the record begins (in a JSON list: number of the item), from 1; its senses share it
    readings: Mapping[str, Reading] = field(default_factory=dict)  # by language code
    gloss: str = ""  # the meaning in English, if the source has it
    problem: str | None = None  # why the whole row cannot be used
    merged: str | None = None  # why the row is a part of another entry
    value: str = ""  # the text that `problem` or `merged` refers to
    notes: tuple[Note, ...] = ()
    concept: str = ""  # id that the source gives


def readings_of(fields: Mapping[str, Mapping[str, str]]) -> dict[str, Reading]:
    """Return language code -> reading of a row from its idiom, meaning, example and variants by language."""
    readings = {}
    for code, texts in fields.items():
        variants = [text for part in texts.get("variants", "").split(";") if (text := part.strip())]
        readings[code] = Reading(texts.get("idiom", ""), texts.get("meaning"), texts.get("example"), tuple(variants))
    return readings


@dataclass
class Imported:
    """An imported lexicon, and what became of every reading: an entry, or merged or dropped for a reason.

    A row without anything usable counts as one reading, and each sense of a row is one of its own. Changes are repairs
    and removals of single fields in readings that were kept, merged or dropped.
    """

    format: str
    file: str  # its name
    lines: set[int] = field(default_factory=set)  # of the records in the file
    readings: int = 0
    concepts: list[Concept] = field(default_factory=list)
    entries: dict[str, list[Entry]] = field(default_factory=dict)  # by language code
    _cases: dict[str, dict[str, list[dict[str, Any]]]] = field(init=False, default_factory=lambda: defaultdict(dict))

    def add(self, outcome: str, reason: str, line: int, language: str, value: str) -> None:
        """Count a reading, or a repair, under one of the `OUTCOMES`; `value` is the text that the reason refers to."""
        value = value.encode("utf-8", "replace").decode()  # a JSON source may hold lone surrogates
        shown = value if len(value) <= _VALUE_LIMIT else f"{value[:_VALUE_LIMIT]}…"
        self._cases[outcome].setdefault(reason, []).append({"line": line, "language": language, "value": shown})

    def counts(self, outcome: str) -> dict[str, int]:
        """Return reason -> number of readings, the most frequent first."""
        counts = {reason: len(cases) for reason, cases in self._cases[outcome].items()}
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def to_json(self) -> dict[str, Any]:
        """Return the report as it is written to the lexicon directory, with the first examples of each reason."""
        report: dict[str, Any] = {
            "format": self.format,
            "file": self.file,
            "rows": len(self.lines),
            "readings": self.readings,
            "entries": sum(map(len, self.entries.values())),
            "entries_by_language": {code: len(entries) for code, entries in self.entries.items()},
            "concepts": len(self.concepts),
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
            f"{len(self.lines)} rows with {self.readings} readings = {sum(map(len, self.entries.values()))} entries"
            f" + {n_merged} merged + {n_dropped} dropped"
        )
