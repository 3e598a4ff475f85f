"""Items and tagged sentences as samples of Inspect AI, and back from the metadata of a sample."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain, zip_longest
from typing import Any

from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.sentences import TaggedSentence, idiom_clusters
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.results.item_answers import row_digest
from turkic_idiom_tasks.splits import TEST, TRAIN
from turkic_idiom_tasks.tasks.items.item_types import Item, Option
from turkic_idiom_tasks.tasks.items.items import item_sets, items_of_set, kind_of
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS
from turkic_idiom_tasks.tasks.items.prompts import VARIANTS, asked
from turkic_idiom_tasks.tasks.spans.prompts import PROMPTS as SPAN_PROMPTS

# Servers sample by default, so that scores would differ from run to run; the lm-eval tasks do not sample either. 0 is
# refused by Inspect's provider `hf`, and vLLM takes nothing below this.
TEMPERATURE = 0.01


def item_samples(
    dataset: Dataset, task: str, *, language: str = "", target: str = "", variant: str, few_shot: int = 0
) -> list[Sample]:
    """Return the test items of a kind or an open task as samples, the first items of all sets before the second ones.

    An empty language stands for all. Before each question `few_shot` training items are asked and answered.
    """
    _check_options(variant, VARIANTS, few_shot)
    of_task = [replace(item_set, kind=task) for item_set in item_sets() if item_set.kind == kind_of(task)]
    sets = []
    for item_set in of_task:
        if language in ("", item_set.language) and target in ("", item_set.target) and items_of_set(dataset, item_set):
            sets.append(item_set)
    if not sets:
        languages = " ".join(code for code in (language, target) if code)
        known = [item_set.name for item_set in of_task if items_of_set(dataset, item_set)]
        raise _nothing(dataset, task, languages, known=known)
    columns = []
    for item_set in sets:
        # Training items take long to make, so they are made only if examples are wanted
        examples = items_of_set(dataset, item_set, split=TRAIN)[:few_shot] if few_shot else ()
        answered = [asked(task, example, variant) for example in examples]
        turns = _example_turns(answered, few_shot, item_set.name)
        column = []
        for item in items_of_set(dataset, item_set):
            question, answer = asked(task, item, variant)
            choices = None if task in OPEN_TASKS else [option.text for option in item.options]
            about = {"concept": item.concept, "set": item_set.name, "item": asdict(item), "digest": row_digest(item)}
            messages = [*turns, ChatMessageUser(content=question)]
            column.append(Sample(id=item.id, input=messages, target=answer, choices=choices, metadata=about))
        columns.append(column)
    return _interleaved(columns)


def span_samples(dataset: Dataset, *, language: str = "", variant: str, few_shot: int = 0) -> list[Sample]:
    """Return the test sentences as samples, the first ones of all languages before the second ones."""
    _check_options(variant, SPAN_PROMPTS, few_shot)
    ask, answer = SPAN_PROMPTS[variant]
    codes = [code for code in dataset.span_languages if language in ("", code)]
    if not codes:
        raise _nothing(dataset, "spans", language, known=dataset.span_languages)
    columns = []
    for code in codes:
        sentences = dataset.sentences(code)
        answered = [(ask(example.sentence, code), answer(example)) for example in sentences[TRAIN][:few_shot]]
        turns = _example_turns(answered, few_shot, code)
        concepts = idiom_clusters(sentences[TEST])
        column = []
        for sentence in sentences[TEST]:
            about: dict[str, Any] = {"concept": concepts[sentence.id], "set": f"spans_{code}"}
            about |= {"digest": row_digest(sentence), "sentence": asdict(sentence)}
            messages = [*turns, ChatMessageUser(content=ask(sentence.sentence, code))]
            name = f"spans_{code}/{sentence.id}"
            column.append(Sample(id=name, input=messages, target=answer(sentence), metadata=about))
        columns.append(column)
    return _interleaved(columns)


def item_of(metadata: Mapping[str, Any]) -> Item:
    """Return the item that the metadata of a sample hold."""
    values = dict(metadata["item"])
    values["options"] = tuple(Option(**option) for option in values["options"])
    return Item(**values)


def sentence_of(metadata: Mapping[str, Any]) -> TaggedSentence:
    """Return the tagged sentence that the metadata of a sample hold."""
    values = dict(metadata["sentence"])
    # A log is JSON, which has no tuples; those of the scorer are compared with these
    values["tokens"] = tuple(values["tokens"])
    values["tags"] = tuple(values["tags"])
    return TaggedSentence(**values)


def _check_options(variant: str, known: Iterable[str], few_shot: int) -> None:
    if variant not in known:
        raise usage_error(f"prompt={variant}: unknown; known: {', '.join(known)}")
    if few_shot < 0:
        raise usage_error(f"few_shot={few_shot}: must be 0 or the number of training items to show")


def _example_turns(answered: Sequence[tuple[str, str]], few_shot: int, name: str) -> list[ChatMessage]:
    """Return the turns of a chat in which questions of the training split are asked and answered."""
    if len(answered) < few_shot:
        raise usage_error(f"few_shot={few_shot}: {name} has only {len(answered)} training items")
    turns: list[ChatMessage] = []
    for question, answer in answered:
        turns += [ChatMessageUser(content=question), ChatMessageAssistant(content=answer)]
    return turns


def _nothing(dataset: Dataset, kind: str, asked: str, *, known: Sequence[str]) -> Exception:
    return usage_error(
        f"{kind}: {dataset.path} has no test item for {asked or 'any language'}; it has {', '.join(known) or 'none'}"
    )


def _interleaved(columns: Sequence[Sequence[Sample]]) -> list[Sample]:
    """Return the first samples of all columns, then the second ones, so that a limited run sees every set."""
    return [sample for sample in chain.from_iterable(zip_longest(*columns)) if sample is not None]
