"""Writing of files and folders so that a killed run leaves the old content or the new one, never a mixture."""

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import socket
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, StringConstraints

from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.models import model_errors
from turkic_idiom_tasks.io.reading import display, inner_path, parse_json, read_file, real_path

MANIFEST = ".turkic-idiom.json"  # which files of a folder are ours
LOCK = ".turkic-idiom.lock"
# In the names of temporary files; the name of the machine itself may have any characters.
_HOST = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]
_TEMPORARY = re.compile(r"\.tmp-(?P<host>[0-9a-f]{8})-(?P<process>\d+)-\w+")
# Names of our own records in a folder, of this version or an earlier one
_RECORD = re.compile(rf"\.turkic-idiom.*|{_TEMPORARY.pattern}", re.DOTALL)
_ADVICE = dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "make room")  # by errno
_ADVICE |= dict.fromkeys((errno.EACCES, errno.EPERM), "ask its owner for the right to write there")
_ADVICE |= dict.fromkeys((errno.EEXIST, errno.ENOTDIR, errno.EISDIR), "move away what is there")
_MOST_READS = 10  # of a folder that somebody else writes meanwhile
Content = TypeVar("Content")
_Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Manifest(BaseModel):
    """Record in a folder of the files that we wrote there; those of others are never deleted or overwritten."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    format: Literal[1] = 1
    kind: str  # what the folder holds, such as ``lexicon`` or ``site``
    state: Literal["complete"] = "complete"  # earlier versions also wrote ``committing``: a mixture of two contents
    files: dict[str, _Sha256]  # path below the folder -> SHA-256 of what we wrote there


def write_bytes(path: Path, data: bytes) -> None:
    """Replace a file in one step: write a temporary file in the same folder, flush it to disk, rename it."""
    temporary = _temporary_path(path.parent)  # a file cannot be renamed from one file system into another
    with _write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())  # or, after a power cut, the new name could stand for an empty file
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Replace a file by a text in UTF-8; see `write_bytes`."""
    write_bytes(path, text.encode("utf-8"))


def write_json(path: Path, value: Any) -> None:
    """Replace a file by indented JSON; see `write_bytes`. NaN is refused with a ValueError."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def check_writable(directory: Path, *, shown: Path | None = None) -> None:
    """Check that files can be written to a directory, and remove what killed processes left half-written there."""
    probe = _temporary_path(directory)
    with _write_errors(shown or directory):  # what the user named, which may be a new folder in it
        directory.mkdir(parents=True, exist_ok=True)
        probe.touch(exist_ok=False)
        probe.unlink()
    for path in directory.glob(".tmp-*"):
        match = _TEMPORARY.fullmatch(path.name)
        # A process of another machine that shares the disk cannot be tested from here. On Windows os.kill(process, 0)
        # does not test the process but sends it Ctrl-C.
        if not match or match["host"] != _HOST or os.name == "nt":
            continue
        try:
            os.kill(int(match["process"]), 0)
        except ProcessLookupError:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                with contextlib.suppress(OSError):
                    path.unlink(missing_ok=True)
        except (PermissionError, OverflowError):
            pass  # it runs


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder to fill, which gets its name when all files are written; a failure leaves no files."""
    if folder.exists() or folder.is_symlink():
        raise usage_error(f"{folder}: exists already; remove it or choose another --out")
    with _write_errors(folder), _folder_beside(folder) as unfinished:
        yield unfinished
        unfinished.rename(folder)


