"""A third kind of cell, which needs no model: what a kind must say, and work for the tests of the grid and of Ray.

As a program it is a driver: python -m tests.runs.toy_kind OUT DATA ADDRESS SETTINGS
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.results.record import DataName, build_record
from turkic_idiom_tasks.runs.cells import Cell, CellKind
from turkic_idiom_tasks.runs.grid import open_grid


class ToyCells(CellKind):
    """`n` cells, `together` of them in a job; each takes some seconds, and some do not end well."""

    name = "toy"

    n: int
    together: int = 1
    seconds: float = 0.0
    fails: tuple[int, ...] = ()
    dies: tuple[int, ...] = ()
    dies_once: tuple[int, ...] = ()

    def jobs(self, dataset):
        for start in range(0, self.n, self.together):
            numbers = range(start, min(start + self.together, self.n))
            model = f"toy/model-{start // self.together}"
            yield [Cell("toy", model, "pretrained", seed=number) for number in numbers]

    def settings(self, cell):
        return {}

    def start(self, cells, dataset, *, folder, trust_remote_code=False):
        def finish(cell):
            note(folder, "begun", cell)
            time.sleep(self.seconds)
            if cell.seed in self.fails:
                raise ZeroDivisionError("no such idiom")
            died = folder / f"died-{cell.seed}"
            if cell.seed in self.dies or (cell.seed in self.dies_once and not died.exists()):
                died.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            note(folder, "ended", cell)
            process = {"process": os.getpid(), "threads": os.environ.get("OMP_NUM_THREADS")}
            return build_record(
                cell.model, {}, {}, data=DataName.of(dataset), revision=None, n_parameters=None, settings=process,
                seconds=self.seconds,
            )  # fmt: skip

        return finish


def note(folder, what, cell):
    """Adds a line to a log that all processes share."""
    with (folder / f"{what}.log").open("a") as log:
        log.write(f"{cell.seed} {time.time()}\n")


def open_toys(out, data, **settings):
    """A grid of toy cells."""
    return open_grid([ToyCells(**settings)], open_dataset(str(data)), Path(out))


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
