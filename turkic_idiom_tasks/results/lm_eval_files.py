"""Files that the stock ``lm-eval run --log_samples`` writes for the span tasks and the tasks of language models."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, JsonValue

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import display, read_json, read_json_lines
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.results.item_answers import (
    GENERATION,
    ITEM_TASKS,
    LOGLIKELIHOOD,
    Answer,
    ItemAnswers,
    TestItems,
    answer_fault,
    find_items,
    make_answers,
    plain_text,
)
from turkic_idiom_tasks.results.model_predictions import (
    LENIENT,
    LLM,
    TOKEN_CLASSIFIER,
    ModelPredictions,
    check_data,
    regime_of_language_model,
    validated,
)
from turkic_idiom_tasks.results.predictions import SPANS, Tags
from turkic_idiom_tasks.spans import TAG_LETTERS
from turkic_idiom_tasks.tasks.items.prompts import CLOZE_OPEN, VARIANTS

SAMPLES = re.compile(r"samples_turkic_idiom_span_(?P<language>[a-z]+)(?:_(?P<prompt>xml|native))?_(?P<date>.+)\.jsonl")
ITEM_SAMPLES = re.compile(
    rf"samples_turkic_idiom_(?P<task>{'|'.join(sorted(ITEM_TASKS, key=len, reverse=True))})_(?P<language>[a-z]+)"
    r"(?:_(?P<target>(?!gen_)[a-z]+))?(?P<generation>_gen)?_(?P<date>.+)\.jsonl"
)
FLEXIBLE, LIKELIEST = "flexible", "none"  # filters of the item tasks whose reading counts


class _LmEvalConfig(BaseModel):
    model_config = LENIENT

    model: str
    model_sha: str | None = None
    model_num_parameters: int | None = None


class _LmEvalTask(BaseModel):
    model_config = LENIENT

    metadata: dict[str, JsonValue] = {}


class _LmEvalResults(BaseModel):
    model_config = LENIENT

    model_name: str
    lm_eval_version: str
    transformers_version: str | None = None
    config: _LmEvalConfig
    configs: dict[str, _LmEvalTask]
    n_shot: Annotated[dict[str, int], Field(alias="n-shot")]


class _LmEvalDocument(BaseModel):
    model_config = LENIENT

    id: str


class _LmEvalSample(BaseModel):
    model_config = LENIENT

    filter: str
    doc: _LmEvalDocument
    span_f1: list[str] = []  # idiom, gold tags, predicted tags


class _ItemAnswer(BaseModel):
    model_config = LENIENT

    item: str
    prompt: str
    answer: int | str | None


class _ItemSample(BaseModel):
    model_config = LENIENT

    filter: str
    accuracy: _ItemAnswer | None = None
    accepted: _ItemAnswer | None = None


def read_samples(path: Path, dataset: Dataset) -> ModelPredictions:
    """Return the tags that a model gave the test sentences of one language.

    Args:
        path: a file whose name `SAMPLES` matches.
        dataset: the data that was predicted.

    Raises:
        InputError: the file is damaged, of other data, incomplete, or the results of the same run are missing.
    """
    match = SAMPLES.fullmatch(path.name)
    if match is None or match["language"] not in LANGUAGES:
        raise InputError(f"{path}: samples of no language of the benchmark; known: {', '.join(LANGUAGES)}")
    described = _describe(path, match["date"], dataset)
    tags = _read_tags(path, match["language"], dataset)
    return replace(described, predictions={(SPANS, match["language"]): tags})


def read_item_samples(path: Path, dataset: Dataset) -> ModelPredictions:
    """Return the answers of a language model to the items of one set.

    Where a run asks every prompt, the answers to the first one count.

    Args:
        path: a file whose name `ITEM_SAMPLES` matches.
        dataset: what was predicted.

    Raises:
        InputError: as in `read_samples`.
    """
    match = ITEM_SAMPLES.fullmatch(path.name)
    if match is None:
        raise InputError(f"{path}: samples of no task of the benchmark")
    task, target = match["task"], match["target"]
    subset = f"{match['language']}-{target}" if target else match["language"]
    items = find_items(dataset, task, subset)
    if items is None:
        raise InputError(f"{path}: the data in use have no items of {task}, {subset}; name the data with --data")
    described = _describe(path, match["date"], dataset)
    return replace(described, predictions={(task, subset): _read_answers(path, items)})


def _describe(path: Path, date: str, dataset: Dataset) -> ModelPredictions:
    """Return what the results beside a file of samples say about the model, without predictions.

    Raises:
        InputError: they are missing, say nothing of the task, or are of other data.
    """
    results_path = path.with_name(f"results_{date}.json")
    if not results_path.is_file():
        raise InputError(f"{path}: no {results_path.name} beside it, which says what was run; copy it there too")
    results = validated(_LmEvalResults, read_json(results_path, special_numbers=True), results_path)
    task = path.name.removeprefix("samples_").removesuffix(f"_{date}.jsonl")
    if task not in results.configs or task not in results.n_shot:
        raise InputError(f"{results_path}: says nothing of {task}; run it again")
    data_revision = results.configs[task].metadata.get("data_revision")
    if not isinstance(data_revision, str):
        raise InputError(
            f"{results_path}: does not say which data it is of; run it again with the lm-eval command of an "
            "environment in which turkic-idiom doctor finds nothing wrong"
        )
    check_data(path, data_revision, dataset)
    is_classifier = results.config.model == TOKEN_CLASSIFIER
    shots = results.n_shot[task]
    regime = None if is_classifier else regime_of_language_model(results.model_name, shots=shots)
    versions = {"lm-eval": results.lm_eval_version}
    if results.transformers_version:
        versions["transformers"] = results.transformers_version
    return ModelPredictions(
        path=path,
        predictions={},
        name=results.model_name,
        revision=results.config.model_sha or None,
        n_parameters=results.config.model_num_parameters or None,
        type=TOKEN_CLASSIFIER if is_classifier else LLM,
        regime=regime,
        few_shot=None if is_classifier else shots,
        is_classifier=is_classifier,
        versions=versions,
    )


def _read_tags(path: Path, language: str, dataset: Dataset) -> Tags:
    """Return the tags that the strict filter found in the answers.

    Raises:
        InputError: a sentence has none, or tags that do not fit its words.
    """
    if language not in dataset.span_languages:
        raise InputError(f"{path}: the data in use has no test sentence in {language}; name the data with --data")
    sentences = dataset.test_sentences(language)
    letters: dict[str, str] = {}
    for line in read_json_lines(path):
        if line.problem:
            raise InputError(f"{path}:{line.number}: {line.problem}; run it again")
        sample = validated(_LmEvalSample, line.value, path)
        if sample.filter != "strict":
            continue
        if len(sample.span_f1) != 3:
            raise InputError(f"{path}:{line.number}: holds no tags of the sentence; run it again")
        letters[sample.doc.id] = sample.span_f1[2]
    missing = [sentence.id for sentence in sentences.rows if sentence.id not in letters]
    if missing:
        raise InputError(
            f"{path}: {len(missing)} of the {len(sentences.rows)} test sentences have no answer, such as "
            f"{display(missing[0])}; run it without --limit"
        )
    for sentence in sentences.rows:
        tags = letters[sentence.id]
        if len(tags) != len(sentence.tokens) or not set(tags) <= set(TAG_LETTERS):
            raise InputError(
                f"{path}: the tags {display(tags)} do not fit sentence {display(sentence.id)}; run it again"
            )
    return Tags(sentences, tuple(letters[sentence.id] for sentence in sentences.rows))


def _read_answers(path: Path, items: TestItems) -> ItemAnswers:
    """Return the answers that the flexible reading gave, or the likeliest options.

    Raises:
        InputError: an item has no answer, or one that does not fit it.
    """
    is_open = items.task == CLOZE_OPEN
    answers: dict[str, dict[int, Answer]] = {}  # prompt -> position of the item -> answer
    method = GENERATION
    for line in read_json_lines(path):
        if line.problem:
            raise InputError(f"{path}:{line.number}: {line.problem}; run it again")
        sample = validated(_ItemSample, line.value, path)
        answer = sample.accepted if is_open else sample.accuracy
        if sample.filter not in (FLEXIBLE, LIKELIEST):
            continue
        if answer is None or answer.item not in items.row:
            raise InputError(f"{path}:{line.number}: holds no answer to an item of these data; run it again")
        method = LOGLIKELIHOOD if sample.filter == LIKELIEST else method
        position = items.row[answer.item]
        chosen = plain_text(answer.answer) if isinstance(answer.answer, str) else answer.answer
        fault = answer_fault(items.rows[position], chosen, is_open=is_open)
        if fault:
            raise InputError(f"{path}:{line.number}: item {display(answer.item)} {fault}; run it again")
        answers.setdefault(answer.prompt, {})[position] = chosen
    known = [prompt for prompt in VARIANTS if prompt in answers]
    if not known:
        raise InputError(f"{path}: holds no answer to a known prompt; run it again")
    of_prompt = answers[known[0]]
    missing = [item.id for position, item in enumerate(items.rows) if position not in of_prompt]
    if missing:
        raise InputError(
            f"{path}: {len(missing)} of the {len(items.rows)} items have no answer, such as {display(missing[0])}; run "
            "it without --limit"
        )
    return make_answers(items, of_prompt, prompt=known[0], method=method)
