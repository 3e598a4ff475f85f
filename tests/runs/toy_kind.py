"""A third kind of cell, which needs no model: what a kind must say, and work for the tests of the grid and of Ray.

As a program it is a driver: python -m tests.runs.toy_kind OUT DATA ADDRESS SETTINGS
"""

import json
import os
import signal
import sys
import time
from functools import partial
from pathlib import Path

from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.results.record import DataName, Header, ModelName
from turkic_idiom_tasks.runs.cells import Cell, CellKind, Part, Result
from turkic_idiom_tasks.runs.grid import open_grid


class ToyPart(Part):
    """`n` cells, `together` of them in a job; each takes some seconds, and some do not end well."""

    n: int
    together: int = 1
    seconds: float = 0.0
    fails: tuple[int, ...] = ()
    dies: tuple[int, ...] = ()
    dies_once: tuple[int, ...] = ()


class ToyKind(CellKind[ToyPart]):
    name = "toy"
    part = ToyPart

    def cells(self, part, dataset):
        for number in range(part.n):
            yield Cell("toy", f"toy/model-{number // part.together}", "pretrained", seed=number)

    def settings(self, part, cell):
        return {}

    def model_revision(self, model):
        return None

    def shared_work(self, cell):
        return (cell.model,)

    def start(self, cells, work):
        if work.part.n == 0:
            raise InputError("nothing to do")
        return partial(finish, work=work)


def finish(cell, *, work):
    note(work.folder, "begun", cell)
    time.sleep(work.part.seconds)
    if cell.seed in work.part.fails:
        raise ZeroDivisionError("no such idiom")
    died = work.folder / f"died-{cell.seed}"
    if cell.seed in work.part.dies or (cell.seed in work.part.dies_once and not died.exists()):
        died.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    note(work.folder, "ended", cell)
    header = Header(
        data=DataName(path=work.dataset.path, revision=work.dataset.revision),
        model=ModelName(name=cell.model, revision=None),
        settings={"process": os.getpid(), "threads": os.environ.get("OMP_NUM_THREADS")},
        versions={},
        subsets=[],
        seconds=work.part.seconds,
    )
    return Result(header, {})


def note(folder, what, cell):
    """Adds a line to a log that all processes share."""
    with (folder / f"{what}.log").open("a") as log:
        log.write(f"{cell.seed} {time.time()}\n")


def open_toys(out, data, **settings):
    """A grid of toy cells."""
    return open_grid([(ToyKind(), ToyPart(**settings))], open_dataset(str(data)), Path(out))


def main():
    from turkic_idiom_tasks.runs.ray_jobs import RayRunner

    out, data, address, text = sys.argv[1:]
    settings = json.loads(text)
    runner = RayRunner(address=address, gpus=settings.pop("gpus", 0.0))
    for outcome in open_toys(out, data, **settings).run(runner):
        sys.stdout.write(f"{outcome.cell.seed} {outcome.error or 'done'}\n")


if __name__ == "__main__":
    from tests.runs import toy_kind  # so that workers find the classes under this name

    toy_kind.main()
