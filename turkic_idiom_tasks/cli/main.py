"""Define the application `app`, to which the commands in the other modules add themselves."""

import gc
import logging
import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from turkic_idiom_tasks.errors import InputError, stated_day, without_keys
from turkic_idiom_tasks.harnesses.doctor import print_diagnosis
from turkic_idiom_tasks.io.reading import display, printable
from turkic_idiom_tasks.version import __version__

INTERRUPTED = 130  # exit code that shells give a program that Ctrl-C ended


class _Commands(TyperGroup):
    """Commands whose errors are printed as one line on stderr and set the exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except InputError as error:
            message, code = f"error: {error}", error.exit_code
        except BrokenPipeError:
            # The reader, such as `head`, has what it wants; otherwise Python would complain when it flushes at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            message, code = "", 1
        except OSError as error:
            # A name that is too long, a folder that may not be read
            place = f"{error.filename}: " if error.filename else ""
            advice = "; ask its owner for the right to use it" if isinstance(error, PermissionError) else ""
            message, code = f"error: {place}{error.strerror or error}{advice}", 1
        except UnicodeEncodeError as error:
            # Half of a surrogate pair, as which Python keeps bytes that are no UTF-8
            character = display(error.object[error.start : error.end])
            message, code = f"error: {character} is no character of UTF-8; correct the name or text that has it", 2
        except KeyboardInterrupt:
            # Otherwise Python would search all of torch or Inspect for garbage before it ends, for seconds
            gc.freeze()
            message, code = "interrupted; run the same command again to continue", INTERRUPTED
        if message:
            one_line = printable(without_keys(message)).replace("\n", "\\n")  # as a name of a file may hold one
            sys.stderr.write(f"turkic-idiom: {one_line}\n")
        raise typer.Exit(code)


class PrintableFormatter(logging.Formatter):
    """Formats log records so that no key, and no control character in a path or a name, reaches the terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record on one line; see `printable` and `without_keys`."""
        return printable(without_keys(" ".join(super().format(record).splitlines())))


# `cli.main` prints tracebacks itself, without keys; markup would drop "[default: all]" from a help text, as a tag
app = typer.Typer(
    name="turkic-idiom",
    cls=_Commands,
    help="Idiom understanding in Turkic languages: score, fine-tune and compare models; build and publish the data.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def command_group(name: str, help: str) -> typer.Typer:
    """Add a group of commands to the application, and return it."""
    group = typer.Typer(name=name, help=help, no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group)
    return group


def _version(is_given: bool) -> None:
    if is_given:
        sys.stdout.write(f"turkic-idiom-tasks {__version__}\n")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """Declare the options of `turkic-idiom` itself."""
    # Refused before a command imports numpy, which reads it too and would end in a traceback
    stated_day()


@app.command("doctor")
def doctor_command(
    publishing: Annotated[
        str, typer.Option(metavar="ORG/NAME", help="Instead: what keeps the data from being published there.")
    ] = "",
) -> None:
    """Say what is registered with each harness, and what to do if something is missing.

    The last line is the folder of the tasks, for lm-eval's --include_path.
    """
    if publishing:
        from hub_datasets.publishing import diagnose_publishing

        code = print_diagnosis(lambda: diagnose_publishing(publishing))
    else:
        code = print_diagnosis()
    raise typer.Exit(code)
