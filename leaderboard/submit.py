"""Pack the predictions of finished runs, and what is known about the models, into submissions without scores."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from leaderboard.board import ScoredSubmission, score_submission
from leaderboard.submission import Metadata, Submission, slug, submission_files
from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.files import new_folder, write_bytes
from turkic_idiom_tasks.io.reading import display
from turkic_idiom_tasks.results.harness_files import find_predictions
from turkic_idiom_tasks.results.model_predictions import MODEL_TYPES, ModelPredictions
from turkic_idiom_tasks.results.predictions import SPANS, Prediction, SubsetKey

_IDENTITY = ("name", "revision", "type", "regime", "pooling", "few_shot")
_NEEDED = {
    "type": f"--type: {', '.join(MODEL_TYPES)}",
    "regime": "--regime: which supervision by idioms the model had; pretrained if none",
    "training_data": "--training-data: what it was trained on, and whether idioms of the benchmark were among it",
    "contact": "--contact: how you want to be reached; it is shown publicly",
}
_OPTIONS = {"n_parameters": "--parameters", "training_data": "--training-data"}  # those that are not --FIELD


def submit(
    places: Sequence[Path],
    out: Path,
    *,
    dataset: Dataset,
    stated: Mapping[str, str | int | None],
    poolings: Sequence[str] = (),
    seed: int | None = None,
) -> list[tuple[Path, ScoredSubmission]]:
    """Write a folder for each model, pooling and regime in the results; return each folder with its scores.

    Fields of `Metadata` that are not stated, or None, are taken from the results; those that only the submitter knows
    must be stated. Without `poolings` all are submitted, and of several seeds the smallest. A folder that exists is
    never replaced.
    """
    stated = {field: value for field, value in stated.items() if value is not None}
    chosen = _chosen(find_predictions(places, dataset), poolings, seed, stated)
    # All of them are made before the first is written
    submissions: list[Submission] = []
    for group in _group(chosen):
        metadata = _metadata(group, stated, dataset)
        predictions: dict[SubsetKey, Prediction] = {}
        paths: dict[SubsetKey, Path] = {}
        for item in group:
            repeated = [key for key in item.predictions if key in paths]
            if repeated:
                task, subset = repeated[0]
                raise InputError(
                    f"{item.name}: two results of {task}, {subset}: {paths[task, subset]} and {item.path}; "
                    "name the files of one of them"
                )
            predictions |= item.predictions
            paths |= dict.fromkeys(item.predictions, item.path)
        submissions.append(Submission(slug(metadata), metadata, predictions))
    # A folder that exists, or a disk that is full, leaves none of them
    with ExitStack() as folders:
        for submission in submissions:
            unfinished = folders.enter_context(new_folder(out / submission.id))
            for file_name, content in submission_files(submission.metadata, submission.predictions).items():
                write_bytes(unfinished / file_name, content)
    # Not read again: the reader of the results and `Metadata` have checked all that the receiver checks
    return [(out / submission.id, score_submission(submission)) for submission in submissions]


def _chosen(
    results: Sequence[ModelPredictions], poolings: Sequence[str], seed: int | None, stated: Mapping[str, Any]
) -> list[ModelPredictions]:
    """Return the predictions of the chosen poolings and of one seed, with what the submitter states about the model."""
    faults = []
    for option, values in (("pooling", poolings), ("seed", [] if seed is None else [seed])):
        known = sorted({getattr(item, option) for item in results} - {None})
        for value in values:
            if value not in known:
                names = ", ".join(map(str, known)) or "none"
                faults.append(f"--{option} {display(value)}: not in the results; they have {names}")
    models_by_task: dict[str, dict[str, None]] = {}
    for item in results:
        for task, _ in item.predictions:
            models_by_task.setdefault(task, {})[item.name] = None
    # By task, because a model that ranks may have another name than the token classifier that was tuned from it
    several = [(task, ", ".join(map(display, models))) for task, models in models_by_task.items() if len(models) > 1]
    for field, option in (("name", "--name"), ("n_parameters", "--parameters")):
        if field in stated and several:
            task, names = several[0]
            value = display(stated[field])
            faults.append(
                f"{option} {value}: is for one model, but {task} has results of {names}; name the files of one"
            )
    if faults:
        raise usage_error("; ".join(faults))
    seed_of = {}  # whether of classifiers -> the seed: they and encoders are tuned apart, with seeds of their own
    for is_classifier in (True, False):
        of_kind = {item.seed for item in results if item.seed is not None and item.is_classifier == is_classifier}
        seed_of[is_classifier] = seed if seed in of_kind else min(of_kind, default=None)
    changes = {field: value for field, value in stated.items() if field in (*_IDENTITY, "n_parameters")}
    chosen = []
    for item in results:
        is_chosen_pooling = not poolings or item.pooling in (None, *poolings)
        if not is_chosen_pooling or item.seed not in (None, seed_of[item.is_classifier]):
            continue
        chosen.append(replace(item, **changes))
    return chosen


def _group(results: Sequence[ModelPredictions]) -> list[list[ModelPredictions]]:
    """Return the results in groups, one for each submission: results of one model that was run in one way."""
    groups: dict[tuple[Any, ...], list[ModelPredictions]] = {}
    for item in results:
        groups.setdefault(tuple(getattr(item, name) for name in _IDENTITY), []).append(item)
    rankings: list[list[ModelPredictions]] = []
    tags: list[list[ModelPredictions]] = []
    for group in groups.values():
        has_spans_alone = all(task == SPANS for item in group for task, _ in item.predictions)
        (tags if has_spans_alone else rankings).append(group)
    # Span results name no pooling. They join the rankings of a model if exactly one group agrees with them in
    # everything that both state. A token classifier has other weights than the encoder that ranks, even if both were
    # tuned from one model, so their revisions may differ; the submission has that of the encoder.
    joined = list(rankings)
    for group in tags:
        names = [name for name in _IDENTITY if name != "revision" or not group[0].is_classifier]
        matching = []
        for other in rankings:
            stated = [(getattr(group[0], name), getattr(other[0], name)) for name in names]
            if all(None in pair or pair[0] == pair[1] for pair in stated):
                matching.append(other)
        # With several, nobody knows with which pooling the submitter would rank
        if len(matching) == 1:
            matching[0].extend(group)
        else:
            joined.append(group)
    return joined


def _metadata(group: Sequence[ModelPredictions], stated: Mapping[str, Any], dataset: Dataset) -> Metadata:
    """Return the metadata of a model, from its results and what the submitter states."""
    known: dict[str, Any] = {"contact": stated.get("contact"), "training_data": stated.get("training_data")}
    for name in (*_IDENTITY, "n_parameters"):
        values = [getattr(item, name) for item in group]
        known[name] = next((value for value in values if value is not None), None)
    versions: dict[str, str] = {}
    for item in group:
        versions |= item.versions
    # The speed over most texts, because loading and warming up weigh least in it
    measured = [item.throughput for item in group if item.throughput]
    throughput = max(measured, key=lambda throughput: throughput.n_texts, default=None)
    try:
        return Metadata(
            **known,
            dataset=dataset.path,
            dataset_revision=dataset.revision,
            versions=dict(sorted(versions.items())),
            texts_per_second=round(throughput.n_texts / throughput.seconds, 3) if throughput else None,
            device=throughput.device if throughput else None,
        )
    except ValidationError as error:
        faults, missing = [], []
        for problem in error.errors(include_url=False):
            field, value = str(problem["loc"][0]), display(problem["input"])
            message = problem["msg"].removeprefix("Value error, ")
            if field in _NEEDED and known[field] is None:
                missing.append(_NEEDED[field])
            elif field == "name":
                message = "which cannot be published; say with --name ORG/NAME how to call it publicly"
                faults.append(f"the model is called {value}, {message}")
            elif field in stated:
                faults.append(f"{_OPTIONS.get(field, f'--{field}')}: {message}, not {value}")
            else:
                faults.append(f"{display(field)}: {message}, not {value}")
        if missing:
            faults.append(f"the results do not say everything; add {'; '.join(missing)}")
        raise usage_error(f"{group[0].path}, {known['name']}: {'; '.join(faults)}") from error
