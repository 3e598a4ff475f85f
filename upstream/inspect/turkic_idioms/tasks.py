"""Tasks for the register of Inspect Evals, under the names of its entries; written by `write.py`."""

from inspect_ai import Task, task

from turkic_idiom_tasks.harnesses import inspect_tasks


@task
def turkic_idiom_meaning(language: str = "", prompt: str = "en1", few_shot: int = 0) -> Task:
    """Return the task of meaning; see `inspect_tasks`."""
    return inspect_tasks.meaning(language=language, prompt=prompt, few_shot=few_shot)


@task
def turkic_idiom_equivalent(language: str = "", target: str = "", prompt: str = "en1", few_shot: int = 0) -> Task:
    """Return the task of equivalent; see `inspect_tasks`."""
    return inspect_tasks.equivalent(language=language, target=target, prompt=prompt, few_shot=few_shot)


@task
def turkic_idiom_usage(language: str = "", prompt: str = "en1", few_shot: int = 0) -> Task:
    """Return the task of usage; see `inspect_tasks`."""
    return inspect_tasks.usage(language=language, prompt=prompt, few_shot=few_shot)


@task
def turkic_idiom_cloze(language: str = "", prompt: str = "en1", few_shot: int = 0) -> Task:
    """Return the task of cloze; see `inspect_tasks`."""
    return inspect_tasks.cloze(language=language, prompt=prompt, few_shot=few_shot)
