"""``turkic-idiom grid``: fine-tune and score many encoders in every regime, and write the paper's tables."""

from __future__ import annotations

import logging
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from turkic_idiom_tasks.cli.main import app
from turkic_idiom_tasks.cli.options import Data, TrustRemoteCode
from turkic_idiom_tasks.encoders.names import TRUST_OPTION
from turkic_idiom_tasks.io.reading import printable
from turkic_idiom_tasks.runs.workload import TFLOPS

if TYPE_CHECKING:
    from turkic_idiom_tasks.report.grid_report import Report
    from turkic_idiom_tasks.runs.grid import Grid, Runner

_HOUR = 3600  # seconds

log = logging.getLogger("turkic_idiom_tasks")

grid_app = typer.Typer(
    name="grid",
    help="Run the experiments that a file declares. Two files come with the package: paper.yaml is the paper's grid, "
    "community.yaml has encoders for the leaderboard.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(grid_app)

GridFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="Grid file, or paper.yaml, or community.yaml.", show_default=False)
]
GridFolder = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="DIR",
        help="Folder of the results.  [default: the name of FILE without .yaml, in the current folder]",
    ),
]


@grid_app.command()
def plan(
    file: GridFile,
    out: GridFolder = None,
    data: Data = "",
    trust_remote_code: TrustRemoteCode = False,
    tflops: Annotated[
        float,
        typer.Option(
            "--tflops",
            min=0.001,
            max=100_000.0,
            metavar="X",
            help="10^12 floating-point operations per second that the accelerator sustains in float32; about 0.1 for a "
            "processor.",
        ),
    ] = TFLOPS,
) -> None:
    """Print every cell with its state, and an estimate of the time and memory for the missing cells.

    Time is computed from the sizes of the models and the number of texts; once cells are finished, there is a second
    estimate from them. Memory is that of the weights, and of AdamW's states where a model is trained.
    """
    from turkic_idiom_tasks.report.grid_report import Report

    grid = _open(file, out, data, trust=trust_remote_code)
    report = Report.of(grid)
    for cell, state in report.states.items():
        sys.stdout.write(f"{state:8s}{printable(str(cell))}\n")
    _print_estimates(grid, report, tflops=tflops)
    sys.stdout.write(printable(f"\n{report.summary()}\n{report.estimate()}\n"))


@grid_app.command()
def status(file: GridFile, out: GridFolder = None, data: Data = "", trust_remote_code: TrustRemoteCode = False) -> None:
    """Print how many cells are done or missing, and why cells failed."""
    from turkic_idiom_tasks.report.grid_report import Report

    _print_status(Report.of(_open(file, out, data, trust=trust_remote_code)))


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
        str | None,
        typer.Option("--address", metavar="ADDRESS", help="Ray cluster to use: auto, or HOST:PORT."),
    ] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Also run cells that failed before.")] = False,
    trust_remote_code: TrustRemoteCode = False,
) -> None:
    """Run every missing cell; if a cell fails, this is recorded and the other cells still run.

    One cell at a time runs in this process. With --jobs, --gpus-per-cell, --cpus-per-cell or --address, several run at
    a time through Ray, on this machine or on a cluster whose nodes see the same files. Finished cells are kept, so the
    same command continues after an interruption.
    """
    from turkic_idiom_tasks.report.grid_report import Report
    from turkic_idiom_tasks.runs.grid import DONE, FAILED, MISSING

    log.setLevel(logging.INFO)
    grid = _open(file, out, data, trust=trust_remote_code)
    states_to_run = (MISSING, FAILED) if retry_failed else (MISSING,)
    n_cells = sum(state in states_to_run for state in grid.states().values())
    runner = _runner(jobs, gpus=gpus, cpus=cpus, address=address)
    for number, outcome in enumerate(grid.run(runner, retry_failed=retry_failed), start=1):
        ending = "done" if outcome.error is None else f"failed: {outcome.error}"
        log.info("cell %d/%d: %s: %s", number, n_cells, printable(str(outcome.cell)), printable(ending))
    report = Report.of(grid)
    _print_status(report)
    tables = ["turkic-idiom", "grid", "tables", str(file), "--out", str(grid.folder)]
    if data:
        tables += ["--data", data]
    if trust_remote_code:
        tables.append(TRUST_OPTION)
    sys.stdout.write(printable(f"\nTables: {shlex.join(tables)}\n"))
    states = set(report.states.values())
    if MISSING in states:
        sys.stderr.write("turkic-idiom: cells are missing, the lines above say why; run the same command again\n")
    if FAILED in states:
        sys.stderr.write(
            "turkic-idiom: cells failed; remove the cause, then run the same command with --retry-failed\n"
        )
    if states != {DONE}:
        raise typer.Exit(1)


@grid_app.command()
def tables(file: GridFile, out: GridFolder = None, data: Data = "", trust_remote_code: TrustRemoteCode = False) -> None:
    """Write the paper's tables and figures from the finished cells, beside the published figures."""
    from turkic_idiom_tasks.report.grid_tables import LONG_TABLES, write_grid_tables

    written = write_grid_tables(_open(file, out, data, trust=trust_remote_code))
    for path in written:
        if path.suffix == ".md" and path.stem not in LONG_TABLES:
            sys.stdout.write(path.read_text("utf-8") + "\n")
    for path in written:
        sys.stdout.write(printable(f"{path}\n"))


