"""``turkic-idiom compare``: test whether one result is better than another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from turkic_idiom_tasks.cli.main import app
from turkic_idiom_tasks.cli.options import Data, Format


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(metavar="A", help="Result file, or the folder of one model.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="The result that may be better.")],
    task: Annotated[
        list[str] | None,
        typer.Option("--task", "-t", metavar="TASK", help="T1, T2, T3, T4, spans; may be repeated.  [default: all]"),
    ] = None,
    data: Data = "",
    output_format: Annotated[Format, typer.Option("--format", help="Format of the output.")] = Format.table,
) -> None:
    """Test whether B is better than A, query by query (retrieval) or sentence by sentence (spans).

    Print a verdict, then the differences with their intervals, effect sizes and tests. Both results must be of the
    same data. Example: turkic-idiom compare results/results/turkic-idiom__char-ngrams results/results/my__model
    """
    from turkic_idiom_tasks.cli.compare_output import print_comparison
    from turkic_idiom_tasks.cli.output import plain_console
    from turkic_idiom_tasks.dataset import open_dataset
    from turkic_idiom_tasks.report.compare import compare_results, comparison_frame
    from turkic_idiom_tasks.report.frame import to_csv, to_json

    report = compare_results(first, second, open_dataset(data), tasks=task or ())
    if output_format is Format.table:
        print_comparison(report, plain_console(sys.stdout))
    else:
        write = to_csv if output_format is Format.csv else to_json
        sys.stdout.write(write(comparison_frame(report)))
