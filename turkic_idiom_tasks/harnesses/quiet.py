"""Silencing of the progress bars, warnings and log lines of other libraries."""

import io
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr

from turkic_idiom_tasks.encoders.checkpoints import quiet_loading


@contextmanager
def quiet_libraries() -> Iterator[None]:
    """Silence mteb and its libraries: log lines below errors, Python's warnings, progress bars; errors propagate."""
    disabled_level = logging.root.manager.disable
    # Libraries would reset the levels of their loggers when they are imported
    logging.disable(logging.WARNING)
    try:
        # All of stderr is dropped, because not every library has an option for its bars
        with warnings.catch_warnings(), quiet_loading(), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled_level)
