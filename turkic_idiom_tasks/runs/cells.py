"""Cells, the units of work of a grid, the interface of their kinds, and the types of fields in a grid file.

A kind is one module with a subclass of `CellKind`, whose fields are its part of the grid file, and one entry in
`grid_file.KINDS`. The grid does the rest: names, states, jobs, records, failures.
"""

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, ClassVar, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.encoders.community import pinned_revision
from turkic_idiom_tasks.encoders.folders import CONFIG_FILES, folder_revision, is_local
from turkic_idiom_tasks.encoders.names import split_pooling
from turkic_idiom_tasks.io.reading import display
from turkic_idiom_tasks.results.record import RESULT_FORMAT, Record
from turkic_idiom_tasks.training.config import Seed

CHECKPOINTS = "checkpoints"  # folder of a grid with the models that several runs need

_SLUG_LENGTH = 80  # characters of a model's name in the name of a file
_HASH_LENGTH = 16  # hexadecimal digits
_UNSAFE = re.compile(r"[^\w.+-]+")

Size = int | Literal["all"]
T = TypeVar("T")


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a remark that names the known name most similar to another one; an empty text if none is similar."""
    close = get_close_matches(name, [one for one in known if len(one) > 2], n=1)  # the language kaz is no misspelt az
    return f" (nearest: {close[0]})" if close else ""


def one_of(*known: str) -> AfterValidator:
    """Return a validator that accepts only the known names; its error names the nearest one."""

    # not a Literal, whose error of pydantic would list all names but not say which was meant
    def check(name: str) -> str:
        if name not in known:
            raise ValueError(f"unknown {display(name)}{nearest(name, known)}; known: {', '.join(known)}")
        return name

    return AfterValidator(check)


def _without_pooling(name: str) -> str:
    if split_pooling(name)[1] is not None:
        raise ValueError(
            f"{display(name)} names a pooling; give the model alone, and the pooling of retrieval with poolings, that "
            "of similarity with training: {pooling: ...}"
        )
    return name


# Inputs and languages are part of the names of cells: with a repeated one, finished cells would be computed again.
_DISTINCT = AfterValidator(lambda values: tuple(dict.fromkeys(values)))
Distinct = Annotated[tuple[T, ...], _DISTINCT]
AtLeastOne = Annotated[tuple[T, ...], Field(min_length=1), _DISTINCT]
NonEmpty = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Names = AtLeastOne[Annotated[NonEmpty, AfterValidator(_without_pooling)]]  # of models
Seeds = AtLeastOne[Seed]


@dataclass(frozen=True, slots=True)
class Cell:
    """One unit of work; fields that do not apply to its kind are None."""

    kind: str  # a key of `grid_file.KINDS`
    model: str  # as the grid file names it
    regime: str  # of supervision: ``pretrained``, ``tr-only``, …; for spans ``from-tr``, the language of the training
    language: str | None = None  # code of that of the meanings, if the regime is repeated for several languages
    seed: int | None = None  # of everything random; None if nothing depends on it
    pooling: str | None = None  # of a retrieval cell
    target: str | None = None  # code of the language that a span cell is tested on
    size: Size | None = None  # number of training sentences of that language in the training: 0, a number, or ``all``
    data: str | None = None  # revision of the sentences of a similarity or idiomaticity cell, if not those of the grid

    def __str__(self) -> str:
        seed = None if self.seed is None else f"seed {self.seed}"
        target = None if self.target is None else f"{self.size} sentences of {self.target}"
        parts = (self.kind, self.model, self.regime, self.language, seed, self.pooling, target)
        return ", ".join(part for part in parts if part is not None)


Finish = Callable[[Cell], Record]  # runs one cell of a job, whose shared work is done


class CellKind(BaseModel, ABC):
    """A kind of cell; an instance is its part of a grid file, and declares cells."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: ClassVar[str]  # its key in the grid file
    set_by_cells: ClassVar[frozenset[str]] = frozenset()  # settings of a training that the file must not state

    @abstractmethod
    def jobs(self, dataset: Dataset) -> Iterator[list[Cell]]:
        """Yield the cells in the order in which they run; those that share work are one job, and run together."""

    @abstractmethod
    def settings(self, cell: Cell) -> dict[str, JsonValue]:
        """Return the settings that decide the result of a cell besides the cell itself, its model and the data."""

    @abstractmethod
    def start(self, cells: Sequence[Cell], dataset: Dataset, *, folder: Path, trust_remote_code: bool) -> Finish:
        """Do the work that cells of a job share, and return the function that runs one; the folder is the grid's."""
        # Only this method imports torch, so that a grid file is checked and the state of a grid shown without it


def content_revision(model: str) -> str | None:
    """Return the content hash of a local model, the commit that is pinned for one on the Hub, or None."""
    if not is_local(model):
        return pinned_revision(model)
    folder = Path(model).expanduser()
    # The cell of a folder without a model fails when it runs, and must stop no other; the folder may hold anything
    return folder_revision(folder) if any((folder / name).is_file() for name in CONFIG_FILES) else None


def cell_name(cell: Cell, *, settings: dict[str, JsonValue], model_revision: str | None, data_revision: str) -> str:
    """Return the name of a cell's files, which ends in a hash of everything that decides its result."""
    fields = asdict(cell)
    # The field is younger than the others. Without it, cells keep the names under which they were finished before.
    if cell.data is None:
        del fields["data"]
    # What does not decide the result is left out, such as the version of this package: a new one keeps all results.
    decides = {
        "cell": fields,
        "settings": settings,
        "model": model_revision,
        "data": data_revision,
        "format": RESULT_FORMAT,
    }
    digest = hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:_HASH_LENGTH]
    # The readable parts are for people alone. Two models whose last two parts are the same differ in the digest.
    places = [place for place in cell.model.replace("\\", "/").split("/") if place not in ("", ".", "..", "~")]
    model = "__".join(_UNSAFE.sub("-", place) for place in places[-2:])[-_SLUG_LENGTH:]
    parts = (cell.regime, cell.language, cell.pooling, cell.target, cell.size, cell.seed)
    return "-".join([model, *(str(part) for part in parts if part is not None), digest])
