"""Extension of lm-eval by the start-up hook: the folder of our tasks, the token classifier, provenance."""

import atexit
import functools
import logging
import os
import shutil
import tempfile
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses import DATA_VARIABLE, FOUND_VARIABLE, TASK_FOLDER
from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.harnesses.lm_eval_yaml import PREFIX, SPAN_ENDINGS, groups, tasks, write_files
from turkic_idiom_tasks.languages import LANGUAGES, counted, own_records
from turkic_idiom_tasks.tasks.items.items import build_items
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS
from turkic_idiom_tasks.tasks.items.scoring import answers_digest
from turkic_idiom_tasks.version import __version__

log = logging.getLogger("turkic_idiom_tasks")

MODEL_NAME = "token-classifier"
GROUPS = tuple(f"{PREFIX}span{ending}" for ending in SPAN_ENDINGS)  # one for each kind of prompt
_TASKS, _ITEM_GROUPS = tasks(), groups()
_GROUPS = dict(_ITEM_GROUPS)
for _group in GROUPS:
    _TASKS |= {_group.replace("_span", f"_span_{code}"): ("span", (code,)) for code in LANGUAGES}
    _GROUPS[_group] = [_group.replace("_span", f"_span_{code}") for code in counted(LANGUAGES)]
# The tasks in each group, and in the groups in it, which stand before it in the table
_TASKS_OF = {name: [name] for name in _TASKS}
for _group, _members in _GROUPS.items():
    _TASKS_OF[_group] = list(chain.from_iterable(_TASKS_OF[member] for member in _members))


def add_tasks(module: ModuleType) -> None:
    """Make every `TaskManager` of `lm_eval.tasks.manager` read our folder after the built-in tasks."""
    # lm-eval has no documented way yet for a package to add a folder of tasks, so undocumented names are used
    # (`private_names`)
    original = module.TaskManager.__init__
    if hasattr(original, "__wrapped__"):
        return
    load_spec = module.TaskManager._load_spec

    @functools.wraps(original)
    def __init__(  # noqa: N807
        manager: Any, verbosity: Any = None, include_path: Any = None, *args: Any, **options: Any
    ) -> None:
        folders = include_path if isinstance(include_path, list | tuple) else [include_path] if include_path else []
        find_plugins = getattr(module, "discover_plugin_task_paths", list)  # in releases after 0.4.13
        known = {Path(folder).resolve() for folder in (*folders, *find_plugins())}
        # Ours comes first, because a later folder replaces tasks of the same name: the user's stay the user's. It is
        # not added again if lm-eval finds it by its entry point.
        ours = [] if TASK_FOLDER.resolve() in known and _task_folder() == TASK_FOLDER else [_task_folder()]
        original(manager, verbosity, [*ours, *folders], *args, **options)
        manager.include_path = include_path  # a caller reads what it gave

    @functools.wraps(load_spec)
    def _load_spec(manager: Any, spec: Any) -> Any:
        # Only when a group is asked for, because it takes time to find out what the data lacks
        # The bundled lexicon has something for every task
        has_other_data = bool(os.environ.get(DATA_VARIABLE))
        if has_other_data and isinstance(spec, str) and spec in _GROUPS:
            _leave_out_absent(manager, spec)
        return load_spec(manager, spec)

    module.TaskManager.__init__ = __init__
    module.TaskManager._load_spec = _load_spec


def add_model(module: ModuleType) -> None:
    """Register the model by its import path, after `lm_eval.models` has filled the registry."""
    # Late, because only hosts that use lm-eval should import it
    from lm_eval.api.registry import model_registry

    if MODEL_NAME not in model_registry:
        model_registry.register(MODEL_NAME, target="turkic_idiom_tasks.harnesses.lm_eval_model:TokenClassifierLM")


