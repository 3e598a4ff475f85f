"""Predictions of a model: rankings, tags, answers or similarities of each subset, and their JSON lines.

A subset begins with a head line, and a line for each item follows:

``{"task": "T1", "subset": "tur-azj", "documents": [...]}``
    The ids of the whole pool, sorted; then ``{"query": id, "ranking": [5, 17, [3, 9], ...]}``: positions in that list,
    best first; documents that tie are a list inside it. A ranking that is cut lists only the best documents, and gives
    the places of the relevant documents behind them as ``"beyond": [[position, above, tied], ...]``: the number of
    documents above, and the number at the same place. All other documents that are left out tie behind the listed ones.
``{"task": "spans", "subset": "tr"}``
    Then ``{"sentence": id, "tags": "OOBIO"}`` with a letter for each word.

The answers of a language model to items: see `item_answers`. The similarities of sentence pairs: see `similarities`.

In a file of one task the heads leave it out: ``{"subset": "tur-azj", "documents": [...]}`` or ``{"language": "tr"}``.

Nothing in a file is trusted: every id must be known, every item must be there once, and the reader names each fault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.retrieval import SUBSETS, Pool
from turkic_idiom_tasks.dataset.sentences import TestSentences
from turkic_idiom_tasks.dataset.similarity import SIMILARITY_TASKS, STS
from turkic_idiom_tasks.io.reading import MalformedError, display, parse_json
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.metrics.ranking import RelevantPositions
from turkic_idiom_tasks.results.item_answers import (
    ITEM_TASKS,
    AnswerSection,
    ItemAnswers,
    all_item_subsets,
    answer_rows,
    find_items,
    item_subsets,
)
from turkic_idiom_tasks.results.similarities import Similarities, SimilaritySection, similarity_rows
from turkic_idiom_tasks.spans import TAG_LETTERS

SPANS = "spans"  # name of span detection among the tasks
TASK_NAMES = (*SUBSETS, STS, SPANS)  # tasks of encoders and taggers; those of language models are `ITEM_TASKS`
ALL_TASK_NAMES = (*TASK_NAMES, *ITEM_TASKS)  # what a submission may hold
IDIOMATICITY = "idiomaticity"  # its records state scores alone
_READ_TASKS = (*SUBSETS, *SIMILARITY_TASKS, SPANS)
RECORDED_TASKS = (*_READ_TASKS, IDIOMATICITY)  # what a record may hold
OTHER_DATA_TASKS = (*(task for task in SIMILARITY_TASKS if task != STS), IDIOMATICITY)  # of data that has no edition
MAX_DEPTH = 4  # brackets inside brackets in a line; the format needs three
MAX_FAULTS = 20  # number of faults of a file that are named

Ints = npt.NDArray[np.int32]
SubsetKey = tuple[str, str]  # task, subset

_PLAIN_RANKING = re.compile(rb'\{"query":"([^"\\]+)","ranking":\[([0-9,\[\]]+)\]\}')
_COMMA, _OPEN, _CLOSE = 1, 2, 3  # kinds of characters in it, besides the digits
_KINDS = np.zeros(256, dtype=np.uint8)
_KINDS[[ord(","), ord("["), ord("]")]] = _COMMA, _OPEN, _CLOSE
_MAY_FOLLOW = np.array([[1, 1, 0, 1], [1, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0]], dtype=bool)  # [kind, next kind]
_DEPTH_STEP = np.array([0, 0, 1, -1], dtype=np.int8)
_PREDICTION_KEYS: tuple[set[str], ...] = (
    {"query", "ranking"},
    {"query", "ranking", "beyond"},
    {"sentence", "tags"},
    {"item", "answer"},
    {"pair", "similarity"},
)


@dataclass(frozen=True, slots=True, eq=False)
class Rankings:
    """A model's rankings of one subset.

    Attributes:
        pool: the queries and documents, whose order the arrays follow.
        above: (Q, N) int32, how many documents rank strictly higher; equal values tie.
        n_listed: (Q,) int32, number of documents that each ranking lists; None if every one lists all. Documents that
            are not listed tie behind those that are.
        beyond: (query position, document position) -> (above, tied) of relevant documents that are not listed.
    """

    pool: Pool
    above: Ints
    n_listed: Ints | None = None
    beyond: Mapping[tuple[int, int], tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def from_similarities(cls, pool: Pool, similarities: npt.NDArray[np.floating]) -> Rankings:
        """Rank by similarity.

        Args:
            pool: queries and documents.
            similarities: (Q, N) in the order of the pool, higher is nearer; -inf for documents that were not retrieved.

        Raises:
            ValueError: a similarity is NaN, because the model's vectors are not finite.
        """
        if np.isnan(similarities).any():
            row = int(np.isnan(similarities).any(axis=1).argmax())
            raise ValueError(f"the similarities of query {pool.queries[row]} hold NaN: its vectors are not finite")
        order = np.argsort(-similarities, axis=1)  # ties share a place, so their order does not matter
        descending = np.take_along_axis(similarities, order, axis=1)
        places = np.arange(similarities.shape[1], dtype=np.int32)
        begins_group = np.ones(similarities.shape, dtype=bool)
        begins_group[:, 1:] = descending[:, 1:] != descending[:, :-1]
        first_of_group = np.maximum.accumulate(np.where(begins_group, places, 0), axis=1)
        above = np.empty(similarities.shape, dtype=np.int32)
        np.put_along_axis(above, order, first_of_group.astype(np.int32), axis=1)
        return cls(pool, above)

    @property
    def cut(self) -> int | None:
        """Return the number of documents that the shortest ranking lists; None if every ranking lists all."""
        return None if self.n_listed is None else int(self.n_listed.min())

    @property
    def has_all_places(self) -> bool:
        """Return whether the place of every relevant document is known, so that all scores are exact."""
        if self.n_listed is None:
            return True
        for row, columns in enumerate(self.pool.relevant):
            for column in columns:
                if self.above[row, column] >= self.n_listed[row] and (row, column) not in self.beyond:
                    return False
        return True

    def positions(self, *, strict: bool = False) -> RelevantPositions:
        """Return the places of the relevant documents; with `strict`, only of those of the queries' own concepts."""
        counts, above, tied = [], [], []
        for row, columns in enumerate(self.pool.strictly_relevant if strict else self.pool.relevant):
            counts.append(len(columns))
            for column in columns:
                if (row, column) in self.beyond:
                    place, size = self.beyond[row, column]
                else:
                    place = int(self.above[row, column])
                    size = int(np.count_nonzero(self.above[row] == place))
                above.append(place)
                tied.append(size)
        return RelevantPositions(
            np.array(counts, dtype=np.int64),
            np.array(above, dtype=np.int64),
            np.array(tied, dtype=np.int64),
            n_documents=len(self.pool.documents),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Tags:
    """A model's tags of the test sentences of one language.

    Attributes:
        sentences: the sentences, in the order of `letters`.
        letters: for each sentence a text with a letter (O, B, I) per word.
    """

    sentences: TestSentences
    letters: tuple[str, ...]

    def labels(self) -> list[list[str]]:
        """Return the tags of each sentence as labels (``B-IDIOM``)."""
        labels = []
        for letters in self.letters:
            labels.append([TAG_LETTERS[letter] for letter in letters])
        return labels


Prediction = Rankings | Tags | ItemAnswers | Similarities
Predictions = Mapping[SubsetKey, Prediction]


@dataclass(frozen=True, slots=True)
class Fault:
    """A mistake in predictions; `line` is 0 when it concerns all of them."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}" if self.line else self.message


def to_lines(predictions: Predictions, *, top_k: int | None = None, default_task: str | None = None) -> Iterator[str]:
    """Yield the lines of predictions; the same predictions give the same lines.

    Args:
        predictions: (task, subset) -> rankings, tags, answers or similarities.
        top_k: documents per query that are listed; a group of ties is never cut. None lists all.
        default_task: the one task of the file, which its head lines leave out; None for a file of several.
    """
    for task, subset in sorted(predictions, key=usual_order):
        subset_predictions = predictions[task, subset]
        head: dict[str, Any] = {} if task == default_task else {"task": task}
        if isinstance(subset_predictions, Tags):
            head["language" if task == default_task else "subset"] = subset
            yield _dump(head)
            for sentence, letters in zip(subset_predictions.sentences.rows, subset_predictions.letters, strict=True):
                yield _dump({"sentence": sentence.id, "tags": letters})
        elif isinstance(subset_predictions, ItemAnswers):
            how = {"prompt": subset_predictions.prompt, "method": subset_predictions.method}
            yield _dump(head | {"subset": subset} | how)
            for row in answer_rows(subset_predictions):
                yield _dump(row)
        elif isinstance(subset_predictions, Similarities):
            yield _dump(head | {"subset": subset})
            for row in similarity_rows(subset_predictions):
                yield _dump(row)
        else:
            yield _dump(head | {"subset": subset, "documents": list(subset_predictions.pool.documents)})
            yield from _ranking_lines(subset_predictions, top_k=top_k)


def read_lines(
    lines: Iterable[bytes],
    dataset: Dataset,
    *,
    first_line: int = 1,
    default_task: str | None = None,
    max_line: int | None = None,
) -> tuple[dict[SubsetKey, Prediction], list[Fault]]:
    """Return the predictions of a file's lines, and everything that is wrong with them.

    Args:
        lines: lines in the format of `to_lines`, from an untrusted file.
        dataset: the data that was predicted.
        first_line: number of the first line, for the faults.
        default_task: the one task of the file, as in submissions; None if every head line names its task.
        max_line: largest number of bytes of a line; None for no limit.
    """
    reader = _Reader(dataset, default_task)
    number = first_line - 1
    for number, line in enumerate(lines, start=first_line):
        try:
            if max_line is not None and len(line) > max_line:
                raise MalformedError(f"a line of more than the {max_line:,} bytes that are allowed")
            reader.add(line)
        except MalformedError as error:
            reader.faults.append(Fault(number, str(error)))
        if len(reader.faults) >= MAX_FAULTS:
            reader.faults.append(Fault(number, "and so on; the rest was not read"))
            return {}, reader.faults
    return reader.finish(), reader.faults


def usual_order(key: SubsetKey) -> tuple[int, int]:
    """Return a key that sorts (task, subset) pairs in the order of the tasks and of their subsets."""
    task, subset = key
    subsets = all_item_subsets()[task] if task in ITEM_TASKS else subsets_of(task)
    return (*RECORDED_TASKS, *ITEM_TASKS).index(task), subsets.index(subset)


def subsets_of(task: str) -> tuple[str, ...]:
    """Return every subset that data may have of a retrieval task, a similarity task or spans, in the usual order."""
    if task in SIMILARITY_TASKS:
        return tuple(SIMILARITY_TASKS[task].languages)
    return tuple(LANGUAGES) if task == SPANS else SUBSETS[task]


class _Reader:
    """Reader of the subsets of a file, line by line."""

    def __init__(self, dataset: Dataset, default_task: str | None) -> None:
        self.faults: list[Fault] = []
        self._dataset = dataset
        self._default_task = default_task
        self._subset_key = "language" if default_task == SPANS else "subset"
        self._head_keys = {self._subset_key, "documents"}
        self._sections: dict[SubsetKey, _Section] = {}
        self._current: _Section | None = None
        self._is_lost = False  # after a wrong head line, the lines of its subset cannot be read

    def add(self, line: bytes) -> None:
        """Read one line.

        Raises:
            MalformedError: it is wrong.
        """
        if isinstance(self._current, _RankingSection) and self._current.add_plain(line):
            return
        row = parse_json(line, max_depth=MAX_DEPTH)
        keys = set(row) if isinstance(row, dict) else set()
        if keys & self._head_keys:
            self._current, self._is_lost = None, True
            self._begin(row, keys)
            self._is_lost = False
        elif keys in _PREDICTION_KEYS:
            if self._current is not None:
                self._current.add(row)
            elif not self._is_lost:
                raise MalformedError('a prediction before the head line of its subset, {"task": ..., "subset": ...}')
        else:
            raise MalformedError(f"neither the head of a subset nor a prediction; its keys are {display(sorted(keys))}")

    def finish(self) -> dict[SubsetKey, Prediction]:
        """Return what was read, and note what is missing."""
        if not self._sections and not self.faults:
            self.faults.append(Fault(0, "no subset in it; leave the file out"))
        for (task, subset), section in self._sections.items():
            missing = section.missing()
            if missing:
                message = f"{len(missing)} predictions are missing, such as the one for {display(missing[0])}"
                self.faults.append(Fault(0, f"{task}, {subset}: {message}; all must be there"))
        return {key: section.predictions() for key, section in self._sections.items()} if not self.faults else {}

    def _begin(self, row: dict[str, Any], keys: set[str]) -> None:
        task = row.get("task") if self._default_task is None else self._default_task
        known_tasks = (*_READ_TASKS, *ITEM_TASKS)
        if not isinstance(task, str) or task not in known_tasks:
            raise MalformedError(f"the task {display(task)} is unknown; known: {', '.join(known_tasks)}")
        expected = {self._subset_key}
        if task in SUBSETS:
            expected.add("documents")
        elif task in ITEM_TASKS:
            expected |= {"prompt", "method"}
        if self._default_task is None:
            expected.add("task")
        if keys != expected:
            names = ", ".join(sorted(expected))
            raise MalformedError(f"the head of a {task} subset has the keys {names}, not {display(sorted(keys))}")
        subset = row[self._subset_key]
        if not isinstance(subset, str) or not self._has(task, subset):
            known = ", ".join(self._known_subsets(task)) or "none"
            raise MalformedError(f"the data has no {task} {self._subset_key} {display(subset)}; it has {known}")
        if (task, subset) in self._sections:
            raise MalformedError(f"{task}, {subset} appears twice")
        if task == SPANS:
            self._current = _TagSection(self._dataset.test_sentences(subset))
        elif items := find_items(self._dataset, task, subset):
            self._current = AnswerSection(items, prompt=row["prompt"], method=row["method"])
        elif task in SIMILARITY_TASKS:
            self._current = SimilaritySection(task, self._dataset.pairs(task, subset))
        else:
            pool = self._dataset.pool(task, subset)
            _check_documents(row["documents"], pool)
            self._current = _RankingSection(pool)
        self._sections[task, subset] = self._current

    def _has(self, task: str, subset: str) -> bool:
        if task in ITEM_TASKS:  # to list them all would take a while
            return find_items(self._dataset, task, subset) is not None
        return subset in self._known_subsets(task)

    def _known_subsets(self, task: str) -> tuple[str, ...]:
        if task == SPANS:
            return self._dataset.span_languages
        if task in SIMILARITY_TASKS:
            return self._dataset.pair_subsets(task)
        return item_subsets(self._dataset, task) if task in ITEM_TASKS else self._dataset.subsets(task)


class _RankingSection:
    """Reader of the rankings of one subset, line by line."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._above = np.full((len(pool.queries), len(pool.documents)), -1, dtype=np.int32)
        self._beyond: dict[tuple[int, int], tuple[int, int]] = {}
        self._n_listed = np.full(len(pool.queries), len(pool.documents), dtype=np.int32)
        self._seen: set[int] = set()
        self._text_length = len(",".join(map(str, range(len(pool.documents)))))

    def add_plain(self, line: bytes) -> bool:
        """Read a line that ranks the whole pool, as most lines do; for any other line, change nothing and return False.

        This is faster than parsing JSON, and as strict: only a permutation of all positions, none of them with a
        leading zero, has that length and gives every document a place.
        """
        match = _PLAIN_RANKING.fullmatch(line)
        if match is None:
            return False
        row = self._pool.row.get(match[1].decode("utf-8", "replace"))
        digits = match[2].translate(None, b"[]")
        if row is None or row in self._seen or len(digits) != self._text_length:
            return False
        above = _places_in_text(match[2])
        if above is None or len(above) != len(self._pool.documents):
            return False
        positions = np.fromstring(digits, dtype=np.int64, sep=",")
        if positions.max() >= len(above):
            return False
        self._above[row, positions] = above
        if self._above[row].min() < 0:
            self._above[row] = -1
            return False
        self._seen.add(row)
        return True

    def add(self, line: dict[str, Any]) -> None:
        """Read any ranking.

        Raises:
            MalformedError: a query or document is unknown or repeated, or there is no ranking.
        """
        query, ranking = line.get("query"), line.get("ranking")
        row = self._pool.row.get(query) if isinstance(query, str) else None
        if row is None:
            raise MalformedError(f"{self._pool.subset} has no query {display(query)}")
        if row in self._seen:
            raise MalformedError(f"query {display(query)} appears twice")
        self._seen.add(row)
        if not isinstance(ranking, list) or not ranking:
            raise MalformedError(
                f"query {display(query)}: the ranking must be a list of positions, not {display(ranking)}"
            )
        groups = [group if isinstance(group, list) else [group] for group in ranking]
        positions = list(chain.from_iterable(groups))
        self._check(positions, groups, query=str(query))
        sizes = [len(group) for group in groups]
        n_before = np.cumsum([0, *sizes[:-1]])
        self._above[row] = len(positions)
        self._above[row, positions] = np.repeat(n_before, sizes)
        self._n_listed[row] = len(positions)
        for document, above, tied in self._read_beyond(line.get("beyond", []), row, n_listed=len(positions)):
            self._beyond[row, document] = (above, tied)

    def missing(self) -> list[str]:
        """Return the queries that have no ranking."""
        return [query for row, query in enumerate(self._pool.queries) if row not in self._seen]

    def predictions(self) -> Rankings:
        """Return what was read."""
        is_cut = bool((self._n_listed < len(self._pool.documents)).any())
        return Rankings(self._pool, self._above, self._n_listed if is_cut else None, self._beyond)

    def _check(self, positions: list[Any], groups: list[list[Any]], *, query: str) -> None:
        n_documents = len(self._pool.documents)
        for position in positions:
            if type(position) is not int or not 0 <= position < n_documents:
                raise MalformedError(
                    f"query {display(query)}: no document has the position {display(position)}; there are 0 to "
                    f"{n_documents - 1}"
                )
        if len(set(positions)) < len(positions):
            values, times = np.unique(positions, return_counts=True)
            twice = int(values[times > 1][0])
            raise MalformedError(f"query {display(query)}: document {twice} is ranked twice")
        if not all(groups):
            raise MalformedError(f"query {display(query)}: an empty list among its documents")

    def _read_beyond(self, value: Any, row: int, *, n_listed: int) -> Iterator[tuple[int, int, int]]:
        """Yield document, above and tied of the relevant documents that a cut ranking does not list."""
        query = self._pool.queries[row]
        not_listed = {column for column in self._pool.relevant[row] if self._above[row, column] == n_listed}
        rows = value if isinstance(value, list) else [value]
        groups: dict[int, list[int]] = {}  # above -> tied of each document that claims this place
        for item in rows:
            is_triple = isinstance(item, list) and len(item) == 3 and all(type(number) is int for number in item)
            if not is_triple or item[0] not in not_listed:
                raise MalformedError(
                    f"query {display(query)}: beyond must list [position, above, tied] of relevant documents that the "
                    f"ranking does not list, not {display(item)}"
                )
            document, above, tied = item
            if not (n_listed <= above and tied >= 1 and above + tied <= len(self._pool.documents)):
                raise MalformedError(f"query {display(query)}: {display(item)} is no place behind the listed documents")
            not_listed.remove(document)
            groups.setdefault(above, []).append(tied)
            yield document, above, tied
        end = n_listed
        for above, sizes in sorted(groups.items()):
            if above < end or len(set(sizes)) > 1 or len(sizes) > sizes[0]:
                raise MalformedError(
                    f"query {display(query)}: the places in beyond contradict each other: {len(sizes)} documents after "
                    f"{above} others, in groups of {', '.join(map(str, sizes))}"
                )
            end = above + sizes[0]


class _TagSection:
    """Reader of the tags of one language, line by line."""

    def __init__(self, sentences: TestSentences) -> None:
        self._sentences = sentences
        self._letters: list[str | None] = [None] * len(sentences.rows)

    def add(self, line: dict[str, Any]) -> None:
        """Read the tags of one sentence.

        Raises:
            MalformedError: the sentence is unknown or repeated, or the tags do not fit its words.
        """
        sentence, tags = line.get("sentence"), line.get("tags")
        position = self._sentences.row.get(sentence) if isinstance(sentence, str) else None
        if position is None:
            raise MalformedError(f"{self._sentences.language} has no test sentence {display(sentence)}")
        if self._letters[position] is not None:
            raise MalformedError(f"sentence {display(sentence)} appears twice")
        n_words = len(self._sentences.rows[position].tokens)
        is_sound = isinstance(tags, str) and len(tags) == n_words and set(tags) <= set(TAG_LETTERS)
        self._letters[position] = tags if is_sound else ""
        if not is_sound:
            raise MalformedError(
                f"sentence {display(sentence)} needs {n_words} of the letters O, B, I, not {display(tags)}"
            )

    def missing(self) -> list[str]:
        """Return the sentences that have no tags."""
        pairs = zip(self._sentences.rows, self._letters, strict=True)
        return [sentence.id for sentence, letters in pairs if letters is None]

    def predictions(self) -> Tags:
        """Return what was read."""
        return Tags(self._sentences, tuple(letters or "" for letters in self._letters))


_Section = _RankingSection | _TagSection | AnswerSection | SimilaritySection


def _ranking_lines(rankings: Rankings, *, top_k: int | None) -> Iterator[str]:
    """Yield a line for each query; the text is built without json, because there are millions of positions."""
    pool = rankings.pool
    n_documents = len(pool.documents)
    names = [str(position) for position in range(n_documents)]
    sort_keys = rankings.above.astype(np.uint16) if n_documents < 2**16 else rankings.above  # numpy sorts these faster
    orders = np.argsort(sort_keys, axis=1, kind="stable")
    places = np.take_along_axis(rankings.above, orders, axis=1)
    limits = np.full(len(pool.queries), n_documents) if rankings.n_listed is None else rankings.n_listed
    if top_k is not None:
        limits = np.minimum(limits, top_k)
    n_listed = (places < limits[:, None]).sum(axis=1)  # a group of ties that begins within the limit is listed whole
    has_ties = (places[:, 1:] == places[:, :-1]).any(axis=1)
    for row, query in enumerate(pool.queries):
        n = int(n_listed[row])
        texts = [names[position] for position in orders[row, :n].tolist()]
        if has_ties[row]:
            _bracket_ties(texts, places[row, :n])
        beyond = _beyond(rankings, row, n_listed=n) if n < n_documents else []
        end = f',"beyond":{_dump(beyond)}' if beyond else ""
        yield f'{{"query":{_dump(query)},"ranking":[{",".join(texts)}]{end}}}'


def _bracket_ties(texts: list[str], places: Ints) -> None:
    """Put the brackets of a list around the texts of documents that share a place."""
    starts = np.flatnonzero(np.diff(places, prepend=-1))
    ends = np.append(starts[1:], len(places)) - 1
    is_group = ends > starts
    for start, end in zip(starts[is_group].tolist(), ends[is_group].tolist(), strict=True):
        texts[start] = "[" + texts[start]
        texts[end] += "]"


def _beyond(rankings: Rankings, row: int, *, n_listed: int) -> list[list[int]]:
    """Return [position, above, tied] of the relevant documents of a query behind the listed ones."""
    places = []
    for column in rankings.pool.relevant[row]:
        above = int(rankings.above[row, column])
        if (row, column) in rankings.beyond:
            places.append([column, *rankings.beyond[row, column]])
        elif above >= n_listed:
            places.append([column, above, int(np.count_nonzero(rankings.above[row] == above))])
    return places


def _places_in_text(ranking: bytes) -> Ints | None:
    """Return for each number in the text of a ranking how many stand before its group; None if it is no ranking."""
    kinds = _KINDS[np.frombuffer(b"," + ranking + b",", dtype=np.uint8)]
    depth = np.cumsum(_DEPTH_STEP[kinds], dtype=np.int32)
    is_list = _MAY_FOLLOW[kinds[:-1], kinds[1:]].all()
    if not is_list or depth.min() < 0 or depth.max() > 1 or depth[-1] != 0:
        return None
    begins_group = np.concatenate([[True], depth[kinds == _COMMA][1:-1] == 0])
    places = np.arange(len(begins_group), dtype=np.int32)
    return np.maximum.accumulate(np.where(begins_group, places, 0)).astype(np.int32)


def _check_documents(documents: Any, pool: Pool) -> None:
    if documents != list(pool.documents):
        raise MalformedError(
            f"the documents of {pool.subset} must be the {len(pool.documents)} ids of its pool, sorted: "
            f"{display(list(pool.documents[:2]))} and so on; its rankings were not read"
        )


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
