"""The spans that a lexicon lacks: its idioms looked up in their own examples."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from hub_datasets.annotation.annotate import annotate
from hub_datasets.importing import check_target
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Entry
from turkic_idiom_tasks.lexicon.load import load_lexicon, write_lexicon

NO_EXAMPLE = "the entry has no example"


def annotate_lexicon(source: Path, target: Path, *, overwrite: bool = False) -> dict[str, Counter[str]]:
    """Writes a lexicon whose entries have the spans that were found; spans that are there stay.

    Args:
        source: a lexicon directory.
        target: another one, new or empty unless `overwrite`.
        overwrite: replace the lexicon that `target` holds.

    Returns:
        language code -> what became of its entries: ``annotated``, ``had spans``, or why there are none.

    Raises:
        InputError: `source` is no lexicon, or `target` is the same directory or holds something.
    """
    if source.resolve() == target.resolve():
        raise InputError(f"{target}: is the lexicon that is read; choose another --out")
    check_target(target, overwrite=overwrite)
    lexicon = load_lexicon(source)
    outcomes: dict[str, Counter[str]] = {}
    entries: dict[str, list[Entry]] = {}
    for code, rows in lexicon.entries.items():
        done = [_with_spans(entry, code) for entry in rows.values()]
        entries[code] = [entry for entry, _ in done]
        outcomes[code] = Counter(outcome for _, outcome in done)
    write_lexicon(target, list(lexicon.concepts.values()), entries)
    return outcomes


def _with_spans(entry: Entry, code: str) -> tuple[Entry, str]:
    if entry.spans is not None:
        return entry, "had spans"
    if entry.example is None:
        return entry, NO_EXAMPLE
    found = annotate(entry.idiom, entry.example, LANGUAGES[code], variants=entry.variants)
    if found.dropped is not None:
        return entry, found.dropped
    return replace(entry, spans=found.spans), "annotated"
