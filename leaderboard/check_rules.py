"""Rules by which the page "Submit" checks a submission in the browser, from the same source as `leaderboard check`.

The page checks the form of a submission: files, sizes, metadata, and every line of the predictions. It does not know
the ids of queries and documents, and computes no score; the command does.
"""

from __future__ import annotations

from typing import Any

from leaderboard.items import BoardData
from leaderboard.submission import (
    FORMAT,
    MAX_LINE,
    MAX_METADATA,
    MAX_PACKED,
    MAX_UNPACKED,
    METADATA_FILE,
    PREDICTION_FILES,
    SLUG_LENGTH,
    metadata_schema,
)
from turkic_idiom_tasks.dataset.retrieval import SUBSETS
from turkic_idiom_tasks.dataset.similarity import STS
from turkic_idiom_tasks.io.reading import BLANKS
from turkic_idiom_tasks.lexicon.editions import editions
from turkic_idiom_tasks.results.item_answers import MAX_ANSWER, METHODS
from turkic_idiom_tasks.results.predictions import SPANS
from turkic_idiom_tasks.results.reader import MAX_FAULTS
from turkic_idiom_tasks.spans import TAG_LETTERS
from turkic_idiom_tasks.tasks.items.prompts import CLOZE_OPEN, VARIANTS

RANKING, TAGS, ANSWERS, SIMILARITIES = "ranking", "tags", "answers", "similarities"


def check_rules(data: BoardData) -> dict[str, Any]:
    """Return what the script of the page needs to know."""
    return {
        "format": FORMAT,
        "metadata_file": METADATA_FILE,
        "metadata": metadata_schema(),
        "files": {name: _task_rules(task, data) for task, name in PREDICTION_FILES.items()},
        "limits": {
            "metadata": MAX_METADATA,
            "packed": MAX_PACKED,
            "unpacked": MAX_UNPACKED,
            "line": MAX_LINE,
            "faults": MAX_FAULTS,
            "answer": MAX_ANSWER,
            "slug": SLUG_LENGTH,
        },
        "data": {"path": data.path, "revision": data.revision, "editions": editions()},
        "letters": "".join(sorted(TAG_LETTERS)),
        "prompts": list(VARIANTS),
        "methods": list(METHODS),
        "blanks": BLANKS.pattern,
    }


def _task_rules(task: str, data: BoardData) -> dict[str, Any]:
    """Return the rules of one file; `subsets` is null where the board does not know which there are."""
    subsets = {subset.name: {"n": subset.n, "pool": subset.pool} for subset in data.of_task(task)}
    kind, head = ANSWERS, ["subset", "prompt", "method"]
    if task == SPANS:
        kind, head = TAGS, ["language"]
    elif task == STS:
        kind, head = SIMILARITIES, ["subset"]
        subsets = {name: {} for name in subsets}  # a submission also has pairs that are not scored themselves
    elif task in SUBSETS:
        kind, head = RANKING, ["subset", "documents"]
    return {"task": task, "kind": kind, "head": head, "subsets": subsets or None, "is_open": task == CLOZE_OPEN}
