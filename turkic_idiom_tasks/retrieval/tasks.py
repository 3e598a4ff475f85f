"""The retrieval tasks as mteb task classes.

The start-up hook imports this module while mteb itself is half imported, so it imports submodules of mteb, never
names from ``mteb``.
"""

from __future__ import annotations

import logging
import os
import tempfile
from pathlib import Path
from typing import Any

import mteb  # noqa: F401  # complete before its parts are used, unless it is mteb that imports us
from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.retrieval_dataset_loaders import RetrievalSplitData
from mteb.abstasks.task_metadata import TaskMetadata

from turkic_idiom_tasks.errors import InputError, for_command_line
from turkic_idiom_tasks.lexicon.sources import BUNDLED_PATH, DATA_VARIABLE
from turkic_idiom_tasks.retrieval.ranking import SubsetRanking
from turkic_idiom_tasks.retrieval.relevance import TASKS, RetrievalData
from turkic_idiom_tasks.retrieval.source import SPLIT, DataSource, bundled_revision, current_source, subsets_or_error
from turkic_idiom_tasks.startup.hook import extend_late

log = logging.getLogger("turkic_idiom_tasks")

MAIN_SCORE = "ndcg"
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
    """mteb's metadata, with descriptive statistics computed from the data in use instead of stored inside mteb."""

    @property
    def descriptive_stat_path(self) -> Path:
        """A cache file named after the dataset revision, so that it can never be out of date."""
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = root / "turkic-idiom-tasks" / "descriptive_stats" / self.revision
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            folder = Path(tempfile.gettempdir()) / "turkic-idiom-tasks" / self.revision
        return Path(folder / f"{self.name}.json")

    @property
    def descriptive_stats(self) -> Any:
        """Mteb's own descriptive statistics of this task, computed when they are first asked for."""
        if not self.descriptive_stat_path.exists() and self.name not in _COMPUTING:
            _COMPUTING.add(self.name)  # mteb asks for the old statistics before it computes new ones
            try:
                TASK_CLASSES[self.name]().calculate_descriptive_statistics(overwrite_results=True)
            finally:
                _COMPUTING.discard(self.name)
        return super().descriptive_stats


class TurkicIdiomRetrieval(AbsTaskRetrieval):
    """Retrieval over the whole pool, on the bundled lexicon or on what TURKIC_IDIOM_DATA names.

    Attributes:
        short: ``T1``, ``T2`` or ``T3``.
        data: subset -> queries, documents and judgements, once loaded.
        rankings: (split, subset) -> what the last evaluation found, for intervals and ranking files.
    """

    short: str
    metadata: TurkicIdiomMetadata
    data_loaded: bool
    abstask_prompt = "Retrieve the text with the same meaning as the given idiom."

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._source: DataSource | None = None
        self._problem: InputError | None = None
        self.data: dict[str, RetrievalData] = {}
        self.rankings: dict[tuple[str, str], SubsetRanking] = {}
        try:
            self._source = current_source()
            self.metadata = _metadata_for(type(self).metadata, self.short, self._source)
        except InputError as error:  # listing tasks must work; whoever evaluates this one is told
            self._problem = error
            self.metadata = type(self).metadata.model_copy(
                update={"dataset": {"path": os.environ.get(DATA_VARIABLE, ""), "revision": "unreadable"}}
            )
        super().__init__(*args, **kwargs)

    def load_data(self, num_proc: int | None = None, *, timer: Any = None, **kwargs: Any) -> None:
        """Loads the queries, corpus and judgements of the chosen subsets.

        Raises:
            InputError: the data in TURKIC_IDIOM_DATA cannot be used. Under the ``mteb`` command the program ends with
                the message alone.
        """
        if self.data_loaded:
            return
        if self._problem is not None or self._source is None:
            raise for_command_line(self._problem or InputError("no data"))
        missing = [subset for subset in TASKS[self.short].subsets if subset not in self.metadata.hf_subsets]
        if missing:
            log.warning("%s: %s has no data for %s; left out", self.metadata.name, self._source.path, " ".join(missing))
        try:
            data = {subset: self._source.load(self.short, subset) for subset in self.hf_subsets}
        except InputError as error:
            raise for_command_line(error) from error
        self.data = data
        self.dataset = {subset: {SPLIT: _as_datasets(part)} for subset, part in data.items()}
        self.dataset_transform()
        self.data_loaded = True

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
        """Our scores of one subset, from mteb's ranking of the whole pool; they replace mteb's of the same name.

        mteb's nDCG and recall break ties by document id; these take the expected value over ties (see
        `metrics.ranking`).
        """
        ranking = SubsetRanking.from_results(results, list(self.data[hf_subset].documents), qrels=qrels)
        self.rankings[hf_split, hf_subset] = ranking
        return ranking.scores()


