"""A submission: a folder with the predictions of a model and what its submitter says about it, without scores.

The folder is named by `slug`. It holds ``submission.json`` (the fields of `Metadata` and the number of this format) and
at least one of ``T1.jsonl.gz``, ``T2.jsonl.gz``, ``T3.jsonl.gz``, ``spans.jsonl.gz`` and the files of the items for
language models, such as ``meaning.jsonl.gz`` (see `results.predictions`), and nothing else. All of it is untrusted:
files are read within limits, every mistake is reported, and predictions that do not fit the data are refused.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.encoders.names import POOLINGS
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.reading import MalformedError, display, is_unseen, parse_json, read_file, unpack_gzip
from turkic_idiom_tasks.lexicon.editions import edition_of
from turkic_idiom_tasks.results import TOP_K
from turkic_idiom_tasks.results.model_predictions import KNOWN_REGIMES, MODEL_TYPES
from turkic_idiom_tasks.results.predictions import ALL_TASK_NAMES, Prediction, Predictions, SubsetKey, to_lines
from turkic_idiom_tasks.results.reader import MAX_DEPTH, read_lines

FORMAT = 1
METADATA_FILE = "submission.json"
PREDICTION_FILES = {task: f"{task}.jsonl.gz" for task in ALL_TASK_NAMES}
MAX_METADATA = 32 * 1024  # bytes
MAX_PACKED = 16 * 1024 * 1024  # bytes of a prediction file; a full set of rankings takes 1.3 million
MAX_UNPACKED = 64 * 1024 * 1024  # bytes
MAX_LINE = 1024 * 1024  # bytes
MAX_PARAMETERS = 10**14
MIN_TEXTS_PER_SECOND = 0.001
MAX_TEXTS_PER_SECOND = 10**7
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}(/[A-Za-z0-9][A-Za-z0-9._-]{0,95})?"

SLUG_LENGTH = 80  # of the part before the hash


def _plain_text(text: str) -> str:
    """Return a text of one line; raise ValueError if it has characters that are invisible or change the direction."""
    for character in text:
        if is_unseen(character) or not character.isprintable():
            raise ValueError(f"has the character {display(character)}, which cannot be seen; leave it out")
    if not text or text != text.strip():
        raise ValueError("is empty, or begins or ends with white space")
    if text != unicodedata.normalize("NFC", text):
        raise ValueError("is not in Unicode's normal form NFC")
    return text


_PLAIN: dict[str, Any] = {"format": "plain-text"}  # in the JSON Schema, what `_plain_text` checks
_Text = Annotated[str, Field(max_length=200, json_schema_extra=_PLAIN), AfterValidator(_plain_text)]
_Rate = Annotated[float, Field(ge=MIN_TEXTS_PER_SECOND, le=MAX_TEXTS_PER_SECOND, allow_inf_nan=False)]
_Version = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+!_-]{0,63}\Z")]


class Metadata(BaseModel):
    """What a submitter says about a model; the form of every field is checked, its truth cannot be.

    Attributes:
        name: ORG/NAME on the Hub, or another name for a model that is not on the Hub.
        revision: commit of the model; None if it has none.
        n_parameters: number of parameters; None if not known.
        type: one of `MODEL_TYPES`.
        regime: one of `KNOWN_REGIMES`: how idioms were used to train the model.
        training_data: the training data in words, and whether idioms of the benchmark were among it.
        pooling: one of `POOLINGS`, or None.
        few_shot: number of examples of the target language in the training or prompt; None if it does not apply.
        dataset: the name of the data in results.
        dataset_revision: revision of the data, 40 hexadecimal digits.
        versions: package -> version with which the predictions were made.
        contact: how to reach the submitter, as it may be shown.
        texts_per_second: how many texts the encoder encoded in a second; None if it was not measured.
        device: the accelerator or processor on which that was measured.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, regex_engine="python-re")

    name: Annotated[str, Field(pattern=rf"^{NAME}\Z")]
    revision: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")] | None
    n_parameters: Annotated[int, Field(ge=0, le=MAX_PARAMETERS)] | None
    type: Literal[MODEL_TYPES]  # type: ignore[valid-type]
    regime: Literal[KNOWN_REGIMES]  # type: ignore[valid-type]
    training_data: Annotated[str, Field(max_length=2000, json_schema_extra=_PLAIN), AfterValidator(_plain_text)]
    pooling: Literal[POOLINGS] | None  # type: ignore[valid-type]
    few_shot: Annotated[int, Field(ge=0, le=10**6)] | None
    dataset: _Text
    dataset_revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}\Z")]
    versions: Annotated[dict[_Version, _Version], Field(max_length=32)]
    contact: _Text
    texts_per_second: _Rate | None = None
    device: _Text | None = None

    @property
    def edition(self) -> str | None:
        """Edition of the bundled lexicon that was predicted; None for other data."""
        return edition_of(self.dataset_revision)


