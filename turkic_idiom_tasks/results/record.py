"""Records: one file per finished result, with everything that decided it, its scores and its predictions.

A record is JSON lines packed by gzip. The first line is the header; the lines of the predictions follow (see
`predictions`). The file is written in one step, so it is either complete or missing, and a result is finished if its
file exists. `turkic-idiom run` writes one per model, task and subset, the grid one per cell.
"""

from __future__ import annotations

import gzip
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.errors import InputError, refuse_faults
from turkic_idiom_tasks.io.files import write_bytes
from turkic_idiom_tasks.io.models import model_errors
from turkic_idiom_tasks.io.reading import (
    Fault,
    MalformedError,
    display,
    parse_json,
    read_file,
    unpack_gzip,
)
from turkic_idiom_tasks.lexicon.editions import EDITIONS
from turkic_idiom_tasks.results.predictions import RECORDED_TASKS, Predictions, SubsetKey, to_lines
from turkic_idiom_tasks.results.reader import read_lines

if TYPE_CHECKING:  # it imports torch, which reading a record does not need
    from turkic_idiom_tasks.encoders.pooled import PooledEncoder

RESULT_FORMAT = 2  # increased when the same predictions or settings get another meaning
SUFFIX = ".record.jsonl.gz"
VARIANTS = "experiments"  # mteb's folder for results under other settings than the default ones
MODEL_META = "model_meta.json"  # mteb's file beside results that describes the model
MAX_PACKED = 64 * 1024 * 1024  # bytes of the file
MAX_UNPACKED = 512 * 1024 * 1024  # bytes

OWN_PACKAGE = "turkic-idiom-tasks"
PACKAGES = (OWN_PACKAGE, "mteb", "sentence-transformers", "transformers", "torch")  # whose versions records state

_STRICT = ConfigDict(extra="forbid", frozen=True, strict=True)
_AGAIN = "delete the file and compute it again"
_NAME_DATA = "name its data with --data, or run the model again on the data in use"


class OtherFormatError(InputError):
    """A record that another version of this package wrote; it must be computed again."""


class DataName(BaseModel):
    """Data that was predicted."""

    model_config = _STRICT

    path: str  # as results name it
    revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
    edition: str | None = None  # of the bundled lexicon

    @classmethod
    def of(cls, dataset: Dataset) -> DataName:
        """Return the name of a dataset."""
        return cls(path=dataset.path, revision=dataset.revision, edition=EDITIONS.get(dataset.revision))


class ModelName(BaseModel):
    """Model that predicted."""

    model_config = _STRICT

    name: str
    revision: str | None  # commit, content hash, or None
    n_parameters: Annotated[int, Field(ge=0)] | None = None


class Training(BaseModel):
    """How a model was tuned before it predicted."""

    model_config = _STRICT

    regime: str  # of supervision, such as ``tr-only``
    language: str | None = None  # that was trained on, or of the meanings; None if the regime says it
    seed: int | None = None
    size: int | Literal["all"] | None = None  # training sentences of the tested language; None except for spans
    config: dict[str, JsonValue] = {}
    outcome: dict[str, JsonValue] = {}  # figures that the training reports, such as its best epoch


class Throughput(BaseModel):
    """Speed of an encoder, measured over the texts that it really encoded for this result and those before it."""

    model_config = _STRICT

    n_texts: Annotated[int, Field(gt=0)]
    seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    device: Annotated[str, Field(min_length=1, max_length=200)]  # name of the accelerator or the processor

    @classmethod
    def of(cls, encoder: PooledEncoder) -> Throughput | None:
        """Return what an encoder measured so far; None if it has not encoded a text."""
        if not encoder.n_texts_forwarded:
            return None
        return cls(n_texts=encoder.n_texts_forwarded, seconds=round(encoder.seconds, 6), device=encoder.device_name)


class SubsetScores(BaseModel):
    """Scores of one subset, by name; None is undefined."""

    model_config = _STRICT

    task: Literal[RECORDED_TASKS]  # type: ignore[valid-type]
    subset: str
    scores: dict[str, float | None]


