"""A grid of experiments in a folder: which cells there are, which are done, which failed, and how the rest is run.

A retrieval cell is one (model, regime, language, seed) under every pooling; a span cell is one (model, seed), with its
transfers and adaptations. The result file of a cell is its commit mark: it is written whole, when the cell is done, and
its name holds a hash of everything that decides the result. Nothing else says that a cell is done, so a run that was
killed, anywhere, goes on with the cells that have no such file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from turkic_idiom_tasks.encoders.checkpoints import is_local
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.experiments.engine import Engine, Outcome, run_tasks
from turkic_idiom_tasks.experiments.grid_file import GridFile, SpanPart
from turkic_idiom_tasks.experiments.retrieval_cells import (
    RECORD_FORMAT,
    RETRIEVAL,
    RetrievalCell,
    retrieval_cells,
    run_retrieval_cell,
)
from turkic_idiom_tasks.experiments.span_grid import SpanGrid, model_slug, revision_of, run_model, source_first
from turkic_idiom_tasks.files import check_writable, write_json
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.lexicon.sources import open_data
from turkic_idiom_tasks.retrieval.source import LexiconSource
from turkic_idiom_tasks.span_detection.sentences import open_spans

SPAN = "span"
DONE, FAILED, MISSING = STATES = ("done", "failed", "missing")
_ABOUT = "grid.json"  # what the folder is of


@dataclass(frozen=True, slots=True)
class Cell:
    """One unit of work.

    Attributes:
        kind: ``retrieval`` or ``span``.
        model: as the grid file names it.
        regime: of supervision; for spans the language that is trained on and transferred from.
        language: of the meanings, or None.
        seed: or None where nothing depends on one.
        name: unique and fit for a file; holds the hash of what decides the result.
        results: files that are there when the cell is done.
    """

    kind: str
    model: str
    regime: str
    language: str | None
    seed: int | None
    name: str
    results: tuple[Path, ...]

    def __str__(self) -> str:
        parts = (self.kind, self.model, self.regime, self.language, None if self.seed is None else f"seed {self.seed}")
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Failure:
    """What is known of a cell that failed."""

    error: str
    details: str


@dataclass(frozen=True, slots=True)
class Grid:
    """The experiments of a file on one data set, and the folder of their results.

    Attributes:
        file: what is declared.
        data: name of the data, as TURKIC_IDIOM_DATA takes it.
        output: folder.
    """

    file: GridFile
    data: str
    output: Path

    def cells(self) -> list[Cell]:
        """Every cell, in the order in which they are run.

        Raises:
            InputError: the data cannot be used, or the folder holds results of other data.
        """
        self._check_data()
        retrieval = self.file.retrieval
        cells = [] if retrieval is None else [_retrieval_cell(self, one) for one in retrieval_cells(retrieval)]
        return cells + ([] if self.file.span is None else list(_span_cells(self, self.file.span)))

    def state(self, cell: Cell) -> str:
        """One of `STATES`."""
        if all(path.is_file() for path in cell.results):
            return DONE
        return FAILED if self._failure_path(cell).is_file() else MISSING

    def failure(self, cell: Cell) -> Failure:
        """Why a failed cell failed.

        Raises:
            InputError: its record is damaged.
        """
        record = read_record(self._failure_path(cell))
        return Failure(str(record.get("error")), str(record.get("details", "")))

    def run(self, engine: Engine, *, retry_failed: bool = False) -> Iterator[tuple[Cell, Outcome]]:
        """Runs what is missing and yields each cell when it ends; a failing one is recorded and stops no other.

        Args:
            engine: where the work is done; closed at the end.
            retry_failed: whether cells that failed before are run again.

        Raises:
            InputError: the folder cannot be written to, or another run works in it.
        """
        wanted = (MISSING, FAILED) if retry_failed else (MISSING,)
        check_writable(self.output)
        revision = open_grid_data(self.data)[1].revision
        about = {"format": RECORD_FORMAT, "data": {"name": self.data, "revision": revision}}
        with _only_run(self.output):
            cells = {cell.name: cell for cell in self.cells() if self.state(cell) in wanted}
            write_json(self.output / _ABOUT, about)
            tasks = {name: partial(run_cell, self, cell, revision=revision) for name, cell in cells.items()}
            for outcome in run_tasks(tasks, engine):
                cell = cells[outcome.name]
                if outcome.error is None:
                    self._failure_path(cell).unlink(missing_ok=True)
                elif not outcome.died:  # nothing is known against a cell whose worker died
                    write_json(
                        self._failure_path(cell),
                        {"cell": str(cell), "error": outcome.error, "details": outcome.details},
                    )
                yield cell, outcome

    def records(self, kind: str) -> list[dict[str, Any]]:
        """The records of the finished cells of a kind, in the order of the cells.

        Raises:
            InputError: a record is damaged.
        """
        done = [cell for cell in self.cells() if cell.kind == kind and self.state(cell) == DONE]
        return [read_record(path) for cell in done for path in cell.results]

    def _failure_path(self, cell: Cell) -> Path:
        return self.output / "failed" / f"{cell.name}.json"

    def _check_data(self) -> None:
        about = self.output / _ABOUT
        if not about.is_file():
            return
        earlier = read_record(about).get("data", {}).get("revision")
        now = open_grid_data(self.data)[1].revision
        if earlier != now:
            raise usage_error(
                f"{self.output}: holds results of other data (revision {str(earlier)[:12]}; the data in use has "
                f"{now[:12]}), which are not to be mixed; start a new folder with --out, or name the old data with "
                "--data"
            )


def run_cell(grid: Grid, cell: Cell, *, revision: str) -> None:
    """Runs one cell in this process and writes its result files; one that is done meanwhile is left alone.

    Args:
        grid: of the cell.
        cell: which.
        revision: of the data that the driver saw.

    Raises:
        InputError: model or data cannot be used, or a file cannot be written.
    """
    if grid.state(cell) == DONE:
        return
    lexicon, source = open_grid_data(grid.data)
    if source.revision != revision:
        raise InputError(
            f"{source.path}: has revision {source.revision[:12]} here, {revision[:12]} where the grid began"
        )
    if cell.kind == SPAN:
        part = _part(grid.file.span)
        run_model(_span_grid(grid, part), cell.model, int(cell.seed or 0))
    else:
        one = RetrievalCell(cell.model, cell.regime, cell.language, cell.seed)
        pinned = None if is_local(cell.model) else revision_of(cell.model)
        record = run_retrieval_cell(one, _part(grid.file.retrieval), lexicon, source=source, revision=pinned)
        write_json(cell.results[0], record)
    _free_memory()


@lru_cache(maxsize=2)
def open_grid_data(name: str) -> tuple[Lexicon, LexiconSource]:
    """The lexicon of that name, and the test queries and pools that are made of it.

    Raises:
        InputError: there is no such data, or it is no lexicon.
    """
    path, lexicon = open_data(name)
    if not isinstance(lexicon, Lexicon):
        raise usage_error(f"{path}: this layout holds only the test queries; give --data a lexicon directory")
    return lexicon, LexiconSource.of(lexicon, path)


def read_record(path: Path) -> dict[str, Any]:
    """A JSON object of the grid's folder.

    Raises:
        InputError: it is damaged; says to delete it.
    """
    try:
        record = json.loads(path.read_text("utf-8"))
        if not isinstance(record, dict):
            raise ValueError("not an object")
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: damaged ({error}); delete it and run the grid again") from error
    return record


def _retrieval_cell(grid: Grid, cell: RetrievalCell) -> Cell:
    part = _part(grid.file.retrieval)
    decides = asdict(cell) | {"training": asdict(part.training), "poolings": sorted(part.poolings)}
    decides |= {"revision": revision_of(cell.model), "data": open_grid_data(grid.data)[1].revision}
    decides |= {"format": RECORD_FORMAT, "code": version("turkic-idiom-tasks")}
    digest = hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:16]
    parts = (model_slug(cell.model), cell.regime, cell.language, cell.seed, digest)
    name = "-".join(str(one) for one in parts if one is not None)
    path = grid.output / RETRIEVAL / f"{name}.json"
    return Cell(RETRIEVAL, cell.model, cell.regime, cell.language, cell.seed, name, (path,))


def _span_cells(grid: Grid, part: SpanPart) -> Iterator[Cell]:
    spans = _span_grid(grid, part)
    for model in part.models:
        for seed in part.seeds:
            results = tuple(spans.result_path(one) for one in spans.cells(model, seed))
            name = f"{SPAN}-{results[0].stem}"
            yield Cell(SPAN, model, f"from {part.language}", None, seed, name, results)


def _span_grid(grid: Grid, part: SpanPart) -> SpanGrid:
    source = open_spans(grid.data)
    languages = source_first(source.languages, part.language)
    wanted = tuple(code for code in languages[1:] if code in part.targets)
    return SpanGrid(
        models=part.models,
        output=grid.output / SPAN,
        source=source,
        languages=(languages[0], *wanted),
        sizes=part.sizes,
        seeds=part.seeds,
        config=part.training,
    )


def _part(part: Any) -> Any:
    """A part of the file that a cell of it proves to be there."""
    if part is None:
        raise InputError("the grid file lost a part while the grid ran; run it again")
    return part


@contextmanager
def _only_run(folder: Path) -> Iterator[None]:
    """Keeps a second run on this machine out of the folder; the lock ends with the process, however that ends."""
    import fcntl

    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise usage_error(
                f"{folder}: another `grid run` works in it; wait for it, or choose another --out"
            ) from error
        yield


def _free_memory() -> None:
    """Gives the accelerator's memory back before the next cell."""
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
