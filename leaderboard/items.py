"""Single queries, sentences and pairs as the pages show them: texts, right answers, scores, and the hardest ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from turkic_idiom_tasks.dataset import BUNDLED_PATH, Dataset
from turkic_idiom_tasks.dataset.retrieval import PAPER_TASKS, TASKS, concept_of, queries_with_shared_stem
from turkic_idiom_tasks.dataset.similarity import NOWHERE, SIMILARITY_TASKS, STS
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES, get_language
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.metrics.ranking import random_ndcg
from turkic_idiom_tasks.results.item_answers import ItemAnswers
from turkic_idiom_tasks.results.predictions import SPANS, Similarities
from turkic_idiom_tasks.results.scored import ScoredSubset
from turkic_idiom_tasks.tasks.items.prompts import option_texts

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
        concepts: (n,) the concept of each query or sentence; the items of one concept are resampled together.
        texts: id -> text of the queries or sentences, sorted by id.
        answers: id -> right answer: the texts of the relevant documents, or the idiom in the sentence.
        n_right: id -> number of relevant documents, or of idioms in the sentence.
        shared_stem: queries that share a word stem with a right answer; None where this does not matter, which is
            everywhere but in the retrieval of idioms.
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
    shared_stem: frozenset[str] | None = None

    @property
    def has_parts(self) -> bool:
        """Return whether the score is made of parts that belong to single items; Spearman's correlation is not."""
        return self.task not in SIMILARITY_TASKS

    @property
    def key(self) -> str:
        """Return task and name, such as ``T1/tur-azj``."""
        return f"{self.task}/{self.name}"

    @property
    def n(self) -> int:
        """Return the number of queries or sentences."""
        return len(self.texts)


@dataclass(frozen=True, slots=True, eq=False)
class BoardData:
    """Data that a leaderboard was scored on, as its pages show it.

    Attributes:
        path: the name of the data in results.
        revision: content hash or commit, 40 hexadecimal digits.
        subsets: in the order of the tasks and languages.
        n_entries: number of entries of the bundled lexicon; 0 for other data, about whose texts the pages say nothing.
        n_reviewed: number of those that native speakers have reviewed.
        lexicon: where the test items come from; None for data with test items only.
    """

    path: str
    revision: str
    subsets: tuple[SubsetItems, ...]
    n_entries: int = 0
    n_reviewed: int = 0
    lexicon: Lexicon | None = None

    @property
    def with_parts(self) -> tuple[SubsetItems, ...]:
        """Return the subsets whose items have a share in the score, so that items and pairs of models are compared."""
        return tuple(subset for subset in self.subsets if subset.has_parts)

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
        """Return the tasks that the data has, in order."""
        return tuple(dict.fromkeys(subset.task for subset in self.subsets))

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the codes of the languages, in the project's order."""
        present = {subset.language for subset in self.subsets}
        return tuple(code for code in LANGUAGES if code in present)


@dataclass(frozen=True, slots=True)
class HardItem:
    """A query or sentence that a model failed on.

    Attributes:
        concept: its concept, which the item browser shows.
        language: code of the language of the text.
        text: the idiom of the query, or the sentence.
        answer: the right answer: a document, or the idiom in the sentence.
        answer_language: code of its language.
        result: what the model did, in words.
    """

    concept: str
    language: str
    text: str
    answer: str
    answer_language: str
    result: str


def board_data(dataset: Dataset, *, extra: Sequence[str] = ()) -> BoardData:
    """Return the subsets of a dataset with their queries and sentences.

    Args:
        dataset: the data.
        extra: tasks beside those of the paper.
    """
    subsets = []
    for task in (*PAPER_TASKS, *extra):
        if task == STS:
            subsets += [_pair_items(dataset, name) for name in dataset.pair_subsets(STS)]
            continue
        for name in dataset.subsets(task):
            subsets.append(_retrieval_items(dataset, task, name))
    for language in dataset.span_languages:
        subsets.append(_sentence_items(dataset, language))
    lexicon = _find_lexicon(dataset)
    n_entries = n_reviewed = 0
    if lexicon and dataset.path == BUNDLED_PATH:
        for language, entries in lexicon.entries.items():
            n_entries += len(entries)
            n_reviewed += len(lexicon.reviewed(language))
    return BoardData(
        dataset.path,
        dataset.revision,
        tuple(subsets),
        n_entries=n_entries,
        n_reviewed=n_reviewed,
        lexicon=lexicon,
    )


def _find_lexicon(dataset: Dataset) -> Lexicon | None:
    try:
        return dataset.lexicon
    except InputError:  # data with test items only
        return None


def _retrieval_items(dataset: Dataset, task: str, name: str) -> SubsetItems:
    data, pool = dataset.retrieval(task, name), dataset.pool(task, name)
    texts, answers, n_right, floors = {}, {}, {}, []
    for query in pool.queries:
        texts[query] = data.queries[query]
        answers[query] = " / ".join(data.documents[document] for document in data.qrels[query])
        n_right[query] = len(data.qrels[query])
        floors.append(random_ndcg(len(data.documents), n_right[query]))
    finds_idioms = TASKS[task].document == "idiom"
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
        shared_stem=queries_with_shared_stem(data, task, name) if finds_idioms else None,
    )


