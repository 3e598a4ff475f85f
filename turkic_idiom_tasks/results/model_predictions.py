"""Predictions and scores of finished evaluations of any harness, with what is known about the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.encoders.folders import is_local
from turkic_idiom_tasks.encoders.names import NO_REVISION, POOLED_NAME, POOLINGS, PRETRAINED, REGIMES
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import display, first_fault
from turkic_idiom_tasks.results.predictions import Predictions
from turkic_idiom_tasks.results.record import Throughput

BASELINE, ENCODER, SENTENCE_ENCODER, TOKEN_CLASSIFIER, LLM = MODEL_TYPES = (
    "baseline",
    "encoder",
    "sentence-encoder",
    "token-classifier",
    "llm",
)
FEW_SHOT, OTHER = "few-shot", "other"
KNOWN_REGIMES = (*REGIMES, FEW_SHOT, OTHER)

ALL: Literal["all"] = "all"  # the size of a sample that holds every training sentence

LENIENT = ConfigDict(extra="ignore", frozen=True, protected_namespaces=())  # files of the harnesses have more fields
_Model = TypeVar("_Model", bound=BaseModel)
_BASELINES = ("turkic-idiom/", "mteb/baseline-")
_LOCAL = "local/"  # what the name of a checkpoint in a folder begins with


@dataclass(frozen=True, slots=True, eq=False)
class ModelPredictions:
    """Predictions of one model, and what is known about it; None means not known.

    Attributes:
        path: the file.
        predictions: (task, subset) -> rankings, tags, answers or similarities of the data in use.
        name: name of the model, without its pooling.
        revision: revision of the model.
        n_parameters: number of parameters of the model.
        type: one of `MODEL_TYPES`.
        regime: one of `KNOWN_REGIMES`, the supervision by idioms that the model had.
        pooling: one of `POOLINGS`.
        few_shot: number of examples of the target language that the model saw.
        seed: seed of the training.
        is_classifier: whether a token classifier made the predictions; it has other weights than an encoder for
            retrieval that was tuned from the same model.
        versions: package -> version.
        throughput: speed of the encoder.
    """

    path: Path
    predictions: Predictions
    name: str
    revision: str | None = None
    n_parameters: int | None = None
    type: str | None = None
    regime: str | None = None
    pooling: str | None = None
    few_shot: int | None = None
    seed: int | None = None
    is_classifier: bool = False
    versions: Mapping[str, str] = field(default_factory=dict)
    throughput: Throughput | None = None


@dataclass(frozen=True, slots=True)
class StatedScores:
    """Scores of one subset as a finished result states them.

    Attributes:
        path: the file.
        model: name of the model; None if the result does not state it.
        task: short name.
        subset: ``tur-azj``.
        data_revision: revision of the data that was scored.
        main: the main score.
        floor: main score of a random ranking; None if it is not stated.
    """

    path: Path
    model: str | None
    task: str
    subset: str
    data_revision: str
    main: float
    floor: float | None


def describe_encoder(
    path: Path,
    name: str,
    revision: str | None,
    predictions: Predictions,
    *,
    pooling: JsonValue = None,
    is_native: bool = True,
) -> ModelPredictions:
    """Return predictions with what the name of an encoder says about it.

    Args:
        path: the file.
        name: as results name the model, with or without ``(pooling=mean)``.
        revision: as results state it.
        predictions: rankings.
        pooling: as results state it.
        is_native: whether the model was scored with its own pooling, rather than one that the user chose.
    """
    match = POOLED_NAME.fullmatch(name)
    base = match["base"] if match else name
    named_pooling = match["pooling"] if match else pooling
    known_pooling = named_pooling if isinstance(named_pooling, str) and named_pooling in POOLINGS else None
    model_type = ENCODER if match or not is_native else SENTENCE_ENCODER
    if base.startswith(_BASELINES):
        model_type = BASELINE
    return ModelPredictions(
        path=path,
        predictions=predictions,
        name=base,
        revision=known_revision(revision),
        type=model_type,
        pooling=known_pooling,
    )


def known_revision(revision: str | None) -> str | None:
    """Return a revision, or None if the results only say that there is none."""
    return None if revision in (None, "", NO_REVISION) else revision


def regime_of_untuned(name: str) -> str | None:
    """Return the regime of an encoder that we did not tune; None for a folder, whose checkpoint may have been tuned."""
    return None if name.startswith(_LOCAL) or is_local(name) else PRETRAINED


def regime_of_language_model(name: str, *, shots: int) -> str | None:
    """Return the regime of a language model that saw `shots` examples in its prompt; None for a folder without any."""
    if shots:
        return FEW_SHOT
    return None if is_local(name) else PRETRAINED


def known_regime(regime: str) -> str:
    """Return a regime as the leaderboard names it."""
    return regime if regime in KNOWN_REGIMES else OTHER


def check_data(path: Path, revision: str, dataset: Dataset) -> None:
    """Check that predictions are of the data in use.

    Raises:
        InputError: they are of other data; names both revisions.
    """
    if revision != dataset.revision:
        raise InputError(
            f"{path}: predictions for other data (revision {display(revision[:12])}; the data in use, {dataset.path}, "
            f"has {dataset.revision[:12]}); name the data with --data, or run the model again on the data in use"
        )


def validated(model: type[_Model], value: Any, path: Path) -> _Model:
    """Return a value from a file as a pydantic model.

    Raises:
        InputError: the value does not fit the model; names the file and the field.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise InputError(f"{path}: damaged ({first_fault(error)}); compute it again") from error