class _MetadataFile(Metadata):
    """Content of ``submission.json``."""

    format: Annotated[int, Field(ge=FORMAT, le=FORMAT)]


@dataclass(frozen=True, slots=True)
class SubmissionFault:
    """A fault of a submission; `line` is 0 when the fault concerns the whole file or folder."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        path = ascii(str(self.path))[1:-1]  # the name is untrusted
        return f"{path}:{self.line}: {self.message}" if self.line else f"{path}: {self.message}"


@dataclass(frozen=True, slots=True, eq=False)
class Submission:
    """A submission without a fault.

    Attributes:
        id: name of its folder.
        metadata: what the submitter says about the model.
        predictions: (task, subset) -> rankings, tags or answers.
    """

    id: str
    metadata: Metadata
    predictions: Predictions


def metadata_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``submission.json``, whose patterns other programs than Python understand.

    The format ``plain-text`` stands for a text of one line without characters that cannot be seen.
    """
    text = json.dumps(_MetadataFile.model_json_schema())
    schema: dict[str, Any] = json.loads(text.replace(r"\\Z", "$"))  # the end of a text, as Python writes it
    return schema


def slug(metadata: Metadata) -> str:
    """Return the name of a submission's folder in lower-case ASCII: the name and variant of the model, and a hash.

    Two submissions have the same name only if model, revision, type, regime, pooling and number of examples are the
    same, so a submission cannot take the folder of another model.
    """
    identity = [metadata.name, metadata.revision, metadata.type, metadata.regime, metadata.pooling, metadata.few_shot]
    digest = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:8]
    shots = None if metadata.few_shot is None else f"{metadata.few_shot}-shot"
    parts = [metadata.name.replace("/", "__"), metadata.pooling, metadata.regime, shots]
    name = "-".join(part for part in parts if part is not None).lower()
    return f"{name[:SLUG_LENGTH]}-{digest}"


