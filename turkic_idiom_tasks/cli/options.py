"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from turkic_idiom_tasks.encoders.names import TRUST_OPTION, TRUST_VARIABLE
from turkic_idiom_tasks.harnesses import DATA_VARIABLE


class Format(StrEnum):
    """Formats in which scores are printed."""

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
TrustRemoteCode = Annotated[
    bool,
    typer.Option(
        TRUST_OPTION,
        envvar=TRUST_VARIABLE,
        help="Execute code that comes with a model, which can do whatever you can do on this machine.",
    ),
]
Revision = Annotated[str | None, typer.Option("--revision", metavar="COMMIT", help="Revision of the model on the Hub.")]
Publish = Annotated[bool, typer.Option("--yes", help="Publish; without it only the plan is shown.")]
Models = Annotated[
    list[str],
    typer.Option(
        "--model", "-m", metavar="MODEL", help="mteb or Hugging Face name, or a local checkpoint; may be repeated."
    ),
]
