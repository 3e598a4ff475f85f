"""Where the work of a grid is done: processes of this machine, or the workers of a Ray cluster.

Both run a list of tasks, each a function without arguments that leaves its result in a file, and say of each how it
ended. A worker serves many tasks, so that it imports the libraries once. A worker that dies takes one task with it,
which is given to another worker, at most `ATTEMPTS` times in all.
"""

from __future__ import annotations

import logging
import os
import socket
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from turkic_idiom_tasks.errors import InputError, usage_error

log = logging.getLogger("turkic_idiom_tasks")

ATTEMPTS = 2  # for a task whose worker dies; a task that raises is not tried again
LOCAL, RAY = ENGINES = ("local", "ray")
_PATIENCE = 10  # seconds for an idle worker to end by itself, or for a cluster to answer
_OBJECT_STORE = 100 * 2**20  # bytes; results go to files, so Ray keeps next to nothing

Task = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a task ended.

    Attributes:
        name: of the task.
        error: message of what it raised, or of how its worker died; None if it is done.
        details: traceback; empty for a message that is meant for the user.
        died: whether the worker died, so that nothing is known against the task itself.
    """

    name: str
    error: str | None = None
    details: str = ""
    died: bool = False


@dataclass(frozen=True, slots=True)
class Slots:
    """How much of a machine or cluster is used.

    Attributes:
        n: tasks at a time on this machine; None is one, or as many as its GPUs take. On Ray the cluster decides.
        gpus: share of a GPU for a task: 0.5 puts two on one.
        cpus: cores for a task.
    """

    n: int | None = None
    gpus: float = 0.0
    cpus: int = 1


class Engine(Protocol):
    """Something that runs tasks; used within ``closing``."""

    def submit(self, name: str, task: Task) -> None:
        """Begins a task, or queues it."""
        ...

    def wait(self) -> Outcome:
        """The next task to end; there must be one that was submitted and not yet waited for."""
        ...

    def close(self) -> None:
        """Ends the workers, whatever they do."""
        ...


def run_tasks(tasks: Mapping[str, Task], engine: Engine) -> Iterator[Outcome]:
    """Runs every task and yields how each ended, in the order in which they end.

    Args:
        tasks: name -> what to do; must be picklable.
        engine: is closed at the end.
    """
    attempts: Counter[str] = Counter()
    with closing(engine):
        for name, task in tasks.items():
            engine.submit(name, task)
        open_tasks = len(tasks)
        while open_tasks:
            outcome = engine.wait()
            attempts[outcome.name] += 1
            if outcome.died and attempts[outcome.name] < ATTEMPTS:
                engine.submit(outcome.name, tasks[outcome.name])
                continue
            open_tasks -= 1
            yield outcome


def attempt(name: str, task: Task) -> Outcome:
    """Runs a task in this process; what it raises becomes the outcome."""
    try:
        task()
    except InputError as error:
        return Outcome(name, str(error))
    except Exception as error:  # a cell may fail in any library below; the others go on
        return Outcome(name, f"{type(error).__name__}: {error}", traceback.format_exc())
    return Outcome(name)


@dataclass(slots=True)
class _Worker:
    process: Any
    connection: Any
    gpu: str | None
    task: str | None = None


@dataclass(slots=True)
class LocalEngine:
    """Processes of this machine, each started when it is first needed.

    Attributes:
        slots: how many, and their share of the GPUs.
    """

    slots: Slots
    _waiting: deque[tuple[str, Task]] = field(default_factory=deque)
    _workers: list[_Worker] = field(default_factory=list)

    def submit(self, name: str, task: Task) -> None:
        """Queues a task and gives it to a worker that is idle."""
        self._waiting.append((name, task))
        self._hand_out()

    def wait(self) -> Outcome:
        """The next task to end."""
        from multiprocessing.connection import wait

        ready = wait([worker.connection for worker in self._workers if worker.task is not None])
        worker = next(one for one in self._workers if one.connection in ready)
        name = str(worker.task)
        try:
            outcome: Outcome = worker.connection.recv()
            worker.task = None
        except (EOFError, ConnectionError):
            worker.process.join()
            self._workers.remove(worker)
            outcome = Outcome(name, f"its process died ({_manner(worker.process.exitcode)})", died=True)
        self._hand_out()
        return outcome

    def close(self) -> None:
        """Ends idle workers and kills busy ones; a result file that one is writing stays whole or absent."""
        for worker in self._workers:
            worker.connection.close()
            if worker.task is None:
                worker.process.join(_PATIENCE)
            worker.process.kill()
            worker.process.join()
        self._workers.clear()

    def _hand_out(self) -> None:
        while self._waiting:
            worker = next((one for one in self._workers if one.task is None), None)
            if worker is None:
                if len(self._workers) >= _n_slots(self.slots):
                    return
                worker = self._start()
            name, task = self._waiting.popleft()
            worker.task = name
            with suppress(ConnectionError):  # it died idle: `wait` finds its connection closed
                worker.connection.send((name, task))

    def _start(self) -> _Worker:
        import multiprocessing

        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        gpu = self._free_gpu()
        process = context.Process(target=_serve, args=(theirs, self._environment(gpu)), daemon=True)
        process.start()
        theirs.close()
        worker = _Worker(process, ours, gpu)
        self._workers.append(worker)
        return worker

    def _free_gpu(self) -> str | None:
        """The GPU that serves the fewest workers."""
        if not self.slots.gpus:
            return None
        taken = Counter(worker.gpu for worker in self._workers)
        return min(_visible_gpus(), key=lambda gpu: taken[gpu])

    def _environment(self, gpu: str | None) -> dict[str, str]:
        """Variables of a worker: its share of the cores, its GPU, and no progress bars among those of the driver."""
        cores = max(1, (os.cpu_count() or 1) // _n_slots(self.slots))
        chosen = {"TQDM_DISABLE": "1", "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", str(cores))}
        return chosen if gpu is None else chosen | {"CUDA_VISIBLE_DEVICES": gpu}


@dataclass(slots=True)
class RayEngine:
    """Workers of a Ray cluster that is there already, or of one that is started on this machine.

    Attributes:
        slots: the share of CPUs and GPUs for a task.
        address: of the cluster, as ``ray.init`` takes it; None starts one.
    """

    slots: Slots
    address: str | None = None
    _remote: Any = None
    _running: dict[Any, str] = field(default_factory=dict)

    def submit(self, name: str, task: Task) -> None:
        """Gives a task to the cluster, which starts it when its share is free."""
        if self._remote is None:
            self._remote = self._connect()
        self._running[self._remote.remote(name, task, Path.cwd())] = name

    def wait(self) -> Outcome:
        """The next task to end.

        Raises:
            InputError: the cluster is gone.
        """
        import ray

        (done, *_), _ = ray.wait(list(self._running), num_returns=1)
        name = self._running.pop(done)
        try:
            outcome: Outcome = ray.get(done)
        except ray.exceptions.RayError as error:
            return Outcome(name, f"its Ray worker died ({_first_line(error)})", died=True)
        return outcome

    def close(self) -> None:
        """Leaves the cluster; one that was started for this run ends, with its workers."""
        import ray

        ray.shutdown()

    def _connect(self) -> Any:
        try:
            import ray
        except ImportError as error:
            raise usage_error("--engine ray needs Ray: pip install 'turkic-idiom-tasks[ray]'") from error
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # a share of 0 leaves the GPUs visible
        own: dict[str, Any] = {}
        if self.address is None:
            cpus = None if self.slots.n is None else self.slots.n * self.slots.cpus
            own = {"include_dashboard": False, "object_store_memory": _OBJECT_STORE, "num_cpus": cpus}
        try:
            _knock(self.address or "")
            ray.init(address=self.address or "local", log_to_driver=False, logging_level="ERROR", **own)
        except Exception as error:  # ValueError, ConnectionError, RuntimeError, by version and kind of address
            raise InputError(
                f"no Ray cluster at {self.address or 'this machine'} ({_first_line(error)}); start one with `ray start "
                "--head`, or correct --address; for a cluster that asks for a token, set RAY_AUTH_MODE=token"
            ) from error
        self._check_share(ray.nodes())
        settings = {"num_cpus": self.slots.cpus, "num_gpus": self.slots.gpus, "max_retries": 0, "max_calls": 0}
        return ray.remote(**settings)(_attempt_in)

    def _check_share(self, nodes: Sequence[Mapping[str, Any]]) -> None:
        """Says that no node can take a task: Ray waits for one without a word."""
        share = {"CPU": self.slots.cpus, "GPU": self.slots.gpus}
        alive = [node["Resources"] for node in nodes if node["Alive"]]
        if any(all(node.get(name, 0) >= amount for name, amount in share.items()) for node in alive):
            return
        what = f"no node of the Ray cluster has the {share['CPU']} CPUs and {share['GPU']:g} GPUs that a cell asks for"
        advice = "lower --cpus-per-cell or --gpus-per-cell"
        if self.address is None:
            raise usage_error(f"{what}; {advice}")
        log.warning("%s: cells wait until one joins; otherwise press Ctrl-C and %s", what, advice)


def make_engine(name: str, slots: Slots, *, address: str | None = None) -> Engine:
    """The engine of that name, one of `ENGINES`."""
    if address is not None and name != RAY:
        raise usage_error("--address goes with --engine ray")
    return RayEngine(slots, address) if name == RAY else LocalEngine(slots)


def _knock(address: str) -> None:
    """Raises OSError where nobody listens at HOST:PORT, which Ray would try for minutes."""
    host, _, port = address.rpartition(":")
    if port.isdigit() and "/" not in host:
        socket.create_connection((host, int(port)), timeout=_PATIENCE).close()


def _attempt_in(name: str, task: Task, folder: Path) -> Outcome:
    """`attempt` in the driver's folder, which relative names mean; on a cluster all nodes must see the same files."""
    if not folder.is_dir():
        return Outcome(name, f"{folder}: not on this node; grid, models and data must stand in a shared file system")
    os.chdir(folder)
    return attempt(name, task)


