"""Data for commands of a harness, which cannot pass them as an argument."""

import os
from functools import lru_cache
from pathlib import Path

from turkic_idiom_tasks.dataset import Dataset, open_dataset
from turkic_idiom_tasks.harnesses import DATA_VARIABLE
from turkic_idiom_tasks.languages import add_languages

_open_once = lru_cache(maxsize=4)(open_dataset)  # by the name itself, because the variable may change in a notebook

# Before the modules are imported that list tasks by language: stock commands name their data by the variable alone
if os.environ.get(DATA_VARIABLE):
    add_languages(Path(os.environ[DATA_VARIABLE]).expanduser())


def current_dataset(name: str = "") -> Dataset:
    """Return the data of a name, or that TURKIC_IDIOM_DATA names, or the bundled lexicon; opened once per process."""
    return _open_once(name or os.environ.get(DATA_VARIABLE, ""))
