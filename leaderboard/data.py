"""Data that a leaderboard is computed on: every query, sentence, pair and item, with its right answer."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.retrieval import PAPER_TASKS, TASKS
from turkic_idiom_tasks.dataset.similarity import SIMILARITY_TASKS, STS
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES, counted
from turkic_idiom_tasks.lexicon.editions import EDITIONS
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.metrics.ranking import random_ndcg
from turkic_idiom_tasks.results.headlines import has_headline, spelling_free
from turkic_idiom_tasks.results.item_answers import ITEM_TASKS, find_items, item_subsets
from turkic_idiom_tasks.results.predictions import SPANS
from turkic_idiom_tasks.tasks.items.item_types import EQUIVALENTS, USAGE
from turkic_idiom_tasks.tasks.items.items import whole_of
from turkic_idiom_tasks.tasks.items.open_tasks import TRANSLATE
from turkic_idiom_tasks.tasks.items.prompts import option_texts


@dataclass(frozen=True, slots=True, eq=False)
class SubsetItems:
    """Queries, sentences, pairs or items of one subset."""

    task: str
    name: str  # such as tur-azj; the language code for spans
    language: str  # code of the language of the documents, sentences or options
    concepts: tuple[str, ...]  # (n,) of each item; the items of one concept are resampled together
    texts: Mapping[str, str]  # id -> text, sorted by id
    answers: Mapping[str, str]  # id -> the relevant documents, the idiom in the sentence, or the right option
    floor: float = 0.0  # main score of a random ranking or choice
    pool: int | None = None  # number of documents that are ranked; None where none are
    # Queries whose right answers spelling does not find. None where spelling does not matter: it does only where idioms
    # are looked for, as related languages have many idioms of the same words.
    spelling_free: frozenset[str] | None = None
    documents: Mapping[str, str] = field(default_factory=dict)  # id -> text of what is ranked
    n_right: Mapping[str, int] = field(default_factory=dict)  # id -> number of relevant documents, of queries alone
    headline_floor: float | None = 0.0  # what the headline corrects for; None if too few queries are spelling-free

    @property
    def key(self) -> str:
        """Return task and name, such as ``T1/tur-azj``."""
        return f"{self.task}/{self.name}"

    @property
    def n(self) -> int:
        """Return the number of items."""
        return len(self.texts)


@dataclass(frozen=True, slots=True, eq=False)
class BoardData:
    """Data that a leaderboard was scored on, as its pages show it."""

    path: str  # name of the data in results
    revision: str  # content hash or commit, 40 hexadecimal digits
    subsets: tuple[SubsetItems, ...]  # in the order of the tasks and languages
    lexicon: Lexicon | None = None  # None for data with test items only

    @property
    def edition(self) -> str | None:
        """Return the edition of the bundled lexicon; None for other data."""
        return EDITIONS.get(self.revision)

    @property
    def with_parts(self) -> tuple[SubsetItems, ...]:
        """Return the subsets whose items have a share in the score."""
        # Spearman's correlation is no mean over pairs, so no pair has a share in it
        return tuple(subset for subset in self.subsets if subset.task not in SIMILARITY_TASKS)

    def of_task(self, task: str) -> tuple[SubsetItems, ...]:
        """Return the subsets of one task."""
        return tuple(subset for subset in self.subsets if subset.task == task)

    @property
    def counted(self) -> tuple[SubsetItems, ...]:
        """Return the subsets that decide ranks, without those of provisional languages where there are others."""
        possible = [subset for subset in self.subsets if subset.headline_floor is not None]
        # In a lexicon of provisional languages alone, ranks would otherwise rest on nothing
        names = counted(subset.name for subset in possible)
        return tuple(subset for subset in possible if subset.name in names)

    @property
    def tasks(self) -> tuple[str, ...]:
        """Return the tasks that the data has, in order."""
        return tuple(dict.fromkeys(subset.task for subset in self.subsets))

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the codes of the languages, in the project's order."""
        present = {subset.language for subset in self.subsets}
        return tuple(code for code in LANGUAGES if code in present)


