"""A submission: a folder with what a model predicted and what its submitter says of it, and no scores.

The folder is named by `slug` and holds ``submission.json`` (the fields of `Metadata` and the number of this format) and
some of ``T1.jsonl.gz``, ``T2.jsonl.gz``, ``T3.jsonl.gz`` and ``spans.jsonl.gz`` (see `results.predictions`), nothing
else. All of it is untrusted: it is read within limits, every mistake is named, and what does not fit the data is
refused.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.encoders.names import POOLINGS
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.lexicon.editions import edition_of
from turkic_idiom_tasks.reading import MalformedError, is_unseen, parse_json, read_file, shown, unpack_gzip
from turkic_idiom_tasks.results.model_predictions import KNOWN_REGIMES, MODEL_TYPES
from turkic_idiom_tasks.results.predictions import (
    MAX_DEPTH,
    TASK_NAMES,
    Key,
    Predictions,
    Rankings,
    Tags,
    read_lines,
    to_lines,
)

FORMAT = 1
METADATA_FILE = "submission.json"
PREDICTION_FILES = {task: f"{task}.jsonl.gz" for task in TASK_NAMES}
MAX_METADATA = 32 * 1024  # bytes
MAX_PACKED = 16 * 1024 * 1024  # bytes of a prediction file; a full set of rankings takes 1.3 million
MAX_UNPACKED = 64 * 1024 * 1024  # bytes
MAX_LINE = 1024 * 1024  # bytes
MAX_PARAMETERS = 10**14
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}(/[A-Za-z0-9][A-Za-z0-9._-]{0,95})?"

_SLUG_LENGTH = 80  # of the part that can be read


def _plain_text(text: str) -> str:
    """Return one line that looks like what it is; a character that cannot be seen, or turns the direction, raises."""
    for character in text:
        if is_unseen(character) or not character.isprintable():
            raise ValueError(f"has the character {shown(character)}, which cannot be seen; leave it out")
    if not text or text != text.strip():
        raise ValueError("is empty, or begins or ends with white space")
    if text != unicodedata.normalize("NFC", text):
        raise ValueError("is not in Unicode's normal form NFC")
    return text


_Text = Annotated[str, Field(max_length=200), AfterValidator(_plain_text)]
_Version = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+!_-]{0,63}\Z")]


class Metadata(BaseModel):
    """What a submitter says of a model; every field is checked for form, none can be checked for truth.

    Attributes:
        name: ORG/NAME on the Hub, or a name for something that is not there.
        revision: commit of the model; None where it has none.
        n_parameters: of the model; None if not known.
        type: one of `MODEL_TYPES`.
        regime: one of `KNOWN_REGIMES`: which supervision by idioms it had.
        training_data: disclosure in words: what it was trained on, and whether idioms of the benchmark were among it.
        pooling: one of `POOLINGS`, or None.
        few_shot: examples of the target language that it saw; None where that means nothing.
        dataset: path of the data, as results name it.
        dataset_revision: 40 hexadecimal digits.
        versions: package -> version that made the predictions.
        contact: of the submitter, as they wish it shown.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, regex_engine="python-re")

    name: Annotated[str, Field(pattern=rf"^{NAME}\Z")]
    revision: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")] | None
    n_parameters: Annotated[int, Field(ge=0, le=MAX_PARAMETERS)] | None
    type: Literal[MODEL_TYPES]  # type: ignore[valid-type]
    regime: Literal[KNOWN_REGIMES]  # type: ignore[valid-type]
    training_data: Annotated[str, Field(max_length=2000), AfterValidator(_plain_text)]
    pooling: Literal[POOLINGS] | None  # type: ignore[valid-type]
    few_shot: Annotated[int, Field(ge=0, le=10**6)] | None
    dataset: _Text
    dataset_revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}\Z")]
    versions: Annotated[dict[_Version, _Version], Field(max_length=32)]
    contact: _Text

    @property
    def edition(self) -> str | None:
        """Edition of the bundled lexicon that was predicted; None for other data."""
        return edition_of(self.dataset_revision)


class _MetadataFile(Metadata):
    """Content of ``submission.json``."""

    format: Annotated[int, Field(ge=FORMAT, le=FORMAT)]


