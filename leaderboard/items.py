"""What the pages say of single queries and sentences: texts, right answers, the hardest ones, scores to be compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.retrieval import TASKS
from turkic_idiom_tasks.languages import LANGUAGES, get_language
from turkic_idiom_tasks.metrics.ranking import random_ndcg
from turkic_idiom_tasks.results.predictions import SPANS
from turkic_idiom_tasks.results.scored import ScoredSubset

N_HARDEST = 3  # of each subset


@dataclass(frozen=True, slots=True, eq=False)
class SubsetItems:
    """Queries or sentences of one subset.

    Attributes:
        task: short name.
        name: ``tur-azj``, or the language code for spans.
        language: code of the language of the documents or sentences.
        floor: nDCG of a random ranking; 0 for spans.
        pool: number of documents that are ranked; None for spans.
        concepts: (n,) the concept of each query or sentence; those of one concept are resampled together.
        texts: id -> text of the queries or sentences, sorted by id.
        answers: id -> what would have been right: the texts of the relevant documents, or the idiom in the sentence.
        n_right: id -> number of relevant documents, or of idioms in the sentence.
    """

    task: str
    name: str
    language: str
    floor: float
    pool: int | None
    concepts: tuple[str, ...]
    texts: Mapping[str, str]
    answers: Mapping[str, str]
    n_right: Mapping[str, int]

    @property
    def key(self) -> str:
        """``T1/tur-azj``."""
        return f"{self.task}/{self.name}"

    @property
    def n(self) -> int:
        """Number of queries or sentences."""
        return len(self.texts)


@dataclass(frozen=True, slots=True, eq=False)
class BoardData:
    """What a leaderboard was scored on, as its pages show it.

    Attributes:
        path: as results name it.
        revision: content hash or commit, 40 hexadecimal digits.
        subsets: in the order of the tasks and languages.
    """

    path: str
    revision: str
    subsets: tuple[SubsetItems, ...]

    def of_task(self, task: str) -> tuple[SubsetItems, ...]:
        """Return the subsets of one task."""
        return tuple(subset for subset in self.subsets if subset.task == task)

    def find(self, task: str, name: str) -> SubsetItems | None:
        """Return a subset, or None if the data does not have it."""
        for subset in self.subsets:
            if (subset.task, subset.name) == (task, name):
                return subset
        return None

    @property
    def tasks(self) -> tuple[str, ...]:
        """Tasks that the data has, in order."""
        return tuple(dict.fromkeys(subset.task for subset in self.subsets))

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages, in the project's order."""
        present = {subset.language for subset in self.subsets}
        return tuple(code for code in LANGUAGES if code in present)


@dataclass(frozen=True, slots=True)
class HardItem:
    """A query or sentence that a model failed on.

    Attributes:
        language: code of the language of the text.
        text: the idiom that was given, or the sentence.
        answer: what would have been right: document, or idiom in the sentence.
        answer_language: code of its language.
        result: what the model did, in words.
    """

    language: str
    text: str
    answer: str
    answer_language: str
    result: str


def board_data(dataset: Dataset) -> BoardData:
    """Return what the pages show of a dataset."""
    subsets = []
    for task in TASKS:
        for name in dataset.subsets(task):
            subsets.append(_retrieval_items(dataset, task, name))
    for language in dataset.span_languages:
        subsets.append(_sentence_items(dataset, language))
    return BoardData(dataset.path, dataset.revision, tuple(subsets))


def _retrieval_items(dataset: Dataset, task: str, name: str) -> SubsetItems:
    data, pool = dataset.retrieval(task, name), dataset.pool(task, name)
    texts, answers, n_right, floors = {}, {}, {}, []
    for query in pool.queries:
        texts[query] = data.queries[query]
        answers[query] = " / ".join(data.documents[document] for document in data.qrels[query])
        n_right[query] = len(data.qrels[query])
        floors.append(random_ndcg(len(data.documents), n_right[query]))
    return SubsetItems(
        task=task,
        name=name,
        language=pool.language,
        floor=sum(floors) / len(floors),
        pool=len(data.documents),
        concepts=pool.concepts,
        texts=texts,
        answers=answers,
        n_right=n_right,
    )


