"""Kills a piece of Python before each of its writes, as ``kill -9`` does, so that no clean-up of it runs.

A write is whatever changes the file system: opening a file for writing, renaming, removing, making or removing a
folder. The interpreter reports each of them to its audit hooks, so nothing has to be patched.
It also runs several pieces at once, each in a process of its own.
"""

import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

KILLED = 137
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate")
_MOST_WRITES = 500


def killed_before(write: int, action: Callable[[], object], *, below: Path, renames_only: bool = False) -> bool:
    """Run an action in a child process that dies before its write of this number, from 0, below a folder.

    Returns:
        Whether it died; False when it had finished before.
    """
    child = os.fork()
    if child == 0:
        _run_and_exit(write, action, below, renames_only)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, KILLED), f"the action failed before its write {write} with exit code {code}"
    return code == KILLED


def every_kill(
    prepare: Callable[[], object], action: Callable[[], object], *, below: Path, renames_only: bool = False
) -> Iterator[int]:
    """Prepare, run and kill an action before its write 0, 1, 2 and so on, and yield the number after each kill.

    With `renames_only` before each of its renames: the points at which what others see changes.
    """
    for write in range(_MOST_WRITES):
        prepare()
        if not killed_before(write, action, below=below, renames_only=renames_only):
            return
        yield write
    raise AssertionError(f"more than {_MOST_WRITES} writes")


def all_at_once(actions: Sequence[Callable[[], object]]) -> list[int]:
    """Run each action in a child process, all at the same time, and return their exit codes: 0, or 1 if it raised."""
    children = []
    for action in actions:
        child = os.fork()
        if child == 0:
            _finish_and_exit(action)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def _run_and_exit(write: int, action: Callable[[], object], below: Path, renames_only: bool) -> None:
    left = write

    def count(event: str, arguments: tuple) -> None:
        nonlocal left
        if (event == "os.rename" or not renames_only) and _is_write(event, arguments, below):
            if left == 0:
                os._exit(KILLED)
            left -= 1

    sys.addaudithook(count)
    _finish_and_exit(action)


def _finish_and_exit(action: Callable[[], object]) -> NoReturn:
    os.fsync = lambda handle: None  # no power is cut here, and waiting for the disk takes most of the time
    try:
        action()
    except BaseException:  # nothing of the test run may go on in the child
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _is_write(event: str, arguments: tuple, below: Path) -> bool:
    if event == "open":
        path, _, flags = arguments
        return isinstance(path, str | bytes | os.PathLike) and bool(flags & _WRITING) and _is_below(path, below)
    if event not in _CHANGES:
        return False
    has_folder_handle = isinstance(arguments[-1], int) and arguments[-1] >= 0 and event in ("os.remove", "os.rmdir")
    return has_folder_handle or _is_below(arguments[0], below)


def _is_below(path: object, folder: Path) -> bool:
    return Path(os.path.abspath(os.fsdecode(path))).is_relative_to(folder)
