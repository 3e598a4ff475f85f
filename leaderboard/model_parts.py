"""Tasks on the page of one model: a row for each subset with all of its scores, and the hardest items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.board import Board
from leaderboard.items import BoardData, hardest
from leaderboard.language_models import KIND_TITLES
from leaderboard.scores import ScoredSubmission
from leaderboard.tables import ShownScore
from turkic_idiom_tasks.dataset.similarity import STS
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT
from turkic_idiom_tasks.results.predictions import SPANS
from turkic_idiom_tasks.results.scored import ScoredSubset
from turkic_idiom_tasks.tasks.items.prompts import CLOZE_OPEN

_RETRIEVAL_COLUMNS = {
    "ndcg_floor": "floor",
    "ndcg_corrected": "corrected",
    "ndcg_strict": "strict",
    "ndcg_at_10": "nDCG@10",
    "mrr": "MRR",
    "recall_at_1": "recall@1",
    "recall_at_5": "recall@5",
    "recall_at_10": "recall@10",
}
_SPAN_COLUMNS = {
    "span_precision": "precision",
    "span_recall": "recall",
    "token_f1": "token F1",
    "token_accuracy": "token accuracy",
}
_SIMILARITY_COLUMNS = {
    "spearman_idiom": "idiom pairs",
    "affinity": "affinity",
    "scaled_similarity": "scaled similarity",
    "accuracy": "paraphrase nearer",
}
_CHOICE_COLUMNS = {
    "accuracy_corrected": "corrected",
    "near_share": "near traps",
    "lexical_share": "lexical traps",
    "random_share": "random traps",
    "unreadable": "unreadable",
}
_ITEM_COLUMNS = {
    "usage": {
        "accuracy_corrected": "corrected",
        "pair_accuracy": "both right",
        "recall_figurative": "recall, figurative",
        "recall_literal": "recall, literal",
        "unreadable": "unreadable",
    },
    CLOZE_OPEN: {"exact": "exact form", "lemma": "lemma", "unreadable": "unreadable"},
}


@dataclass(frozen=True, slots=True, eq=False)
class SubsetRow:
    """One subset on the page of a submission; `floor` is that of the main score, and `cut` is as in `ScoredSubset`."""

    title: str
    n: int
    cut: int | None
    floor: float
    main: ShownScore
    others: tuple[float, ...]


def task_part(submission: ScoredSubmission, board: Board, task: str) -> dict[str, Any]:
    """Return one task on the page of a submission."""
    main, columns, words = _columns(task)
    scores = submission.of_task(task)
    rows = []
    for score in scores:
        row = SubsetRow(
            title=_subset_title(score.task, score.subset, score.language),
            n=score.n,
            cut=score.cut,
            floor=score.floor,
            main=ShownScore(score.main, board.interval(submission, score)),
            others=tuple(score.scores.get(name, float("nan")) for name in columns),
        )
        rows.append(row)
    return {
        "task": task,
        "columns": (main, *columns.values()),
        "rows": rows,
        "asked": _how_asked(scores),
        "words": words,
        "hardest": hardest(scores, board.data),
    }


def _columns(task: str) -> tuple[str, dict[str, str], tuple[str, str, str]]:
    """Return the main score of a task, the other scores with their titles, and words for item, text and answer."""
    if task == SPANS:
        return "span F1", _SPAN_COLUMNS, ("sentences", "Sentence", "Idiom in it")
    if task == STS:
        return "Spearman", _SIMILARITY_COLUMNS, ("pairs", "Sentence", "Paraphrase")
    if task in KIND_TITLES:
        main = "accepted" if task == CLOZE_OPEN else "accuracy"
        return main, _ITEM_COLUMNS.get(task, _CHOICE_COLUMNS), ("items", "Item", "Right answer")
    return "nDCG", _RETRIEVAL_COLUMNS, ("queries", "Idiom", "Right answer")


def _how_asked(scores: Sequence[ScoredSubset]) -> str:
    """Return the prompts and methods of the answers to items, such as ``prompt en1, generation``; empty for others."""
    ways: dict[str, None] = {}
    for score in scores:
        if score.answers is not None:
            ways[f"prompt {score.answers.prompt}, {score.answers.method}"] = None
    return "; ".join(ways)


def _subset_title(task: str, subset: str, language: str) -> str:
    source, _, target = subset.partition("-")
    if not target:
        return LANGUAGES[language].name
    asked = LANGUAGES[source].name if task in KIND_TITLES else LANGUAGES[PIVOT].name
    return f"{asked} → {LANGUAGES[language].name}"


def subset_titles(data: BoardData, task: str) -> list[str]:
    """Return the language or direction of each subset of a task, such as ``Turkish → Uzbek``."""
    return [_subset_title(task, subset.name, subset.language) for subset in data.of_task(task)]
