"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from turkic_idiom_tasks.integrations import DATA_VARIABLE


class Format(StrEnum):
    """The formats in which scores are printed."""

    table = "table"
    csv = "csv"
    json = "json"


Data = Annotated[
    str,
    typer.Option(
        "--data",
        envvar=DATA_VARIABLE,
        metavar="DATA",
        help="Lexicon directory, or dataset in the Hub layout (directory, or ORG/NAME[@REVISION]). "
        "Default: the bundled lexicon.",
    ),
]
Models = Annotated[
    list[str],
    typer.Option(
        "--model", "-m", metavar="MODEL", help="mteb or Hugging Face name, or a local checkpoint; may be repeated."
    ),
]
