"""Reading of the answer of a model as tags of the words of the sentence.

The prompts ask for a JSON object ``{"idioms": [...]}`` with every idiom as the sentence writes it, or for the sentence
with ``<idiom>`` tags around the idioms; a token classifier answers ``{"bio": [...]}``. The strict reading accepts only
these formats, exact to the letter. The flexible reading also accepts the usual deviations of language models: prose
around the JSON, an incomplete JSON text, lists and bullets, lines of tags, small mistakes in a copied sentence, an
idiom in its citation form. An answer that cannot be read is a format error, and marks nothing.

Reasoning in ``<think>`` tags is ignored, and so is everything after a question that the model asks itself. Reasoning
that never ends is a format error: allow enough tokens for a reasoning model with ``--gen_kwargs max_gen_toks=8192``.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice
from typing import Any

from turkic_idiom_tasks.dataset.sentences import words
from turkic_idiom_tasks.languages import Language
from turkic_idiom_tasks.model_answers import MAX_ANSWER, without_reasoning
from turkic_idiom_tasks.orthography import fold, lower
from turkic_idiom_tasks.spans import LABELS, OUTSIDE, Span
from turkic_idiom_tasks.tasks.spans.lookup import EDGE_SIGNS, SearchableSentence
from turkic_idiom_tasks.tasks.spans.prompts import own_turns

MAX_TURNS = 10  # turns that are read if a model repeats its question and answers it again
MAX_JSON_VALUES = 50  # JSON values that are read in one answer: without a limit 10,000 brackets take 1.5 seconds
MAX_IDIOMS = 100  # an answer with more idioms is a format error
MAX_LINE = 12  # words; a longer line is prose and not an idiom

_KEYS = ("idioms", "idiom", "deyimler", "deyim", "ifadələr", "iboralar", "spans", "answer")
_TEXT_KEYS = ("text", "idiom", "span")
_NONE = {"none", "no idiom", "no idioms", "null", "n/a", "yok", "yoktur", "deyim yok", "deyim yoktur", "yoxdur"}
_NONE |= {"deyim yoxdur", "ýok", "yoʻq", "yo'q", "yo‘q", "yo’q", "ibora yoʻq"}
_FENCE = re.compile(r"```\w*\n?")
_XML_TAG = re.compile(r"<(/?)idiom>", re.IGNORECASE)
_BULLET = re.compile(r"^(?:[-*•]|\d+[.)])\s*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)"')
_GAP = re.compile(r"\.\.\.|…|/")  # between the parts of an interrupted idiom
_JSON_START = re.compile(r"[\[{]")

Tags = tuple[str, ...]


def read_answer(
    response: Any, sentence: str, tokens: Sequence[str], language: Language, *, strict: bool
) -> Tags | None:
    """Return the tags that a response gives to the tokens of an NFC sentence, or None for a format error.

    No response makes it raise an error; one that is no text is a format error. The language decides how letters are
    compared. With `strict` only the formats that the prompts ask for are accepted, exact to the letter.
    """
    searchable = SearchableSentence(sentence, tokens, language)
    read = _read_strictly if strict else _read_flexibly
    text = unicodedata.normalize("NFC", without_reasoning(response)) if isinstance(response, str) else ""
    turns = own_turns(_FENCE.sub("", text), searchable.is_copied_by)
    for turn in islice(turns, 1 if strict else MAX_TURNS):
        part = turn.strip()
        tags = read(part, searchable) if 0 < len(part) <= MAX_ANSWER else None
        if tags is not None:
            return tags
    return None


def _read_strictly(text: str, sentence: SearchableSentence) -> Tags | None:
    is_copy = _XML_TAG.sub("", text) == sentence.text.strip()
    slashes = _XML_TAG.findall(text)
    if slashes or is_copy:  # the sentence without tags is the right answer where there is no idiom
        are_pairs = slashes == ["", "/"] * (len(slashes) // 2)
        return _read_tagged(text, sentence) if is_copy and are_pairs else None
    values = list(_json_values(text))
    # Anything before or after the object would be prose
    if len(values) != 1 or not isinstance(values[0], dict) or not (text[0] == "{" and text[-1] == "}"):
        return None
    if isinstance(values[0].get("bio"), list):
        return _read_tags(values[0]["bio"], sentence)
    idioms = values[0].get("idioms")
    if not isinstance(idioms, list) or not all(isinstance(idiom, str) for idiom in idioms):
        return None
    return _look_up(idioms, sentence, strict=True)


def _read_flexibly(text: str, sentence: SearchableSentence) -> Tags | None:
    values = list(_json_values(text))
    for value in values:
        if isinstance(value, dict) and isinstance(value.get("bio"), list):
            tags = [tag.upper() if isinstance(tag, str) else tag for tag in value["bio"]]
            return _read_tags(tags, sentence)
    for value in reversed(values):  # the last value is the model's final answer
        idioms = _named_idioms(value)
        if idioms is not None:
            return _look_up(idioms, sentence)
    if _XML_TAG.search(text):
        return _read_tagged(text, sentence)
    lines = [line.upper().split() for line in text.splitlines() if line.strip()]
    # A line of tags, or lines that each end with a tag, ``gözden B-IDIOM``
    tags = [word.strip("[],'\"") for word in lines[0]] if len(lines) == 1 else [line[-1] for line in lines]
    if all(tag in LABELS for tag in tags):
        return _read_tags(tags, sentence)
    bare = text.strip(EDGE_SIGNS)
    says_none = bare.lower() in _NONE or lower(bare, sentence.language) in _NONE  # "No idiom", "DEYİM YOK"
    if says_none or sentence.is_copied_by(text):
        return sentence.tags([])
    return _read_prose(text, sentence)


def _read_prose(text: str, sentence: SearchableSentence) -> Tags | None:
    """Look up the texts in quotation marks of an incomplete JSON text, or every line, but no copy of the sentence."""
    json_start = _JSON_START.search(text)
    if json_start:
        candidates = []
        position = text.find('"', json_start.start())
        while position >= 0:
            quoted = _QUOTED.match(text, position)
            if quoted is None:  # a mark that is not closed; what follows is cut off in the middle
                break
            if quoted[1].lower() not in _KEYS:
                candidates.append(quoted[1])
            position = text.find('"', quoted.end())
    else:
        candidates = [_BULLET.sub("", line.strip()).strip(EDGE_SIGNS) for line in text.splitlines()]
    idioms = []
    for candidate in candidates:
        if 0 < len(candidate.split()) <= MAX_LINE and not sentence.is_copied_by(candidate):
            idioms.append(candidate)
    tags = _look_up(idioms, sentence)
    # Prose in which no idiom is found does not say that there is none, so it is a format error
    marks_anything = tags is not None and any(tag != OUTSIDE for tag in tags)
    return tags if marks_anything else None


def _json_values(text: str) -> Iterator[Any]:
    """Yield the JSON objects and arrays in a text that are not parts of another one."""
    decoder = json.JSONDecoder()
    position = 0
    for _ in range(MAX_JSON_VALUES):
        start = _JSON_START.search(text, position)
        if start is None:
            return
        try:
            value, position = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):  # the latter for thousands of brackets, one in the other
            position = start.start() + 1
        else:
            yield value


def _named_idioms(value: Any) -> list[str] | None:
    """Return the idioms in a JSON value, or None if the value has none of the expected forms."""
    if isinstance(value, dict):
        known_keys = [key for key in _KEYS if key in value]
        if not known_keys:
            return None
        value = value[known_keys[0]]
    if value is None:
        return []
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list):
        return None
    idioms = []
    for item in items:
        if isinstance(item, dict):
            texts = [item[key] for key in _TEXT_KEYS if key in item]
            item = texts[0] if texts else None
        if not isinstance(item, str):
            return None
        idioms.append(item)
    return idioms


def _read_tags(tags: list[Any], sentence: SearchableSentence) -> Tags | None:
    are_tags = len(tags) == len(sentence.tokens) and all(tag in LABELS for tag in tags)
    return tuple(tags) if are_tags else None


def _read_tagged(text: str, sentence: SearchableSentence) -> Tags:
    """Read a copy of the sentence with tags; if it is not an exact copy, its words are aligned with the sentence."""
    copy = ""
    marks: list[Span] = []  # in the copy
    opened: int | None = None
    position = 0
    for tag in _XML_TAG.finditer(text):
        copy += text[position : tag.start()]
        position = tag.end()
        if tag[1] and opened is not None:
            marks.append(Span(opened, len(copy)))
        opened = None if tag[1] else len(copy)  # a tag that is never closed marks nothing
    copy += text[position:]
    bare = copy.strip()
    if bare == sentence.text.strip():
        shift = sentence.text.index(bare) - copy.index(bare)
        spans = [Span(mark.start + shift, mark.end + shift) for mark in marks if mark.start < mark.end]
    else:
        spans = _aligned_marks(copy, marks, sentence)
    return sentence.tags(spans)


def _aligned_marks(copy: str, marks: Sequence[Span], sentence: SearchableSentence) -> list[Span]:
    """Return the spans in the sentence of the marked words of a copy."""
    # By words, because the copy may have mistakes in the others
    copied_words = words(copy)
    copied = [fold(word.of(copy), sentence.language) for word in copied_words]
    folded = [word.of(sentence.folded) for word in sentence.words]
    # Without autojunk=False, difflib ignores the most frequent words of a copy with 200 words or more
    matcher = SequenceMatcher(None, folded, copied, autojunk=False)
    marked_words: dict[int, list[Span]] = {}  # number of a mark -> words of the sentence
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            copied_word = copied_words[block.b + step]
            for number, mark in enumerate(marks):
                if mark.start < copied_word.end and copied_word.start < mark.end:
                    marked_words.setdefault(number, []).append(sentence.words[block.a + step])
                    break  # a word belongs to the first mark that overlaps with it
    return [Span(places[0].start, places[-1].end) for places in marked_words.values()]


def _look_up(idioms: Sequence[str], sentence: SearchableSentence, *, strict: bool = False) -> Tags | None:
    """Look up idioms in the sentence, each at its first free place."""
    if len(idioms) > MAX_IDIOMS:
        return None
    spans: list[Span] = []
    # The longest first, because a shorter one may be a part of it and would take its place
    for idiom in sorted(idioms, key=len, reverse=True):
        normal = unicodedata.normalize("NFC", idiom)
        parts = [normal] if strict else _GAP.split(normal)[:MAX_IDIOMS]
        for part in parts:
            place = sentence.find(part, spans, strict=strict)
            if place is not None:
                spans.append(place)
    return sentence.tags(spans)