def _open(file: Path, out: Path | None, data: str, *, trust: bool) -> Grid:
    from turkic_idiom_tasks.dataset import open_dataset
    from turkic_idiom_tasks.runs.grid import open_grid
    from turkic_idiom_tasks.runs.grid_file import read_grid_file

    parts = read_grid_file(file)
    return open_grid(parts, open_dataset(data), out or Path(file.stem), trust_remote_code=trust)


def _runner(jobs: int | None, *, gpus: float, cpus: int | None, address: str | None) -> Runner:
    """Return the runner of the cells: this process, or Ray if an option for several cells at a time is given.

    Raises:
        InputError: Ray is needed but not installed.
    """
    from importlib.util import find_spec

    from turkic_idiom_tasks.errors import usage_error
    from turkic_idiom_tasks.runs.grid import run_here

    if jobs in (None, 1) and not gpus and cpus is None and address is None:
        return run_here
    if find_spec("ray") is None:
        raise usage_error("several cells at a time need Ray: pip install 'turkic-idiom-tasks[ray]'")
    from turkic_idiom_tasks.runs.ray_jobs import RayRunner

    return RayRunner(jobs, cpus=cpus or 1, gpus=gpus, address=address)


def _print_estimates(grid: Grid, report: Report, *, tflops: float) -> None:
    """Print a table of what the missing cells of each model need, and their sum; nothing if no cell is missing."""
    from turkic_idiom_tasks.runs.grid import MISSING

    if MISSING not in report.states.values():
        return
    from turkic_idiom_tasks.runs.grid_estimate import GIB, estimate_grid

    estimates = estimate_grid(grid, tflops=tflops)
    table = Table("model", box=None, pad_edge=False)
    table.columns[0].overflow = "fold"
    for heading in ("size", "cells", "encoded", "trained", "hours", "GiB"):
        table.add_column(heading, justify="right", no_wrap=True)
    for estimate in estimates:
        work = estimate.workload
        table.add_row(
            printable(estimate.model),
            "?" if estimate.size.n_parameters is None else _size(estimate.size.n_parameters),
            str(estimate.n_cells),
            "?" if work is None else f"{work.encoded.n_texts:,}",
            "?" if work is None else f"{work.trained.n_texts:,}",
            "?" if estimate.seconds is None else _hours(estimate.seconds),
            "?" if estimate.memory is None else f"{estimate.memory / GIB:.1f}",
        )
    n_cells = sum(estimate.n_cells for estimate in estimates)
    seconds = sum(estimate.seconds or 0.0 for estimate in estimates)
    memory = max(estimate.memory or 0 for estimate in estimates) / GIB
    table.add_row("all", "", str(n_cells), "", "", _hours(seconds), f"{memory:.1f}")
    sys.stdout.write(f"\nmissing cells at {tflops:g} TFLOP/s, one after the other; ? is unknown\n")
    Console(file=sys.stdout, highlight=False, markup=False).print(table)
    n_unknown = sum(estimate.seconds is None for estimate in estimates)
    if n_unknown:
        models = "1 model" if n_unknown == 1 else f"{n_unknown} models"
        sys.stdout.write(f"not in the sum: {models} of unknown size or work\n")


def _hours(seconds: float) -> str:
    return "<0.01" if seconds < 0.005 * _HOUR else f"{seconds / _HOUR:.2f}"


def _size(n_parameters: int) -> str:
    """Return a number of parameters as people write it: 118M, 0.6B."""
    if n_parameters >= 500_000_000:
        return f"{n_parameters / 1e9:.1f}B"
    return f"{n_parameters / 1e6:.0f}M" if n_parameters >= 1_000_000 else f"{n_parameters:,}"


def _print_status(report: Report) -> None:
    """Print a matrix of the models and regimes, the failures and other remarks, and the estimate."""
    from turkic_idiom_tasks.runs.grid import STATES

    matrix = report.matrix()
    regimes: dict[str, None] = {}
    for counts_by_regime in matrix.values():
        regimes |= dict.fromkeys(counts_by_regime)
    table = Table("model", title="/".join(STATES), title_justify="left", box=None, pad_edge=False)
    table.columns[0].overflow = "fold"
    for regime in regimes:
        table.add_column(regime, justify="right", overflow="fold")
    for model, counts_by_regime in matrix.items():
        row = [printable(model)]
        for regime in regimes:
            counts = counts_by_regime.get(regime)
            row.append("/".join(str(counts[state]) for state in STATES) if counts else "–")
        table.add_row(*row)
    Console(file=sys.stdout, highlight=False, markup=False).print(table)
    for remark in report.remarks():
        sys.stdout.write(f"{printable(remark)}\n")
    sys.stdout.write(printable(f"\n{report.summary()}\n{report.estimate()}\n"))
