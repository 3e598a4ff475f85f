"""Placing: at which position the right option of each item stands.

Positions come from a hash of the item's id and are then balanced exactly by moving as few items as possible, so that an
item more or less changes the positions of a few others at most.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from turkic_idiom_tasks.language_models.item_types import Item, Option


@dataclass(frozen=True, slots=True)
class Draft:
    """An item whose options have no order yet.

    Attributes:
        id: as in `Item`, and so are the next fields.
        concept: unit that is resampled.
        idiom: citation form.
        text: what the question is about.
        gold: the right option.
        traps: the others.
        shares_stem: only in `equivalent`.
    """

    id: str
    concept: str
    idiom: str
    text: str
    gold: Option
    traps: tuple[Option, ...]
    shares_stem: bool | None = None


def stable_hash(*parts: str) -> int:
    """Return 64 bits of a hash of texts, the same on every machine."""
    digest = hashlib.sha256("\n".join(parts).encode()).digest()
    return int.from_bytes(digest[:8], "big")


def balanced(keys: Sequence[str], n_values: int, *, purpose: str) -> dict[str, int]:
    """Return key -> a number from 0 to `n_values` - 1, each number as often as any other, up to one.

    Every key has a number by its hash. Keys with the smallest second hash leave the numbers that are too frequent, and
    each takes the number that its own hash prefers among those that are not frequent enough.

    Args:
        keys: distinct, in any order.
        n_values: how many numbers there are.
        purpose: numbers for different purposes are independent.
    """
    keys_of: dict[int, list[str]] = {value: [] for value in range(n_values)}
    for key in keys:
        keys_of[stable_hash(purpose, key) % n_values].append(key)
    quotas = dict.fromkeys(range(n_values), len(keys) // n_values)
    most_frequent_first = sorted(keys_of, key=lambda value: (-len(keys_of[value]), value))
    for value in most_frequent_first[: len(keys) % n_values]:
        quotas[value] += 1
    value_of: dict[str, int] = {}
    leaving: list[str] = []
    for value, members in keys_of.items():
        members.sort(key=lambda key: stable_hash(purpose, "leave", key))
        n_leaving = max(0, len(members) - quotas[value])
        leaving += members[:n_leaving]
        value_of |= dict.fromkeys(members[n_leaving:], value)
        quotas[value] -= len(members) - n_leaving
    for key in sorted(leaving, key=lambda key: stable_hash(purpose, "leave", key)):
        free = [value for value, quota in quotas.items() if quota > 0]
        value = min(free, key=lambda value: stable_hash(purpose, "take", key, str(value)))
        value_of[key] = value
        quotas[value] -= 1
    return value_of


def place(drafts: Sequence[Draft], *, kind: str, language: str, target: str) -> list[Item]:
    """Return items with their options in order, sorted by id; the positions of the right options are balanced."""
    n_options = len(drafts[0].traps) + 1 if drafts else 1
    positions = balanced([draft.id for draft in drafts], n_options, purpose="position")
    items = []
    for draft in sorted(drafts, key=lambda draft: draft.id):
        options = sorted(draft.traps, key=lambda option: stable_hash("order", draft.id, option.concept))
        gold = positions[draft.id]
        options.insert(gold, draft.gold)
        items.append(
            Item(
                id=draft.id,
                kind=kind,
                language=language,
                target=target,
                concept=draft.concept,
                idiom=draft.idiom,
                text=draft.text,
                options=tuple(options),
                gold=gold,
                shares_stem=draft.shares_stem,
            )
        )
    return items