def add_provenance(module: ModuleType) -> None:
    """Make the results of our tasks from `lm_eval.evaluator.simple_evaluate` name their data."""
    original = module.simple_evaluate
    if hasattr(original, "names_data"):
        return

    @functools.wraps(original)
    def simple_evaluate(*args: Any, **options: Any) -> Any:
        # None in all processes of a distributed run but the first
        results = original(*args, **options) or {}
        for name, config in results.get("configs", {}).items():
            metadata = config.get("metadata") or {}
            # The user may have tasks whose names begin with astitch_, so the whole name must be as ours are made
            is_astitch = name.removesuffix("_gen") == f"astitch_{metadata.get('kind')}_{metadata.get('language')}"
            if name.startswith(PREFIX):
                is_found = (config.get("dataset_kwargs") or {}).get("found", False)
                dataset = current_dataset(os.environ[FOUND_VARIABLE] if is_found else "")
                path, revision = dataset.path, dataset.revision
            elif is_astitch:
                from turkic_idiom_tasks.harnesses.siblings.lm_eval_astitch import data_in_use  # late: loads lm-eval

                path, revision = data_in_use(metadata["kind"], metadata["language"])
            else:
                continue
            provenance = {"data": path, "data_revision": revision, "turkic_idiom_tasks": __version__}
            if metadata.get("kind") in OPEN_TASKS:
                # Scores of open tasks depend on which answers were judged
                provenance["judged_answers"] = answers_digest()
            config["metadata"] = {**metadata, **provenance}
        return results or None

    simple_evaluate.names_data = True  # type: ignore[attr-defined]  # lm-eval decorates the function too, so `__wrapped__` does not tell
    module.simple_evaluate = simple_evaluate  # type: ignore[attr-defined]


def add_standard_errors(module: ModuleType) -> None:
    """Make `lm_eval.evaluator_utils` take the standard error of a score that brings its own."""
    original = module.stderr_for_metric
    if hasattr(original, "__wrapped__"):
        return

    @functools.wraps(original)
    def stderr_for_metric(metric: Any, bootstrap_iters: int) -> Any:
        own = getattr(metric, "standard_error", None)
        return own if own and bootstrap_iters > 0 else original(metric, bootstrap_iters)

    module.stderr_for_metric = stderr_for_metric  # type: ignore[attr-defined]


@functools.cache
def _task_folder() -> Path:
    """Return the folder of our tasks; a temporary copy with more of them if the data bring languages of their own."""
    if not own_records(LANGUAGES):
        return TASK_FOLDER
    parent = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, parent, ignore_errors=True)
    folder = Path(shutil.copytree(TASK_FOLDER, Path(parent) / TASK_FOLDER.name))
    write_files(folder)
    return folder


def _leave_out_absent(manager: Any, group: str) -> None:
    """Shorten a group, and the groups in it, by the tasks that the data has nothing for."""
    try:
        dataset = current_dataset()
        absent = []
        for name in _TASKS_OF[group]:
            kind, languages = _TASKS[name]
            is_span = kind == "span"
            if not (languages[0] in dataset.span_languages if is_span else build_items(dataset, kind, *languages)):
                absent.append(name)
    except InputError:
        # Our tasks raise this error when they are loaded; other tasks must work without the data
        return
    # A group that would be empty stays: its tasks raise an error that says what is missing
    if not absent or len(absent) == len(_TASKS_OF[group]):
        return
    # The mean over items in some of the languages is undefined
    has_mean = group not in _ITEM_GROUPS
    end = "" if has_mean else ", which then have no mean"
    log.warning("%s has no data for %s; left out of the groups%s", dataset.path, ", ".join(absent), end)
    for name in (group, *_GROUPS[group]):
        entry = manager.task_index.get(name)
        if name not in _GROUPS or entry is None or not entry.yaml_path:
            continue
        if _task_folder().resolve() not in Path(entry.yaml_path).resolve().parents:
            # A group of the same name that the user has made
            continue
        members = [member for member in entry.cfg["task"] if not set(_TASKS_OF[member]) <= set(absent)]
        if members != entry.cfg["task"]:
            entry.cfg = {**entry.cfg, "task": members}
            if not has_mean:
                entry.cfg.pop("aggregate_metric_list", None)
            # Otherwise lm-eval would read the file again instead of cfg
            entry.yaml_path = None
