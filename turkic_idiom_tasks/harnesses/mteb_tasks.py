"""Task classes of mteb for the retrieval tasks, and the benchmark of these tasks.

The start-up hook imports this module while mteb itself is only partly imported, so it imports submodules of mteb, never
names from ``mteb``.
"""

from __future__ import annotations

import logging
import os
import tempfile
from pathlib import Path
from typing import Any

import datasets
import mteb  # noqa: F401  # complete before its parts are used, unless it is mteb that imports us
import numpy as np
from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.retrieval_dataset_loaders import RetrievalSplitData
from mteb.abstasks.task_metadata import TaskMetadata
from mteb.benchmarks.benchmark import Benchmark

from turkic_idiom_tasks.dataset import BUNDLED_PATH, Dataset
from turkic_idiom_tasks.dataset.retrieval import PAPER_TASKS, TASKS, Pool, RetrievalData
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses import DATA_VARIABLE
from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.harnesses.hook import extend_late
from turkic_idiom_tasks.lexicon.load import BUNDLED, content_revision
from turkic_idiom_tasks.results.predictions import Rankings
from turkic_idiom_tasks.results.scored import MAIN_SCORES, score_subset
from turkic_idiom_tasks.splits import TEST

log = logging.getLogger("turkic_idiom_tasks")

BENCHMARK_NAME = "TurkicIdiom(v1)"
_COMPUTING: set[str] = set()  # tasks whose descriptive statistics are being computed
_CITATION = r"""
@article{aslantas2026turkic,
  author = {Aslanta{\c{s}}, G{\"o}zde and G{\"u}ng{\"o}r, Tunga},
  title = {A Unified Turkic Idiom Understanding Benchmark: Idiom Detection and Semantic Retrieval
    Across Five Turkic Languages},
  year = {2026},
}
"""
REFERENCE = "https://github.com/gozdeaslantas/Turkic_Idiom_Understanding_Benchmark"


class TurkicIdiomMetadata(TaskMetadata):
    """mteb's metadata, with descriptive statistics that are computed from the data in use, not stored in mteb."""

    @property
    def descriptive_stat_path(self) -> Path:
        """Return the path of a cache file that is named after the dataset revision, so that it is never outdated."""
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = root / "turkic-idiom-tasks" / "descriptive_stats" / self.revision
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            folder = Path(tempfile.gettempdir()) / "turkic-idiom-tasks" / self.revision
        return Path(folder / f"{self.name}.json")

    @property
    def descriptive_stats(self) -> Any:
        """Return mteb's own descriptive statistics of this task, which are computed when they are first needed."""
        if not self.descriptive_stat_path.exists() and self.name not in _COMPUTING:
            _COMPUTING.add(self.name)  # mteb reads the old statistics before it computes new ones
            try:
                TASK_CLASSES[self.name]().calculate_descriptive_statistics(overwrite_results=True)
            finally:
                _COMPUTING.discard(self.name)
        return super().descriptive_stats


