"""What the start-up hook adds to lm-eval: the folder of the span tasks, the model for token classifiers, provenance.

lm-eval has no way yet in which another package adds a folder of tasks, so some of its names are touched that it does
not document: `lm_eval_private` lists them. The stock command cannot pass an argument to a task either, so the data
comes from the environment variable TURKIC_IDIOM_DATA, which only `current_dataset` reads.
"""

from __future__ import annotations

import functools
import logging
import os
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from turkic_idiom_tasks import __version__
from turkic_idiom_tasks.dataset import Dataset, open_dataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.integrations import DATA_VARIABLE
from turkic_idiom_tasks.languages import LANGUAGES

log = logging.getLogger("turkic_idiom_tasks")

TASK_FOLDER = Path(__file__).parent / "lm_eval_tasks"
MODEL_NAME = "token-classifier"
MODEL_TARGET = "turkic_idiom_tasks.integrations.lm_eval_model:TokenClassifierLM"
VARIANTS = ("", "_xml", "_native")  # of the prompt; endings of task and group names
GROUPS = tuple(f"turkic_idiom_span{variant}" for variant in VARIANTS)


def current_dataset() -> Dataset:
    """Return the data that TURKIC_IDIOM_DATA names, otherwise the bundled lexicon; each is opened once per process.

    Raises:
        InputError: it cannot be used; says why.
    """
    return _open(os.environ.get(DATA_VARIABLE, ""))


@lru_cache(maxsize=4)
def _open(name: str) -> Dataset:
    return open_dataset(name)


def add_tasks(module: ModuleType) -> None:
    """Make every `TaskManager` of `lm_eval.tasks.manager` look into our folder, after the built-in tasks.

    Languages that the data lacks are left out of the groups. An lm-eval that finds our folder by its entry point is
    left to do so.
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
    """Return the folders that the user wants to include, with ours before them unless it is there already."""
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
    """Register the model by its import path, once `lm_eval.models` has filled the registry."""
    from lm_eval.api.registry import model_registry  # only a host that uses lm-eval imports it

    if MODEL_NAME not in model_registry:
        model_registry.register(MODEL_NAME, target=MODEL_TARGET)


def add_provenance(module: ModuleType) -> None:
    """Make `lm_eval.evaluator.simple_evaluate` say in the results of our tasks which data they are of."""
    original = module.simple_evaluate

    @functools.wraps(original)
    def simple_evaluate(*args: Any, **options: Any) -> Any:
        results = original(*args, **options)
        _name_the_data((results or {}).get("configs", {}))
        return results

    simple_evaluate.names_data = True  # type: ignore[attr-defined]
    module.simple_evaluate = simple_evaluate  # type: ignore[attr-defined]


def add_late() -> None:
    """Extend an lm-eval that is imported already, where the hook could not run; safe to call again."""
    manager = sys.modules.get("lm_eval.tasks.manager")
    if manager is not None and not hasattr(manager.TaskManager.__init__, "__wrapped__"):
        add_tasks(manager)
    models = sys.modules.get("lm_eval.models")
    if models is not None:
        add_model(models)
    evaluator = sys.modules.get("lm_eval.evaluator")
    if evaluator is not None and not hasattr(evaluator.simple_evaluate, "names_data"):
        add_provenance(evaluator)


def _name_the_data(configs: Mapping[str, dict[str, Any]]) -> None:
    """Write data, its revision and our version into the metadata of our tasks among the configs of a result."""
    for name, config in configs.items():
        if name.startswith(GROUPS[0]):
            dataset = current_dataset()
            provenance = {"data": dataset.path, "data_revision": dataset.revision, "turkic_idiom_tasks": __version__}
            config["metadata"] = {**(config.get("metadata") or {}), **provenance}


def _leave_out_absent_languages(manager: Any) -> None:
    if not os.environ.get(DATA_VARIABLE):  # the bundled lexicon has all languages
        return
    try:
        dataset = current_dataset()
        languages = dataset.span_languages
    except InputError:
        return  # a task of ours says so when it is loaded; the tasks of others are not concerned
    absent = [code for code in LANGUAGES if code not in languages]
    if not languages or not absent:
        return
    log.warning("%s has no span sentences in %s; left out of the groups", dataset.path, ", ".join(absent))
    present = {f"turkic_idiom_span_{code}{variant}" for code in languages for variant in VARIANTS}
    for name in GROUPS:
        entry = manager.task_index.get(name)
        if entry is not None and entry.yaml_path and Path(entry.yaml_path).parent.resolve() == TASK_FOLDER.resolve():
            entry.cfg = {**entry.cfg, "task": [task for task in entry.cfg["task"] if task in present]}
            entry.yaml_path = None  # from now on cfg counts
