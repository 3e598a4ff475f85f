"""Names of the tasks of language models and of their groups, and the text of each task file.

The files are written once, with ``python -m turkic_idiom_tasks.harnesses.lm_eval_yaml``, and are part of the
package; only where the data bring languages of their own are they written again when lm-eval reads them. What tasks
have in common is in the files that begin with an underscore, which are written by hand. A test compares the others with
what this module writes.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from turkic_idiom_tasks.harnesses import TASK_FOLDER
from turkic_idiom_tasks.io.files import write_text
from turkic_idiom_tasks.languages import LANGUAGES, counted
from turkic_idiom_tasks.tasks.items.item_types import CLOZE, EQUIVALENT, EQUIVALENT_RIVALS, MEANING_RIVALS, USAGE
from turkic_idiom_tasks.tasks.items.items import HARD_TASKS, KINDS, item_sets, kind_of
from turkic_idiom_tasks.tasks.items.open_tasks import (
    CLOZE_OPEN,
    OPEN_TASKS,
    RECALL,
    RECALL_THREE,
    TRANSLATE,
)

PREFIX = "turkic_idiom_"
ALL = "turkic_idiom_lm"
GENERATIVE, OPEN, HARD, PROMPTS = "_gen", "_open", "_hard", "_prompts"  # ends of names
TO = "_to_"  # before the target language at the end of a name
FOLDER = TASK_FOLDER / "items"
# Of the tasks of a kind: raised when the same lexicon gives other items, or the same answers get other scores
VERSIONS = defaultdict(lambda: "2.0", dict.fromkeys((CLOZE, RECALL, EQUIVALENT, TRANSLATE), "3.0"))
VERSIONS[CLOZE_OPEN] = "4.0"
VERSIONS |= dict.fromkeys((MEANING_RIVALS, EQUIVALENT_RIVALS), "2.0")  # 1.0 lacked the concepts of edition 4
VERSIONS |= {name: VERSIONS[whole] for name, whole in HARD_TASKS.items()}
SPAN_ENDINGS = ("", "_xml", "_native")  # of the tasks and groups on spans
GROUP_VERSION = "4.0"  # raised when a group has another mean

# File with the scores of a task, and those that a group has as means
_SCORES: dict[str, tuple[str, Sequence[str]]] = dict.fromkeys(KINDS, ("_choice_scores", ("acc", "acc_corrected")))
_SCORES[USAGE] = ("_usage_scores", ("acc", "acc_corrected", "pair_acc"))
_SCORES |= dict.fromkeys(OPEN_TASKS, ("_open_scores", ("exact_match", "accepted", "unjudged")))
_SCORES[RECALL_THREE] = ("_open_three_scores", ("first", "accepted", "unjudged"))
_SCORES |= {name: _SCORES[whole] for name, whole in HARD_TASKS.items()}


def tasks() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return the name of every task -> its kind and the codes of its languages, in the order of groups.

    The kind is that of its items or an open task; the languages are those of `ItemSet.languages`. Names are such as
    ``turkic_idiom_meaning_tr`` and ``turkic_idiom_equivalent_tr_uz_gen``.
    """
    tasks = {}
    for item_set in item_sets():
        # The choice between figurative and literal use needs sentences with literal use
        if item_set.kind == USAGE and not LANGUAGES[item_set.language].literal_sentences:
            continue
        is_provisional = any(LANGUAGES[code].provisional for code in item_set.languages)
        for kind in dict.fromkeys((*KINDS, *OPEN_TASKS, *HARD_TASKS)):
            if kind_of(kind) != item_set.kind or (kind in HARD_TASKS and is_provisional):
                continue
            # The answer to an open task is always written, so its name needs no ending
            for ending in ("",) if kind in OPEN_TASKS else ("", GENERATIVE):
                tasks[f"{PREFIX}{kind}_{'_'.join(item_set.languages)}{ending}"] = (kind, item_set.languages)
    return tasks


def groups() -> dict[str, list[str]]:
    """Return the name of every group and its members, tasks or other groups."""
    members: dict[str, list[str]] = {}
    for name, (kind, languages) in tasks().items():
        # A group has a mean, in which provisional languages do not count
        if any(LANGUAGES[code].provisional for code in languages):
            continue
        group = f"{PREFIX}{kind}{GENERATIVE if name.endswith(GENERATIVE) else ''}"
        members.setdefault(group, []).append(name)
        members.setdefault(group + PROMPTS, []).append(name)
        if kind in OPEN_TASKS and len(languages) > 1:
            members.setdefault(f"{group}{TO}{languages[1]}", []).append(name)
    written = [f"{kind}{GENERATIVE}" for kind in KINDS]
    # Without the hard tasks, whose items are asked anyway
    unaided = [kind for kind in OPEN_TASKS if kind not in HARD_TASKS]
    hard = [kind if kind in OPEN_TASKS else f"{kind}{GENERATIVE}" for kind in HARD_TASKS]
    # lm-eval refuses a run of two groups with a task in common, so open tasks do not stand beside likelihoods
    for ending, kinds in (("", [*KINDS]), (GENERATIVE, [*written, *unaided]), (OPEN, unaided), (HARD, hard)):
        for prompts in ("", PROMPTS):
            members[f"{ALL}{ending}{prompts}"] = [f"{PREFIX}{kind}{prompts}" for kind in kinds]
    return members


