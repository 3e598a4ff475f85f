"""Files that the stock ``lm-eval run --log_samples`` writes for the span tasks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, JsonValue

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.encoders.names import PRETRAINED
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.reading import read_json, read_json_lines, shown
from turkic_idiom_tasks.results.model_predictions import (
    FEW_SHOT,
    LENIENT,
    LLM,
    TOKEN_CLASSIFIER,
    ModelPredictions,
    check_data,
    validated,
)
from turkic_idiom_tasks.results.predictions import LETTERS, SPANS, Tags

SAMPLES = re.compile(r"samples_turkic_idiom_span_(?P<language>[a-z]+)(?:_(?P<prompt>xml|native))?_(?P<date>.+)\.jsonl")


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
    results_path = path.with_name(f"results_{match['date']}.json")
    if not results_path.is_file():
        raise InputError(f"{path}: no {results_path.name} beside it, which says what was run; copy it there too")
    results = validated(_LmEvalResults, read_json(results_path, special_numbers=True), results_path)
    task = path.name.removeprefix("samples_").removesuffix(f"_{match['date']}.jsonl")
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
    regime = None if is_classifier else FEW_SHOT if shots else PRETRAINED
    versions = {"lm-eval": results.lm_eval_version}
    if results.transformers_version:
        versions["transformers"] = results.transformers_version
    return ModelPredictions(
        path=path,
        predictions={(SPANS, match["language"]): _read_tags(path, match["language"], dataset)},
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
            f"{shown(missing[0])}; run it without --limit"
        )
    for sentence in sentences.rows:
        tags = letters[sentence.id]
        if len(tags) != len(sentence.tokens) or not set(tags) <= set(LETTERS):
            raise InputError(f"{path}: the tags {shown(tags)} do not fit sentence {shown(sentence.id)}; run it again")
    return Tags(sentences, tuple(letters[sentence.id] for sentence in sentences.rows))
