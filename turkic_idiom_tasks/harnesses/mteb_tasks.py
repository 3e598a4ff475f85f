"""Task classes of mteb, and the benchmark of the retrieval tasks."""

from typing import Any

import datasets

# The start-up hook imports this module while mteb itself is only partly imported, so names come from its submodules
import mteb  # noqa: F401  # complete before its parts are used, unless it is mteb that imports us
from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.retrieval_dataset_loaders import RetrievalSplitData
from mteb.abstasks.task_metadata import TaskMetadata
from mteb.benchmarks.benchmark import Benchmark

from turkic_idiom_tasks.dataset import BUNDLED_PATH
from turkic_idiom_tasks.dataset.retrieval import PAPER_TASKS, TASKS
from turkic_idiom_tasks.dataset.similarity import SIMILARITY_TASKS, STS
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses import mteb_plugin
from turkic_idiom_tasks.harnesses.mteb_data import DatasetTask, IdiomSTS, scores_for_json, sts_metadata
from turkic_idiom_tasks.harnesses.siblings.mteb_siblings import AStitchIdiomSTS, ChengyuSTS, SemEvalIdiomSTS
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT, names, target_codes
from turkic_idiom_tasks.lexicon.load import BUNDLED, content_revision
from turkic_idiom_tasks.results.predictions import Rankings
from turkic_idiom_tasks.results.scored import MAIN_SCORES, score_subset
from turkic_idiom_tasks.splits import TEST

BENCHMARK_NAME = "TurkicIdiom(v1)"
_PIVOT, _TARGETS = LANGUAGES[PIVOT].name, names(target_codes(), "or")
_CITATION = r"""
@article{aslantas2026turkic,
  author = {Aslanta{\c{s}}, G{\"o}zde and G{\"u}ng{\"o}r, Tunga},
  title = {A Unified Turkic Idiom Understanding Benchmark: Idiom Detection and Semantic Retrieval
    Across Five Turkic Languages},
  year = {2026},
}
"""
REFERENCE = "https://github.com/gozdeaslantas/Turkic_Idiom_Understanding_Benchmark"


class TurkicIdiomRetrieval(DatasetTask, AbsTaskRetrieval):
    """Retrieval over the whole pool."""

    abstask_prompt = "Retrieve the text with the same meaning as the given idiom."

    def present_subsets(self) -> tuple[str, ...]:
        """Return the subsets with queries; see `DatasetTask`."""
        self.source.check_task(self.short)
        return self.source.subsets(self.short)

    def load_subset(self, subset: str) -> RetrievalSplitData:
        """Return the queries, corpus and judgements of a subset."""
        data = self.source.retrieval(self.short, subset)
        queries = {"id": list(data.queries), "text": list(data.queries.values())}
        corpus = {"id": list(data.documents), "text": list(data.documents.values())}
        return RetrievalSplitData(
            corpus=datasets.Dataset.from_dict(corpus),
            queries=datasets.Dataset.from_dict(queries),
            relevant_docs={query: dict(documents) for query, documents in data.qrels.items()},
            top_ranked=None,
        )

    def _evaluate_subset(self, model: Any, data_split: RetrievalSplitData, **kwargs: Any) -> Any:
        # The paper's nDCG has no cut-off: rank the whole pool
        self._top_k = len(data_split["corpus"])
        return super()._evaluate_subset(model, data_split, **kwargs)

    def task_specific_scores(
        self, scores: Any, qrels: Any, results: dict[str, dict[str, float]], hf_split: str, hf_subset: str
    ) -> dict[str, Any]:
        """Return our scores of one subset from mteb's ranking of the whole pool; NaN in it is an InputError."""
        pool = self.source.pool(self.short, hf_subset)
        try:
            rankings = Rankings.from_retrieved(pool, results)
        except ValueError as error:
            raise InputError(f"{pool.task}, {pool.subset}: {error}; load the model in float32") from error
        self.predictions[hf_split, hf_subset] = rankings
        # They replace those of mteb, which breaks ties by document id; ours are expected values over ties
        # (`metrics.ranking`)
        return scores_for_json(score_subset(rankings).scores)


def make_benchmark() -> Benchmark:
    """Return the benchmark of the three tasks, on the data in use when it is made."""
    return Benchmark(
        name=BENCHMARK_NAME,
        aliases=("TurkicIdiom",),
        display_name="Turkic idioms",
        tasks=tuple(CLASS_OF_TASK[short]() for short in PAPER_TASKS),
        description=(
            f"Idiom retrieval in {names(LANGUAGES, 'and')}: idiom to idiom across languages, idiom to meaning, and "
            "idiom to meaning across languages."
        ),
        reference=REFERENCE,
        citation=_CITATION,
    )


