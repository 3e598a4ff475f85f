"""Import of the Turkish table of the Dodiom corpus.

Corpus: Eryiğit, Şentaş and Monti (2022), Gamified crowdsourcing for idiom corpora construction. Only the rows of the
category ``idiom`` are used, and only these columns of them: the idiom, the sentence, its words, and the numbers of the
gold words. In the imported lexicon every sentence is an entry without a meaning, and the gold words are its spans.
"""

import ast
import unicodedata
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter

from hub_datasets.cleaning import clean_text, concept_stems, idiom_problem, sense_id
from hub_datasets.import_report import CHANGED, DROPPED, Imported
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.csv_files import read_whole_table
from turkic_idiom_tasks.io.reading import display, first_unseen
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.orthography import clean, letters_outside
from turkic_idiom_tasks.spans import Span

FORMAT = "dodiom"
COLUMNS = ("idiom", "submission", "category", "idiom_indices", "words")
COMPOSED = "text composed (it was not in NFC)"
_TURKISH = LANGUAGES["tr"]
_WORDS = TypeAdapter(list[str], config=ConfigDict(strict=True))
_NUMBERS = TypeAdapter(list[int], config=ConfigDict(strict=True))


@dataclass(frozen=True, slots=True)
class Row:
    """An idiomatic sentence; all texts are NFC."""

    idiom: str  # citation form
    sentence: str  # as it was submitted
    places: tuple[Span | None, ...]  # of its words; None for a word that the corpus spells differently
    gold: frozenset[int]  # numbers of the words that belong to the idiom
    was_composed: bool = False  # whether the row was not in NFC in the table


def read_dodiom(path: Path) -> list[Row]:
    """Return the idiomatic rows of the Turkish table, in its order."""
    rows = []
    for where, cells in read_whole_table(path, COLUMNS):
        if cells["category"] != "idiom":
            continue
        lists: list[list[Any]] = []
        for column, adapter, kind in (("words", _WORDS, "texts"), ("idiom_indices", _NUMBERS, "whole numbers")):
            try:
                # This parses a Python list without running any code
                lists.append(adapter.validate_python(ast.literal_eval(cells[column])))
            except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
                value = display(cells[column])
                raise InputError(f"{where}: {column} {value} is not a list of {kind}; restore the row") from error
        words, gold = lists
        if not gold or not all(0 <= number < len(words) for number in gold):
            indices = display(cells["idiom_indices"])
            raise InputError(
                f"{where}: idiom_indices {indices} are not numbers of its {len(words)} words; restore the row"
            )
        # Where the table is in NFD, idiom, sentence and words are composed alike, so that the words are still found.
        texts = [cells["idiom"], cells["submission"], *words]
        idiom, sentence, *composed_words = composed = [unicodedata.normalize("NFC", text) for text in texts]
        places: list[Span | None] = []
        end = 0
        # A word is searched for in the sentence after the word before it
        for word in composed_words:
            start = sentence.find(word, end) if word else -1
            end = start + len(word) if start >= 0 else end
            places.append(Span(start, end) if start >= 0 else None)
        rows.append(Row(idiom, sentence, tuple(places), frozenset(gold), was_composed=composed != texts))
    if not rows:
        raise InputError(f"{path}: no row of the category 'idiom'; is it Dodiom's dataset_tr.csv?")
    return rows


def import_dodiom(path: Path) -> Imported:
    """Return the lexicon of the idiomatic rows of the Turkish table."""
    imported = Imported(FORMAT, path.name)
    kept: list[tuple[str, str, tuple[Span, ...]]] = []
    sentences: set[str] = set()
    for number, row in enumerate(read_dodiom(path), start=1):
        imported.lines.add(number)
        idiom, sentence = clean_text(row.idiom, _TURKISH), clean(row.sentence, _TURKISH)
        spans = gold_spans(row, sentence)
        if row.was_composed:
            imported.add(CHANGED, COMPOSED, number, "tr", sentence)
        reason = idiom_problem(idiom, _TURKISH)
        if not reason:
            if not spans:
                reason = "gold words are not in the sentence"
            elif letters_outside(sentence, _TURKISH):
                reason = "letters outside the Turkish alphabet"
            elif first_unseen(sentence):
                reason = "characters that cannot be seen"
            elif sentence in sentences:
                reason = "sentence is there already"
        if reason:
            imported.add(DROPPED, reason, number, "tr", sentence)
        else:
            sentences.add(sentence)
            kept.append((idiom, sentence, spans))
    stems = concept_stems(("tr", idiom) for idiom, _, _ in kept)
    n_senses: Counter[str] = Counter()
    imported.readings, imported.entries = len(imported.lines), {"tr": []}
    for idiom, sentence, spans in kept:
        stem = stems["tr", idiom]
        n_senses[stem] += 1
        # The sentences of an idiom are senses of one concept, so that all of them are in one split
        concept = sense_id(stem, n_senses[stem])
        imported.concepts.append(Concept(concept, ""))
        imported.entries["tr"].append(Entry(concept, idiom, None, sentence, spans, source=FORMAT))
    return imported


def gold_spans(row: Row, sentence: str) -> tuple[Span, ...]:
    """Return the runs of gold words in the cleaned sentence of a row; empty if they cannot be found there."""
    # Neighbours are searched for together: between two words alone the cleaning may have changed white space.
    runs: list[Span] = []  # of gold words, in the sentence as it was submitted
    previous = -2
    for number in sorted(row.gold):
        place = row.places[number]
        if place is None:
            return ()
        if number == previous + 1:
            runs[-1] = Span(runs[-1].start, place.end)
        else:
            runs.append(place)
        previous = number
    spans: list[Span] = []
    end = 0
    removed = len(row.sentence) - len(sentence)  # characters that cleaning removed, perhaps before a run
    for run in runs:
        text = clean(run.of(row.sentence), _TURKISH)
        start = sentence.find(text, max(end, run.start - removed))
        if start < 0:
            return ()
        end = start + len(text)
        spans.append(Span(start, end))
    return tuple(spans)
