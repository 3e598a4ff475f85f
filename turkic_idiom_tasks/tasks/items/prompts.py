"""Prompts for the items: three in English and one in the language of the idiom for each kind; and what they cost.

Every prompt has the same parts in the same order: the task with the form of the answer, the labelled idiom or
sentence, the options with their letters, and the label of the answer. The three English prompts differ in wording,
labels and signs around the letters, which is what the spread over prompts measures. An answer is one letter, or words
in an open task. The wordings are in ``wordings.yaml``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.tasks.items.item_types import CLOZE, LETTERS, MEANING, USAGE, Item

CLOZE_OPEN, RECALL = ("cloze_open", "recall")
# Other ways of asking the items of a kind: without options, and in `recall` for the idiom of a meaning
OPEN_TASKS = {CLOZE_OPEN: CLOZE, RECALL: MEANING}
VARIANTS = EN1, EN2, EN3, NATIVE = ("en1", "en2", "en3", "native")
# A rough mean. The vocabulary of all-MiniLM-L6-v2, which is English, gives 2.4 to 3.4 under the English prompts and 1.8
# to 2.3 under the native ones; multilingual vocabularies need fewer tokens.
CHARACTERS_PER_TOKEN = 2.5
ANSWER_TOKENS = 2  # a letter with the space before it

CountTokens = Callable[[str], float]


@dataclass(frozen=True, slots=True)
class Wording:
    """How the items are asked in one prompt; the fields are explained in ``wordings.yaml``."""

    tasks: dict[str, str]
    by_letter: str
    by_words: str
    by_idiom: str
    idiom: str
    definition: str
    expression: str
    sentence: str
    answer: str
    senses: dict[str, str]
    option: str = "{letter}. {text}"
    names: dict[str, str] = field(default_factory=dict)  # English ones where there are none


_FILE: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("wordings.yaml").read_text(encoding="utf-8"))
_ENGLISH = {variant: Wording(**_FILE[variant]) for variant in (EN1, EN2, EN3)}


def prompt(item: Item, variant: str = EN1) -> str:
    """Return the question about an item, with its options, in one of the `VARIANTS`; the answer is a letter."""
    wording = _wording(item, variant)
    form = wording.by_letter.format(letters=", ".join(letters(item)))  # the comma needs no translation
    lines = [f"{_task(item, wording)} {form}", *_subject(item, wording)]
    for letter, text in zip(letters(item), option_texts(item, variant), strict=True):
        lines.append(wording.option.format(letter=letter, text=text))
    return "\n".join([*lines, f"{wording.answer}:"])


def question(item: Item, variant: str = EN1) -> str:
    """Return the question about an item without its options and without the form of the answer; see `prompt`."""
    wording = _wording(item, variant)
    return "\n".join([_task(item, wording), *_subject(item, wording)])


def option_texts(item: Item, variant: str = EN1) -> list[str]:
    """Return the options of an item as a prompt shows them; see `prompt`."""
    senses = _wording(item, variant).senses
    return [senses[option.text] if item.kind == USAGE else option.text for option in item.options]


def open_prompt(item: Item, variant: str = EN1) -> str:
    """Return the question that the open task of an item's kind asks; the answer is the missing words or the idiom."""
    wording = _wording(item, variant)
    if item.kind == MEANING:
        task, form, label = RECALL, wording.by_idiom, wording.definition
    else:
        task, form, label = CLOZE_OPEN, wording.by_words, wording.sentence
    return f"{_task(item, wording, kind=task)} {form}\n{label}: {shown_text(item, task)}\n{wording.answer}:"


def shown_text(item: Item, task: str) -> str:
    """Return what a task asks about an item: in `recall` the meaning, otherwise its text."""
    return item.options[item.gold].text if task == RECALL else item.text


def letters(item: Item) -> str:
    """Return the letters of the options of an item, in order."""
    return LETTERS[: len(item.options)]


def all_wordings() -> list[Wording]:
    """Return the wording of every prompt in every language."""
    return [*_ENGLISH.values(), *map(_native, LANGUAGES)]


@dataclass(frozen=True, slots=True)
class Cost:
    """What one task costs under one prompt."""

    task: str  # name without the prefix of lm-eval's tasks: ``meaning_tr``, ``cloze_open_gag``
    n_items: int
    choice_requests: int  # where the likelihoods of the options are compared; 0 for an open task
    choice_tokens: int  # of these requests
    written_requests: int  # where the model writes the answer
    written_tokens: int  # of these requests, without those that the model writes


def by_characters(text: str) -> float:
    """Return a rough number of tokens of a text."""
    return len(text) / CHARACTERS_PER_TOKEN


def costs(
    name: str, items: Sequence[Item], *, shots: int = 0, variant: str = EN1, count: CountTokens = by_characters
) -> list[Cost]:
    """Return the cost of a set, and that of the open task of its kind if there is one.

    Each prompt has a number of examples (`shots`), which are counted as long as the mean question. Chat templates and
    reasoning come on top.
    """
    n_options = [len(item.options) for item in items]
    tokens = [(1 + shots) * count(prompt(item, variant)) for item in items]
    choice_tokens = sum(n * (n_tokens + ANSWER_TOKENS) for n, n_tokens in zip(n_options, tokens, strict=True))
    priced = [Cost(name, len(items), sum(n_options), round(choice_tokens), len(items), round(sum(tokens)))]
    for task, kind in OPEN_TASKS.items():
        if items and items[0].kind == kind:
            open_tokens = (1 + shots) * sum(count(open_prompt(item, variant)) for item in items)
            priced.append(Cost(name.replace(kind, task, 1), len(items), 0, 0, len(items), round(open_tokens)))
    return priced


@cache
def _native(code: str) -> Wording:
    """Return the wording in a language; the first English one where its record has none either."""
    fields = _FILE[NATIVE].get(code) or LANGUAGES[code].item_prompt
    return Wording(**fields) if fields else _ENGLISH[EN1]


def _wording(item: Item, variant: str) -> Wording:
    if variant == NATIVE:
        return _native(item.language)
    if variant not in _ENGLISH:
        raise InputError(f"unknown prompt {variant!r}; known: {', '.join(VARIANTS)}")
    return _ENGLISH[variant]


def _task(item: Item, wording: Wording, *, kind: str = "") -> str:
    task = wording.tasks[kind or item.kind]
    source, target = (wording.names.get(code, LANGUAGES[code].name) for code in (item.language, item.target))
    return task.format(source=source, target=target)


def _subject(item: Item, wording: Wording) -> list[str]:
    """Return the labelled lines that a question is about."""
    label = wording.idiom if item.text == item.idiom else wording.sentence
    expression = [f"{wording.expression}: {item.idiom}"] if item.kind == USAGE else []
    return [*expression, f"{label}: {item.text}"]