class TurkicIdiomRetrieval(AbsTaskRetrieval):
    """Retrieval over the whole pool.

    Attributes:
        short: ``T1``, ``T2`` or ``T3``.
        predictions: (split, subset) -> rankings of the last evaluation.
    """

    short: str
    metadata: TurkicIdiomMetadata
    data_loaded: bool
    abstask_prompt = "Retrieve the text with the same meaning as the given idiom."

    def __init__(self, *args: Any, dataset: Dataset | None = None, **kwargs: Any) -> None:
        """Make a task on a dataset; without one, on the data that TURKIC_IDIOM_DATA names, or the bundled lexicon.

        mteb's cache knows a task by its name alone. For a task on a dataset of your own pass ``cache=None`` or
        ``overwrite_strategy="always"`` to `mteb.evaluate`; otherwise it may give scores of the data in use.
        """
        self._source = dataset
        self._is_named_by_environment = dataset is None
        self._problem: InputError | None = None
        self.predictions: dict[tuple[str, str], Rankings] = {}
        try:
            if self._source is None:
                self._source = current_dataset()
            self.metadata = _metadata_for(type(self).metadata, self.short, self._source)
        except InputError as error:  # listing tasks must work; `load_data` raises it
            self._problem = error
            unreadable = {"path": os.environ.get(DATA_VARIABLE, ""), "revision": "unreadable"}
            self.metadata = type(self).metadata.model_copy(update={"dataset": unreadable})
        self._metadata_of_data = self.metadata
        super().__init__(*args, **kwargs)

    def load_data(self, num_proc: int | None = None, *, timer: Any = None, **kwargs: Any) -> None:
        """Load the queries, corpus and judgements of the chosen subsets.

        Raises:
            InputError: the data in TURKIC_IDIOM_DATA cannot be used.
        """
        if self.data_loaded:
            return
        if self._problem is not None or self._source is None:
            raise self._problem or InputError("no data")
        missing = [subset for subset in TASKS[self.short].subsets if subset not in self.metadata.hf_subsets]
        if missing and self._is_named_by_environment:  # our own commands report this themselves
            log.warning("%s: %s has no data for %s; left out", self.metadata.name, self._source.path, " ".join(missing))
        self.dataset = {}
        for subset in self.hf_subsets:
            self.dataset[subset] = {TEST: _split_data(self._source.retrieval(self.short, subset))}
        self.dataset_transform()
        self.data_loaded = True

    def unload_data(self) -> None:
        """Free the memory of the data; keep the metadata, which mteb would reset to those of the class."""
        super().unload_data()
        self.metadata = self._metadata_of_data

    @classmethod
    def data_in_use(cls) -> tuple[str, str]:
        """Return the path and revision of the data that the stock command would evaluate on.

        Raises:
            InputError: the data in TURKIC_IDIOM_DATA cannot be used.
        """
        dataset = current_dataset()
        return dataset.path, dataset.revision

    def _evaluate_subset(self, model: Any, data_split: RetrievalSplitData, **kwargs: Any) -> Any:
        self._top_k = len(data_split["corpus"])  # the paper's nDCG has no cut-off: rank the whole pool
        return super()._evaluate_subset(model, data_split, **kwargs)

    def task_specific_scores(
        self,
        scores: dict[str, dict[str, float]],
        qrels: Any,
        results: dict[str, dict[str, float]],
        hf_split: str,
        hf_subset: str,
    ) -> dict[str, float]:
        """Return our scores of one subset from mteb's ranking of the whole pool; they replace mteb's scores.

        mteb's nDCG and recall break ties by document id; ours are expected values over ties (see `metrics.ranking`).

        Raises:
            InputError: a similarity is NaN.
        """
        if self._source is None:
            raise InputError("no data")
        rankings = _rankings_of_results(self._source.pool(self.short, hf_subset), results)
        self.predictions[hf_split, hf_subset] = rankings
        return dict(score_subset(rankings).scores)


def make_benchmark() -> Benchmark:
    """Return the benchmark of the three tasks, on the data in use when it is made."""
    return Benchmark(
        name=BENCHMARK_NAME,
        aliases=("TurkicIdiom",),
        display_name="Turkic idioms",
        tasks=tuple(TASK_CLASSES[TASKS[short].name]() for short in PAPER_TASKS),
        description=(
            "Idiom retrieval in Turkish, Azerbaijani, Turkmen, Gagauz and Uzbek: idiom to idiom across languages, "
            "idiom to meaning, and idiom to meaning across languages."
        ),
        reference=REFERENCE,
        citation=None,
    )


def _metadata_for(metadata: TurkicIdiomMetadata, short: str, dataset: Dataset) -> TurkicIdiomMetadata:
    """Return the metadata of the class with the subsets, path and revision of the data in use."""
    dataset.check_task(short)
    changes = {
        "dataset": {"path": dataset.path, "revision": dataset.revision},
        "eval_langs": {subset: metadata.eval_langs[subset] for subset in dataset.subsets(short)},
    }
    changed: TurkicIdiomMetadata = metadata.model_copy(update=changes)
    return changed


def _split_data(data: RetrievalData) -> RetrievalSplitData:
    queries = {"id": list(data.queries), "text": list(data.queries.values())}
    corpus = {"id": list(data.documents), "text": list(data.documents.values())}
    return RetrievalSplitData(
        corpus=datasets.Dataset.from_dict(corpus),
        queries=datasets.Dataset.from_dict(queries),
        relevant_docs={query: dict(documents) for query, documents in data.qrels.items()},
        top_ranked=None,
    )


