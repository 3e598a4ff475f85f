"""Items of a dataset: which sets there are, and the items of each."""

from dataclasses import replace
from functools import lru_cache, partial

from turkic_idiom_tasks.dataset.base import Dataset
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.languages import LANGUAGES, get_language
from turkic_idiom_tasks.splits import TEST
from turkic_idiom_tasks.tasks.items import item_types as types
from turkic_idiom_tasks.tasks.items.choice_kinds import equivalent_items, meaning_items, usage_items
from turkic_idiom_tasks.tasks.items.found import found_items
from turkic_idiom_tasks.tasks.items.item_types import KINDS as KINDS
from turkic_idiom_tasks.tasks.items.item_types import Item, ItemSet, Kind, Option
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS, RECALL, SITUATION_OPEN
from turkic_idiom_tasks.tasks.items.scoring import HARD, right_shares
from turkic_idiom_tasks.tasks.items.traps import Relations
from turkic_idiom_tasks.tasks.items.written import written_items

_meaning_rivals = partial(meaning_items, kind=types.MEANING_RIVALS)
_equivalent_rivals = partial(equivalent_items, kind=types.EQUIVALENT_RIVALS)
KINDS |= {
    types.MEANING: Kind(meaning_items),
    types.EQUIVALENT: Kind(equivalent_items, is_directed=True),
    types.USAGE: Kind(usage_items),
    types.CLOZE: Kind(partial(written_items, kind=types.CLOZE)),
    types.SITUATION: Kind(partial(written_items, kind=types.SITUATION)),
    types.MEANING_RIVALS: Kind(_meaning_rivals, n_options=types.N_RIVALS, wording=types.MEANING),
    types.EQUIVALENT_RIVALS: Kind(
        _equivalent_rivals, is_directed=True, n_options=types.N_RIVALS, wording=types.EQUIVALENT
    ),
}
# Name -> the kind or open task of whose items it asks the hard ones alone; see `scoring.HARD`
HARD_TASKS = {f"{task}_hard": task for task in (*KINDS, *OPEN_TASKS)}
OPEN_TASKS |= {name: OPEN_TASKS[whole] for name, whole in HARD_TASKS.items() if whole in OPEN_TASKS}


def build_items(
    dataset: Dataset, kind: str, language: str, target: str | None = None, *, split: str = TEST
) -> tuple[Item, ...]:
    """Return the items of one set, sorted by id; none if the dataset has nothing for it. They are kept in memory.

    The set is of a kind or of an open task. The languages are those of the idiom and, only for a directed kind, of the
    options (`target`). The split ``train`` is for examples in a prompt. A dataset without entries is an InputError.
    """
    is_directed = KINDS[known_kind(kind)].is_directed
    source = get_language(language).code
    other = get_language(target).code if target is not None else source
    if is_directed == (other == source):
        needed = "two different languages" if is_directed else "one language"
        raise usage_error(f"items of kind {kind} need {needed}, not language {language!r} with target {target!r}")
    return _items(dataset, kind, source, other, split)


def kind_of(task: str) -> str:
    """Return the kind of the items of a task: of an open task that of its items, else itself."""
    whole = whole_of(task)
    return OPEN_TASKS[whole].kind if whole in OPEN_TASKS else whole


def whole_of(task: str) -> str:
    """Return the kind or open task of whose items a hard one asks a part; itself for any other."""
    return HARD_TASKS.get(task, task)


def known_kind(task: str) -> str:
    """Return the kind of the items of a task; raise InputError if there is none."""
    if kind_of(task) not in KINDS:
        known = [name for name in (*KINDS, *OPEN_TASKS) if name not in HARD_TASKS]
        raise usage_error(f"unknown kind of items {task!r}; known: {', '.join(known)}")
    return kind_of(task)


def items_of_set(dataset: Dataset, item_set: ItemSet, *, split: str = TEST) -> tuple[Item, ...]:
    """Return the items of a set; see `build_items`."""
    return _items(dataset, item_set.kind, item_set.language, item_set.target, split)


def item_sets() -> list[ItemSet]:
    """Return every set that a dataset may have, in a fixed order."""
    sets = []
    for kind, builder in KINDS.items():
        for language in LANGUAGES:
            targets = [code for code in LANGUAGES if code != language] if builder.is_directed else [language]
            sets += [ItemSet(kind, language, target) for target in targets]
    return sets


@lru_cache(maxsize=1024)  # about twice the sets of one dataset
def _items(dataset: Dataset, kind: str, language: str, target: str, split: str) -> tuple[Item, ...]:
    uses = dataset.uses(language)
    if uses is not None:
        return found_items(kind, language, uses) if split == TEST else ()
    if kind in HARD_TASKS:
        if LANGUAGES[language].provisional or LANGUAGES[target].provisional:
            return ()  # too few: in Gagauz the panel produced all but two, in the others it was not asked to
        whole = _items(dataset, HARD_TASKS[kind], language, target, split)
        if split != TEST:  # examples in a prompt, which the panel was not asked
            return whole
        # Where the panel was not asked the very question, an idiom is hard that it did not produce from its meaning
        shares = _produced(dataset, SITUATION_OPEN if kind_of(kind) == types.SITUATION else RECALL, target)
        return tuple(item for item in whole if shares.get(item.concept, 1) <= HARD)
    if kind in OPEN_TASKS:
        # The items of open tasks are those of their kinds, in the same order, with the right answer as the only option:
        # without the traps, so that other traps make no other item
        asked = []
        for item in _items(dataset, kind_of(kind), language, target, split):
            text = OPEN_TASKS[kind].text(dataset.lexicon, item)
            answer = Option(item.idiom, item.concept) if item.kind == types.MEANING else item.options[item.gold]
            if text:
                asked.append(replace(item, text=text, options=(answer,), gold=0))
        return tuple(asked)
    items = KINDS[kind].build(_relations(dataset), language, target, split=split)
    return tuple(sorted(items, key=lambda item: item.id))


@lru_cache(maxsize=64)
def _produced(dataset: Dataset, task: str, language: str) -> dict[str, float]:
    items = _items(dataset, task, language, language, TEST)
    shares = right_shares(task, items, dataset.lexicon)
    return {item.concept: shares[item.id] for item in items if item.id in shares}


@lru_cache(maxsize=4)
def _relations(dataset: Dataset) -> Relations:
    return Relations(dataset.lexicon)
