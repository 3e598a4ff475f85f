"""Choices that stay the same: hashes instead of random generators, balanced by moving as few items as possible."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def stable_hash(*parts: str) -> int:
    """Return 64 bits of a hash of texts, the same on every machine."""
    digest = hashlib.sha256("\n".join(parts).encode()).digest()
    return int.from_bytes(digest[:8], "big")


def balanced(keys: Sequence[str], n_values: int, *, purpose: str) -> dict[str, int]:
    """Return key -> a number from 0 to `n_values` - 1, with counts that differ by at most one.

    Every key has a number by its hash. Keys with the smallest second hash leave the numbers that are too frequent, and
    each takes the number that its own hash prefers among those that are not frequent enough. The keys are distinct, in
    any order; numbers for different purposes are independent.
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
