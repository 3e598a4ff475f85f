"""Import of the Turkish table of the Dodiom corpus, and evaluation of the annotator on it.

Corpus: Eryiğit, Şentaş and Monti (2022), Gamified crowdsourcing for idiom corpora construction. Only the rows of the
category ``idiom`` are used, and only these columns of them: the idiom, the sentence, its words, and the numbers of the
gold words. The lemmas and the idiom's words are not read.

In the imported lexicon every sentence is an entry, and the gold words are its spans. The sentences of an idiom are
senses of one concept (``ayvayi-yemek``, ``ayvayi-yemek--2``, …), so that all of them are in one split. There are no
meanings.
"""

from __future__ import annotations

import ast
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hub_datasets.cleaning import clean_text, concept_stems, idiom_problem, sense_id
from hub_datasets.import_report import Case, ImportReport, Tally
from hub_datasets.importing import Imported
from turkic_idiom_tasks.annotation.annotate import Annotation, annotate
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.csv_files import Record, read_table
from turkic_idiom_tasks.io.reading import display, first_unseen
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.orthography import clean, letters_outside
from turkic_idiom_tasks.spans import Span

FORMAT = "dodiom"
COLUMNS = ("idiom", "submission", "category", "idiom_indices", "words")
RANDOM_PAIRS = 5000
SEED = 42
COMPOSED = "text composed (it was not in NFC)"
Annotator = Callable[[str, str], Annotation]
_TURKISH = LANGUAGES["tr"]


