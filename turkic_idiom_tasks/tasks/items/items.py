"""Items of a dataset: which sets there are, and the items of each.

What an item is stands in `item_types`; the kinds are made in `choice_kinds` and `cloze`.
"""

from __future__ import annotations

from functools import lru_cache

from turkic_idiom_tasks.dataset.base import Dataset
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.languages import LANGUAGES, get_language
from turkic_idiom_tasks.splits import TEST, TRAIN
from turkic_idiom_tasks.tasks.items.choice_kinds import equivalent_items, meaning_items, usage_items
from turkic_idiom_tasks.tasks.items.cloze import cloze_items
from turkic_idiom_tasks.tasks.items.item_types import EQUIVALENT, KINDS, MEANING, USAGE, Item, ItemSet
from turkic_idiom_tasks.tasks.items.traps import Relations


def build_items(
    dataset: Dataset, kind: str, language: str, target: str | None = None, *, split: str = TEST
) -> tuple[Item, ...]:
    """Return the items of one set, sorted by id; none if the dataset has nothing for it.

    They are made once in a process.

    Args:
        dataset: a lexicon, or a dataset in the Hub layout with its entries.
        kind: one of `KINDS`.
        language: code of the language of the idiom.
        target: code of the language of the options; only for `equivalent`, which needs it.
        split: ``test``, or ``train`` for examples in a prompt.

    Raises:
        InputError: an argument is unknown, the languages do not fit the kind, or the dataset has no entries.
    """
    if kind not in KINDS:
        raise usage_error(f"unknown kind of items {kind!r}; known: {', '.join(KINDS)}")
    if split not in (TEST, TRAIN):
        raise usage_error(f"items are of the split {TEST} or {TRAIN}, not of {split!r}")
    source = get_language(language).code
    other = get_language(target).code if target is not None else source
    if (kind == EQUIVALENT) == (other == source):
        needed = "two different languages" if kind == EQUIVALENT else "one language"
        raise usage_error(f"items of kind {kind} need {needed}, not language {language!r} with target {target!r}")
    return _items(dataset, kind, source, other, split)


def item_sets() -> list[ItemSet]:
    """Return every set that a dataset may have, without counts, in a fixed order."""
    sets = []
    for kind in KINDS:
        for language in LANGUAGES:
            targets = [code for code in LANGUAGES if code != language] if kind == EQUIVALENT else [language]
            for target in targets:
                sets.append(ItemSet(kind, language, target, 0))
    return sets


def available(dataset: Dataset) -> list[ItemSet]:
    """Return the sets of which a dataset has at least one test item, with their sizes.

    Raises:
        InputError: the dataset has no entries.
    """
    sets = []
    for empty in item_sets():
        target = empty.target if empty.kind == EQUIVALENT else None
        n_items = len(build_items(dataset, empty.kind, empty.language, target))
        if n_items:
            sets.append(ItemSet(empty.kind, empty.language, empty.target, n_items))
    return sets


@lru_cache(maxsize=128)  # about twice the sets of one dataset
def _items(dataset: Dataset, kind: str, language: str, target: str, split: str) -> tuple[Item, ...]:
    lexicon = dataset.lexicon
    if kind == USAGE:
        items = usage_items(lexicon, language, split=split)
    elif kind == EQUIVALENT:
        items = equivalent_items(lexicon, _relations(dataset), language, target, split=split)
    elif kind == MEANING:
        items = meaning_items(lexicon, _relations(dataset), language, split=split)
    else:
        items = cloze_items(lexicon, _relations(dataset), language, split=split)
    return tuple(sorted(items, key=lambda item: item.id))


@lru_cache(maxsize=4)
def _relations(dataset: Dataset) -> Relations:
    return Relations(dataset.lexicon)
