"""Progress on stderr: a bar on a terminal, else a line for each tenth of what takes more than two seconds."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from turkic_idiom_tasks.io.reading import printable

_PATIENCE = 2.0  # seconds

_Item = TypeVar("_Item")


class Lines:
    """Writes a line to stderr for each tenth of a piece of work that a text names."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._tenths: dict[str, int] = {}

    def show(self, what: str, done: int = 0, total: int = 0) -> None:
        """Write how much is done if it is another tenth."""
        tenth = 10 * done // max(total, 1)
        if tenth > self._tenths.get(what, 0) and time.monotonic() - self._begun > _PATIENCE:
            self._tenths[what] = tenth
            sys.stderr.write(f"{printable(what)}: {done:,} of {total:,}\n")


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function that shows how much is done, and of how much."""
    if not sys.stderr.isatty():
        yield partial(Lines().show, what)
        return
    from rich.console import Console  # late, because a start of the command should not wait for it
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(printable(what), total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)


def track(items: Sequence[_Item], what: str) -> Iterator[_Item]:
    """Yield items and show how many of them are done."""
    with progress(what) as show:
        for number, item in enumerate(items, start=1):
            yield item
            show(number, len(items))