def _rankings_of_results(pool: Pool, results: dict[str, dict[str, float]]) -> Rankings:
    """Return rankings from the results of mteb's search, query id -> document id -> similarity."""
    similarities = np.full((len(pool.queries), len(pool.documents)), -np.inf)  # for documents that were not retrieved
    for query, retrieved in results.items():
        columns = [pool.column[document] for document in retrieved]
        similarities[pool.row[query], columns] = list(retrieved.values())
    try:
        return Rankings.from_similarities(pool, similarities)
    except ValueError as error:
        raise InputError(f"{pool.task}, {pool.subset}: {error}; load the model in float32") from error


def _metadata(short: str, description: str, *, prompt: str) -> TurkicIdiomMetadata:
    task = TASKS[short]
    languages = {}
    for subset, (source, target) in task.subsets.items():
        languages[subset] = list(dict.fromkeys((source.script_code, target.script_code)))
    return TurkicIdiomMetadata(
        name=task.name,
        description=description,
        reference=REFERENCE,
        dataset={"path": BUNDLED_PATH, "revision": content_revision(BUNDLED)},
        type="Retrieval",
        category="t2t",
        modalities=["text"],
        eval_splits=[TEST],
        eval_langs=languages,
        main_score=MAIN_SCORES[short],
        date=("2026-01-01", "2026-12-31"),
        domains=["Written", "Constructed"],
        task_subtypes=["Cross-Lingual Semantic Discrimination"] if task.cross_lingual else [],
        license="cc-by-4.0",
        annotations_creators="LM-generated",
        dialect=[],
        sample_creation="LM-generated and verified",
        prompt={"query": prompt},
        bibtex_citation=_CITATION,
        contributed_by="turkic-idiom-tasks",
    )


class TurkicIdiomT1(TurkicIdiomRetrieval):
    """Turkish idiom -> idiom of the same meaning in another Turkic language."""

    short = "T1"
    metadata = _metadata(
        "T1",
        "Given a Turkish idiom, retrieve the idiom with the same meaning in Azerbaijani, Turkmen, Gagauz or Uzbek "
        "from all idioms of that language.",
        prompt="Given a Turkish idiom, retrieve the idiom with the same figurative meaning in another Turkic language",
    )


class TurkicIdiomT2(TurkicIdiomRetrieval):
    """Idiom -> its meaning in the same language."""

    short = "T2"
    metadata = _metadata(
        "T2",
        "Given an idiom in Turkish, Azerbaijani, Turkmen, Gagauz or Uzbek, retrieve its dictionary-style definition "
        "from all definitions in the same language.",
        prompt="Given an idiom, retrieve the definition of its figurative meaning in the same language",
    )


class TurkicIdiomT3(TurkicIdiomRetrieval):
    """Turkish idiom -> its meaning in another language."""

    short = "T3"
    metadata = _metadata(
        "T3",
        "Given a Turkish idiom, retrieve the definition of its meaning in Azerbaijani, Turkmen, Gagauz or Uzbek from "
        "all definitions in that language.",
        prompt="Given a Turkish idiom, retrieve the definition of its figurative meaning in another Turkic language",
    )


class TurkicIdiomT4(TurkicIdiomRetrieval):
    """Sentence with an idiom -> the sentence with the idiom replaced by what it means."""

    short = "T4"
    metadata = _metadata(
        "T4",
        "Given a sentence with an idiom in Turkish, Azerbaijani, Uzbek or Turkmen, retrieve its paraphrase from all "
        "paraphrases and all sentences with the literal words of idioms in the same language.",
        prompt="Given a sentence with an idiom, retrieve the sentence that says the same without the idiom",
    )


TASK_CLASSES: dict[str, type[TurkicIdiomRetrieval]] = {
    "TurkicIdiomT1": TurkicIdiomT1,
    "TurkicIdiomT2": TurkicIdiomT2,
    "TurkicIdiomT3": TurkicIdiomT3,
    "TurkicIdiomT4": TurkicIdiomT4,
}

extend_late()  # registers if this module was imported before mteb; does nothing while the hook is running
