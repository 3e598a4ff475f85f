"""What ``inspect eval turkic_idiom_tasks/...`` writes: logs of Inspect AI, read by Inspect itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.encoders.folders import is_local
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import display
from turkic_idiom_tasks.results.item_answers import (
    GENERATION,
    ITEM_TASKS,
    Answer,
    answer_fault,
    find_items,
    make_answers,
    plain_text,
    task_and_subset,
)
from turkic_idiom_tasks.results.model_predictions import LLM, ModelPredictions, check_data, regime_of_language_model
from turkic_idiom_tasks.results.predictions import SPANS, Prediction, SubsetKey, Tags
from turkic_idiom_tasks.spans import TAG_LETTERS
from turkic_idiom_tasks.tasks.items.item_types import LETTERS
from turkic_idiom_tasks.tasks.items.items import item_sets
from turkic_idiom_tasks.tasks.items.prompts import CLOZE_OPEN

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

SUFFIX = ".eval"
_PREFIX = "turkic_idiom_tasks/"  # of the names of our tasks


@dataclass(frozen=True, slots=True)
class _Facts:
    """What a log says about its run."""

    task: str
    revision: str
    prompt: str
    few_shot: int


def read_log(path: Path, dataset: Dataset) -> ModelPredictions | None:
    """Return the answers of a log, one prediction for each set in it; None for a log of somebody else's task.

    Args:
        path: a log in Inspect's own format.
        dataset: what was predicted.

    Raises:
        InputError: Inspect is not installed, or the log is damaged, unfinished, of other data or incomplete.
    """
    log = _open(path)
    if not log.eval.task.startswith(_PREFIX) and log.eval.task not in (*ITEM_TASKS, SPANS):
        return None
    facts = _facts(path, log)
    check_data(path, facts.revision, dataset)
    if log.status != "success":
        raise InputError(
            f"{path}: the run ended with the status {display(log.status)}; finish it with inspect eval-retry"
        )
    answers: dict[str, dict[str, str | None]] = {}  # set -> id of an item or sentence -> answer
    for sample in log.samples or []:
        if sample.epoch > 1:
            raise InputError(f"{path}: has several answers to each item; run it again with --epochs 1")
        name, _, rest = str(sample.id).partition("/")
        answers.setdefault(name, {})[rest if facts.task == SPANS else str(sample.id)] = _answer(path, sample)
    predictions: dict[SubsetKey, Prediction] = {}
    for name, answers_of_set in answers.items():
        if facts.task == SPANS:
            language = name.removeprefix(f"{SPANS}_")
            predictions[SPANS, language] = _tags(path, language, answers_of_set, dataset)
        else:
            key, prediction = _choices(path, name, answers_of_set, facts, dataset)
            predictions[key] = prediction
    name = _model_name(log.eval.model, log.eval.model_args)
    return ModelPredictions(
        path=path,
        predictions=predictions,
        name=name,
        type=LLM,
        regime=regime_of_language_model(name, shots=facts.few_shot),
        few_shot=facts.few_shot,
        versions={name.replace("_", "-"): version for name, version in log.eval.packages.items()},
    )


def _open(path: Path) -> EvalLog:
    try:
        from inspect_ai.log import read_eval_log  # late: an optional package, which takes two seconds to import
    except ModuleNotFoundError as error:
        raise InputError(
            f"{path}: reading it needs the package {error.name}: pip install 'turkic-idiom-tasks[inspect]'"
        ) from error
    try:
        return read_eval_log(str(path))
    except Exception as error:  # whatever a damaged archive makes Inspect raise
        raise InputError(f"{path}: no log that Inspect can read ({display(str(error))}); run it again") from error


def _facts(path: Path, log: EvalLog) -> _Facts:
    metadata: Mapping[str, Any] = log.eval.metadata or {}
    revision, prompt, few_shot = (metadata.get(name) for name in ("data_revision", "prompt", "few_shot"))
    if not (isinstance(revision, str) and isinstance(prompt, str) and type(few_shot) is int):
        raise InputError(
            f"{path}: does not say which data and prompt it is of; run it again with turkic_idiom_tasks/..."
        )
    return _Facts(log.eval.task.removeprefix(_PREFIX), revision, prompt, few_shot)


def _answer(path: Path, sample: EvalSample) -> str | None:
    """Return the answer that our scorer read."""
    scores = list((sample.scores or {}).values())
    if not scores:
        raise InputError(f"{path}: sample {display(str(sample.id))} has no score; run inspect eval-retry, or score it")
    return scores[0].answer


def _choices(
    path: Path, name: str, answers: Mapping[str, str | None], facts: _Facts, dataset: Dataset
) -> tuple[SubsetKey, Prediction]:
    """Return the answers to the items of one set.

    Raises:
        InputError: the data have no such set, an item has no answer, or an answer does not fit its item.
    """
    sets = {item_set.name: item_set for item_set in item_sets()}
    is_open = facts.task == CLOZE_OPEN
    key = task_and_subset(sets[name], is_open=is_open) if name in sets else (name, "")
    items = find_items(dataset, *key)
    if items is None:
        raise InputError(f"{path}: the data in use have no items {display(name)}; name the data with --data")
    missing = [item.id for item in items.rows if item.id not in answers]
    if missing:
        raise InputError(
            f"{path}: {len(missing)} of the {len(items.rows)} items of {name} have no answer, such as "
            f"{display(missing[0])}; run it without --limit"
        )
    by_position: dict[int, Answer] = {}
    for position, item in enumerate(items.rows):
        text = answers[item.id]
        answer: Answer = None
        if text is not None:
            answer = plain_text(text) if is_open else LETTERS.find(text) if len(text) == 1 else -1
        fault = answer_fault(item, answer, is_open=is_open)
        if fault:
            raise InputError(f"{path}: item {display(item.id)} {fault}; run it again")
        by_position[position] = answer
    return key, make_answers(items, by_position, prompt=facts.prompt, method=GENERATION)


def _tags(path: Path, language: str, answers: Mapping[str, str | None], dataset: Dataset) -> Tags:
    if language not in dataset.span_languages:
        raise InputError(
            f"{path}: the data in use has no test sentence in {display(language)}; name the data with --data"
        )
    sentences = dataset.test_sentences(language)
    letters = []
    for sentence in sentences.rows:
        if sentence.id not in answers:
            raise InputError(f"{path}: test sentence {display(sentence.id)} has no answer; run it without --limit")
        tags = "".join(tag[0] for tag in (answers[sentence.id] or "").split())
        if len(tags) != len(sentence.tokens) or not set(tags) <= set(TAG_LETTERS):
            raise InputError(
                f"{path}: the tags {display(tags)} do not fit sentence {display(sentence.id)}; run it again"
            )
        letters.append(tags)
    return Tags(sentences, tuple(letters))


def _model_name(model: str, arguments: Mapping[str, Any]) -> str:
    """Return the name of a model without the provider, or the folder that its weights were read from.

    ``hf/ORG/NAME`` is ORG/NAME, ``openai/gpt-5`` stays, ``hf/local`` with the argument `model_path` is that path.
    """
    _, _, name = model.partition("/")
    if name == "local" and arguments.get("model_path"):
        return str(arguments["model_path"])
    return name if is_local(name) or "/" in name else model
