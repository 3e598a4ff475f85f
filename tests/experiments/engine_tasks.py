"""Tasks for the tests of the engines; workers import them from here."""

import os
import signal
import time
from pathlib import Path


def note(folder, name):
    """Leaves a file with the process and the times at which the task began and ended."""
    begun = time.time()
    time.sleep(0.3)
    Path(folder, name).write_text(f"{os.getpid()} {begun} {time.time()}")


def fail():
    raise ZeroDivisionError("no such idiom")


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def die_once(folder):
    mark = Path(folder, "died")
    if not mark.exists():
        mark.touch()
        die()
    Path(folder, "survived").touch()


def variables(folder):
    names = ("OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES")
    Path(folder, f"{os.getpid()}.env").write_text(" ".join(os.environ.get(name, "-") for name in names))
    time.sleep(0.5)  # so that the other worker gets the other task


def linger(folder):
    Path(folder, "pid").write_text(str(os.getpid()))
    time.sleep(600)
