"""Names of the lm-eval tasks on items, and of their groups."""

from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.tasks.items.item_types import USAGE
from turkic_idiom_tasks.tasks.items.items import KINDS, item_sets
from turkic_idiom_tasks.tasks.items.open_tasks import HARD_TASKS, OPEN_TASKS
from turkic_idiom_tasks.tasks.items.panel import panel_answers

PREFIX = "turkic_idiom_"
ALL = "turkic_idiom_lm"
GENERATIVE, OPEN, PROMPTS, TO = "_gen", "_open", "_prompts", "_to_"  # ends of names; the last before a target language


def tasks() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return the name of every task -> its kind and the codes of its languages, in the order of groups.

    The kind is that of its items or an open task; the languages are those of `ItemSet.languages`. Names are such as
    ``turkic_idiom_meaning_tr`` and ``turkic_idiom_equivalent_tr_uz_gen``.
    """
    tasks = {}
    for item_set in item_sets():
        if item_set.kind == USAGE and not LANGUAGES[item_set.language].literal_sentences:
            continue
        endings = [(item_set.kind, ""), (item_set.kind, GENERATIVE)]
        for name, task in OPEN_TASKS.items():
            has_items = name not in HARD_TASKS or (HARD_TASKS[name], item_set.language) in panel_answers()
            if task.kind == item_set.kind and has_items:
                endings.append((name, ""))  # always written, so the name needs no ending
        for kind, ending in endings:
            tasks[f"{PREFIX}{kind}_{'_'.join(item_set.languages)}{ending}"] = (kind, item_set.languages)
    return tasks


def groups() -> dict[str, list[str]]:
    """Return the name of every group and its members, tasks or other groups.

    A group has a mean, so tasks of provisional languages are in none.
    """
    members: dict[str, list[str]] = {}
    for name, (kind, languages) in tasks().items():
        if any(LANGUAGES[code].provisional for code in languages):
            continue
        group = f"{PREFIX}{kind}{GENERATIVE if name.endswith(GENERATIVE) else ''}"
        members.setdefault(group, []).append(name)
        members.setdefault(group + PROMPTS, []).append(name)
        if kind in OPEN_TASKS and len(languages) > 1:
            members.setdefault(f"{group}{TO}{languages[1]}", []).append(name)
    written = [f"{kind}{GENERATIVE}" for kind in KINDS]
    # lm-eval refuses a run of two groups with a task in common, so open tasks do not stand beside likelihoods
    for ending, kinds in (("", [*KINDS]), (GENERATIVE, [*written, *OPEN_TASKS]), (OPEN, [*OPEN_TASKS])):
        for prompts in ("", PROMPTS):
            members[f"{ALL}{ending}{prompts}"] = [f"{PREFIX}{kind}{prompts}" for kind in kinds]
    return members