@dataclass(frozen=True, slots=True)
class Row:
    """An idiomatic sentence; all texts are NFC.

    Attributes:
        idiom: citation form.
        sentence: the sentence as it was submitted.
        places: spans of its words; None for a word that the corpus spells differently from the sentence.
        gold: numbers of the words that belong to the idiom.
        was_composed: whether the row was not in NFC in the table.
    """

    idiom: str
    sentence: str
    places: tuple[Span | None, ...]
    gold: frozenset[int]
    was_composed: bool = False


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of the annotator on the corpus.

    Attributes:
        rows: number of idiomatic rows.
        exact: share of rows in which exactly the gold words are marked, in [0, 1].
        token_f1: F1 of the words of all rows together, in [0, 1].
        coverage: share of rows in which something is marked.
        false_alarm: share of random pairs of a sentence and another idiom in which something is marked.
        random_pairs: number of those pairs.
        sentences_per_minute: speed over the idiomatic rows on one core, with the analysis of the citation forms.
    """

    rows: int
    exact: float
    token_f1: float
    coverage: float
    false_alarm: float
    random_pairs: int
    sentences_per_minute: int

    def to_json(self) -> dict[str, float]:
        """Return name -> score, rounded to four decimal places."""
        return {name: round(value, 4) for name, value in asdict(self).items()}


def read_dodiom(path: Path) -> list[Row]:
    """Return the idiomatic rows of the Turkish table, in its order.

    Raises:
        InputError: the file is not such a table; names file, line and value.
    """
    rows = []
    for record in read_table(path, COLUMNS):
        row = _row(path, record)
        if row is not None:
            rows.append(row)
    if len({row.idiom for row in rows}) < 2:
        raise InputError(
            f"{path}: fewer than two idioms in rows of the category 'idiom'; is it Dodiom's dataset_tr.csv?"
        )
    return rows


def import_dodiom(path: Path) -> Imported:
    """Return the lexicon of the idiomatic rows of the Turkish table.

    Raises:
        InputError: the file is not such a table; names file, line and value.
    """
    rows = read_dodiom(path)
    dropped, changed = Tally(), Tally()
    kept: list[tuple[str, str, tuple[Span, ...]]] = []
    sentences: set[str] = set()
    for number, row in enumerate(rows, start=1):
        idiom, sentence = clean_text(row.idiom, _TURKISH), clean(row.sentence, _TURKISH)
        spans = gold_spans(row, sentence)
        case = Case(number, "tr", sentence)
        if row.was_composed:
            changed.add(COMPOSED, case)
        reason = idiom_problem(idiom, _TURKISH) or _sentence_problem(sentence, spans)
        if reason or sentence in sentences:
            dropped.add(reason or "sentence is there already", case)
        else:
            sentences.add(sentence)
            kept.append((idiom, sentence, spans))
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
        changed=changed,
    )
    return Imported(concepts, {"tr": entries}, report)


def gold_spans(row: Row, sentence: str) -> tuple[Span, ...]:
    """Return the runs of gold words in the cleaned sentence of a row; empty if they cannot be found there."""
    spans: list[Span] = []
    end = 0
    removed = len(row.sentence) - len(sentence)  # characters that cleaning removed, perhaps before a run
    for run in _gold_runs(row):
        text = clean(row.sentence[run[0].start : run[-1].end], _TURKISH)
        start = sentence.find(text, max(end, run[0].start - removed))
        if start < 0:
            return ()
        end = start + len(text)
        spans.append(Span(start, end))
    return tuple(spans)


def _annotate_turkish(idiom: str, sentence: str) -> Annotation:
    return annotate(idiom, sentence, _TURKISH)


def evaluate(rows: Sequence[Row], annotator: Annotator = _annotate_turkish, *, pairs: int = RANDOM_PAIRS) -> Scores:
    """Return the scores of an annotator on the rows, which must have at least two idioms."""
    start = time.perf_counter()
    marked = [annotator(row.idiom, row.sentence).spans for row in rows]
    seconds = time.perf_counter() - start
    n_exact = n_hits = n_gold = n_predicted = n_covered = 0
    for row, spans in zip(rows, marked, strict=True):
        predicted = covered(row, spans)
        n_exact += row.gold == predicted
        n_hits += len(row.gold & predicted)
        n_gold += len(row.gold)
        n_predicted += len(predicted)
        n_covered += bool(spans)
    n_alarms = 0
    for idiom, sentence in random_pairs(rows, pairs):
        n_alarms += bool(annotator(idiom, sentence).spans)
    return Scores(
        rows=len(rows),
        exact=n_exact / len(rows),
        token_f1=2 * n_hits / (n_gold + n_predicted),
        coverage=n_covered / len(rows),
        false_alarm=n_alarms / pairs,
        random_pairs=pairs,
        sentences_per_minute=round(60 * len(rows) / seconds),
    )


def covered(row: Row, spans: Sequence[Span]) -> frozenset[int]:
    """Return the numbers of the words of a row that overlap with spans of its sentence."""
    numbers = set()
    for number, place in enumerate(row.places):
        for span in spans:
            if place is not None and span.start < place.end and place.start < span.end:
                numbers.add(number)
    return frozenset(numbers)


def random_pairs(rows: Sequence[Row], n_pairs: int) -> list[tuple[str, str]]:
    """Return pairs of an idiom and a sentence submitted for another idiom, drawn with a fixed seed."""
    generator = np.random.default_rng(SEED)
    idioms = sorted({row.idiom for row in rows})
    pairs = []
    for number in generator.integers(len(rows), size=n_pairs):
        row = rows[number]
        others = [idiom for idiom in idioms if idiom != row.idiom]
        pairs.append((others[generator.integers(len(others))], row.sentence))
    return pairs


def _row(path: Path, record: Record) -> Row | None:
    """Return an idiomatic row, or None for a row of another category."""
    if record.cells is None:
        raise InputError(
            f"{path}:{record.line}: {record.problem} ({display(record.value)[1:-1]}); is it Dodiom's dataset_tr.csv, "
            "unchanged?"
        )
    cells = record.cells
    if cells["category"] != "idiom":
        return None
    words = _list(path, record, "words", str)
    gold = _list(path, record, "idiom_indices", int)
    if not gold or not all(0 <= number < len(words) for number in gold):
        raise InputError(
            f"{path}:{record.line}: idiom_indices {display(cells['idiom_indices'])} are not numbers of its "
            f"{len(words)} words; restore the row"
        )
    idiom, sentence = _composed(cells["idiom"]), _composed(cells["submission"])
    composed_words = [_composed(word) for word in words]
    was_composed = (idiom, sentence, composed_words) != (cells["idiom"], cells["submission"], words)
    return Row(idiom, sentence, _places(sentence, composed_words), frozenset(gold), was_composed)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _list(path: Path, record: Record, column: str, kind: type) -> list[Any]:
    """Return the Python list in a cell, which is parsed without running any code."""
    value = (record.cells or {})[column]
    try:
        items = ast.literal_eval(value)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        items = None
    if not isinstance(items, list) or any(type(item) is not kind for item in items):
        raise InputError(
            f"{path}:{record.line}: {column} {display(value)} is not a list of {kind.__name__}; restore the row"
        )
    return items


def _places(sentence: str, words: Sequence[str]) -> tuple[Span | None, ...]:
    """Return the spans of words in a sentence; each word is searched for after the one before it."""
    places: list[Span | None] = []
    end = 0
    for word in words:
        start = sentence.find(word, end) if word else -1
        if start < 0:
            places.append(None)
        else:
            end = start + len(word)
            places.append(Span(start, end))
    return tuple(places)


def _gold_runs(row: Row) -> list[list[Span]]:
    """Return the spans of the gold words, grouped by neighbours; empty if one of them is not in the sentence."""
    runs: list[list[Span]] = []
    previous = -2
    for number in sorted(row.gold):
        place = row.places[number]
        if place is None:
            return []
        if number != previous + 1:
            runs.append([])
        runs[-1].append(place)
        previous = number
    return runs


def _sentence_problem(sentence: str, spans: tuple[Span, ...]) -> str:
    if not spans:
        return "gold words are not in the sentence"
    if letters_outside(sentence, _TURKISH):
        return "letters outside the Turkish alphabet"
    if first_unseen(sentence):
        return "characters that cannot be seen"
    return ""


def _as_lexicon(kept: Sequence[tuple[str, str, tuple[Span, ...]]]) -> tuple[list[Concept], list[Entry]]:
    """Return the lexicon of idioms, their sentences, and the spans in them."""
    stems = concept_stems(("tr", idiom) for idiom, _, _ in kept)
    n_senses: Counter[str] = Counter()
    concepts, entries = [], []
    for idiom, sentence, spans in kept:
        stem = stems["tr", idiom]
        n_senses[stem] += 1
        concept = sense_id(stem, n_senses[stem])
        concepts.append(Concept(concept, ""))
        entries.append(Entry(concept, idiom, None, sentence, spans, source=FORMAT))
    return concepts, entries