def _metadata_for(metadata: TurkicIdiomMetadata, short: str, source: DataSource) -> TurkicIdiomMetadata:
    """The class's metadata with the subsets, path and revision of the data in use."""
    available = subsets_or_error(source, short)
    changes = {
        "dataset": {"path": source.path, "revision": source.revision},
        "eval_langs": {subset: metadata.eval_langs[subset] for subset in available},
    }
    changed: TurkicIdiomMetadata = metadata.model_copy(update=changes)
    return changed


def _as_datasets(data: RetrievalData) -> RetrievalSplitData:
    from datasets import Dataset

    return RetrievalSplitData(
        corpus=Dataset.from_dict({"id": list(data.documents), "text": list(data.documents.values())}),
        queries=Dataset.from_dict({"id": list(data.queries), "text": list(data.queries.values())}),
        relevant_docs={query: dict(documents) for query, documents in data.qrels.items()},
        top_ranked=None,
    )


def refuse_other_data(result: Any, *, place: str) -> None:
    """Raises if a finished result file was computed on other data than the data in use.

    Args:
        result: an mteb TaskResult of one of these tasks.
        place: the output folder, for the message.

    Raises:
        InputError: the dataset revisions differ (under the ``mteb`` command: SystemExit with the message alone).
    """
    try:
        source = current_source()
    except InputError as error:
        raise for_command_line(error) from error
    if result.dataset_revision != source.revision:
        raise for_command_line(
            InputError(
                f"{place} holds {result.task_name} scores of other data (revision {result.dataset_revision[:12]}; "
                f"the data in use is {source.path}, revision {source.revision[:12]}); choose another output folder, or "
                "overwrite them with --overwrite-strategy always (mteb) or --overwrite (turkic-idiom)"
            )
        )


def _metadata(short: str, description: str, prompt: str) -> TurkicIdiomMetadata:
    spec = TASKS[short]
    return TurkicIdiomMetadata(
        name=spec.name,
        description=description,
        reference=REFERENCE,
        dataset={"path": BUNDLED_PATH, "revision": bundled_revision()},
        type="Retrieval",
        category="t2t",
        modalities=["text"],
        eval_splits=[SPLIT],
        eval_langs={
            subset: list(dict.fromkeys(language.script_code for language in languages))
            for subset, languages in spec.subsets.items()
        },
        main_score=MAIN_SCORE,
        date=("2026-01-01", "2026-12-31"),
        domains=["Written", "Constructed"],
        task_subtypes=["Cross-Lingual Semantic Discrimination"] if spec.cross_lingual else [],
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
        "Given a Turkish idiom, retrieve the idiom with the same figurative meaning in another Turkic language",
    )


class TurkicIdiomT2(TurkicIdiomRetrieval):
    """Idiom -> its meaning in the same language."""

    short = "T2"
    metadata = _metadata(
        "T2",
        "Given an idiom in Turkish, Azerbaijani, Turkmen, Gagauz or Uzbek, retrieve its dictionary-style definition "
        "from all definitions in the same language.",
        "Given an idiom, retrieve the definition of its figurative meaning in the same language",
    )


class TurkicIdiomT3(TurkicIdiomRetrieval):
    """Turkish idiom -> its meaning in another language."""

    short = "T3"
    metadata = _metadata(
        "T3",
        "Given a Turkish idiom, retrieve the definition of its meaning in Azerbaijani, Turkmen, Gagauz or Uzbek from "
        "all definitions in that language.",
        "Given a Turkish idiom, retrieve the definition of its figurative meaning in another Turkic language",
    )


TASK_CLASSES: dict[str, type[TurkicIdiomRetrieval]] = {
    task.metadata.name: task for task in (TurkicIdiomT1, TurkicIdiomT2, TurkicIdiomT3)
}

extend_late()  # for the case that this module was imported before mteb; does nothing while the hook is at work
