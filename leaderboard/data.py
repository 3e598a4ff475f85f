"""What the pages say of the data that was scored: subsets, sizes, floors, and the texts of queries and sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from leaderboard.records import RETRIEVAL_TASKS, SPANS
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES


@dataclass(frozen=True, slots=True, eq=False)
class Subset:
    """One subset of a task.

    Attributes:
        task: one of `records.TASKS`.
        name: ``tur-azj``, or the language code for spans.
        language: code of the language of the documents or sentences.
        floor: nDCG of a random ranking; 0 for spans.
        pool: number of documents that are ranked; None for spans.
        texts: id -> text of the queries or sentences, sorted by id.
        answers: id -> what would have been right: the texts of the relevant documents, or the idiom in the sentence.
        n_relevant: id -> number of relevant documents; empty for spans.
    """

    task: str
    name: str
    language: str
    floor: float
    pool: int | None
    texts: Mapping[str, str]
    answers: Mapping[str, str]
    n_relevant: Mapping[str, int]

    @property
    def key(self) -> str:
        """``T1/tur-azj``."""
        return f"{self.task}/{self.name}"

    @property
    def n(self) -> int:
        """Number of queries or sentences."""
        return len(self.texts)


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """The data set of a leaderboard.

    Attributes:
        path: as results name it.
        revision: content hash or commit, 40 hexadecimal digits.
        subsets: in the order of the tasks and languages.
    """

    path: str
    revision: str
    subsets: tuple[Subset, ...]

    def of_task(self, task: str) -> tuple[Subset, ...]:
        """The subsets of one task."""
        return tuple(subset for subset in self.subsets if subset.task == task)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that the data has, in order."""
        return tuple(dict.fromkeys(subset.task for subset in self.subsets))

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages, in the project's order."""
        have = {subset.language for subset in self.subsets}
        return tuple(code for code in LANGUAGES if code in have)


def current_data() -> Data:
    """The data that TURKIC_IDIOM_DATA names, otherwise the bundled lexicon.

    Raises:
        InputError: it cannot be used.
    """
    from turkic_idiom_tasks.retrieval.source import current_source

    source = current_source()
    retrieval = [_retrieval_subset(task, subset) for task in RETRIEVAL_TASKS for subset in source.subsets(task)]
    return Data(source.path, source.revision, (*retrieval, *_span_subsets()))


def _retrieval_subset(task: str, subset: str) -> Subset:
    from turkic_idiom_tasks.metrics.ranking import random_ndcg
    from turkic_idiom_tasks.retrieval.relevance import TASKS
    from turkic_idiom_tasks.retrieval.source import current_source

    data = current_source().load(task, subset)
    n_relevant = {query: len(data.qrels[query]) for query in sorted(data.queries)}
    floors = [random_ndcg(len(data.documents), n) for n in n_relevant.values()]
    return Subset(
        task=task,
        name=subset,
        language=TASKS[task].subsets[subset][1].code,
        floor=sum(floors) / len(floors),
        pool=len(data.documents),
        texts={query: data.queries[query] for query in n_relevant},
        answers={query: " / ".join(data.documents[one] for one in data.qrels[query]) for query in n_relevant},
        n_relevant=n_relevant,
    )


def _span_subsets() -> list[Subset]:
    from turkic_idiom_tasks.span_detection.sentences import current_spans

    try:
        spans = current_spans()
    except InputError:  # the data has been read: it has no annotated sentences
        return []
    found = []
    for language in spans.languages:
        rows = sorted(spans.load(language)["test"], key=lambda row: row.id)
        found.append(
            Subset(
                task=SPANS,
                name=language,
                language=language,
                floor=0.0,
                pool=None,
                texts={row.id: row.sentence for row in rows},
                answers={row.id: row.idiom for row in rows},
                n_relevant={},
            )
        )
    return found
