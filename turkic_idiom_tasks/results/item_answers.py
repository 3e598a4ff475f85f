"""What a language model answered to the items of one set: an option or a text for each, as one more prediction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from functools import cached_property, lru_cache

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.sentences import TaggedSentence
from turkic_idiom_tasks.dataset.similarity import content_digest
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import display, is_unseen
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.tasks.items.item_types import CLOZE, Item
from turkic_idiom_tasks.tasks.items.items import HARD_TASKS, KINDS, build_items, item_sets, kind_of
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS
from turkic_idiom_tasks.tasks.items.scoring import judge_open

ITEM_TASKS = tuple(dict.fromkeys((*KINDS, *OPEN_TASKS, *HARD_TASKS)))
GENERATION, LOGLIKELIHOOD = METHODS = ("generation", "loglikelihood")
MAX_ANSWER = 200  # characters of an open answer that are kept; the longest idiom in its sentence has about 60

Answer = int | str | None  # position of the chosen option, text in an open task, or not readable


@dataclass(frozen=True, eq=False)
class TestItems:
    """Test items of one task and subset, sorted by id."""

    __test__ = False  # no test class, whatever pytest thinks of its name

    task: str  # one of `ITEM_TASKS`
    subset: str  # ``tr``, or ``tr-uz`` for `equivalent`
    language: str  # code of the language of the options
    rows: tuple[Item, ...]
    lexicon: Lexicon  # where the items come from; says which open answers are accepted

    @property
    def concepts(self) -> tuple[str, ...]:
        """Return the concept of each item."""
        return tuple(item.concept for item in self.rows)

    @cached_property
    def row(self) -> Mapping[str, int]:
        """Return id -> position."""
        return {item.id: position for position, item in enumerate(self.rows)}

    @cached_property
    def digest(self) -> str:
        """Return twelve digits that change with any item: a position says nothing about other options."""
        return content_digest([astuple(item) for item in self.rows])[:12]

    @property
    def chance(self) -> float:
        """Return the accuracy of guessing: the mean of 1 / number of options, 0 without options."""
        if self.task in OPEN_TASKS:
            return 0.0
        return sum(1 / len(item.options) for item in self.rows) / len(self.rows)


@dataclass(frozen=True, slots=True, eq=False)
class ItemAnswers:
    """A model's answers to the items of one task and subset, in the order of the items."""

    items: TestItems
    answers: tuple[Answer, ...]
    prompt: str  # the variant of the prompt that was asked
    method: str  # one of `METHODS`: whether the model wrote its answer, or the most likely option counts

    def unjudged(self) -> list[dict[str, str]]:
        """Return the answers to an open task that nobody has judged, with what a judge of them has to know."""
        if self.items.task not in OPEN_TASKS:
            return []
        rows = []
        texts = [answer if isinstance(answer, str) else None for answer in self.answers]
        judgements = judge_open(self.items.task, self.items.rows, texts, self.items.lexicon)
        for item, answer, judgement in zip(self.items.rows, self.answers, judgements, strict=True):
            if judgement["unjudged"]:
                entry = self.items.lexicon.of(item.target)[item.concept]
                about = {"language": item.target, "concept": item.concept, "meaning": entry.meaning or ""}
                about |= {"sentence": item.text} if OPEN_TASKS[self.items.task].kind == CLOZE else {}
                rows.append(about | {"idiom": entry.idiom, "answer": str(answer)})
        return rows


def all_item_subsets() -> dict[str, tuple[str, ...]]:
    """Return task -> every subset that data may have, in the usual order."""
    subsets: dict[str, tuple[str, ...]] = dict.fromkeys(KINDS, ())
    for item_set in item_sets():
        subsets[item_set.kind] += ("-".join(item_set.languages),)
    return {task: subsets[kind_of(task)] for task in ITEM_TASKS}


def item_subsets(dataset: Dataset, task: str) -> tuple[str, ...]:
    """Return the subsets of a task of `ITEM_TASKS` in which the data have a test item."""
    return tuple(subset for subset in all_item_subsets()[task] if find_items(dataset, task, subset) is not None)


def row_digest(row: Item | TaggedSentence) -> str:
    """Return the digest by which the log of a harness shows of which edition an item or a sentence is."""
    return content_digest([astuple(row)])


@lru_cache(maxsize=1024)  # about twice the sets of one dataset
def find_items(dataset: Dataset, task: str, subset: str) -> TestItems | None:
    """Return the test items of a task and subset; None if the data have none."""
    if task not in ITEM_TASKS or subset not in all_item_subsets()[task]:
        return None
    language, _, target = subset.partition("-")
    try:
        lexicon = dataset.lexicon
    except InputError:
        # Data with test queries only has no lexicon
        return None
    items = build_items(dataset, task, language, target or None)
    return TestItems(task, subset, target or language, items, lexicon) if items else None


def answer_fault(item: Item, answer: object, *, is_open: bool) -> str | None:
    """Return what is wrong with an answer from a file; None if nothing is."""
    if answer is None:
        return None
    if not is_open:
        is_option = type(answer) is int and 0 <= answer < len(item.options)
        last = len(item.options) - 1
        return None if is_option else f"needs the position of an option, 0 to {last}, or null, not {display(answer)}"
    if not isinstance(answer, str) or not answer.strip():
        return f"needs a text or null, not {display(answer)}"
    if len(answer) > MAX_ANSWER:
        return f"has a text of {len(answer)} characters; at most {MAX_ANSWER} are allowed"
    unseen = [character for character in answer if is_unseen(character) or not character.isprintable()]
    return f"has the character {display(unseen[0])}, which cannot be seen" if unseen else None


def plain_text(text: str) -> str | None:
    """Return an open answer as it is kept: without characters that cannot be seen, and no longer than `MAX_ANSWER`."""
    seen = [character for character in " ".join(text.split()) if character.isprintable() and not is_unseen(character)]
    return "".join(seen)[:MAX_ANSWER].strip() or None