def _serve(connection: Any, environment: Mapping[str, str]) -> None:
    """A worker's life: one task after the other, until the one who gives them is gone."""
    import multiprocessing
    import signal
    import threading

    os.environ.update(environment)
    os.dup2(2, 1)  # stdout is for the driver's results
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver, which ends its workers

    def follow(parent: Any) -> None:
        parent.join()
        os._exit(1)  # nobody waits for the result, and the next run may be computing it already

    threading.Thread(target=follow, args=(multiprocessing.parent_process(),), daemon=True).start()
    while True:
        try:
            name, task = connection.recv()
        except EOFError:
            return
        connection.send(attempt(name, task))


def _n_slots(slots: Slots) -> int:
    if slots.n is not None:
        return slots.n
    return max(1, int(len(_visible_gpus()) / slots.gpus)) if slots.gpus else 1


def _visible_gpus() -> list[str]:
    """The GPUs that a worker can be given, by the names that CUDA_VISIBLE_DEVICES takes.

    Raises:
        InputError: there is none.
    """
    asked = os.environ.get("CUDA_VISIBLE_DEVICES")
    if asked is not None:
        found = [name.strip() for name in asked.split(",") if name.strip()]
    else:
        import torch

        found = [str(number) for number in range(torch.cuda.device_count())]
    if not found:
        raise usage_error("--gpus-per-cell: no GPU is visible here; leave it out to use the processor")
    return found


def _manner(exit_code: int | None) -> str:
    import signal

    if exit_code is not None and exit_code < 0:
        return f"killed by {signal.Signals(-exit_code).name}; out of memory?"
    return f"exit code {exit_code}"


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