def _metadata(short: str, description: str, *, prompt: str) -> TaskMetadata:
    task = TASKS[short]
    languages = {}
    for subset, pair in task.subsets.items():
        languages[subset] = list(dict.fromkeys(language.script_code for language in pair))
    return TaskMetadata(
        name=task.name,
        description=description,
        reference=REFERENCE,
        dataset={"path": BUNDLED_PATH, "revision": content_revision(BUNDLED)},
        type="Retrieval",
        category="t2t",
        modalities=["text"],
        eval_splits=[TEST],
        eval_langs=languages,
        # T4 is not of the paper, and its nDCG is high for every model that compares letters
        main_score="sense_accuracy" if task.query == "original" else MAIN_SCORES[short],
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
        f"Given a {_PIVOT} idiom, retrieve the idiom with the same meaning in {_TARGETS} from all idioms of that "
        "language.",
        prompt=f"Given a {_PIVOT} idiom, retrieve the idiom with the same figurative meaning in another Turkic "
        "language",
    )


class TurkicIdiomT2(TurkicIdiomRetrieval):
    """Idiom -> its meaning in the same language."""

    short = "T2"
    metadata = _metadata(
        "T2",
        f"Given an idiom in {names(LANGUAGES, 'or')}, retrieve its dictionary-style definition from all definitions in "
        "the same language.",
        prompt="Given an idiom, retrieve the definition of its figurative meaning in the same language",
    )


class TurkicIdiomT3(TurkicIdiomRetrieval):
    """Turkish idiom -> its meaning in another language."""

    short = "T3"
    metadata = _metadata(
        "T3",
        f"Given a {_PIVOT} idiom, retrieve the definition of its meaning in {_TARGETS} from all definitions in that "
        "language.",
        prompt=f"Given a {_PIVOT} idiom, retrieve the definition of its figurative meaning in another Turkic language",
    )


class TurkicIdiomT4(TurkicIdiomRetrieval):
    """Sentence with an idiom -> the sentence with the idiom replaced by what it means."""

    short = "T4"
    metadata = _metadata(
        "T4",
        f"Given a sentence with an idiom in {names(SIMILARITY_TASKS[STS].languages.values(), 'or')}, retrieve its "
        "paraphrase from all paraphrases and all sentences with the literal words of idioms in the same language.",
        prompt="Given a sentence with an idiom, retrieve the sentence that says the same without the idiom",
    )


class TurkicIdiomSTS(IdiomSTS):
    """Sentences with Turkic idioms, and the same sentences reworded, from the lexicon."""

    short = STS
    metadata = sts_metadata(
        "TurkicIdiomSTS",
        f"Idiomatic semantic textual similarity in {names(SIMILARITY_TASKS[STS].languages.values(), 'and')}: a "
        "sentence with an idiom should be as similar to its paraphrase as can be, and to a literal rewording as the "
        "paraphrase is.",
        main_score="sense_accuracy",  # Spearman over all pairs is high for every model that tells sentences apart
        reference="https://aclanthology.org/2021.findings-emnlp.294",
        dataset={"path": BUNDLED_PATH, "revision": content_revision(BUNDLED)},
        eval_langs={subset: [LANGUAGES[code].script_code] for subset, code in SIMILARITY_TASKS[STS].languages.items()},
        date=("2026-01-01", "2026-12-31"),
        license="cc-by-4.0",
        annotations_creators="LM-generated",
        sample_creation="LM-generated and verified",
    )


IdiomTask = TurkicIdiomRetrieval | IdiomSTS
_RETRIEVAL = (TurkicIdiomT1, TurkicIdiomT2, TurkicIdiomT3, TurkicIdiomT4)
_SIMILARITY = (TurkicIdiomSTS, AStitchIdiomSTS, ChengyuSTS, SemEvalIdiomSTS)
TASK_CLASSES: dict[str, type[IdiomTask]] = {task.__name__: task for task in (*_RETRIEVAL, *_SIMILARITY)}
CLASS_OF_TASK = {task.short: task for task in TASK_CLASSES.values()}

mteb_plugin.add_late()  # if this module was imported before mteb; does nothing while the hook is running
