"""What a lexicon holds: concepts, and for each language at most one entry per concept.

Format: a directory with one ``<lang>.jsonl`` per language, an entry a line, and ``concepts.jsonl``, which joins them.
An entry has the keys ``concept``, ``idiom``, ``meaning``, ``example`` and ``spans``; null stands where something is
not known. ``equivalents.jsonl``, if it is there, says which concepts mean the same or nearly the same, and
``reviews.jsonl`` what native speakers said about the entries.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from turkic_idiom_tasks.io.reading import display, first_unseen
from turkic_idiom_tasks.languages import Language
from turkic_idiom_tasks.orthography import clean, letters_outside
from turkic_idiom_tasks.spans import Span, span_problem

if TYPE_CHECKING:
    from turkic_idiom_tasks.lexicon.reviews import Review

CONCEPT_ID = re.compile(r"[a-z0-9]+(?:-{1,2}[a-z0-9]+)*")
REQUIRED_KEYS = ("concept", "idiom", "meaning", "example", "spans")
OPTIONAL_TEXTS = ("literal_example", "paraphrased_example", "paraphrase", "literal_paraphrase")
OPTIONAL_KEYS = ("variants", *OPTIONAL_TEXTS, "source", "attested", "collocation", "status")
TEXT_KEYS = ("concept", "idiom", "meaning", "example", *OPTIONAL_TEXTS, "source", "attested")
PARTS_OF_SPEECH = ("verb", "noun", "adjective", "adverb", "clause")
JUDGEMENTS = SAME, NEAR = ("same", "near")
_MOST_CHARACTERS = 2**31  # a larger offset into an example is refused


@dataclass(frozen=True, slots=True)
class Concept:
    """One meaning that the languages share.

    Attributes:
        id: a readable slug that never changes.
        gloss: what it means, in English.
        pos: one of `PARTS_OF_SPEECH`; None when not known.
        aliases: ids of former concepts that were merged into this one.
    """

    id: str
    gloss: str
    pos: str | None = None
    aliases: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Return the concept as one line of ``concepts.jsonl``; what is not known is left out."""
        row: dict[str, Any] = {"id": self.id, "gloss": self.gloss}
        if self.pos is not None:
            row["pos"] = self.pos
        if self.aliases:
            row["aliases"] = self.aliases
        return json.dumps(row, ensure_ascii=False)


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
        paraphrased_example: sentence with the idiom in which its words can be replaced by either of the next two; None
            if the example is such a sentence, or there is none. An example whose context leaves no doubt about the
            idiom seldom stays sensible with a literal rewording.
        paraphrase: this sentence with the idiom replaced by what it means.
        literal_paraphrase: this sentence with the idiom replaced by what its words literally say.
        source: where the entry is from.
        attested: a public source in which the form is found; None when none is known.
        collocation: whether the words are an ordinary collocation rather than an idiom; such an entry is no test query.
        status: the verdicts of its checks.
    """

    concept: str
    idiom: str
    meaning: str | None = None
    example: str | None = None
    spans: tuple[Span, ...] | None = None
    variants: tuple[str, ...] = ()
    literal_example: str | None = None
    paraphrased_example: str | None = None
    paraphrase: str | None = None
    literal_paraphrase: str | None = None
    source: str | None = None
    attested: str | None = None
    collocation: bool = False
    status: Mapping[str, Any] | str | None = None

    @property
    def original(self) -> str | None:
        """Return the sentence that `paraphrase` and `literal_paraphrase` reword."""
        return self.paraphrased_example or self.example

    def to_json(self) -> str:
        """Return the entry as one line of a lexicon file: keys in a fixed order, empty optional ones left out."""
        row: dict[str, Any] = {}
        for key in REQUIRED_KEYS:
            row[key] = getattr(self, key)
        if self.spans is not None:
            row["spans"] = [[span.start, span.end] for span in self.spans]
        for key in OPTIONAL_KEYS:
            if getattr(self, key):
                row[key] = getattr(self, key)
        return json.dumps(row, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Concepts and the entries of each language.

    Attributes:
        concepts: concept id -> concept.
        entries: language code -> concept id -> entry, both in the order of the files.
        revision: content hash, 40 hexadecimal digits; the same for the same lines in any order.
        source: what it was read from, as shown to the user.
        equivalents: pairs of concept ids, each sorted -> ``same`` (interchangeable) or ``near``, sorted by the ids.
        reviews: what native speakers said, sorted by language, concept and reviewer; not part of the revision.
    """

    concepts: Mapping[str, Concept]
    entries: Mapping[str, Mapping[str, Entry]]
    revision: str
    source: str = field(default="", compare=False)
    equivalents: Mapping[tuple[str, str], str] = field(default_factory=dict)
    reviews: Sequence[Review] = ()

    def of(self, language: str) -> Mapping[str, Entry]:
        """Return the entries of a language by concept id; empty when the lexicon does not have the language."""
        return self.entries.get(language, {})

    def reviews_of(self, language: str) -> dict[str, list[Review]]:
        """Return concept -> its reviews; reviews of an idiom that was changed afterwards are left out."""
        entries = self.of(language)
        reviews: dict[str, list[Review]] = {}
        for review in self.reviews:
            entry = entries.get(review.concept) if review.language == language else None
            if entry is not None and entry.idiom == review.idiom:
                reviews.setdefault(review.concept, []).append(review)
        return reviews

    def reviewed(self, language: str) -> set[str]:
        """Return the concepts whose entry was judged by somebody who knew the idiom."""
        concepts = set()
        for concept, reviews in self.reviews_of(language).items():
            if any(review.knows_idiom for review in reviews):
                concepts.add(concept)
        return concepts

    @property
    def is_reviewed(self) -> bool:
        """Return whether a native speaker has judged any entry as it reads now."""
        return any(self.reviewed(code) for code in self.entries)

    def judged(self, *judgements: str) -> dict[str, set[str]]:
        """Return concept -> the concepts that were judged to mean the same, or nearly so; empty sets are left out.

        Args:
            judgements: the judgements that count: ``same``, ``near`` or both.
        """
        partners: dict[str, set[str]] = {}
        for (first, second), judgement in self.equivalents.items():
            if judgement in judgements:
                partners.setdefault(first, set()).add(second)
                partners.setdefault(second, set()).add(first)
        return partners

    def meaning_the_same(self, is_one: Callable[[str], bool]) -> set[str]:
        """Return the concepts that were judged to mean the same as one for which `is_one` holds."""
        return {concept for concept, partners in self.judged(SAME).items() if any(map(is_one, partners))}


