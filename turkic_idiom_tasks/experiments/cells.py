"""Cells, the units of work of a grid, and what each kind of cell has to say about itself.

A kind is one module with a part of the grid file and a subclass of `Kind`, and one entry in `grid_file.KINDS`. The
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
from turkic_idiom_tasks.finetuning.config import Seed
from turkic_idiom_tasks.reading import shown
from turkic_idiom_tasks.results.predictions import Predictions
from turkic_idiom_tasks.results.record import RESULT_FORMAT, Header

CHECKPOINTS = "checkpoints"  # folder of a grid with the models that several runs need

_SLUG_LENGTH = 80  # characters of a model's name in the name of a file
_HASH_LENGTH = 16  # hexadecimal digits
_UNSAFE = re.compile(r"[^\w.+-]+")

Size = int | Literal["all"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One unit of work; what does not apply to its kind is None.

    Attributes:
        kind: a key of `grid_file.KINDS`.
        model: as the grid file names it.
        regime: of supervision: ``pretrained``, ``tr-only``, ``monolingual``, ``cross-lingual``; for spans
            ``from-tr``, the language of the sentences that were trained on first.
        language: code of the language of the meanings, where the regime is repeated for several.
        seed: of everything random; None where nothing depends on it.
        pooling: of a retrieval cell.
        target: code of the language that a span cell is tested on.
        size: training sentences of that language that were seen: 0, a number, or ``all``.
    """

    kind: str
    model: str
    regime: str
    language: str | None = None
    seed: int | None = None
    pooling: str | None = None
    target: str | None = None
    size: Size | None = None

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
    """What a cell gives; the grid writes it as a record.

    Attributes:
        header: what decided it, and its scores.
        predictions: (task, subset) -> rankings or tags.
        top_k: documents per query that the record lists; None lists the whole pool.
    """

    header: Header
    predictions: Predictions
    top_k: int | None = None


Finish = Callable[[Cell], Result]  # runs one cell of a job, whose shared work is done


class Part(BaseModel):
    """What a grid file declares of one kind.

    Attributes:
        set_by_cells: settings of a training that the grid varies itself, so that the file may not state them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    set_by_cells: ClassVar[frozenset[str]] = frozenset()


P = TypeVar("P", bound=Part)
T = TypeVar("T")


def distinct(values: tuple[T, ...]) -> tuple[T, ...]:
    """Return the values of a list of the grid file, each once."""
    return tuple(dict.fromkeys(values))


def one_of(*known: str) -> AfterValidator:
    """Return a validator that accepts the known names only, and names the nearest one otherwise."""

    def check(name: str) -> str:
        if name not in known:
            raise ValueError(f"unknown {shown(name)}{nearest(name, known)}; known: {', '.join(known)}")
        return name

    return AfterValidator(check)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a remark on the known name that is most like another one; nothing where none is."""
    close = get_close_matches(name, list(known), n=1)
    return f" (nearest: {close[0]})" if close else ""


Names = Annotated[
    tuple[Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)], ...],
    Field(min_length=1),
    AfterValidator(distinct),
]
Seeds = Annotated[tuple[Seed, ...], Field(min_length=1), AfterValidator(distinct)]


@dataclass(frozen=True, slots=True, eq=False)
class Work(Generic[P]):
    """What the cells of a job are run on.

    Attributes:
        part: of the grid file.
        dataset: what is trained and scored on.
        folder: of the grid, for checkpoints that later runs need.
    """

    part: P
    dataset: Dataset
    folder: Path


class Kind(ABC, Generic[P]):
    """A kind of cell.

    Attributes:
        name: its key in the grid file.
        part: the model of its part of the file.
    """

    name: ClassVar[str]
    part: type[P]

    @abstractmethod
    def cells(self, part: P, dataset: Dataset) -> Iterator[Cell]:
        """Yield the cells of a part, in the order in which they are run.

        Raises:
            InputError: the data lacks what the part needs.
        """

    @abstractmethod
    def settings(self, part: P, cell: Cell) -> dict[str, JsonValue]:
        """Return the settings that decide the result of a cell besides the cell itself, its model and the data."""

    @abstractmethod
    def model_revision(self, model: str) -> str | None:
        """Return the content hash of a local model, the commit that is pinned for one on the Hub, or None."""

    @abstractmethod
    def shared_work(self, cell: Cell) -> tuple[object, ...]:
        """Return a key; the cells of a part with equal keys share work and are run as one job."""

    @abstractmethod
    def start(self, cells: Sequence[Cell], work: Work[P]) -> Finish:
        """Do the work that the cells of a job share, and return the function that runs one of them.

        Raises:
            InputError: model or data cannot be used.
        """


def cell_name(cell: Cell, *, settings: dict[str, JsonValue], model_revision: str | None, data_revision: str) -> str:
    """Return the name of a cell's files, which ends in a hash of everything that decides its result."""
    decides = {
        "cell": asdict(cell),
        "settings": settings,
        "model": model_revision,
        "data": data_revision,
        "format": RESULT_FORMAT,
    }
    digest = hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:_HASH_LENGTH]
    parts = [model_slug(cell.model), cell.regime, cell.language, cell.pooling, cell.target, cell.size, cell.seed]
    return "-".join(str(part) for part in [*parts, digest] if part is not None)


def model_slug(model: str) -> str:
    """Return a name for files: the last two parts of a model's name or path, of safe characters and limited length."""
    parts = []
    for part in model.replace("\\", "/").split("/"):
        if part not in ("", ".", "..", "~"):
            parts.append(_UNSAFE.sub("-", part))
    return "__".join(parts[-2:])[-_SLUG_LENGTH:]
