"""``turkic-idiom grid``: arguments and output. Heavy packages are imported by the handlers."""

from __future__ import annotations

import argparse
import logging
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from turkic_idiom_tasks.lexicon.sources import asked_data, use_data

if TYPE_CHECKING:
    from turkic_idiom_tasks.experiments.engine import Engine
    from turkic_idiom_tasks.experiments.grid import Grid

log = logging.getLogger("turkic_idiom_tasks")
ENGINES = ("local", "ray")  # as experiments.engine has them


def add_grid_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds `grid` and its subcommands."""
    parser = subparsers.add_parser(
        "grid",
        help="fine-tune and score many encoders in every regime, and write the paper's tables",
        description="Run the experiments that a file declares; paper.yaml is the paper's grid and comes with the "
        "package. Finished cells are kept: the same command goes on after an interruption.",
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    plan = commands.add_parser("plan", help="print every cell, whether it is done, and an estimate of the rest")
    plan.set_defaults(handler=_plan)
    run = commands.add_parser(
        "run",
        help="run every cell that is missing",
        description="Run every cell that is missing, on this machine or on a Ray cluster. A failing cell is recorded "
        "and stops no other.",
        epilog="Example: turkic-idiom grid run paper.yaml --out paper-grid --engine ray --address auto "
        "--gpus-per-cell 0.5",
    )
    _add_engine(run)
    run.set_defaults(handler=_run)
    status = commands.add_parser("status", help="print what is done, what is missing, and why cells failed")
    status.set_defaults(handler=_status)
    tables = commands.add_parser("tables", help="write the paper's tables and figures from the finished cells")
    tables.set_defaults(handler=_tables)
    for command in (plan, run, status, tables):
        command.add_argument("file", type=Path, metavar="FILE", help="grid file, or paper.yaml")
        command.add_argument(
            "-o", "--out", type=Path, metavar="DIR", help="of the results (default: FILE without .yaml)"
        )
        command.add_argument("--data", metavar="DATA", help="lexicon directory (default: as in `turkic-idiom run`)")


def _add_engine(parser: argparse.ArgumentParser) -> None:
    default = "default: %(default)s"
    parser.add_argument("--engine", choices=ENGINES, default="local", help=default)
    parser.add_argument(
        "--address", metavar="ADDRESS", help="of a Ray cluster: auto, HOST:PORT (default: start one here)"
    )
    parser.add_argument("--slots", type=positive_number, metavar="N",
                        help="cells at a time on this machine (default: 1, or as many as its GPUs take)")  # fmt: skip
    parser.add_argument("--gpus-per-cell", type=_share, default=0.0, metavar="X",
                        help=f"share of a GPU: 0.5 puts two cells on one ({default})")  # fmt: skip
    parser.add_argument("--cpus-per-cell", type=positive_number, default=1, metavar="N",
                        help=f"cores, on Ray ({default})")  # fmt: skip
    parser.add_argument("--retry-failed", action="store_true", help="also run cells that failed before")


def _plan(options: argparse.Namespace) -> int:
    from turkic_idiom_tasks.experiments.grid_report import plan

    sys.stdout.write(plan(_grid(options)))
    return 0


def _status(options: argparse.Namespace) -> int:
    from turkic_idiom_tasks.experiments.grid_report import status

    sys.stdout.write(status(_grid(options)))
    return 0


def _run(options: argparse.Namespace) -> int:
    from tqdm import tqdm

    from turkic_idiom_tasks.experiments.grid import FAILED, MISSING

    logging.getLogger("turkic_idiom_tasks").setLevel(logging.INFO)
    grid = _grid(options)
    cells = grid.cells()
    wanted = (MISSING, FAILED) if options.retry_failed else (MISSING,)
    total = sum(grid.state(cell) in wanted for cell in cells)
    ran = grid.run(_engine(options), retry_failed=options.retry_failed)
    for cell, outcome in tqdm(ran, total=total, desc="grid", unit="cell", disable=None):
        log.info("%s: %s", cell, "done" if outcome.error is None else f"failed: {outcome.error}")
    return _closing(grid, options)


def _closing(grid: Grid, options: argparse.Namespace) -> int:
    from turkic_idiom_tasks.experiments.grid_report import status

    sys.stdout.write(status(grid))
    tables = ["turkic-idiom", "grid", "tables", str(options.file), "--out", str(grid.output)]
    data = ["--data", options.data] if options.data else []
    sys.stdout.write(f"\nTables: {shlex.join([*tables, *data])}\n")
    states = [grid.state(cell) for cell in grid.cells()]
    if "missing" in states:
        sys.stderr.write("turkic-idiom: cells are missing, their workers died; run the same command again to go on\n")
    if "failed" in states:
        sys.stderr.write("turkic-idiom: cells failed; mend the cause, then run the same command with --retry-failed\n")
    return 0 if set(states) <= {"done"} else 1


def _tables(options: argparse.Namespace) -> int:
    from turkic_idiom_tasks.experiments.grid_tables import LONG_TABLES, write_grid_tables

    grid = _grid(options)
    written = write_grid_tables(grid)
    for path in written:
        if path.name.endswith(".md") and path.stem not in LONG_TABLES:
            sys.stdout.write(path.read_text("utf-8") + "\n")
    sys.stdout.write("".join(f"{path}\n" for path in written))
    return 0


def _grid(options: argparse.Namespace) -> Grid:
    from turkic_idiom_tasks.experiments.grid import Grid
    from turkic_idiom_tasks.experiments.grid_file import read_grid_file

    use_data(options.data)
    file = read_grid_file(options.file)
    return Grid(file, asked_data(), options.out or Path(options.file.stem))


def _engine(options: argparse.Namespace) -> Engine:
    from turkic_idiom_tasks.experiments.engine import Slots, make_engine

    slots = Slots(options.slots, gpus=options.gpus_per_cell, cpus=options.cpus_per_cell)
    return make_engine(options.engine, slots, address=options.address)


def positive_number(text: str) -> int:
    """The whole number of an argument.

    Raises:
        ArgumentTypeError: it is none, or below 1.
    """
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 64:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share of GPUs: 0.5, 1 or 2")
    return share
