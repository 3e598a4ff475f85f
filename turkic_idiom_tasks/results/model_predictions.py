"""Predictions and scores of finished evaluations of any harness, with what is known about the model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from turkic_idiom_tasks.encoders.folders import is_local
from turkic_idiom_tasks.encoders.names import NO_REVISION, POOLINGS, PRETRAINED, REGIMES, split_pooling
from turkic_idiom_tasks.io.models import model_errors
from turkic_idiom_tasks.io.reading import read_json
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

_Model = TypeVar("_Model", bound=BaseModel)
_BASELINES = ("turkic-idiom/", "mteb/baseline-")
AGAIN = "compute it again"  # advice where a file of a harness is damaged
_LOCAL = "local/"  # what the name of a checkpoint in a folder begins with


@dataclass(frozen=True, slots=True, eq=False)
class ModelPredictions:
    """Predictions of one model, and what is known about it; None means not known."""

    path: Path
    predictions: Predictions  # of the data in use
    name: str  # without the pooling
    revision: str | None = None
    n_parameters: int | None = None
    type: str | None = None  # one of `MODEL_TYPES`
    regime: str | None = None  # one of `KNOWN_REGIMES`, the supervision by idioms that the model had
    pooling: str | None = None  # one of `POOLINGS`
    few_shot: int | None = None  # number of examples of the target language that the model saw
    seed: int | None = None  # of the training
    # A token classifier has other weights than an encoder for retrieval that was tuned from the same model.
    is_classifier: bool = False
    versions: Mapping[str, str] = field(default_factory=dict)
    throughput: Throughput | None = None


@dataclass(frozen=True, slots=True)
class StatedScores:
    """Scores of one subset as a finished result states them."""

    path: Path
    model: str | None  # None if the result does not name it
    task: str  # short name
    subset: str
    data_revision: str  # of the data that was scored
    main: float
    floor: float | None  # main score of a random ranking, if it is stated


class HarnessFile(BaseModel):
    """Part of a file that a harness has written, which has more fields than are read."""

    # pydantic reserves names that begin with model_, which lm-eval gives to its fields
    model_config = ConfigDict(extra="ignore", frozen=True, protected_namespaces=())


def describe_encoder(
    path: Path, name: str, revision: str | None, *, pooling: object = None, is_native: bool = True
) -> ModelPredictions:
    """Return what the name of an untuned encoder says about it, without predictions.

    Name, which may end in ``(pooling=mean)``, revision and pooling are as results state them. The pooling is native if
    it is the model's own, rather than one that the user chose.
    """
    base, named_pooling = split_pooling(name)
    model_type = ENCODER if named_pooling or not is_native else SENTENCE_ENCODER
    pooling = named_pooling or pooling
    return ModelPredictions(
        path=path,
        predictions={},
        name=base,
        revision=None if revision in ("", NO_REVISION) else revision,
        type=BASELINE if base.startswith(_BASELINES) else model_type,
        # The checkpoint in a folder may have been tuned
        regime=None if name.startswith(_LOCAL) or is_local(name) else PRETRAINED,
        pooling=str(pooling) if pooling in POOLINGS else None,
    )


def regime_of_language_model(name: str, *, shots: int) -> str | None:
    """Return the regime of a language model that saw `shots` examples in its prompt; None for a folder without any."""
    if shots:
        return FEW_SHOT
    return None if is_local(name) else PRETRAINED


def read_harness_file(model: type[_Model], path: Path) -> _Model:
    """Return a JSON file of a harness, which may hold NaN, as a pydantic model."""
    with model_errors(path, AGAIN):
        return model.model_validate(read_json(path, special_numbers=True))
