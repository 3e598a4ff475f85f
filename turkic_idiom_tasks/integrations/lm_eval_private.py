"""Every name of lm-eval that we use although lm-eval does not promise to keep it, with the reason.

lm-eval has no documented way yet for another package to add a folder of tasks, and models need names that it does not
document. Its results do not name their data, so they are extended.
"""

from __future__ import annotations

from turkic_idiom_tasks.integrations.private_names import PrivateName, missing

VERSIONS = ">=0.4.13,<0.5"  # of lm-eval, in which each of these names was found

PRIVATE_NAMES = (
    PrivateName("lm_eval.tasks.manager", "TaskManager.__init__", "extended: our folder is one more include_path"),
    PrivateName(
        "lm_eval.tasks.manager", "TaskManager._load_spec", "extended: groups of items leave out what is absent"
    ),
    PrivateName("lm_eval.tasks.manager", "TaskManager.task_index", "holds the groups, some of which are shortened"),
    PrivateName("lm_eval.tasks._index", "Entry.cfg", "lists the tasks of a group"),
    PrivateName("lm_eval.tasks._index", "Entry.yaml_path", "is cleared in a shortened group, so that cfg counts"),
    PrivateName("lm_eval.evaluator", "simple_evaluate", "extended: the results name their data"),
    PrivateName("lm_eval.api.registry", "model_registry.register", "registers our model by its import path"),
    PrivateName("lm_eval.config.task", "TaskConfig.custom_dataset", "loads our documents"),
    PrivateName("lm_eval.api.task", "ConfigurableTask.fewshot_context", "extended: examples under the same prompt"),
    PrivateName("lm_eval.api.task", "ConfigurableTask.fewshot_docs", "replaced: examples are made when asked for"),
    PrivateName("lm_eval.api.task", "Task.set_fewshot_seed", "replaced: the seed of the examples"),
    PrivateName("lm_eval.api.samplers", "ContextSampler", "draws the examples"),
    PrivateName("lm_eval.api.instance", "Instance.doc", "holds the words that a token classifier tags"),
    PrivateName("lm_eval.api.instance", "Instance.task_name", "names the task in a message"),
    PrivateName("lm_eval.api.model", "LM.cache_hook", "keeps answers for --use_cache", used_in="LM.set_cache_hook"),
)


def missing_names() -> list[PrivateName]:
    """Return the names that the installed lm-eval no longer has."""
    return missing(PRIVATE_NAMES)
