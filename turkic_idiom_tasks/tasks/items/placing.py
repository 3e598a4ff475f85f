"""From questions to items: traps beside the right option, and the options in order.

Three things that could give the right option away are balanced: its position, how many traps are longer, and how often
it shares more letters with the question than any trap. The first choice of each is by a hash of the item's id; then as
few items as possible are changed, so that an item more or less changes a few others at most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from turkic_idiom_tasks.tasks.items.balance import balanced, stable_hash
from turkic_idiom_tasks.tasks.items.item_types import EQUIVALENT, N_OPTIONS, Item, ItemSet, Option
from turkic_idiom_tasks.tasks.items.likeness import letter_overlap
from turkic_idiom_tasks.tasks.items.traps import Candidate


class TrapSource(Protocol):
    """What traps are taken from: a `Pool`, or `Pools`."""

    def traps(
        self,
        gold: Candidate,
        excluded: Collection[str],
        *,
        key: str,
        n_shorter: int,
        likeness: Mapping[str, float],
        accepts: Callable[[Candidate], bool] | None = None,
    ) -> tuple[Option, ...] | None:
        """Return three traps; see `Pool.traps`."""


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """An item without traps.

    Attributes:
        concept: unit that is resampled.
        idiom: citation form.
        text: what the question is about.
        gold: the right option.
        source: what its traps are taken from.
        excluded: concepts that are no traps besides those judged to be like the right option.
        likeness: concept -> how much its idiom looks like the one asked for.
        shares_stem: only in `equivalent`.
    """

    concept: str
    idiom: str
    text: str
    gold: Candidate
    source: TrapSource
    excluded: Collection[str]
    likeness: Mapping[str, float] = field(repr=False)
    shares_stem: bool | None = None


def make_items(questions: Sequence[Question], *, kind: str, language: str, target: str) -> list[Item]:
    """Return the items of a set, sorted by id; questions for which there are too few traps are left out."""
    name = ItemSet(kind, language, target, 0).name
    by_key = {f"{name}/{question.concept}": question for question in questions}
    n_shorter = balanced(list(by_key), N_OPTIONS, purpose="length")
    traps: dict[str, tuple[Option, ...]] = {}
    for key, question in sorted(by_key.items()):
        chosen = _traps(question, key, n_shorter[key])
        if chosen is not None:
            traps[key] = chosen
    if kind != EQUIVALENT:  # where shared letters are what is asked about
        _balance_overlap(by_key, traps, n_shorter, language=language, target=target)
    positions = balanced(list(traps), N_OPTIONS, purpose="position")
    items = []
    for key, wrong in traps.items():
        question = by_key[key]
        options = sorted(wrong, key=lambda option: stable_hash("order", key, option.concept))
        options.insert(positions[key], Option(question.gold.text, question.concept))
        items.append(
            Item(
                id=key,
                kind=kind,
                language=language,
                target=target,
                concept=question.concept,
                idiom=question.idiom,
                text=question.text,
                options=tuple(options),
                gold=positions[key],
                shares_stem=question.shares_stem,
            )
        )
    return items


def _traps(
    question: Question, key: str, n_shorter: int, accepts: Callable[[Candidate], bool] | None = None
) -> tuple[Option, ...] | None:
    return question.source.traps(
        question.gold,
        question.excluded,
        key=key,
        n_shorter=n_shorter,
        likeness=question.likeness,
        accepts=accepts,
    )


def _balance_overlap(
    questions: Mapping[str, Question],
    traps: dict[str, tuple[Option, ...]],
    n_shorter: Mapping[str, int],
    *,
    language: str,
    target: str,
) -> None:
    """Exchange random traps until the right option has the most letters of the question in a fourth of the items.

    Args:
        questions: by id of the item.
        traps: id of the item -> its traps; changed in place.
        n_shorter: id of the item -> how many traps are shorter than the right option.
        language: of the questions.
        target: of the options.
    """
    overlap = partial(letter_overlap, first_language=language, second_language=target)
    highest = {key for key, options in traps.items() if _is_highest(questions[key], options, overlap)}
    wanted = len(traps) / N_OPTIONS
    for key in sorted(traps, key=lambda key: stable_hash("overlap", key)):
        if math.floor(wanted) <= len(highest) <= math.ceil(wanted):
            return
        is_highest, too_many = key in highest, len(highest) > wanted
        if is_highest is not too_many:
            continue
        accepts = partial(_is_beyond, question=questions[key], overlap=overlap, is_more=is_highest)
        options = _traps(questions[key], key, n_shorter[key], accepts)
        if options is not None and _is_highest(questions[key], options, overlap) is not is_highest:
            traps[key] = options
            highest ^= {key}


def _is_highest(question: Question, traps: Sequence[Option], overlap: Callable[[str, str], float]) -> bool:
    """Return whether the right option shares more letters with the question than any trap."""
    gold = overlap(question.text, question.gold.text)
    return all(overlap(question.text, option.text) < gold for option in traps)


def _is_beyond(
    candidate: Candidate, *, question: Question, overlap: Callable[[str, str], float], is_more: bool
) -> bool:
    """Return whether a candidate shares more letters with the question than the right option, or fewer."""
    ours, theirs = overlap(question.text, candidate.text), overlap(question.text, question.gold.text)
    return ours > theirs if is_more else ours < theirs
