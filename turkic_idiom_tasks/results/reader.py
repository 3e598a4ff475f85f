"""Reading of predictions: the lines of records and submissions, and the answers in the logs of lm-eval and Inspect.

Nothing in a file is trusted: every id must be known, every item must be there once, and the reader names each fault.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.retrieval import TASKS, Pool
from turkic_idiom_tasks.dataset.sentences import TestSentences
from turkic_idiom_tasks.dataset.similarity import SIMILARITY_TASKS, SentencePairs
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.models import model_errors
from turkic_idiom_tasks.io.reading import Fault, MalformedError, display, parse_json
from turkic_idiom_tasks.results.item_answers import (
    ITEM_TASKS,
    METHODS,
    ItemAnswers,
    TestItems,
    answer_fault,
    find_items,
    item_subsets,
    plain_text,
    row_digest,
)
from turkic_idiom_tasks.results.predictions import SPANS, Ints, Prediction, Rankings, Similarities, SubsetKey, Tags
from turkic_idiom_tasks.spans import TAG_LETTERS
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS
from turkic_idiom_tasks.tasks.items.prompts import VARIANTS

MAX_DEPTH = 4  # brackets inside brackets in a line; the format needs three
MAX_FAULTS = 20  # number of faults of a file that are named

_TASKS = (*TASKS, *SIMILARITY_TASKS, SPANS, *ITEM_TASKS)
_LARGEST = 1.001  # a cosine, with room for rounding in half precision
_LINE_KEYS: tuple[set[str], ...] = (
    {"query", "ranking"},
    {"query", "ranking", "beyond"},
    {"sentence", "tags"},
    {"item", "answer"},
    {"pair", "similarity"},
)
_NOUNS: dict[type, str] = {Pool: "query", TestSentences: "sentence", TestItems: "item", SentencePairs: "pair"}
_Data = Pool | TestSentences | TestItems | SentencePairs
_Place = tuple[int, int]  # documents above, documents at the same place


def read_lines(
    path: Path,
    lines: Iterable[bytes],
    dataset: Dataset,
    *,
    first_line: int = 1,
    file_task: str | None = None,
    max_line: int | None = None,
) -> tuple[dict[SubsetKey, Prediction], list[Fault]]:
    """Return the predictions of the data in an untrusted file's lines, and everything that is wrong with them.

    The format is that of `predictions.to_lines`. The number of the first line is for the faults. `file_task` is
    the one task of the file, as in submissions; None for a file of several. A line has at most `max_line` bytes.
    """
    sections: dict[SubsetKey, _Section] = {}
    faults: list[Fault] = []
    section: _Section | None = None
    # After a wrong head line, the lines of its subset cannot be read
    is_lost = False
    number = first_line - 1
    for number, line in enumerate(lines, start=first_line):
        problem = ""
        try:
            if max_line is not None and len(line) > max_line:
                raise MalformedError(f"a line of more than the {max_line:,} bytes that are allowed")
            row = parse_json(line, max_depth=MAX_DEPTH)
            keys = set(row) if isinstance(row, dict) else set()
            if keys & {"subset", "documents"}:
                section, is_lost = None, True
                section = _begin_section(row, dataset, file_task, known=list(sections))
                sections[section.task, section.subset], is_lost = section, False
            elif keys not in _LINE_KEYS:
                problem = f"neither the head of a subset nor a prediction; its keys are {display(sorted(keys))}"
            elif section is not None:
                section.add(row)
            elif not is_lost:
                problem = 'a prediction before the head line of its subset, {"task": ..., "subset": ...}'
        except MalformedError as error:
            problem = str(error)
        if problem:
            faults.append(Fault(path, problem, number))
        # A file of another kind has a fault in each of a hundred thousand lines.
        if len(faults) >= MAX_FAULTS:
            return {}, [*faults, Fault(path, "and so on; the rest was not read", number)]
    if not sections and not faults:
        faults.append(Fault(path, "no subset in it; leave the file out"))
    for (task, subset), section in sections.items():
        missing = section.missing()
        if missing:
            message = f"{len(missing)} predictions are missing, such as the one for {display(missing[0])}"
            faults.append(Fault(path, f"{task}, {subset}: {message}; all must be there"))
    return ({} if faults else {key: section.prediction() for key, section in sections.items()}), faults


def read_answers(
    path: Path,
    key: SubsetKey,
    answers: Iterable[tuple[str, object, Any]],
    dataset: Dataset,
    *,
    prompt: str = "",
    method: str = "",
    is_partial: bool = False,
) -> Prediction:
    """Return the answers in the log of a harness as the predictions of one subset.

    They are the id of each sentence or item of the log, the digest that our task stated beside it, and the answer: tags
    as letters, or see `item_answers.Answer`. Prompt and method, one of `METHODS`, are those of items. An answer that is
    repeated, of another edition of its item, or does not fit is an InputError that names the log, and so is one that is
    missing, unless the log may be of a part of the items (`is_partial`).
    """
    task, subset = key
    with model_errors(path, "run it again, or name its data with --data"):
        # A log has a digest with each answer, and none of the whole set
        section = _open_section(dataset, task, {"subset": subset, "prompt": prompt, "method": method})
        data = section.data
        assert isinstance(data, TestItems | TestSentences)
        for name, digest, answer in answers:
            # The revision of the data does not show what another version of this package makes of them.
            if name in data.row and digest != row_digest(data.rows[data.row[name]]):
                raise MalformedError(
                    f"{section.noun} {display(name)} is not as the data in use have it: the log was made with another "
                    "edition of the data, or by an older version of this package"
                )
            value = plain_text(answer) if task in OPEN_TASKS and isinstance(answer, str) else answer
            section.add({section.noun: name, "tags" if task == SPANS else "answer": value})
    missing = section.missing()
    if missing and not is_partial:
        count = f"{len(missing)} of the {len(section.data.row)} {section.noun}s of {task}, {subset}"
        raise InputError(f"{path}: {count} have no answer, such as {display(missing[0])}; run it without --limit")
    return section.prediction()


def _begin_section(
    head: dict[str, Any], dataset: Dataset, file_task: str | None, *, known: list[SubsetKey]
) -> _Section:
    """Return an empty section for the lines that follow a head line; the known ones have begun before."""
    name = head.get("task")
    task = name if isinstance(name, str) and name in _TASKS else ""
    extra = {"documents"} if task in TASKS else {"items", "prompt", "method"} if task in ITEM_TASKS else set()
    expected = {"task", "subset", *extra}
    problem = ""
    # T1 and T3 have the same queries and documents, so that only the head tells their rankings apart
    if file_task is not None and name != file_task:
        problem = f"the head names the task {display(name)}, but this is the file of {file_task}; rename the file, or "
        problem += "write the submission again"
    elif not task:
        problem = f"the task {display(name)} is unknown; known: {', '.join(_TASKS)}"
    elif set(head) != expected:
        problem = f"the head of a {task} subset has the keys {', '.join(sorted(expected))}, not {display(sorted(head))}"
    elif (task, head["subset"]) in known:  # a list, because what an untrusted head names may have no hash
        problem = f"{task}, {head['subset']} appears twice"
    if problem:
        raise MalformedError(problem)
    return _open_section(dataset, task, head)


def _open_section(dataset: Dataset, task: str, head: Mapping[str, Any]) -> _Section:
    """Return an empty section; raise MalformedError if the data do not have what the head names."""
    subset = head["subset"] if isinstance(head["subset"], str) else ""
    data: _Data | None = None
    if task in ITEM_TASKS:
        # The items of one subset are made alone, because to make those of all takes a while
        data = find_items(dataset, task, subset)
        known = item_subsets(dataset, task) if data is None else (subset,)
    elif task == SPANS:
        known = dataset.span_languages
        data = dataset.test_sentences(subset) if subset in known else None
    elif task in SIMILARITY_TASKS:
        known = dataset.pair_subsets(task)
        data = dataset.pairs(task, subset) if subset in known else None
    else:
        known = dataset.subsets(task)
        data = dataset.pool(task, subset) if subset in known else None
    problem = ""
    if data is None:
        problem = f"the data has no {task} subset {display(head['subset'])}; it has {', '.join(known) or 'none'}"
    elif task in ITEM_TASKS and head["prompt"] not in tuple(VARIANTS):
        problem = f"the prompt {display(head['prompt'])} is unknown; known: {', '.join(VARIANTS)}"
    elif task in ITEM_TASKS and head["method"] not in METHODS:
        problem = f"the method {display(head['method'])} is unknown; known: {', '.join(METHODS)}"
    elif isinstance(data, TestItems) and head.get("items", data.digest) != data.digest:
        problem = (
            f"{task}, {subset}: the items are {data.digest}, not {display(head['items'])}, which another version of "
            "turkic-idiom-tasks made; ask the model again"
        )
    # Rankings are positions in this list: with another one, every score would silently be wrong.
    elif isinstance(data, Pool) and head["documents"] != list(data.documents):
        problem = (
            f"the documents of {subset} must be the {len(data.documents)} ids of its pool, sorted: "
            f"{display(list(data.documents[:2]))} and so on; its rankings were not read"
        )
    if data is None or problem:
        raise MalformedError(problem)
    return _Section(
        task, subset, _NOUNS[type(data)], data, prompt=head.get("prompt", ""), method=head.get("method", "")
    )


@dataclass(eq=False)
class _Section:
    """Lines of one subset: each item of the data once."""

    task: str
    subset: str
    noun: str  # what its lines are of: query, sentence, item or pair
    data: _Data
    prompt: str  # of items
    method: str  # of items
    values: dict[int, Any] = field(default_factory=dict)  # position of the item -> what its line says

    def add(self, line: Mapping[str, Any]) -> None:
        """Read one line; raise MalformedError if its item is unknown or repeated, or its value does not fit."""
        name = line.get(self.noun)
        position = self.data.row.get(name) if isinstance(name, str) else None
        noun = f"{self.noun} {display(name)}"
        if position is None or position in self.values:
            raise MalformedError(
                f"{self.task}, {self.subset} has no {noun}" if position is None else f"{noun} appears twice"
            )
        fault: str | None = None
        value: Any = None  # so that an item with a wrong value is not reported as missing too
        if isinstance(self.data, Pool):
            try:
                value = _read_ranking(self.data, position, line.get("ranking"), line.get("beyond", []))
            except MalformedError as error:
                fault = str(error)
        elif isinstance(self.data, TestItems):
            value = line.get("answer")
            fault = answer_fault(self.data.rows[position], value, is_open=self.task in OPEN_TASKS)
        elif isinstance(self.data, TestSentences):
            value, n_words = line.get("tags"), len(self.data.rows[position].tokens)
            if not isinstance(value, str) or len(value) != n_words or not set(value) <= set(TAG_LETTERS):
                fault = f"needs {n_words} of the letters O, B, I, not {display(value)}"
        else:
            value = line.get("similarity")
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            # Compared before it becomes a float, because a whole number may be too large for one; NaN fails too.
            if not is_number or not -_LARGEST <= value <= _LARGEST:
                fault = f"needs a similarity from -1 to 1, not {display(value)}"
        self.values[position] = value
        if fault:
            raise MalformedError(f"{noun}: {fault}")

    def missing(self) -> list[str]:
        """Return the ids of the items without a line."""
        return [name for name, position in self.data.row.items() if position not in self.values]

    def prediction(self) -> Prediction:
        """Return what was read, once nothing is missing; of sentences and items of language models also a part."""
        positions = sorted(self.values)
        values = [self.values[position] for position in positions]
        if isinstance(self.data, TestSentences):
            sentences = self.data
            if len(values) < len(sentences.rows):
                sentences = TestSentences(self.subset, [sentences.rows[position] for position in positions])
            return Tags(sentences, tuple(values))
        if isinstance(self.data, TestItems):
            items = self.data
            if len(values) < len(items.rows):
                items = replace(items, rows=tuple(items.rows[position] for position in positions))
            return ItemAnswers(items, tuple(values), self.prompt, self.method)
        if isinstance(self.data, SentencePairs):
            return Similarities(self.task, self.data, np.array(values, dtype=np.float64))
        n_listed = np.array([n for _, n, _ in values], dtype=np.int32)
        is_cut = bool((n_listed < len(self.data.documents)).any())
        beyond: dict[tuple[int, int], _Place] = {}
        for row, (_, _, places) in enumerate(values):
            for document, place in places.items():
                beyond[row, document] = place
        above = np.stack([places_above for places_above, _, _ in values])
        return Rankings(self.data, above, n_listed if is_cut else None, beyond)


def _read_ranking(pool: Pool, row: int, ranking: Any, beyond: Any) -> tuple[Ints, int, dict[int, _Place]]:
    """Return (N,) documents above each document, the number of listed ones, and the places in ``beyond``."""
    rows = ranking if isinstance(ranking, list) else []
    groups = [group if isinstance(group, list) else [group] for group in rows]
    positions = list(chain.from_iterable(groups))
    n_documents, n_listed = len(pool.documents), len(positions)
    # bool is an int in Python, and a position that is not hashable, such as a list, must not reach the set below
    outside = [item for item in positions if type(item) is not int or not 0 <= item < n_documents]
    problem = ""
    if not groups:
        problem = f"the ranking must be a list of positions, not {display(ranking)}"
    elif outside:
        problem = f"no document has the position {display(outside[0])}; there are 0 to {n_documents - 1}"
    elif len(set(positions)) < n_listed:
        ((twice, _),) = Counter(positions).most_common(1)
        problem = f"document {twice} is ranked twice"
    elif not all(groups):
        problem = "an empty list among its documents"
    if problem:
        raise MalformedError(problem)
    sizes = [len(group) for group in groups]
    above = np.full(n_documents, n_listed, dtype=np.int32)
    above[positions] = np.repeat(np.cumsum([0, *sizes[:-1]]), sizes)
    hidden = set(pool.scored_documents(row)) - set(positions)
    return above, n_listed, _read_beyond(beyond, hidden, n_listed=n_listed, n_documents=n_documents)


def _read_beyond(rows: Any, hidden: set[int], *, n_listed: int, n_documents: int) -> dict[int, _Place]:
    """Return document -> place of the relevant documents (`hidden`) that a cut ranking does not list."""
    places: dict[int, _Place] = {}
    sizes_at: dict[int, list[int]] = {}  # above -> tied of each document that claims this place
    for item in rows if isinstance(rows, list) else [rows]:
        is_triple = isinstance(item, list) and len(item) == 3 and all(type(number) is int for number in item)
        if not is_triple or item[0] not in hidden or item[0] in places:
            raise MalformedError(
                "beyond must list [position, above, tied] of relevant documents that the ranking does not list, not "
                f"{display(item)}"
            )
        document, above, tied = item
        if not (n_listed <= above and tied >= 1 and above + tied <= n_documents):
            raise MalformedError(f"{display(item)} is no place behind the listed documents")
        places[document] = (above, tied)
        sizes_at.setdefault(above, []).append(tied)
    end = n_listed
    for above, sizes in sorted(sizes_at.items()):
        # Documents that share a place must agree on its size, and groups must not overlap: otherwise a forged file
        # could put several relevant documents on one place and score better than any ranking.
        if above < end or len(set(sizes)) > 1 or len(sizes) > sizes[0]:
            raise MalformedError(
                f"the places in beyond contradict each other: {len(sizes)} documents after {above} others, in groups "
                f"of {', '.join(map(str, sizes))}"
            )
        end = above + sizes[0]
    return places
