"""Baselines that know no idiom: what can be got from the options alone, or from the letters they share with a question.

A benchmark is sound only if these stay near chance. Where several options tie, each counts with its share, so a score
is the expected accuracy of a guess among them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from turkic_idiom_tasks.language_models.item_types import EQUIVALENT, Item
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.metrics.bootstrap import SEED, SMALL_N
from turkic_idiom_tasks.orthography import to_common

NAMES = LONGEST, SHORTEST, POSITION, MIDDLE, OVERLAP, RANDOM, GOLD = (
    "longest", "shortest", "position", "middle", "overlap", "random", "gold",
)  # fmt: skip
OPTION_ONLY = (LONGEST, SHORTEST, POSITION, MIDDLE)
_NGRAM = 3  # letters


@dataclass(frozen=True, slots=True)
class BaselineRow:
    """Accuracies of the baselines on some items.

    Attributes:
        name: of the set; for a part of `equivalent` with ``shared stem`` or ``other stems`` after it.
        n_items: how many items there are.
        chance: accuracy of guessing.
        accuracies: name of the baseline -> expected accuracy, in [0, 1]; NaN without items.
    """

    name: str
    n_items: int
    chance: float
    accuracies: dict[str, float]

    @property
    def is_small(self) -> bool:
        """Whether there are too few items to judge by."""
        return self.n_items < SMALL_N


def baseline_rows(name: str, items: Sequence[Item], *, seed: int = SEED) -> list[BaselineRow]:
    """Return the baselines of a set, and for `equivalent` those of items with and without a shared word stem.

    Args:
        name: of the set.
        items: of one set.
        seed: of the random baseline.
    """
    rows = [_row(name, items, seed=seed)]
    if items and items[0].kind == EQUIVALENT:
        for part, shares in (("shared stem", True), ("other stems", False)):
            rows.append(_row(f"{name}, {part}", [item for item in items if item.shares_stem is shares], seed=seed))
    return rows


def baseline_accuracy(name: str, items: Sequence[Item], *, seed: int = SEED) -> float:
    """Return the expected accuracy of a baseline, in [0, 1]; NaN without items.

    - ``longest``, ``shortest``: the option with the most or the fewest characters.
    - ``position``: the position that is most often right, the best that a constant answer can do.
    - ``middle``: the option whose letters are most like those of the other options. A trap is made to resemble the
      right option, which therefore tends to stand in the middle of them.
    - ``overlap``: the option whose letters are most like those of the question.
    - ``random``: an option drawn by the seed.
    - ``gold``: the right option.

    Letters are compared by the Dice coefficient of the sets of three letters in a row, in the common orthography.

    Raises:
        KeyError: there is no baseline of that name.
    """
    if not items:
        return math.nan
    if name == POSITION:
        counts = Counter(item.gold for item in items)
        return max(counts.values()) / len(items)
    if name == RANDOM:
        generator = np.random.default_rng(seed)
        return sum(int(generator.integers(len(item.options))) == item.gold for item in items) / len(items)
    preference = _PREFERENCES[name]
    return sum(_expected(preference(item), item.gold) for item in items) / len(items)


def _row(name: str, items: Sequence[Item], *, seed: int) -> BaselineRow:
    accuracies = {baseline: baseline_accuracy(baseline, items, seed=seed) for baseline in NAMES}
    chance = sum(1 / len(item.options) for item in items) / len(items) if items else math.nan
    return BaselineRow(name, len(items), chance, accuracies)


def _expected(preferences: Sequence[float], gold: int) -> float:
    """Return the probability that a guess among the most preferred options is right."""
    highest = max(preferences)
    n_highest = sum(value == highest for value in preferences)
    return (preferences[gold] == highest) / n_highest


def _lengths(item: Item) -> list[float]:
    return [float(len(option.text)) for option in item.options]


def _shortness(item: Item) -> list[float]:
    return [-length for length in _lengths(item)]


def _overlap(item: Item) -> list[float]:
    question = _ngrams(item.text, item.language)
    return [_dice(question, _ngrams(option.text, item.target)) for option in item.options]


def _middle(item: Item) -> list[float]:
    ngrams = [_ngrams(option.text, item.target) for option in item.options]
    return [sum(_dice(ours, theirs) for theirs in ngrams if theirs is not ours) for ours in ngrams]


def _rightness(item: Item) -> list[float]:
    return [float(position == item.gold) for position in range(len(item.options))]


def _ngrams(text: str, language: str) -> frozenset[str]:
    """Return every three letters in a row of a text, blanks at either end included."""
    padded = f" {to_common(text, LANGUAGES[language])} "
    return frozenset(padded[start : start + _NGRAM] for start in range(len(padded) - _NGRAM + 1))


def _dice(first: frozenset[str], second: frozenset[str]) -> float:
    return 2 * len(first & second) / (len(first) + len(second))


_PREFERENCES: dict[str, Callable[[Item], list[float]]] = {
    LONGEST: _lengths,
    SHORTEST: _shortness,
    MIDDLE: _middle,
    OVERLAP: _overlap,
    GOLD: _rightness,
}
