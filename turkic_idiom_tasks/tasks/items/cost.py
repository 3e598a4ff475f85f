"""What asking a set of items costs: requests, and tokens of the prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from turkic_idiom_tasks.tasks.items.item_types import CLOZE, Item
from turkic_idiom_tasks.tasks.items.prompts import CLOZE_OPEN, EN1, letters, open_prompt, prompt

# A rough mean. The vocabulary of all-MiniLM-L6-v2, which is English, gives 2.4 to 3.4 under the English prompts and 1.8
# to 2.3 under the native ones; multilingual vocabularies need fewer tokens.
CHARACTERS_PER_TOKEN = 2.5
ANSWER_TOKENS = 2  # a letter with the space before it

CountTokens = Callable[[str], float]


@dataclass(frozen=True, slots=True)
class Cost:
    """What one task costs under one prompt."""

    task: str  # name without the prefix of lm-eval's tasks: ``meaning_tr``, ``cloze_open_gag``
    n_items: int
    choice_requests: int  # where the likelihoods of the options are compared; 0 for the open cloze
    choice_tokens: int  # of these requests
    written_requests: int  # where the model writes the answer
    written_tokens: int  # of these requests, without those that the model writes


def by_characters(text: str) -> float:
    """Return a rough number of tokens of a text."""
    return len(text) / CHARACTERS_PER_TOKEN


def costs(
    name: str, items: Sequence[Item], *, shots: int = 0, variant: str = EN1, count: CountTokens = by_characters
) -> list[Cost]:
    """Return the cost of a set, and if it is of the kind `cloze` that of the open cloze too.

    Each prompt has a number of examples (`shots`), which are counted as long as the mean question. Chat templates and
    reasoning come on top.
    """
    choice_requests, choice_tokens, written_tokens = 0, 0.0, 0.0
    for item in items:
        length = (1 + shots) * count(prompt(item, variant))
        written_tokens += length
        choice_requests += len(letters(item))
        choice_tokens += len(letters(item)) * (length + ANSWER_TOKENS)
    priced = [Cost(name, len(items), choice_requests, round(choice_tokens), len(items), round(written_tokens))]
    if items and items[0].kind == CLOZE:
        open_tokens = (1 + shots) * sum(count(open_prompt(item, variant)) for item in items)
        priced.append(Cost(name.replace(CLOZE, CLOZE_OPEN, 1), len(items), 0, 0, len(items), round(open_tokens)))
    return priced
