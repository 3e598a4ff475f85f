"""Base class of the similarity tasks of mteb: sentence pairs whose gold score may be the model's own.

As `mteb_tasks`, this module imports submodules of mteb, never names from ``mteb``.
"""

from __future__ import annotations

from typing import Any

import datasets
import mteb  # noqa: F401  # complete before its parts are used, unless it is mteb that imports us
import numpy as np
from mteb.abstasks.sts import AbsTaskSTS
from mteb.abstasks.task_metadata import TaskMetadata

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.similarity import STS
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses.mteb_data import DatasetTask
from turkic_idiom_tasks.results.predictions import Similarities
from turkic_idiom_tasks.results.scored import MAIN_SCORES, score_subset
from turkic_idiom_tasks.splits import TEST


class IdiomSTS(DatasetTask, AbsTaskSTS):
    """Similarity of sentence pairs, whose gold score may be the model's own similarity of another pair.

    The rows that mteb encodes are all pairs, also those that only serve as the gold score of others.
    """

    min_score = 0
    max_score = 1
    abstask_prompt = "Retrieve semantically similar text."

    def subsets_of(self, source: Dataset) -> tuple[str, ...]:
        """Return the subsets with sentence pairs in some data; see `DatasetTask`."""
        subsets = source.pair_subsets(self.short)
        if not subsets:
            source.pairs(self.short, next(iter(type(self).metadata.eval_langs)))  # raises what is missing
        return subsets

    def load_subset(self, source: Dataset, subset: str) -> datasets.Dataset:
        """Return the pairs of a subset as rows."""
        rows = source.pairs(self.short, subset).rows
        columns = {
            "sentence1": [row.sentence1 for row in rows],
            "sentence2": [row.sentence2 for row in rows],
            "score": [0.0 if row.gold is None else row.gold for row in rows],
        }
        return datasets.Dataset.from_dict(columns)

    def _evaluate_subset(self, model: Any, data_split: Any, **options: Any) -> Any:
        self._subset = options["hf_subset"]  # which pairs `_calculate_scores` is asked for
        return super()._evaluate_subset(model, data_split, **options)

    def _calculate_scores(self, scores: Any, normalized_scores: list[float]) -> Any:
        """Return our scores from the cosine similarities that mteb's evaluator computed; they replace mteb's.

        Raises:
            InputError: a similarity is NaN.
        """
        pairs = self.source().pairs(self.short, self._subset)
        values = np.array(scores["cosine_scores"], dtype=np.float64)
        if not np.isfinite(values).all():
            row = pairs.rows[int((~np.isfinite(values)).argmax())]
            raise InputError(
                f"{self.metadata.name}, {self._subset}: the similarity of the pair {row.id!r} is not a number; load "
                "the model in float32"
            )
        similarities = Similarities(self.short, pairs, np.clip(values, -1.0, 1.0))
        self.predictions[TEST, self._subset] = similarities
        return dict(score_subset(similarities).scores)


def sts_metadata(name: str, description: str, **fields: Any) -> TaskMetadata:
    """Return the metadata of a similarity task, with the fields that all have alike."""
    return TaskMetadata(
        name=name,
        description=description,
        type="STS",
        category="t2t",
        modalities=["text"],
        eval_splits=[TEST],
        main_score=MAIN_SCORES[STS],
        domains=["Written"],
        task_subtypes=[],
        dialect=[],
        bibtex_citation=None,
        contributed_by="turkic-idiom-tasks",
        **fields,
    )