def _sentence_items(dataset: Dataset, language: str) -> SubsetItems:
    sentences = dataset.test_sentences(language)
    texts, answers, n_right = {}, {}, {}
    for row in sentences.rows:
        texts[row.id] = row.sentence
        answers[row.id] = row.idiom
        n_right[row.id] = len(row.spans())
    return SubsetItems(
        task=SPANS,
        name=language,
        language=language,
        floor=0.0,
        pool=None,
        concepts=sentences.concepts,
        texts=texts,
        answers=answers,
        n_right=n_right,
    )


def hardest(scores: Iterable[ScoredSubset], data: BoardData) -> list[HardItem]:
    """Return the items with the lowest scores, the same number from each subset."""
    items: list[HardItem] = []
    for score in scores:
        subset = data.find(score.task, score.subset)
        if subset is not None:
            find = _hardest_sentences if score.task == SPANS else _hardest_queries
            items.extend(find(score, subset))
    return items


def _hardest_queries(score: ScoredSubset, subset: SubsetItems) -> Iterator[HardItem]:
    rows = [(ndcg, item) for item, (ndcg, _) in zip(score.items, score.sums.tolist(), strict=True)]
    language = get_language(subset.name.partition("-")[0]).code
    for ndcg, item in sorted(rows)[:N_HARDEST]:
        result = _rank_result(ndcg, subset, n_relevant=subset.n_right[item])
        yield HardItem(language, subset.texts[item], subset.answers[item], subset.language, result)


def _rank_result(ndcg: float, subset: SubsetItems, *, n_relevant: int) -> str:
    """Return the rank of the only relevant document, whose nDCG is 1 / log2(1 + rank) or, in a tie, a mean of such."""
    if n_relevant > 1:
        return f"nDCG {ndcg:.3f}"
    return f"rank {2 ** (1 / ndcg) - 1:.0f} of {subset.pool}"


def _hardest_sentences(score: ScoredSubset, subset: SubsetItems) -> Iterator[HardItem]:
    """Yield the sentences of the lowest F1; of equal ones those with the most mistakes first."""
    rows = []
    for item, (numerator, denominator) in zip(score.items, score.sums.tolist(), strict=True):
        f1 = numerator / denominator if denominator else 1.0
        rows.append((f1, -denominator, item, numerator / 2))
    for _, negative_denominator, item, n_correct in sorted(rows)[:N_HARDEST]:
        n_gold = subset.n_right[item]
        n_wrong = -negative_denominator - n_gold - n_correct
        wrong = f", {n_wrong:g} wrong" if n_wrong > 0 else ""
        result = f"{n_correct:g} of {n_gold:g} found{wrong}"
        yield HardItem(subset.language, subset.texts[item], subset.answers[item], subset.language, result)


def item_values(scores: Iterable[ScoredSubset]) -> dict[str, list[float]]:
    """Return ``T1/tur-azj`` -> nDCG of each query, or for each sentence numerator and denominator of its span F1."""
    values = {}
    for score in scores:
        columns = score.sums if score.task == SPANS else score.sums[:, 0]
        values[f"{score.task}/{score.subset}"] = [_short(value) for value in columns.ravel().tolist()]
    return values


def _short(value: float) -> float:
    """Return a whole number without its ``.0``; every other number keeps all its digits."""
    return int(value) if value == int(value) else value


def items_json(data: BoardData) -> dict[str, list[str]]:
    """Return ``T1/tur-azj`` -> ids of the queries or sentences, in the order of `item_values`."""
    return {subset.key: list(subset.texts) for subset in data.subsets}
