"""Task classes of mteb for idiomatic similarity: Turkic pairs from the lexicon, AStitchInLanguageModels, ChengyuSTS.

As `mteb_tasks`, this module imports submodules of mteb, never names from ``mteb``.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import datasets
import mteb  # noqa: F401  # complete before its parts are used, unless it is mteb that imports us
import numpy as np
from mteb.abstasks.sts import AbsTaskSTS
from mteb.abstasks.task_metadata import TaskMetadata

from turkic_idiom_tasks.dataset import BUNDLED_PATH, Dataset
from turkic_idiom_tasks.dataset.similarity import ASTITCH_STS, CHENGYU_STS, SIMILARITY_LANGUAGES, STS
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.harnesses.hook import extend_late
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.load import BUNDLED, content_revision
from turkic_idiom_tasks.results.predictions import Similarities
from turkic_idiom_tasks.results.scored import MAIN_SCORES, score_subset
from turkic_idiom_tasks.splits import TEST
from turkic_idiom_tasks.tasks.siblings.astitch import ASTITCH_SOURCE, astitch_dataset
from turkic_idiom_tasks.tasks.siblings.chengyu import CHENGYU_SUBSET, chengyu_dataset

UNREADABLE = "unreadable"  # in place of the revision, as long as the data was not read


class IdiomSTS(AbsTaskSTS):
    """Similarity of sentence pairs, whose gold score may be the model's own similarity of another pair.

    The rows that mteb encodes are all pairs, also those that only serve as the gold score of others.

    Attributes:
        short: name of the task in our results.
        predictions: (split, subset) -> similarities of the last evaluation.
    """

    short: str
    metadata: TaskMetadata
    data_loaded: bool
    min_score = 0
    max_score = 1
    abstask_prompt = "Retrieve semantically similar text."

    def __init__(self, *args: Any, dataset: Dataset | None = None, **kwargs: Any) -> None:
        """Make a task on a dataset; without one, on the data that the environment names.

        Listing tasks works without data, and `load_data` raises what is wrong with it. mteb's cache knows a task by its
        name alone, see `TurkicIdiomRetrieval`.
        """
        self.predictions: dict[tuple[str, str], Similarities] = {}
        self._source = dataset
        self._problem: InputError | None = None
        eval_langs = type(self).metadata.eval_langs
        changes: dict[str, Any]
        try:
            if self._source is None:
                self._source = self.open_data()
            subsets = self._source.pair_subsets(self.short)
            if not subsets:
                self._source.pairs(self.short, next(iter(eval_langs)))  # raises
            changes = {"dataset": {"path": self._source.path, "revision": self._source.revision}}
            changes["eval_langs"] = {subset: eval_langs[subset] for subset in subsets}
        except InputError as error:
            self._problem = error
            changes = {"dataset": {"path": type(self).metadata.dataset["path"], "revision": UNREADABLE}}
        self.metadata = type(self).metadata.model_copy(update=changes)
        self._metadata_of_data = self.metadata
        super().__init__(*args, **kwargs)

    @classmethod
    @abstractmethod
    def open_data(cls) -> Dataset:
        """Return the data that the environment names, or the bundled data.

        Raises:
            InputError: it cannot be used.
        """

    @classmethod
    def data_in_use(cls) -> tuple[str, str]:
        """Return the path and revision of the data that the stock command would evaluate on.

        Raises:
            InputError: the data cannot be used.
        """
        task = cls()
        if task._problem is not None:
            raise task._problem
        source = task.metadata.dataset
        return source["path"], source["revision"]

    def load_data(self, num_proc: int | None = None, *, timer: Any = None, **kwargs: Any) -> None:
        """Load the pairs of the chosen subsets.

        Raises:
            InputError: the data cannot be used.
        """
        if self.data_loaded:
            return
        if self._problem is not None or self._source is None:
            raise self._problem or InputError("no data")
        self.dataset = {}
        for subset in self.hf_subsets:
            rows = self._source.pairs(self.short, subset).rows
            columns = {
                "sentence1": [row.sentence1 for row in rows],
                "sentence2": [row.sentence2 for row in rows],
                "score": [0.0 if row.gold is None else row.gold for row in rows],
            }
            self.dataset[subset] = {TEST: datasets.Dataset.from_dict(columns)}
        self.data_loaded = True

    def unload_data(self) -> None:
        """Free the memory of the data; keep the metadata, which mteb would reset to those of the class."""
        super().unload_data()
        self.metadata = self._metadata_of_data

    def _evaluate_subset(self, model: Any, data_split: Any, **options: Any) -> Any:
        self._subset = options["hf_subset"]  # which pairs `_calculate_scores` is asked for
        return super()._evaluate_subset(model, data_split, **options)

    def _calculate_scores(self, scores: Any, normalized_scores: list[float]) -> Any:
        """Return our scores from the cosine similarities that mteb's evaluator computed; they replace mteb's.

        Raises:
            InputError: a similarity is NaN.
        """
        if self._source is None:
            raise InputError("no data")
        pairs = self._source.pairs(self.short, self._subset)
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


def _metadata(name: str, description: str, **fields: Any) -> TaskMetadata:
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


class TurkicIdiomSTS(IdiomSTS):
    """Sentences with Turkic idioms, and the same sentences reworded, from the lexicon."""

    short = STS
    metadata = _metadata(
        "TurkicIdiomSTS",
        "Idiomatic semantic textual similarity in Turkish, Azerbaijani, Uzbek and Turkmen: a sentence with an idiom "
        "should be as similar to its paraphrase as can be, and to a literal rewording as the paraphrase is.",
        reference="https://aclanthology.org/2021.findings-emnlp.294",
        dataset={"path": BUNDLED_PATH, "revision": content_revision(BUNDLED)},
        eval_langs={LANGUAGES[code].subset: [LANGUAGES[code].script_code] for code in SIMILARITY_LANGUAGES},
        date=("2026-01-01", "2026-12-31"),
        license="cc-by-4.0",
        annotations_creators="LM-generated",
        sample_creation="LM-generated and verified",
    )

    @classmethod
    def open_data(cls) -> Dataset:
        """Return the data that TURKIC_IDIOM_DATA names, or the bundled lexicon."""
        return current_dataset()


class AStitchIdiomSTS(IdiomSTS):
    """English and Portuguese sentences with idiomatic noun compounds, from AStitchInLanguageModels."""

    short = ASTITCH_STS
    metadata = _metadata(
        "AStitchIdiomSTS",
        "Idiomatic semantic textual similarity of AStitchInLanguageModels, Task 2, mixed with general pairs.",
        reference="https://aclanthology.org/2021.findings-emnlp.294",
        dataset={"path": ASTITCH_SOURCE, "revision": UNREADABLE},
        eval_langs={"eng": ["eng-Latn"], "por": ["por-Latn"]},
        date=("2020-01-01", "2021-12-31"),
        license="gpl-3.0",
        annotations_creators="human-annotated",
        sample_creation="found",
    )

    @classmethod
    def open_data(cls) -> Dataset:
        """Return the test pairs from the folder that ASTITCH_DATA names."""
        return astitch_dataset()


class ChengyuSTS(IdiomSTS):
    """Chinese sentences with four-character idioms."""

    short = CHENGYU_STS
    metadata = _metadata(
        "ChengyuSTS",
        "Idiomatic semantic textual similarity of Chinese sentences with chengyu, mixed with general pairs.",
        reference=None,
        dataset={"path": "ChengyuSTS", "revision": UNREADABLE},
        eval_langs={CHENGYU_SUBSET: ["cmn-Hans"]},
        date=("2024-01-01", "2025-12-31"),
        license="not specified",
        annotations_creators="LM-generated and reviewed",
        sample_creation="found",
    )

    @classmethod
    def open_data(cls) -> Dataset:
        """Return the test pairs from the folder that CHENGYU_STS_DATA names."""
        return chengyu_dataset()


SIMILARITY_CLASSES: dict[str, type[IdiomSTS]] = {
    "TurkicIdiomSTS": TurkicIdiomSTS,
    "AStitchIdiomSTS": AStitchIdiomSTS,
    "ChengyuSTS": ChengyuSTS,
}

extend_late()  # registers if this module was imported before mteb; does nothing while the hook is running
