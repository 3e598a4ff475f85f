"""Items of a dataset: which sets there are, and the items of each.

`BUILDERS` is the registry of kinds. A new kind needs a name in `item_types`, a function here that builds its items, its
wording in ``wordings.yaml``, and a task in `harnesses.inspect_tasks`; lm-eval's task files are written from these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from turkic_idiom_tasks.dataset.base import Dataset
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.languages import LANGUAGES, get_language
from turkic_idiom_tasks.splits import TEST
from turkic_idiom_tasks.tasks.items.choice_kinds import equivalent_items, meaning_items, usage_items
from turkic_idiom_tasks.tasks.items.cloze import cloze_items
from turkic_idiom_tasks.tasks.items.item_types import CLOZE, EQUIVALENT, KINDS, MEANING, USAGE, Item, ItemSet
from turkic_idiom_tasks.tasks.items.traps import Relations

BUILDERS: dict[str, Callable[..., list[Item]]] = {  # of (relations, language, target), with the keyword split
    MEANING: meaning_items,
    EQUIVALENT: equivalent_items,
    USAGE: usage_items,
    CLOZE: cloze_items,
}


def build_items(
    dataset: Dataset, kind: str, language: str, target: str | None = None, *, split: str = TEST
) -> tuple[Item, ...]:
    """Return the items of one set, sorted by id; none if the dataset has nothing for it. They are kept in memory.

    The languages are those of the idiom and, only for `equivalent`, of the options (`target`). The split ``train`` is
    for examples in a prompt. A dataset without entries is an InputError.
    """
    if kind not in KINDS:
        raise usage_error(f"unknown kind of items {kind!r}; known: {', '.join(KINDS)}")
    source = get_language(language).code
    other = get_language(target).code if target is not None else source
    if (kind == EQUIVALENT) == (other == source):
        needed = "two different languages" if kind == EQUIVALENT else "one language"
        raise usage_error(f"items of kind {kind} need {needed}, not language {language!r} with target {target!r}")
    return _items(dataset, kind, source, other, split)


def items_of_set(dataset: Dataset, item_set: ItemSet, *, split: str = TEST) -> tuple[Item, ...]:
    """Return the items of a set; see `build_items`."""
    return _items(dataset, item_set.kind, item_set.language, item_set.target, split)


def item_sets() -> list[ItemSet]:
    """Return every set that a dataset may have, without counts, in a fixed order."""
    sets = []
    for kind in KINDS:
        for language in LANGUAGES:
            targets = [code for code in LANGUAGES if code != language] if kind == EQUIVALENT else [language]
            sets += [ItemSet(kind, language, target) for target in targets]
    return sets


def available(dataset: Dataset) -> list[ItemSet]:
    """Return the sets of which a dataset has at least one test item, with their sizes."""
    counted = [replace(item_set, n_items=len(items_of_set(dataset, item_set))) for item_set in item_sets()]
    return [item_set for item_set in counted if item_set.n_items]


@lru_cache(maxsize=128)  # about twice the sets of one dataset
def _items(dataset: Dataset, kind: str, language: str, target: str, split: str) -> tuple[Item, ...]:
    items = BUILDERS[kind](_relations(dataset), language, target, split=split)
    return tuple(sorted(items, key=lambda item: item.id))


@lru_cache(maxsize=4)
def _relations(dataset: Dataset) -> Relations:
    return Relations(dataset.lexicon)
