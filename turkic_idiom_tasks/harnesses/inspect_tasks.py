"""Tasks of Inspect AI: ``inspect eval turkic_idiom_tasks/equivalent --model ...``.

Inspect finds this module by the entry point ``inspect_ai`` of the distribution. Items, prompts, the reading of answers
and scores are those of the lm-eval tasks.
"""

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from itertools import chain, zip_longest
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, GenerateConfig
from inspect_ai.solver import generate

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.sentences import idiom_clusters
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.harnesses.inspect_scorers import idiom_choice, idiom_recall, idiom_spans
from turkic_idiom_tasks.harnesses.report import show_input_errors_as_one_line
from turkic_idiom_tasks.results.item_answers import ITEM_TASKS, row_digest
from turkic_idiom_tasks.splits import TEST, TRAIN
from turkic_idiom_tasks.tasks.items.items import KINDS, item_sets, items_of_set, kind_of
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS
from turkic_idiom_tasks.tasks.items.prompts import VARIANTS, asked
from turkic_idiom_tasks.tasks.items.scoring import answers_digest
from turkic_idiom_tasks.tasks.spans import prompts as span_prompts
from turkic_idiom_tasks.version import __version__

DEFAULT_PROMPT = "en1"
# Servers sample by default, so that scores would differ from run to run; the lm-eval tasks do not sample either. 0 is
# refused by Inspect's provider `hf`, and vLLM takes nothing below this.
TEMPERATURE = 0.01

# Name of a set -> its test items, and its examples, each a question and the answer
Columns = dict[str, tuple[list[Sample], list[tuple[str, str]]]]


def _item_task(name: str) -> Callable[..., Task]:
    """Return the task of Inspect of a kind of items or of an open task.

    By default all languages are asked for; `data` is as in ``--data`` of our commands, by default what
    TURKIC_IDIOM_DATA names, or the bundled lexicon. The prompt is one of `prompts.VARIANTS`; examples are from the
    training split. `target` is the language of the answers, where it is another one.
    """

    def ask(language: str = "", prompt: str = DEFAULT_PROMPT, data: str = "", few_shot: int = 0) -> Task:
        return _task(name, data, prompt, few_shot, language=language)

    # Inspect takes the parameters of a task from its signature, and only some kinds have a target
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


def _task(name: str, data: str, prompt: str, few_shot: int, **languages: str) -> Task:
    """Return the task of a kind of items or an open one, or without a name that of the spans."""
    show_input_errors_as_one_line()
    dataset = current_dataset(data)
    known_prompts = VARIANTS if name else span_prompts.PROMPTS
    problems = []
    if prompt not in known_prompts:
        problems.append(f"prompt={prompt}: unknown; known: {', '.join(known_prompts)}")
    if few_shot < 0:
        problems.append(f"few_shot={few_shot}: must be 0 or the number of training items to show")
    if problems:
        raise usage_error("; ".join(problems))
    if name:
        make_columns = partial(_item_columns, dataset, name, prompt)
        scorer = idiom_recall(data, name) if name in OPEN_TASKS else idiom_choice()
    else:
        make_columns = partial(_span_columns, dataset, prompt)
        scorer = idiom_spans()
    columns = make_columns(few_shot=few_shot, **languages)
    if not columns:
        asked_for = " ".join(filter(None, languages.values())) or "any language"
        known_sets = ", ".join(make_columns() if name else dataset.span_languages) or "none"
        raise usage_error(f"{name or 'spans'}: {dataset.path} has no test item for {asked_for}; it has {known_sets}")
    for set_name, (samples, examples) in columns.items():
        if len(examples) < few_shot:
            raise usage_error(f"few_shot={few_shot}: {set_name} has only {len(examples)} training items")
        turns: list[ChatMessage] = []  # of a chat in which the examples are asked and answered
        for question, answer in examples:
            turns += [ChatMessageUser(content=question), ChatMessageAssistant(content=answer)]
        for sample in samples:
            sample.input = [*turns, ChatMessageUser(content=str(sample.input))]
    # The first samples of all columns, then the second ones, so that a run with --limit sees every set
    rows = zip_longest(*(samples for samples, _ in columns.values()))
    samples = [sample for sample in chain.from_iterable(rows) if sample is not None]
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


def _item_columns(
    dataset: Dataset, task: str, variant: str, *, language: str = "", target: str = "", few_shot: int = 0
) -> Columns:
    """Return the test items of a task as samples, a column for each set that has some."""
    columns = {}
    for item_set in item_sets():
        if item_set.kind != kind_of(task) or language not in ("", item_set.language):
            continue
        if target not in ("", item_set.target):
            continue
        item_set = replace(item_set, kind=task)  # a hard or an open task asks the items of a kind
        samples = []
        for item in items_of_set(dataset, item_set):
            question, answer = asked(task, item, variant)
            choices = None if task in OPEN_TASKS else [option.text for option in item.options]
            # With its item in the metadata, a log can be scored again without the data
            about = {"concept": item.concept, "set": item_set.name, "item": asdict(item), "digest": row_digest(item)}
            samples.append(Sample(id=item.id, input=question, target=answer, choices=choices, metadata=about))
        if samples:
            # Training items take long to make, so they are made only if examples are wanted
            examples = items_of_set(dataset, item_set, split=TRAIN)[:few_shot] if few_shot else ()
            columns[item_set.name] = (samples, [asked(task, example, variant) for example in examples])
    return columns


def _span_columns(dataset: Dataset, variant: str, *, language: str = "", few_shot: int = 0) -> Columns:
    """Return the test sentences as samples, a column for each language that has some."""
    ask = partial(span_prompts.question, prompt=variant)
    answer = partial(span_prompts.right_answer, prompt=variant)
    columns = {}
    for code in dataset.span_languages:
        if language not in ("", code):
            continue
        sentences = dataset.sentences(code)
        concepts = idiom_clusters(sentences[TEST])
        samples = []
        for sentence in sentences[TEST]:
            about: dict[str, Any] = {"concept": concepts[sentence.id], "set": f"spans_{code}"}
            about |= {"digest": row_digest(sentence), "sentence": asdict(sentence)}
            name, question = f"spans_{code}/{sentence.id}", ask(sentence.sentence, code)
            samples.append(Sample(id=name, input=question, target=answer(sentence), metadata=about))
        examples = [(ask(example.sentence, code), answer(example)) for example in sentences[TRAIN][:few_shot]]
        columns[code] = (samples, examples)
    return columns
