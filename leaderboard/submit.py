"""Pack the predictions of finished runs, and what is known about the models, into submissions without scores."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from leaderboard.scores import ScoredSubmission, score_submission
from leaderboard.submission import NAME, Metadata, read_submission, slug, submission_files
from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.files import new_folder, write_bytes
from turkic_idiom_tasks.io.reading import display
from turkic_idiom_tasks.results.harness_files import find_predictions
from turkic_idiom_tasks.results.model_predictions import KNOWN_REGIMES, MODEL_TYPES, ModelPredictions
from turkic_idiom_tasks.results.predictions import SPANS, Prediction, SubsetKey

_IDENTITY = ("name", "revision", "type", "regime", "pooling", "few_shot")
_NEEDED = {
    "type": f"--type: {', '.join(MODEL_TYPES)}",
    "regime": "--regime: which supervision by idioms the model had; pretrained if none",
    "training_data": "--training-data: what it was trained on, and whether idioms of the benchmark were among it",
    "contact": "--contact: how you want to be reached; it is shown publicly",
}
_OPTIONS = {"n_parameters": "--parameters", "training_data": "--training-data"}  # those that are not --FIELD


@dataclass(frozen=True, slots=True)
class SubmitOptions:
    """Options of a submitter; those that are None are taken from the results."""

    out: Path
    contact: str | None = None
    training_data: str | None = None
    name: str | None = None
    type: str | None = None
    regime: str | None = None
    n_parameters: int | None = None
    poolings: tuple[str, ...] = ()
    seed: int | None = None

    def __post_init__(self) -> None:
        for name, known in (("type", MODEL_TYPES), ("regime", KNOWN_REGIMES)):
            value = getattr(self, name)
            if value not in (None, *known):
                raise usage_error(f"--{name} {display(value)}: unknown; known: {', '.join(known)}")


def submit(places: Sequence[Path], options: SubmitOptions, *, dataset: Dataset) -> list[tuple[Path, ScoredSubmission]]:
    """Write a folder for each model, pooling and regime in the results; return each folder with its scores.

    Raises:
        InputError: results cannot be read, are of other data, or are there twice; an option that only the submitter
            can give is missing; a folder exists already.
    """
    folders: dict[Path, dict[str, bytes]] = {}
    for group in _group(_chosen(find_predictions(places, dataset), options)):
        metadata = _metadata(group, options, dataset)
        folder = options.out / slug(metadata)
        if folder.exists():
            raise usage_error(f"{folder}: exists already; remove it or choose another --out")
        folders[folder] = submission_files(metadata, _predictions(group))
    return [(folder, _write(folder, files, dataset)) for folder, files in folders.items()]


def _chosen(results: Sequence[ModelPredictions], options: SubmitOptions) -> list[ModelPredictions]:
    """Return the predictions of the chosen poolings and of one seed, with what the submitter states about the model."""
    poolings = sorted({item.pooling for item in results if item.pooling})
    for pooling in options.poolings:
        if pooling not in poolings:
            known = ", ".join(poolings) or "none"
            raise usage_error(f"--pooling {display(pooling)}: not in the results; they have {known}")
    for option, value in (("--name", options.name), ("--parameters", options.n_parameters)):
        if value is not None:
            _check_one_model(results, f"{option} {display(value)}")
    classifier_seed = _seed(results, options, of_classifiers=True)
    encoder_seed = _seed(results, options, of_classifiers=False)
    stated: dict[str, Any] = {}
    for name in ("name", "type", "regime", "n_parameters"):
        if getattr(options, name) is not None:
            stated[name] = getattr(options, name)
    chosen = []
    for item in results:
        is_chosen_pooling = not options.poolings or item.pooling in (None, *options.poolings)
        seed = classifier_seed if item.is_classifier else encoder_seed
        if not is_chosen_pooling or item.seed not in (None, seed):
            continue
        item = replace(item, **stated)
        if not re.fullmatch(NAME, item.name):
            raise usage_error(
                f"{item.path}: the model is called {display(item.name)}, which cannot be published; "
                "say with --name ORG/NAME how to call it publicly"
            )
        chosen.append(item)
    return chosen


def _check_one_model(results: Sequence[ModelPredictions], option: str) -> None:
    """Make sure that an option for one model is not applied to several: that no task has results of two models.

    A model that ranks may have another name than the token classifier that was tuned from it.
    """
    models_by_task: dict[str, dict[str, None]] = {}
    for item in results:
        for task, _ in item.predictions:
            models_by_task.setdefault(task, {})[item.name] = None
    for task, models in models_by_task.items():
        if len(models) > 1:
            names = ", ".join(map(display, models))
            raise usage_error(f"{option}: is for one model, but {task} has results of {names}; name the files of one")


def _seed(results: Sequence[ModelPredictions], options: SubmitOptions, *, of_classifiers: bool) -> int | None:
    """Return the seed of classifiers or of encoders that is submitted: the one in the options, or the smallest."""
    every_seed, seeds = set(), set()
    for item in results:
        if item.seed is not None:
            every_seed.add(item.seed)
            if item.is_classifier == of_classifiers:
                seeds.add(item.seed)
    if options.seed is not None and options.seed not in every_seed:
        known = ", ".join(map(str, sorted(every_seed))) or "none"
        raise usage_error(f"--seed {options.seed}: not in the results; they have {known}")
    return options.seed if options.seed in seeds else min(seeds, default=None)


def _group(results: Iterable[ModelPredictions]) -> list[list[ModelPredictions]]:
    """Return the results in groups, one for each submission: results of one model that was run in one way.

    Span results do not name a pooling. They join the rankings of a model if there is exactly one group of rankings
    that agrees with them in everything that both state. A token classifier has other weights than the encoder that
    ranks, even if both were tuned from one model in one regime: their revisions may differ, and the submission has the
    revision of the encoder.
    """
    groups: dict[tuple[Any, ...], list[ModelPredictions]] = {}
    for item in results:
        groups.setdefault(tuple(getattr(item, name) for name in _IDENTITY), []).append(item)
    rankings: list[list[ModelPredictions]] = []
    tags: list[list[ModelPredictions]] = []
    for group in groups.values():
        tasks: set[str] = set()
        for item in group:
            tasks.update(task for task, _ in item.predictions)
        if tasks <= {SPANS}:
            tags.append(group)
        else:
            rankings.append(group)
    joined = list(rankings)
    for group in tags:
        matching = [other for other in rankings if _agree(group[0], other[0])]
        if len(matching) == 1:
            matching[0].extend(group)
        else:
            joined.append(group)
    return joined


def _agree(tags: ModelPredictions, rankings: ModelPredictions) -> bool:
    for name in _IDENTITY:
        if name == "revision" and tags.is_classifier:
            continue
        of_tags, of_rankings = getattr(tags, name), getattr(rankings, name)
        if of_tags is not None and of_rankings is not None and of_tags != of_rankings:
            return False
    return True


def _metadata(group: Sequence[ModelPredictions], options: SubmitOptions, dataset: Dataset) -> Metadata:
    """Return the metadata of a model, from its results and the options.

    Raises:
        InputError: a field that only the submitter knows is missing; names all such fields and their options.
    """
    known: dict[str, Any] = {"contact": options.contact, "training_data": options.training_data}
    for name in (*_IDENTITY, "n_parameters"):
        known[name] = None
        for item in group:
            if known[name] is None:
                known[name] = getattr(item, name)
    missing = [text for name, text in _NEEDED.items() if known[name] is None]
    if missing:
        raise usage_error(
            f"{group[0].path}, {known['name']}: the results do not say everything; add {'; '.join(missing)}"
        )
    versions: dict[str, str] = {}
    for item in group:
        versions |= item.versions
    throughput = max(
        (item.throughput for item in group if item.throughput), key=lambda measured: measured.n_texts, default=None
    )
    try:
        return Metadata(
            **known,
            dataset=dataset.path,
            dataset_revision=dataset.revision,
            versions=dict(sorted(versions.items())),
            texts_per_second=round(throughput.texts_per_second, 3) if throughput else None,
            device=throughput.device if throughput else None,
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = str(first["loc"][0])
        message = first["msg"].removeprefix("Value error, ")
        is_option = getattr(options, field, None) is not None
        place = _OPTIONS.get(field, f"--{field}") if is_option else f"{known['name']}: {display(field)}"
        raise usage_error(f"{place}: {message}, not {display(first['input'])}") from error


def _predictions(group: Sequence[ModelPredictions]) -> dict[SubsetKey, Prediction]:
    """Return all predictions of a group.

    Raises:
        InputError: two results are of the same subset or language.
    """
    paths: dict[SubsetKey, Path] = {}
    predictions: dict[SubsetKey, Prediction] = {}
    for item in group:
        for key, value in item.predictions.items():
            if key in paths:
                raise InputError(
                    f"{item.name}: two results of {key[0]}, {key[1]}: {paths[key]} and {item.path}; name the files of "
                    "one of them"
                )
            paths[key] = item.path
            predictions[key] = value
    return predictions


def _write(folder: Path, files: dict[str, bytes], dataset: Dataset) -> ScoredSubmission:
    """Write the folder and read it as the receiver will; if it has a fault, the folder is removed."""
    with new_folder(folder) as unfinished:
        for name, content in files.items():
            write_bytes(unfinished / name, content)
        submission, faults = read_submission(unfinished, dataset, name=folder.name)
        if submission is None:
            messages = "; ".join(f"{fault.path.name}: {fault.message}" for fault in faults[:3])
            raise InputError(f"{folder.name}: these results do not make a valid submission: {messages}")
        return score_submission(submission)