@contextmanager
def locked(path: Path, *, busy: str | None = None) -> Iterator[None]:
    """Hold a lock; if another process holds it, wait until it is free, or raise an InputError that says `busy`."""
    with _write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        # The system releases it when the process ends, even if it is killed; its file is never removed.
        lock = FileLock(path, timeout=-1 if busy is None else 0)
        try:
            held = lock.acquire()
        except Timeout as error:  # which is an OSError too
            raise usage_error(busy or f"{path}: is in use") from error
    with held:
        yield


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder while the folder or one of its files is replaced; others wait until it is free."""
    old = _beside(folder, "old")
    # The lock is not in the folder, which is replaced itself.
    with _write_errors(folder), locked(_beside(folder, "lock")):
        # A replacement that was cut off is undone, or completed if the new content, which always has a manifest, has
        # taken its place.
        if old.exists() and (folder / MANIFEST).is_file():
            with _folder_beside(folder) as rubbish:
                old.rename(rubbish)
        elif old.exists():
            if folder.exists():
                folder.rmdir()  # some command has made it since; rmdir fails unless it is empty
            old.rename(folder)
        yield


def commit_folder(
    folder: Path,
    files: Mapping[str, bytes],  # path below the folder -> content
    *,
    kind: str,  # an earlier content of another kind is refused
    overwrite: bool | None = None,
    obsolete: Collection[str] = (),  # paths that are removed, whoever wrote the files
) -> None:
    """Replace all files of ours in a folder, which may be missing, by these, in one step; files of others stay.

    Only with `overwrite` (None if the command has no option for it) are files of these names replaced that are not
    ours, or were changed since we wrote them.
    """
    folder = real_path(folder)  # where it is a link, the link stays, and what it leads to is replaced
    old = _beside(folder, "old")
    with locked_folder(folder):
        ours = check_folder(folder, files, kind=kind, overwrite=overwrite)
        unchanged = {name for name, digest in ours.items() if _has_digest(folder / name, digest)}
        hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
        # A file that stays the same is carried over like those of others, and so keeps its time, by which other
        # programs see what is to be copied again.
        same = {name for name, digest in hashes.items() if _has_digest(folder / name, digest)}
        dropped = unchanged.union(files, obsolete) - same
        with _folder_beside(folder) as unfinished:
            for name, content in files.items():
                if name not in same:
                    write_bytes(unfinished / name, content)
            write_json(unfinished / MANIFEST, Manifest(kind=kind, files=hashes).model_dump())
            if not folder.exists():
                unfinished.rename(folder)
                return
            _carry_over(folder, unfinished, dropped)
            # After a kill between the renames, the next command that opens the folder puts the old one back.
            folder.rename(old)
            try:
                unfinished.rename(folder)
            except OSError:
                old.rename(folder)
                raise
        _carry_over(old, folder, dropped)  # what others wrote there in the last moment
        with _folder_beside(folder) as rubbish:
            old.rename(rubbish)  # so that a kill while it is removed leaves no part of it to be put back


def restore_folder(folder: Path) -> None:
    """Put back a folder that a killed process had moved aside; call it before a folder of ours is read."""
    if os.path.lexists(_beside(folder, "old")) and not (folder / MANIFEST).is_file():
        with locked_folder(folder):
            pass  # which has put it back


def read_committed(folder: Path, read: Callable[[], Content]) -> Content:
    """Return what `read` returns for a folder, when all files that it read belong to the same commit."""
    # Another process may commit the folder meanwhile, and so change its stamp; then what was read may be a mixture.
    for _ in range(_MOST_READS):
        restore_folder(folder)
        stamp = _stamp(folder)
        try:
            read_manifest(folder)  # refuses the mixture that a killed run of an earlier version may have left
            content = read()
        except (InputError, OSError):
            if _stamp(folder) == stamp:
                raise
            continue  # a file was gone for a moment
        if _stamp(folder) == stamp:
            return content
    raise InputError(f"{folder}: is being written all the time; try again when the other command has ended")


def read_manifest(folder: Path) -> Manifest | None:
    """Return the record of the files that we wrote into a folder; None if it has none."""
    path = folder / MANIFEST
    if not path.is_file():
        return None
    with model_errors(path, "delete this file, or choose another folder"):
        manifest = Manifest.model_validate(parse_json(read_file(path, follow_links=False)))
        for name in manifest.files:
            inner_path(folder, name)
    return manifest


def foreign_names(folder: Path) -> list[str]:
    """Return the sorted names in a folder that are neither our own records nor left behind by a killed process."""
    return sorted(path.name for path in folder.iterdir() if not _RECORD.fullmatch(path.name))


def check_folder(
    folder: Path, files: Mapping[str, bytes], *, kind: str, overwrite: bool | None = None
) -> dict[str, str]:
    """Raise unless the files may be written into a folder; return path -> SHA-256 of what we wrote there before."""
    # A command calls this without files, too, before their content is known: a refusal comes before the work.
    restore_folder(folder)
    manifest = read_manifest(folder)
    others = foreign_names(folder) if folder.is_dir() and manifest is None and not overwrite else []
    problem = ""
    if folder.exists() and Path.cwd().is_relative_to(folder):
        problem = "is or holds the current folder, which cannot be replaced; go to another one"
    elif manifest is not None and manifest.kind != kind:
        problem = f"holds a {manifest.kind}, not a {kind}; choose another folder with --out"
    elif others:
        advice = "move it away" if overwrite is None else "pass --overwrite, which leaves files of other names alone"
        problem = f"holds {display(others[0])} and was not written by this command; choose an empty or new folder, or "
        problem += advice
    if problem:
        raise InputError(f"{folder}: {problem}")
    for name in (*files, MANIFEST):
        with model_errors(folder, "move it away, or choose another folder with --out"):
            path = inner_path(folder, name)
        for place in (path, *path.parents):
            # A folder where a file is to be written, or a file where a folder is
            if place.is_relative_to(folder) and place.exists() and place.is_dir() == (place == path):
                raise InputError(f"{place}: is in the way of what is to be written; move it away")
    ours = {} if manifest is None else manifest.files
    if overwrite or not folder.exists():
        return ours
    for name in {**ours, **files}:
        path = folder / name
        is_same = name in files and _has_digest(path, hashlib.sha256(files[name]).hexdigest())
        if path.exists() and not is_same and not (name in ours and _has_digest(path, ours[name])):
            problem = "was changed since it was written" if name in ours else "is not a file of ours"
            raise InputError(f"{path}: {problem}; move it away{'' if overwrite is None else ', or pass --overwrite'}")
    return ours


def _carry_over(source: Path, target: Path, dropped: Collection[str], *, below: str = "") -> None:
    """Link what others have in a folder into another one: files, links and empty folders, but no records of ours."""
    # Without this right the files could not be removed afterwards.
    if not os.access(source, os.W_OK):
        raise PermissionError(errno.EACCES, f"no right to write to {source}")
    paths = sorted(source.iterdir())
    if below and not paths:
        target.mkdir(parents=True, exist_ok=True)
    for path in paths:
        place, name = target / path.name, f"{below}{path.name}"  # the latter from the outermost folder on
        if name in dropped or (not below and _RECORD.fullmatch(path.name)):
            continue
        if path.is_dir() and not path.is_symlink():
            _carry_over(path, place, dropped, below=f"{name}/")
        elif not os.path.lexists(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                # A hard link costs no space, and keeps what somebody writes into the file meanwhile.
                os.link(path, place, follow_symlinks=False)
            except (OSError, NotImplementedError):  # a file system without hard links, or a file of another user
                shutil.copy2(path, place, follow_symlinks=False)
    if target.is_dir():
        shutil.copymode(source, target)


@contextmanager
def _folder_beside(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder beside another one, with the usual rights; whatever is left of it is removed."""
    check_writable(folder.parent)
    unfinished = _temporary_path(folder.parent)
    unfinished.mkdir()
    try:
        yield unfinished
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _beside(folder: Path, part: str) -> Path:
    folder = real_path(folder)
    return folder.parent / f".{folder.name}.turkic-idiom-{part}"


def _has_digest(path: Path, digest: str) -> bool:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() == digest
    except OSError:
        return False


def _stamp(folder: Path) -> tuple[int, int] | None:
    """Return inode and time of a folder, which a replacement changes; None while there is no folder."""
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


@contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    """Turn an OSError into an InputError that names what cannot be written."""
    try:
        yield
    except OSError as error:
        # The names of a temporary folder, and of the lock of a folder, say nothing to the user: another call around
        # this one names the folder itself
        if path.name.endswith(".turkic-idiom-lock") or any(_TEMPORARY.fullmatch(part) for part in path.parts):
            raise
        advice = _ADVICE.get(error.errno or 0, "make room")
        problem = f"cannot be written ({error.strerror or error}); {advice}, or choose another folder with --out"
        raise InputError(f"{path}: {problem}") from error


def _temporary_path(folder: Path) -> Path:
    """Return a new name in a folder, by which `check_writable` knows whose it is."""
    # The module tempfile is not used: what it makes can be read by its owner alone, and the usual rights cannot be
    # asked for without changing those of the whole process for a moment.
    return folder / f".tmp-{_HOST}-{os.getpid()}-{secrets.token_hex(8)}"
