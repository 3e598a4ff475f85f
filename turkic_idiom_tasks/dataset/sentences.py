"""Tagged sentences: the examples of a lexicon, split into words, each with the tag that its spans give it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, model_validator

from turkic_idiom_tasks.io.reading import MalformedError
from turkic_idiom_tasks.lexicon.entries import ConceptId, Lexicon, as_spans
from turkic_idiom_tasks.spans import LABELS, Span, iob2_tags, span_problem, tagged_spans
from turkic_idiom_tasks.splits import SPAN_SPLITS, TEST, span_split

# U+02BB and U+02BC of Uzbek are letters (\w); other apostrophes belong to a word only inside it (Ankara'ya).
_LETTER = r"[\w\u0300-\u036f]"
_WORD = re.compile(rf"{_LETTER}+(?:['\u2018\u2019\u201b`\u00b4]{_LETTER}+)*|[^\w\s]")


@dataclass(frozen=True, slots=True)
class TaggedSentence:
    """One sentence with the tags of its words."""

    id: str  # unique within its language; the concept where it comes from a lexicon
    language: str  # code
    idiom: str  # citation form; its sentences are all in one split
    sentence: str  # NFC
    tokens: tuple[str, ...]
    tags: tuple[str, ...]  # IOB2, one for each token

    def spans(self) -> tuple[Span, ...]:
        """Return the spans of the tagged idioms in the sentence."""
        return tagged_spans(self.tags, locate(self.tokens, self.sentence))

    def document(self) -> dict[str, Any]:
        """Return the sentence as a row of a dataset and as an lm-eval document; tags are positions in `LABELS`."""
        spans = [{"start": span.start, "end": span.end, "text": span.of(self.sentence)} for span in self.spans()]
        return {
            "id": self.id,
            "lang": self.language,
            "idiom": self.idiom,
            "sentence": self.sentence,
            "tokens": list(self.tokens),
            "ner_tags": [LABELS.index(tag) for tag in self.tags],
            "spans": spans,
        }


class FoundUse(BaseModel):
    """One use of an idiom, or of its words, in found text, as a dataset has it."""

    id: ConceptId  # in the form of a concept's id
    concept: ConceptId
    idiom: str  # citation form
    sentence: str  # NFC
    sense: Literal["idiomatic", "literal"]
    spans: Annotated[tuple[Span, ...], BeforeValidator(as_spans)]  # of the words of the idiom
    answerable: bool  # whether readers could tell the idiom from the rest of the sentence

    @model_validator(mode="after")
    def _check_spans(self) -> Self:
        problem = span_problem(self.spans, self.sentence)
        if problem:
            raise ValueError(f"{problem}; write the dataset again with `turkic-idiom dataset found`")
        return self


class TestSentences:
    """Test sentences of one language, sorted by id, so that a position stands for a sentence."""

    __test__ = False  # pytest would otherwise collect it as a test class

    def __init__(self, language: str, sentences: Sequence[TaggedSentence]) -> None:
        self.language = language
        self.rows = tuple(sorted(sentences, key=lambda sentence: sentence.id))
        self.row = {sentence.id: position for position, sentence in enumerate(self.rows)}  # id -> position
        clusters = idiom_clusters(self.rows)
        self.concepts = tuple(clusters[sentence.id] for sentence in self.rows)  # what is resampled together


def words(sentence: str) -> list[Span]:
    """Return the spans of the words of an NFC sentence, in order; every punctuation mark is a word of its own."""
    return [Span(*match.span()) for match in _WORD.finditer(sentence)]


def locate(tokens: Sequence[str], sentence: str) -> list[Span]:
    """Return the spans of given tokens in their sentence; each token is searched behind the one before it."""
    spans: list[Span] = []
    end = 0  # of the token before, so that the second of two equal tokens is not found at the place of the first
    for token in tokens:
        start = sentence.find(token, end) if token else -1
        if start < 0:
            raise MalformedError(f"token {token!r} is not in the sentence after character {end}: {sentence!r}")
        end = start + len(token)
        spans.append(Span(start, end))
    return spans


def lexicon_sentences(lexicon: Lexicon, language: str) -> dict[str, list[TaggedSentence]]:
    """Return split -> annotated examples of a language, by concept; training and validation have more sentences."""
    sentences: dict[str, list[TaggedSentence]] = {split: [] for split in SPAN_SPLITS}
    for concept, entry in sorted(lexicon.of(language).items()):
        split = span_split(concept)
        if entry.example is not None and entry.spans is not None:
            sentences[split].append(tag_sentence(concept, language, entry.idiom, entry.example, entry.spans))
        if split == TEST:  # a concept is tested by one sentence, so that every idiom counts the same
            continue
        for number, further in enumerate(entry.examples, start=2):
            name = f"{concept}/{number}"
            sentences[split].append(tag_sentence(name, language, entry.idiom, further.text, further.spans))
        # Most sentences of a text have no idiom, and a tagger that has seen few such sentences marks too much.
        triple = {"literal_example": entry.literal_example, "paraphrase": entry.paraphrase}
        for field, literal in (triple | {"literal_paraphrase": entry.literal_paraphrase}).items():
            if literal is not None:
                sentences[split].append(tag_sentence(f"{concept}/{field}", language, entry.idiom, literal, ()))
    return sentences


def tag_sentence(name: str, language: str, idiom: str, text: str, spans: Sequence[Span]) -> TaggedSentence:
    """Return an NFC sentence, split into words, with the tags that its spans give."""
    places = words(text)
    tokens = tuple(place.of(text) for place in places)
    return TaggedSentence(name, language, idiom, text, tokens, tuple(iob2_tags(tuple(spans), places)))


def idiom_clusters(sentences: Sequence[TaggedSentence]) -> Mapping[str, str]:
    """Return sentence id -> a name of its idiom: the smallest id among the sentences of the idiom."""
    # In a lexicon this is the concept, so that sentences of one concept in several languages are resampled together.
    smallest_id: dict[str, str] = {}  # idiom -> id
    for sentence in sentences:
        smallest_id[sentence.idiom] = min(sentence.id, smallest_id.get(sentence.idiom, sentence.id))
    return {sentence.id: smallest_id[sentence.idiom] for sentence in sentences}
