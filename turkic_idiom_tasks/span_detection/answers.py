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
from typing import Any

from turkic_idiom_tasks.languages import Language
from turkic_idiom_tasks.orthography import fold
from turkic_idiom_tasks.span_detection.words import locate, words
from turkic_idiom_tasks.spans import LABELS, OUTSIDE, Span, iob2_tags

LONGEST_ANSWER = 20_000  # characters, reasoning not counted; a longer answer is a format error
MOST_JSON_VALUES = 50  # looked for in one answer
LONGEST_LINE = 12  # words; a longer line is prose, no idiom
_KEYS = ("idioms", "idiom", "deyimler", "deyim", "ifadələr", "iboralar", "spans", "answer")
_TEXT_KEYS = ("text", "idiom", "span")
_REASONING_END = "</think>"
_FENCE = re.compile(r"```\w*\n?")
_XML_TAG = re.compile(r"<(/?)idiom>", re.I)
_NONE = re.compile(r"\W*(none|no idioms?|null|n/a|(deyim )?yok(tur)?|(deyim )?yoxdur|ýok|yo[ʻ'’‘`]q)\W*", re.I)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_QUOTES = " \t\"'“”„«»‘’`*.,;:!?"
_GAP = re.compile(r"\s*(?:\.\.\.|…|/)\s*")
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


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    """The sentence that was asked about; `places` are its tokens, `words` what idioms are looked up in."""

    sentence: str
    language: Language
    places: list[Span]
    words: list[Span]

    def answer(self, spans: Sequence[Span], *, unmatched: int = 0) -> Answer:
        return Answer(tuple(iob2_tags(sorted(spans), self.places)), unmatched_spans=unmatched)

    def error(self) -> Answer:
        return Answer((OUTSIDE,) * len(self.places), format_error=True)


def read_answer(response: Any, sentence: str, tokens: Sequence[str], language: Language, *, strict: bool) -> Answer:
    """The tags that a response gives the tokens of a sentence; never raises, whatever the response is.

    Args:
        response: text of the model; anything else is a format error.
        sentence: NFC text.
        tokens: its words, in order.
        language: decides how letters are compared.
        strict: take only the formats that were asked for, exact to the letter.
    """
    question = _Question(sentence, language, locate(tokens, sentence), words(sentence))
    if not isinstance(response, str):
        return question.error()
    text = unicodedata.normalize("NFC", response.rpartition(_REASONING_END)[2])
    text = _FENCE.sub("", text).strip()
    if not text or len(text) > LONGEST_ANSWER or "<think>" in text:  # reasoning that breaks off holds no answer
        return question.error()
    return _strict(text, question) if strict else _flexible(text, question)


def _strict(text: str, question: _Question) -> Answer:
    values = list(_json_values(text))
    if _XML_TAG.search(text) or text == question.sentence:
        slashes = _XML_TAG.findall(text)
        is_exact = _XML_TAG.sub("", text) == question.sentence and slashes == ["", "/"] * (len(slashes) // 2)
        return _tagged(text, question) if is_exact else question.error()
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
    if _XML_TAG.search(text) or text == question.sentence:
        return _tagged(text, question)
    tags = _tags_in(text)
    if tags is not None:
        return _bio(tags, question)
    if _NONE.fullmatch(text):
        return question.answer([])
    broken_off = _JSON_START.search(text)
    if broken_off:
        idioms = [found for found in _QUOTED.findall(text, broken_off.start()) if found.lower() not in _KEYS]
    else:
        idioms = [_BULLET.sub("", line).strip(_QUOTES) for line in text.splitlines()]
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
    """The words between tags, aligned with those of the sentence, so that a slip elsewhere in the copy does no harm."""
    copied: list[str] = []
    owner: list[int | None] = []  # which idiom of the answer a copied word belongs to
    inside, n_idioms, position = False, 0, 0
    for tag in (*_XML_TAG.finditer(text), None):
        part = text[position : tag.start() if tag else len(text)]
        found = [fold(word.of(part), question.language) for word in words(part)]
        closed = tag is not None and tag[1] == "/"
        copied += found
        owner += [n_idioms if inside and closed else None] * len(found)  # one that is never closed is none
        n_idioms += inside and closed
        inside = tag is not None and not closed
        position = tag.end() if tag else position
    ours = [fold(word.of(question.sentence), question.language) for word in question.words]
    members: dict[int, list[int]] = {}
    for ours_at, copied_at, length in SequenceMatcher(None, ours, copied, autojunk=False).get_matching_blocks():
        for step in range(length):
            idiom = owner[copied_at + step]
            if idiom is not None:
                members.setdefault(idiom, []).append(ours_at + step)
    spans = [Span(question.words[m[0]].start, question.words[m[-1]].end) for m in members.values()]
    return question.answer(spans, unmatched=n_idioms - len(members))


def _placed(idioms: Sequence[str], question: _Question, *, strict: bool = False) -> Answer:
    """Idioms looked up in the sentence, longest first, each at the first free place where it stands."""
    free = [True] * len(question.words)
    spans: list[Span] = []
    unmatched = 0
    for idiom in sorted(idioms, key=len, reverse=True):
        parts = [idiom] if strict else [part for part in _GAP.split(idiom) if part.strip(_QUOTES)]
        places = [_find(part, question, free, strict=strict) for part in parts]
        found = [place for place in places if place is not None]
        unmatched += not found
        for start, end in found:
            free[start:end] = [False] * (end - start)
            spans.append(Span(question.words[start].start, question.words[end - 1].end))
    return question.answer(spans, unmatched=unmatched)


def _find(idiom: str, question: _Question, free: list[bool], *, strict: bool) -> tuple[int, int] | None:
    """The half-open range of words where an idiom stands: word for word; else (flexible) by the stems of its words."""
    idiom = unicodedata.normalize("NFC", idiom)
    ours = [word.of(question.sentence) for word in question.words]
    wanted = [word.of(idiom) for word in words(idiom if strict else idiom.strip(_QUOTES))]
    if strict:
        return _window(wanted, ours, free, same=str.__eq__)
    ours, wanted = ([fold(word, question.language) for word in part] for part in (ours, wanted))
    exact = _window(wanted, ours, free, same=str.__eq__)
    if exact is not None:
        return exact
    if wanted:
        wanted[-1] = _without_infinitive(wanted[-1], question.language)
    return _window(wanted, ours, free, same=_same_stem)


def _window(wanted: list[str], ours: list[str], free: list[bool], *, same: Any) -> tuple[int, int] | None:
    for start in range(len(ours) - len(wanted) + 1) if wanted else ():
        end = start + len(wanted)
        if all(free[start:end]) and all(map(same, wanted, ours[start:end])):
            return start, end
    return None


def _same_stem(one: str, other: str) -> bool:
    """Whether two words begin alike for at least half of the shorter one, and at least two letters."""
    shared = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return shared >= max(2, (min(len(one), len(other)) + 1) // 2) or one == other


def _without_infinitive(word: str, language: Language) -> str:
    ending = next((e for e in language.infinitives if word.endswith(e) and len(word) > len(e) + 1), "")
    return word.removesuffix(ending)
