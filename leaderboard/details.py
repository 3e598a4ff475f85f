"""What the page of one model and the comparison of two need beyond the tables: hardest items, and scores per item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from leaderboard.data import Data, Subset
from leaderboard.records import SPANS, Record, SubsetScore

N_HARDEST = 3  # of each subset


@dataclass(frozen=True, slots=True)
class Hard:
    """A query or sentence that a model failed on.

    Attributes:
        language: code of the language of the text.
        text: idiom that was asked for, or sentence.
        answer: what would have been right: document, or idiom in the sentence.
        answer_language: code of its language.
        result: what the model did, in words.
    """

    language: str
    text: str
    answer: str
    answer_language: str
    result: str


def hardest(record: Record, data: Data, task: str) -> list[Hard]:
    """The items of a task with the lowest scores, the same number from each subset."""
    subsets = {subset.name: subset for subset in data.of_task(task)}
    return [hard for score in record.of_task(task) for hard in _hardest(score, subsets[score.subset])]


def _hardest(score: SubsetScore, subset: Subset) -> Iterator[Hard]:
    from turkic_idiom_tasks.languages import get_language

    rows = score.values.tolist()
    if score.task == SPANS:
        order = sorted(range(score.n), key=lambda row: (_f1(rows[row]), -sum(rows[row][1:]), score.items[row]))
    else:
        order = sorted(range(score.n), key=lambda row: (rows[row][0], score.items[row]))
    asked = subset.language if score.task == SPANS else get_language(subset.name.split("-")[0]).code
    for row in order[:N_HARDEST]:
        item = score.items[row]
        if score.task == SPANS:
            result = _span_result(*rows[row])
        else:
            result = _rank_result(rows[row][0], subset, n_relevant=subset.n_relevant[item])
        yield Hard(asked, subset.texts[item], subset.answers[item], subset.language, result)


def _f1(counts: list[float]) -> float:
    right, found, true = counts
    return 2 * right / (found + true) if found + true else 1.0


def _span_result(right: float, found: float, true: float) -> str:
    wrong = f", {found - right:g} wrong" if found > right else ""
    return f"{right:g} of {true:g} found{wrong}"


def _rank_result(ndcg: float, subset: Subset, *, n_relevant: int) -> str:
    """The rank, where the only relevant document has one: nDCG = 1 / log2(1 + rank), its mean where documents tie."""
    if n_relevant > 1:
        return f"nDCG {ndcg:.3f}"
    return f"rank {2 ** (1 / ndcg) - 1:.0f} of {subset.pool}"


def item_values(record: Record) -> dict[str, list[float]]:
    """``T1/tur-azj`` -> nDCG of each query, or three numbers for each sentence: spans right, found, true."""
    return {
        f"{score.task}/{score.subset}": [_short(value) for value in score.values.ravel().tolist()]
        for score in record.subsets
    }


def _short(value: float) -> float:
    return int(value) if value == int(value) else round(value, 6)


def items_json(data: Data) -> dict[str, list[str]]:
    """``T1/tur-azj`` -> ids of the queries or sentences, in the order of `item_values`."""
    return {subset.key: list(subset.texts) for subset in data.subsets}


def comparison_json(records: tuple[Record, ...], data: Data) -> dict[str, Any]:
    """What the comparison in the browser has to know of the subsets: their floors, and the concept of each item.

    Concepts are numbers, the same in every subset; a subset that no record has is left out; `whole` is how
    many there are with those.
    """
    clusters = {(score.task, score.subset): score.clusters for record in records for score in record.subsets}
    numbers = {
        name: number for number, name in enumerate(sorted({one for names in clusters.values() for one in names}))
    }
    return {
        "concepts": len(numbers),
        "whole": len(data.subsets),
        "subsets": [
            {
                "key": subset.key,
                "task": subset.task,
                "language": subset.language,
                "floor": subset.floor,
                "concepts": [numbers[name] for name in clusters[subset.task, subset.name]],
            }
            for subset in data.subsets
            if (subset.task, subset.name) in clusters
        ],
    }
