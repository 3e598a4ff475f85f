"""Retrieval data of whatever TURKIC_IDIOM_DATA names: a lexicon, or a dataset in the Hub layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.lexicon.load import BUNDLED, content_revision
from turkic_idiom_tasks.lexicon.sources import HubDataset, asked_data, open_data
from turkic_idiom_tasks.retrieval.relevance import SUBSETS, TASKS, RetrievalData, build_retrieval

SPLIT = "test"
COLUMNS = {"queries": ("id", "text"), "corpus": ("id", "text"), "qrels": ("query-id", "corpus-id", "score")}


class DataSource(Protocol):
    """Something that retrieval data can be built from."""

    @property
    def path(self) -> str:
        """What it was read from, as results name it."""
        ...

    @property
    def revision(self) -> str:
        """The content hash of a lexicon or local dataset, or the commit on the Hub; 40 hexadecimal digits."""
        ...

    def subsets(self, task: str) -> tuple[str, ...]:
        """The subsets of a task (short name) that this data holds."""
        ...

    def load(self, task: str, subset: str) -> RetrievalData:
        """One of those subsets."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class LexiconSource:
    """Retrieval data derived from a lexicon; `revision` is the hash of its content."""

    path: str
    revision: str
    _data: Mapping[tuple[str, str], RetrievalData]

    @classmethod
    def of(cls, lexicon: Lexicon, path: str) -> LexiconSource:
        """The data of every task and subset that the lexicon can serve."""
        built = {(task, subset): build_retrieval(lexicon, task, subset) for task in TASKS for subset in SUBSETS[task]}
        return cls(path, lexicon.revision, {key: data for key, data in built.items() if data is not None})

    def subsets(self, task: str) -> tuple[str, ...]:
        """The subsets of a task that have at least one test query."""
        return tuple(subset for subset in SUBSETS[task] if (task, subset) in self._data)

    def load(self, task: str, subset: str) -> RetrievalData:
        """One of those subsets."""
        return self._data[task, subset]


@dataclass(frozen=True, slots=True, eq=False)
class HubSource:
    """Retrieval data of a dataset in the Hub layout.

    For each task and subset its README declares the configs ``T1-tur-azj-queries`` and ``-corpus`` (columns id, text)
    and ``-qrels`` (query-id, corpus-id, score), each with a split ``test``.
    """

    dataset: HubDataset

    @classmethod
    def of(cls, dataset: HubDataset) -> HubSource:
        """The source of a dataset.

        Raises:
            InputError: it holds no retrieval task.
        """
        source = cls(dataset)
        if not any(source.subsets(task) for task in TASKS):
            example = "T1-tur-azj-queries, T1-tur-azj-corpus, T1-tur-azj-qrels"
            found = ", ".join(sorted(dataset.configs)[:6]) or "none"
            raise InputError(f"{source.path}: no config of a retrieval task; expected such as {example}; found {found}")
        return source

    @property
    def path(self) -> str:
        """The directory, or the name on the Hub."""
        return self.dataset.path

    @property
    def revision(self) -> str:
        """The content hash, or the commit on the Hub."""
        return self.dataset.revision

    def subsets(self, task: str) -> tuple[str, ...]:
        """The subsets of a task whose three configs are there."""
        configs = self.dataset.configs
        return tuple(s for s in SUBSETS[task] if all(SPLIT in configs.get(f"{task}-{s}-{p}", ()) for p in COLUMNS))

    def load(self, task: str, subset: str) -> RetrievalData:
        """One of those subsets.

        Raises:
            InputError: a config cannot be read, or its ids do not fit together.
        """
        queries, corpus, judgements = (
            self.dataset.columns(f"{task}-{subset}-{part}", SPLIT, wanted) for part, wanted in COLUMNS.items()
        )
        qrels: dict[str, dict[str, int]] = {}
        rows = zip(judgements["query-id"], judgements["corpus-id"], judgements["score"], strict=True)
        for query, document, score in rows:
            if score > 0:
                qrels.setdefault(str(query), {})[str(document)] = int(score)
        data = RetrievalData(
            queries=dict(zip(map(str, queries["id"]), queries["text"], strict=True)),
            documents=dict(zip(map(str, corpus["id"]), corpus["text"], strict=True)),
            qrels=qrels,
        )
        _check_ids(data, f"{self.path}, configs {task}-{subset}-*")
        return data


def current_source() -> DataSource:
    """The data that the tasks use: what TURKIC_IDIOM_DATA names, otherwise the bundled lexicon.

    Raises:
        InputError: it cannot be used; says why.
    """
    return open_source(asked_data())


@lru_cache(maxsize=8)
def open_source(name: str) -> DataSource:
    """The data that `name` stands for, read once per process.

    Args:
        name: a lexicon directory, a local directory in the Hub layout, ``ORG/NAME`` or ``ORG/NAME@REVISION`` on the
            Hub, or empty for the bundled lexicon.

    Raises:
        InputError: there is no such data, it is malformed, or the Hub cannot be reached.
    """
    path, data = open_data(name)
    return LexiconSource.of(data, path) if isinstance(data, Lexicon) else HubSource.of(data)


def bundled_revision() -> str:
    """Content hash of the bundled lexicon, without parsing it."""
    return content_revision(BUNDLED)


def subsets_or_error(source: DataSource, task: str) -> tuple[str, ...]:
    """The subsets of a task that the data holds.

    Raises:
        InputError: there is none; says what the task would need.
    """
    subsets = source.subsets(task)
    if subsets:
        return subsets
    spec = TASKS[task]
    if spec.cross_lingual:
        pivot = LANGUAGES[PIVOT]
        need = f"{pivot.name} ({pivot.code}.jsonl) and at least one other language that share test concepts"
    else:
        need = "at least one language with idioms and meanings among its test concepts"
    raise InputError(f"{source.path}: nothing to evaluate for {spec.name}, which needs {need}; leave it out with -t")


def _check_ids(data: RetrievalData, place: str) -> None:
    for query, documents in data.qrels.items():
        if query not in data.queries:
            raise InputError(f"{place}: qrels name the query {query!r}, which is not among the queries")
        for document in documents:
            if document not in data.documents:
                raise InputError(
                    f"{place}: query {query!r} names the document {document!r}, which is not in the corpus"
                )
    without = next((query for query in data.queries if query not in data.qrels), None)
    if without is not None or not data.queries:
        raise InputError(f"{place}: " + (f"query {without!r} has no relevant document" if without else "no queries"))
