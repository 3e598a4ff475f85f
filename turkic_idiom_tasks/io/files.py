"""Writing of files and folders so that a killed run leaves the old content or the new one, never a mixture.

A single file is replaced in one step by `write_bytes`. A folder of several files is replaced by `commit_folder`, which
works like a database: the new files are staged inside the folder, one write of the manifest commits them, and the next
process that opens the folder finishes a commit that was cut off. The manifest also says which files are ours, so that
no command ever deletes or overwrites a file that somebody else put there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.reading import MalformedError, display, first_fault, inner_path, parse_json, read_file

MANIFEST = ".turkic-idiom.json"  # which files of a folder are ours
LOCK = ".turkic-idiom.lock"
_STAGING = ".turkic-idiom-staged"
_MOST_READS = 10  # of a folder that somebody else writes meanwhile
_FORMAT: Literal[1] = 1
_HOST = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]
_TEMPORARY = re.compile(r"\.tmp-(?P<host>[0-9a-f]{8})-(?P<process>\d+)-\w+")
Content = TypeVar("Content")
_Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Manifest(BaseModel):
    """Record in a folder of the files that we wrote there, and of a commit that is not finished.

    Attributes:
        format: version of the format of this record.
        kind: what the folder holds, such as ``lexicon`` or ``site``.
        state: ``committing`` from the moment at which the staged files are the valid ones until all of them are in
            place, then ``complete``.
        files: path below the folder -> SHA-256 of what we wrote there.
        removed: path -> SHA-256 of the files of the earlier content that are removed when the commit is finished.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    format: Literal[1] = _FORMAT
    kind: str
    state: Literal["committing", "complete"]
    files: dict[str, _Sha256]
    removed: dict[str, _Sha256] = {}


def write_bytes(path: Path, data: bytes) -> None:
    """Replace a file in one step: write a temporary file in the same folder, flush it to disk, rename it.

    Raises:
        InputError: the file or its folder cannot be written.
    """
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".tmp-{_HOST}-{os.getpid()}-")
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Replace a file by a text in UTF-8; see `write_bytes`."""
    write_bytes(path, text.encode("utf-8"))


def write_json(path: Path, value: Any) -> None:
    """Replace a file by indented JSON; see `write_bytes`. NaN is refused with a ValueError."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def check_writable(directory: Path) -> None:
    """Check that files can be written to a directory, and remove what killed processes left half-written there.

    Raises:
        InputError: it cannot be created or written to.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=directory, prefix=f".tmp-{_HOST}-{os.getpid()}-"):
            pass
    except OSError as error:
        raise _unwritable(directory, error) from error
    _remove_stale_files(directory)


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder to fill, which gets its name when all files are written; a failure leaves no files.

    Args:
        folder: path that the folder gets; must not exist.

    Raises:
        InputError: it exists already or cannot be written.
    """
    if folder.exists() or folder.is_symlink():
        raise usage_error(f"{folder}: exists already; remove it or choose another --out")
    check_writable(folder.parent)
    unfinished = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".tmp-{_HOST}-{os.getpid()}-"))
    try:
        yield unfinished
        unfinished.chmod(0o777 & ~_umask())
        unfinished.rename(folder)
    except OSError as error:
        raise _unwritable(folder, error) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


