"""What the item browser shows: every concept with its texts, its test items, the right answers, and who solves them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from leaderboard.board import Board
from leaderboard.items import SubsetItems
from leaderboard.model_parts import subset_titles
from leaderboard.scores import ScoredSubmission
from leaderboard.tables import TASK_LABELS
from turkic_idiom_tasks.concept_browser.parts import bare_row, browser_data, json_for_script, lexicon_rows
from turkic_idiom_tasks.dataset.retrieval import concept_of
from turkic_idiom_tasks.languages import get_language

CONCEPTS_FILE = "concepts.js"


def concepts_script(board: Board) -> bytes:
    """Return the script that hands the data of the item browser to the page."""
    return f"turkicIdiomConcepts({json_for_script(concepts_data(board))});\n".encode()


def concepts_data(board: Board) -> dict[str, Any]:
    """Return the data of the item browser.

    The concepts are those of the lexicon, if the data have one, and those of all test items.
    """
    lexicon = board.data.lexicon
    rows = {row["id"]: row for row in (lexicon_rows(lexicon) if lexicon else ())}
    subsets = {}
    for task in board.data.tasks:
        for subset, title in zip(board.data.of_task(task), subset_titles(board.data, task), strict=True):
            if not subset.has_parts:
                continue
            models = [submission for submission in board.submissions if _has(submission, subset)]
            subsets[subset.key] = {
                "task": TASK_LABELS[task],
                "title": title,
                "from": get_language(subset.name.partition("-")[0]).code,
                "to": subset.language,
                "models": len(models),
            }
            n_solved = solved_by(models, subset)
            for item, text in subset.texts.items():
                concept = concept_of(item)
                row = rows.setdefault(concept, bare_row(concept))
                item_row = [subset.key, text, subset.answers[item], n_solved[item]]
                row.setdefault("items", []).append(item_row)
    return browser_data([rows[name] for name in sorted(rows)], subsets=subsets)


def solved_by(models: list[ScoredSubmission], subset: SubsetItems) -> Mapping[str, int]:
    """Return item -> number of models that solve it: `results.scored.ScoredSubset.solved`."""
    counts = np.zeros(subset.n, dtype=np.int64)
    for submission in models:
        for score in submission.of_task(subset.task):
            if score.subset == subset.name:
                counts += score.solved
    return dict(zip(subset.texts, counts.tolist(), strict=True))


def _has(submission: ScoredSubmission, subset: SubsetItems) -> bool:
    return any(score.subset == subset.name for score in submission.of_task(subset.task))
