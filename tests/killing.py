"""Kills a piece of Python before each of its writes, as ``kill -9`` does, so that no clean-up of it runs.

A write is whatever changes the file system: opening a file for writing, renaming, removing, making or removing a
folder. The interpreter reports each of them to its audit hooks, so nothing has to be patched.
It also runs several pieces at once, or as another user, each in a process of its own.
"""

import os
import sys
import traceback
from contextlib import contextmanager
from pathlib import Path

KILLED = 137
NOBODY = 65534
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate")
_MOST_WRITES = 500


def every_kill(prepare, action, *, below):
    """Prepare, run and kill an action before its write 0, 1, 2 and so on, and yield the number after each kill."""
    for write in range(_MOST_WRITES):
        prepare()
        (code,) = all_at_once([lambda write=write: _run_and_die(write, action, below)])
        assert code in (0, KILLED), f"the action failed before its write {write} with exit code {code}"
        if code == 0:
            return
        yield write
    raise AssertionError(f"more than {_MOST_WRITES} writes")


def all_at_once(actions):
    """Run each action in a child process, all at the same time, and return their exit codes: 0, or 1 if it raised."""
    children = []
    for action in actions:
        child = os.fork()
        if child == 0:
            os.fsync = lambda handle: None  # no power is cut here, and waiting for the disk takes most of the time
            try:
                action()
            except BaseException:  # nothing of the test run may go on in the child
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


@contextmanager
def readable(places):
    """Lets every user read what pytest made for its own alone."""
    modes = {path: path.stat().st_mode for path in places}
    for path, mode in modes.items():
        path.chmod(mode | 0o055)
    yield
    for path, mode in modes.items():
        path.chmod(mode)


def become_nobody():
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def _run_and_die(write, action, below):
    left = write

    def count(event, arguments):
        nonlocal left
        if _is_write(event, arguments, below):
            if left == 0:
                os._exit(KILLED)
            left -= 1

    sys.addaudithook(count)
    action()


def _is_write(event, arguments, below):
    if event == "open":
        path, _, flags = arguments
        return isinstance(path, str | bytes | os.PathLike) and bool(flags & _WRITING) and _is_below(path, below)
    if event not in _CHANGES:
        return False
    has_folder_handle = isinstance(arguments[-1], int) and arguments[-1] >= 0 and event in ("os.remove", "os.rmdir")
    return has_folder_handle or _is_below(arguments[0], below)


def _is_below(path, folder):
    return Path(os.path.abspath(os.fsdecode(path))).is_relative_to(folder)
