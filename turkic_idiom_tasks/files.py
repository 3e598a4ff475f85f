"""Writing files so that a killed run leaves the old file or the new one, never half of one."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from turkic_idiom_tasks.errors import InputError


def write_bytes(path: Path, data: bytes) -> None:
    """Replaces the file at once: temporary file in the same folder, fsync, rename.

    Raises:
        InputError: the folder cannot be written to.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise _unwritable(path, error) from error
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """`write_bytes` of the text in UTF-8."""
    write_bytes(path, text.encode("utf-8"))


def write_json(path: Path, value: Any) -> None:
    """`write_text` of indented JSON; NaN is refused."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A folder to fill, which gets its name when all of it is there; a failure leaves nothing.

    Args:
        folder: the name; must not exist.

    Raises:
        InputError: it cannot be written.
    """
    from safetensors import SafetensorError  # how a full disk shows while weights are written

    check_writable(folder.parent)
    unfinished = folder.with_name(f".{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        yield unfinished
        unfinished.rename(folder)
    except (OSError, SafetensorError) as error:
        raise InputError(f"{folder}: cannot be written ({error}); make room or choose another --out") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def check_writable(directory: Path) -> None:
    """Makes sure that files can be written to a directory before any work is done for them.

    Raises:
        InputError: it cannot be created or written to.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=directory, prefix=".writable."):
            pass
    except OSError as error:
        raise _unwritable(directory, error) from error


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path}: cannot be written ({error.strerror}); choose another folder with --output or --out")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
