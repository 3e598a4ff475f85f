"""Tasks of Inspect AI: ``inspect eval turkic_idiom_tasks/equivalent --model ...``.

Inspect finds this module by the entry point ``inspect_ai`` of the distribution. Items, prompts, the reading of answers
and scores are those of the lm-eval tasks. Every sample holds its item in its metadata, so that a log can be scored
again without the data.
"""

from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.model import GenerateConfig
from inspect_ai.solver import generate

from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.harnesses.inspect_samples import TEMPERATURE, item_samples, span_samples
from turkic_idiom_tasks.harnesses.inspect_scorers import idiom_choice, idiom_cloze, idiom_recall, idiom_spans
from turkic_idiom_tasks.harnesses.report import show_input_errors_as_one_line
from turkic_idiom_tasks.tasks.items.item_types import CLOZE, EQUIVALENT, MEANING, USAGE
from turkic_idiom_tasks.tasks.items.prompts import CLOZE_OPEN, RECALL
from turkic_idiom_tasks.tasks.items.scoring import answers_digest
from turkic_idiom_tasks.version import __version__

DEFAULT_PROMPT = "en1"


@task
def meaning(language: str = "", prompt: str = DEFAULT_PROMPT, data: str = "", few_shot: int = 0) -> Task:
    """Ask for the meaning of an idiom, one of four.

    By default all languages are asked for; `data` is as in ``--data`` of our commands, by default what
    TURKIC_IDIOM_DATA names, or the bundled lexicon. The prompt is one of `prompts.VARIANTS`; examples are from the
    training split.
    """
    return _task(MEANING, data, prompt, few_shot, language=language)


@task
def equivalent(
    language: str = "", target: str = "", prompt: str = DEFAULT_PROMPT, data: str = "", few_shot: int = 0
) -> Task:
    """Ask for the idiom of another language, `target`, that means the same, one of four; see `meaning`."""
    return _task(EQUIVALENT, data, prompt, few_shot, language=language, target=target)


@task
def usage(language: str = "", prompt: str = DEFAULT_PROMPT, data: str = "", few_shot: int = 0) -> Task:
    """Ask whether a sentence uses the words of an idiom figuratively or literally; see `meaning`."""
    return _task(USAGE, data, prompt, few_shot, language=language)


@task
def cloze(language: str = "", prompt: str = DEFAULT_PROMPT, data: str = "", few_shot: int = 0) -> Task:
    """Ask which of four idioms fills the blank in a sentence; see `meaning`."""
    return _task(CLOZE, data, prompt, few_shot, language=language)


@task
def cloze_open(language: str = "", prompt: str = DEFAULT_PROMPT, data: str = "", few_shot: int = 0) -> Task:
    """Ask for an idiom that fills the blank in a sentence; see `meaning`."""
    return _task(CLOZE_OPEN, data, prompt, few_shot, language=language)


@task
def recall(language: str = "", prompt: str = DEFAULT_PROMPT, data: str = "", few_shot: int = 0) -> Task:
    """Ask for the idiom that has a meaning; see `meaning`."""
    return _task(RECALL, data, prompt, few_shot, language=language)


@task
def spans(language: str = "", prompt: str = "json", data: str = "", few_shot: int = 0) -> Task:
    """Ask for the idioms in a sentence by the prompt ``json``, ``xml`` or ``native``, as in lm-eval; see `meaning`."""
    return _task("", data, prompt, few_shot, language=language)


def _task(name: str, data: str, prompt: str, few_shot: int, **languages: Any) -> Task:
    """Return the task of a kind of items or an open one, or without a name that of the spans."""
    show_input_errors_as_one_line()
    dataset = current_dataset(data)
    if name:
        samples = item_samples(dataset, name, variant=prompt, few_shot=few_shot, **languages)
        open_scorers = {CLOZE_OPEN: idiom_cloze, RECALL: idiom_recall}
        scorer = open_scorers[name](data) if name in open_scorers else idiom_choice()
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
        | ({"judged_answers": answers_digest()} if name == RECALL else {}),
    )
