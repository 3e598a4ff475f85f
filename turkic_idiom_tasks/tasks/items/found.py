"""Items from found text: which sense a use has, and which idiom is missing where a sentence says enough."""

from collections import Counter
from collections.abc import Sequence

from turkic_idiom_tasks.dataset.sentences import FoundUse
from turkic_idiom_tasks.tasks.items import item_types as types
from turkic_idiom_tasks.tasks.items.item_types import FIGURATIVE, FOUND, LITERAL, Item, Option
from turkic_idiom_tasks.tasks.items.open_tasks import CLOZE_OPEN
from turkic_idiom_tasks.tasks.items.written import BLANK


def found_items(task: str, language: str, uses: Sequence[FoundUse]) -> tuple[Item, ...]:
    """Return the items of `usage` or `cloze_open` from the uses of a language, sorted by id; other tasks have none."""
    ordered = sorted(uses, key=lambda use: types.stable_hash(FOUND, use.id))
    prefix = f"{task}{FOUND}{language}/"
    kind = types.CLOZE if task == CLOZE_OPEN else task
    asked: list[tuple[FoundUse, str, tuple[Option, ...], int]] = []  # with text, options and the position of the right
    if task == types.USAGE:
        # An idiom of two concepts is asked about once in a sentence
        distinct = {(use.idiom, use.sentence): use for use in ordered}.values()
        literal = [use for use in distinct if use.sense == LITERAL]
        idiomatic = [use for use in distinct if use.sense != LITERAL]
        has_literal = {use.idiom for use in literal}
        # As many idiomatic uses, those of the same idioms first. Idioms take turns, so that few have many uses
        n_earlier: Counter[str] = Counter()
        ranks: dict[str, tuple[bool, int]] = {}
        for use in idiomatic:
            ranks[use.id] = (use.idiom not in has_literal, n_earlier[use.idiom])
            n_earlier[use.idiom] += 1
        chosen = literal + sorted(idiomatic, key=lambda use: ranks[use.id])[: len(literal)]
        positions = types.balanced([use.id for use in chosen], 2, purpose=f"position of {prefix}")
        for use in chosen:
            right, wrong = (LITERAL, FIGURATIVE) if use.sense == LITERAL else (FIGURATIVE, LITERAL)
            options = (Option(wrong), Option(right)) if positions[use.id] else (Option(right), Option(wrong))
            asked.append((use, use.sentence, options, positions[use.id]))
    elif task == CLOZE_OPEN:
        # An interrupted idiom leaves several gaps. Of an idiom one sentence is asked about.
        answerable = {use.idiom: use for use in ordered if use.answerable and len(use.spans) == 1}
        for use in answerable.values():
            (gap,) = use.spans
            text = use.sentence[: gap.start] + BLANK + use.sentence[gap.end :]
            asked.append((use, text, (Option(gap.of(use.sentence), use.concept),), 0))
    items = []
    for use, shown, choices, place in asked:
        items.append(Item(prefix + use.id, kind, language, language, use.concept, use.idiom, shown, choices, place))
    return tuple(sorted(items, key=lambda item: item.id))
