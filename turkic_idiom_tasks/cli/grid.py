"""``turkic-idiom grid``: fine-tune and score many encoders in every regime, and write the paper's tables."""

from __future__ import annotations

import logging
import os
import shlex
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from turkic_idiom_tasks.cli.dataset import print_rows
from turkic_idiom_tasks.cli.main import command_group
from turkic_idiom_tasks.cli.options import Data, TrustRemoteCode
from turkic_idiom_tasks.cli.output import print_experiment, print_line
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.harnesses import DATA_VARIABLE
from turkic_idiom_tasks.io.reading import printable

if TYPE_CHECKING:
    from turkic_idiom_tasks.runs.cells import Cell
    from turkic_idiom_tasks.runs.grid import Grid

log = logging.getLogger("turkic_idiom_tasks")

grid_app = command_group(
    "grid",
    "Run the experiments that a file declares. Two files come with the package: paper.yaml is the paper's grid, "
    "community.yaml has encoders for the leaderboard.",
)

GridFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="Grid file, or paper.yaml, or community.yaml.", show_default=False)
]
GridFolder = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="DIR",
        help="Folder of the results, which states the data of the last run.  [default: the name of FILE, here]",
    ),
]


@grid_app.command()
def status(
    file: GridFile,
    out: GridFolder = None,
    cells: Annotated[bool, typer.Option("--cells", help="Name every cell with its state.")] = False,
) -> None:
    """Print how many cells are done or missing, why cells failed, and an estimate of the time for the missing ones."""
    grid = _open(file, out)
    _print_status(grid, grid.states(), cells=cells)


@grid_app.command()
def run(
    file: GridFile,
    out: GridFolder = None,
    data: Data = "",
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, metavar="N", help="Run N cells at a time, through Ray.  [default: 1]"),
    ] = None,
    gpus: Annotated[
        float,
        typer.Option("--gpus-per-cell", min=0.0, max=64.0, metavar="X", help="Share of a GPU; 0.5 puts two on one."),
    ] = 0.0,
    cpus: Annotated[
        int | None, typer.Option("--cpus-per-cell", min=1, metavar="N", help="Cores for a cell.  [default: 1]")
    ] = None,
    address: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Ray cluster to use: auto, or HOST:PORT.")
    ] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Also run cells that failed before.")] = False,
    trust_remote_code: TrustRemoteCode = False,
) -> None:
    """Run every missing cell; if a cell fails, this is recorded and the other cells still run.

    One cell at a time runs in this process. With --jobs, --gpus-per-cell, --cpus-per-cell or --address, several run at
    a time through Ray, on this machine or on a cluster whose nodes see the same files. Finished cells are kept, so the
    same command continues after an interruption.
    """
    from turkic_idiom_tasks.runs.grid import DONE, FAILED, MISSING, Runner

    log.setLevel(logging.INFO)
    grid = _open(file, out, data, trust=trust_remote_code)
    # Failed cells stay failed unless asked for: most failures would only repeat, each after minutes of loading.
    states_to_run = (MISSING, FAILED) if retry_failed else (MISSING,)
    n_cells = sum(state in states_to_run for state in grid.states().values())
    runner: Runner | None = None  # this process
    if jobs not in (None, 1) or gpus or cpus is not None or address is not None:
        # Only looked for, because its import is slow.
        if find_spec("ray") is None:
            raise usage_error("several cells at a time need Ray: pip install 'turkic-idiom-tasks[ray]'")
        from turkic_idiom_tasks.runs.ray_jobs import RayRunner

        runner = RayRunner(jobs, cpus=cpus or 1, gpus=gpus, address=address)
    for number, outcome in enumerate(grid.run(runner, retry_failed=retry_failed), start=1):
        ending = "done" if outcome.error is None else f"failed: {outcome.error}"
        log.info("cell %d/%d: %s: %s", number, n_cells, printable(str(outcome.cell)), printable(ending))
    states = grid.states()
    _print_status(grid, states)
    tables = ["turkic-idiom", "grid", "tables", str(file), "--out", str(grid.folder)]
    print_line(f"\nTables: {shlex.join(tables)}")
    endings = set(states.values())
    if MISSING in endings:
        sys.stderr.write("turkic-idiom: cells are missing, the lines above say why; run the same command again\n")
    if FAILED in endings:
        sys.stderr.write(
            "turkic-idiom: cells failed; remove the cause, then run the same command with --retry-failed\n"
        )
    if endings != {DONE}:
        raise typer.Exit(1)


@grid_app.command()
def tables(file: GridFile, out: GridFolder = None) -> None:
    """Write the paper's tables and figures from the finished cells, beside the published figures."""
    from turkic_idiom_tasks.report.grid_tables import write_grid_tables

    written_tables, written = write_grid_tables(_open(file, out))
    print_experiment(written_tables)
    for path in written:
        print_line(str(path))


def _open(file: Path, out: Path | None, data: str | None = None, *, trust: bool = False) -> Grid:
    """Return the grid of a file in its folder, with the data and the trust of its last run unless others are given."""
    from turkic_idiom_tasks.dataset import open_dataset
    from turkic_idiom_tasks.runs.grid import last_run, open_grid
    from turkic_idiom_tasks.runs.grid_file import read_grid_file

    # First, because its mistakes are cheaper to find than those of the data
    parts = read_grid_file(file)
    folder = out or Path(file.stem)
    if data is None:
        data, trust = last_run(folder) or (os.environ.get(DATA_VARIABLE, ""), False)
    return open_grid(parts, open_dataset(data), folder, trust_remote_code=trust)


def _print_status(grid: Grid, states: Mapping[Cell, str], *, cells: bool = False) -> None:
    """Print a matrix of the models and regimes, the failures and other remarks, and the estimate."""
    from turkic_idiom_tasks.report.grid_report import matrix, remarks, summary
    from turkic_idiom_tasks.runs.grid import STATES

    # Read before anything is printed, because a record may be damaged
    headers, failures = grid.headers(), grid.failures()
    if cells:
        for cell, state in states.items():
            print_line(f"{state:8s}{cell}")
    counts_by_model = matrix(states)
    regimes = dict.fromkeys(regime for counts_by_regime in counts_by_model.values() for regime in counts_by_regime)
    rows = []
    for model, counts_by_regime in counts_by_model.items():
        rows.append([printable(model)])
        for regime in regimes:
            counts = counts_by_regime.get(regime)
            rows[-1].append("/".join(str(counts[state]) for state in STATES) if counts else "–")
    print_line("/".join(STATES))
    print_rows(rows, sys.stdout, head=["model", *regimes])
    for remark in remarks(headers, failures):
        print_line(remark)
    print_line(f"\n{summary(states, headers)}")
