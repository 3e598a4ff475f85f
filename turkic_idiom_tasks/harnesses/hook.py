"""Start-up hook, which runs in EVERY interpreter of the environment and so imports nothing but sys and os.

It puts a finder on sys.meta_path that waits for the modules in `TARGETS`. When one of them has been executed, the
finder has our function called with it, which adds our classes in the way in which the module adds its own. A failure is
reported once and never stops the host.
"""

import os
import sys

NO_HOOK_VARIABLE = "TURKIC_IDIOM_NO_HOOK"
_PLUGIN = "turkic_idiom_tasks.harnesses.mteb_plugin"
_LM_EVAL_PLUGIN = "turkic_idiom_tasks.harnesses.lm_eval_plugin"
TARGETS = {  # module that was executed -> (module of ours, function to call with it)
    "mteb.tasks": (_PLUGIN, "add_tasks"),
    "mteb.benchmarks.benchmarks": (_PLUGIN, "add_benchmark"),
    "mteb.models.model_implementations": (_PLUGIN, "add_models"),
    "mteb.cache.result_cache": (_PLUGIN, "guard_cached_results"),
    "lm_eval.tasks.manager": (_LM_EVAL_PLUGIN, "add_tasks"),
    "lm_eval.evaluator": (_LM_EVAL_PLUGIN, "add_provenance"),
    "lm_eval.evaluator_utils": (_LM_EVAL_PLUGIN, "add_standard_errors"),
    "lm_eval.models": (_LM_EVAL_PLUGIN, "add_model"),
}


def extend(module):
    """Call our function for a target module; a failure is reported as a warning and by `turkic-idiom doctor`."""
    try:
        # Late, because this module runs in every interpreter, and most of them never use a harness
        import importlib

        from turkic_idiom_tasks.harnesses.report import show_input_errors_as_one_line

        show_input_errors_as_one_line()
        plugin, function = TARGETS[module.__name__]
        getattr(importlib.import_module(plugin), function)(module)
    except Exception as error:
        # The host's import must succeed even if our code fails
        try:
            from turkic_idiom_tasks.harnesses.report import report_failure

            report_failure(module.__name__, error)
        except Exception as report_error:
            # In a broken environment even the report cannot be imported
            place = module.__name__
            sys.stderr.write(f"turkic-idiom-tasks could not register at {place}: {error!r} ({report_error!r})\n")


class Finder:
    """A meta path finder for the target modules only."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        """Return the module's own spec, whose loader calls `extend` once; None for any other module."""
        if name not in TARGETS:
            return None
        # importlib.util.find_spec would ask this finder again
        for finder in sys.meta_path:
            if finder is Finder or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                extend_when_executed(spec.loader)
                return spec
        return None


def extend_when_executed(loader):
    """Make a loader call `extend` after the next module that it executes, if that is a target."""
    # Without a dictionary it takes no function of its own; `turkic-idiom doctor` tells that nothing is registered
    if not hasattr(loader, "exec_module") or not hasattr(loader, "__dict__"):
        return
    original = loader.exec_module

    def exec_module(module):
        # So that the loader's own is back: some load many modules
        vars(loader).pop("exec_module", None)
        original(module)
        if module.__name__ in TARGETS:
            extend(module)

    loader.exec_module = exec_module


def install() -> None:
    """Install the finder unless TURKIC_IDIOM_NO_HOOK is set; the start-up file calls this function."""
    if os.environ.get(NO_HOOK_VARIABLE, "") in ("", "0") and Finder not in sys.meta_path:
        # Before the usual finders, which would find the modules without it
        sys.meta_path.insert(0, Finder)


def register_now() -> list[str]:
    """Register everything that the finder did not, and return the names of mteb's tasks; see `register`."""
    # Late, as in `extend`
    from turkic_idiom_tasks.harnesses import lm_eval_plugin, mteb_plugin
    from turkic_idiom_tasks.harnesses.report import show_input_errors_as_one_line

    show_input_errors_as_one_line()
    if Finder not in sys.meta_path:  # for modules that are not imported yet
        sys.meta_path.insert(0, Finder)
    import mteb  # noqa: F401  # if the finder was installed before, this registers everything

    mteb_plugin.add_late()
    for name, (plugin, function) in TARGETS.items():
        if plugin == _LM_EVAL_PLUGIN and name in sys.modules:
            getattr(lm_eval_plugin, function)(sys.modules[name])
    from turkic_idiom_tasks.harnesses.mteb_tasks import TASK_CLASSES  # after mteb, parts of which it imports

    return list(TASK_CLASSES)
