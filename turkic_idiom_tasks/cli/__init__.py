"""`turkic-idiom` command: one module for each group of commands, which import heavy packages when they run."""

import contextlib
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

__all__ = ["main"]

# `doctor` has to say what is broken, so an environment in which typer cannot be imported must not stop this module.
_fault = ""
try:  # each of these modules adds its commands to the application
    from turkic_idiom_tasks.cli import (  # noqa: F401
        align,
        build_lexicon,
        dataset,
        finetune,
        finetune_idiomaticity,
        finetune_similarity,
        found_text,
        grid,
        leaderboard,
        lm,
        review,
        run,
    )
    from turkic_idiom_tasks.cli.main import PrintableFormatter, app
    from turkic_idiom_tasks.errors import without_keys
    from turkic_idiom_tasks.io.reading import printable
except KeyboardInterrupt:  # the imports take a moment, in which nothing has begun yet
    sys.exit(130)
except Exception as error:  # typer, rich or PyYAML is absent or broken
    from turkic_idiom_tasks.harnesses.doctor import in_one_line

    _fault = in_one_line(error)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    from turkic_idiom_tasks.harnesses.doctor import print_diagnosis

    words = sys.argv[1:] if arguments is None else list(arguments)
    for name in ("stdout", "stderr"):
        # A caller may close the streams, and Python then has None in their place
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
    try:
        # Must work when typer, or the pydantic that typer imports, is what is broken
        if words == ["doctor"]:
            return print_diagnosis()
        if _fault:
            sys.stderr.write(f"turkic-idiom: error: no command but doctor can run: {_fault}\n")
            print_diagnosis()
            return 1
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(PrintableFormatter("%(name)s: %(message)s"))
        logging.basicConfig(level=logging.WARNING, handlers=[handler])
        for stream in (sys.stdout, sys.stderr):
            # A stream that a test or a notebook put in place
            with contextlib.suppress(AttributeError):
                stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # for terminals without UTF-8
        app(args=words)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    except OSError as error:
        # An output that takes nothing more, such as that of --help to a full disk
        sys.stderr.write(f"turkic-idiom: error: {error.strerror or error}\n")
        return 1
    except Exception:
        # Printed here, because what a client raises may quote a key
        sys.stderr.write(printable(without_keys(traceback.format_exc())))
        return 1
    return 0