def files() -> dict[str, str]:
    """Return the name of every file of the tasks on items, and its text."""
    texts = {}
    for name, (kind, languages) in tasks().items():
        way = "_generation" if name.endswith(GENERATIVE) or kind in OPEN_TASKS else "_loglikelihood"
        keys = zip(("language", "target"), languages, strict=False)
        arguments = "".join(f", {key}: {code}" for key, code in keys)
        texts[f"{name}.yaml"] = (
            f"include: [_common, {way}, {_SCORES[kind][0]}]\n"
            f"task: {name}\n"
            f"metadata: {{version: {VERSIONS[kind]}, kind: {kind}{arguments}}}\n"
        )
    for name, members in groups().items():
        if name.startswith(ALL):
            texts[f"{name}.yaml"] = _group_file(name, members)
            continue
        kind = name.removeprefix(PREFIX).removesuffix(PROMPTS).removesuffix(GENERATIVE).partition(TO)[0]
        options = ""
        if name.endswith(PROMPTS):
            # lm-eval hands what a group sets down to its tasks, so that no task files are needed for these groups
            options = "dataset_kwargs: {all_prompts: true}  # for every task of the group\n"
        texts[f"{name}.yaml"] = _group_file(name, members, means=_SCORES[kind][1], options=options)
    for kind, endings in ((USAGE, ("", GENERATIVE)), (CLOZE_OPEN, ("",))):
        for ending in endings:
            means = [metric for metric in _SCORES[kind][1] if metric != "pair_acc"]  # there are no pairs
            texts |= _found_files(kind, ending, means)
    return texts


def language_files() -> dict[str, str]:
    """Return the name of every file of the tasks on spans and explanations, and its text."""
    texts = {}
    # Groups have means, in which provisional languages do not count
    certain = counted(LANGUAGES)
    for kind, endings, means in (("explain", ("",), ["answered"]), ("span", SPAN_ENDINGS, ["f1", "token_f1"])):
        for ending in endings:
            name, members = f"{PREFIX}{kind}{ending}", [f"{PREFIX}{kind}_{code}{ending}" for code in certain]
            texts[f"{name}.yaml"] = _group_file(name, members, means=means)
    texts |= _found_files("span", "", ["f1", "token_f1"])
    for code in LANGUAGES:
        for kind, module in (("explain", "lm_eval_explain"), ("span", "lm_eval_spans")):
            name = f"{PREFIX}{kind}_{code}"
            texts[f"{name}.yaml"] = (
                f"include: _{kind}_common\n"
                f"task: {name}\n"
                f"custom_dataset: !function turkic_idiom_tasks.harnesses.{module}.load_{code}\n"
            )
        for ending, functions in (("_xml", ("text", "target")), ("_native", ("text",))):
            texts[f"{name}{ending}.yaml"] = f"include: {name}.yaml\ntask: {name}{ending}\n" + "".join(
                f"doc_to_{function}: !function turkic_idiom_tasks.harnesses.lm_eval_spans.{function}{ending}\n"
                for function in functions
            )
    return texts


def _found_files(kind: str, ending: str, means: Sequence[str]) -> dict[str, str]:
    """Return the files of a kind of tasks on found text, which are those of the kind with other data."""
    found, certain = f"{PREFIX}{kind}_found", counted(LANGUAGES)
    members = {f"{found}_{code}{ending}": f"{PREFIX}{kind}_{code}{ending}.yaml" for code in certain}
    texts = {f"{found}{ending}.yaml": _group_file(f"{found}{ending}", [*members], means=means)}
    for name, file in members.items():
        texts[f"{name}.yaml"] = f"include: {file}\ntask: {name}\ndataset_kwargs: {{found: true}}\n"
    return texts


def _group_file(name: str, members: Sequence[str], *, means: Iterable[str] = (), options: str = "") -> str:
    """Return the text of the file of a group, with the scores that it has as means over its members, each alike."""
    text = f"group: {name}\ntask:\n" + "".join(f"  - {member}\n" for member in members) + options
    # lm-eval weighs the members by their size unless it is told not to; languages should count alike
    lines = [f"  - {{metric: {metric}, aggregation: mean, weight_by_size: false}}\n" for metric in means]
    if lines:
        text += "aggregate_metric_list:\n" + "".join(lines)
    return text + f"metadata: {{version: {GROUP_VERSION}}}\n"


def write_files(folder: Path) -> None:
    """Write the task files of all languages to a folder like ours, in place of those that are there."""
    for place, texts in ((folder / "items", files()), (folder, language_files())):
        for old in place.glob("*.yaml"):
            # The file of a task that is gone would remain a task of lm-eval
            old.unlink()
        for name, text in texts.items():
            write_text(place / name, text)


if __name__ == "__main__":
    write_files(TASK_FOLDER)
