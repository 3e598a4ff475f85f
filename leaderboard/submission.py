"""A submission: a folder with the predictions of a model and what its submitter says about it, without scores.

The folder is named by `slug`. It holds ``submission.json`` (the fields of `Metadata` and the number of this format) and
at least one of ``T1.jsonl.gz``, ``T2.jsonl.gz``, ``T3.jsonl.gz``, ``spans.jsonl.gz`` and the files of the items for
language models, such as ``meaning.jsonl.gz`` (see `results.predictions`), and nothing else. All of it is untrusted:
files are read within limits, every mistake is reported, and predictions that do not fit the data are refused.
"""

import gzip
import hashlib
import json
import os
import unicodedata
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.encoders.names import POOLINGS
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.reading import Fault, MalformedError, display, is_unseen, parse_json, read_file, unpack_gzip
from turkic_idiom_tasks.lexicon.editions import EDITIONS
from turkic_idiom_tasks.results import TOP_K, people
from turkic_idiom_tasks.results.model_predictions import KNOWN_REGIMES, MODEL_TYPES, ModelPredictions
from turkic_idiom_tasks.results.predictions import ALL_TASK_NAMES, Prediction, Predictions, SubsetKey, to_lines
from turkic_idiom_tasks.results.reader import MAX_DEPTH, read_lines
from turkic_idiom_tasks.tasks.items.items import HARD_TASKS

FORMAT = 1
METADATA_FILE = "submission.json"
PREDICTION_FILES = {task: f"{task}.jsonl.gz" for task in ALL_TASK_NAMES}
_NOT_HARD = [name for task, name in PREDICTION_FILES.items() if task not in HARD_TASKS]
_FILES_IN_WORDS = f"{', '.join(_NOT_HARD)}, of items also with _hard"
# Limits of what strangers may send: a build reads hundreds of submissions, and none may fill the memory or the site
MAX_METADATA = 32 * 1024  # bytes
MAX_PACKED = 16 * 1024 * 1024  # bytes of a prediction file; a full set of rankings takes 1.3 million
MAX_UNPACKED = 64 * 1024 * 1024  # bytes
MAX_LINE = 1024 * 1024  # bytes
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}(/[A-Za-z0-9][A-Za-z0-9._-]{0,95})?"
SLUG_LENGTH = 80  # of the part before the hash


def _plain_text(text: str) -> str:
    """Return a text of one line; raise ValueError if it has characters that are invisible or change the direction."""
    problems = []
    unseen = next((letter for letter in text if is_unseen(letter) or not letter.isprintable()), None)
    if unseen is not None:
        problems.append(f"has the character {display(unseen)}, which cannot be seen; leave it out")
    if not text or text != text.strip():
        problems.append("is empty, or begins or ends with white space")
    if text != unicodedata.normalize("NFC", text):
        problems.append("is not in Unicode's normal form NFC")
    if problems:
        raise ValueError("; ".join(problems))
    return text


_PLAIN: dict[str, Any] = {"format": "plain-text"}  # in the JSON Schema, what `_plain_text` checks
_Text = Annotated[str, Field(max_length=200, json_schema_extra=_PLAIN), AfterValidator(_plain_text)]
_Rate = Annotated[float, Field(ge=0.001, le=10**7, allow_inf_nan=False)]
# Patterns end with \Z, because Python's $ also matches before a line break at the end
_Version = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+!_-]{0,63}\Z")]


class Metadata(BaseModel):
    """What a submitter says about a model; the form of every field is checked, its truth cannot be."""

    # pydantic's own engine of patterns does not know \Z
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, regex_engine="python-re")

    # ORG/NAME on the Hub, or another name for a model that is not on the Hub
    name: Annotated[str, Field(pattern=rf"^{NAME}\Z")]
    revision: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}\Z")] | None  # commit, or in words
    n_parameters: Annotated[int, Field(ge=0, le=10**14)] | None  # None if not known
    type: Literal[MODEL_TYPES]  # type: ignore[valid-type]
    regime: Literal[KNOWN_REGIMES]  # type: ignore[valid-type]  # how idioms were used to train the model
    # The training data in words, and whether idioms of the benchmark were among it
    training_data: Annotated[str, Field(max_length=2000, json_schema_extra=_PLAIN), AfterValidator(_plain_text)]
    pooling: Literal[POOLINGS] | None  # type: ignore[valid-type]
    few_shot: Annotated[int, Field(ge=0, le=10**6)] | None  # examples of the target language in training or prompt
    dataset: _Text  # name of the data in results
    dataset_revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}\Z")]
    versions: Annotated[dict[_Version, _Version], Field(max_length=32)]  # of the packages that made the predictions
    contact: _Text  # how to reach the submitter, as it may be shown
    texts_per_second: _Rate | None = None  # that the encoder encoded; None if it was not measured
    device: _Text | None = None  # on which that was measured

    @property
    def edition(self) -> str | None:
        """Edition of the bundled lexicon that was predicted; None for other data."""
        return EDITIONS.get(self.dataset_revision)


