"""Extension of lm-eval by the start-up hook: the folder of our tasks, the token classifier, provenance.

lm-eval has no documented way yet for another package to add a folder of tasks, so some undocumented names are used:
`private_names` lists them.
"""

from __future__ import annotations

import functools
import logging
import os
import sys
from collections.abc import Collection
from pathlib import Path
from types import ModuleType
from typing import Any

from turkic_idiom_tasks import __version__
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses import DATA_VARIABLE
from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.harnesses.lm_eval_yaml import PREFIX, astitch_tasks, groups, tasks
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.tasks.siblings.astitch import ASTITCH_SOURCE

log = logging.getLogger("turkic_idiom_tasks")

TASK_FOLDER = Path(__file__).parent / "lm_eval_tasks"
MODEL_NAME = "token-classifier"
MODEL_TARGET = "turkic_idiom_tasks.harnesses.lm_eval_model:TokenClassifierLM"
VARIANTS = ("", "_xml", "_native")  # endings of task and group names, one for each kind of prompt
GROUPS = tuple(f"turkic_idiom_span{variant}" for variant in VARIANTS)
ITEM_GROUPS = groups()
ITEM_TASKS = {task.name: task for task in tasks()}
ASTITCH_TASKS = {task.name: task for task in astitch_tasks()}


def add_tasks(module: ModuleType) -> None:
    """Make every `TaskManager` of `lm_eval.tasks.manager` read our folder after the built-in tasks.

    What the data lacks is left out of the groups: languages of the span tasks at once, items of language models when a
    group is asked for, because they take time to make. If lm-eval finds our folder by its entry point, the folder is
    not added again.
    """
    original = module.TaskManager.__init__
    load_spec = module.TaskManager._load_spec

    @functools.wraps(original)
    def __init__(  # noqa: N807
        manager: Any, verbosity: Any = None, include_path: Any = None, *args: Any, **options: Any
    ) -> None:
        original(manager, verbosity, with_our_folder(include_path, module), *args, **options)
        manager.include_path = include_path
        _leave_out_absent_languages(manager)

    @functools.wraps(load_spec)
    def _load_spec(manager: Any, spec: Any) -> Any:
        if isinstance(spec, str) and spec in ITEM_GROUPS:
            _leave_out_absent_items(manager, spec)
        return load_spec(manager, spec)

    module.TaskManager.__init__ = __init__
    module.TaskManager._load_spec = _load_spec


def with_our_folder(include_path: Any, module: ModuleType) -> list[Any]:
    """Return the folders that the user includes, with ours as the first one unless it is there already."""
    folders = []
    if isinstance(include_path, list | tuple):
        folders = list(include_path)
    elif include_path:
        folders = [include_path]
    find_plugins = getattr(module, "discover_plugin_task_paths", list)  # in releases after 0.4.13
    for folder in (*folders, *find_plugins()):
        if Path(folder).resolve() == TASK_FOLDER.resolve():
            return folders
    return [TASK_FOLDER, *folders]


def add_model(module: ModuleType) -> None:
    """Register the model by its import path, after `lm_eval.models` has filled the registry."""
    from lm_eval.api.registry import model_registry  # late, because only hosts that use lm-eval should import it

    if MODEL_NAME not in model_registry:
        model_registry.register(MODEL_NAME, target=MODEL_TARGET)


def add_provenance(module: ModuleType) -> None:
    """Make `lm_eval.evaluator.simple_evaluate` name the data in the results of our tasks."""
    original = module.simple_evaluate

    @functools.wraps(original)
    def simple_evaluate(*args: Any, **options: Any) -> Any:
        results = original(*args, **options)
        for name, config in (results or {}).get("configs", {}).items():
            if name.startswith(PREFIX) or name in ASTITCH_TASKS:
                config["metadata"] = {**(config.get("metadata") or {}), **_provenance(name)}
        return results

    simple_evaluate.names_data = True  # type: ignore[attr-defined]
    module.simple_evaluate = simple_evaluate  # type: ignore[attr-defined]


