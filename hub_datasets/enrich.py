"""Enrichment: citation form, meaning and example for the idioms of a list or the gaps of a lexicon.

A model writes each text within one language, as in the paper (appendix A). What is there already stays: only a missing
meaning or example is filled in, and the idiom of a lexicon never changes. The idioms of a bare list are as their author
wrote them, so there the model's citation form takes their place if it has a word in common with them, and the given
form stays as a variant. An example in which the annotator does not find the idiom is left out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, create_model

from hub_datasets.cleaning import clean_reading, compared
from hub_datasets.importing import import_source
from hub_datasets.json_answers import AnswerFields
from hub_datasets.prompts import PAPER, Prompt
from hub_datasets.questions import Question, Reply
from hub_datasets.sources import paper
from hub_datasets.sources.source_rows import Reading
from turkic_idiom_tasks.annotation.annotate import annotate
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import load_lexicon
from turkic_idiom_tasks.lexicon.reviews import Review
from turkic_idiom_tasks.orthography import share_stem

FILLED, UNKNOWN, UNREADABLE = "filled", "not known to the model", "answer not readable"
NOT_IN_EXAMPLE = "example left out: the idiom is not in it"
OTHER_FORM = "citation form left out: no word in common with the idiom"
_PAPER_FIELDS = ("Deyim", "Anlam", "Ornek")
_PAPER_WORDS = {  # what the paper's format says of each language; Uzbek is ours, after the pattern of the others
    "tr": ("TR", "Turkish"),
    "az": ("AZ", "Azerbaijani Turkish"),
    "tk": ("TK", "Turkmen Turkish"),
    "gag": ("GA", "Gagauz Turkish"),
    "uz": ("UZ", "Uzbek"),
}
_PAPER_LANGUAGES = ("tr", "az", "tk", "gag")


class EntryAnswer(AnswerFields):
    """What the model writes of one idiom; empty texts say that it does not know it."""

    citation_form: str
    meaning: str
    example: str


@dataclass(frozen=True, slots=True)
class Draft:
    """Aligned idioms whose texts are incomplete.

    Attributes:
        concepts: what the idioms mean, as far as it is known.
        entries: language code -> entries.
        is_list: whether the idioms come from a bare list, so that their form may be standardised.
        equivalents: as in a lexicon.
        reviews: as in a lexicon.
    """

    concepts: Sequence[Concept]
    entries: Mapping[str, Sequence[Entry]]
    is_list: bool
    equivalents: Mapping[tuple[str, str], str] = field(default_factory=dict)
    reviews: Sequence[Review] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """One question and the entries that its answer is about: a single one, or with the paper's prompt a whole row."""

    question: Question
    entries: Mapping[str, Entry]


@dataclass(frozen=True, slots=True)
class Enriched:
    """Entries after enrichment; `outcomes` has language code -> what came of its entries -> how many."""

    entries: Mapping[str, Sequence[Entry]]
    outcomes: Mapping[str, Counter[str]]


def read_draft(path: Path) -> Draft:
    """Return the aligned idioms of a lexicon directory, a CSV table with a column per language, or the paper's JSON.

    Raises:
        InputError: the path is none of these, or holds no idiom.
    """
    if path.is_dir():
        lexicon = load_lexicon(path)
        entries = {code: list(rows.values()) for code, rows in lexicon.entries.items()}
        concepts = list(lexicon.concepts.values())
        return Draft(concepts, entries, False, lexicon.equivalents, lexicon.reviews)
    name = "columns" if path.suffix.lower() in (".csv", ".tsv") else "paper"
    imported = import_source(name, path)
    return Draft(imported.concepts, imported.entries, is_list=True)


def enrichment_tasks(draft: Draft, prompt: Prompt, *, languages: Sequence[str]) -> list[Task]:
    """Return what to ask: about every entry of these languages that has no meaning or no example."""
    gaps: dict[str, dict[str, Entry]] = {}
    for code in languages:
        for entry in draft.entries.get(code, ()):
            if entry.meaning is None or entry.example is None:
                gaps.setdefault(entry.concept, {})[code] = entry
    tasks = []
    for concept in sorted(gaps):
        if prompt.version == PAPER:
            tasks.append(_row_task(prompt, gaps[concept]))
            continue
        for code, entry in gaps[concept].items():
            tasks.append(_entry_task(prompt, code, entry))
    return tasks


