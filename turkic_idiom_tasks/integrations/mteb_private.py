"""Every name of mteb that we use although mteb does not promise to keep it, with the reason.

mteb has no way to register tasks, benchmarks and models from outside. Before its registries are built, the start-up
hook needs no private name at all. The names below are needed if mteb was imported earlier, and for the uncut ranking.
"""

from __future__ import annotations

from turkic_idiom_tasks.integrations.private_names import PrivateName, missing

VERSIONS = ">=2.14.5,<3"  # of mteb, in which each of these names was found

PRIVATE_NAMES = (
    PrivateName(
        "mteb.get_tasks", "_TASKS_REGISTRY", "our tasks are added to it when mteb was imported before the hook stood"
    ),
    PrivateName("mteb.get_tasks", "TASK_LIST", "as _TASKS_REGISTRY; public, but replaced"),
    PrivateName(
        "mteb.benchmarks.get_benchmark", "_build_registry", "its cache is cleared when our benchmark comes late"
    ),
    PrivateName(
        "mteb.benchmarks.get_benchmark", "_build_aliases_registry", "its cache is cleared when our benchmark comes late"
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
        "mteb.cache.result_cache",
        "ResultCache.load_task_result",
        "public, but the hook waits for this module: the method is extended to refuse scores of other data",
    ),
)


def missing_names() -> list[PrivateName]:
    """Return the names that the installed mteb no longer has."""
    return missing(PRIVATE_NAMES)
