"""Open tasks: items that are asked without options, so that the model has to write an idiom.

A further one is an entry of `OPEN_TASKS`; all harnesses, scores and pages follow from it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.tasks.items.item_types import CLOZE, EQUIVALENT, MEANING, SITUATION, Item, Option
from turkic_idiom_tasks.tasks.items.written import blanked

CLOZE_OPEN, RECALL, RECALL_EN, RECALL_THREE, TRANSLATE, SITUATION_OPEN = (
    "cloze_open", "recall", "recall_en", "recall_three", "translate", "situation_open",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class OpenTask:
    """How the items of a kind are asked without options. The names of fields are those of ``wordings.yaml``."""

    title: str  # for people
    kind: str  # whose items are asked
    shown: Callable[[Entry, Item, Lexicon], str | None]  # see `text`, from the entry of the idiom
    task: str  # name of what is asked
    label: str  # field with the label of the text
    form: str = "by_idiom"  # field with the form of the answer
    names_idiom: bool = False  # whether the idiom of the item is shown besides
    n_answers: int = 1  # at most

    @property
    def fills_blank(self) -> bool:
        """Whether the answer stands in a sentence, in the form that it needs there; all others are citation forms."""
        return self.kind == CLOZE

    def text(self, lexicon: Lexicon, item: Item) -> str | None:
        """Return the text that is shown; None where an item cannot be asked."""
        entry = lexicon.of(item.language).get(item.concept)
        return None if entry is None else self.shown(entry, item, lexicon)


def _sentence_besides_the_example(entry: Entry, _item: Item, _lexicon: Lexicon) -> str:
    """Return a sentence with the idiom that is not its example; else the idiom alone."""
    # The example is what `cloze` asks about
    further = [example.text for example in entry.examples if example.spans]
    return entry.paraphrased_example or next(iter(further), entry.idiom)


def _meaning(entry: Entry, _item: Item, _lexicon: Lexicon) -> str | None:
    return entry.meaning


def _gloss(_entry: Entry, item: Item, lexicon: Lexicon) -> str | None:
    return lexicon.concepts[item.concept].gloss or None if item.concept in lexicon.concepts else None


OPEN_TASKS = {
    CLOZE_OPEN: OpenTask(
        "Idiom for a blank", CLOZE, lambda entry, *_: blanked(entry), "cloze_open", "sentence", "by_words"
    ),
    RECALL: OpenTask("Idiom for a meaning", MEANING, _meaning, "recall", "definition"),
    RECALL_EN: OpenTask("Idiom for an English meaning", MEANING, _gloss, "recall", "definition"),
    RECALL_THREE: OpenTask(
        "Three idioms for a meaning", MEANING, _meaning, "recall", "definition", "by_idioms", n_answers=3
    ),
    TRANSLATE: OpenTask(
        "Idiom of another language",
        EQUIVALENT,
        _sentence_besides_the_example,
        "translate",
        "sentence",
        names_idiom=True,
    ),
    SITUATION_OPEN: OpenTask(
        "Idiom for a situation", SITUATION, lambda _, item, __: item.text, "situation", "situation"
    ),
}
ANSWER_SEPARATOR = "; "  # between several answers to one item


def open_item(task: str, item: Item, lexicon: Lexicon) -> Item | None:
    """Return an item as an open task asks it, with the right answer as its only option; None if it cannot be asked."""
    text = OPEN_TASKS[task].text(lexicon, item)
    answer = Option(item.idiom, item.concept) if item.kind == MEANING else item.options[item.gold]
    # Without the traps, so that other traps make no other item
    return replace(item, text=text, options=(answer,), gold=0) if text else None
