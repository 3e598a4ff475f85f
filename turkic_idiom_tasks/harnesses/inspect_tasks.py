"""Tasks of Inspect AI: ``inspect eval turkic_idiom_tasks/equivalent --model ...``.

Inspect finds this module by the entry point ``inspect_ai`` of the distribution. Items, prompts, the reading of answers
and scores are those of the lm-eval tasks. Every sample holds its item in its metadata, so that a log can be scored
again without the data.
"""

from collections.abc import Callable
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.model import GenerateConfig
from inspect_ai.solver import generate

from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.harnesses.inspect_samples import TEMPERATURE, item_samples, span_samples
from turkic_idiom_tasks.harnesses.inspect_scorers import idiom_choice, idiom_recall, idiom_spans
from turkic_idiom_tasks.harnesses.report import show_input_errors_as_one_line
from turkic_idiom_tasks.results.item_answers import ITEM_TASKS
from turkic_idiom_tasks.tasks.items.items import KINDS, kind_of
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS
from turkic_idiom_tasks.tasks.items.scoring import answers_digest
from turkic_idiom_tasks.version import __version__

DEFAULT_PROMPT = "en1"


def _item_task(name: str) -> Callable[..., Task]:
    """Return the task of Inspect of a kind of items or of an open task.

    By default all languages are asked for; `data` is as in ``--data`` of our commands, by default what
    TURKIC_IDIOM_DATA names, or the bundled lexicon. The prompt is one of `prompts.VARIANTS`; examples are from the
    training split. `target` is the language of the answers, where it is another one.
    """

    def ask(language: str = "", prompt: str = DEFAULT_PROMPT, data: str = "", few_shot: int = 0) -> Task:
        return _task(name, data, prompt, few_shot, language=language)

    def ask_directed(
        language: str = "", target: str = "", prompt: str = DEFAULT_PROMPT, data: str = "", few_shot: int = 0
    ) -> Task:
        return _task(name, data, prompt, few_shot, language=language, target=target)

    decorated: Callable[..., Task] = task(name=name)(ask_directed if KINDS[kind_of(name)].is_directed else ask)
    return decorated


# Inspect knows a task when it is made; it has a name in this module for those who import it
globals().update({name: _item_task(name) for name in ITEM_TASKS})


@task
def spans(language: str = "", prompt: str = "json", data: str = "", few_shot: int = 0) -> Task:
    """Ask for the idioms in a sentence by the prompt ``json``, ``xml`` or ``native``, as in lm-eval."""
    return _task("", data, prompt, few_shot, language=language)


def _task(name: str, data: str, prompt: str, few_shot: int, **languages: Any) -> Task:
    """Return the task of a kind of items or an open one, or without a name that of the spans."""
    show_input_errors_as_one_line()
    dataset = current_dataset(data)
    if name:
        samples = item_samples(dataset, name, variant=prompt, few_shot=few_shot, **languages)
        scorer = idiom_recall(data, name) if name in OPEN_TASKS else idiom_choice()
    else:
        samples = span_samples(dataset, variant=prompt, few_shot=few_shot, **languages)
        scorer = idiom_spans()
    return Task(
        dataset=MemoryDataset(samples, name=dataset.path, location=dataset.path),
        solver=generate(),
        scorer=scorer,
        config=GenerateConfig(temperature=TEMPERATURE),
        metadata={
            "data_path": dataset.path,
            "data_revision": dataset.revision,
            "prompt": prompt,
            "few_shot": few_shot,
            "turkic_idiom_tasks": __version__,
        }
        | ({"judged_answers": answers_digest()} if name in OPEN_TASKS else {}),
    )
