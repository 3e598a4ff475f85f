"""Enrichment: citation form, meaning and example for the idioms of a list or the gaps of a lexicon.

A model writes each text within one language, as in the paper (appendix A). Only a missing meaning or example is filled
in, and the idiom of a lexicon never changes.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import Field, create_model

from hub_datasets.cleaning import clean_reading, compared
from hub_datasets.import_report import Reading
from hub_datasets.importing import import_source
from hub_datasets.prompts import PAPER, Prompt
from hub_datasets.questions import AnswerFields, Question, Reply
from hub_datasets.sources import paper
from turkic_idiom_tasks.annotation.annotate import annotate
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.lexicon.load import load_lexicon, write_lexicon
from turkic_idiom_tasks.orthography import share_stem

FILLED, UNKNOWN, UNREADABLE = "filled", "not known to the model", "answer not readable"
NOT_IN_EXAMPLE = "example left out: the idiom is not in it"
OTHER_FORM = "citation form left out: no word in common with the idiom"


class EntryAnswer(AnswerFields):
    """What the model writes of one idiom; empty texts say that it does not know it."""

    citation_form: str
    meaning: str
    example: str


# A question, and the entries by language that its answer is about: one, or with the paper's prompt a whole row
Task = tuple[Question, Mapping[str, Entry]]


def read_draft(path: Path) -> tuple[Lexicon, bool]:
    """Return aligned idioms of a lexicon, or of a list (CSV or the paper's JSON), and whether they are a bare list."""
    if path.is_dir():
        return load_lexicon(path), False
    imported = import_source("columns" if path.suffix.lower() in (".csv", ".tsv") else "paper", path)
    entries = {code: {entry.concept: entry for entry in rows} for code, rows in imported.entries.items()}
    return Lexicon({concept.id: concept for concept in imported.concepts}, entries, revision=""), True


def enrichment_tasks(draft: Lexicon, prompt: Prompt, *, languages: Sequence[str]) -> list[Task]:
    """Return what to ask: about every entry of these languages that has no meaning or no example."""
    gaps: dict[str, dict[str, Entry]] = {}
    for code in languages:
        for entry in draft.of(code).values():
            if entry.meaning is None or entry.example is None:
                gaps.setdefault(entry.concept, {})[code] = entry
    tasks: list[Task] = []
    for _, entries in sorted(gaps.items()):
        if prompt.version != PAPER:
            for code, entry in entries.items():
                language = LANGUAGES[code]
                plain = {"language": language.name, "alphabet": " ".join(language.alphabet)}
                messages = prompt.messages({"idiom": entry.idiom}, plain=plain)
                tasks.append((Question(prompt.label, messages, EntryAnswer), {code: entry}))
            continue
        # The paper asks about all languages of a row at once; a language without an idiom has a hyphen there.
        cells, formats = {}, []
        keys: dict[str, Any] = {}
        for code in dict.fromkeys((*paper.LANGUAGE_NAMES, *entries)):
            prefix, name = paper.prefix(code), paper.LANGUAGE_NAMES.get(code, LANGUAGES[code].name)
            cells[f"{prefix}-Deyim"] = entries[code].idiom if code in entries else "-"
            formats.append(
                f'"{prefix}-Deyim": "Input", "{prefix}-Anlam": "Meaning in {name}", '
                f'"{prefix}-Ornek": "Example Sentence"'
            )
            for key in ("Deyim", "Anlam", "Ornek"):
                keys[f"{code}_{key.lower()}"] = (str, Field(default="", alias=f"{prefix}-{key}"))
        plain = {"format": ",\n".join(formats), "row": json.dumps([cells], ensure_ascii=False)}
        answer = create_model("RowAnswer", __base__=AnswerFields, **keys)
        tasks.append((Question(prompt.label, prompt.messages({}, plain=plain), answer), entries))
    return tasks


def apply_enrichment(
    draft: Lexicon, tasks: Sequence[Task], replies: Sequence[Reply], *, is_list: bool, note: str
) -> tuple[Lexicon, dict[str, Counter[str]]]:
    """Return the draft with the texts that the model wrote, and language code -> what came of it -> how many entries.

    In a bare list the form of the idioms may be standardised. `note`, in the status, is model, prompt and date.
    """
    entries = {code: dict(rows) for code, rows in draft.entries.items()}
    outcomes: dict[str, Counter[str]] = {}
    for (_, asked), reply in zip(tasks, replies, strict=True):
        readings: Mapping[str, Reading] = {}
        if reply.value is not None:
            cells = reply.value.model_dump(by_alias=True)
            if isinstance(reply.value, EntryAnswer):
                (code,) = asked
                prefix = paper.prefix(code)
                cells = {f"{prefix}-Deyim": reply.value.citation_form, f"{prefix}-Anlam": reply.value.meaning}
                cells[f"{prefix}-Ornek"] = reply.value.example
            # The reader of the paper's rows takes empty texts and dashes for what they are.
            readings = paper.source_row(1, cells).readings
        for code, entry in asked.items():
            counts = outcomes.setdefault(code, Counter())
            if reply.value is None:
                counts[UNREADABLE] += 1
                continue
            reading = readings.get(code, Reading(""))
            entries[code][entry.concept] = _filled(entry, reading, code, is_list=is_list, note=note, counts=counts)
    return replace(draft, entries=entries), outcomes


def _filled(entry: Entry, reading: Reading, code: str, *, is_list: bool, note: str, counts: Counter[str]) -> Entry:
    """Return an entry with the gaps filled by what a model wrote; count what came of it."""
    language = LANGUAGES[code]
    if not (reading.meaning or reading.example):
        counts[UNKNOWN] += 1
        return entry
    cleaned = clean_reading(replace(reading, idiom=reading.idiom or entry.idiom), language)
    if cleaned.reading is None:
        counts[cleaned.problem] += 1
        return entry
    counts.update(removed.what for removed in cleaned.notes)
    new, result = cleaned.reading, entry
    # The idioms of a bare list are as their author wrote them, so the model's citation form takes their place. But the
    # model sometimes answers with another idiom, which would replace the author's own.
    if is_list and compared(new.idiom, language) != compared(entry.idiom, language):
        if share_stem(new.idiom, language, entry.idiom, language):
            result = replace(result, idiom=new.idiom, variants=tuple(dict.fromkeys((*entry.variants, entry.idiom))))
        else:
            counts[OTHER_FORM] += 1
    if entry.meaning is None:
        result = replace(result, meaning=new.meaning)
    if entry.example is None and new.example is not None:
        # An example without its idiom is no example, and could not be tagged either.
        spans, _ = annotate(result.idiom, new.example, language, variants=result.variants)
        if spans:
            result = replace(result, example=new.example, spans=spans)
        else:
            counts[NOT_IN_EXAMPLE] += 1
    if (result.meaning, result.example) == (entry.meaning, entry.example):
        return entry
    counts[FILLED] += 1
    return replace(result, status=joined_status(result.status, f"enriched by {note}"))


def write_changed(lexicon: Lexicon, out: Path, *, overwrite: bool = False) -> None:
    """Write a lexicon that differs from the one that was read, with its judged pairs and reviews."""
    entries = {code: list(rows.values()) for code, rows in lexicon.entries.items()}
    concepts, judged = list(lexicon.concepts.values()), lexicon.equivalents
    write_lexicon(out, concepts, entries, equivalents=judged, reviews=lexicon.reviews, overwrite=overwrite)


def joined_status(status: Mapping[str, Any] | str | None, note: str) -> str:
    """Return what an entry says of its checks, with a further note."""
    if not status:
        return note
    earlier = status if isinstance(status, str) else json.dumps(dict(status), ensure_ascii=False, sort_keys=True)
    return f"{earlier}; {note}"
