"""Every name of mteb and lm-eval that we use although they do not promise to keep it, with the reason."""

from __future__ import annotations

import importlib
import importlib.metadata
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PrivateName:
    """A name of a harness that it does not promise to keep."""

    module: str
    name: str  # the attribute or the field of a dataclass, with the class before it
    reason: str  # our use of it
    used_in: str | None = None  # for an attribute of instances, a function of the module whose code must have the name

    def __str__(self) -> str:
        return f"{self.module}:{self.name}"

    def is_there(self) -> bool:
        """Return whether the installed harness has the name."""
        try:
            value: object = importlib.import_module(self.module)
        except ImportError:
            return False
        for part in (self.used_in or self.name).split("."):
            if part in getattr(value, "__dataclass_fields__", {}):
                return True
            if not hasattr(value, part):
                return False
            value = getattr(value, part)
        if self.used_in is None:
            return True
        return self.name.rpartition(".")[2] in value.__code__.co_names  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Harness:
    """A harness, and the names of it that we depend on."""

    name: str  # of its distribution
    versions: str  # those in which each of the names was found, as pip takes them
    private_names: tuple[PrivateName, ...]


def installed_version(distribution: str) -> str | None:
    """Return the version of an installed distribution; None if it is not installed or its metadata is damaged."""
    try:
        return importlib.metadata.version(distribution) or None  # None where the metadata states no version
    except Exception:  # metadata that cannot be read raises almost anything
        return None


# mteb has no way to register tasks, benchmarks and models from outside. Before its registries are built, the start-up
# hook needs no private name at all. These names are needed if mteb was imported earlier, and for the uncut ranking.
MTEB = Harness(
    name="mteb",
    versions=">=2.14.5,<3",
    private_names=(
        PrivateName(
            "mteb.get_tasks",
            "_TASKS_REGISTRY",
            "our tasks are added to it when mteb was imported before the hook stood",
        ),
        PrivateName("mteb.get_tasks", "TASK_LIST", "as _TASKS_REGISTRY; public, but replaced"),
        PrivateName(
            "mteb.benchmarks.get_benchmark", "_build_registry", "its cache is cleared when our benchmark comes late"
        ),
        PrivateName(
            "mteb.benchmarks.get_benchmark",
            "_build_aliases_registry",
            "its cache is cleared when our benchmark comes late",
        ),
        PrivateName(
            "mteb.abstasks.retrieval",
            "AbsTaskRetrieval._evaluate_subset",
            "extended, to set the number of documents that are ranked",
        ),
        PrivateName(
            "mteb.abstasks.retrieval",
            "AbsTaskRetrieval._top_k",
            "set to the size of the corpus: the paper's nDCG has no cut-off",
            used_in="AbsTaskRetrieval._evaluate_subset",
        ),
        PrivateName(
            "mteb.abstasks.sts", "AbsTaskSTS._evaluate_subset", "extended, to know which subset is being scored"
        ),
        PrivateName(
            "mteb.abstasks.sts",
            "AbsTaskSTS._calculate_scores",
            "replaced: the gold score of a pair may be the model's own similarity of another pair",
        ),
        PrivateName(
            "mteb.cache.result_cache",
            "ResultCache.load_task_result",
            "public, but the hook waits for this module: the method is extended to refuse scores of other data",
        ),
    ),
)

# lm-eval has no documented way yet for another package to add a folder of tasks, and models need names that it does not
# document. Its results do not name their data, so they are extended.
LM_EVAL = Harness(
    name="lm-eval",
    versions=">=0.4.13,<0.5",
    private_names=(
        PrivateName("lm_eval.tasks.manager", "TaskManager.__init__", "extended: our folder is one more include_path"),
        PrivateName(
            "lm_eval.tasks.manager", "TaskManager._load_spec", "extended: groups of items leave out what is absent"
        ),
        PrivateName("lm_eval.tasks.manager", "TaskManager.task_index", "holds the groups, some of which are shortened"),
        PrivateName("lm_eval.tasks._index", "Entry.cfg", "lists the tasks of a group"),
        PrivateName("lm_eval.tasks._index", "Entry.yaml_path", "is cleared in a shortened group, so that cfg counts"),
        PrivateName("lm_eval.evaluator", "simple_evaluate", "extended: the results name their data"),
        PrivateName("lm_eval.evaluator_utils", "stderr_for_metric", "extended: our scores bring their standard errors"),
        PrivateName("lm_eval.api.task", "ConfigurableTask.download", "replaced: warns of --metadata for each task"),
        PrivateName("lm_eval.api.task", "ConfigurableTask.construct_requests", "extended: base models stop early"),
        PrivateName("lm_eval.api.registry", "model_registry.register", "registers our model by its import path"),
        PrivateName("lm_eval.config.task", "TaskConfig.custom_dataset", "loads our documents"),
        PrivateName("lm_eval.api.task", "ConfigurableTask.fewshot_context", "extended: examples under the same prompt"),
        PrivateName("lm_eval.api.task", "ConfigurableTask.fewshot_docs", "replaced: examples are made when asked for"),
        PrivateName("lm_eval.api.task", "Task.set_fewshot_seed", "replaced: the seed of the examples"),
        PrivateName("lm_eval.api.samplers", "ContextSampler", "draws the examples"),
        PrivateName("lm_eval.api.instance", "Instance.doc", "holds the words that a token classifier tags"),
        PrivateName("lm_eval.api.instance", "Instance.task_name", "names the task in a message"),
        PrivateName("lm_eval.api.model", "LM.cache_hook", "keeps answers for --use_cache", used_in="LM.set_cache_hook"),
    ),
)