def parse_entry(row: Any, language: Language) -> tuple[Entry | None, list[str]]:
    """Return the entry in a decoded JSON line (None if anything is wrong), and everything that is wrong with it."""
    problems = _shape_problems(row)
    if problems:
        return None, problems
    spans = None
    if row["spans"] is not None:
        spans = tuple(Span(start, end) for start, end in row["spans"])
    entry = Entry(
        concept=row["concept"],
        idiom=row["idiom"],
        meaning=row["meaning"],
        example=row["example"],
        spans=spans,
        variants=tuple(row.get("variants") or ()),
        literal_example=row.get("literal_example"),
        paraphrased_example=row.get("paraphrased_example"),
        paraphrase=row.get("paraphrase"),
        literal_paraphrase=row.get("literal_paraphrase"),
        source=row.get("source"),
        attested=row.get("attested"),
        collocation=bool(row.get("collocation")),
        status=row.get("status"),
    )
    problems = _text_problems(entry, language)
    if spans is not None and entry.example is not None:
        problem = span_problem(spans, entry.example)
        if problem:
            problems.append(problem)
    return (None if problems else entry), problems


def unseen_problem(name: str, text: str) -> str | None:
    """Return a message if a text holds a character that cannot be seen, such as a bidirectional control."""
    character = first_unseen(text)
    if not character:
        return None
    return f"{name} has U+{ord(character):04X}, which cannot be seen; remove it: {display(text)}"


def _shape_problems(row: Any) -> list[str]:
    """Return what is wrong with the fields of a row, before its texts are looked at."""
    if not isinstance(row, dict):
        return [f"expected a JSON object, found {type(row).__name__}"]
    problems = []
    for key in REQUIRED_KEYS:
        if key not in row:
            problems.append(f"field {key!r} is missing; add it (null if it is not known)")
    for key in row:
        if key not in REQUIRED_KEYS + OPTIONAL_KEYS:
            problems.append(f"unknown field {display(key)}")
    for key in TEXT_KEYS:
        value = row.get(key)
        if value is None:
            if key in ("concept", "idiom") and key in row:
                problems.append(f"field {key!r} is null; every entry needs it")
        elif not isinstance(value, str):
            problems.append(f"field {key!r} must be text, found {display(value)}")
        elif not value.strip():
            problems.append(f"field {key!r} is empty; write null if it is not known")
    if isinstance(row.get("concept"), str) and not CONCEPT_ID.fullmatch(row["concept"]):
        problems.append(f"concept id {display(row['concept'])} must be lower-case letters, digits and hyphens")
    if row.get("spans") is not None:
        problems += _spans_shape_problems(row["spans"], has_example=row.get("example") is not None)
    if not _is_list_of_texts(row.get("variants")):
        problems.append("field 'variants' must be a list of texts")
    if not isinstance(row.get("collocation"), bool | None):
        problems.append(f"field 'collocation' must be true or false, found {display(row['collocation'])}")
    if not isinstance(row.get("status"), str | dict | None):
        problems.append(f"field 'status' must be text or an object, found {display(row['status'])}")
    return problems


def _spans_shape_problems(spans: Any, *, has_example: bool) -> list[str]:
    if not has_example:
        return ["spans without an example; write null"]
    if isinstance(spans, list) and spans and all(_is_pair_of_offsets(pair) for pair in spans):
        return []
    return [f"field 'spans' must be a list of [start, end] offsets, found {display(spans)}; null if not annotated"]


def _is_pair_of_offsets(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and _is_offset(value[0]) and _is_offset(value[1])


def _is_offset(value: Any) -> bool:
    return type(value) is int and abs(value) < _MOST_CHARACTERS


def _is_list_of_texts(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, list) and all(isinstance(text, str) and text.strip() for text in value)


def _text_problems(entry: Entry, language: Language) -> list[str]:
    """Return what is wrong with the letters of the texts of an entry."""
    texts = [(key, getattr(entry, key)) for key in ("idiom", "meaning", "example", *OPTIONAL_TEXTS)]
    texts += [("variants", variant) for variant in entry.variants]
    problems = []
    for key, text in texts:
        problem = _text_problem(key, text, language) if text is not None else None
        if problem:
            problems.append(problem)
    for key, text in (("source", entry.source), ("attested", entry.attested), ("status", entry.status)):
        problem = unseen_problem(key, text) if isinstance(text, str) else None
        if problem:
            problems.append(problem)
    return problems


def _text_problem(key: str, text: str, language: Language) -> str | None:
    cleaned = clean(text, language)
    outside = letters_outside(cleaned, language)
    if outside:
        letters = ", ".join(f"{display(letter)} (U+{ord(letter):04X})" for letter in outside)
        return f"{key} has {letters}, not in the {language.name} alphabet: {display(text)}"
    if cleaned != text:
        return f"{key} is not normalised (NFC, single spaces); it should read {display(cleaned)}"
    return unseen_problem(key, text)
