"""Options that several commands share."""

import json
from collections.abc import Collection, Iterable
from typing import Annotated, Any, Literal

import typer

from turkic_idiom_tasks.encoders.names import TRUST_OPTION, TRUST_VARIABLE
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.harnesses import DATA_VARIABLE
from turkic_idiom_tasks.io.reading import display

Format = Literal["table", "csv", "json"]  # in which scores are printed


def assigned(values: Iterable[str] | None, *, options: Collection[str] = ()) -> dict[str, Any]:
    """Return what ``--set NAME=VALUE`` state; a value is read as JSON, or else is the text itself."""
    stated: dict[str, Any] = {}
    for assignment in values or ():
        name, sign, value = assignment.partition("=")
        name = name.strip()
        fault = None
        if not sign:
            fault = "expected NAME=VALUE"
        elif name in options:  # it would be unclear which of the two counts
            fault = f"pass --{name.replace('_', '-')} instead"
        elif name in stated:
            fault = f"{name} is set twice; choose one"
        if fault:
            raise usage_error(f"--set {display(assignment)}: {fault}")
        try:
            # Typed, because strict settings take no text for a number or true.
            stated[name] = json.loads(value)
        except (ValueError, RecursionError):  # a word, such as mean
            stated[name] = value.strip()
    return stated


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
Publish = Annotated[bool, typer.Option("--yes", help="Publish; without it only the plan is shown.")]
Models = Annotated[
    list[str],
    typer.Option(
        "--model", "-m", metavar="MODEL", help="mteb or Hugging Face name, or a local checkpoint; may be repeated."
    ),
]