def submission_files(metadata: Metadata, predictions: Predictions) -> dict[str, bytes]:
    """Return file name -> content of a submission; the same predictions give the same bytes.

    A ranking lists `TOP_K` documents, and the places of the relevant ones behind them, so every score stays exact.
    """
    text = json.dumps({"format": FORMAT} | metadata.model_dump(), ensure_ascii=False, indent=2) + "\n"
    files = {METADATA_FILE: text.encode("utf-8")}
    for task, name in PREDICTION_FILES.items():
        task_predictions = {key: value for key, value in predictions.items() if key[0] == task}
        if task_predictions:
            lines = "\n".join([*to_lines(task_predictions, top_k=TOP_K, default_task=task), ""])
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
        InputError: the submission has a fault; names the first one and says how to list them all.
    """
    submission, faults = read_submission(folder, dataset)
    if submission is None:
        raise InputError(faults_message(folder, faults))
    return submission


def faults_message(folder: Path, faults: Sequence[SubmissionFault]) -> str:
    """Return the first of the faults of a submission, and how to list them all."""
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{faults[0]}{more}; list all with: turkic-idiom leaderboard check {display(str(folder))}"


def read_submission(
    folder: Path, dataset: Dataset, *, name: str | None = None
) -> tuple[Submission | None, list[SubmissionFault]]:
    """Return the submission in a folder, or None if it has faults, and the faults.

    Args:
        folder: folder of the submission; its content is untrusted.
        dataset: the data in use.
        name: the final name of the folder; by default its name now.
    """
    faults = _folder_faults(folder)
    if faults:
        return None, faults
    metadata, faults = _read_metadata(folder / METADATA_FILE)
    if metadata is None:
        return None, faults
    faults += _metadata_faults(metadata, folder, dataset=dataset, name=name or folder.name)
    if metadata.dataset_revision != dataset.revision:
        return None, faults  # its predictions do not fit these data
    predictions: dict[SubsetKey, Prediction] = {}
    for task, file_name in PREDICTION_FILES.items():
        path = folder / file_name
        if path.exists():
            task_predictions, file_faults = _read_predictions(path, task, dataset)
            predictions |= task_predictions
            faults += file_faults
    return (None if faults else Submission(slug(metadata), metadata, predictions)), faults


def submission_folders(place: Path) -> list[Path]:
    """Return the submission folders in a folder, sorted by name, or the folder itself if it is a submission.

    Hidden folders are skipped.

    Raises:
        InputError: there is no such folder, or nothing in it.
    """
    if not place.is_dir():
        raise usage_error(f"{place}: no such folder; give the folder of a submission, or one that holds submissions")
    if (place / METADATA_FILE).exists():
        return [place]
    folders = []
    for path in sorted(place.iterdir()):
        is_folder = (
            path.is_symlink() or path.is_dir()
        )  # a link is kept here, so that it is refused later with a message
        if is_folder and not path.name.startswith("."):
            folders.append(path)
    if not folders or place.is_symlink():
        raise InputError(f"{place}: holds no submission; make one with turkic-idiom submit")
    return folders


def _folder_faults(folder: Path) -> list[SubmissionFault]:
    """Return the faults of the folder itself and of the names in it."""
    if folder.is_symlink() or not folder.is_dir():
        return [SubmissionFault(folder, 0, "not a folder; symbolic links are refused")]
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
            faults.append(SubmissionFault(folder, 0, f"holds {display(entry.name)}; only {allowed} belong here"))
        elif not entry.is_file(follow_symlinks=False):
            faults.append(SubmissionFault(folder / entry.name, 0, "not a regular file; symbolic links are refused"))
    if METADATA_FILE not in names:
        faults.append(SubmissionFault(folder, 0, f"holds no {METADATA_FILE}"))
    if names <= {METADATA_FILE}:
        allowed = ", ".join(PREDICTION_FILES.values())
        faults.append(SubmissionFault(folder, 0, f"holds no predictions; add at least one of {allowed}"))
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
    """Return a fault that pydantic found, with the line of the field."""
    field = ".".join(str(part) for part in problem["loc"] if part != "[key]")
    key = json.dumps(problem["loc"][0]).encode() if problem["loc"] else b""
    line = data[: data.find(key)].count(b"\n") + 1 if key and key in data else 0
    value = f", not {display(problem['input'])}" if problem["type"] != "missing" else ""
    message = problem["msg"].removeprefix("Value error, ")
    return SubmissionFault(path, line, f"{display(field)}: {message}{value}")


def _metadata_faults(metadata: Metadata, folder: Path, *, dataset: Dataset, name: str) -> list[SubmissionFault]:
    faults = []
    if name != slug(metadata):
        message = f"this submission belongs into a folder named {slug(metadata)}, not {display(name)}"
        faults.append(SubmissionFault(folder, 0, message))
    if metadata.dataset_revision != dataset.revision:
        edition = f" (edition {metadata.edition} of the lexicon)" if metadata.edition else ""
        message = (
            f"predictions for data of the revision {metadata.dataset_revision}{edition}; the data in use, "
            f"{dataset.path}, has {dataset.revision}: run the model again on these data, or name the data of the "
            "submission with --data"
        )
        faults.append(SubmissionFault(folder / METADATA_FILE, 0, message))
    return faults


def _read_predictions(
    path: Path, task: str, dataset: Dataset
) -> tuple[dict[SubsetKey, Prediction], list[SubmissionFault]]:
    try:
        data = read_file(path, limit=MAX_PACKED, follow_links=False)
        text = unpack_gzip(data, limit=MAX_UNPACKED)
    except MalformedError as error:
        return {}, [SubmissionFault(path, 0, str(error))]
    predictions, faults = read_lines(_lines(text), dataset, default_task=task, max_line=MAX_LINE)
    return predictions, [SubmissionFault(path, fault.line, fault.message) for fault in faults]


def _lines(text: bytes) -> Iterator[bytes]:
    """Yield lines one by one, so that a file of millions of empty lines is refused before all are in memory."""
    start = 0
    while start < len(text):
        end = text.find(b"\n", start)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1