@dataclass(frozen=True, slots=True)
class SubmissionFault:
    """Something wrong with a submission; `line` is 0 when it concerns the whole file or folder."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        path = ascii(str(self.path))[1:-1]  # anybody may have named it
        return f"{path}:{self.line}: {self.message}" if self.line else f"{path}: {self.message}"


@dataclass(frozen=True, slots=True, eq=False)
class Submission:
    """A submission without a fault.

    Attributes:
        id: name of its folder.
        metadata: as checked.
        predictions: (task, subset) -> rankings or tags.
    """

    id: str
    metadata: Metadata
    predictions: Predictions


def slug(metadata: Metadata) -> str:
    """Return the name of a submission's folder: what tells it from others, and a hash of the same, lower-case ASCII.

    Two submissions have one name only if model, revision, type, regime, pooling and number of examples are the same:
    nobody can take the folder of another model.
    """
    identity = [metadata.name, metadata.revision, metadata.type, metadata.regime, metadata.pooling, metadata.few_shot]
    digest = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:8]
    shots = None if metadata.few_shot is None else f"{metadata.few_shot}-shot"
    parts = [metadata.name.replace("/", "__"), metadata.pooling, metadata.regime, shots]
    name = "-".join(part for part in parts if part is not None).lower()
    return f"{name[:_SLUG_LENGTH]}-{digest}"


def submission_files(metadata: Metadata, predictions: Predictions) -> dict[str, bytes]:
    """Return file name -> content of a submission; the same predictions give the same bytes."""
    text = json.dumps({"format": FORMAT} | metadata.model_dump(), ensure_ascii=False, indent=2) + "\n"
    files = {METADATA_FILE: text.encode("utf-8")}
    for task, name in PREDICTION_FILES.items():
        of_task = {key: value for key, value in predictions.items() if key[0] == task}
        if of_task:
            lines = "\n".join([*to_lines(of_task, default_task=task), ""])
            files[name] = gzip.compress(lines.encode("utf-8"), mtime=0)
    return files


def other_edition(folder: Path, dataset: Dataset) -> Metadata | None:
    """Return the metadata of a submission whose predictions are of another edition of the lexicon; None for others."""
    if _folder_faults(folder):
        return None
    metadata, faults = _read_metadata(folder / METADATA_FILE)
    if metadata is None or faults or slug(metadata) != folder.name:
        return None
    is_other = metadata.edition is not None and metadata.dataset_revision != dataset.revision
    return metadata if is_other else None


def load_submission(folder: Path, dataset: Dataset) -> Submission:
    """Return the submission in a folder.

    Raises:
        InputError: it has a fault; names the first one and how to list them all.
    """
    submission, faults = read_submission(folder, dataset)
    if submission is None:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise InputError(f"{faults[0]}{more}; list all with: turkic-idiom leaderboard check {shown(str(folder))}")
    return submission


def read_submission(
    folder: Path, dataset: Dataset, *, name: str | None = None
) -> tuple[Submission | None, list[SubmissionFault]]:
    """Return the submission in a folder, or None, and everything that is wrong with it.

    Args:
        folder: made by anybody.
        dataset: the data in use.
        name: what the folder is to be called; None where it has its name already.
    """
    faults = _folder_faults(folder)
    if faults:
        return None, faults
    metadata, faults = _read_metadata(folder / METADATA_FILE)
    if metadata is None:
        return None, faults
    faults += _metadata_faults(metadata, folder, dataset=dataset, name=name or folder.name)
    if metadata.dataset_revision != dataset.revision:
        return None, faults  # its predictions can only be wrong
    predictions: dict[Key, Rankings | Tags] = {}
    for task, file_name in PREDICTION_FILES.items():
        path = folder / file_name
        if path.exists():
            read, file_faults = _read_predictions(path, task, dataset)
            predictions |= read
            faults += file_faults
    return (None if faults else Submission(slug(metadata), metadata, predictions)), faults


def submission_folders(place: Path) -> list[Path]:
    """Return the submissions that a folder holds, by name, or that it is; hidden folders are skipped.

    Raises:
        InputError: there is no such folder, or nothing in it.
    """
    if not place.is_dir():
        raise usage_error(f"{place}: no such folder; give that of a submission, or one that holds submissions")
    if (place / METADATA_FILE).exists():
        return [place]
    folders = []
    for path in sorted(place.iterdir()):
        is_folder = path.is_symlink() or path.is_dir()  # a link is refused later, and so not overlooked
        if is_folder and not path.name.startswith("."):
            folders.append(path)
    if not folders or place.is_symlink():
        raise InputError(f"{place}: no submission, and no folder that could be one; turkic-idiom submit makes them")
    return folders


def _folder_faults(folder: Path) -> list[SubmissionFault]:
    """Return what is wrong with the folder itself and the names in it."""
    if folder.is_symlink() or not folder.is_dir():
        return [SubmissionFault(folder, 0, "not a folder; a symbolic link is refused")]
    known = {METADATA_FILE, *PREDICTION_FILES.values()}
    faults: list[SubmissionFault] = []
    names: set[str] = set()
    try:
        with os.scandir(folder) as entries:
            first_entries = list(islice(entries, 2 * len(known)))
    except OSError as error:
        return [SubmissionFault(folder, 0, f"cannot be read ({error.strerror})")]
    for entry in first_entries:
        names.add(entry.name)
        if entry.name not in known:
            allowed = ", ".join(sorted(known))
            faults.append(SubmissionFault(folder, 0, f"holds {shown(entry.name)}; only {allowed} belong here"))
        elif not entry.is_file(follow_symlinks=False):
            faults.append(SubmissionFault(folder / entry.name, 0, "not a regular file; symbolic links are refused"))
    if METADATA_FILE not in names:
        faults.append(SubmissionFault(folder, 0, f"holds no {METADATA_FILE}"))
    if names <= {METADATA_FILE}:
        faults.append(
            SubmissionFault(folder, 0, f"holds no predictions; any of {', '.join(PREDICTION_FILES.values())}")
        )
    return faults


def _read_metadata(path: Path) -> tuple[Metadata | None, list[SubmissionFault]]:
    try:
        data = read_file(path, limit=MAX_METADATA, follow_links=False)
        value = parse_json(data, max_depth=MAX_DEPTH)
    except MalformedError as error:
        return None, [SubmissionFault(path, 0, str(error))]
    try:
        content = _MetadataFile.model_validate(value)
    except ValidationError as error:
        return None, [_field_fault(path, data, problem) for problem in error.errors(include_url=False)]
    return Metadata(**content.model_dump(exclude={"format"})), []


def _field_fault(path: Path, data: bytes, problem: Any) -> SubmissionFault:
    """Return a mistake that pydantic found, with the line of the field."""
    place = ".".join(str(part) for part in problem["loc"] if part != "[key]")
    key = json.dumps(problem["loc"][0]).encode() if problem["loc"] else b""
    line = data[: data.find(key)].count(b"\n") + 1 if key and key in data else 0
    value = f", not {shown(problem['input'])}" if problem["type"] != "missing" else ""
    message = problem["msg"].removeprefix("Value error, ")
    return SubmissionFault(path, line, f"{shown(place)}: {message}{value}")


def _metadata_faults(metadata: Metadata, folder: Path, *, dataset: Dataset, name: str) -> list[SubmissionFault]:
    faults = []
    if name != slug(metadata):
        message = f"this submission belongs into a folder named {slug(metadata)}, not {shown(name)}"
        faults.append(SubmissionFault(folder, 0, message))
    if metadata.dataset_revision != dataset.revision:
        edition = f" (edition {metadata.edition} of the lexicon)" if metadata.edition else ""
        message = (
            f"predictions for data of the revision {metadata.dataset_revision}{edition}; the data in use, "
            f"{dataset.path}, has {dataset.revision}: run the model again on that and submit it, or name its data "
            "with --data"
        )
        faults.append(SubmissionFault(folder / METADATA_FILE, 0, message))
    return faults


def _read_predictions(
    path: Path, task: str, dataset: Dataset
) -> tuple[dict[Key, Rankings | Tags], list[SubmissionFault]]:
    try:
        data = read_file(path, limit=MAX_PACKED, follow_links=False)
        text = unpack_gzip(data, limit=MAX_UNPACKED)
    except MalformedError as error:
        return {}, [SubmissionFault(path, 0, str(error))]
    predictions, faults = read_lines(_lines(text), dataset, default_task=task, max_line=MAX_LINE)
    return predictions, [SubmissionFault(path, fault.line, fault.message) for fault in faults]


def _lines(text: bytes) -> Iterator[bytes]:
    """Yield lines one by one: millions of empty ones must not all be in memory before the first is refused."""
    start = 0
    while start < len(text):
        end = text.find(b"\n", start)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1