def board_data(dataset: Dataset, *, submitted: Collection[str] = ()) -> BoardData:
    """Return the subsets of a dataset for encoders and taggers.

    T4 and STS are not tasks of the paper, so they are there only if they are among the tasks that were submitted.
    """
    subsets = []
    for task in TASKS:
        if task in PAPER_TASKS or task in submitted:
            subsets += [_queries(dataset, task, name) for name in dataset.subsets(task)]
    for name in dataset.pair_subsets(STS) if STS in submitted else ():
        pairs = dataset.pairs(STS, name)
        # Pairs that are not scored are there for their similarity alone, which is the target of others
        scored = [row for row, is_scored in zip(pairs.rows, pairs.is_scored, strict=True) if is_scored]
        subset = SubsetItems(
            task=STS,
            name=name,
            language=SIMILARITY_TASKS[STS].languages[name],
            concepts=tuple(row.concept for row in scored),
            texts={row.id: row.sentence1 for row in scored},
            answers={row.id: row.sentence2 for row in scored},
        )
        subsets.append(subset)
    for language in dataset.span_languages:
        sentences = dataset.test_sentences(language)
        subset = SubsetItems(
            task=SPANS,
            name=language,
            language=language,
            concepts=sentences.concepts,
            texts={row.id: row.sentence for row in sentences.rows},
            answers={row.id: row.idiom for row in sentences.rows},
        )
        subsets.append(subset)
    lexicon = None
    # Data with test items only has no lexicon
    with suppress(InputError):
        lexicon = dataset.lexicon
    return BoardData(dataset.path, dataset.revision, tuple(subsets), lexicon)


def item_board_data(dataset: Dataset) -> BoardData:
    """Return the items of a dataset that language models answer."""
    subsets = []
    for task in ITEM_TASKS:
        for name in item_subsets(dataset, task):
            items = find_items(dataset, task, name)
            if items is None:
                continue
            texts, answers = {}, {}
            for item in items.rows:
                # The sentence alone does not say which of its words are asked about
                texts[item.id] = f"{item.text} ({item.idiom})" if whole_of(task) in (USAGE, TRANSLATE) else item.text
                answers[item.id] = option_texts(item)[item.gold]
            free = frozenset(item.id for item in items.rows if not item.shares_stem)
            subset = SubsetItems(
                task=task,
                name=name,
                language=items.language,
                concepts=items.concepts,
                texts=texts,
                answers=answers,
                floor=items.chance,
                headline_floor=items.chance,
                spelling_free=free if task in EQUIVALENTS else None,
            )
            subsets.append(subset)
    return BoardData(dataset.path, dataset.revision, tuple(subsets))


def _queries(dataset: Dataset, task: str, name: str) -> SubsetItems:
    data, pool = dataset.retrieval(task, name), dataset.pool(task, name)
    texts, answers, n_right, floors = {}, {}, {}, []
    for query in pool.queries:
        texts[query] = data.queries[query]
        answers[query] = " / ".join(data.documents[document] for document in data.qrels[query])
        n_right[query] = len(data.qrels[query])
        floors.append(random_ndcg(len(data.documents), n_right[query]))
    floor = sum(floors) / len(floors)
    headline_floor: float | None = floor
    free: frozenset[str] | None = None
    chosen = spelling_free(pool)
    if chosen is not None:
        free = frozenset(query for query, is_free in zip(pool.queries, chosen, strict=True) if is_free)
        # The headline is over these queries alone, and so is its floor
        headline_floor = float(np.array(floors)[chosen].mean()) if has_headline(chosen) else None
    return SubsetItems(
        task=task,
        name=name,
        language=pool.language,
        concepts=pool.concepts,
        texts=texts,
        answers=answers,
        n_right=n_right,
        floor=floor,
        pool=len(data.documents),
        spelling_free=free,
        documents=data.documents,
        headline_floor=headline_floor,
    )
