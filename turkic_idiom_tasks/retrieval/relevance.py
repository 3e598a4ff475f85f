"""From entries to queries, corpus and relevance judgements of the three retrieval tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT, TARGETS, Language
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.orthography import share_stem
from turkic_idiom_tasks.splits import retrieval_split


@dataclass(frozen=True, slots=True)
class RetrievalTask:
    """What a task retrieves.

    Attributes:
        name: class and task name in mteb.
        short: ``T1``, used in config names of the Hub layout.
        document: the field of an entry that is retrieved, ``idiom`` or ``meaning``; the query is always an idiom.
        cross_lingual: queries in Turkish for every target language, or in the language of the documents.
    """

    name: str
    short: str
    document: str
    cross_lingual: bool

    @property
    def subsets(self) -> dict[str, tuple[Language, Language]]:
        """Subset name -> (language of the queries, language of the documents)."""
        if not self.cross_lingual:
            return {language.subset: (language, language) for language in LANGUAGES.values()}
        pivot = LANGUAGES[PIVOT]
        return {f"{pivot.subset}-{LANGUAGES[code].subset}": (pivot, LANGUAGES[code]) for code in TARGETS}


TASKS: dict[str, RetrievalTask] = {
    task.short: task
    for task in (
        RetrievalTask("TurkicIdiomT1", "T1", document="idiom", cross_lingual=True),
        RetrievalTask("TurkicIdiomT2", "T2", document="meaning", cross_lingual=False),
        RetrievalTask("TurkicIdiomT3", "T3", document="meaning", cross_lingual=True),
    )
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


def find_task(name: str) -> RetrievalTask:
    """A task by its full or short name, in any case.

    Raises:
        InputError: there is none of that name; lists the known ones.
    """
    for task in TASKS.values():
        if name.lower() in (task.name.lower(), task.short.lower()):
            return task
    known = ", ".join(f"{task.name} ({task.short})" for task in TASKS.values())
    raise usage_error(f"unknown task {name!r}; known: {known}")


def build_retrieval(lexicon: Lexicon, task: str, subset: str) -> RetrievalData | None:
    """Queries, pool and judgements of one subset, or None when the lexicon has nothing for it.

    Queries are the test concepts' idioms; the pool is ALL entries of the target language, as in the paper. Entries with
    equal texts are one document, queries with equal texts one query; a query's relevant documents are those of every
    concept that its idiom expresses.

    Args:
        lexicon: the entries.
        task: short name, ``T1``.
        subset: one of `SUBSETS[task]`.
    """
    spec = TASKS[task]
    source, target = spec.subsets[subset]
    documents, document_of = _merged_documents(lexicon.of(target.code), spec.document, target)
    relevant: dict[str, dict[str, int]] = {}  # idiom -> its documents, whatever the split of the concept
    for concept, entry in lexicon.of(source.code).items():
        if concept in document_of:
            relevant.setdefault(entry.idiom, {})[document_of[concept]] = 1
    queries: dict[str, str] = {}
    qrels: dict[str, dict[str, int]] = {}
    seen: set[str] = set()
    for concept, entry in sorted(lexicon.of(source.code).items()):
        is_query = retrieval_split(concept) == "test" and concept in document_of
        if not is_query or entry.idiom in seen:
            continue
        seen.add(entry.idiom)
        query = f"{source.subset}:{concept}"
        queries[query] = entry.idiom
        qrels[query] = dict(sorted(relevant[entry.idiom].items()))
    if not queries:
        return None
    return RetrievalData(queries, documents, qrels)


def queries_with_shared_stem(data: RetrievalData, task: str, subset: str) -> frozenset[str]:
    """The queries that have a content word in common with one of their relevant documents, as far as spelling shows."""
    source, target = TASKS[task].subsets[subset]
    return frozenset(
        query
        for query, documents in data.qrels.items()
        if any(share_stem(data.queries[query], source, data.documents[document], target) for document in documents)
    )


def concept_of(identifier: str) -> str:
    """The concept of a query or document id: ``tur:turn-a-blind-eye`` -> ``turn-a-blind-eye``."""
    return identifier.partition(":")[2] or identifier


def _merged_documents(
    entries: Mapping[str, Entry], field: str, language: Language
) -> tuple[dict[str, str], dict[str, str]]:
    """(document id -> text, concept -> document id); a text is one document, named by its first concept."""
    documents: dict[str, str] = {}
    document_of: dict[str, str] = {}
    by_text: dict[str, str] = {}
    for concept, entry in sorted(entries.items()):
        text = getattr(entry, field)
        if text is None:
            continue
        document = by_text.setdefault(text, f"{language.subset}:{concept}")
        documents[document] = text
        document_of[concept] = document
    return documents, document_of
