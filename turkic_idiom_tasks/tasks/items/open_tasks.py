"""Open tasks: items that are asked without options, so that the model has to write an idiom.

A further one is an entry of `OPEN_TASKS`, and a case of `OpenTask.text` if it shows a text that no other does; all
harnesses, scores and pages follow from it.
"""

from dataclasses import dataclass
from typing import Literal

from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.tasks.items.item_types import CLOZE, EQUIVALENT, MEANING, SITUATION, Item
from turkic_idiom_tasks.tasks.items.written import blanked

CLOZE_OPEN, RECALL, RECALL_EN, RECALL_THREE, TRANSLATE, SITUATION_OPEN = (
    "cloze_open", "recall", "recall_en", "recall_three", "translate", "situation_open",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class OpenTask:
    """How the items of a kind are asked without options. The names of fields are those of ``wordings.yaml``."""

    title: str  # for people
    kind: str  # whose items are asked
    shown: Literal["blanked example", "meaning", "gloss", "other sentence", "text of the item"]  # see `text`
    task: str  # name of what is asked
    label: str  # field with the label of the text
    form: str = "by_idiom"  # field with the form of the answer
    names_idiom: bool = False  # whether the idiom of the item is shown besides
    n_answers: int = 1  # at most

    def text(self, lexicon: Lexicon, item: Item) -> str | None:
        """Return the text that is shown; None or empty where an item cannot be asked."""
        entry = lexicon.of(item.language).get(item.concept)
        if entry is None:
            return None
        if self.shown == "blanked example":
            return blanked(entry)
        if self.shown == "meaning":
            return entry.meaning
        if self.shown == "gloss":
            concept = lexicon.concepts.get(item.concept)
            return concept.gloss if concept else None
        if self.shown == "other sentence":
            # With the idiom, but not its example, which `cloze` asks about; else the idiom alone
            further = [example.text for example in entry.examples if example.spans]
            return entry.paraphrased_example or next(iter(further), entry.idiom)
        return item.text


OPEN_TASKS = {
    CLOZE_OPEN: OpenTask("Idiom for a blank", CLOZE, "blanked example", "cloze_open", "sentence", "by_words"),
    RECALL: OpenTask("Idiom for a meaning", MEANING, "meaning", "recall", "definition"),
    RECALL_EN: OpenTask("Idiom for an English meaning", MEANING, "gloss", "recall", "definition"),
    RECALL_THREE: OpenTask(
        "Three idioms for a meaning", MEANING, "meaning", "recall", "definition", "by_idioms", n_answers=3
    ),
    TRANSLATE: OpenTask(
        "Idiom of another language", EQUIVALENT, "other sentence", "translate", "sentence", names_idiom=True
    ),
    SITUATION_OPEN: OpenTask("Idiom for a situation", SITUATION, "text of the item", "situation", "situation"),
}
ANSWER_SEPARATOR = "; "  # between several answers to one item
