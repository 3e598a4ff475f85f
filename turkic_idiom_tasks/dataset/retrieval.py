"""From entries to queries, corpus and relevance judgements (qrels) of the three retrieval tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT, TARGETS, Language
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.orthography import share_stem
from turkic_idiom_tasks.splits import DEVELOPMENT, TEST, retrieval_split


@dataclass(frozen=True, slots=True)
class RetrievalTask:
    """What a task retrieves.

    Attributes:
        name: class and task name in mteb.
        short: ``T1``, used on the command line, in results and in config names of the Hub layout.
        document: the field of an entry that is retrieved; the query is always an idiom.
        cross_lingual: whether the queries are Turkish for every target language, or in the language of the documents.
    """

    name: str
    short: str
    document: Literal["idiom", "meaning"]
    cross_lingual: bool

    @property
    def subsets(self) -> dict[str, tuple[Language, Language]]:
        """Subset name -> (language of the queries, language of the documents)."""
        if not self.cross_lingual:
            return {language.subset: (language, language) for language in LANGUAGES.values()}
        pivot = LANGUAGES[PIVOT]
        return {f"{pivot.subset}-{LANGUAGES[code].subset}": (pivot, LANGUAGES[code]) for code in TARGETS}


TASKS: dict[str, RetrievalTask] = {
    "T1": RetrievalTask("TurkicIdiomT1", "T1", document="idiom", cross_lingual=True),
    "T2": RetrievalTask("TurkicIdiomT2", "T2", document="meaning", cross_lingual=False),
    "T3": RetrievalTask("TurkicIdiomT3", "T3", document="meaning", cross_lingual=True),
}
SUBSETS: dict[str, tuple[str, ...]] = {short: tuple(task.subsets) for short, task in TASKS.items()}


@dataclass(frozen=True, slots=True)
class RetrievalData:
    """One subset of a task.

    Attributes:
        queries: query id -> text, in the order of the lexicon.
        documents: document id -> text, the whole pool.
        qrels: query id -> document id -> 1 for its relevant documents, at least one.
    """

    queries: Mapping[str, str]
    documents: Mapping[str, str]
    qrels: Mapping[str, Mapping[str, int]]


class Pool:
    """One subset with its ids in a fixed order, so that a position stands for a query or document.

    Rankings are written as positions, and scores are computed from them.

    Attributes:
        task: short name.
        subset: its name.
        language: code of the language of the documents.
        queries: (Q,) ids, sorted.
        concepts: (Q,) the concept of each query; queries of one concept are resampled together.
        documents: (N,) ids, sorted.
        relevant: (Q,) for each query the positions of its relevant documents, sorted.
        row: query id -> position.
        column: document id -> position.
    """

    def __init__(self, task: str, subset: str, data: RetrievalData) -> None:
        self.task = task
        self.subset = subset
        self.language = target_language(task, subset).code
        self.queries = tuple(sorted(data.queries))
        self.concepts = tuple(concept_of(query) for query in self.queries)
        self.documents = tuple(sorted(data.documents))
        self.row = {query: position for position, query in enumerate(self.queries)}
        self.column = {document: position for position, document in enumerate(self.documents)}
        self.relevant: list[list[int]] = []
        for query in self.queries:
            self.relevant.append(sorted(self.column[document] for document in data.qrels[query]))


def find_task(name: str) -> RetrievalTask:
    """Return a task by its full or short name, in any case.

    Raises:
        InputError: there is none of that name; lists the known ones.
    """
    for task in TASKS.values():
        if name.lower() in (task.name.lower(), task.short.lower()):
            return task
    known = ", ".join(f"{task.name} ({task.short})" for task in TASKS.values())
    raise usage_error(f"unknown task {name!r}; known: {known}")


def target_language(task: str, subset: str) -> Language:
    """Return the language of the documents of a subset; `task` is the short name."""
    return TASKS[task].subsets[subset][1]


def concept_of(identifier: str) -> str:
    """Return the concept of a query or document id: ``tur:turn-a-blind-eye`` -> ``turn-a-blind-eye``."""
    return identifier.partition(":")[2] or identifier


def build_retrieval(lexicon: Lexicon, task: str, subset: str, *, split: str = TEST) -> RetrievalData | None:
    """Return queries, pool and judgements of one subset, or None when the lexicon has nothing for it.

    The queries are the idioms of the concepts in `split`. For the test split the pool is ALL entries of the target
    language, as in the paper; for the development split it is the entries outside the test split, which training may
    not see. Entries with equal texts are one document, queries with equal texts one query; a query's relevant
    documents are those of every concept of the pool that its idiom expresses.

    Args:
        lexicon: the entries.
        task: short name, ``T1``.
        subset: one of `SUBSETS[task]`.
        split: ``test`` or ``development``.
    """
    if split not in (TEST, DEVELOPMENT):
        raise ValueError(f"queries come from the test or the development split, not from {split!r}")
    spec = TASKS[task]
    source, target = spec.subsets[subset]
    pool = dict(sorted(lexicon.of(target.code).items()))
    if split != TEST:
        pool = {concept: entry for concept, entry in pool.items() if retrieval_split(concept) != TEST}
    documents, document_of = _merge_documents(pool, spec.document, target)

    relevant: dict[str, dict[str, int]] = {}  # idiom -> its documents, whatever the split of the concept
    for concept, entry in lexicon.of(source.code).items():
        if concept in document_of:
            relevant.setdefault(entry.idiom, {})[document_of[concept]] = 1

    queries: dict[str, str] = {}
    qrels: dict[str, dict[str, int]] = {}
    seen: set[str] = set()
    for concept, entry in sorted(lexicon.of(source.code).items()):
        if retrieval_split(concept) != split or concept not in document_of or entry.idiom in seen:
            continue
        seen.add(entry.idiom)
        query = f"{source.subset}:{concept}"
        queries[query] = entry.idiom
        qrels[query] = dict(sorted(relevant[entry.idiom].items()))
    return RetrievalData(queries, documents, qrels) if queries else None


def check_retrieval(data: RetrievalData, *, place: str) -> None:
    """Make sure that queries, documents and judgements fit together.

    Args:
        data: one subset, from a dataset that somebody else made.
        place: where it was read, for the message.

    Raises:
        InputError: a judgement names an unknown id, a query has no relevant document, or there are no queries.
    """
    for query, documents in data.qrels.items():
        if query not in data.queries:
            raise InputError(f"{place}: qrels name the query {query!r}, which is not among the queries")
        for document in documents:
            if document not in data.documents:
                raise InputError(
                    f"{place}: query {query!r} names the document {document!r}, which is not in the corpus"
                )
    if not data.queries:
        raise InputError(f"{place}: no queries")
    for query in data.queries:
        if query not in data.qrels:
            raise InputError(f"{place}: query {query!r} has no relevant document")


def queries_with_shared_stem(data: RetrievalData, task: str, subset: str) -> frozenset[str]:
    """Return the queries that have a content word in common with a relevant document, as far as spelling shows."""
    source, target = TASKS[task].subsets[subset]
    shared = set()
    for query, documents in data.qrels.items():
        for document in documents:
            if share_stem(data.queries[query], source, data.documents[document], target):
                shared.add(query)
                break
    return frozenset(shared)


def _merge_documents(
    entries: Mapping[str, Entry], field: str, language: Language
) -> tuple[dict[str, str], dict[str, str]]:
    """Return (document id -> text, concept -> document id); a text is one document, named by its first concept."""
    documents: dict[str, str] = {}
    document_of: dict[str, str] = {}
    by_text: dict[str, str] = {}
    for concept, entry in entries.items():
        text = getattr(entry, field)
        if text is None:
            continue
        document = by_text.setdefault(text, f"{language.subset}:{concept}")
        documents[document] = text
        document_of[concept] = document
    return documents, document_of
