"""Options that several commands share, stated once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from turkic_idiom_tasks.integrations import DATA_VARIABLE

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
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")]
OutFolder = Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder to write.")]
