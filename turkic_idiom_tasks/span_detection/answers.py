"""What a model answered, as tags of the words of the sentence.

Asked for are a JSON object ``{"idioms": [...]}`` with every idiom as the sentence writes it, or the sentence with
``<idiom>`` tags around them; a token classifier answers ``{"bio": [...]}``. The strict reading takes these alone, exact
to the letter. The flexible one also takes what language models make of the question: prose around the JSON, a JSON text
that breaks off, lists and bullets, lines of tags, small slips in a copied sentence, an idiom in its citation form. What
neither can read is a format error, and marks nothing.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Any

from turkic_idiom_tasks.languages import Language
from turkic_idiom_tasks.orthography import fold, skeleton
from turkic_idiom_tasks.span_detection.words import locate, words
from turkic_idiom_tasks.spans import LABELS, OUTSIDE, Span, iob2_tags

LONGEST_ANSWER = 10_000  # characters, reasoning not counted; a longer answer is a format error
MOST_JSON_VALUES = 50  # looked for in one answer
MOST_IDIOMS = 100  # looked up in one sentence; a model that names more has not understood: a format error
LONGEST_LINE = 12  # words; a longer line is prose, no idiom
_KEYS = ("idioms", "idiom", "deyimler", "deyim", "ifadələr", "iboralar", "spans", "answer")
_TEXT_KEYS = ("text", "idiom", "span")
_REASONING_END = "</think>"
_FENCE = re.compile(r"```\w*\n?")
_XML_TAG = re.compile(r"<(/?)idiom>", re.I)
_NONE = {"none", "no idiom", "no idioms", "null", "n/a", "yok", "yoktur", "deyim yok", "deyim yoktur", "yoxdur"}
_NONE |= {"deyim yoxdur", "ýok", "yoʻq", "yo'q", "yo‘q", "yo’q", "ibora yoʻq"}
_BULLET = re.compile(r"(?:[-*•]|\d+[.)])\s*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)"')
_QUOTES = " \t\n\"'“”„«»‘’`*.,;:!?()[]"
_GAP = re.compile(r"\.\.\.|…|/")
_JSON_START = re.compile(r"[\[{]")


@dataclass(frozen=True, slots=True)
class Answer:
    """What was understood of an answer.

    Attributes:
        tags: one per token of the sentence.
        format_error: whether the answer could not be read; nothing is marked then.
        unmatched_spans: idioms that were named and do not stand in the sentence.
    """

    tags: tuple[str, ...]
    format_error: bool = False
    unmatched_spans: int = 0


@dataclass(frozen=True, eq=False)
class _Question:
    """The sentence that was asked about, and its words once and for all."""

    sentence: str
    language: Language
    places: list[Span]  # of the tokens

    def answer(self, spans: Sequence[Span], *, unmatched: int = 0) -> Answer:
        return Answer(tuple(iob2_tags(sorted(spans), self.places)), unmatched_spans=unmatched)

    def error(self) -> Answer:
        return Answer((OUTSIDE,) * len(self.places), format_error=True)

    @cached_property
    def words(self) -> list[Span]:
        return words(self.sentence)

    @cached_property
    def folded(self) -> str:
        return fold(self.sentence, self.language)

    @cached_property
    def stems(self) -> list[str]:
        return [skeleton(word.of(self.sentence), self.language) for word in self.words]

    @cached_property
    def edges(self) -> tuple[frozenset[int], frozenset[int]]:
        """Where an idiom may begin and end: with a word, or with a token."""
        units = [*self.words, *self.places]
        return frozenset(unit.start for unit in units), frozenset(unit.end for unit in units)


def read_answer(response: Any, sentence: str, tokens: Sequence[str], language: Language, *, strict: bool) -> Answer:
    """The tags that a response gives the tokens of a sentence; never raises, whatever the response is.

    Args:
        response: text of the model; anything else is a format error.
        sentence: NFC text.
        tokens: its words, in order.
        language: decides how letters are compared.
        strict: take only the formats that were asked for, exact to the letter.
    """
    question = _Question(sentence, language, locate(tokens, sentence))
    if not isinstance(response, str):
        return question.error()
    text = unicodedata.normalize("NFC", response.rpartition(_REASONING_END)[2])
    text = _FENCE.sub("", text).strip()
    if not text or len(text) > LONGEST_ANSWER or "<think>" in text:  # reasoning that breaks off holds no answer
        return question.error()
    return _strict(text, question) if strict else _flexible(text, question)


def _strict(text: str, question: _Question) -> Answer:
    if _XML_TAG.search(text) or text == question.sentence.strip():
        slashes = _XML_TAG.findall(text)
        is_copy = _XML_TAG.sub("", text) == question.sentence.strip()
        is_exact = is_copy and slashes == ["", "/"] * (len(slashes) // 2)
        return _tagged(text, question) if is_exact else question.error()
    values = list(_json_values(text))
    if len(values) != 1 or not isinstance(values[0], dict) or not (text[0] == "{" and text[-1] == "}"):
        return question.error()
    value = values[0]
    if isinstance(value.get("bio"), list):
        return _bio(value["bio"], question)
    idioms = value.get("idioms")
    if not isinstance(idioms, list) or not all(isinstance(idiom, str) for idiom in idioms):
        return question.error()
    return _placed(idioms, question, strict=True)


def _flexible(text: str, question: _Question) -> Answer:
    values = list(_json_values(text))
    for value in values:
        if isinstance(value, dict) and isinstance(value.get("bio"), list):
            return _bio([tag.upper() if isinstance(tag, str) else tag for tag in value["bio"]], question)
    for value in reversed(values):  # what a model settles on comes last
        idioms = _named_in(value)
        if idioms is not None:
            return _placed(idioms, question)
    if _XML_TAG.search(text) or text == question.sentence.strip():
        return _tagged(text, question)
    tags = _tags_in(text)
    if tags is not None:
        return _bio(tags, question)
    if text.strip(_QUOTES).lower() in _NONE:
        return question.answer([])
    broken_off = _JSON_START.search(text)
    if broken_off:
        idioms = [found for found in _quoted(text[broken_off.start() :]) if found.lower() not in _KEYS]
    else:
        lines = (line.strip() for line in text.splitlines())
        idioms = [line[bullet.end() :] if (bullet := _BULLET.match(line)) else line for line in lines]
        idioms = [idiom.strip(_QUOTES) for idiom in idioms]
    answer = _placed([i for i in idioms if i and len(i.split()) <= LONGEST_LINE], question)
    return answer if any(tag != OUTSIDE for tag in answer.tags) else question.error()


def _json_values(text: str) -> Iterator[Any]:
    """The JSON objects and arrays in a text that stand in no other one."""
    decoder = json.JSONDecoder()
    position = 0
    for _ in range(MOST_JSON_VALUES):
        found = _JSON_START.search(text, position)
        if found is None:
            return
        try:
            value, position = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            position = found.start() + 1
        else:
            yield value


def _quoted(text: str) -> Iterator[str]:
    """The texts in quotation marks, up to one that is never closed."""
    position = text.find('"')
    while position >= 0:
        found = _QUOTED.match(text, position)
        if found is None:
            return
        yield found[1]
        position = text.find('"', found.end())


def _named_in(value: Any) -> list[str] | None:
    """The idioms that a JSON value names, or None if it is no such value."""
    if isinstance(value, dict):
        key = next((key for key in _KEYS if key in value), None)
        if key is None:
            return None
        value = value[key]
    if value is None:
        return []
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list):
        return None
    found = []
    for item in items:
        if isinstance(item, dict):
            item = next((item[key] for key in _TEXT_KEYS if key in item), None)
        if not isinstance(item, str):
            return None
        found.append(item)
    return found


def _bio(tags: list[Any], question: _Question) -> Answer:
    if len(tags) != len(question.places) or not all(tag in LABELS for tag in tags):
        return question.error()
    return Answer(tuple(tags))


def _tags_in(text: str) -> list[str] | None:
    """The tags of a line of tags, or of lines that each end with one (``gözden B-IDIOM``); None if there are none."""
    upper = [line.upper().split() for line in text.splitlines() if line.strip()]
    if len(upper) == 1 and all(word.strip("[],'\"") in LABELS for word in upper[0]):
        return [word.strip("[],'\"") for word in upper[0]]
    if len(upper) > 1 and all(line[-1] in LABELS for line in upper):
        return [line[-1] for line in upper]
    return None


def _tagged(text: str, question: _Question) -> Answer:
    """The words that tags touch, aligned with those of the sentence: a slip elsewhere in the copy does no harm."""
    plain, marks = _without_tags(text)
    if plain.strip() == question.sentence.strip():  # copied to the letter: the very characters count
        shift = len(question.sentence) - len(question.sentence.lstrip()) - (len(plain) - len(plain.lstrip()))
        spans = [Span(mark.start + shift, mark.end + shift) for mark in marks if mark.start < mark.end]
        return question.answer(spans, unmatched=len(marks) - len(spans))
    copied = words(plain)
    ours, theirs = (
        [fold(word.of(source), question.language) for word in places]
        for source, places in ((question.sentence, question.words), (plain, copied))
    )
    members: dict[int, list[int]] = {}
    for ours_at, theirs_at, length in SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks():
        for step in range(length):
            place = copied[theirs_at + step]
            touched = next(
                (n for n, mark in enumerate(marks) if mark.start < place.end and place.start < mark.end), None
            )
            if touched is not None:
                members.setdefault(touched, []).append(ours_at + step)
    spans = [Span(question.words[m[0]].start, question.words[m[-1]].end) for m in members.values()]
    return question.answer(spans, unmatched=len(marks) - len(spans))


def _without_tags(text: str) -> tuple[str, list[Span]]:
    """A text without its tags, and what stood between them; a tag that is never closed marks nothing."""
    plain = ""
    marks: list[Span] = []
    opened: int | None = None
    position = 0
    for tag in _XML_TAG.finditer(text):
        plain += text[position : tag.start()]
        position = tag.end()
        if tag[1] and opened is not None:
            marks.append(Span(opened, len(plain)))
        opened = None if tag[1] else len(plain)
    return plain + text[position:], marks


def _placed(idioms: Sequence[str], question: _Question, *, strict: bool = False) -> Answer:
    """Idioms looked up in the sentence, longest first, each at the first free place where it stands."""
    if len(idioms) > MOST_IDIOMS:
        return question.error()
    spans: list[Span] = []
    unmatched = 0
    for idiom in sorted(idioms, key=len, reverse=True):
        normal = unicodedata.normalize("NFC", idiom)
        parts = [normal] if strict else [part for part in _GAP.split(normal)[:MOST_IDIOMS] if part.strip(_QUOTES)]
        found = False
        for part in parts:
            place = _find(part, question, spans, strict=strict)
            if place is not None:
                spans.append(place)
                found = True
        unmatched += not found
    return question.answer(spans, unmatched=unmatched)


def _find(idiom: str, question: _Question, taken: Sequence[Span], *, strict: bool) -> Span | None:
    """Where an idiom stands: word for word, whatever the white space; else (flexible) by the stems of its words."""
    if len(idiom) > 2 * len(question.sentence):
        return None
    text = idiom if strict else fold(idiom.strip(_QUOTES), question.language)
    words_of_idiom = r"\s+".join(map(re.escape, text.split()))
    pattern = f"(?=({words_of_idiom}))"  # looked for at every letter, for finds may overlap
    starts, ends = question.edges
    for found in re.finditer(pattern, question.sentence if strict else question.folded) if text.strip() else ():
        place = Span(*found.span(1))
        if place.start in starts and place.end in ends and _is_free(place, taken):
            return place
    return None if strict else _find_stems(text, question, taken)


def _find_stems(idiom: str, question: _Question, taken: Sequence[Span]) -> Span | None:
    """The first run of words that begin like those of an idiom: `gözünden düştü` for `gözden düşmek`."""
    wanted = [skeleton(word.of(idiom), question.language) for word in words(idiom)]
    for start in range(len(question.stems) - len(wanted) + 1) if wanted else ():
        end = start + len(wanted)
        place = Span(question.words[start].start, question.words[end - 1].end)
        if all(map(_same_stem, wanted, question.stems[start:end])) and _is_free(place, taken):
            return place
    return None


def _is_free(place: Span, taken: Sequence[Span]) -> bool:
    return not any(other.start < place.end and place.start < other.end for other in taken)


def _same_stem(one: str, other: str) -> bool:
    """Whether two skeletons begin alike for at least half of the shorter one, and at least two letters."""
    shared = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return shared >= max(2, (min(len(one), len(other)) + 1) // 2) or one == other
