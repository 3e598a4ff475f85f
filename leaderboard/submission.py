"""A submission: a folder with what a model predicted and what its submitter says of it, and no scores.

The folder is named by `slug` and holds ``submission.json`` (`Metadata` and the number of this format) and some of
``T1.jsonl.gz``, ``T2.jsonl.gz``, ``T3.jsonl.gz`` and ``spans.jsonl.gz`` (see `predictions`), nothing else. All of it is
untrusted: it is read within limits, every mistake is named, and what does not fit the data is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from leaderboard.gold import Gold
from leaderboard.predictions import Fault, Ranks, Tags, read_ranks, read_tags
from leaderboard.records import REGIMES, RETRIEVAL_TASKS, SPANS, TASKS, TYPES, Metadata
from leaderboard.untrusted import RefusedError, parse_json, read_regular, shown
from turkic_idiom_tasks.encoders.poolings import POOLINGS
from turkic_idiom_tasks.errors import InputError, usage_error

FORMAT = 1
METADATA_FILE = "submission.json"
PREDICTION_FILES = {task: f"{task}.jsonl.gz" for task in TASKS}
MAX_METADATA = 32 * 1024  # bytes
MAX_PARAMETERS = 10**14
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}(/[A-Za-z0-9][A-Za-z0-9._-]{0,95})?"

_SLUG_LENGTH = 80  # of the part that can be read


def _plain_text(text: str) -> str:
    """One line that looks like what it is: no control characters, no invisible ones, none that turn its direction."""
    wrong = [letter for letter in text if not letter.isprintable()]
    if wrong:
        raise ValueError(f"has the character {shown(wrong[0])}, which cannot be seen; leave it out")
    if not text or text != text.strip():
        raise ValueError("is empty, or begins or ends with white space")
    if text != unicodedata.normalize("NFC", text):
        raise ValueError("is not in Unicode's normal form NFC")
    return text


_Text = Annotated[str, Field(max_length=200), AfterValidator(_plain_text)]
_Version = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+!_-]{0,63}\Z")]


class _Submitted(BaseModel):
    """The fields of `Metadata` as they may stand in a submission."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, regex_engine="python-re")

    format: Annotated[int, Field(ge=FORMAT, le=FORMAT)]
    name: Annotated[str, Field(pattern=rf"^{NAME}\Z")]
    revision: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")] | None
    n_parameters: Annotated[int, Field(ge=0, le=MAX_PARAMETERS)] | None
    type: Literal[TYPES]  # type: ignore[valid-type]
    regime: Literal[REGIMES]  # type: ignore[valid-type]
    training_data: Annotated[str, Field(max_length=2000), AfterValidator(_plain_text)]
    pooling: Literal[POOLINGS] | None  # type: ignore[valid-type]
    few_shot: Annotated[int, Field(ge=0, le=10**6)] | None
    dataset: _Text
    dataset_revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}\Z")]
    versions: Annotated[dict[_Version, _Version], Field(max_length=32)]
    contact: _Text


@dataclass(frozen=True, slots=True, eq=False)
class Submission:
    """A submission without a fault.

    Attributes:
        id: name of its folder.
        metadata: as checked.
        ranks: task -> subset -> (Q, N) int32, the rank of every document for every query; see `predictions`.
        tags: language -> the predicted tags of its sentences, a letter a word.
    """

    id: str
    metadata: Metadata
    ranks: Mapping[str, Mapping[str, npt.NDArray[np.int32]]]
    tags: Mapping[str, tuple[str, ...]]


def slug(metadata: Metadata) -> str:
    """The name of a submission's folder: what tells it from others, and a hash of the same, lower-case ASCII.

    Two submissions have one name only if model, revision, type, regime, pooling and number of examples are the same:
    nobody can take the folder of another model.
    """
    tells = [metadata.name, metadata.revision, metadata.type, metadata.regime, metadata.pooling, metadata.few_shot]
    digest = hashlib.sha256(json.dumps(tells).encode()).hexdigest()[:8]
    shots = None if metadata.few_shot is None else f"{metadata.few_shot}-shot"
    parts = [metadata.name.replace("/", "__"), metadata.pooling, metadata.regime, shots]
    name = "-".join(part for part in parts if part is not None).lower()
    return f"{name[:_SLUG_LENGTH]}-{digest}"


def metadata_json(metadata: Metadata) -> str:
    """The content of ``submission.json``."""
    return json.dumps({"format": FORMAT} | asdict(metadata), ensure_ascii=False, indent=2) + "\n"


def load_submission(folder: Path, gold: Gold) -> Submission:
    """The submission in a folder.

    Raises:
        InputError: it has a fault; names the first one and how to list them all.
    """
    submission, faults = read_submission(folder, gold)
    if submission is None or faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise InputError(f"{faults[0]}{more}; list all with: turkic-idiom leaderboard check {shown(str(folder))}")
    return submission


