"""From questions to items: traps beside the right option, and the options in order.

Three things that could give the right option away are balanced: its position, how many traps are longer, and how often
it shares more letters with the question than any trap.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial

from turkic_idiom_tasks.tasks.items.item_types import KINDS, Item, ItemSet, Option, balanced, stable_hash
from turkic_idiom_tasks.tasks.items.likeness import letter_overlap
from turkic_idiom_tasks.tasks.items.traps import Accepts, Question

Traps = dict[str, tuple[Option, ...]]  # id of an item -> its traps


def make_items(questions: Sequence[Question], item_set: ItemSet) -> list[Item]:
    """Return the items of a set, sorted by id; questions for which there are too few traps are left out."""
    by_key = {f"{item_set.name}/{question.gold.concept}": question for question in questions}
    n_options = KINDS[item_set.kind].n_options
    n_shorter = balanced(list(by_key), n_options, purpose="length")
    traps: Traps = {}
    for key, question in sorted(by_key.items()):
        chosen = question.traps(question, key=key, n_shorter=n_shorter[key])
        if chosen is not None:
            traps[key] = chosen
    # Where two idioms share a word, shared letters are a part of what is asked about
    unshared = {key: options for key, options in traps.items() if not by_key[key].shares_stem}
    _balance_overlap(by_key, unshared, n_shorter, item_set)
    traps |= unshared
    positions = balanced(list(traps), n_options, purpose="position")
    items = []
    for key, wrong in traps.items():
        # Traps come in the order of their types, which would be the same in every item
        question, position = by_key[key], positions[key]
        options = sorted(wrong, key=lambda option: stable_hash("order", key, option.concept))
        options.insert(position, question.gold)
        item = Item(
            id=key,
            kind=item_set.kind,
            language=item_set.language,
            target=item_set.target,
            concept=question.gold.concept,
            idiom=question.idiom,
            text=question.text,
            options=tuple(options),
            gold=position,
            shares_stem=question.shares_stem,
        )
        items.append(item)
    return items


def _balance_overlap(
    questions: Mapping[str, Question], traps: Traps, n_shorter: Mapping[str, int], item_set: ItemSet
) -> None:
    """Exchange traps until the right option has the most letters of the question as often as each other option.

    All mappings are by id of the item; `traps` is changed in place.
    """
    wanted = len(traps) / KINDS[item_set.kind].n_options

    def has_more(question: Question, first: Option, second: Option) -> bool:
        """Return whether one option shares more letters with a question than another one."""
        texts = (first.text, second.text)
        shared = [letter_overlap(question.text, text, item_set.language, item_set.target) for text in texts]
        return shared[0] > shared[1]

    def is_highest(question: Question, options: Sequence[Option]) -> bool:
        return all(has_more(question, question.gold, option) for option in options)

    # Traps were first chosen by a hash of the item's id. As few items as possible are changed now, so that an item more
    # or less changes a few others at most
    highest = {key for key, options in traps.items() if is_highest(questions[key], options)}
    # In an order of its own, or the exchanged items would be those of the first concepts of the alphabet
    for key in sorted(traps, key=lambda key: stable_hash("overlap", key)):
        if math.floor(wanted) <= len(highest) <= math.ceil(wanted):
            return
        question, was_highest = questions[key], key in highest
        if was_highest is not (len(highest) > wanted):
            continue
        # a random trap that shares more letters than the right option, or, where that is too seldom the highest, fewer
        accepts: Accepts = partial(has_more, question, question.gold)
        if was_highest:
            accepts = partial(has_more, question, second=question.gold)
        options = question.traps(question, key=key, n_shorter=n_shorter[key], accepts=accepts)
        if options is not None and is_highest(question, options) is not was_highest:
            traps[key] = options
            highest ^= {key}
