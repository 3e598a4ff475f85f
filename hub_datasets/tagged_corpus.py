"""Dodiom's idiomatic sentences as a lexicon: every sentence an entry, the gold words its spans.

The sentences of an idiom are senses of one concept (``ayvayi-yemek``, ``ayvayi-yemek--2``, …), so that all of them are
in one split. There are no meanings: the lexicon serves span detection alone.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from hub_datasets.annotation.dodiom import Row, read_dodiom
from hub_datasets.concept_ids import concept_stems, sense_id
from hub_datasets.importing import Imported
from hub_datasets.report import Case, ImportReport, Tally
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.orthography import clean, letters_outside
from turkic_idiom_tasks.spans import Span

FORMAT = "dodiom"
_TURKISH = LANGUAGES["tr"]


def import_dodiom(path: Path) -> Imported:
    """The lexicon of the idiomatic rows of Dodiom's Turkish table.

    Raises:
        InputError: it is not such a table; names file, line and value.
    """
    rows = read_dodiom(path)
    dropped = Tally()
    kept: list[tuple[Row, str, tuple[Span, ...]]] = []
    seen: set[str] = set()
    for number, row in enumerate(rows, start=1):
        sentence = clean(row.sentence, _TURKISH)
        spans = _spans(row, sentence)
        reason = _problem(sentence, spans, seen)
        if reason:
            dropped.add(reason, Case(number, "tr", sentence))
            continue
        seen.add(sentence)
        kept.append((row, sentence, spans))
    concepts, entries = _as_lexicon(kept)
    report = ImportReport(
        format=FORMAT,
        file=path.name,
        rows=len(rows),
        readings=len(rows),
        entries={"tr": len(entries)},
        concepts=len(concepts),
        dropped=dropped,
        merged=Tally(),
        changed=Tally(),
    )
    return Imported(concepts, {"tr": entries}, report)


def _as_lexicon(kept: list[tuple[Row, str, tuple[Span, ...]]]) -> tuple[list[Concept], list[Entry]]:
    stems = concept_stems(("tr", row.idiom) for row, _, _ in kept)
    numbers: Counter[str] = Counter()
    concepts, entries = [], []
    for row, sentence, spans in kept:
        stem = stems["tr", row.idiom]
        numbers[stem] += 1
        concept = sense_id(stem, numbers[stem])
        concepts.append(Concept(concept, ""))
        entries.append(Entry(concept, row.idiom, None, sentence, spans, source=FORMAT))
    return concepts, entries


def _spans(row: Row, sentence: str) -> tuple[Span, ...]:
    """The runs of gold words in the cleaned sentence; empty if they cannot be found there."""
    runs: list[list[Span]] = []
    previous = -2
    for number in sorted(row.gold):
        place = row.places[number]
        if place is None:
            return ()
        if number != previous + 1:
            runs.append([])
        runs[-1].append(place)
        previous = number
    spans: list[Span] = []
    end = 0
    for run in runs:
        text = clean(row.sentence[run[0].start : run[-1].end], _TURKISH)
        start = sentence.find(text, max(end, run[0].start - (len(row.sentence) - len(sentence))))
        if start < 0:
            return ()
        end = start + len(text)
        spans.append(Span(start, end))
    return tuple(spans)


def _problem(sentence: str, spans: tuple[Span, ...], seen: set[str]) -> str | None:
    if not spans:
        return "gold words are not in the sentence"
    if letters_outside(sentence, _TURKISH):
        return "letters that Turkish has not"
    return "sentence is there already" if sentence in seen else None
