"""Names of the lm-eval tasks on items, and of their groups."""

from __future__ import annotations

from dataclasses import dataclass

from turkic_idiom_tasks.tasks.items.item_types import CLOZE, KINDS, USAGE
from turkic_idiom_tasks.tasks.items.items import item_sets
from turkic_idiom_tasks.tasks.items.prompts import CLOZE_OPEN

PREFIX = "turkic_idiom_"
ALL = "turkic_idiom_lm"
GENERATIVE, PROMPTS = "_gen", "_prompts"  # endings of names
_NO_USAGE = (USAGE, "gag")  # the lexicon has no literal sentences in Gagauz


@dataclass(frozen=True, slots=True)
class Task:
    """A task of lm-eval on one set of items."""

    kind: str  # of the items, or `CLOZE_OPEN`
    languages: tuple[str, ...]  # codes of the language of the idiom and, if it is another one, of the options
    generates: bool  # whether the answer is written and not chosen by likelihood

    @property
    def group(self) -> str:
        """Name of the group of the same kind in all languages."""
        return f"{PREFIX}{self.kind}{self._ending}"

    @property
    def name(self) -> str:
        """Name that the user gives: ``turkic_idiom_meaning_tr``, ``turkic_idiom_equivalent_tr_uz_gen``."""
        return f"{PREFIX}{self.kind}_{'_'.join(self.languages)}{self._ending}"

    @property
    def _ending(self) -> str:
        return GENERATIVE if self.generates and self.kind != CLOZE_OPEN else ""


def tasks() -> list[Task]:
    """Return every task, in the order of groups."""
    in_order = []
    for item_set in item_sets():
        if (item_set.kind, item_set.language) != _NO_USAGE:
            in_order += [Task(item_set.kind, item_set.languages, generates=generates) for generates in (False, True)]
            if item_set.kind == CLOZE:
                in_order.append(Task(CLOZE_OPEN, item_set.languages, generates=True))
    return in_order


def groups() -> dict[str, list[str]]:
    """Return the name of every group and its members, tasks or other groups."""
    members: dict[str, list[str]] = {}
    for task in tasks():
        members.setdefault(task.group, []).append(task.name)
        members.setdefault(task.group + PROMPTS, []).append(task.name)
    for generative in ("", GENERATIVE):
        for prompts in ("", PROMPTS):
            kinds = [f"{PREFIX}{kind}{generative}{prompts}" for kind in KINDS]
            members[f"{ALL}{generative}{prompts}"] = [*kinds, f"{PREFIX}{CLOZE_OPEN}{prompts}"]
    return members
