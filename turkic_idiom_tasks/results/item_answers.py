"""What a language model answered to the items of one set: an option or a text for each, as one more prediction.

A head line begins a set: ``{"task": "equivalent", "subset": "tr-uz", "prompt": "en1", "method": "generation"}``. A line
for each item follows: ``{"item": id, "answer": 2}`` with the position of the chosen option, or for `CLOZE_OPEN` with a
text; null is an answer that could not be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import MalformedError, display, is_unseen
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.tasks.items.item_types import CLOZE, EQUIVALENT, KINDS, Item, ItemSet
from turkic_idiom_tasks.tasks.items.items import build_items, item_sets
from turkic_idiom_tasks.tasks.items.prompts import CLOZE_OPEN, VARIANTS
from turkic_idiom_tasks.tasks.items.scoring import judge_open_cloze, score_items, score_open_cloze

ITEM_TASKS = (*KINDS, CLOZE_OPEN)
GENERATION, LOGLIKELIHOOD = METHODS = ("generation", "loglikelihood")
MAX_ANSWER = 200  # characters of an open answer that are kept; the longest idiom in its sentence has about 60

Answer = int | str | None


@dataclass(frozen=True, slots=True, eq=False)
class TestItems:
    """Test items of one task and subset, sorted by id.

    Attributes:
        task: one of `ITEM_TASKS`.
        subset: ``tr``, or ``tr-uz`` for `equivalent`.
        language: code of the language of the options.
        rows: the items.
        row: id -> position.
        lexicon: where the items come from; says which open answers are accepted.
    """

    __test__ = False  # no test class, whatever pytest thinks of its name

    task: str
    subset: str
    language: str
    rows: tuple[Item, ...]
    row: Mapping[str, int]
    lexicon: Lexicon

    @property
    def concepts(self) -> tuple[str, ...]:
        """Return the concept of each item."""
        return tuple(item.concept for item in self.rows)

    @property
    def chance(self) -> float:
        """Return the accuracy of guessing: the mean of 1 / number of options, 0 without options."""
        if self.task == CLOZE_OPEN:
            return 0.0
        return sum(1 / len(item.options) for item in self.rows) / len(self.rows)


@dataclass(frozen=True, slots=True, eq=False)
class ItemAnswers:
    """A model's answers to the items of one task and subset.

    Attributes:
        items: which, and in which order.
        answers: for each item the position of the chosen option, or a text for `CLOZE_OPEN`; None if unreadable.
        prompt: the variant of the prompt that was asked.
        method: one of `METHODS`: whether the model wrote its answer, or the most likely option counts.
    """

    items: TestItems
    answers: tuple[Answer, ...]
    prompt: str
    method: str

    def are_right(self) -> list[bool]:
        """Return for each answer whether it is right; in the open cloze, whether it is accepted."""
        if self.items.task == CLOZE_OPEN:
            judgements = judge_open_cloze(self.items.rows, self._texts(), self.items.lexicon)
            return [judgement.is_accepted for judgement in judgements]
        return [answer == item.gold for item, answer in zip(self.items.rows, self.answers, strict=True)]

    def scores(self) -> dict[str, float]:
        """Return name -> score, by the scorer of lm-eval and Inspect."""
        if self.items.task == CLOZE_OPEN:
            return score_open_cloze(self.items.rows, self._texts(), self.items.lexicon)
        positions = [answer if isinstance(answer, int) else None for answer in self.answers]
        return score_items(self.items.rows, positions)

    def _texts(self) -> list[str | None]:
        return [answer if isinstance(answer, str) else None for answer in self.answers]


def all_item_subsets() -> dict[str, tuple[str, ...]]:
    """Return task -> every subset that data may have, in the usual order."""
    subsets: dict[str, list[str]] = {task: [] for task in ITEM_TASKS}
    for item_set in item_sets():
        subsets[item_set.kind].append(_subset_name(item_set))
    subsets[CLOZE_OPEN] = subsets[CLOZE]
    return {task: tuple(names) for task, names in subsets.items()}


def item_subsets(dataset: Dataset, task: str) -> tuple[str, ...]:
    """Return the subsets of a task of `ITEM_TASKS` in which the data have a test item."""
    return tuple(subset for subset in all_item_subsets()[task] if find_items(dataset, task, subset) is not None)


def find_items(dataset: Dataset, task: str, subset: str) -> TestItems | None:
    """Return the test items of a task and subset; None if the data have none."""
    if task not in ITEM_TASKS or subset not in all_item_subsets()[task]:
        return None
    return _test_items(dataset, task, subset)


def task_and_subset(item_set: ItemSet, *, is_open: bool) -> tuple[str, str]:
    """Return how predictions name the items of a set."""
    return CLOZE_OPEN if is_open else item_set.kind, _subset_name(item_set)


@lru_cache(maxsize=128)  # about twice the sets of one dataset; making them takes a second or two
def _test_items(dataset: Dataset, task: str, subset: str) -> TestItems | None:
    kind = CLOZE if task == CLOZE_OPEN else task
    language, _, target = subset.partition("-")
    try:
        lexicon = dataset.lexicon
    except InputError:  # data with test queries only
        return None
    items = build_items(dataset, kind, language, target or None)
    if not items:
        return None
    row = {item.id: position for position, item in enumerate(items)}
    return TestItems(task, subset, target or language, items, row, lexicon)


def _subset_name(item_set: ItemSet) -> str:
    return f"{item_set.language}-{item_set.target}" if item_set.kind == EQUIVALENT else item_set.language


def answer_rows(answers: ItemAnswers) -> Iterator[dict[str, Any]]:
    """Yield the row of each answer, ready to be written."""
    for item, answer in zip(answers.items.rows, answers.answers, strict=True):
        yield {"item": item.id, "answer": answer}


def answer_fault(item: Item, answer: object, *, is_open: bool) -> str | None:
    """Return what is wrong with an answer from a file; None if nothing is."""
    if answer is None:
        return None
    if not is_open:
        is_option = type(answer) is int and 0 <= answer < len(item.options)
        last = len(item.options) - 1
        return None if is_option else f"needs the position of an option, 0 to {last}, or null, not {display(answer)}"
    if not isinstance(answer, str) or not answer.strip():
        return f"needs a text or null, not {display(answer)}"
    if len(answer) > MAX_ANSWER:
        return f"has a text of {len(answer)} characters; at most {MAX_ANSWER} are allowed"
    unseen = [character for character in answer if is_unseen(character) or not character.isprintable()]
    return f"has the character {display(unseen[0])}, which cannot be seen" if unseen else None


def plain_text(text: str) -> str | None:
    """Return an open answer as it is kept: without characters that cannot be seen, and no longer than `MAX_ANSWER`."""
    characters = []
    for character in " ".join(text.split()):
        if character.isprintable() and not is_unseen(character):
            characters.append(character)
    return "".join(characters)[:MAX_ANSWER].strip() or None


class AnswerSection:
    """Answers to the items of one subset, line by line."""

    def __init__(self, items: TestItems, *, prompt: object, method: object) -> None:
        if not isinstance(prompt, str) or prompt not in VARIANTS:
            raise MalformedError(f"the prompt {display(prompt)} is unknown; known: {', '.join(VARIANTS)}")
        if not isinstance(method, str) or method not in METHODS:
            raise MalformedError(f"the method {display(method)} is unknown; known: {', '.join(METHODS)}")
        self._items = items
        self._prompt, self._method = prompt, method
        self._answers: dict[int, Answer] = {}

    def add(self, line: Mapping[str, Any]) -> None:
        """Read one answer.

        Raises:
            MalformedError: an unknown or repeated item, or an answer that does not fit it.
        """
        name, answer = line.get("item"), line.get("answer")
        position = self._items.row.get(name) if isinstance(name, str) else None
        if position is None:
            raise MalformedError(f"{self._items.task}, {self._items.subset} has no item {display(name)}")
        if position in self._answers:
            raise MalformedError(f"item {display(name)} appears twice")
        self._answers[position] = None
        fault = answer_fault(self._items.rows[position], answer, is_open=self._items.task == CLOZE_OPEN)
        if fault:
            raise MalformedError(f"item {display(name)} {fault}")
        self._answers[position] = answer

    def missing(self) -> list[str]:
        """Return the items that have no answer."""
        return [item.id for position, item in enumerate(self._items.rows) if position not in self._answers]

    def predictions(self) -> ItemAnswers:
        """Return what was read."""
        return make_answers(self._items, self._answers, prompt=self._prompt, method=self._method)


def make_answers(items: TestItems, answers: Mapping[int, Answer], *, prompt: str, method: str) -> ItemAnswers:
    """Return answers by position as a prediction; items without one count as unreadable."""
    ordered: Sequence[Answer] = [answers.get(position) for position in range(len(items.rows))]
    return ItemAnswers(items, tuple(ordered), prompt, method)
