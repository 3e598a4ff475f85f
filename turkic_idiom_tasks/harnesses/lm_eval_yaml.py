"""Task files of the language-model tasks: their names, and the text of each.

The files are written once, with ``python -m turkic_idiom_tasks.harnesses.lm_eval_yaml``, and are part of the
package; nothing is generated when lm-eval reads them. What tasks have in common is in the files that begin with an
underscore, which are written by hand. A test compares the files with what this module writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from turkic_idiom_tasks.io.files import write_text
from turkic_idiom_tasks.tasks.items.item_types import CLOZE, EQUIVALENT, KINDS, USAGE, ItemSet
from turkic_idiom_tasks.tasks.items.items import item_sets
from turkic_idiom_tasks.tasks.items.prompts import CLOZE_OPEN
from turkic_idiom_tasks.tasks.siblings import questions
from turkic_idiom_tasks.tasks.siblings.astitch import ASTITCH_LANGUAGES

FOLDER = Path(__file__).parent / "lm_eval_tasks" / "items"
ASTITCH_FOLDER = FOLDER.with_name("astitch")
PREFIX = "turkic_idiom_"
ALL = "turkic_idiom_lm"
GENERATIVE, PROMPTS = "_gen", "_prompts"  # endings of names
VERSION = "1.0"  # raised when the same answers get other scores

_NO_USAGE = "gag"  # the lexicon has no literal sentences in Gagauz
_SCORES = {USAGE: "_usage_scores", CLOZE_OPEN: "_cloze_open_scores"}
_MEANS = {
    USAGE: ("accuracy", "accuracy_corrected", "pair_accuracy", "recall_figurative", "recall_literal"),
    CLOZE_OPEN: ("exact", "accepted", "lemma"),
}
_ASTITCH_MEANS = ("macro_f1", "accuracy")
_CHOICE_MEANS = ("accuracy", "accuracy_corrected", "near_share", "lexical_share", "random_share")


@dataclass(frozen=True, slots=True)
class Task:
    """A task of lm-eval.

    Attributes:
        kind: a kind of items, or `CLOZE_OPEN`.
        items: the set that is asked.
        generates: whether the answer is written and not chosen by likelihood.
    """

    kind: str
    items: ItemSet
    generates: bool

    @property
    def group(self) -> str:
        """Name of the group of the same kind in all languages."""
        return f"{PREFIX}{self.kind}{self._ending}"

    @property
    def name(self) -> str:
        """Name that the user gives: ``turkic_idiom_meaning_tr``, ``turkic_idiom_equivalent_tr_uz_gen``."""
        return f"{PREFIX}{self.kind}_{'_'.join(self.languages)}{self._ending}"

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the language of the idiom and, if it is another one, of the options."""
        both = (self.items.language, self.items.target)
        return both if self.kind == EQUIVALENT else both[:1]

    @property
    def _ending(self) -> str:
        return GENERATIVE if self.generates and self.kind != CLOZE_OPEN else ""


@dataclass(frozen=True, slots=True)
class AStitchTask:
    """A task of lm-eval on AStitchInLanguageModels.

    Attributes:
        kind: one of `similarity.questions.KINDS`.
        language: ``eng`` or ``por``.
        generates: whether the answer is written and not chosen by likelihood.
    """

    kind: str
    language: str
    generates: bool

    @property
    def group(self) -> str:
        """Name of the group of both languages."""
        return f"astitch_{self.kind}{GENERATIVE if self.generates else ''}"

    @property
    def name(self) -> str:
        """Name that the user gives: ``astitch_idiomaticity_eng``, ``astitch_meaning_por_gen``."""
        return f"astitch_{self.kind}_{self.language}{GENERATIVE if self.generates else ''}"


def tasks() -> list[Task]:
    """Return every task, in the order of groups."""
    in_order = []
    for item_set in item_sets():
        if (item_set.kind, item_set.language) != (USAGE, _NO_USAGE):
            in_order += [Task(item_set.kind, item_set, generates=generates) for generates in (False, True)]
            if item_set.kind == CLOZE:
                in_order.append(Task(CLOZE_OPEN, item_set, generates=True))
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


def files() -> dict[str, str]:
    """Return the name of every file and its text."""
    texts = {}
    for task in tasks():
        texts[f"{task.name}.yaml"] = _task(task)
    for name, members in groups().items():
        texts[f"{name}.yaml"] = _group(name, members)
    return texts


def _task(task: Task) -> str:
    way = "_generation" if task.generates else "_loglikelihood"
    languages = "".join(f", {key}: {code}" for key, code in zip(("language", "target"), task.languages, strict=False))
    return (
        f"include: [_common, {way}, {_SCORES.get(task.kind, '_choice_scores')}]\n"
        f"task: {task.name}\n"
        f"task_alias: {'-'.join(task.languages)}\n"
        f"metadata: {{version: {VERSION}, kind: {task.kind}{languages}}}\n"
    )


def _group(name: str, members: Sequence[str]) -> str:
    lines = [f"group: {name}", "task:"]
    lines += [f"  - {member}" for member in members]
    if name.endswith(PROMPTS) and not name.startswith(ALL):
        lines.append("dataset_kwargs: {all_prompts: true}  # for every task of the group")
    if not name.startswith(ALL):
        kind = name.removeprefix(PREFIX).removesuffix(PROMPTS).removesuffix(GENERATIVE)
        means = list(_MEANS.get(kind, _CHOICE_MEANS))
        if name.endswith(PROMPTS):
            means.append("accepted_spread" if kind == CLOZE_OPEN else "accuracy_spread")
        lines.append("aggregate_metric_list:")
        lines += [f"  - {{metric: {metric}, aggregation: mean, weight_by_size: false}}" for metric in means]
    lines.append(f"metadata: {{version: {VERSION}}}")
    return "\n".join(lines) + "\n"


def astitch_tasks() -> list[AStitchTask]:
    """Return every task on AStitchInLanguageModels, in the order of groups."""
    in_order = []
    for kind in questions.KINDS:
        for generates in (False, True):
            in_order += [AStitchTask(kind, language, generates=generates) for language in ASTITCH_LANGUAGES]
    return in_order


def astitch_files() -> dict[str, str]:
    """Return the name of every file of the tasks on AStitchInLanguageModels, and its text."""
    texts = {}
    members: dict[str, list[str]] = {}
    for task in astitch_tasks():
        way = "_generation" if task.generates else "_loglikelihood"
        members.setdefault(task.group, []).append(task.name)
        texts[f"{task.name}.yaml"] = (
            f"include: [{way}, _common]\n"
            f"task: {task.name}\n"
            f"task_alias: {task.language}\n"
            f"metadata: {{version: {VERSION}, kind: {task.kind}, language: {task.language}}}\n"
        )
    for group, names in members.items():
        lines = [f"group: {group}", "task:", *(f"  - {name}" for name in names), "aggregate_metric_list:"]
        lines += [f"  - {{metric: {metric}, aggregation: mean, weight_by_size: false}}" for metric in _ASTITCH_MEANS]
        lines.append(f"metadata: {{version: {VERSION}}}")
        texts[f"{group}.yaml"] = "\n".join(lines) + "\n"
    return texts


def write() -> None:
    """Write every file, and remove those of tasks that there are no more."""
    for folder, texts in ((FOLDER, files()), (ASTITCH_FOLDER, astitch_files())):
        for path in folder.glob("*.yaml"):
            if path.name not in texts:
                path.unlink()
        for name, text in texts.items():
            write_text(folder / name, text)


if __name__ == "__main__":
    write()
