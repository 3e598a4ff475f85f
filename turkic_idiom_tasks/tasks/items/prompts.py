"""Prompts for the items: three in English and one in the language of the idiom for each kind; and what they cost.

Every prompt has the same parts in the same order: the task with the form of the answer, the labelled idiom or
sentence, the options with their letters, and the label of the answer. The three English prompts differ in wording,
labels and signs around the letters, which is what the spread over prompts measures. An answer is one letter, or words
in an open task. The wordings are in ``wordings.yaml``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.tasks.items.item_types import KINDS, LETTERS, SITUATION, USAGE, Item, ItemSet
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS

VARIANTS = EN1, EN2, EN3, NATIVE = ("en1", "en2", "en3", "native")
# A rough mean. The vocabulary of all-MiniLM-L6-v2, which is English, gives 2.4 to 3.4 under the English prompts and 1.8
# to 2.3 under the native ones; multilingual vocabularies need fewer tokens.
CHARACTERS_PER_TOKEN = 2.5
ANSWER_TOKENS = 2  # a letter with the space before it


@dataclass(frozen=True, slots=True)
class Wording:
    """How the items are asked in one prompt; the fields are explained in ``wordings.yaml``."""

    tasks: dict[str, str]
    by_letter: str
    by_words: str
    by_idiom: str
    by_idioms: str
    idiom: str
    definition: str
    expression: str
    sentence: str
    situation: str
    answer: str
    senses: dict[str, str]
    option: str = "{letter}. {text}"
    names: dict[str, str] = field(default_factory=dict)  # English ones where there are none


_FILE: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("wordings.yaml").read_text(encoding="utf-8"))
_ENGLISH = {variant: Wording(**_FILE[variant]) for variant in (EN1, EN2, EN3)}


def prompt(item: Item, variant: str = EN1) -> str:
    """Return the question about an item, with its options, in one of the `VARIANTS`; the answer is a letter."""
    wording = _wording(item.language, variant)
    form = wording.by_letter.format(letters=", ".join(letters(item)))  # the comma needs no translation
    lines = [question(item, variant, form=f" {form}")]
    for letter, text in zip(letters(item), option_texts(item, variant), strict=True):
        lines.append(wording.option.format(letter=letter, text=text))
    return "\n".join([*lines, f"{wording.answer}:"])


def question(item: Item, variant: str = EN1, *, form: str = "") -> str:
    """Return the question about an item without its options, with the form of the answer after the task if given."""
    wording = _wording(item.language, variant)
    label = wording.situation if item.kind == SITUATION else wording.sentence
    label = wording.idiom if item.text == item.idiom else label
    expression = [f"{wording.expression}: {item.idiom}"] if item.kind == USAGE else []
    return "\n".join([_task(item, wording) + form, *expression, f"{label}: {item.text}"])


def option_texts(item: Item, variant: str = EN1) -> list[str]:
    """Return the options of an item as a prompt shows them; see `prompt`."""
    senses = _wording(item.language, variant).senses
    return [senses[option.text] if item.kind == USAGE else option.text for option in item.options]


def open_prompt(item: Item, task: str, variant: str = EN1) -> str:
    """Return the question of an open task about one of its items; the answer is words."""
    wording, asked = _wording(item.language, variant), OPEN_TASKS[task]
    lines = [f"{_task(item, wording, kind=asked.task)} {getattr(wording, asked.form)}"]
    if asked.names_idiom:
        lines.append(f"{wording.idiom}: {item.idiom}")
    if not asked.names_idiom or item.text != item.idiom:
        lines.append(f"{getattr(wording, asked.label)}: {item.text}")
    return "\n".join([*lines, f"{wording.answer}:"])


def asked(task: str, item: Item, variant: str = EN1) -> tuple[str, str]:
    """Return the question of a kind or an open task about an item, and the answer that is right."""
    if task in OPEN_TASKS:
        return open_prompt(item, task, variant), item.options[item.gold].text
    return prompt(item, variant), letters(item)[item.gold]


def letters(item: Item) -> str:
    """Return the letters of the options of an item, in order."""
    return LETTERS[: len(item.options)]


def all_wordings() -> list[Wording]:
    """Return the wording of every prompt in every language."""
    return [*_ENGLISH.values(), *(_wording(code, NATIVE) for code in LANGUAGES)]


def cost(item_set: ItemSet, items: Sequence[Item], *, shots: int = 0) -> dict[str, str | int]:
    """Return the requests and tokens of a set, whose kind may be an open task, under the first English prompt.

    The tokens that a model writes, chat templates and reasoning come on top.
    """
    # Each example (`shots`) counts as if it were as long as the question itself
    tokens = [(1 + shots) * (len(asked(item_set.kind, item)[0]) / CHARACTERS_PER_TOKEN) for item in items]
    n_choices, choice_tokens = 0, 0.0
    if item_set.kind not in OPEN_TASKS:
        # A choice compares the likelihoods of the options, and each of them is a request of its own
        n_options = [len(item.options) for item in items]
        n_choices = sum(n_options)
        choice_tokens = sum(n * (n_tokens + ANSWER_TOKENS) for n, n_tokens in zip(n_options, tokens, strict=True))
    return {
        "task": item_set.name,
        "n_items": len(items),
        "choice_requests": n_choices,
        "choice_tokens": round(choice_tokens),
        "written_requests": len(items),
        "written_tokens": round(sum(tokens)),
    }


@cache
def _wording(language: str, variant: str) -> Wording:
    """Return the wording of a prompt; what a language lacks in its own one is that of the first English one."""
    if variant in _ENGLISH:
        return _ENGLISH[variant]
    if variant != NATIVE:
        raise InputError(f"unknown prompt {variant!r}; known: {', '.join(VARIANTS)}")
    fields = _FILE[NATIVE].get(language) or LANGUAGES[language].item_prompt
    if not fields:
        return _ENGLISH[EN1]
    return Wording(**_FILE[EN1] | fields | {"tasks": _FILE[EN1]["tasks"] | fields["tasks"]})


def _task(item: Item, wording: Wording, *, kind: str = "") -> str:
    task = wording.tasks[kind or KINDS[item.kind].wording or item.kind]
    source, target = (wording.names.get(code, LANGUAGES[code].name) for code in (item.language, item.target))
    return task.format(source=source, target=target)