def read_submission(folder: Path, gold: Gold, *, name: str | None = None) -> tuple[Submission | None, list[Fault]]:
    """The submission in a folder, or None, and everything that is wrong with it.

    Args:
        folder: whatever a stranger has made.
        gold: the data in use.
        name: what the folder is to be called; None where it has its name already.
    """
    faults = _folder_faults(folder)
    if faults:
        return None, faults
    metadata, faults = _read_metadata(folder / METADATA_FILE)
    if metadata is None:
        return None, faults
    faults += _metadata_faults(metadata, folder, gold=gold, name=name or folder.name)
    if metadata.dataset_revision != gold.revision:
        return None, faults  # its predictions can only be wrong
    ranks, tags, wrong = _read_predictions(folder, gold)
    faults += wrong
    return (None if faults else Submission(slug(metadata), metadata, ranks, tags)), faults


def submission_folders(place: Path) -> list[Path]:
    """The submissions that a folder holds, by name, or that it is.

    Raises:
        InputError: there is no such folder, or nothing in it.
    """
    if not place.is_dir():
        raise usage_error(f"{place}: no such folder; give that of a submission, or one that holds submissions")
    if (place / METADATA_FILE).exists():
        return [place]
    found = sorted(path for path in place.iterdir() if path.is_symlink() or path.is_dir())
    if not found or place.is_symlink():
        raise InputError(f"{place}: no submission, and no folder that could be one; turkic-idiom submit makes them")
    return found


def _folder_faults(folder: Path) -> list[Fault]:
    """What is wrong with the folder itself and the names in it."""
    if folder.is_symlink() or not folder.is_dir():
        return [Fault(folder, 0, "not a folder; a symbolic link is refused")]
    known = {METADATA_FILE, *PREDICTION_FILES.values()}
    faults: list[Fault] = []
    found: set[str] = set()
    try:
        with os.scandir(folder) as there:
            entries = list(islice(there, 2 * len(known)))
    except OSError as error:
        return [Fault(folder, 0, f"cannot be read ({error.strerror})")]
    for entry in entries:
        found.add(entry.name)
        if entry.name not in known:
            faults.append(Fault(folder, 0, f"holds {shown(entry.name)}; only {', '.join(sorted(known))} belong here"))
        elif not entry.is_file(follow_symlinks=False):
            faults.append(Fault(folder / entry.name, 0, "not a regular file; symbolic links are refused"))
    if METADATA_FILE not in found:
        faults.append(Fault(folder, 0, f"holds no {METADATA_FILE}"))
    if found <= {METADATA_FILE}:
        faults.append(Fault(folder, 0, f"holds no predictions; any of {', '.join(PREDICTION_FILES.values())}"))
    return faults


def _read_metadata(path: Path) -> tuple[Metadata | None, list[Fault]]:
    try:
        data = read_regular(path, limit=MAX_METADATA)
        value = parse_json(data)
    except RefusedError as error:
        return None, [Fault(path, 0, str(error))]
    try:
        submitted = _Submitted.model_validate(value)
    except ValidationError as error:
        return None, [_field_fault(path, data, problem) for problem in error.errors(include_url=False)]
    return Metadata(**{field.name: getattr(submitted, field.name) for field in fields(Metadata)}), []


def _field_fault(path: Path, data: bytes, problem: Any) -> Fault:
    """A mistake that pydantic found, with the line of the field."""
    place = ".".join(str(part) for part in problem["loc"] if part != "[key]")
    first = json.dumps(problem["loc"][0]) if problem["loc"] else ""
    line = data[: data.find(first.encode())].count(b"\n") + 1 if first and first.encode() in data else 0
    value = f", not {shown(problem['input'])}" if problem["type"] != "missing" else ""
    message = problem["msg"].removeprefix("Value error, ")
    return Fault(path, line, f"{shown(place)}: {message}{value}")


def _metadata_faults(metadata: Metadata, folder: Path, *, gold: Gold, name: str) -> list[Fault]:
    faults = []
    if name != slug(metadata):
        message = f"this submission belongs into a folder named {slug(metadata)}, not {shown(name)}"
        faults.append(Fault(folder, 0, message))
    if metadata.dataset_revision != gold.revision:
        message = (
            f"predictions for data of the revision {metadata.dataset_revision}; the data in use, {gold.path}, has "
            f"{gold.revision}: run the model again on that and submit it, or name its data with --data"
        )
        faults.append(Fault(folder / METADATA_FILE, 0, message))
    return faults


def _read_predictions(folder: Path, gold: Gold) -> tuple[dict[str, Ranks], Tags, list[Fault]]:
    ranks: dict[str, Ranks] = {}
    faults: list[Fault] = []
    for task in RETRIEVAL_TASKS:
        path = folder / PREDICTION_FILES[task]
        if path.exists():
            ranks[task], wrong = read_ranks(path, gold.pools[task])
            faults += wrong
    tags: Tags = {}
    path = folder / PREDICTION_FILES[SPANS]
    if path.exists():
        tags, wrong = read_tags(path, gold.sentences)
        faults += wrong
    return ranks, tags, faults
