"""Silencing of the progress bars, warnings and log lines of other libraries."""

import io
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr

import datasets
from huggingface_hub.utils import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

from turkic_idiom_tasks.encoders.checkpoints import quiet_loading


@contextmanager
def quiet_libraries() -> Iterator[None]:
    """Silence mteb and its libraries: log lines below errors, Python's warnings, progress bars. Errors still propagate.

    Everything that is written to ``sys.stderr`` meanwhile is dropped, because mteb has no option for the bars of bm25s.
    """
    disabled_level = logging.root.manager.disable
    shows_dataset_bars = datasets.is_progress_bar_enabled()
    shows_hub_bars = not are_progress_bars_disabled()
    logging.disable(logging.WARNING)  # libraries would reset the levels of their loggers when they are imported
    datasets.disable_progress_bars()
    disable_progress_bars()
    try:
        with warnings.catch_warnings(), quiet_loading(), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled_level)
        if shows_dataset_bars:
            datasets.enable_progress_bars()
        if shows_hub_bars:
            enable_progress_bars()
