"""Extension of lm-eval by the start-up hook: the folder of the span tasks, the token classifier, provenance.

lm-eval has no documented way yet for another package to add a folder of tasks, so some undocumented names are used:
`private_names` lists them.
"""

from __future__ import annotations

import functools
import logging
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from turkic_idiom_tasks import __version__
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.integrations import DATA_VARIABLE
from turkic_idiom_tasks.integrations.current_data import current_dataset
from turkic_idiom_tasks.languages import LANGUAGES

log = logging.getLogger("turkic_idiom_tasks")

TASK_FOLDER = Path(__file__).parent / "lm_eval_tasks"
MODEL_NAME = "token-classifier"
MODEL_TARGET = "turkic_idiom_tasks.integrations.lm_eval_model:TokenClassifierLM"
VARIANTS = ("", "_xml", "_native")  # endings of task and group names, one for each kind of prompt
GROUPS = tuple(f"turkic_idiom_span{variant}" for variant in VARIANTS)


def add_tasks(module: ModuleType) -> None:
    """Make every `TaskManager` of `lm_eval.tasks.manager` read our folder after the built-in tasks.

    Languages that the data lacks are left out of the groups. If lm-eval finds our folder by its entry point, the folder
    is not added again.
    """
    original = module.TaskManager.__init__

    @functools.wraps(original)
    def __init__(  # noqa: N807
        manager: Any, verbosity: Any = None, include_path: Any = None, *args: Any, **options: Any
    ) -> None:
        original(manager, verbosity, with_our_folder(include_path, module), *args, **options)
        manager.include_path = include_path
        _leave_out_absent_languages(manager)

    module.TaskManager.__init__ = __init__


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
            if name.startswith(GROUPS[0]):
                dataset = current_dataset()
                provenance = {"data": dataset.path, "data_revision": dataset.revision}
                provenance["turkic_idiom_tasks"] = __version__
                config["metadata"] = {**(config.get("metadata") or {}), **provenance}
        return results

    simple_evaluate.names_data = True  # type: ignore[attr-defined]
    module.simple_evaluate = simple_evaluate  # type: ignore[attr-defined]


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
        entry = manager.task_index.get(group)
        if entry is not None and entry.yaml_path and Path(entry.yaml_path).parent.resolve() == TASK_FOLDER.resolve():
            absent_tasks = [f"turkic_idiom_span_{code}{variant}" for code in absent]
            tasks = [task for task in entry.cfg["task"] if task not in absent_tasks]
            entry.cfg = {**entry.cfg, "task": tasks}
            entry.yaml_path = None  # otherwise lm-eval would read the file again instead of cfg