class Header(BaseModel):
    """First line of a record: everything that decides a result, and its scores."""

    model_config = _STRICT

    format: int = RESULT_FORMAT
    data: DataName
    model: ModelName
    settings: dict[str, JsonValue]  # of the prediction, such as pooling, dtype and prompts
    training: Training | None = None  # None if the model was not tuned
    versions: dict[str, str]  # of packages
    subsets: list[SubsetScores]  # in the order of the predictions
    seconds: float | None = None
    throughput: Throughput | None = None  # None if it was not measured

    def scores(self, task: str, subset: str) -> Mapping[str, float]:
        """Return the scores of one subset, NaN where undefined; a subset that is not in this record is a KeyError."""
        scores = {(row.task, row.subset): row.scores for row in self.subsets}[task, subset]
        return {name: math.nan if value is None else value for name, value in scores.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """A finished result: its header, what was predicted for each (task, subset), and its file once it is written."""

    header: Header
    predictions: Predictions
    path: Path = Path()


def build_record(
    model: str,
    predictions: Predictions,
    scores: Mapping[SubsetKey, Mapping[str, float]],
    *,
    data: DataName,
    revision: str | None,
    n_parameters: int | None,
    settings: Mapping[str, Any],
    seconds: float,
    training: Training | None = None,
    throughput: Throughput | None = None,
) -> Record:
    """Return the record of a result that was computed just now, with the installed versions."""
    subsets = []
    for (task, subset), by_name in scores.items():
        plain = {name: None if math.isnan(value) else float(value) for name, value in by_name.items()}
        subsets.append(SubsetScores(task=task, subset=subset, scores=plain))
    header = Header(
        data=data,
        model=ModelName(name=model, revision=revision, n_parameters=n_parameters),
        settings=dict(settings),
        training=training,
        versions=installed_versions(),
        subsets=subsets,
        seconds=round(seconds, 3),
        throughput=throughput,
    )
    return Record(header, predictions)


def count_parameters(module: Any) -> int:
    """Return the number of parameters of a torch module."""
    return int(sum(parameter.numel() for parameter in module.parameters()))


def write_record(path: Path, header: Header, predictions: Predictions, *, top_k: int | None = None) -> None:
    """Write a record in one step, so that a file that exists is a finished result; for `top_k` see `to_lines`."""
    # The scores in the header are those of the whole pool, however few documents are listed
    first = json.dumps(header.model_dump(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    text = "\n".join([first, *to_lines(predictions, top_k=top_k), ""])
    # without the time that gzip would state, so that the same result is the same file
    write_bytes(path, gzip.compress(text.encode("utf-8"), compresslevel=1, mtime=0))


def read_header(path: Path) -> Header:
    """Return the header of a record; another format is an OtherFormatError, every other fault a plain InputError."""
    return _open(path)[0]


def read_record(path: Path, dataset: Dataset) -> Record:
    """Return a record, whose predictions must be of this data."""
    header, lines = _open(path)
    check_data(path, header.data.revision, dataset)
    predictions, faults = read_lines(path, lines, dataset, first_line=2)
    if not faults and {(row.task, row.subset) for row in header.subsets} != set(predictions):
        faults = [Fault(path, "its header and its predictions are of different subsets")]
    refuse_faults(faults, advice=_AGAIN)
    return Record(header, predictions, path)


def check_data(
    path: Path, revision: str, dataset: Dataset, *, what: str = "a result", advice: str = _NAME_DATA
) -> None:
    """Raise an InputError with both revisions if a result is not of the data in use."""
    if revision != dataset.revision:
        raise InputError(
            f"{path}: {what} of other data (revision {display(revision[:12])}; the data in use, {dataset.path}, has "
            f"{dataset.revision[:12]}); {advice}"
        )


def find_records(place: Path) -> list[Path]:
    """Return the record that `place` is, or those in it at any depth, sorted and without variants; at least one."""
    if place.is_file():
        return [place]
    # A hidden file is one that is being written, or that a killed run has left half-written.
    paths = sorted(path for path in place.rglob(f"*{SUFFIX}") if not path.name.startswith("."))
    if not paths:
        problem = "no result in it" if place.is_dir() else "no such file or folder"
        advice = "give a result of turkic-idiom run, finetune or grid run, or its folder"
        raise InputError(f"{place}: {problem}; {advice}", exit_code=1 if place.is_dir() else 2)
    return without_variants(paths)


def without_variants(paths: Sequence[Path]) -> list[Path]:
    """Leave out the results of a model under other settings if the paths hold those under the default ones."""
    folders = {path.parent for path in paths if path.name.endswith(SUFFIX) or path.name == MODEL_META}
    kept = []
    for path in paths:
        # mteb keeps results under other settings in this folder; to read them, a user names it
        if not any(folder.name == VARIANTS and folder.parent in folders for folder in path.parents):
            kept.append(path)
    return kept


def _open(path: Path) -> tuple[Header, Iterator[bytes]]:
    """Return the header of a record, and the lines of its predictions."""
    try:
        text = unpack_gzip(read_file(path, limit=MAX_PACKED), limit=MAX_UNPACKED)
    except MalformedError as error:
        problem = f"{error}; {_AGAIN}"
        # Perhaps a file that is dear to its owner: do not advise to delete it
        if not path.name.endswith(SUFFIX):
            problem = f"no result of turkic-idiom ({error}); give a file *{SUFFIX}, or the folder of one model"
        elif isinstance(error.__cause__, OSError):
            # The file may be whole: do not advise to delete it
            problem = str(error)
        raise InputError(f"{path}: {problem}") from error
    lines = (line.rstrip(b"\n") for line in io.BytesIO(text))
    with model_errors(path, _AGAIN):
        value: Any = parse_json(next(lines, b""))
        format_number = value.get("format") if isinstance(value, dict) else None
        # Before everything else, because the fields of another format are other ones.
        if format_number != RESULT_FORMAT:
            raise OtherFormatError(
                f"{path}: a result of format {display(format_number)}, this version reads {RESULT_FORMAT}; {_AGAIN}"
            )
        return Header.model_validate(value), lines


@cache  # reading the metadata of a package takes milliseconds, and every record asks for it
def installed_versions() -> dict[str, str]:
    """Return package -> version of the packages that decide what a model computes, as far as they are installed."""
    versions = {}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions


def differing_majors(versions: Mapping[str, str]) -> list[str]:
    """Return the libraries whose installed major version is another one: ``transformers 4.57.1 (now 5.0.0)``."""
    differing = []
    for package, now in installed_versions().items():
        earlier = versions.get(package, now)
        if package != OWN_PACKAGE and earlier.partition(".")[0] != now.partition(".")[0]:
            differing.append(f"{package} {earlier} (now {now})")
    return differing