@contextmanager
def locked(path: Path, *, busy: str | None = None) -> Iterator[None]:
    """Hold a lock, which the system releases when the process ends, even if it is killed.

    Args:
        path: the lock file; created when missing, and never removed.
        busy: message of the error if another process holds the lock; None waits until it is free.

    Raises:
        InputError: another process holds the lock, or its folder cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path, timeout=-1 if busy is None else 0)
        lock.acquire()
    except Timeout as error:
        raise usage_error(busy or f"{path}: is in use") from error
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        yield
    finally:
        lock.release()


def commit_folder(
    folder: Path,
    files: Mapping[str, bytes],
    *,
    kind: str,
    overwrite: bool = False,
    obsolete: Collection[str] = (),
) -> None:
    """Replace all files of ours in a folder by these, in one step; files of others stay as they are.

    Args:
        folder: created when missing.
        files: path below the folder -> content.
        kind: what the folder holds; an earlier content of another kind is refused.
        overwrite: whether files of these names may be replaced although they are not ours, or were changed since we
            wrote them.
        obsolete: paths below the folder that are removed with the earlier content, whoever wrote them.

    Raises:
        InputError: the folder holds something else, a file of ours was changed, or it cannot be written.
    """
    check_writable(folder)
    with locked(folder / LOCK):
        manifest = _finish_or_discard(folder, overwrite=overwrite)
        _check_replaceable(folder, files, manifest, kind=kind, overwrite=overwrite)
        removed = _superseded(folder, files, manifest, obsolete)
        staging = _staging(folder)
        shutil.rmtree(staging, ignore_errors=True)
        hashes = {}
        for name, content in files.items():
            hashes[name] = _digest(content)
            if not _has_digest(_inside(folder, name), hashes[name]):  # what is in place already is left alone
                write_bytes(_inside(staging, name), content)
        _write_manifest(folder, Manifest(kind=kind, state="committing", files=hashes, removed=removed))
        _finish(folder)


def update_file(folder: Path, name: str, content: Callable[[], bytes], *, kind: str) -> None:
    """Replace or add one file of a folder while no other process commits the folder; other files stay as they are.

    If the folder has a manifest, the file is named in it; otherwise no manifest is written. If the process is killed
    between the two writes, the file looks as if somebody else had changed it.

    Args:
        folder: must exist.
        name: path below the folder.
        content: returns the content of the file; it may read the folder. If it raises an error, nothing is changed.
        kind: what the folder holds.

    Raises:
        InputError: the folder holds something else or cannot be written; or what `content` raises.
    """
    check_writable(folder)
    with locked(folder / LOCK):
        manifest = _finish(folder)
        if manifest is not None and manifest.kind != kind:
            raise InputError(f"{folder}: holds a {manifest.kind}, not a {kind}; choose another folder")
        _check_place(folder, name)
        data = content()
        write_bytes(_inside(folder, name), data)
        if manifest is not None:
            files = {**manifest.files, name: _digest(data)}
            _write_manifest(folder, Manifest(kind=kind, state="complete", files=files))


def finish_commit(folder: Path) -> None:
    """Finish a commit that a killed process left behind; call it before a folder of ours is read.

    Raises:
        InputError: the manifest is damaged, or a file that was staged is gone.
    """
    if is_committing(folder):
        with locked(folder / LOCK):
            _finish(folder)


def read_committed(folder: Path, read: Callable[[], Content]) -> Content:
    """Return what `read` returns for a folder, when all files that it read belong to the same commit.

    If another process committed the folder meanwhile, `read` is called again.

    Args:
        folder: the folder; it need not have a manifest.
        read: reads the files; may raise InputError or OSError.

    Raises:
        InputError: as `read` and `finish_commit`; or other processes write to the folder all the time.
    """
    for _ in range(_MOST_READS):
        finish_commit(folder)
        stamp = _stamp(folder)
        if is_committing(folder):
            continue
        try:
            content = read()
        except (InputError, OSError):
            if _stamp(folder) == stamp:
                raise
            continue  # a file was gone for a moment
        if _stamp(folder) == stamp:
            return content
    raise InputError(f"{folder}: is being written all the time; try again when the other command has ended")


def is_committing(folder: Path) -> bool:
    """Return whether a commit of this folder was cut off, or is not finished yet in another process.

    Raises:
        InputError: the manifest is damaged.
    """
    return (folder / MANIFEST).is_file() and _read_manifest(folder).state == "committing"


def our_files(folder: Path) -> dict[str, str] | None:
    """Return path -> SHA-256 of the files that we wrote into a folder; None if it has no manifest.

    Raises:
        InputError: its manifest is damaged.
    """
    return dict(_read_manifest(folder).files) if (folder / MANIFEST).is_file() else None


def foreign_names(folder: Path) -> list[str]:
    """Return the sorted names in a folder that are neither our own records nor left behind by a killed process."""
    names = []
    for path in folder.iterdir():
        if path.name not in (MANIFEST, LOCK, _STAGING) and not _TEMPORARY.fullmatch(path.name):
            names.append(path.name)
    return sorted(names)


class _LostError(InputError):
    """A commit cannot be finished, because what it staged is gone."""


def _finish_or_discard(folder: Path, *, overwrite: bool) -> Manifest | None:
    """Finish an interrupted commit; if its files are lost and may be overwritten, leave it as it is."""
    try:
        return _finish(folder)
    except _LostError:
        if not overwrite:
            raise
        return _read_manifest(folder)


def _finish(folder: Path) -> Manifest | None:
    """Move the staged files of an interrupted commit into place; the lock is held. Return the manifest, if any."""
    if not (folder / MANIFEST).is_file():
        return None
    manifest = _read_manifest(folder)
    if manifest.state == "complete":
        return manifest
    staging = _staging(folder)
    for name, digest in manifest.files.items():
        if not _has_digest(_inside(staging, name), digest) and not _has_digest(_inside(folder, name), digest):
            raise _LostError(
                f"{folder}: a write was cut off, and its file {display(name)} was lost or changed since; write the "
                "folder again with --overwrite"
            )
    try:
        for name, digest in manifest.files.items():
            target, staged = _inside(folder, name), _inside(staging, name)
            if _has_digest(staged, digest):
                target.parent.mkdir(parents=True, exist_ok=True)
                staged.replace(target)
        for name, digest in manifest.removed.items():
            if _has_digest(_inside(folder, name), digest):
                _remove(folder, _inside(folder, name))
        complete = Manifest(kind=manifest.kind, state="complete", files=manifest.files)
        _write_manifest(folder, complete)
    except OSError as error:
        raise _unwritable(folder, error) from error
    shutil.rmtree(staging, ignore_errors=True)
    return complete


def _superseded(
    folder: Path, files: Mapping[str, bytes], manifest: Manifest | None, obsolete: Collection[str]
) -> dict[str, str]:
    """Return path -> SHA-256 of the files that a commit removes.

    These are unchanged files of ours that are not written again, and obsolete files.
    """
    removed = {}
    for name, digest in (manifest.files if manifest else {}).items():
        if name not in files and _has_digest(_inside(folder, name), digest):
            removed[name] = digest
    for name in obsolete:
        path = _inside(folder, name)
        if name not in files and path.is_file():
            removed[name] = _digest(path.read_bytes())
    return removed


def _check_replaceable(
    folder: Path, files: Mapping[str, bytes], manifest: Manifest | None, *, kind: str, overwrite: bool
) -> None:
    if manifest is not None and manifest.kind != kind:
        raise InputError(f"{folder}: holds a {manifest.kind}, not a {kind}; choose another folder with --out")
    for name in files:
        _check_place(folder, name)
    if overwrite:
        return
    if manifest is None:
        others = foreign_names(folder)
        if others:
            raise InputError(
                f"{folder}: holds {display(others[0])} and was not written by this command; choose an empty or new "
                "folder, or pass --overwrite, which leaves files of other names alone"
            )
        return
    for name, digest in manifest.files.items():
        path = _inside(folder, name)
        is_same = _has_digest(path, digest) or (name in files and _has_digest(path, _digest(files[name])))
        if path.exists() and not is_same:
            raise InputError(f"{path}: was changed since it was written; move it away, or pass --overwrite")
    for name, content in files.items():
        path = _inside(folder, name)
        if name not in manifest.files and path.exists() and not _has_digest(path, _digest(content)):
            raise InputError(f"{path}: is not a file of ours; move it away, or pass --overwrite")


def _check_place(folder: Path, name: str) -> None:
    """Check that a file can be moved to its place, because a commit that has begun cannot be undone."""
    path = _inside(folder, name)
    if path.is_dir():
        raise InputError(f"{path}: is a folder where a file is to be written; move it away")
    for parent in path.parents:
        if parent == folder:
            return
        if parent.exists() and not parent.is_dir():
            raise InputError(f"{parent}: is a file where a folder is to be written; move it away")


def _inside(folder: Path, name: str) -> Path:
    """Return the path of one of our files; see `inner_path`."""
    try:
        return inner_path(folder, name)
    except MalformedError as error:
        raise InputError(f"{folder}: {error}; move it away, or choose another folder with --out") from error


def _staging(folder: Path) -> Path:
    """Return the folder in which files wait for their commit; a link in its place could lead anywhere."""
    return _inside(folder, _STAGING)


def _read_manifest(folder: Path) -> Manifest:
    path = folder / MANIFEST
    try:
        manifest = Manifest.model_validate(parse_json(read_file(path, follow_links=False)))
        for name in (*manifest.files, *manifest.removed):
            inner_path(folder, name)
    except MalformedError as error:
        raise InputError(f"{path}: {error}; delete this file, or choose another folder") from error
    except ValidationError as error:
        raise InputError(
            f"{path}: is damaged ({first_fault(error)}); delete this file, or choose another folder"
        ) from error
    return manifest


def _write_manifest(folder: Path, manifest: Manifest) -> None:
    write_json(folder / MANIFEST, manifest.model_dump())


def _stamp(folder: Path) -> tuple[int, int] | None:
    """Return inode and time of the manifest, which every commit changes when it begins and ends; None without one."""
    try:
        status = (folder / MANIFEST).stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _has_digest(path: Path, digest: str) -> bool:
    """Return whether a file is there and has this SHA-256."""
    try:
        return _digest(path.read_bytes()) == digest
    except OSError:
        return False


def _remove(folder: Path, path: Path) -> None:
    """Remove a file, and the folders below `folder` that this leaves empty."""
    path.unlink(missing_ok=True)
    for parent in path.parents:
        if parent == folder or not parent.is_dir() or any(parent.iterdir()):
            return
        parent.rmdir()


def _remove_stale_files(directory: Path) -> None:
    """Remove temporary files and folders of processes of this machine that have ended."""
    for path in directory.glob(".tmp-*"):
        match = _TEMPORARY.fullmatch(path.name)
        if match and match["host"] == _HOST and not _is_running(int(match["process"])):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                with contextlib.suppress(OSError):
                    path.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    if os.name == "nt":  # on Windows os.kill(process, 0) does not test the process but sends it Ctrl-C
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path}: cannot be written ({error.strerror}); make room, or choose another folder with --out")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
