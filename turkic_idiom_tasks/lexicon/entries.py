"""What a lexicon holds: concepts, and for each language at most one entry per concept.

Format: a directory with one ``<lang>.jsonl`` per language, an entry a line, and ``concepts.jsonl``, which joins them.
An entry has the keys ``concept``, ``idiom``, ``meaning``, ``example`` and ``spans``; null stands where something is
not known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from turkic_idiom_tasks.languages import Language
from turkic_idiom_tasks.orthography import clean, letters_outside
from turkic_idiom_tasks.spans import Span, span_problem

CONCEPT_ID = re.compile(r"[a-z0-9]+(?:-{1,2}[a-z0-9]+)*")
REQUIRED_KEYS = ("concept", "idiom", "meaning", "example", "spans")
OPTIONAL_TEXTS = ("literal_example", "paraphrase", "literal_paraphrase")
OPTIONAL_KEYS = ("variants", *OPTIONAL_TEXTS, "source", "status")


@dataclass(frozen=True, slots=True)
class Concept:
    """One meaning that the languages share: a slug that is stable for ever, and what it means in English."""

    id: str
    gloss: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One idiom of one language.

    Attributes:
        concept: id of the concept.
        idiom: citation form.
        meaning: dictionary-style definition in the same language; None when not known.
        example: sentence with the idiom in idiomatic use; None when not known.
        spans: where the idiom stands in the example (several when it is discontinuous); None when not annotated.
        variants: other citation forms.
        literal_example: sentence with the same words in literal use.
        paraphrase: the example with the idiom replaced by what it means.
        literal_paraphrase: the example with the idiom replaced by what its words literally say.
        source: where the entry is from.
        status: the verdicts of its checks.
    """

    concept: str
    idiom: str
    meaning: str | None = None
    example: str | None = None
    spans: tuple[Span, ...] | None = None
    variants: tuple[str, ...] = ()
    literal_example: str | None = None
    paraphrase: str | None = None
    literal_paraphrase: str | None = None
    source: str | None = None
    status: Mapping[str, Any] | str | None = None

    def to_json(self) -> str:
        """The entry as one line of a lexicon file, keys always in the same order, empty optional ones left out."""
        row: dict[str, Any] = {key: getattr(self, key) for key in REQUIRED_KEYS}
        if self.spans is not None:
            row["spans"] = [[span.start, span.end] for span in self.spans]
        row |= {key: getattr(self, key) for key in OPTIONAL_KEYS if getattr(self, key)}
        return json.dumps(row, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Concepts and the entries of each language.

    Attributes:
        concepts: concept id -> concept.
        entries: language code -> concept id -> entry, both in the order of the files.
        revision: content hash, 40 hexadecimal digits; the same for the same lines in any order.
        source: what it was read from, as shown to the user.
    """

    concepts: Mapping[str, Concept]
    entries: Mapping[str, Mapping[str, Entry]]
    revision: str
    source: str = field(default="", compare=False)

    def of(self, language: str) -> Mapping[str, Entry]:
        """The entries of a language by concept id; empty when the lexicon does not have the language."""
        return self.entries.get(language, {})


def parse_entry(row: Any, language: Language) -> tuple[Entry | None, list[str]]:
    """The entry that a decoded JSON line stands for, or None and everything that is wrong with it."""
    problems = list(_shape_problems(row))
    if problems:
        return None, problems
    spans = None if row["spans"] is None else tuple(Span(start, end) for start, end in row["spans"])
    entry = Entry(
        concept=row["concept"],
        idiom=row["idiom"],
        meaning=row["meaning"],
        example=row["example"],
        spans=spans,
        variants=tuple(row.get("variants") or ()),
        **{key: row.get(key) for key in (*OPTIONAL_TEXTS, "source", "status")},
    )
    problems = list(_text_problems(entry, language))
    if spans is not None and entry.example is not None:
        problem = span_problem(spans, entry.example)
        problems += [problem] if problem else []
    return (None if problems else entry), problems


def _shape_problems(row: Any) -> list[str]:
    if not isinstance(row, dict):
        return [f"expected a JSON object, found {type(row).__name__}"]
    problems = [
        f"field {key!r} is missing; add it (null if it is not known)" for key in REQUIRED_KEYS if key not in row
    ]
    problems += [f"unknown field {key!r}" for key in row if key not in REQUIRED_KEYS + OPTIONAL_KEYS]
    for key in ("concept", "idiom"):
        if key in row and row[key] is None:
            problems.append(f"field {key!r} is null; every entry needs it")
    for key in ("concept", "idiom", "meaning", "example", *OPTIONAL_TEXTS, "source"):
        value = row.get(key)
        if value is not None and not isinstance(value, str):
            problems.append(f"field {key!r} must be text, found {json.dumps(value)}")
        elif value is not None and not value.strip():
            problems.append(f"field {key!r} is empty; write null if it is not known")
    if isinstance(row.get("concept"), str) and not CONCEPT_ID.fullmatch(row["concept"]):
        problems.append(f"concept id {row['concept']!r} must be lower-case letters, digits and hyphens")
    problems += _spans_shape_problems(row)
    variants = row.get("variants")
    if variants is not None and not (isinstance(variants, list) and all(isinstance(v, str) and v for v in variants)):
        problems.append("field 'variants' must be a list of texts")
    if not isinstance(row.get("status"), (str, dict, type(None))):
        problems.append("field 'status' must be text or an object")
    return problems


def _spans_shape_problems(row: dict[str, Any]) -> list[str]:
    spans = row.get("spans")
    if spans is None:
        return []
    if row.get("example") is None:
        return ["spans without an example; write null"]
    is_pairs = isinstance(spans, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(type(offset) is int for offset in pair) for pair in spans
    )
    if not is_pairs or not spans:
        return [
            f"field 'spans' must be a list of [start, end] offsets, found {json.dumps(spans)}; null if not annotated"
        ]
    return []


def _text_problems(entry: Entry, language: Language) -> list[str]:
    problems = []
    texts = [(key, getattr(entry, key)) for key in ("idiom", "meaning", "example", *OPTIONAL_TEXTS)]
    texts += [("variants", variant) for variant in entry.variants]
    for key, text in texts:
        if text is None:
            continue
        outside = letters_outside(text, language)
        if outside:
            letters = ", ".join(f"{letter!r} (U+{ord(letter):04X})" for letter in outside)
            problems.append(f"{key} has {letters}, not in the {language.name} alphabet: {text!r}")
        elif clean(text, language) != text:
            problems.append(f"{key} is not normalised (NFC, single spaces); it should read {clean(text, language)!r}")
    return problems
