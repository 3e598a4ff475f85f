"""What our task classes of mteb share: they take their data from a `Dataset`."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.splits import TEST

if TYPE_CHECKING:  # this module may be imported while mteb itself is only partly imported
    from mteb.abstasks.task_metadata import TaskMetadata

log = logging.getLogger("turkic_idiom_tasks")

UNREADABLE = "unreadable"  # in place of the revision, as long as the data was not read


class DatasetTask:
    """The data of a task class; the class that it is mixed into says what mteb does with it."""

    short: str  # name of the task in our results
    metadata: TaskMetadata
    data_loaded: bool
    hf_subsets: list[str]

    def __init__(self, *args: Any, dataset: Dataset | None = None, **kwargs: Any) -> None:
        """Make a task on a dataset; without one, on the data that the environment names.

        Listing tasks works without data, and `load_data` raises what is wrong with it. mteb's cache knows a task by its
        name alone. For a task on a dataset of your own pass ``cache=None`` or ``overwrite_strategy="always"`` to
        `mteb.evaluate`; otherwise it may give scores of the data in use.
        """
        self._is_named_by_environment = dataset is None
        self._source: Dataset | InputError
        known = type(self).metadata
        try:
            self._source = self.open_data() if dataset is None else dataset
            subsets = self.subsets_of(self._source)
            changes = {
                "dataset": {"path": self._source.path, "revision": self._source.revision},
                "eval_langs": {subset: known.eval_langs[subset] for subset in subsets},
            }
        except InputError as error:
            self._source = error
            changes = {"dataset": {"path": known.dataset["path"], "revision": UNREADABLE}}
        self.metadata = self._metadata_of_data = known.model_copy(update=changes)
        self.predictions: dict[tuple[str, str], Any] = {}  # (split, subset) -> of the last evaluation
        super().__init__(*args, **kwargs)

    @classmethod
    def open_data(cls) -> Dataset:
        """Return the data that the stock command would evaluate on: what TURKIC_IDIOM_DATA names, or the lexicon.

        Raises:
            InputError: it cannot be used.
        """
        return current_dataset()

    def subsets_of(self, source: Dataset) -> tuple[str, ...]:
        """Return the subsets of this task in some data.

        Raises:
            InputError: there are none.
        """
        raise NotImplementedError

    def load_subset(self, source: Dataset, subset: str) -> Any:
        """Return the test data of a subset as mteb takes it."""
        raise NotImplementedError

    def source(self) -> Dataset:
        """Return the data.

        Raises:
            InputError: it cannot be used.
        """
        if isinstance(self._source, InputError):
            raise self._source
        return self._source

    def load_data(self, num_proc: int | None = None, *, timer: Any = None, **kwargs: Any) -> None:
        """Load the chosen subsets.

        Raises:
            InputError: the data cannot be used.
        """
        if self.data_loaded:
            return
        source = self.source()
        missing = [subset for subset in type(self).metadata.eval_langs if subset not in self.metadata.eval_langs]
        if missing and self._is_named_by_environment:  # our own commands report this themselves
            log.warning("%s: %s has no data for %s; left out", self.metadata.name, source.path, " ".join(missing))
        self.dataset = {subset: {TEST: self.load_subset(source, subset)} for subset in self.hf_subsets}
        self.data_loaded = True

    def unload_data(self) -> None:
        """Free the memory of the data; keep the metadata, which mteb would reset to those of the class."""
        super().unload_data()  # type: ignore[misc]
        self.metadata = self._metadata_of_data
