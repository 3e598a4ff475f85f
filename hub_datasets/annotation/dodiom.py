"""The Dodiom corpus as a yardstick of the annotator: a reader of its table, and the scores.

Corpus: Eryiğit, Şentaş and Monti (2022), Gamified crowdsourcing for idiom corpora construction. Only the rows of the
category ``idiom`` are used, and of them only the idiom, the sentence, its words and the numbers of the gold words; the
lemmas and the idiom's words are not looked at.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hub_datasets.annotation.annotate import Annotation, annotate
from hub_datasets.sources import Record, read_table
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.spans import Span

COLUMNS = ("idiom", "submission", "category", "idiom_indices", "words")
RANDOM_PAIRS = 5000
SEED = 42
Annotator = Callable[[str, str], Annotation]


@dataclass(frozen=True, slots=True)
class Row:
    """An idiomatic sentence.

    Attributes:
        idiom: citation form.
        sentence: as it was submitted.
        places: where its words stand; None for a word that the corpus spells otherwise than the sentence.
        gold: numbers of the words that are the idiom's.
    """

    idiom: str
    sentence: str
    places: tuple[Span | None, ...]
    gold: frozenset[int]


@dataclass(frozen=True, slots=True)
class Scores:
    """How the annotator does on the corpus.

    Attributes:
        rows: idiomatic rows.
        exact: share of them whose words are exactly the gold ones, in [0, 1].
        token_f1: F1 of the words of all rows together, in [0, 1].
        coverage: share of the rows in which something is marked.
        false_alarm: share of random pairs of a sentence and another idiom in which something is marked.
        random_pairs: number of those pairs.
        sentences_per_minute: speed over the idiomatic rows on one core, citation forms analysed on the way.
    """

    rows: int
    exact: float
    token_f1: float
    coverage: float
    false_alarm: float
    random_pairs: int
    sentences_per_minute: int

    def to_json(self) -> dict[str, float]:
        """The scores by name, shares to four places."""
        return {name: round(value, 4) for name, value in asdict(self).items()}


def read_dodiom(path: Path) -> list[Row]:
    """The idiomatic rows of the Turkish table, in its order.

    Raises:
        InputError: it is not such a table; names file, line and value.
    """
    rows = [_row(path, record) for record in read_table(path, COLUMNS)]
    idiomatic = [row for row in rows if row is not None]
    if len({row.idiom for row in idiomatic}) < 2:
        raise InputError(
            f"{path}: fewer than two idioms in rows of the category 'idiom'; is it Dodiom's dataset_tr.csv?"
        )
    return idiomatic


def evaluate(rows: Sequence[Row], annotator: Annotator | None = None, *, pairs: int = RANDOM_PAIRS) -> Scores:
    """The scores of an annotator, by default ours, on the rows; at least two idioms are needed."""
    turkish = LANGUAGES["tr"]
    annotator = annotator or (lambda idiom, sentence: annotate(idiom, sentence, turkish))
    begun = time.perf_counter()
    marked = [annotator(row.idiom, row.sentence).spans for row in rows]
    seconds = time.perf_counter() - begun
    predicted = [covered(row, spans) for row, spans in zip(rows, marked, strict=True)]
    hits = sum(len(row.gold & words) for row, words in zip(rows, predicted, strict=True))
    n_gold, n_predicted = sum(len(row.gold) for row in rows), sum(map(len, predicted))
    alarms = sum(bool(annotator(idiom, sentence).spans) for idiom, sentence in random_pairs(rows, pairs))
    return Scores(
        rows=len(rows),
        exact=sum(row.gold == words for row, words in zip(rows, predicted, strict=True)) / len(rows),
        token_f1=2 * hits / (n_gold + n_predicted),
        coverage=sum(map(bool, marked)) / len(rows),
        false_alarm=alarms / pairs,
        random_pairs=pairs,
        sentences_per_minute=round(60 * len(rows) / seconds),
    )


def covered(row: Row, spans: Sequence[Span]) -> frozenset[int]:
    """The numbers of the words of a row that spans of its sentence touch."""
    return frozenset(
        number
        for number, place in enumerate(row.places)
        if place is not None and any(span.start < place.end and place.start < span.end for span in spans)
    )


def random_pairs(rows: Sequence[Row], n_pairs: int) -> list[tuple[str, str]]:
    """Pairs of an idiom and a sentence submitted for another idiom, drawn with a fixed seed."""
    generator = np.random.default_rng(SEED)
    idioms = sorted({row.idiom for row in rows})
    pairs = []
    for number in generator.integers(len(rows), size=n_pairs):
        row = rows[number]
        others = [idiom for idiom in idioms if idiom != row.idiom]
        pairs.append((others[generator.integers(len(others))], row.sentence))
    return pairs


def _row(path: Path, record: Record) -> Row | None:
    if record.cells is None:
        raise InputError(f"{path}:{record.line}: {record.problem}; is it Dodiom's dataset_tr.csv, unchanged?")
    cells = record.cells
    if cells["category"] != "idiom":
        return None
    words, gold = _list(path, record, "words", str), _list(path, record, "idiom_indices", int)
    if not gold or not all(0 <= number < len(words) for number in gold):
        raise InputError(
            f"{path}:{record.line}: idiom_indices {cells['idiom_indices']!r} are not numbers of its {len(words)} "
            "words; restore the row"
        )
    return Row(cells["idiom"], cells["submission"], _places(cells["submission"], words), frozenset(gold))


def _list(path: Path, record: Record, column: str, kind: type) -> list[Any]:
    value = (record.cells or {})[column]
    try:
        items = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        items = None
    if not isinstance(items, list) or not all(isinstance(item, kind) for item in items):
        raise InputError(
            f"{path}:{record.line}: {column} {value[:80]!r} is not a list of {kind.__name__}; restore the row"
        )
    return items


def _places(sentence: str, words: Sequence[str]) -> tuple[Span | None, ...]:
    """Where words stand in a sentence, each looked for after the one before it."""
    places: list[Span | None] = []
    end = 0
    for word in words:
        start = sentence.find(word, end) if word else -1
        if start >= 0:
            end = start + len(word)
        places.append(Span(start, end) if start >= 0 else None)
    return tuple(places)
