"""Single files that a command writes where its user says: nothing that is there already is replaced without a word."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.files import write_text
from turkic_idiom_tasks.io.reading import real_path


def check_outputs(
    outputs: Mapping[str, Path],
    *,
    inputs: Sequence[Path | None] = (),
    overwrite: bool | None = None,
    command: str | None = None,
) -> None:
    """Check, before any work is done, that a command may write files (option -> file).

    Its inputs are never replaced, and nothing new is put into an input folder. Another file may be replaced with
    `overwrite` (None if the command has no option for it), or if `write_output` wrote it for this command.
    """
    option_of: dict[Path, str] = {}
    for option, path in outputs.items():
        place = real_path(path)  # so that a link is the file that it leads to
        if path.is_dir():
            raise InputError(f"{path}: is a directory; {option} takes the name of a file")
        for source in filter(None, inputs):
            if place.is_relative_to(real_path(source)):
                raise usage_error(f"{path}: this command reads {source}; choose another {option}")
        other = option_of.setdefault(place, option)
        if other != option:
            raise usage_error(f"{path}: is the file of {other} as well; choose another {option}")
        # A command that goes on with answers that are paid for, or with a folder that it updates, may replace its own
        # file while nobody has changed it: the record beside the file has hashes of what was written.
        is_ours = False
        if command is not None and _record(path, command).is_file():
            hashes = _record(path, command).read_text("utf-8").split()
            is_ours = path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() in hashes
        # A link that leads nowhere is there too, and would be replaced.
        if os.path.lexists(path) and not overwrite and not is_ours:
            problem = "exists" if command is None else "was not written by this command, or was changed since"
            advice = "remove it" if overwrite is None else "add --overwrite"
            raise InputError(f"{path}: {problem}; choose another {option}, or {advice}")


def write_output(path: Path, text: str, *, command: str) -> None:
    """Write a file that `check_outputs` has let pass, and the record of it."""
    # With the hash of what is there, so that a kill between the two writes does not make our own file foreign.
    contents = [path.read_bytes()] if path.exists() else []
    contents.append(text.encode("utf-8"))
    hashes = [hashlib.sha256(content).hexdigest() for content in contents]
    write_text(_record(path, command), "\n".join(hashes))
    write_text(path, text)


def _record(path: Path, command: str) -> Path:
    return path.with_name(f".{path.name}.turkic-idiom-{command}")
