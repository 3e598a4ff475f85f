"""Queries, documents and relevance judgements (qrels) of the retrieval tasks, built from entries."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from turkic_idiom_tasks.dataset.similarity import complete_entries
from turkic_idiom_tasks.errors import refuse_faults, usage_error
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT, Language, target_codes
from turkic_idiom_tasks.lexicon.entries import SAME, Lexicon
from turkic_idiom_tasks.lexicon.support import supported
from turkic_idiom_tasks.splits import TEST, retrieval_split


@dataclass(frozen=True, slots=True)
class RetrievalTask:
    """What a task retrieves."""

    name: str  # class and task name in mteb
    short: str  # ``T1``, used on the command line, in results and in config names of the Hub layout
    document: Literal["idiom", "meaning", "paraphrase"]  # field of an entry
    cross_lingual: bool  # whether the queries are Turkish for every target language, or in that of the documents
    query: Literal["idiom", "original"] = "idiom"  # field of an entry

    @property
    def subsets(self) -> dict[str, tuple[Language, Language]]:
        """Return subset name -> (language of the queries, language of the documents)."""
        if not self.cross_lingual:
            pairs = {language.subset: (language, language) for language in LANGUAGES.values()}
            needs_literal = self.query == "original"
            return {name: pair for name, pair in pairs.items() if pair[0].literal_sentences or not needs_literal}
        pivot = LANGUAGES[PIVOT]
        return {f"{pivot.subset}-{LANGUAGES[code].subset}": (pivot, LANGUAGES[code]) for code in target_codes()}


TASKS: dict[str, RetrievalTask] = {
    "T1": RetrievalTask("TurkicIdiomT1", "T1", document="idiom", cross_lingual=True),
    "T2": RetrievalTask("TurkicIdiomT2", "T2", document="meaning", cross_lingual=False),
    "T3": RetrievalTask("TurkicIdiomT3", "T3", document="meaning", cross_lingual=True),
    "T4": RetrievalTask("TurkicIdiomT4", "T4", "paraphrase", False, query="original"),
}
# Fields of an entry that are documents of T4 and traps; such a document's id is ``tur:CONCEPT/FIELD``
LITERAL_FIELDS = ("literal_paraphrase", "literal_example")
PAPER_TASKS = ("T1", "T2", "T3")  # of the paper; what commands evaluate unless they are asked for others


@dataclass(frozen=True, slots=True)
class RetrievalData:
    """One subset of a task."""

    queries: Mapping[str, str]  # id -> text, in the order of the lexicon
    documents: Mapping[str, str]  # id -> text, the whole pool
    qrels: Mapping[str, Mapping[str, int]]  # query id -> document id -> 1 for its relevant documents, at least one
    # The same for the documents of the query's own concepts alone, without those of concepts that were judged to mean
    # the same; None if nothing was judged.
    strict_qrels: Mapping[str, Mapping[str, int]] | None = None


class Pool:
    """One subset with its ids in a fixed order, so that a position stands for a query or document."""

    def __init__(self, task: str, subset: str, data: RetrievalData) -> None:
        self.task = task
        self.subset = subset
        self.data = data
        self.language = target_language(task, subset).code  # of the documents
        self.queries = tuple(sorted(data.queries))  # (Q,) ids
        # (Q,) what is resampled together: of ``tur:turn-a-blind-eye`` the concept ``turn-a-blind-eye``
        self.concepts = tuple(query.partition(":")[2] or query for query in self.queries)
        self.documents = tuple(sorted(data.documents))  # (N,) ids
        self.row = {query: position for position, query in enumerate(self.queries)}
        self.column = {document: position for position, document in enumerate(self.documents)}
        strict_qrels = data.qrels if data.strict_qrels is None else data.strict_qrels
        self.relevant: list[list[int]] = []  # (Q,) positions of the relevant documents of each query, sorted
        self.strictly_relevant: list[list[int]] = []  # of those of its own concepts
        # (Q,) position of the sentence that says the literal words of a query of T4, if the pool has it
        self.rivals = [self.column.get(f"{query}/literal_paraphrase") for query in self.queries]
        for query in self.queries:
            self.relevant.append(sorted(self.column[document] for document in data.qrels[query]))
            self.strictly_relevant.append(sorted(self.column[document] for document in strict_qrels[query]))

    def scored_documents(self, row: int) -> list[int]:
        """Return the positions of the documents whose places decide the scores of a query."""
        rival = self.rivals[row]
        return self.relevant[row] if rival is None else [*self.relevant[row], rival]


def find_task(name: str) -> RetrievalTask:
    """Return a task by its full or short name, in any case."""
    for task in TASKS.values():
        if name.lower() in (task.name.lower(), task.short.lower()):
            return task
    known = ", ".join(f"{task.name} ({task.short})" for task in TASKS.values())
    raise usage_error(f"unknown task {name!r}; known: {known}")


def target_language(task: str, subset: str) -> Language:
    """Return the language of the documents of a subset; `task` is the short name."""
    return TASKS[task].subsets[subset][1]


def build_retrieval(
    lexicon: Lexicon, task: str, subset: str, *, split: str = TEST, with_unsupported: bool = False
) -> RetrievalData | None:
    """Return queries, pool and judgements of one subset, or None when the lexicon has nothing for it.

    The queries are the idioms of the concepts in `split`, except collocations. A concept whose entry in the target
    language needs support and has none (`lexicon.support`) is a test query only with `with_unsupported`, to be counted.
    """
    spec = TASKS[task]
    source, target = spec.subsets[subset]
    if spec.query == "original":
        return _build_paraphrase_retrieval(lexicon, target, split=split)
    documents: dict[str, str] = {}
    document_of: dict[str, str] = {}  # concept -> document id; a text is one document, named by its first concept
    by_text: dict[str, str] = {}
    for concept, entry in sorted(lexicon.of(target.code).items()):
        text = getattr(entry, spec.document)
        # In a test the pool is ALL entries, as in the paper; for other splits it is those that training may see.
        if text is not None and (split == TEST or retrieval_split(concept) != TEST):
            document_of[concept] = by_text.setdefault(text, f"{target.subset}:{concept}")
            documents[document_of[concept]] = text

    # An idiom may stand for several concepts, some of them in another split: their documents answer its query as well.
    concepts_of: dict[str, list[str]] = {}  # idiom -> its concepts in the pool, whatever their split
    for concept, entry in lexicon.of(source.code).items():
        if concept in document_of:
            concepts_of.setdefault(entry.idiom, []).append(concept)

    asks_all = split != TEST or with_unsupported
    askable = document_of.keys() if asks_all else document_of.keys() & supported(lexicon, target.code)
    same = lexicon.judged(SAME)
    queries: dict[str, str] = {}
    qrels: dict[str, dict[str, int]] = {}
    strict_qrels: dict[str, dict[str, int]] = {}
    seen: set[str] = set()
    for concept, entry in sorted(lexicon.of(source.code).items()):
        # Of concepts with the same idiom the first one asks, for the documents of all of them.
        if retrieval_split(concept) != split or concept not in askable or entry.idiom in seen or entry.collocation:
            continue
        seen.add(entry.idiom)
        query = f"{source.subset}:{concept}"
        queries[query] = entry.idiom
        # A document of a concept that was judged to mean the same answers a query as well as one of its own.
        own = concepts_of[entry.idiom]
        interchangeable = set(own).union(*(same.get(name, ()) for name in own))
        strict_qrels[query] = dict.fromkeys(sorted({document_of[name] for name in own}), 1)
        right = {document_of[name] for name in interchangeable if name in document_of}
        qrels[query] = dict.fromkeys(sorted(right), 1)
    return RetrievalData(queries, documents, qrels, strict_qrels) if queries else None


def _build_paraphrase_retrieval(lexicon: Lexicon, language: Language, *, split: str) -> RetrievalData | None:
    """Return sentences with an idiom as queries, and their paraphrases among sentences with literal words.

    The latter have the words of the query, and so are traps (after IdioLink, arXiv 2605.22247).
    """
    documents: dict[str, str] = {}
    by_text: dict[str, str] = {}
    for concept, entry in sorted(lexicon.of(language.code).items()):
        if split != TEST and retrieval_split(concept) == TEST:
            continue
        for field in ("paraphrase", *LITERAL_FIELDS):
            text = getattr(entry, field)
            if text is not None and text not in by_text:
                by_text[text] = f"{language.subset}:{concept}/{field}"
                documents[by_text[text]] = text
    queries: dict[str, str] = {}
    qrels: dict[str, dict[str, int]] = {}
    for concept, entry in sorted(complete_entries(lexicon, language.code, split=split).items()):
        # Two queries with the same words would each count the paraphrase of the other as wrong.
        if entry.original in queries.values():
            continue
        query = f"{language.subset}:{concept}"
        queries[query] = entry.original or ""
        qrels[query] = {by_text[entry.paraphrase or ""]: 1}
    return RetrievalData(queries, documents, qrels) if queries else None


def check_retrieval(data: RetrievalData, *, place: str) -> None:
    """Raise an InputError that begins with the place unless queries, documents and judgements fit together."""
    problems = [] if data.queries else ["no queries"]
    strict_qrels = data.qrels if data.strict_qrels is None else data.strict_qrels
    for kind, qrels in (("qrels", data.qrels), ("strict qrels", strict_qrels)):
        for query, documents in qrels.items():
            if query not in data.queries:
                problems.append(f"{kind} name the query {query!r}, which is not among the queries")
            for document in documents:
                if document not in data.documents:
                    problems.append(f"query {query!r} names the document {document!r}, which is not in the corpus")
                elif document not in data.qrels.get(query, ()):
                    problems.append(f"query {query!r} has {document!r} in its strict qrels only; add it to the qrels")
        for query in data.queries:
            if query not in qrels:
                problems.append(f"query {query!r} has no relevant document in the {kind}")
    refuse_faults(problems, place=f"{place}: ")