def apply_enrichment(draft: Draft, tasks: Sequence[Task], replies: Sequence[Reply], *, note: str) -> Enriched:
    """Return the entries with the texts that the model wrote.

    Args:
        draft: where the entries are from.
        tasks: the questions.
        replies: their replies, in the same order.
        note: what the status of an entry says of it: model, prompt and date.
    """
    filled: dict[tuple[str, str], Entry] = {}
    outcomes: dict[str, Counter[str]] = {}
    for task, reply in zip(tasks, replies, strict=True):
        readings = _readings(task, reply)
        for code, entry in task.entries.items():
            counts = outcomes.setdefault(code, Counter())
            if readings is None:
                counts[UNREADABLE] += 1
                continue
            reading = readings.get(code, Reading(""))
            filled[code, entry.concept] = _filled(entry, reading, code, is_list=draft.is_list, note=note, counts=counts)
    entries: dict[str, list[Entry]] = {}
    for code, rows in draft.entries.items():
        entries[code] = [filled.get((code, row.concept), row) for row in rows]
    return Enriched(entries, outcomes)


def _entry_task(prompt: Prompt, code: str, entry: Entry) -> Task:
    language = LANGUAGES[code]
    plain = {"language": language.name, "alphabet": " ".join(language.alphabet)}
    messages = prompt.messages({"idiom": entry.idiom}, plain=plain)
    return Task(Question(prompt.label, messages, EntryAnswer), {code: entry})


def _row_task(prompt: Prompt, entries: Mapping[str, Entry]) -> Task:
    """Return the paper's question about all languages of a row; a language without an idiom has a hyphen."""
    cells, formats = {}, []
    keys: dict[str, Any] = {}
    for code in LANGUAGES:
        if code not in _PAPER_LANGUAGES and code not in entries:
            continue
        prefix, name = _PAPER_WORDS[code]
        cells[f"{prefix}-Deyim"] = entries[code].idiom if code in entries else "-"
        formats.append(
            f'"{prefix}-Deyim": "Input", "{prefix}-Anlam": "Meaning in {name}", "{prefix}-Ornek": "Example Sentence"'
        )
        for number, key in enumerate(_PAPER_FIELDS):
            keys[f"{code}_{number}"] = (str, Field(default="", alias=f"{prefix}-{key}"))
    answer = create_model("RowAnswer", __base__=AnswerFields, **keys)
    row = json.dumps([cells], ensure_ascii=False)
    messages = prompt.messages({}, plain={"format": ",\n".join(formats), "row": row})
    return Task(Question(prompt.label, messages, answer), entries)


def _readings(task: Task, reply: Reply) -> Mapping[str, Reading] | None:
    """Return language code -> what the model wrote; None if that could not be read."""
    if reply.value is None:
        return None
    answer = reply.of(EntryAnswer)
    if answer is None:
        return _row_readings(reply.value)
    (code,) = task.entries
    row = {"TR-Deyim": answer.citation_form, "TR-Anlam": answer.meaning, "TR-Ornek": answer.example}
    readings = paper.source_row(1, row).readings  # which takes empty texts and dashes for what they are
    return {code: readings["tr"]} if readings else {}


def _row_readings(value: BaseModel) -> Mapping[str, Reading]:
    return paper.source_row(1, value.model_dump(by_alias=True)).readings


def _filled(entry: Entry, reading: Reading, code: str, *, is_list: bool, note: str, counts: Counter[str]) -> Entry:
    """Return an entry with the gaps filled by what a model wrote; count what came of it."""
    if not (reading.meaning or reading.example):
        counts[UNKNOWN] += 1
        return entry
    language = LANGUAGES[code]
    cleaned = clean_reading(replace(reading, idiom=reading.idiom or entry.idiom), language)
    if cleaned.reading is None:
        counts[cleaned.problem] += 1
        return entry
    for removed in cleaned.notes:
        counts[removed.what] += 1
    new = cleaned.reading
    result = entry
    if is_list and compared(new.idiom, language) != compared(entry.idiom, language):
        if share_stem(new.idiom, language, entry.idiom, language):
            variants = tuple(dict.fromkeys((*entry.variants, entry.idiom)))
            result = replace(result, idiom=new.idiom, variants=variants)
        else:
            counts[OTHER_FORM] += 1
    if entry.meaning is None:
        result = replace(result, meaning=new.meaning)
    if entry.example is None and new.example is not None:
        result = _with_example(result, new.example, code, counts)
    if (result.meaning, result.example) == (entry.meaning, entry.example):
        return entry
    counts[FILLED] += 1
    return replace(result, status=joined_status(result.status, f"enriched by {note}"))


def _with_example(entry: Entry, example: str, code: str, counts: Counter[str]) -> Entry:
    annotation = annotate(entry.idiom, example, LANGUAGES[code], variants=entry.variants)
    if annotation.dropped is not None:
        counts[NOT_IN_EXAMPLE] += 1
        return entry
    return replace(entry, example=example, spans=annotation.spans)


def joined_status(status: Mapping[str, Any] | str | None, note: str) -> str:
    """Return what an entry says of its checks, with a further note."""
    if not status:
        return note
    earlier = status if isinstance(status, str) else json.dumps(dict(status), ensure_ascii=False, sort_keys=True)
    return f"{earlier}; {note}"