class MetadataFile(Metadata):
    """Content of ``submission.json``."""

    format: Annotated[int, Field(ge=FORMAT, le=FORMAT)]


@dataclass(frozen=True, slots=True, eq=False)
class Submission:
    """A submission without a fault; its id is the name of its folder."""

    id: str
    metadata: Metadata
    predictions: Predictions


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """A submission that cannot be scored on the data in use, and why."""

    folder: Path
    faults: list[Fault]
    metadata: Metadata | None = None  # of a sound one that predicts another edition of the lexicon, which is listed

    @property
    def reason(self) -> str:
        """Return the first of the faults, and how to list them all."""
        more = f" (and {len(self.faults) - 1} more)" if len(self.faults) > 1 else ""
        command = f"turkic-idiom leaderboard check {display(str(self.folder))}"
        return f"{self.faults[0]}{more}; list all with: {command}"


def slug(metadata: Metadata) -> str:
    """Return the name of a submission's folder in lower-case ASCII: the name and variant of the model, and a hash."""
    # Only submissions of one model, run in one way, have the same name, so none can take the folder of another model.
    # What a submitter may correct later, such as the contact, is no part of the identity.
    identity = [metadata.name, metadata.revision, metadata.type, metadata.regime, metadata.pooling, metadata.few_shot]
    digest = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:8]
    shots = None if metadata.few_shot is None else f"{metadata.few_shot}-shot"
    parts = [metadata.name.replace("/", "__"), metadata.pooling, metadata.regime, shots]
    name = "-".join(part for part in parts if part is not None).lower()
    return f"{name[:SLUG_LENGTH]}-{digest}"


def submission_files(metadata: Metadata, predictions: Predictions) -> dict[str, bytes]:
    """Return file name -> content of a submission; the same predictions give the same bytes."""
    text = json.dumps({"format": FORMAT} | metadata.model_dump(), ensure_ascii=False, indent=2) + "\n"
    files = {METADATA_FILE: text.encode("utf-8")}
    for task, name in PREDICTION_FILES.items():
        of_task = {key: value for key, value in predictions.items() if key[0] == task}
        if of_task:
            # Beside the first documents a ranking has the places of the relevant ones, so every score stays exact
            lines = "\n".join([*to_lines(of_task, top_k=TOP_K), ""])
            files[name] = gzip.compress(lines.encode("utf-8"), mtime=0)  # a time would change the bytes
    return files


def submission_folders(place: Path) -> list[Path]:
    """Return the submission folders in a folder, sorted by name, or the folder itself if it is a submission."""
    if not place.is_dir():
        raise usage_error(f"{place}: no such folder; give the folder of a submission, or one that holds submissions")
    if (place / METADATA_FILE).exists():
        return [place]
    folders = []
    for path in sorted(place.iterdir()):
        # Links are kept, so that they are refused later with a message
        if (path.is_symlink() or path.is_dir()) and not path.name.startswith(".") and path.name != people.PEOPLE:
            folders.append(path)
    if not folders or place.is_symlink():
        raise InputError(f"{place}: holds no submission; make one with turkic-idiom submit")
    return folders


def read_people(place: Path, dataset: Dataset) -> tuple[list[ModelPredictions], list[LeftOut]]:
    """Return the answers of people in the folder beside the submissions, a file for each, and the faulty files."""
    persons: list[ModelPredictions] = []
    left_out: list[LeftOut] = []
    for path in sorted((place / people.PEOPLE).glob("*")):
        if not people.FILE.fullmatch(path.name) or path.is_symlink():
            message = "only files answers-….json belong here, as the page for people saves them"
            left_out.append(LeftOut(path, [Fault(path, message)]))
            continue
        try:
            persons.append(people.read_person(path, dataset))
        except InputError as error:
            left_out.append(LeftOut(path, [Fault(path, str(error).removeprefix(f"{path}: "))]))
    return persons, left_out


