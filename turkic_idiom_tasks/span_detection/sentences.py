"""Tagged sentences: the examples of a lexicon with their spans, or the span configs of a dataset in the Hub layout."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES, Language
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.lexicon.sources import HubDataset, asked_data, open_data
from turkic_idiom_tasks.span_detection.words import locate, words
from turkic_idiom_tasks.spans import LABELS, Span, iob2_tags, tagged_spans
from turkic_idiom_tasks.splits import span_split

SPLITS = ("train", "validation", "test")
COLUMNS = ("id", "idiom", "sentence", "tokens", "ner_tags")


@dataclass(frozen=True, slots=True)
class TaggedSentence:
    """One sentence with the tags of its words.

    Attributes:
        id: unique within its language; the concept where it comes from a lexicon.
        language: code.
        idiom: citation form; its sentences are all in one split.
        sentence: NFC text.
        tokens: the words, in order.
        tags: the IOB2 tag of each word.
    """

    id: str
    language: str
    idiom: str
    sentence: str
    tokens: tuple[str, ...]
    tags: tuple[str, ...]

    def spans(self) -> tuple[Span, ...]:
        """Where the tagged idioms stand in the sentence."""
        return tagged_spans(self.tags, locate(self.tokens, self.sentence))

    def document(self) -> dict[str, Any]:
        """The sentence as a row of a dataset and as an lm-eval document; tags are positions in `LABELS`."""
        return {
            "id": self.id,
            "lang": self.language,
            "idiom": self.idiom,
            "sentence": self.sentence,
            "tokens": list(self.tokens),
            "ner_tags": [LABELS.index(tag) for tag in self.tags],
            "spans": [{"start": s.start, "end": s.end, "text": s.of(self.sentence)} for s in self.spans()],
        }


@dataclass(frozen=True, slots=True, eq=False)
class SpanSource:
    """The tagged sentences of one data set.

    Attributes:
        path: what it was read from, as results name it.
        revision: content hash or Hub commit, 40 hexadecimal digits.
        languages: codes of the languages with a test sentence.
    """

    path: str
    revision: str
    languages: tuple[str, ...]
    _data: Lexicon | HubDataset

    def load(self, language: str) -> dict[str, list[TaggedSentence]]:
        """Split -> sentences of a language, by id.

        Raises:
            InputError: the data has no test sentence in the language, or a row is malformed.
        """
        if language not in self.languages:
            have = ", ".join(self.languages) or "none"
            raise InputError(
                f"{self.path}: no annotated test sentence in {LANGUAGES[language].name} ({language}); languages that "
                f"have some: {have}; leave the others out of --tasks"
            )
        if isinstance(self._data, Lexicon):
            return lexicon_sentences(self._data, language)
        splits = {split: _hub_sentences(self._data, language, split) for split in SPLITS}
        if not splits["test"]:
            raise InputError(f"{self.path}, config span-{language}: no annotated test sentence; add some or delete it")
        return splits


def current_spans() -> SpanSource:
    """The sentences of what TURKIC_IDIOM_DATA names, otherwise of the bundled lexicon.

    Raises:
        InputError: it cannot be used; says why.
    """
    return open_spans(asked_data())


@lru_cache(maxsize=8)
def open_spans(name: str) -> SpanSource:
    """The sentences of the data that `name` stands for, as in `lexicon.sources.open_data`.

    Raises:
        InputError: there is no such data, it is malformed, or it has no annotated sentence.
    """
    path, data = open_data(name)
    if isinstance(data, Lexicon):
        languages = tuple(code for code in LANGUAGES if lexicon_sentences(data, code)["test"])
    else:
        languages = tuple(code for code in LANGUAGES if "test" in data.configs.get(f"span-{code}", ()))
    if not languages:
        raise InputError(
            f"{path}: no annotated test sentence in any language; a lexicon needs entries with example and spans "
            "(turkic-idiom dataset annotate adds them), a dataset in the Hub layout configs such as span-tr"
        )
    return SpanSource(path, data.revision, languages, data)


def lexicon_sentences(lexicon: Lexicon, language: str) -> dict[str, list[TaggedSentence]]:
    """Split -> the annotated examples of a language, by concept."""
    found: dict[str, list[TaggedSentence]] = {split: [] for split in SPLITS}
    for concept, entry in sorted(lexicon.of(language).items()):
        if entry.example is not None and entry.spans is not None:
            row = tag_sentence(concept, entry.idiom, entry.example, entry.spans, language=LANGUAGES[language])
            found[span_split(concept)].append(row)
    return found


def tag_sentence(key: str, idiom: str, sentence: str, spans: tuple[Span, ...], *, language: Language) -> TaggedSentence:
    """A sentence with the tags that its spans give its words."""
    places = words(sentence)
    tokens = tuple(place.of(sentence) for place in places)
    return TaggedSentence(key, language.code, idiom, sentence, tokens, tuple(iob2_tags(spans, places)))


def _hub_sentences(dataset: HubDataset, language: str, split: str) -> list[TaggedSentence]:
    config = f"span-{language}"
    if split != "test" and split not in dataset.configs[config]:
        return []
    columns = dataset.columns(config, split, COLUMNS)
    rows = zip(*(columns[name] for name in COLUMNS), strict=True)
    place = f"{dataset.path}, config {config}, split {split}"
    names = dataset.label_names(config, split, "ner_tags")
    if names is not None and names != list(LABELS):
        raise InputError(f"{place}: ner_tags are numbers of {', '.join(names)}; number them as {', '.join(LABELS)}")
    sentences = [_hub_sentence(row, language, place=place) for row in rows]
    seen: set[str] = set()
    for sentence in sentences:
        if sentence.id in seen:
            raise InputError(f"{place}, id {sentence.id!r}: stands in two rows; give every sentence an id of its own")
        seen.add(sentence.id)
    return sentences


def _hub_sentence(row: tuple[Any, ...], language: str, *, place: str) -> TaggedSentence:
    key, idiom, sentence, tokens, numbers = row
    problem = _row_problem(dict(zip(COLUMNS, row, strict=True)))
    if problem:
        raise InputError(f"{place}, id {key!r}: {problem}")
    tags = tuple(number if isinstance(number, str) else LABELS[int(number)] for number in numbers)
    text, words_of = unicodedata.normalize("NFC", sentence), [unicodedata.normalize("NFC", token) for token in tokens]
    return TaggedSentence(str(key), language, idiom, text, tuple(words_of), tags)


def _row_problem(row: Mapping[str, Any]) -> str | None:
    """What is wrong with a row of a span config, or None."""
    for name in ("idiom", "sentence"):
        if not isinstance(row[name], str) or not row[name]:
            return f"{name} must be a text, not {row[name]!r}"
    tokens, tags = row["tokens"] or [], row["ner_tags"] or []
    if not isinstance(tokens, list) or not isinstance(tags, list):
        return f"tokens and ner_tags must be lists, not {tokens!r} and {tags!r}"
    if not tokens or len(tokens) != len(tags):
        return f"needs as many tokens as ner_tags, and at least one; found {len(tokens)} and {len(tags)}"
    wrong = [token for token in tokens if not isinstance(token, str)]
    if wrong:
        return f"token {wrong[0]!r} is no text"
    known = (*range(len(LABELS)), *LABELS)
    unknown = [tag for tag in tags if tag not in known]
    if unknown:
        return f"ner_tags has {unknown[0]!r}; use {', '.join(LABELS)} or their numbers 0, 1, 2"
    try:
        locate(tokens, row["sentence"])
    except ValueError as error:
        return str(error)
    return None
