"""Cells, the units of work of a grid, and the interface of the kinds of cells.

A kind is one module with a part of the grid file and a subclass of `CellKind`, and one entry in `grid_file.KINDS`. The
grid does the rest: names, states, jobs, records, failures.
"""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, ClassVar, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.encoders.community import pinned_revision
from turkic_idiom_tasks.encoders.folders import folder_revision, is_local
from turkic_idiom_tasks.encoders.names import POOLED_NAME
from turkic_idiom_tasks.io.reading import display
from turkic_idiom_tasks.results.predictions import Predictions
from turkic_idiom_tasks.results.record import RESULT_FORMAT, Header
from turkic_idiom_tasks.runs.workload import Workload
from turkic_idiom_tasks.training.config import Seed

CHECKPOINTS = "checkpoints"  # folder of a grid with the models that several runs need

_SLUG_LENGTH = 80  # characters of a model's name in the name of a file
_HASH_LENGTH = 16  # hexadecimal digits
_UNSAFE = re.compile(r"[^\w.+-]+")

Size = int | Literal["all"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One unit of work; fields that do not apply to its kind are None.

    Attributes:
        kind: a key of `grid_file.KINDS`.
        model: name of the model in the grid file.
        regime: regime of supervision: ``pretrained``, ``tr-only``, ``monolingual``, ``cross-lingual``; for spans
            ``from-tr``, the language of the sentences that were trained on first.
        language: code of the language of the meanings, if the regime is repeated for several languages.
        seed: seed of everything random; None if nothing depends on it.
        pooling: pooling of a retrieval cell.
        target: code of the language that a span cell is tested on.
        size: number of training sentences of that language in the training: 0, a number, or ``all``.
        data: revision of the sentences of a similarity or idiomaticity cell, which need not be those of the grid.
    """

    kind: str
    model: str
    regime: str
    language: str | None = None
    seed: int | None = None
    pooling: str | None = None
    target: str | None = None
    size: Size | None = None
    data: str | None = None

    def __str__(self) -> str:
        parts = [self.kind, self.model, self.regime]
        if self.language is not None:
            parts.append(self.language)
        if self.seed is not None:
            parts.append(f"seed {self.seed}")
        if self.pooling is not None:
            parts.append(self.pooling)
        if self.target is not None:
            parts.append(f"{self.size} sentences of {self.target}")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """Result of a cell, which the grid writes as a record.

    Attributes:
        header: everything that decides the result, and its scores.
        predictions: (task, subset) -> rankings, tags or similarities.
        top_k: documents per query that the record lists; None lists the whole pool.
    """

    header: Header
    predictions: Predictions
    top_k: int | None = None


Finish = Callable[[Cell], Result]  # runs one cell of a job, whose shared work is done


class Part(BaseModel):
    """Part of a grid file that declares the cells of one kind.

    Attributes:
        set_by_cells: settings of a training that the grid varies itself, and that the file must not state.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    set_by_cells: ClassVar[frozenset[str]] = frozenset()


P = TypeVar("P", bound=Part)
T = TypeVar("T")


def distinct(values: tuple[T, ...]) -> tuple[T, ...]:
    """Return the values of a list of the grid file without repeats."""
    return tuple(dict.fromkeys(values))


def one_of(*known: str) -> AfterValidator:
    """Return a validator that accepts only the known names; its error names the nearest one."""

    def check(name: str) -> str:
        if name not in known:
            raise ValueError(f"unknown {display(name)}{nearest(name, known)}; known: {', '.join(known)}")
        return name

    return AfterValidator(check)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a remark that names the known name most similar to another one; an empty text if none is similar."""
    close = get_close_matches(name, list(known), n=1)
    return f" (nearest: {close[0]})" if close else ""


def without_pooling(advice: str = "") -> AfterValidator:
    """Return a validator that rejects the name of a model with a pooling; its error ends with the advice."""

    def check(name: str) -> str:
        if POOLED_NAME.fullmatch(name):
            raise ValueError(f"{display(name)} names a pooling; give the model without its pooling{advice}")
        return name

    return AfterValidator(check)


Distinct = Annotated[tuple[T, ...], AfterValidator(distinct)]
AtLeastOne = Annotated[tuple[T, ...], Field(min_length=1), AfterValidator(distinct)]  # distinct ones
NonEmpty = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Names = AtLeastOne[Annotated[NonEmpty, without_pooling()]]
Seeds = AtLeastOne[Seed]


@dataclass(frozen=True, slots=True, eq=False)
class Work(Generic[P]):
    """Input that all cells of a job share.

    Attributes:
        part: part of the grid file.
        dataset: data of training and scoring.
        folder: folder of the grid, for checkpoints that later runs need.
        trust_remote_code: whether code that comes with a model may be executed; every loader needs to be told.
    """

    part: P
    dataset: Dataset
    folder: Path
    trust_remote_code: bool = False


class CellKind(ABC, Generic[P]):
    """A kind of cell.

    Attributes:
        name: its key in the grid file.
        part: the model of its part of the file.
    """

    name: ClassVar[str]
    part: type[P]

    @abstractmethod
    def cells(self, part: P, dataset: Dataset) -> Iterator[Cell]:
        """Yield the cells of a part, in the order in which they run.

        Raises:
            InputError: the data lacks what the part needs.
        """

    @abstractmethod
    def settings(self, part: P, cell: Cell) -> dict[str, JsonValue]:
        """Return the settings that decide the result of a cell besides the cell itself, its model and the data."""

    def model_revision(self, model: str) -> str | None:
        """Return the content hash of a local model, the commit that is pinned for one on the Hub, or None."""
        return content_revision(model)

    def shared_work(self, cell: Cell) -> tuple[object, ...]:
        """Return a key; the cells of a part with equal keys share work and run as one job. By default none do."""
        return (cell,)

    def workload(self, part: P, cells: Sequence[Cell], dataset: Dataset) -> Workload | None:
        """Return the texts that the missing cells of a job pass through their model; None if the kind cannot say.

        It must not depend on the model or the pooling.
        """
        return None

    @abstractmethod
    def start(self, cells: Sequence[Cell], work: Work[P]) -> Finish:
        """Do the work that the cells of a job share, and return the function that runs one of them.

        Raises:
            InputError: model or data cannot be used.
        """


def pinned_commit(model: str) -> str | None:
    """Return the commit at which a model on the Hub is loaded; None for the newest one and for a local folder."""
    return None if is_local(model) else pinned_revision(model)


def content_revision(model: str) -> str | None:
    """Return the content hash of a local model, the commit that is pinned for one on the Hub, or None.

    A folder that does not exist has none either: its cell fails when it runs, and stops no other.
    """
    if not is_local(model):
        return pinned_commit(model)
    folder = Path(model).expanduser()
    return folder_revision(folder) if folder.is_dir() else None


def cell_name(cell: Cell, *, settings: dict[str, JsonValue], model_revision: str | None, data_revision: str) -> str:
    """Return the name of a cell's files, which ends in a hash of everything that decides its result."""
    decides = {
        "cell": {name: value for name, value in asdict(cell).items() if name != "data" or value is not None},
        "settings": settings,
        "model": model_revision,
        "data": data_revision,
        "format": RESULT_FORMAT,
    }
    digest = hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:_HASH_LENGTH]
    parts = []
    for part in (cell.regime, cell.language, cell.pooling, cell.target, cell.size, cell.seed):
        if part is not None:
            parts.append(str(part))
    return "-".join([model_slug(cell.model), *parts, digest])


def model_slug(model: str) -> str:
    """Return a name for files: the last two parts of a model's name or path, with safe characters only, cut short."""
    parts = []
    for part in model.replace("\\", "/").split("/"):
        if part not in ("", ".", "..", "~"):
            parts.append(_UNSAFE.sub("-", part))
    return "__".join(parts[-2:])[-_SLUG_LENGTH:]