def _provenance(name: str) -> dict[str, str]:
    """Return what the results of a task of ours say about its data."""
    if name in ASTITCH_TASKS:
        from turkic_idiom_tasks.harnesses.lm_eval_astitch import data_revision  # late, because it loads lm-eval

        task = ASTITCH_TASKS[name]
        provenance = {"data": ASTITCH_SOURCE, "data_revision": data_revision(task.kind, task.language)}
    else:
        dataset = current_dataset()
        provenance = {"data": dataset.path, "data_revision": dataset.revision}
    return provenance | {"turkic_idiom_tasks": __version__}


def add_late() -> None:
    """Extend an lm-eval that was imported before the hook was installed; it can be called repeatedly."""
    manager = sys.modules.get("lm_eval.tasks.manager")
    if manager is not None and not hasattr(manager.TaskManager.__init__, "__wrapped__"):
        add_tasks(manager)
    models = sys.modules.get("lm_eval.models")
    if models is not None:
        add_model(models)
    evaluator = sys.modules.get("lm_eval.evaluator")
    if evaluator is not None and not hasattr(evaluator.simple_evaluate, "names_data"):
        add_provenance(evaluator)


def _leave_out_absent_languages(manager: Any) -> None:
    if not os.environ.get(DATA_VARIABLE):  # the bundled lexicon has all languages
        return
    try:
        dataset = current_dataset()
        languages = dataset.span_languages
    except InputError:
        return  # our tasks raise this error when they are loaded; other tasks must work without the data
    absent = [code for code in LANGUAGES if code not in languages]
    if not languages or not absent:
        return
    log.warning("%s has no span sentences in %s; left out of the groups", dataset.path, ", ".join(absent))
    for group, variant in zip(GROUPS, VARIANTS, strict=True):
        absent_tasks = [f"turkic_idiom_span_{code}{variant}" for code in absent]
        _shorten(manager, group, absent_tasks)


def _leave_out_absent_items(manager: Any, group: str) -> None:
    """Shorten a group, and the groups in it, by the tasks that the data has no items for.

    The mean of a shortened group is undefined, so it has none. Groups that would be empty stay as they are: their tasks
    raise an error that says what is missing.
    """
    if not os.environ.get(DATA_VARIABLE):  # the bundled lexicon has items for every task
        return
    from turkic_idiom_tasks.harnesses.lm_eval_items import items_of  # late, because it loads lm-eval itself

    try:
        dataset = current_dataset()
        absent = []
        for name in _tasks_of(group):
            task = ITEM_TASKS[name]
            if not items_of(dataset, task.kind, *task.languages):
                absent.append(name)
    except InputError:
        return  # as above
    if not absent or len(absent) == len(_tasks_of(group)):
        return
    log.warning(
        "%s has no items for %s; left out of the groups, which then have no mean", dataset.path, ", ".join(absent)
    )
    for name in (group, *ITEM_GROUPS[group]):
        if name in ITEM_GROUPS:
            empty = [member for member in ITEM_GROUPS[name] if set(_tasks_of(member)) <= set(absent)]
            _shorten(manager, name, empty, has_mean=False)


def _tasks_of(name: str) -> list[str]:
    """Return the names of the tasks in a group, or the name of a task itself."""
    if name in ITEM_TASKS:
        return [name]
    names = []
    for member in ITEM_GROUPS[name]:
        names += _tasks_of(member)
    return names


def _shorten(manager: Any, group: str, absent: Collection[str], *, has_mean: bool = True) -> None:
    """Take members out of a group of ours; a group of the same name that the user has made stays as it is."""
    entry = manager.task_index.get(group)
    if entry is None or not entry.yaml_path or TASK_FOLDER.resolve() not in Path(entry.yaml_path).resolve().parents:
        return
    members = [member for member in entry.cfg["task"] if member not in absent]
    if members == entry.cfg["task"]:
        return
    entry.cfg = {**entry.cfg, "task": members}
    if not has_mean:
        entry.cfg.pop("aggregate_metric_list", None)
    entry.yaml_path = None  # otherwise lm-eval would read the file again instead of cfg
