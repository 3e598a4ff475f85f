"""Sentences, options and situations that were written for items, where code cannot derive them from the lexicon."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from turkic_idiom_tasks.tasks.items.item_types import LEXICAL, NEAR, RANDOM, Option
from turkic_idiom_tasks.tasks.items.traps import Accepts, Candidate, Question, Relations


@cache
def written(name: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Return language and concept -> the row of a file of this folder, in JSON lines."""
    rows = {}
    for line in Path(__file__).with_name(name).read_text("utf-8").splitlines():
        row = json.loads(line)
        rows[row["language"], row["concept"]] = row
    return rows


class WrittenTraps:
    """The traps that were written for one item, for which nothing else can be chosen."""

    def __init__(self, candidates: Sequence[Candidate], relations: Relations) -> None:
        self._candidates = candidates
        self._relations = relations

    def traps(
        self, question: Question, *, key: str, n_shorter: int, accepts: Accepts | None = None
    ) -> tuple[Option, ...] | None:
        """Return the traps with their types; None if one was judged to be like the right option since. See `Pool`."""
        closeness = self._relations.closeness(question.gold.concept)
        options = []
        for candidate in self._candidates:
            concept = candidate.concept
            if concept in question.excluded:
                return None
            trap = LEXICAL if concept in question.likeness else NEAR if concept in closeness else RANDOM
            options.append(Option(candidate.text, concept, trap))
        return tuple(options)
