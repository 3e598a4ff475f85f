"""Items and tagged sentences as samples of Inspect AI, and back from the metadata of a sample."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.sentences import TaggedSentence, idiom_clusters
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.splits import TEST, TRAIN
from turkic_idiom_tasks.tasks.items.item_types import LETTERS, Item, ItemSet, Option
from turkic_idiom_tasks.tasks.items.items import available, build_items
from turkic_idiom_tasks.tasks.items.prompts import VARIANTS, open_prompt, prompt
from turkic_idiom_tasks.tasks.spans import prompts as span_prompts

SPAN_PROMPTS = {
    "json": (span_prompts.json_prompt, span_prompts.json_answer),
    "xml": (span_prompts.xml_prompt, span_prompts.xml_answer),
    "native": (span_prompts.native_prompt, span_prompts.json_answer),
}


def item_samples(
    dataset: Dataset,
    kind: str,
    *,
    language: str = "",
    target: str = "",
    variant: str,
    few_shot: int = 0,
    is_open: bool = False,
) -> list[Sample]:
    """Return the test items of a kind as samples, the first items of all sets before the second ones.

    Args:
        dataset: the data.
        kind: one of `items.KINDS`.
        language: code of the language of the idiom; empty for all.
        target: code of the language of the options; empty for all.
        variant: of the prompt.
        few_shot: number of training items that are asked and answered before.
        is_open: whether the answer is a text without options; only for cloze.

    Raises:
        InputError: an unknown prompt, a negative number or too few training items, or no test item.
    """
    if variant not in VARIANTS:
        raise usage_error(f"prompt={variant}: unknown; known: {', '.join(VARIANTS)}")
    _check_few_shot(few_shot)
    ask = open_prompt if is_open else prompt
    columns = []
    for item_set in _sets(dataset, kind, language, target):
        examples = build_items(dataset, kind, item_set.language, item_set.target, split=TRAIN)[:few_shot]
        if len(examples) < few_shot:
            raise usage_error(f"few_shot={few_shot}: {item_set.name} has only {len(examples)} training items")
        turns: list[ChatMessage] = []
        for example in examples:
            answer = example.options[example.gold].text if is_open else LETTERS[example.gold]
            turns += _turns(ask(example, variant), answer)
        column = []
        for item in build_items(dataset, kind, item_set.language, item_set.target, split=TEST):
            column.append(_item_sample(item, ask(item, variant), turns, is_open=is_open))
        columns.append(column)
    return _interleaved(columns)


def span_samples(dataset: Dataset, *, language: str = "", variant: str, few_shot: int = 0) -> list[Sample]:
    """Return the test sentences as samples, the first ones of all languages before the second ones.

    Raises:
        InputError: as in `item_samples`.
    """
    if variant not in SPAN_PROMPTS:
        raise usage_error(f"prompt={variant}: unknown; known: {', '.join(SPAN_PROMPTS)}")
    _check_few_shot(few_shot)
    ask, answer = SPAN_PROMPTS[variant]
    codes = [code for code in dataset.span_languages if language in ("", code)]
    if not codes:
        raise _nothing(dataset, "spans", language, known=dataset.span_languages)
    columns = []
    for code in codes:
        examples = dataset.sentences(code)[TRAIN][:few_shot]
        if len(examples) < few_shot:
            raise usage_error(f"few_shot={few_shot}: {code} has only {len(examples)} training sentences")
        turns: list[ChatMessage] = []
        for example in examples:
            turns += _turns(ask(example.sentence, code), answer(example))
        sentences = dataset.sentences(code)[TEST]
        concepts = idiom_clusters(sentences)
        column = []
        for sentence in sentences:
            sample = Sample(
                id=f"spans_{code}/{sentence.id}",
                input=[*turns, ChatMessageUser(content=ask(sentence.sentence, code))],
                target=answer(sentence),
                metadata={"concept": concepts[sentence.id], "set": f"spans_{code}", "sentence": asdict(sentence)},
            )
            column.append(sample)
        columns.append(column)
    return _interleaved(columns)


def _check_few_shot(few_shot: int) -> None:
    if few_shot < 0:
        raise usage_error(f"few_shot={few_shot}: must be 0 or the number of training items to show")


def item_of(metadata: Mapping[str, Any]) -> Item:
    """Return the item that the metadata of a sample hold."""
    values = dict(metadata["item"])
    values["options"] = tuple(Option(**option) for option in values["options"])
    return Item(**values)


def sentence_of(metadata: Mapping[str, Any]) -> TaggedSentence:
    """Return the tagged sentence that the metadata of a sample hold."""
    values = dict(metadata["sentence"])
    values["tokens"] = tuple(values["tokens"])
    values["tags"] = tuple(values["tags"])
    return TaggedSentence(**values)


def _sets(dataset: Dataset, kind: str, language: str, target: str) -> list[ItemSet]:
    of_kind = [item_set for item_set in available(dataset) if item_set.kind == kind]
    chosen = []
    for item_set in of_kind:
        if language in ("", item_set.language) and target in ("", item_set.target):
            chosen.append(item_set)
    if not chosen:
        raise _nothing(dataset, kind, f"{language}{' ' if target else ''}{target}", known=[s.name for s in of_kind])
    return chosen


def _nothing(dataset: Dataset, kind: str, asked: str, *, known: Iterable[str]) -> Exception:
    return usage_error(
        f"{kind}: {dataset.path} has no test item for {asked or 'any language'}; it has {', '.join(known) or 'none'}"
    )


def _item_sample(item: Item, question: str, turns: Sequence[ChatMessage], *, is_open: bool) -> Sample:
    metadata = {"concept": item.concept, "set": set_name(item), "item": asdict(item)}
    right = item.options[item.gold].text if is_open else LETTERS[item.gold]
    return Sample(
        id=item.id,
        input=[*turns, ChatMessageUser(content=question)],
        target=right,
        choices=None if is_open else [option.text for option in item.options],
        metadata=metadata,
    )


def set_name(item: Item) -> str:
    """Return the name of the set of an item."""
    return ItemSet(item.kind, item.language, item.target, 0).name


def _turns(question: str, answer: str) -> list[ChatMessage]:
    return [ChatMessageUser(content=question), ChatMessageAssistant(content=answer)]


def _interleaved(columns: Sequence[Sequence[Sample]]) -> list[Sample]:
    """Return the first samples of all columns, then the second ones, so that a limited run sees every set."""
    samples = []
    for row in range(max(map(len, columns))):
        for column in columns:
            if row < len(column):
                samples.append(column[row])
    return samples
