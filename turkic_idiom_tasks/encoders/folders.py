"""Local folders of checkpoints: what they say that they are, their required files, and their revisions."""

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.io.models import model_errors
from turkic_idiom_tasks.io.reading import MalformedError, parse_json, read_file, read_json

MODULES_FILE = "modules.json"  # every sentence-transformers model has it
CONFIG_FILES = (MODULES_FILE, "config.json", "adapter_config.json")  # every folder of a model has one of them
# No library copies a file of this name when it saves a model, so a model tuned from this one does not claim its name
STATED_MODEL = "turkic_idiom_model.json"
_NEVER_LOADED = (".md", ".onnx", ".h5", ".msgpack", ".ot", ".png", ".pdf")  # documents, other frameworks


class StatedModel(BaseModel):
    """Content of the file `STATED_MODEL` of a folder whose model has another name, such as converted weights."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}$")]
    revision: Annotated[str, Field(pattern=r"^[A-Za-z0-9]([ \w.-]{0,62}[\w.-])?$")]  # of the model, in any words


def stated_model(folder: Path) -> StatedModel | None:
    """Return what a folder says that it is; None if it says nothing."""
    path = folder / STATED_MODEL
    if not path.is_file():
        return None
    with model_errors(path, "it needs a name ORG/NAME and a revision"):
        return StatedModel.model_validate(read_json(path))


def is_local(name_or_path: str) -> bool:
    """Return whether a name is that of a local folder: it is here, or can only be a path."""
    # The name of a model on the Hub has at most one slash.
    return name_or_path.startswith((".", "/", "~")) or name_or_path.count("/") > 1 or os.path.lexists(name_or_path)


def local_path(name_or_path: str) -> str:
    """Return the name of a folder with ~ expanded, or a Hub id unchanged; InputError if there is no such folder."""
    if not is_local(name_or_path):
        return name_or_path
    folder = Path(name_or_path).expanduser()
    if not folder.is_dir():
        raise usage_error(f"{name_or_path}: no such folder; give the folder of a model, or its name on the Hub")
    return str(folder)


def folder_revision(folder: Path) -> str:
    """Return the revision of a model without a Hub commit: 40 hexadecimal digits, a hash of what a loader reads."""
    # SHA-1, so that a revision is as long as a commit on the Hub.
    digest = hashlib.sha1(usedforsecurity=False)
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        is_hidden = any(part.startswith(".") for part in name.parts)
        # Everything else may change a vector: weights in any format, configurations, tokenizer, prompts and code
        if is_hidden or path.suffix in _NEVER_LOADED or not path.is_file():
            continue
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256")
        digest.update(name.as_posix().encode("utf-8", "surrogateescape") + b"\0" + content.digest())
    return digest.hexdigest()


def check_model_folder(name: str) -> None:
    """Raise InputError if a local folder is not there, has no configuration, or has a model that makes no vectors."""
    folder = Path(local_path(name))
    config: Any = None
    with suppress(MalformedError):  # most folders do not have the file
        config = parse_json(read_file(folder / "config_sentence_transformers.json"))
    problem = ""
    if not any((folder / file).is_file() for file in CONFIG_FILES):
        problem = "not a model folder; it has neither modules.json (sentence-transformers) nor config.json"
    # The library would load a CrossEncoder as a plain encoder and take the mean of its token vectors.
    elif isinstance(config, dict) and config.get("model_type") == "CrossEncoder":
        problem = "a CrossEncoder scores pairs and makes no vectors; give an encoder"
    if problem:
        raise usage_error(f"{folder}: {problem}")
