"""Items from found text: which sense a use has, and which idiom is missing where a sentence says enough."""

from collections import Counter
from collections.abc import Iterable, Sequence

from turkic_idiom_tasks.dataset.sentences import FoundUse
from turkic_idiom_tasks.tasks.items.item_types import (
    CLOZE,
    FIGURATIVE,
    FOUND,
    LITERAL,
    USAGE,
    Item,
    Option,
    balanced,
    stable_hash,
)
from turkic_idiom_tasks.tasks.items.open_tasks import CLOZE_OPEN
from turkic_idiom_tasks.tasks.items.written import BLANK


def found_items(task: str, language: str, uses: Sequence[FoundUse]) -> tuple[Item, ...]:
    """Return the items of `usage` or `cloze_open` from the uses of a language, sorted by id; other tasks have none."""
    ordered = sorted(uses, key=lambda use: stable_hash(FOUND, use.id))
    prefix = f"{task}{FOUND}{language}/"
    items = []
    if task == USAGE:
        chosen = _both_senses(ordered)
        positions = balanced([use.id for use in chosen], 2, purpose=f"position of {prefix}")
        for use in chosen:
            right, wrong = (FIGURATIVE, LITERAL) if use.is_idiomatic else (LITERAL, FIGURATIVE)
            options = (Option(wrong), Option(right)) if positions[use.id] else (Option(right), Option(wrong))
            items.append(_item(USAGE, prefix, language, use, use.sentence, options, positions[use.id]))
    elif task == CLOZE_OPEN:
        # An interrupted idiom leaves several gaps. Of an idiom one sentence is asked about.
        answerable = {use.concept: use for use in ordered if use.is_answerable and len(use.spans) == 1}
        for use in answerable.values():
            (gap,) = use.spans
            text = use.sentence[: gap.start] + BLANK + use.sentence[gap.end :]
            answer = Option(gap.of(use.sentence), use.concept)
            items.append(_item(CLOZE, prefix, language, use, text, (answer,), 0))
    return tuple(sorted(items, key=lambda item: item.id))


def _both_senses(uses: Iterable[FoundUse]) -> list[FoundUse]:
    """Return all literal uses and as many idiomatic ones, those of the same idioms first.

    Idioms take turns, so that few of them have many uses. An idiom of two concepts is asked about once in a sentence.
    """
    distinct = {(use.idiom, use.sentence): use for use in uses}.values()
    literal = [use for use in distinct if not use.is_idiomatic]
    has_literal = {use.idiom for use in literal}
    n_earlier: Counter[str] = Counter()
    ranked: list[tuple[bool, int, int, FoundUse]] = []
    for use in distinct:
        if use.is_idiomatic:
            ranked.append((use.idiom not in has_literal, n_earlier[use.idiom], len(ranked), use))
            n_earlier[use.idiom] += 1
    return literal + [use for *_, use in sorted(ranked, key=lambda row: row[:3])[: len(literal)]]


def _item(
    kind: str, prefix: str, language: str, use: FoundUse, text: str, options: tuple[Option, ...], gold: int
) -> Item:
    return Item(prefix + use.id, kind, language, language, use.concept, use.idiom, text, options, gold)
