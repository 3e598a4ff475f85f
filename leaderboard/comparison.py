"""Data of the page that compares two submissions: sums by concept, draws of the resampler, exchanges of the test.

The page gives the same intervals and p-values as `turkic-idiom compare` because it uses the same draws and exchanges:
`metrics` makes them from the names of the concepts, and two files of the site hold them. The sums are exact in both
places (see `bootstrap.sum_by_concept`), so the figures agree to the last digits.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from leaderboard.board import Board
from leaderboard.concepts import CONCEPTS_FILE
from leaderboard.items import BoardData, SubsetItems, short_number
from leaderboard.scores import EXTRA_TASKS, RETRIEVAL_TASKS, ScoredSubmission
from leaderboard.tables import TASK_LABELS, distinctions, variant
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.metrics.bootstrap import (
    FEW,
    SEED,
    SMALL_N,
    UNRELIABLE_NOTE,
    Stratum,
    poisson_counts,
    sum_by_concept,
)
from turkic_idiom_tasks.metrics.comparison import signs_of_concept
from turkic_idiom_tasks.report.compare import ALPHA
from turkic_idiom_tasks.results.predictions import SPANS

DRAWS_FILE = "draws.js"
SIGNS_FILE = "signs.js"

# A pair of counts below 9 is one character of this list: the one at the position 9 * first count + second count.
# A pair with a larger count is the mark, then one character for each count.
_PAIRS = "".join(chr(code) for code in range(35, 118) if chr(code) != "\\")[:81]
_BASE = 9
_REVISION_LENGTH = 8  # characters of a revision in the label of a model
_MARK = "~"


def comparison_json(board: Board) -> dict[str, Any]:
    """Return what the page needs to know about the data; nothing in it depends on the submissions.

    Each concept has a number, which is the same in every subset and in the draws.
    """
    names = concept_names(board.data)
    numbers = {name: number for number, name in enumerate(names)}
    subsets = []
    for subset in board.data.with_parts:
        concepts, sizes = np.unique(np.array(subset.concepts, dtype=object), return_counts=True)
        row = {
            "key": subset.key,
            "task": subset.task,
            "language": subset.language,
            "floor": subset.floor,
            "n": subset.n,
            "concepts": [numbers[name] for name in concepts.tolist()],
            "sizes": None if subset.task == SPANS else sizes.tolist(),  # queries of each concept
            "several": _with_several_answers(subset, concepts.tolist()),
        }
        subsets.append(row)
    return {
        "concepts": len(names),
        "names": names,
        "subsets": subsets,
        "titles": {task: TASK_LABELS[task] for task in board.data.tasks},
        "languages": {code: LANGUAGES[code].name for code in board.data.languages},
        "small": SMALL_N,
        "few": FEW,
        "unreliable_note": UNRELIABLE_NOTE,
        "whole": [task for task in board.data.tasks if task not in EXTRA_TASKS],
        "retrieval": [task for task in board.data.tasks if task in RETRIEVAL_TASKS],
        "alpha": ALPHA,
        "draws": DRAWS_FILE,
        "signs": SIGNS_FILE,
        "texts": CONCEPTS_FILE,
        "pairs": _PAIRS,
    }


def comparison_files(board: Board) -> Iterator[tuple[str, bytes]]:
    """Yield (path within the site, content) of the scripts that the page loads: sums of submissions, and the draws."""
    for submission in board.submissions:
        sums = json.dumps(concept_sums(submission), separators=(",", ":"), allow_nan=False)
        yield f"scores/{submission.id}.js", f"turkicIdiomScores({json.dumps(submission.id)},{sums});\n".encode()
    names = concept_names(board.data)
    rows = [_packed(counts) for counts in poisson_counts(names)] if names else []
    yield DRAWS_FILE, f"turkicIdiomDraws({json.dumps(rows, separators=(',', ':'))});\n".encode()
    exchanges = [_packed_signs(signs_of_concept(name, SEED)) for name in names]
    yield SIGNS_FILE, f"turkicIdiomSigns({json.dumps(exchanges, separators=(',', ':'))});\n".encode()


def choice_labels(submissions: Sequence[ScoredSubmission]) -> dict[str, str]:
    """Return id -> a label by which the page offers a submission: name, variant and revision; no two are the same."""
    notes = distinctions(submissions)
    labels: dict[str, str] = {}
    for submission in submissions:
        metadata = submission.metadata
        note = notes.get(submission.id) or (metadata.revision or "")[:_REVISION_LENGTH]
        parts = [variant(submission), note] if note else [variant(submission)]
        label = " ".join(f"{metadata.name} ({', '.join(parts)})".split())
        labels[submission.id] = f"{label} {submission.id}" if label in labels.values() else label
    return labels


def _with_several_answers(subset: SubsetItems, concepts: Sequence[str]) -> list[int]:
    """Return the positions of the concepts with a query that has several right answers, whose score is no one rank."""
    several = set()
    for item, concept in zip(subset.texts, subset.concepts, strict=True):
        if subset.n_right[item] > 1:
            several.add(concept)
    return [position for position, concept in enumerate(concepts) if concept in several]


def concept_names(data: BoardData) -> tuple[str, ...]:
    """Return the concepts of all queries and sentences of the data, sorted."""
    names: set[str] = set()
    for subset in data.with_parts:
        names.update(subset.concepts)
    return tuple(sorted(names))


def concept_sums(submission: ScoredSubmission) -> dict[str, list[float]]:
    """Return ``T1/tur-azj`` -> the share of each concept, in the order of their names, in the sum of nDCG.

    For spans there are two numbers for each concept: its shares in the numerator and in the denominator of span F1.
    """
    sums_by_key = {}
    for score in submission.subsets:
        if not score.sums[:, 1].any():
            continue  # nothing to score, or a score that is no ratio of sums
        _, sums = sum_by_concept(Stratum(score.concepts, score.sums))
        values = sums.ravel() if score.task == SPANS else sums[:, 0]
        sums_by_key[f"{score.task}/{score.subset}"] = [short_number(value) for value in values.tolist()]
    return sums_by_key


def _packed_signs(signs: npt.NDArray[np.int8]) -> str:
    """Return the exchanges of one concept in base64, a bit for each: 1 if the systems are exchanged."""
    return base64.b64encode(np.packbits(signs < 0).tobytes()).decode("ascii")


def _packed(counts: npt.NDArray[np.uint8]) -> str:
    """Return the counts of one concept as text, two counts in one character."""
    first, second = counts[0::2], counts[1::2]
    is_pair = (first < _BASE) & (second < _BASE)
    codes = np.where(is_pair, _BASE * first + second, 0)
    text = np.frombuffer(_PAIRS.encode("ascii"), dtype=np.uint8)[codes].tobytes().decode("ascii")
    if is_pair.all():
        return text
    characters = list(text)
    for position in np.flatnonzero(~is_pair):
        characters[position] = f"{_MARK}{_PAIRS[first[position]]}{_PAIRS[second[position]]}"
    return "".join(characters)
