"""What the hook adds to mteb: tasks, the benchmark, models, and a guard against scores of other data."""

from __future__ import annotations

import functools
import logging
import sys
from types import ModuleType
from typing import Any

from turkic_idiom_tasks.integrations.hook import put_finder
from turkic_idiom_tasks.integrations.report import show_input_errors_as_one_line

# Our task and model modules import parts of mteb, so they are imported when mteb has come far enough.

log = logging.getLogger("turkic_idiom_tasks")


def add_tasks(module: ModuleType) -> None:
    """Add our task classes to `mteb.tasks`, whose names mteb collects next; a task that mteb has stays mteb's."""
    from turkic_idiom_tasks.integrations import mteb_tasks

    if not hasattr(mteb_tasks, "TASK_CLASSES"):  # imported before mteb and not finished: it registers at its own end
        return
    known = {}
    for value in vars(module).values():
        if isinstance(value, type) and hasattr(value, "metadata"):
            known[value.metadata.name] = value
    for name, task in mteb_tasks.TASK_CLASSES.items():
        if name not in known:
            setattr(module, task.__name__, task)
        elif known[name] is not task:
            log.info("%s ships with this mteb; mteb's own task is used", name)


def add_benchmark(module: ModuleType) -> None:
    """Add our benchmark to `mteb.benchmarks.benchmarks`."""
    from turkic_idiom_tasks.integrations import mteb_tasks

    if not hasattr(mteb_tasks, "TASK_CLASSES"):  # as in `add_tasks`
        return
    if not any(getattr(value, "name", None) == mteb_tasks.BENCHMARK_NAME for value in vars(module).values()):
        module.TURKIC_IDIOM = mteb_tasks.make_benchmark()  # type: ignore[attr-defined]


def add_models(module: ModuleType) -> None:
    """Add our models to mteb's registry."""
    from turkic_idiom_tasks.integrations import mteb_models

    if hasattr(mteb_models, "register_models"):  # otherwise as in `add_tasks`
        mteb_models.register_models(module.MODEL_REGISTRY)


def guard_cached_results(module: ModuleType) -> None:
    """Make mteb's result cache refuse a finished result of ours that was computed on other data.

    mteb takes a finished result file for the answer whatever data it came from; with TURKIC_IDIOM_DATA the same task
    can be run on several data sets, and the scores of one must never be shown for another.
    """
    original = module.ResultCache.load_task_result

    @functools.wraps(original)
    def load_task_result(cache: Any, task_name: str, *args: Any, **kwargs: Any) -> Any:
        result = original(cache, task_name, *args, **kwargs)
        if result is not None:
            from turkic_idiom_tasks.integrations import mteb_tasks

            if task_name in mteb_tasks.TASK_CLASSES:
                mteb_tasks.refuse_other_data(result, place=str(cache.cache_path))
        return result

    module.ResultCache.load_task_result = load_task_result


def register_now() -> list[str]:
    """Register everything that the hook did not, and return the names of the tasks; safe to call again."""
    show_input_errors_as_one_line()
    put_finder()  # for what mteb has not imported yet
    import mteb  # noqa: F401  # with the finder in place before, this does everything

    from turkic_idiom_tasks.integrations import mteb_tasks

    add_late()  # for what it had
    return list(mteb_tasks.TASK_CLASSES)


def add_late() -> None:
    """Register with an mteb that has already built its registries, where the hook could not run."""
    get_tasks = sys.modules.get("mteb.get_tasks")  # the attribute `mteb.get_tasks` is the function
    if get_tasks is None or not hasattr(get_tasks, "_TASKS_REGISTRY"):
        return  # still being imported: the hook on mteb.tasks does it
    _add_late_tasks(get_tasks)
    benchmarks = sys.modules.get("mteb.benchmarks.benchmarks")
    if benchmarks is not None:
        add_benchmark(benchmarks)
        registry = sys.modules["mteb.benchmarks.get_benchmark"]
        for cached in ("_build_registry", "_build_aliases_registry"):
            if hasattr(registry, cached):
                getattr(registry, cached).cache_clear()
    models = sys.modules.get("mteb.models.model_implementations")
    if models is not None:
        add_models(models)
    results = sys.modules.get("mteb.cache.result_cache")
    if results is not None and not hasattr(results.ResultCache.load_task_result, "__wrapped__"):
        guard_cached_results(results)


def _add_late_tasks(get_tasks: ModuleType) -> None:
    from turkic_idiom_tasks.integrations import mteb_tasks

    if not hasattr(mteb_tasks, "TASK_CLASSES"):
        return
    new = {}
    for name, task in mteb_tasks.TASK_CLASSES.items():
        if name not in get_tasks._TASKS_REGISTRY:
            new[name] = task
    if new:
        add_tasks(sys.modules["mteb.tasks"])
        get_tasks.TASK_LIST = (*get_tasks.TASK_LIST, *new.values())  # type: ignore[attr-defined]
        get_tasks._TASKS_REGISTRY.update(new)
