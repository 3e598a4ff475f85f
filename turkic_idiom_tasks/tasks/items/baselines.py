"""Baselines that know no idiom: what can be got from the options alone, or from letters shared with the question.

Items are sound only if these stay near chance. The exception is `overlap` in `equivalent` where the two idioms share a
word, because similar spelling is part of what is asked there.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from turkic_idiom_tasks.metrics.bootstrap import SMALL_N
from turkic_idiom_tasks.tasks.items.item_types import CLOZE, FIGURATIVE, USAGE, Item
from turkic_idiom_tasks.tasks.items.likeness import letter_overlap, letters_kept
from turkic_idiom_tasks.tasks.items.written import BLANK

NAMES = LONGEST, SHORTEST, POSITION, MIDDLE, OVERLAP, SENTENCE, WINDOW, ENDS = (
    "longest", "shortest", "position", "middle", "overlap", "sentence", "window", "ends",
)  # fmt: skip
OPTION_ONLY = NAMES[:4]
_WINDOW = 3  # words on each side of a blank
_END = 3  # letters of a form, which show its inflection


def baseline_rows(name: str, items: Sequence[Item]) -> list[dict[str, Any]]:
    """Return the baselines of a set, and across languages those of items with and without a shared word stem.

    A row has the name, the number of items, the accuracy of guessing, and that of each baseline in [0, 1], or NaN.
    """
    parts = {name: items}
    if items and items[0].shares_stem is not None:
        parts[f"{name}, shared stem"] = [item for item in items if item.shares_stem]
        parts[f"{name}, other stems"] = [item for item in items if not item.shares_stem]
    rows = []
    for part, members in parts.items():
        chance = sum(1 / len(item.options) for item in members) / len(members) if members else math.nan
        row = {"set": part, "items": len(members), "chance": chance, "small_sample": len(members) < SMALL_N}
        rows.append(row | {baseline: baseline_accuracy(baseline, members) for baseline in NAMES})
    return rows


def baseline_accuracy(name: str, items: Sequence[Item]) -> float:
    """Return the expected accuracy of a baseline, in [0, 1]; NaN without items.

    - ``longest``, ``shortest``: the option with the most or the fewest characters.
    - ``position``: the position that is most often right, the best that a constant answer can do.
    - ``middle``: the option whose letters are most like those of the other options.
    - ``overlap``: the option whose letters are most like those of the question; in `usage`, figurative if fewer letters
      of the idiom stand in the sentence than in half of the sentences.
    - ``sentence``: only in `usage`: figurative if the sentence is longer than half of the sentences.
    - ``window``, ``ends``: only in `cloze`: naive Bayes, learned on the other items of the set, on the end of an option
      beside the three words on each side of the blank, or beside the last letters before it and the first after it.

    Letters are compared by the Dice coefficient of the sets of three letters in a row, in the common orthography.
    """
    is_usage = bool(items) and items[0].kind == USAGE
    is_cloze = bool(items) and items[0].kind == CLOZE
    if not items or (name == SENTENCE and not is_usage) or (name in (WINDOW, ENDS) and not is_cloze):
        return math.nan
    if name == POSITION:
        counts = Counter(item.gold for item in items)
        return max(counts.values()) / len(items)
    if name == SENTENCE:
        return _split_accuracy(items, [float(len(item.text)) for item in items])
    if name == OVERLAP and is_usage:  # whose options are no words of the sentence
        return _split_accuracy(items, [-letters_kept(item.idiom, item.text, item.language) for item in items])
    learned = name in (WINDOW, ENDS)
    of_items = _learned_preferences(items, name) if learned else [_preferences(item, name) for item in items]
    total = 0.0
    for item, preferences in zip(items, of_items, strict=True):
        # Where several options tie, each counts with its share: the expected accuracy of a guess among them
        highest = max(preferences)
        total += (preferences[item.gold] == highest) / preferences.count(highest)
    return total / len(items)


def _split_accuracy(items: Sequence[Item], values: Sequence[float]) -> float:
    """Return the accuracy of calling sentences with a value above the median figurative, and those below it literal."""
    middle = float(np.median(values))
    total = 0.0
    for item, value in zip(items, values, strict=True):
        is_figurative = item.options[item.gold].text == FIGURATIVE
        total += 0.5 if value == middle else float((value > middle) == is_figurative)
    return total / len(items)


def _learned_preferences(items: Sequence[Item], name: str) -> list[list[float]]:
    """Return for each item what naive Bayes, on features of the options of the other items, gives its options."""
    right, wrong = Counter[str](), Counter[str]()  # feature -> number of options
    in_items = []
    for item in items:
        features = [_features(item, option.text, name) for option in item.options]
        in_item = Counter[str]()
        for position, of_option in enumerate(features):
            (right if position == item.gold else in_item).update(of_option)
        wrong += in_item
        in_items.append((features, in_item))
    preferences = []
    for item, (features, in_item) in zip(items, in_items, strict=True):
        scores = []
        for of_option in features:
            score = 0.0
            for feature in sorted(of_option):
                # On the other items only, or the right answer would be a part of what is learned
                n_right = right[feature] - (feature in features[item.gold])
                # Without any other item, the right options are to the wrong ones as one is to three
                score += math.log((n_right + 1) / (wrong[feature] - in_item[feature] + 3))
            scores.append(score)
        preferences.append(scores)
    return preferences


def _features(item: Item, option: str, name: str) -> set[str]:
    """Return the end of an option, alone and beside what `window` or `ends` sees around the blank."""
    before, _, after = item.text.partition(BLANK)
    end = option[-_END:]
    if name == WINDOW:
        words = {*before.split()[-_WINDOW:], *after.split()[:_WINDOW]}
        return {end, *(f"{word} {end}" for word in words)}
    return {end, f"{before.rstrip()[-_END:]} {end}", f"{end} {after.lstrip()[:_END]}"}


def _preferences(item: Item, name: str) -> list[float]:
    """Return for each option of an item how much a baseline prefers it."""
    texts = [option.text for option in item.options]
    if name in (LONGEST, SHORTEST):
        return [float(len(text) if name == LONGEST else -len(text)) for text in texts]
    if name == OVERLAP:
        return [letter_overlap(item.text, text, item.language, item.target) for text in texts]
    # The middle: traps are made to resemble the right option, which therefore tends to be most like the others
    totals = [0.0] * len(texts)
    for position, text in enumerate(texts):
        for other_position, other in enumerate(texts):
            if position != other_position:
                totals[position] += letter_overlap(text, other, item.target, item.target)
    return totals
