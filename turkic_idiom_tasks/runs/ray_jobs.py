"""Runner of several jobs of a grid at a time, on an existing Ray cluster or on one that is started on this machine."""

import logging
import os
import socket
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ray

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.reading import first_line
from turkic_idiom_tasks.runs.grid import Job, Outcome

log = logging.getLogger("turkic_idiom_tasks")

ATTEMPTS = 2  # for a cell whose worker dies; a cell that fails is not tried again
_PATIENCE = 10  # seconds for a cluster to answer
_OBJECT_STORE = 100 * 2**20  # bytes; it only holds the data, and Ray would take 30% of the memory
_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",  # Ray sends statistics to its makers unless told not to
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # a job that asks for no GPU still sees them all
}


@dataclass(frozen=True, slots=True)
class RayRunner:
    """A runner of jobs on Ray; see `grid.Grid.run`."""

    n_jobs: int | None = None  # at a time; None means as many as the cluster has room for
    cpus: int = 1  # cores for a job
    gpus: float = 0.0  # share of a GPU for a job: 0.5 puts two on one
    address: str | None = None  # of a cluster, as ``ray.init`` takes it; None starts one here, which ends with the run

    def __call__(self, jobs: Sequence[Job], dataset: Dataset) -> Iterator[Outcome]:
        """Run jobs and yield the outcome of every cell when its job ends."""
        if not jobs:
            return
        self._connect()
        try:
            self._check_room()
            # Ray itself tries no job again: deaths are counted here, by cell. And a worker serves any number of jobs,
            # because its imports take several seconds.
            settings = {"num_cpus": self.cpus, "num_gpus": self.gpus, "max_retries": 0, "max_calls": 0}
            remote = ray.remote(**settings)(run_in_worker)
            data = ray.put(dataset)  # once, and not with every job
            # jobs, each with the number of workers that died one after the other while no cell of it ended
            waiting = deque((job, 0) for job in jobs)
            running: dict[Any, tuple[Job, int]] = {}
            while waiting or running:
                while waiting and (self.n_jobs is None or len(running) < self.n_jobs):
                    job, deaths = waiting.popleft()
                    running[remote.remote(job, data, Path.cwd())] = (job, deaths)
                (ended, *_), _ = ray.wait(list(running), num_returns=1)
                job, deaths = running.pop(ended)
                try:
                    yield from ray.get(ended)
                except ray.exceptions.RayError as error:
                    # What the worker has finished is on the disk, and only there: it died before it could return it.
                    rest = job.rest()
                    yield from job.ended()
                    # Deaths between which no cell ended: the first of the cells may be what kills the workers
                    deaths = deaths + 1 if len(rest.names) == len(job.names) else 1
                    cells = list(rest.names)
                    n_lost = 0
                    # Its first cell is given up; if one more worker dies, all are
                    if deaths >= ATTEMPTS:
                        n_lost = 1 if deaths == ATTEMPTS else len(cells)
                    for cell in cells[:n_lost]:
                        yield Outcome(cell, f"its worker died ({first_line(error)})")
                    if cells[n_lost:]:
                        names = {cell: rest.names[cell] for cell in cells[n_lost:]}
                        waiting.append((replace(rest, names=names), deaths))
        finally:
            ray.shutdown()

    def _connect(self) -> None:
        options: dict[str, Any] = {}
        if self.address is None:
            cpus = None if self.n_jobs is None else self.n_jobs * self.cpus
            options = {"include_dashboard": False, "object_store_memory": _OBJECT_STORE, "num_cpus": cpus}
        added = [name for name in _SETTINGS if name not in os.environ]
        os.environ.update({name: _SETTINGS[name] for name in added})  # Ray reads them when it starts
        try:
            host, _, port = (self.address or "").rpartition(":")
            # Ray would try for minutes to reach a program that is not there.
            if port.isdigit() and "/" not in host:
                socket.create_connection((host, int(port)), timeout=_PATIENCE).close()
            # log_to_driver would print what workers write to our stdout, among the results.
            ray.init(address=self.address or "local", log_to_driver=False, logging_level="ERROR", **options)
        except Exception as error:
            # ValueError, ConnectionError or RuntimeError, depending on version and address
            problem = (
                f"Ray does not start on this machine ({first_line(error)}); correct that, leave out --jobs and the "
                "other options of Ray to run one cell at a time, or name a running cluster with --address"
            )
            if self.address is not None:
                problem = (
                    f"no Ray cluster at {self.address} ({first_line(error)}); start one with `ray start --head`, or "
                    "correct --address; for a cluster that asks for a token, set RAY_AUTH_MODE=token"
                )
            raise InputError(problem) from error
        finally:
            for name in added:
                del os.environ[name]

    def _check_room(self) -> None:
        """Raise InputError if no node can run a job and none will join."""
        # Ray itself would wait without a message
        for node in ray.nodes():
            resources = node["Resources"]
            has_room = resources.get("CPU", 0) >= self.cpus and resources.get("GPU", 0) >= self.gpus
            if node["Alive"] and has_room:
                return
        lack = f"no node of the Ray cluster has the {self.cpus} CPUs and {self.gpus:g} GPUs that a job needs"
        advice = "lower --cpus-per-cell or --gpus-per-cell"
        if self.address is None:
            raise usage_error(f"{lack}; {advice}")
        # Nodes may join somebody else's cluster; our own one does not grow.
        log.warning("%s: jobs wait until one joins; otherwise press Ctrl-C and %s", lack, advice)


def run_in_worker(job: Job, dataset: Dataset, folder: Path) -> list[Outcome]:
    """Run a job in the folder of the driver, to which relative paths refer, and return the outcomes of its cells."""
    # All nodes must see the same files: jobs write their results to them, so that Ray transfers very little
    if not folder.is_dir():
        message = f"{folder}: not on this node; put the grid's folder and local models on a shared file system"
        return [Outcome(cell, message) for cell in job.names]
    os.chdir(folder)
    return list(job.run(dataset))
