"""What the hook adds to lm-eval: the folder of the span tasks, and the model that scores token classifiers."""

from __future__ import annotations

import functools
import logging
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.sources import asked_data

log = logging.getLogger("turkic_idiom_tasks")

TASK_FOLDER = Path(__file__).parent.parent / "span_detection" / "harness"
MODEL_NAME = "token-classifier"
MODEL_TARGET = "turkic_idiom_tasks.span_detection.lm_eval_model:TokenClassifierLM"
GROUPS = ("turkic_idiom_span", "turkic_idiom_span_xml", "turkic_idiom_span_native")


def add_tasks(module: ModuleType) -> None:
    """Makes every `TaskManager` of `lm_eval.tasks.manager` look into our folder, after the built-in tasks.

    Languages that the data in TURKIC_IDIOM_DATA lacks are left out of the groups. An lm-eval that finds our folder by
    its entry point is left to do so.
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
    """What the user asked to include, with our folder before it unless it is there already."""
    asked = list(include_path) if isinstance(include_path, list | tuple) else [include_path] if include_path else []
    known = [*asked, *getattr(module, "discover_plugin_task_paths", list)()]
    if any(Path(path).resolve() == TASK_FOLDER.resolve() for path in known):
        return asked
    return [TASK_FOLDER, *asked]


def add_model(module: ModuleType) -> None:
    """Registers the model, imported when it is used; `module` is `lm_eval.models`, which has filled the registry."""
    from lm_eval.api.registry import model_registry

    if MODEL_NAME not in model_registry:
        model_registry.register(MODEL_NAME, target=MODEL_TARGET)


def add_provenance(module: ModuleType) -> None:
    """Makes `lm_eval.evaluator.simple_evaluate` say in the results of our tasks which data they are of."""
    original = module.simple_evaluate

    @functools.wraps(original)
    def simple_evaluate(*args: Any, **options: Any) -> Any:
        results = original(*args, **options)
        ours = [name for name in (results or {}).get("configs", {}) if name.startswith(GROUPS[0])]
        if ours:
            from turkic_idiom_tasks.span_detection.sentences import current_spans

            source = current_spans()
            for name in ours:
                metadata = results["configs"][name].get("metadata") or {}
                data = {"data": source.path, "data_revision": source.revision}
                results["configs"][name]["metadata"] = {**metadata, **data}
        return results

    simple_evaluate.names_data = True  # type: ignore[attr-defined]
    module.simple_evaluate = simple_evaluate  # type: ignore[attr-defined]


def add_late() -> None:
    """Extends an lm-eval that is imported already, where the hook could not run; safe to call again."""
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
    from turkic_idiom_tasks.span_detection.sentences import open_spans

    if not asked_data():  # the bundled lexicon has all five
        return
    try:
        languages = open_spans(asked_data()).languages
    except InputError:
        return  # the task says so when it is loaded; other tasks are none of our business
    absent = [code for code in LANGUAGES if code not in languages]
    if absent:
        log.warning("%s has no span sentences in %s; left out of the groups", asked_data(), ", ".join(absent))
    present = {f"turkic_idiom_span_{code}{suffix}" for code in languages for suffix in ("", "_xml", "_native")}
    for name in GROUPS:
        entry = manager.task_index.get(name)
        if entry is not None and entry.yaml_path and Path(entry.yaml_path).parent.resolve() == TASK_FOLDER.resolve():
            entry.cfg = {**entry.cfg, "task": [task for task in entry.cfg["task"] if task in present]}
            entry.yaml_path = None  # what is in cfg counts
