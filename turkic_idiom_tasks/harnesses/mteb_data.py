"""Base classes of our mteb tasks, which take their data from a `Dataset`, and of those on similarity."""

import logging
import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import datasets

# Names from `mteb` itself would not be there yet when the start-up hook imports this module; those of submodules are
import mteb  # noqa: F401  # complete before its parts are used, unless it is mteb that imports us
import numpy as np
from mteb.abstasks.sts import AbsTaskSTS
from mteb.abstasks.task_metadata import TaskMetadata

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.similarity import STS
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.results.predictions import Similarities
from turkic_idiom_tasks.results.scored import MAIN_SCORES, score_subset
from turkic_idiom_tasks.splits import TEST

log = logging.getLogger("turkic_idiom_tasks")

UNREADABLE = "unreadable"  # in place of the revision, as long as the data was not read


class DatasetTask:
    """Data of a task class; the class that it is mixed into says what mteb does with it."""

    short: str  # name of the task in our results
    metadata: TaskMetadata
    data_loaded: bool
    hf_subsets: list[str]
    source: Dataset  # not there if the data could not be read; `load_data` then raises the reason

    def __init__(self, *args: Any, dataset: Dataset | None = None, **kwargs: Any) -> None:
        """Make a task on a dataset; without one, on the data that the environment names.

        mteb's cache knows a task by its name alone. For a task on a dataset of your own pass ``cache=None`` or
        ``overwrite_strategy="always"`` to `mteb.evaluate`; otherwise it may give scores of the data in use.
        """
        self._is_named_by_environment = dataset is None
        self._problem: InputError | None = None
        known = type(self).metadata
        try:
            self.source = self.open_data() if dataset is None else dataset
            subsets = self.present_subsets()
            changes = {
                "dataset": {"path": self.source.path, "revision": self.source.revision},
                "eval_langs": {subset: known.eval_langs[subset] for subset in subsets},
            }
        except InputError as error:
            # Listing tasks must work without data, so the error is raised when the data is asked for
            self._problem = error
            changes = {"dataset": {"path": known.dataset["path"], "revision": UNREADABLE}}
        # On the instance: the class is shared by all tasks in the process, which may be on other data
        self.metadata = self._metadata_of_data = known.model_copy(update=changes)
        self.predictions: dict[tuple[str, str], Any] = {}  # (split, subset) -> of the last evaluation
        super().__init__(*args, **kwargs)

    @classmethod
    def open_data(cls) -> Dataset:
        """Return the data that the stock command would evaluate on: what TURKIC_IDIOM_DATA names, or the lexicon."""
        return current_dataset()

    @abstractmethod
    def present_subsets(self) -> tuple[str, ...]:
        """Return the subsets of this task that the data has."""

    @abstractmethod
    def load_subset(self, subset: str) -> Any:
        """Return the test data of a subset as mteb takes it."""

    def load_data(self, num_proc: int | None = None, *, timer: Any = None, **kwargs: Any) -> None:
        """Load the chosen subsets."""
        if self.data_loaded:
            return
        if self._problem is not None:
            raise self._problem
        missing = [subset for subset in type(self).metadata.eval_langs if subset not in self.metadata.eval_langs]
        if missing and self._is_named_by_environment:  # our own commands report this themselves
            log.warning("%s: %s has no data for %s; left out", self.metadata.name, self.source.path, " ".join(missing))
        self.dataset = {subset: {TEST: self.load_subset(subset)} for subset in self.hf_subsets}
        self.data_loaded = True

    def unload_data(self) -> None:
        """Free the memory of the data."""
        super().unload_data()  # type: ignore[misc]
        # mteb resets the metadata to those of the class, which may be of other data
        self.metadata = self._metadata_of_data


def scores_for_json(scores: Mapping[str, float]) -> dict[str, Any]:
    """Return scores for a file of mteb: null where one is undefined, because NaN is no JSON, and then the reason."""
    undefined = [name for name, value in scores.items() if math.isnan(value)]
    reason = {"undefined": f"{', '.join(undefined)}: one side is constant, or there is no such pair or query"}
    return dict(scores) | dict.fromkeys(undefined) | (reason if undefined else {})


class IdiomSTS(DatasetTask, AbsTaskSTS):
    """Similarity of sentence pairs, whose gold score may be the model's own similarity of another pair."""

    min_score = 0
    max_score = 1
    abstask_prompt = "Retrieve semantically similar text."

    def present_subsets(self) -> tuple[str, ...]:
        """Return the subsets with sentence pairs; see `DatasetTask`."""
        subsets = self.source.pair_subsets(self.short)
        if not subsets:
            self.source.pairs(self.short, next(iter(type(self).metadata.eval_langs)))  # raises what is missing
        return subsets

    def load_subset(self, subset: str) -> datasets.Dataset:
        """Return the pairs of a subset as rows."""
        # All pairs are encoded, also those that only serve as the gold score of others
        rows = self.source.pairs(self.short, subset).rows
        columns = {
            "sentence1": [row.sentence1 for row in rows],
            "sentence2": [row.sentence2 for row in rows],
            # mteb needs a number in every row; `_calculate_scores` puts the model's own similarity in its place
            "score": [0.0 if row.gold is None else row.gold for row in rows],
        }
        return datasets.Dataset.from_dict(columns)

    def _evaluate_subset(self, model: Any, data_split: Any, **options: Any) -> Any:
        self._subset = options["hf_subset"]  # which pairs `_calculate_scores` is asked for
        return super()._evaluate_subset(model, data_split, **options)

    def _calculate_scores(self, scores: Any, normalized_scores: list[float]) -> Any:
        """Return our scores in place of mteb's, from the cosine similarities that it computed; NaN is an InputError."""
        pairs = self.source.pairs(self.short, self._subset)
        values = np.array(scores["cosine_scores"], dtype=np.float64)
        if not np.isfinite(values).all():
            row = pairs.rows[int((~np.isfinite(values)).argmax())]
            raise InputError(
                f"{self.metadata.name}, {self._subset}: the similarity of the pair {row.id!r} is not a number; load "
                "the model in float32"
            )
        # The cosine of two equal float32 vectors is often a little above 1
        similarities = Similarities(self.short, pairs, np.clip(values, -1.0, 1.0))
        self.predictions[TEST, self._subset] = similarities
        return scores_for_json(score_subset(similarities).scores)


def sts_metadata(
    name: str, description: str, *, main_score: str = MAIN_SCORES[STS], sample_creation: str = "found", **fields: Any
) -> TaskMetadata:
    """Return the metadata of a similarity task, with the fields that all or most have alike."""
    return TaskMetadata(
        main_score=main_score,
        sample_creation=sample_creation,
        name=name,
        description=description,
        type="STS",
        category="t2t",
        modalities=["text"],
        eval_splits=[TEST],
        domains=["Written"],
        task_subtypes=[],
        dialect=[],
        bibtex_citation=None,
        contributed_by="turkic-idiom-tasks",
        **fields,
    )
