"""What a lexicon holds, in figures: sizes, optional texts, spans, how far the languages' idioms resemble each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from turkic_idiom_tasks.languages import LANGUAGES, PIVOT
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.orthography import fold, share_stem
from turkic_idiom_tasks.retrieval.relevance import build_retrieval
from turkic_idiom_tasks.splits import span_split


@dataclass(frozen=True, slots=True)
class LanguageFigures:
    """One language of a lexicon.

    Attributes:
        entries, meanings, examples, spans: how many there are.
        literal_triples: entries with literal_example, paraphrase and literal_paraphrase.
        discontinuous: examples whose idiom other words interrupt.
        not_citation_form: examples in which the idiom does not stand as it is cited.
        test_queries: queries of T2.
        test_sentences: annotated examples of the span tasks' test split.
        paired: entries whose concept the pivot language has too; None for the pivot itself.
        without_shared_stem: share of those pairs that have no content word in common, in [0, 1]; None without pairs.
        status: how the readers found the entries.
    """

    entries: int
    meanings: int
    examples: int
    spans: int
    literal_triples: int
    discontinuous: int
    not_citation_form: int
    test_queries: int
    test_sentences: int
    paired: int | None
    without_shared_stem: float | None
    status: Mapping[str, int]


def language_figures(lexicon: Lexicon) -> dict[str, LanguageFigures]:
    """The figures of every language that the lexicon has, by code."""
    return {code: _figures(lexicon, code) for code in LANGUAGES if lexicon.of(code)}


def to_json(lexicon: Lexicon) -> dict[str, Any]:
    """Every figure, as one JSON object."""
    languages = {code: asdict(figures) for code, figures in language_figures(lexicon).items()}
    return {"revision": lexicon.revision, "concepts": len(lexicon.concepts), "languages": languages}


def table(lexicon: Lexicon) -> str:
    """The figures as a Markdown table, a column per language."""
    figures = {code: asdict(found) for code, found in language_figures(lexicon).items()}
    names = [name for name in next(iter(figures.values())) if name != "status"]
    lines = [f"| {len(lexicon.concepts)} concepts | {' | '.join(figures)} |", f"|---|{'---:|' * len(figures)}"]
    lines += [
        f"| {name.replace('_', ' ')} | {' | '.join(_shown(row[name]) for row in figures.values())} |" for name in names
    ]
    states = sorted({state for row in figures.values() for state in row["status"]})
    lines += [
        f"| status: {state} | {' | '.join(str(row['status'].get(state, 0)) for row in figures.values())} |"
        for state in states
    ]
    return "\n".join([*lines, ""])


def _figures(lexicon: Lexicon, code: str) -> LanguageFigures:
    entries = lexicon.of(code)
    rows = entries.values()
    pairs = _pairs(lexicon, code) if code != PIVOT else None
    meanings = build_retrieval(lexicon, "T2", LANGUAGES[code].subset)
    return LanguageFigures(
        entries=len(entries),
        meanings=_count(row.meaning for row in rows),
        examples=_count(row.example for row in rows),
        spans=_count(row.spans for row in rows),
        literal_triples=sum(None not in (r.literal_example, r.paraphrase, r.literal_paraphrase) for r in rows),
        discontinuous=sum(len(row.spans or ()) > 1 for row in rows),
        not_citation_form=sum(_is_inflected(row, code) for row in rows),
        test_queries=len(meanings.queries) if meanings else 0,
        test_sentences=sum(span_split(c) == "test" for c, row in entries.items() if row.example and row.spans),
        paired=None if pairs is None else len(pairs),
        without_shared_stem=sum(not shared for shared in pairs) / len(pairs) if pairs else None,
        status=dict(Counter(str(row.status) if row.status else "not read" for row in rows)),
    )


def _pairs(lexicon: Lexicon, code: str) -> list[bool]:
    """For every concept that the pivot has too: whether the two idioms share a content word."""
    ours, pivot = lexicon.of(code), lexicon.of(PIVOT)
    return [
        share_stem(pivot[concept].idiom, LANGUAGES[PIVOT], ours[concept].idiom, LANGUAGES[code])
        for concept in ours
        if concept in pivot
    ]


def _is_inflected(entry: Entry, code: str) -> bool:
    if entry.example is None or not entry.spans:
        return False
    marked = " ".join(span.of(entry.example) for span in entry.spans)
    return fold(marked, LANGUAGES[code]) != fold(entry.idiom, LANGUAGES[code])


def _count(values: Iterable[object]) -> int:
    return sum(value is not None for value in values)


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.1%}" if isinstance(value, float) else str(value)
