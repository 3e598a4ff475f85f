"""Items of a dataset: which sets there are, and the items of each.

What an item is stands in `item_types`; the kinds are made in `choice_kinds`, `usage` and `cloze`.
"""

from __future__ import annotations

from turkic_idiom_tasks.dataset.base import Dataset
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.language_models.choice_kinds import equivalent_items, meaning_items, usage_items
from turkic_idiom_tasks.language_models.cloze import cloze_items
from turkic_idiom_tasks.language_models.item_types import (
    CLOZE,
    EQUIVALENT,
    FIGURATIVE,
    KINDS,
    LETTERS,
    LEXICAL,
    LITERAL,
    MEANING,
    N_OPTIONS,
    NEAR,
    RANDOM,
    TRAPS,
    USAGE,
    Item,
    ItemSet,
    Option,
)
from turkic_idiom_tasks.languages import LANGUAGES, get_language
from turkic_idiom_tasks.splits import TEST, TRAIN

__all__ = [
    "CLOZE",
    "EQUIVALENT",
    "FIGURATIVE",
    "KINDS",
    "LETTERS",
    "LEXICAL",
    "LITERAL",
    "MEANING",
    "NEAR",
    "N_OPTIONS",
    "RANDOM",
    "TRAPS",
    "USAGE",
    "Item",
    "ItemSet",
    "Option",
    "available",
    "build_items",
    "item_sets",
]


def build_items(
    dataset: Dataset, kind: str, language: str, target: str | None = None, *, split: str = TEST
) -> list[Item]:
    """Return the items of one set, sorted by id; none if the dataset has nothing for it.

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
    lexicon = dataset.lexicon
    if kind == EQUIVALENT:
        return equivalent_items(lexicon, source, other, split=split)
    if kind == MEANING:
        return meaning_items(lexicon, source, split=split)
    if kind == USAGE:
        return usage_items(lexicon, source, split=split)
    return cloze_items(lexicon, source, split=split)


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
