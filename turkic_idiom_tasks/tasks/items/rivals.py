"""Rivals: traps of the kinds `meaning_rivals` and `equivalent_rivals`, all of them near the right option in meaning.

The traps come from ``nearest_concepts.jsonl``: for each concept those of the same part of speech among the 60 whose
glosses and meanings have the nearest vectors, by intfloat/multilingual-e5-small. Concepts that are not in the file, as
in other lexicons, are not asked.
"""

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path

from turkic_idiom_tasks.io.reading import read_json_lines
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.tasks.items.item_types import N_RIVALS, NEAR, Option
from turkic_idiom_tasks.tasks.items.likeness import letter_overlap
from turkic_idiom_tasks.tasks.items.traps import Accepts, Choice, Question, Relations, pool_keys

# Of the nearest concepts, as many come in the order of their likeness to the nearest trap rather than to the right
# option. In their own order, the option most like the others was the right one in 21% of the items, now in 11%
_N_UNLIKE = 15
# Written by `benchmarks/nearest_concepts.py`, so that no task needs an encoder
NEAREST = Path(__file__).with_name("nearest_concepts.jsonl")


class Rivals:
    """Options of one kind and language that are near a right one; see `traps.Pools`."""

    def __init__(self, texts: Mapping[str, str], relations: Relations, *, language: str) -> None:
        """Take the options from concept -> text."""
        self._texts = texts
        self._relations = relations
        self._language = LANGUAGES[language]

    def traps(
        self, question: Question, *, key: str, n_shorter: int, accepts: Accepts | None = None
    ) -> tuple[Option, ...] | None:
        """Return the nine nearest traps, if possible `n_shorter` shorter ones; None if fewer are near.

        With `accepts` the first trap is one that it takes, if any.
        """
        gold, lexicon = question.gold, self._relations.lexicon
        # A step further than elsewhere: of the options that a reader found defensible, half were two judgements away
        barred = {*question.excluded, *self._relations.alike(self._relations.alike([gold.concept]))}
        choice = Choice(gold, barred, n_shorter, accepts=accepts, language=self._language, n_options=N_RIVALS)
        form = pool_keys(lexicon, gold, self._language)[0]
        near = []
        # Without judgements there are no traps, because a nearest concept may be right too
        for concept in _nearest().get(gold.concept, ()) if self._relations.are_judged else ():
            candidate = Option(self._texts.get(concept, ""), concept)
            if candidate.text and pool_keys(lexicon, candidate, self._language)[0] == form:
                near.append(candidate)
        if question.shares_stem is None:  # across languages the letters of the options say less
            # By how much more their letters are like the right option than like the nearest trap
            like = partial(letter_overlap, first_language=self._language.code, second_language=self._language.code)
            nearest = near[0].text if near else ""
            near[1:_N_UNLIKE] = sorted(
                near[1:_N_UNLIKE], key=lambda option: like(option.text, gold.text) - like(option.text, nearest)
            )
        for is_chosen, needs_length in ((accepts is not None, True), (False, True), (False, False)):
            for candidate in near:
                n_traps = len(choice.options)
                if n_traps == N_RIVALS - 1 or (is_chosen and n_traps):
                    break
                if choice.fits(candidate, is_random=is_chosen, needs_length=needs_length):
                    choice.take(candidate, NEAR, alike=self._relations.alike([candidate.concept]))
        return tuple(choice.options) if len(choice.options) == N_RIVALS - 1 else None


@cache
def _nearest() -> dict[str, list[str]]:
    """Return concept -> concepts that are near it, the nearest first."""
    return {row["concept"]: row["nearest"] for _, row, _ in read_json_lines(NEAREST)}
