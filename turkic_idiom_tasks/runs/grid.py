"""A grid of experiments in a folder: its cells, their states, and the runs of the missing cells."""

from __future__ import annotations

import gc
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from turkic_idiom_tasks.dataset import BUNDLED_PATH, Dataset
from turkic_idiom_tasks.encoders.names import trust_setting
from turkic_idiom_tasks.errors import InputError, usage_error, without_keys
from turkic_idiom_tasks.io.files import LOCK, check_writable, locked, write_json
from turkic_idiom_tasks.io.reading import read_json
from turkic_idiom_tasks.results import TOP_K
from turkic_idiom_tasks.results.record import SUFFIX, Header, read_header, write_record
from turkic_idiom_tasks.runs.cells import CHECKPOINTS, Cell, CellKind, cell_name, content_revision

DONE, FAILED, MISSING = STATES = ("done", "failed", "missing")
RECORDS = "records"  # folder of the finished cells
_FAILURES = "failed"
_ABOUT = "grid.json"  # names the data of the folder, and says whether its last run could execute code of models
_WORTH_COLLECTING = 10  # seconds; after a shorter job no garbage is collected


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a cell ended."""

    cell: Cell
    error: str | None = None  # why it failed, in one line; None if it is done
    details: str = ""  # the traceback, if the error is no message for a user


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """Cells that share work and run together."""

    part: CellKind  # of the grid file
    names: Mapping[Cell, str]  # cell -> name of its files
    folder: Path  # of the grid
    writes: bool = True  # of the processes that torchrun starts, only the first one does
    trust_remote_code: bool = False  # whether code of models may be executed; if so, the cells have other names

    def record_path(self, cell: Cell) -> Path:
        """Return the path of the record that a cell has when it is done."""
        return self.folder / RECORDS / f"{self.names[cell]}{SUFFIX}"

    def failure_path(self, cell: Cell) -> Path:
        """Return the path of the file that says why a cell failed."""
        return self.folder / _FAILURES / f"{self.names[cell]}.json"

    def state(self, cell: Cell) -> str:
        """Return one of `STATES`; a process that does not write ignores failures."""
        # A record is written in one step, and its name has a hash of everything that decides the result. So a run that
        # was killed at any point is continued with the cells that have none.
        if self.record_path(cell).is_file():
            return DONE
        # Under torchrun all processes train the same cells, also one whose failure only the first has noted.
        return FAILED if self.writes and self.failure_path(cell).is_file() else MISSING

    def rest(self) -> Job:
        """Return the job with the cells that are neither done nor failed."""
        return replace(self, names={cell: name for cell, name in self.names.items() if self.state(cell) == MISSING})

    def ended(self) -> Iterator[Outcome]:
        """Yield the outcomes of the cells that are done or failed."""
        for cell in self.names:
            state = self.state(cell)
            if state == FAILED:
                stated = _read_stated(self.failure_path(cell), "error", "details")
                yield Outcome(cell, stated["error"], stated["details"])
            elif state == DONE:
                yield Outcome(cell)

    def run(self, dataset: Dataset) -> Iterator[Outcome]:
        """Run the missing cells in this process, and yield the outcome of each when it ends."""
        start = time.perf_counter()
        try:
            yield from self._run(dataset)
        finally:
            # Not in `_run`, whose variables hold the model until it ends
            # Models have circular references, so garbage is collected. That takes about half a second, so it is left
            # out after a job of a few seconds on the processor.
            torch = sys.modules.get("torch")
            has_accelerator = torch is not None and torch.cuda.is_available()
            if has_accelerator or time.perf_counter() - start > _WORTH_COLLECTING:
                gc.collect()
            if torch is not None and has_accelerator:
                torch.cuda.empty_cache()

    def _fail(self, cell: Cell, error: Exception) -> Outcome:
        message, details = str(error), ""
        if not isinstance(error, InputError):  # which holds no key
            message = without_keys(f"{type(error).__name__}: {error}")
            details = without_keys("".join(traceback.format_exception(error)))
        if self.writes:
            write_json(self.failure_path(cell), {"cell": str(cell), "error": message, "details": details})
        return Outcome(cell, message, details)

    def _run(self, dataset: Dataset) -> Iterator[Outcome]:
        cells = list(self.rest().names)
        if not cells:
            return
        try:
            finish = self.part.start(cells, dataset, folder=self.folder, trust_remote_code=self.trust_remote_code)
        except Exception as error:  # any library may raise any error
            for cell in cells:
                yield self._fail(cell, error)
            return
        for cell in cells:
            path = self.record_path(cell)
            try:
                # A worker of another run may have written it meanwhile
                if not path.is_file():
                    record = finish(cell)
                    if self.writes:
                        settings = record.header.settings | trust_setting(self.trust_remote_code)
                        header = record.header.model_copy(update={"settings": settings})
                        write_record(path, header, record.predictions, top_k=TOP_K)
            except Exception as error:  # the other cells still run
                yield self._fail(cell, error)
            else:
                yield Outcome(cell)


Runner = Callable[[Sequence[Job], Dataset], Iterator[Outcome]]


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Experiments of a grid file on one data set, and the folder of their records; see `open_grid`."""

    jobs: tuple[Job, ...]  # in the order in which they run
    job_of: Mapping[Cell, Job]  # for every cell, in order
    dataset: Dataset  # of training and scoring
    folder: Path
    writes: bool = True  # see `Job`
    trust_remote_code: bool = False

    def states(self) -> dict[Cell, str]:
        """Return cell -> one of `STATES`."""
        return {cell: job.state(cell) for cell, job in self.job_of.items()}

    def failures(self) -> dict[Cell, str]:
        """Return cell -> why it failed, for every cell that did."""
        outcomes = (outcome for job in self.jobs for outcome in job.ended())
        return {outcome.cell: outcome.error for outcome in outcomes if outcome.error is not None}

    def record_paths(self) -> dict[Cell, Path]:
        """Return cell -> path of its record, for every cell that is done, in order."""
        paths = {cell: job.record_path(cell) for cell, job in self.job_of.items()}
        return {cell: path for cell, path in paths.items() if path.is_file()}

    def headers(self) -> dict[Cell, Header]:
        """Return cell -> header of its record, for every cell that is done."""
        return {cell: read_header(path) for cell, path in self.record_paths().items()}

    def run(self, runner: Runner | None = None, *, retry_failed: bool = False) -> Iterator[Outcome]:
        """Run the missing cells, and those that failed before if asked to; yield the outcome of each when it ends.

        Without a runner the jobs run one at a time in this process.
        """
        if self.writes:
            check_writable(self.folder)
        # Under torchrun only the first process writes, and the others must not meet its lock
        busy = f"{self.folder}: another run works in it; wait until it has ended, or choose another folder with --out"
        with locked(self.folder / LOCK, busy=busy) if self.writes else nullcontext():
            if self.writes:
                # again, now that no other run can change the folder: `open_grid` looked before it was locked
                _check_data(self.folder, self.dataset)
                # Making the folders also removes unfinished files of killed runs
                for folder in (RECORDS, CHECKPOINTS, _FAILURES):
                    check_writable(self.folder / folder)
                about = {"path": self.dataset.path, "revision": self.dataset.revision}
                write_json(self.folder / _ABOUT, about | trust_setting(self.trust_remote_code))
                if retry_failed:
                    for cell, job in self.job_of.items():
                        job.failure_path(cell).unlink(missing_ok=True)
            jobs = [job for job in (job.rest() for job in self.jobs) if job.names]
            if runner is not None:
                yield from runner(jobs, self.dataset)
                return
            for job in jobs:
                yield from job.run(self.dataset)


