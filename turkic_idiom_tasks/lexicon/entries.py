"""What a lexicon holds: concepts, and for each language at most one entry per concept.

Format: a directory with one ``<lang>.jsonl`` per language, an entry a line, and ``concepts.jsonl``, which joins them.
An entry has the keys ``concept``, ``idiom``, ``meaning``, ``example`` and ``spans``; null stands where something is
not known. ``equivalents.jsonl``, if it is there, says which concepts mean the same or nearly the same, and
``reviews.jsonl`` what native speakers said about the entries.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
)

from turkic_idiom_tasks.io.reading import display, faults, first_unseen
from turkic_idiom_tasks.languages import Language
from turkic_idiom_tasks.orthography import clean, letters_outside
from turkic_idiom_tasks.spans import Span, span_problem

if TYPE_CHECKING:  # reviews.py imports this module
    from turkic_idiom_tasks.lexicon.reviews import Review

CONCEPT_ID = re.compile(r"[a-z0-9]+(?:-{1,2}[a-z0-9]+)*")
SAME, NEAR = ("same", "near")
_REQUIRED_KEYS = ("concept", "idiom", "meaning", "example", "spans")  # of an entry; null where it is not known
_LARGEST_OFFSET = 2**31  # no message shows a number of thousands of digits
_NO_OTHER_KEYS = ConfigDict(extra="forbid")
T = TypeVar("T")


def _concept_id(text: str) -> str:
    if not CONCEPT_ID.fullmatch(text):
        raise ValueError("must be lower-case letters, digits and hyphens")
    return text


def visible_text(text: str) -> str:
    """Return a text; raise ValueError if it holds a character that cannot be seen, such as a bidirectional control."""
    character = first_unseen(text)
    if character:
        raise ValueError(f"has U+{ord(character):04X}, which cannot be seen; remove it")
    return text


def _note(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty; write null if it is not known")
    return visible_text(text)


def _text(text: str, info: ValidationInfo) -> str:
    """Return a text that is written as the lexicon stores texts of a language, which is the context."""
    language: Language = info.context  # type: ignore[assignment]
    # Of the cleaned text, because a letter that is not composed would be named as a letter and a foreign mark.
    cleaned = clean(text, language)
    outside = letters_outside(cleaned, language)
    if outside:
        letters = ", ".join(f"{display(letter)} (U+{ord(letter):04X})" for letter in outside)
        raise ValueError(f"has {letters}, not in the {language.name} alphabet")
    if cleaned != text and cleaned:
        raise ValueError(f"is not normalised (NFC, single spaces); it should read {display(cleaned)}")
    return _note(text)


def offsets(spans: Sequence[Span]) -> list[list[int]]:
    """Return spans as they are written."""
    return [[span.start, span.end] for span in spans]


def as_spans(value: Any) -> tuple[Span, ...] | None:
    """Return the spans of a decoded list of [start, end] offsets."""
    if value is None:
        return None
    spans = []
    for pair in value if isinstance(value, list) else ():
        offsets = pair if isinstance(pair, list) else ()
        # Not isinstance, which takes True for a number.
        if len(offsets) == 2 and all(type(offset) is int and abs(offset) < _LARGEST_OFFSET for offset in offsets):
            spans.append(Span(*offsets))
    if not spans or len(spans) != len(value):
        raise ValueError("must be a list of [start, end] offsets, or null if the example is not annotated")
    return tuple(spans)


ConceptId = Annotated[str, AfterValidator(_concept_id)]
_Note = Annotated[str, AfterValidator(_note)]
_Text = Annotated[str, AfterValidator(_text)]
# Part of modern life in which a sentence plays; None where it plays elsewhere, or has no label
_Topic = Literal["work", "media", "internet", "politics", "school", "sport"] | None


@dataclass(frozen=True, slots=True)
class Concept:
    """One meaning that the languages share."""

    __pydantic_config__ = _NO_OTHER_KEYS

    id: ConceptId  # a readable slug that never changes
    gloss: Annotated[str, AfterValidator(visible_text)]  # what it means, in English
    pos: Literal["verb", "noun", "adjective", "adverb", "clause"] | None = None
    aliases: tuple[ConceptId, ...] = ()  # ids of former concepts that were merged into this one

    def to_json(self) -> str:
        """Return the concept as one line of ``concepts.jsonl``; what is not known is left out."""
        return json.dumps(_CONCEPT.dump_python(self, exclude_defaults=True), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class FurtherExample:
    """Another sentence for the training of span taggers."""

    __pydantic_config__ = _NO_OTHER_KEYS

    text: _Text
    spans: Annotated[tuple[Span, ...], BeforeValidator(lambda value: () if value == [] else as_spans(value))]
    topic: _Topic = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One idiom of one language; texts are in this language, and None where something is not known."""

    __pydantic_config__ = _NO_OTHER_KEYS

    concept: ConceptId
    idiom: _Text  # citation form
    meaning: _Text | None = None  # dictionary-style definition
    example: _Text | None = None  # sentence with the idiom in idiomatic use
    spans: Annotated[tuple[Span, ...] | None, BeforeValidator(as_spans)] = None  # of the idiom in the example
    variants: tuple[_Text, ...] = ()  # other citation forms
    examples: tuple[FurtherExample, ...] = ()  # for training; one without spans has no idiom, or its words literally
    topic: _Topic = None  # of the example
    literal_example: _Text | None = None  # sentence with the same words in literal use
    # The sentence that the next two reword, where it is not the example: an example whose context leaves no doubt about
    # the idiom seldom stays sensible with a literal rewording.
    paraphrased_example: _Text | None = None
    paraphrase: _Text | None = None  # with the idiom replaced by what it means
    literal_paraphrase: _Text | None = None  # with the idiom replaced by what its words literally say
    source: _Note | None = None  # where the entry is from
    attested: _Note | None = None  # a public source in which the form is found
    per_million: Annotated[float, Field(gt=0)] | None = None  # how often found text has it, per million words
    collocation: StrictBool = False  # an ordinary collocation rather than an idiom, and so no test query
    status: dict[str, Any] | Annotated[str, AfterValidator(visible_text)] | None = None  # verdicts of its checks

    @property
    def original(self) -> str | None:
        """Return the sentence that `paraphrase` and `literal_paraphrase` reword."""
        return self.paraphrased_example or self.example

    def to_json(self) -> str:
        """Return the entry as one line of a lexicon file: keys in a fixed order, empty optional ones left out."""
        row: dict[str, Any] = {}
        for key in self.__dataclass_fields__:
            value = getattr(self, key)
            if value or key in _REQUIRED_KEYS:
                row[key] = value
        if self.spans is not None:
            row["spans"] = offsets(self.spans)
        if self.examples:
            row["examples"] = []
            for further in self.examples:
                topic = {"topic": further.topic} if further.topic else {}
                row["examples"].append({"text": further.text, "spans": offsets(further.spans)} | topic)
        return json.dumps(row, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Equivalent:
    """A line of ``equivalents.jsonl``: two concepts that mean the same or nearly the same."""

    __pydantic_config__ = _NO_OTHER_KEYS

    concepts: tuple[str, str]  # sorted, so that a pair that is judged in both orders is found
    judgement: Literal["same", "near"]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Concepts and the entries of each language."""

    concepts: Mapping[str, Concept]  # by id
    entries: Mapping[str, Mapping[str, Entry]]  # language code -> concept id -> entry, in the order of the files
    revision: str  # content hash, 40 hexadecimal digits; the same for the same lines in any order
    source: str = field(default="", compare=False)  # what it was read from, as shown to the user
    # Pairs of concept ids, each sorted -> ``same`` (interchangeable) or ``near``, sorted by the ids.
    equivalents: Mapping[tuple[str, str], str] = field(default_factory=dict)
    reviews: Sequence[Review] = ()  # sorted by language, concept and reviewer; not part of the revision

    def of(self, language: str) -> Mapping[str, Entry]:
        """Return the entries of a language by concept id; empty when the lexicon does not have the language."""
        return self.entries.get(language, {})

    def reviews_of(self, language: str) -> dict[str, list[Review]]:
        """Return concept -> its reviews that count."""
        entries = self.of(language)
        reviews: dict[str, list[Review]] = {}
        # A review counts while the idiom reads as it did when it was reviewed; the others are history.
        for review in self.reviews:
            entry = entries.get(review.concept) if review.language == language else None
            if entry is not None and entry.idiom == review.idiom:
                reviews.setdefault(review.concept, []).append(review)
        return reviews

    def reviewed(self, language: str) -> set[str]:
        """Return the concepts whose entry was judged by somebody who knew the idiom."""
        reviews = self.reviews_of(language)
        return {concept for concept, rows in reviews.items() if any(review.knows_idiom for review in rows)}

    @property
    def is_reviewed(self) -> bool:
        """Return whether a native speaker has judged any entry as it reads now."""
        return any(self.reviewed(code) for code in self.entries)

    def judged(self, *judgements: str) -> dict[str, set[str]]:
        """Return concept -> the concepts that were judged ``same``, ``near`` or either; empty sets are left out."""
        partners: dict[str, set[str]] = {}
        for (first, second), judgement in self.equivalents.items():
            if judgement in judgements:
                partners.setdefault(first, set()).add(second)
                partners.setdefault(second, set()).add(first)
        return partners

    def meaning_the_same(self, is_one: Callable[[str], bool]) -> set[str]:
        """Return the concepts that were judged to mean the same as one for which `is_one` holds."""
        return {concept for concept, partners in self.judged(SAME).items() if any(map(is_one, partners))}


_ENTRY, _CONCEPT, _EQUIVALENT = TypeAdapter(Entry), TypeAdapter(Concept), TypeAdapter(Equivalent)


def parse_entry(row: Any, language: Language, *, declared: Container[str] = ()) -> tuple[Entry | None, list[str]]:
    """Return the entry in a decoded JSON line (None if anything is wrong), and everything that is wrong with it.

    Its concept must be one of those that are declared, unless there are none.
    """
    optional = set(Entry.__dataclass_fields__) - set(_REQUIRED_KEYS)
    parsed = parse_row(_ENTRY, row, _REQUIRED_KEYS, optional=optional, context=language)
    entry = parsed[0]
    if entry is not None and entry.spans is not None:
        problem = span_problem(entry.spans, entry.example) if entry.example else "needs an example; write null"
        if problem:
            return None, [f"field 'spans': {problem}"]
    for further in entry.examples if entry is not None else ():
        problem = span_problem(further.spans, further.text) if further.spans else None
        if problem:
            return None, [f"field 'examples': {display(further.text)}: {problem}"]
    if entry is not None and declared and entry.concept not in declared:
        return None, [f"concept {entry.concept!r} is not in concepts.jsonl; add it there"]
    return parsed


def parse_concept(row: Any) -> tuple[Concept | None, list[str]]:
    """Return the concept in a decoded JSON line (None if anything is wrong), and everything that is wrong with it."""
    return parse_row(_CONCEPT, row, optional=("pos", "aliases"))


def parse_equivalent(row: Any, concepts: Container[str]) -> tuple[Equivalent | None, list[str]]:
    """Return the judgement in a decoded JSON line (None if anything is wrong), and everything that is wrong with it."""
    parsed = parse_row(_EQUIVALENT, row)
    if parsed[0] is None:
        return parsed
    first, second = sorted(parsed[0].concepts)
    for name in (first, second):
        if name not in concepts:
            return None, [f"concept {display(name)} is not in the lexicon; add it, or remove the pair"]
    if first == second:
        return None, [f"concept {display(first)}: a concept is paired with itself; remove the pair"]
    return replace(parsed[0], concepts=(first, second)), []


def parse_row(
    adapter: TypeAdapter[T],
    row: Any,
    required: Sequence[str] = (),
    *,
    optional: Container[str] = (),
    context: Any = None,
) -> tuple[T | None, list[str]]:
    """Return what a decoded JSON line states (None if anything is wrong), and everything that is wrong with it.

    Required are keys that must be there although the adapter has a default for them, because null is to be stated; in
    optional ones null is the same as no such key.
    """
    if not isinstance(row, dict):
        return None, [f"expected a JSON object, found {type(row).__name__}"]
    problems = [f"field {key!r} is missing" for key in required if key not in row]
    stated = {key: value for key, value in row.items() if value is not None or key not in optional}
    try:
        value = adapter.validate_python(stated, context=context)
    except ValidationError as error:
        # Pydantic, too, names a missing key if the adapter has no default for it, so each fault is listed once.
        return None, list(dict.fromkeys([*problems, *faults(error)]))
    return (None if problems else value), problems