def _pair_items(dataset: Dataset, name: str) -> SubsetItems:
    """Return the scored pairs of a subset; the answer is the second sentence."""
    pairs = dataset.pairs(STS, name)
    rows = [row for row, is_scored in zip(pairs.rows, pairs.is_scored, strict=True) if is_scored]
    return SubsetItems(
        task=STS,
        name=name,
        language=SIMILARITY_TASKS[STS].languages[name],
        floor=0.0,
        pool=None,
        concepts=tuple(row.concept for row in rows),
        texts={row.id: row.sentence1 for row in rows},
        answers={row.id: row.sentence2 for row in rows},
        n_right={row.id: 1 for row in rows},
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
            if score.answers is not None:
                items.extend(_missed_items(score.answers, subset))
            elif score.similarities is not None:
                items.extend(_hardest_pairs(score.similarities, subset.language))
            elif score.task == SPANS:
                items.extend(_hardest_sentences(score, subset))
            else:
                items.extend(_hardest_queries(score, subset))
    return items


def _hardest_queries(score: ScoredSubset, subset: SubsetItems) -> Iterator[HardItem]:
    rows = zip(score.sums[:, 0].tolist(), score.items, strict=True)
    language = get_language(subset.name.partition("-")[0]).code
    for ndcg, item in sorted(rows)[:N_HARDEST]:
        if subset.n_right[item] > 1:
            result = f"nDCG {ndcg:.3f}"
        else:
            rank = 2 ** (1 / ndcg) - 1  # nDCG = 1 / log2(1 + rank) with one relevant document; in a tie a mean of these
            result = f"rank {rank:.0f} of {subset.pool}"
        yield HardItem(concept_of(item), language, subset.texts[item], subset.answers[item], subset.language, result)


def _hardest_sentences(score: ScoredSubset, subset: SubsetItems) -> Iterator[HardItem]:
    """Yield the sentences with the lowest F1; among equal ones, those with the most mistakes first."""
    rows = []
    for item, (numerator, denominator) in zip(score.items, score.sums.tolist(), strict=True):
        f1 = numerator / denominator if denominator else 1.0
        rows.append((f1, -denominator, item, numerator / 2))
    for _, negative_denominator, item, n_correct in sorted(rows)[:N_HARDEST]:
        n_gold = subset.n_right[item]
        n_wrong = -negative_denominator - n_gold - n_correct
        wrong = f", {n_wrong:g} wrong" if n_wrong > 0 else ""
        result = f"{n_correct:g} of {n_gold:g} found{wrong}"
        yield HardItem(
            concept_of(item), subset.language, subset.texts[item], subset.answers[item], subset.language, result
        )


def _hardest_pairs(similarities: Similarities, language: str) -> Iterator[HardItem]:
    """Yield the sentences whose literal rewording is nearer than their paraphrase by the largest difference."""
    pairs, values = similarities.pairs, similarities.values
    incorrect = np.flatnonzero(pairs.correct != NOWHERE)
    gains = values[pairs.correct[incorrect]] - values[incorrect]
    for place in np.argsort(gains, kind="stable")[:N_HARDEST].tolist():
        position = int(incorrect[place])
        correct = pairs.rows[int(pairs.correct[position])]
        result = f"{values[int(pairs.correct[position])]:.3f}; literal rewording {values[position]:.3f}"
        yield HardItem(correct.concept, language, correct.sentence1, correct.sentence2, language, result)


def _missed_items(answers: ItemAnswers, subset: SubsetItems) -> Iterator[HardItem]:
    """Yield the first wrong answers of a language model, with what it chose."""
    n_shown = 0
    for item, answer, is_right in zip(answers.items.rows, answers.answers, answers.are_right(), strict=True):
        if is_right or n_shown == N_HARDEST:
            continue
        n_shown += 1
        result = "could not be read"
        if isinstance(answer, int):
            trap = item.options[answer].trap
            result = f"chose {option_texts(item)[answer]}" + (f" ({trap})" if trap else "")
        elif answer is not None:
            result = f"wrote {answer}"
        yield HardItem(
            item.concept, item.language, subset.texts[item.id], subset.answers[item.id], subset.language, result
        )


def item_values(scores: Iterable[ScoredSubset]) -> dict[str, list[int | float]]:
    """Return ``T1/tur-azj`` -> nDCG of each query, or for each sentence numerator and denominator of its span F1.

    Spearman's correlation has no parts that belong to one pair, so similarity tasks are left out.
    """
    values: dict[str, list[int | float]] = {}
    for score in scores:
        if score.similarities is not None:
            continue
        columns = score.sums if score.task == SPANS else score.sums[:, 0]
        values[f"{score.task}/{score.subset}"] = [short_number(value) for value in columns.ravel().tolist()]
    return values


def short_number(value: float) -> int | float:
    """Return a whole number as an int, so that JSON has no ``.0``; any other number stays as it is."""
    return int(value) if value == int(value) else value