def open_grid(
    parts: Iterable[CellKind], dataset: Dataset, folder: Path, *, writes: bool = True, trust_remote_code: bool = False
) -> Grid:
    """Return the grid of the parts of a grid file on a data set, in a folder that need not exist; see `Job`."""
    _check_data(folder, dataset)
    jobs: list[Job] = []
    revisions: dict[str, str | None] = {}
    for part in parts:
        for cells in part.jobs(dataset):
            names = {}
            for cell in cells:
                # Hashing the files of a folder takes seconds, and hundreds of cells have the same model.
                if cell.model not in revisions:
                    revisions[cell.model] = content_revision(cell.model)
                names[cell] = cell_name(
                    cell,
                    settings=part.settings(cell) | trust_setting(trust_remote_code),
                    model_revision=revisions[cell.model],
                    data_revision=dataset.revision,
                )
            jobs.append(Job(part, names, folder, writes, trust_remote_code))
    job_of = {cell: job for job in jobs for cell in job.names}
    return Grid(tuple(jobs), job_of, dataset, folder, writes, trust_remote_code)


def last_run(folder: Path) -> tuple[str, bool] | None:
    """Return the name of the data of the last run in a folder and its trust in code; None before the first run."""
    if not (folder / _ABOUT).is_file():
        return None
    about = _read_stated(folder / _ABOUT, "path", "revision")
    return "" if about["path"] == BUNDLED_PATH else about["path"], about.get("trust_remote_code", False)


def _check_data(folder: Path, dataset: Dataset) -> None:
    """Raise InputError if a folder holds results of other data."""
    about = _read_stated(folder / _ABOUT, "path", "revision") if (folder / _ABOUT).is_file() else None
    if about is not None and about["revision"] != dataset.revision:
        raise usage_error(
            f"{folder}: holds results of other data ({about['path']}, revision {about['revision'][:12]}; the data in "
            f"use, {dataset.path}, has {dataset.revision[:12]}); choose a new folder with --out, or name the old data "
            "with --data"
        )


def _read_stated(path: Path, *names: str) -> dict[str, Any]:
    stated = read_json(path)
    if not isinstance(stated, dict) or not all(isinstance(stated.get(name), str) for name in names):
        raise InputError(f"{path}: damaged; delete it and run the grid again")
    return stated
