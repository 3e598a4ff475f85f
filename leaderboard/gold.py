"""What submissions are checked and scored against: the queries, pools, judgements and tags of the data in use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.experiments.compared_results import idiom_clusters
from turkic_idiom_tasks.lexicon.sources import asked_data
from turkic_idiom_tasks.retrieval.relevance import SUBSETS, TASKS, RetrievalData, concept_of
from turkic_idiom_tasks.retrieval.source import open_source
from turkic_idiom_tasks.span_detection.sentences import TaggedSentence, open_spans


class Pool:
    """One subset of a retrieval task; queries and documents are sorted, and known by their position.

    Attributes:
        task: short name.
        subset: its name.
        language: code of the language of the documents.
        queries: ids, (Q).
        concepts: the concept of each.
        documents: ids, (N).
        qrels: query -> its relevant documents.
        row: query -> position.
    """

    def __init__(self, task: str, subset: str, data: RetrievalData) -> None:
        self.task = task
        self.subset = subset
        self.language = TASKS[task].subsets[subset][1].code
        self.queries = tuple(sorted(data.queries))
        self.concepts = tuple(map(concept_of, self.queries))
        self.documents = tuple(sorted(data.documents))
        self.qrels: Mapping[str, Mapping[str, int]] = {query: data.qrels[query] for query in self.queries}
        self.row = {query: position for position, query in enumerate(self.queries)}

    @cached_property
    def column(self) -> dict[str, int]:
        """Document -> position."""
        return {document: position for position, document in enumerate(self.documents)}

    @cached_property
    def text_length(self) -> int:
        """Characters of the positions of all documents with commas between them, in any order."""
        return len(",".join(map(str, range(len(self.documents)))))


class Sentences:
    """The test sentences of one language, sorted by id.

    Attributes:
        language: its code.
        rows: the sentences.
        row: id -> position.
        clusters: for each sentence what names its idiom in every language, as far as the data says: in a lexicon the
            concept.
    """

    def __init__(self, language: str, test: Sequence[TaggedSentence]) -> None:
        self.language = language
        self.rows = tuple(sorted(test, key=lambda sentence: sentence.id))
        self.row = {sentence.id: position for position, sentence in enumerate(self.rows)}
        names = idiom_clusters(self.rows)
        self.clusters = tuple(names[sentence.id] for sentence in self.rows)


@dataclass(frozen=True, slots=True, eq=False)
class Gold:
    """The data of a leaderboard.

    Attributes:
        path: what it was read from, as results name it.
        revision: content hash or Hub commit, 40 hexadecimal digits.
        pools: task -> subset -> its queries and documents; tasks and subsets in their usual order.
        sentences: language -> its test sentences.
    """

    path: str
    revision: str
    pools: Mapping[str, Mapping[str, Pool]]
    sentences: Mapping[str, Sentences]


def read_gold() -> Gold:
    """The data that TURKIC_IDIOM_DATA names, otherwise the bundled lexicon.

    Raises:
        InputError: it cannot be used.
    """
    source = open_source(asked_data())
    pools = {
        task: {subset: Pool(task, subset, source.load(task, subset)) for subset in source.subsets(task)}
        for task in SUBSETS
    }
    try:
        spans = open_spans(asked_data())
    except InputError:  # the data has been read: it has no annotated sentences
        return Gold(source.path, source.revision, pools, {})
    sentences = {code: Sentences(code, spans.load(code)["test"]) for code in spans.languages}
    return Gold(source.path, source.revision, pools, sentences)
