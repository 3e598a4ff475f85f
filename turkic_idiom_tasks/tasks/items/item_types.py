"""Items: one question to a language model with its options, made from the lexicon by code.

Every item is derived from entries of a lexicon, chosen by a stable hash and never by a random generator, so the same
lexicon always gives the same items. A larger one changes the items whose entries or traps change, and by balancing (see
`placing`) at most a few others.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

MEANING, EQUIVALENT, USAGE, CLOZE, SITUATION = ("meaning", "equivalent", "usage", "cloze", "situation")
MEANING_RIVALS, EQUIVALENT_RIVALS = "meaning_rivals", "equivalent_rivals"
EQUIVALENTS = EQUIVALENT, EQUIVALENT_RIVALS  # kinds whose headline counts items without a shared word
TRAPS = NEAR, LEXICAL, RANDOM = ("near", "lexical", "random")
FIGURATIVE, LITERAL = "figurative", "literal"
LETTERS = "ABCDEFGHJK"  # of the options, without I: in an answer it would mostly be the English word
N_OPTIONS, N_RIVALS = 4, 10
FOUND = "_found_"  # in ids of items from found text, between the task and the language


@dataclass(frozen=True, slots=True)
class Option:
    """One answer to choose from."""

    text: str  # what the model is shown
    concept: str = ""  # that the text belongs to; empty in `usage`, whose options are the two senses
    trap: str | None = None  # why it looks right, one of `TRAPS`; None for the right answer, and in `usage`


@dataclass(frozen=True, slots=True)
class Item:
    """One question."""

    id: str  # name of the set, concept and, for `usage`, sense: ``usage_tr/<concept>/literal``
    kind: str  # one of `KINDS`
    language: str  # code of the language of the idiom and of the text
    target: str  # code of the language of the options; the same as `language` unless the kind is directed
    concept: str  # the unit that is resampled; both sentences of a pair share it
    idiom: str  # citation form; in `cloze` what is to be found
    text: str  # what the question is about: the idiom, the sentence (in `cloze` with a blank) or the situation
    options: tuple[Option, ...]  # as many as `Kind` says, the senses in `usage`, the right one in an open task
    gold: int  # position of the right answer in `options`
    shares_stem: bool | None = None  # whether the idiom and the right option share a word stem; only across languages


@dataclass(frozen=True, slots=True)
class ItemSet:
    """Items that are asked and scored together: a kind in one language, or in one direction."""

    kind: str  # one of `KINDS`
    language: str  # code of the language of the idiom
    target: str  # code of the language of the options

    @property
    def name(self) -> str:
        """Name of the set in tasks, results and configs: ``meaning_tr`` or ``equivalent_tr_uz``."""
        return "_".join((self.kind, *self.languages))

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the language of the idiom and, if it is another one, of the options."""
        return tuple(dict.fromkeys((self.language, self.target)))


class Kind(NamedTuple):
    """A kind of items."""

    build: Callable[..., list[Item]]  # of (relations, language, target), with the keyword split
    is_directed: bool = False  # whether the options are in another language than the idiom
    n_options: int = N_OPTIONS  # except in `usage`
    wording: str = ""  # kind whose wording it has; empty for its own


def is_found(item_id: str) -> bool:
    """Return whether an item is from found text, whose sentences are no entries' and stand in no pairs."""
    return FOUND in item_id.partition("/")[0]


# By name; `items`, which knows the builders, fills it
KINDS: dict[str, Kind] = {}


def stable_hash(*parts: str) -> int:
    """Return 64 bits of a hash of texts, the same on every machine."""
    digest = hashlib.sha256("\n".join(parts).encode()).digest()
    return int.from_bytes(digest[:8], "big")


def balanced(keys: Sequence[str], n_values: int, *, purpose: str) -> dict[str, int]:
    """Return key -> a number from 0 to `n_values` - 1, with counts that differ by at most one.

    The keys are distinct, in any order; numbers for different purposes are independent.
    """
    # By hashes of each key alone, so that a key more or less changes the numbers of a few others at most
    keys_of: dict[int, list[str]] = {value: [] for value in range(n_values)}
    for key in keys:
        keys_of[stable_hash(purpose, key) % n_values].append(key)
    quotas = dict.fromkeys(range(n_values), len(keys) // n_values)
    most_frequent_first = sorted(keys_of, key=lambda value: (-len(keys_of[value]), value))
    for value in most_frequent_first[: len(keys) % n_values]:
        quotas[value] += 1
    value_of: dict[str, int] = {}
    leaving: list[str] = []  # from the numbers that are too frequent, to those that are not frequent enough
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