def read_submission(folder: Path, dataset: Dataset) -> Submission | LeftOut:
    """Return the submission in a folder, whose content is untrusted, or everything that is wrong with it."""
    # Nothing in a folder is opened before its names are known to be those of a submission
    faults = _folder_faults(folder)
    if faults:
        return LeftOut(folder, faults)
    metadata = _read_metadata(folder / METADATA_FILE)
    if isinstance(metadata, list):
        return LeftOut(folder, metadata)
    if folder.name != slug(metadata):
        message = f"this submission belongs in a folder named {slug(metadata)}, not {display(folder.name)}"
        faults.append(Fault(folder, message))
    if metadata.dataset_revision != dataset.revision:
        is_sound = metadata.edition is not None and not faults
        edition = f" (edition {metadata.edition} of the lexicon)" if metadata.edition else ""
        message = (
            f"predictions for data of the revision {metadata.dataset_revision}{edition}; the data in use, "
            f"{dataset.path}, has {dataset.revision}: run the model again on these data, or name the data of the "
            "submission with --data"
        )
        faults.append(Fault(folder / METADATA_FILE, message))
        # Its predictions do not fit these data, so they are not read
        return LeftOut(folder, faults, metadata if is_sound else None)
    predictions: dict[SubsetKey, Prediction] = {}
    for task, file_name in PREDICTION_FILES.items():
        path = folder / file_name
        if not path.exists():
            continue
        try:
            text = unpack_gzip(read_file(path, limit=MAX_PACKED, follow_links=False), limit=MAX_UNPACKED)
        except MalformedError as error:
            faults.append(Fault(path, str(error)))
            continue
        # One by one, so that a file of millions of empty lines is refused before all of them are in memory
        lines = (line.removesuffix(b"\n") for line in BytesIO(text))
        of_task, of_lines = read_lines(path, lines, dataset, file_task=task, max_line=MAX_LINE)
        predictions |= of_task
        faults += of_lines
    return LeftOut(folder, faults) if faults else Submission(folder.name, metadata, predictions)


def _folder_faults(folder: Path) -> list[Fault]:
    if folder.is_symlink() or not folder.is_dir():
        return [Fault(folder, "not a folder; symbolic links are refused")]
    known = {METADATA_FILE, *PREDICTION_FILES.values()}
    faults: list[Fault] = []
    names: set[str] = set()
    try:
        with os.scandir(folder) as entries:
            # Only so many, as a folder may hold millions of files
            first_entries = list(islice(entries, 2 * len(known)))
    except OSError as error:
        return [Fault(folder, f"cannot be read ({error.strerror})")]
    for entry in first_entries:
        names.add(entry.name)
        if entry.name not in known:
            allowed = f"{METADATA_FILE}, {_FILES_IN_WORDS}"
            faults.append(Fault(folder, f"holds {display(entry.name)}; only {allowed} belong here"))
        elif not entry.is_file(follow_symlinks=False):
            faults.append(Fault(folder / entry.name, "not a regular file; symbolic links are refused"))
    if METADATA_FILE not in names:
        faults.append(Fault(folder, f"holds no {METADATA_FILE}"))
    if names <= {METADATA_FILE}:
        faults.append(Fault(folder, f"holds no predictions; add at least one of {_FILES_IN_WORDS}"))
    return faults


def _read_metadata(path: Path) -> Metadata | list[Fault]:
    """Return the metadata in a file, or what is wrong with each of its fields and in which line it stands."""
    try:
        data = read_file(path, limit=MAX_METADATA, follow_links=False)
        content = MetadataFile.model_validate(parse_json(data, max_depth=MAX_DEPTH))
    except MalformedError as error:
        return [Fault(path, str(error))]
    except ValidationError as error:
        faults = []
        for problem in error.errors(include_url=False):
            # pydantic adds "[key]" to the place of a key that it refuses, and names a class that submitters do not know
            field = ".".join(str(part) for part in problem["loc"] if part != "[key]")
            key = json.dumps(problem["loc"][0]).encode() if problem["loc"] else b""
            line = data[: data.find(key)].count(b"\n") + 1 if key and key in data else 0
            value = f", not {display(problem['input'])}" if problem["type"] != "missing" else ""
            message = problem["msg"].removeprefix("Value error, ").partition(" or instance of")[0]
            faults.append(Fault(path, f"{display(field)}: {message}{value}" if field else f"{message}{value}", line))
        return faults
    return Metadata(**content.model_dump(exclude={"format"}))
