"""Writing the files of a dataset into a folder that may hold an earlier export; nothing of the user's is lost."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.files import check_writable, write_bytes, write_json
from turkic_idiom_tasks.hub_upload import MANIFEST, manifest


def write_export(directory: Path, contents: Mapping[str, bytes]) -> None:
    """Writes files and a manifest of them; of an earlier export, unchanged files are replaced or removed.

    Until all is done the manifest names old and new hashes, so a killed export can be repeated.

    Args:
        directory: created when missing; otherwise empty or an earlier export.
        contents: path below the directory -> content.

    Raises:
        InputError: the directory holds something else, or a file of the export was changed since.
    """
    known = _known_hashes(directory)
    check_writable(directory)
    _check_untouched(directory, known, contents)
    new = {name: [_hash(data)] for name, data in contents.items()}
    either = {name: [*known.get(name, []), *new.get(name, [])] for name in sorted({*known, *new})}
    write_json(directory / MANIFEST, {"files": either})
    for name, data in contents.items():
        write_bytes(directory / name, data)
    for name in sorted(set(known) - set(new)):
        path = directory / name
        path.unlink(missing_ok=True)
        if path.parent != directory and path.parent.is_dir() and not any(path.parent.iterdir()):
            path.parent.rmdir()
    write_bytes(directory / MANIFEST, manifest(contents))


def _known_hashes(directory: Path) -> dict[str, list[str]]:
    """Path -> hashes of what an earlier export wrote there.

    Raises:
        InputError: the directory is neither empty nor an earlier export.
    """
    if directory.exists() and not directory.is_dir():
        raise InputError(f"{directory}: is not a directory; choose another --out")
    manifest_file = directory / MANIFEST
    if not manifest_file.is_file():
        present = sorted(path.name for path in directory.iterdir()) if directory.is_dir() else []
        if present:
            raise InputError(f"{directory}: holds {present[0]} and is no earlier export; choose an empty or new --out")
        return {}
    try:
        files = json.loads(manifest_file.read_text(encoding="utf-8"))["files"]
        return {str(path): [str(item) for item in hashes] for path, hashes in files.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{manifest_file}: is damaged; choose an empty or new --out") from error


def _check_untouched(directory: Path, known: Mapping[str, list[str]], contents: Mapping[str, bytes]) -> None:
    """Raises when a file that would be replaced or removed is not as we wrote it."""
    for name in sorted({*known, *contents}):
        path = directory / name
        if path.is_file() and _hash(path.read_bytes()) not in (*known.get(name, ()), _hash(contents.get(name, b""))):
            raise InputError(f"{path}: was changed since the export; move it away, or choose another --out")


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
