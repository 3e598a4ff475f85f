"""Files that the stock ``lm-eval run --log_samples`` writes for the span tasks and the tasks of language models."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import Field, JsonValue

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.models import read_model_lines
from turkic_idiom_tasks.io.reading import display
from turkic_idiom_tasks.results.item_answers import GENERATION, ITEM_TASKS, LOGLIKELIHOOD
from turkic_idiom_tasks.results.model_predictions import (
    AGAIN,
    LLM,
    TOKEN_CLASSIFIER,
    HarnessFile,
    ModelPredictions,
    read_harness_file,
    regime_of_language_model,
)
from turkic_idiom_tasks.results.predictions import SPANS
from turkic_idiom_tasks.results.reader import read_answers
from turkic_idiom_tasks.results.record import check_data
from turkic_idiom_tasks.tasks.items.answers import likeliest
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS
from turkic_idiom_tasks.tasks.items.prompts import VARIANTS

_TASK_NAMES = "|".join(["span", *sorted(ITEM_TASKS, key=len, reverse=True)])  # `cloze_open` before `cloze`
# `_gen` after a language belongs to the way of asking, and is no second language.
SAMPLES = re.compile(
    rf"samples_turkic_idiom_(?P<task>{_TASK_NAMES})_(?:found_)?(?P<language>[a-z]+)"
    r"(?:_(?P<target>(?!gen_)[a-z]+))?(?P<written>_gen)?_(?P<date>.+)\.jsonl"
)
STRICT, FLEXIBLE, LIKELIEST = "strict", "flexible", "none"  # filters: the reading of a response that a sample holds


class _Config(HarnessFile):
    model: str
    model_sha: str | None = None
    model_num_parameters: int | None = None


class _Task(HarnessFile):
    metadata: dict[str, JsonValue] = Field(default_factory=dict)


class _Results(HarnessFile):
    model_name: str
    lm_eval_version: str
    transformers_version: str | None = None
    config: _Config
    configs: dict[str, _Task]
    n_shot: Annotated[dict[str, int], Field(alias="n-shot")]


class _Document(HarnessFile):
    id: str = ""
    digest: str = ""
    prompt: str = ""


class _Sample(HarnessFile):
    """A line of samples."""

    filter: str
    doc: _Document = _Document()
    filtered_resps: tuple[str | tuple[str, float], ...]  # a reading, or the mark and likelihood of each option


class _Reading(HarnessFile):
    """What our filter made of a written response."""

    answer: JsonValue = None  # no type of its own, because pydantic would make the position 1 of `true` and of `1.0`
    tags: list[str] | None = None  # of a sentence


def read_samples(path: Path, dataset: Dataset, *, is_partial: bool = False) -> Iterator[ModelPredictions]:
    """Yield the answers that a model gave in one task, by the strict reading of spans and the flexible one of items.

    Where a run asks several prompts, the answers to each are yielded, those to the first one first. The results of the
    run must stand beside the samples. With `is_partial` a run may have asked a part of the items.
    """
    match = SAMPLES.fullmatch(path.name)
    assert match is not None
    results_path = path.with_name(f"results_{match['date']}.json")
    if not results_path.is_file():
        raise InputError(f"{path}: no {results_path.name} beside it, which says what was run; copy it there too")
    results = read_harness_file(_Results, results_path)
    task = path.name.removeprefix("samples_").removesuffix(f"_{match['date']}.jsonl")
    data_revision = results.configs.get(task, _Task()).metadata.get("data_revision")
    # The stock harness states it where our start-up hook ran: without it the samples may be of any data.
    if task not in results.n_shot or not isinstance(data_revision, str):
        raise InputError(
            f"{results_path}: does not say which data {task} is of; run it again with the lm-eval command of an "
            "environment in which turkic-idiom doctor finds nothing wrong"
        )
    check_data(path, data_revision, dataset)
    is_span = match["task"] == "span"
    is_written = bool(match["written"]) or match["task"] in OPEN_TASKS
    # Every response stands in the file once per filter, also of those that a user has added to ours.
    counted = STRICT if is_span else FLEXIBLE if is_written else LIKELIEST
    answers: dict[str, list[tuple[str, str, JsonValue]]] = {}  # prompt -> see `read_answers`
    for sample in read_model_lines(_Sample, path, AGAIN):
        if sample.filter == counted:
            answer = (sample.doc.id, sample.doc.digest, _answer(path, sample))
            answers.setdefault(sample.doc.prompt, []).append(answer)
    key = (SPANS, match["language"])
    if not is_span:
        key = (match["task"], "-".join(filter(None, match.group("language", "target"))))
    prompts = [prompt for prompt in ([""] if is_span else VARIANTS) if prompt in answers]
    if not prompts:
        raise InputError(f"{path}: holds no answer under a known prompt; run it again")
    method = GENERATION if is_written else LOGLIKELIHOOD
    is_classifier = results.config.model == TOKEN_CLASSIFIER
    shots = results.n_shot[task]
    versions = {"lm-eval": results.lm_eval_version}
    if results.transformers_version:
        versions["transformers"] = results.transformers_version
    for prompt in prompts:
        prediction = read_answers(
            path, key, answers[prompt], dataset, prompt=prompt, method=method, is_partial=is_partial
        )
        yield ModelPredictions(
            path=path,
            predictions={key: prediction},
            name=results.model_name,
            revision=results.config.model_sha or None,
            n_parameters=results.config.model_num_parameters or None,
            type=TOKEN_CLASSIFIER if is_classifier else LLM,
            regime=None if is_classifier else regime_of_language_model(results.model_name, shots=shots),
            few_shot=None if is_classifier else shots,
            is_classifier=is_classifier,
            versions=versions,
        )


def _answer(path: Path, sample: _Sample) -> JsonValue:
    """Return what `read_answers` takes: a position or a text, or tags as letters."""
    try:
        if sample.filter == LIKELIEST:
            return likeliest([likelihood for _, likelihood in sample.filtered_resps])  # type: ignore[str-unpack, misc]
        (response,) = sample.filtered_resps
        reading = _Reading.model_validate_json(str(response))
    except (ValueError, TypeError) as error:
        raise InputError(
            f"{path}: the answer to {display(sample.doc.id)} is not as our filter writes it; run it again"
        ) from error
    return reading.answer if reading.tags is None else "".join(tag[:1] for tag in reading.tags)
