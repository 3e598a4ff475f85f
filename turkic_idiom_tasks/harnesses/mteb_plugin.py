"""Extension of mteb by the start-up hook: tasks, the benchmark, models, and a guard against scores of other data."""

import functools
import logging
import sys
from types import ModuleType
from typing import Any

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses.hook import TARGETS

log = logging.getLogger("turkic_idiom_tasks")


def _finished_classes() -> dict[str, Any]:
    """Return name -> class of all our tasks; empty while their module, which registers at its end, is imported."""
    from turkic_idiom_tasks.harnesses import mteb_tasks  # late, because it imports parts of mteb

    return getattr(mteb_tasks, "TASK_CLASSES", {})


def add_tasks(module: ModuleType) -> None:
    """Add our task classes to `mteb.tasks`, whose names mteb collects next; a task that mteb has stays mteb's."""
    known = {}
    for value in vars(module).values():
        if isinstance(value, type) and hasattr(value, "metadata"):
            known[value.metadata.name] = value
    for name, task in _finished_classes().items():
        if name not in known:
            setattr(module, task.__name__, task)
        elif known[name] is not task:
            log.info("%s ships with this mteb; mteb's own task is used", name)


def add_benchmark(module: ModuleType) -> None:
    """Add our benchmark to `mteb.benchmarks.benchmarks`."""
    from turkic_idiom_tasks.harnesses import mteb_tasks  # late, as above

    names = [getattr(value, "name", None) for value in vars(module).values()]
    if _finished_classes() and mteb_tasks.BENCHMARK_NAME not in names:
        module.TURKIC_IDIOM = mteb_tasks.make_benchmark()  # type: ignore[attr-defined]


def add_models(module: ModuleType) -> None:
    """Add our models to mteb's registry."""
    from turkic_idiom_tasks.harnesses import mteb_models  # late, because it imports parts of mteb

    # Otherwise it is being imported, and registers at its own end
    if hasattr(mteb_models, "register_models"):
        mteb_models.register_models(module.MODEL_REGISTRY)


def guard_cached_results(module: ModuleType) -> None:
    """Make mteb's result cache refuse a finished result of ours that was computed on other data."""
    original = module.ResultCache.load_task_result
    if hasattr(original, "__wrapped__"):
        return

    @functools.wraps(original)
    def load_task_result(cache: Any, task_name: str, *args: Any, **kwargs: Any) -> Any:
        result = original(cache, task_name, *args, **kwargs)
        task = _finished_classes().get(task_name)
        if result is None or task is None:
            return result
        data = task.open_data()
        # mteb reads a finished file without checking its data. With TURKIC_IDIOM_DATA a task can be run on several data
        # sets, and the scores of one must never be shown for another.
        if result.dataset_revision != data.revision:
            raise InputError(
                f"{cache.cache_path} holds {task_name} scores of other data (revision {result.dataset_revision[:12]}; "
                f"the data in use is {data.path}, revision {data.revision[:12]}); choose another output folder, or "
                "overwrite them with --overwrite-strategy always (mteb) or --overwrite (turkic-idiom)"
            )
        return result

    module.ResultCache.load_task_result = load_task_result


def add_late() -> None:
    """Register with an mteb that built its registries before the hook was installed."""
    # The attribute `mteb.get_tasks` is the function
    get_tasks = sys.modules.get("mteb.get_tasks")
    if get_tasks is None or not hasattr(get_tasks, "_TASKS_REGISTRY"):
        # mteb is still being imported, so the hook on mteb.tasks registers the tasks
        return
    new = {name: task for name, task in _finished_classes().items() if name not in get_tasks._TASKS_REGISTRY}
    if new:
        get_tasks.TASK_LIST = (*get_tasks.TASK_LIST, *new.values())  # type: ignore[attr-defined]
        get_tasks._TASKS_REGISTRY.update(new)
    for name, (plugin, function) in TARGETS.items():
        if plugin == __name__ and name in sys.modules:
            globals()[function](sys.modules[name])
    if "mteb.benchmarks.get_benchmark" in sys.modules:
        registry = sys.modules["mteb.benchmarks.get_benchmark"]
        # They would go on to list the benchmarks from before ours was added
        registry._build_registry.cache_clear()
        registry._build_aliases_registry.cache_clear()
