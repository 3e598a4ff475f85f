"""Data that the scripts of the pages need: those that compare models, browse items, and check a submission.

The page of comparisons gives the same intervals and p-values as `turkic-idiom compare` because it uses the same draws
and exchanges: `metrics` makes them from the names of the concepts, and two files of the site hold them. The sums are
exact in both places (see `bootstrap.sum_by_concept`), so the figures agree to the last digits.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from leaderboard import submission as rules
from leaderboard.board import EXTRA_TASKS, RETRIEVAL_TASKS, Board, ScoredSubmission
from leaderboard.data import BoardData, SubsetItems
from leaderboard.details import item_results, wrong_answers
from leaderboard.tables import REVISION_LENGTH, TASK_LABELS, distinctions, subset_title, variant
from turkic_idiom_tasks.concept_browser.parts import bare_row, browser_data, json_for_script, lexicon_rows
from turkic_idiom_tasks.dataset.retrieval import SUBSETS, concept_of
from turkic_idiom_tasks.dataset.similarity import STS
from turkic_idiom_tasks.io.reading import BLANKS
from turkic_idiom_tasks.languages import LANGUAGES, get_language
from turkic_idiom_tasks.lexicon.editions import editions
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
from turkic_idiom_tasks.results.item_answers import MAX_ANSWER, METHODS
from turkic_idiom_tasks.results.predictions import SPANS
from turkic_idiom_tasks.results.reader import MAX_FAULTS
from turkic_idiom_tasks.spans import TAG_LETTERS
from turkic_idiom_tasks.tasks.items.prompts import CLOZE_OPEN, VARIANTS

DRAWS_FILE = "draws.js"
SIGNS_FILE = "signs.js"
CONCEPTS_FILE = "concepts.js"
CHUNK = 8  # concepts of a file with texts

# The draws are the largest file of the site: 10,000 counts for each concept, most of them 0, 1 or 2.
# A pair of counts below 9 is one character of this list: the one at the position 9 * first count + second count.
# A pair with a larger count is the mark, then one character for each count.
# JSON writes a quotation mark and a backslash as two characters, so neither is in the list.
_PAIRS = "".join(chr(code) for code in range(35, 118) if chr(code) != "\\")[:81]
_BASE = 9
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
        with_several = set()  # concepts of a query with several right answers, whose score is no one rank
        for item, concept in zip(subset.texts, subset.concepts, strict=True):
            if subset.n_right[item] > 1:
                with_several.add(concept)
        row = {
            "key": subset.key,
            "task": subset.task,
            "language": subset.language,
            "n": subset.n,
            "headline": _headline(subset, concepts.tolist()),
            "concepts": [numbers[name] for name in concepts.tolist()],
            "sizes": None if subset.task == SPANS else sizes.tolist(),  # queries of each concept
            "several": [position for position, name in enumerate(concepts.tolist()) if name in with_several],
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


def _headline(subset: SubsetItems, concepts: list[str]) -> dict[str, Any] | None:
    """Return what the headline of a subset corrects for chance, and the places of the concepts that it counts.

    The places are None for all. There is no headline for the extra tasks, whose pairs have no share in the main score.
    """
    if subset.headline_floor is None or subset.task in EXTRA_TASKS:
        return None
    places = None
    if subset.spelling_free is not None:
        counted = {concept_of(query) for query in subset.spelling_free}
        places = [place for place, concept in enumerate(concepts) if concept in counted]
    return {"floor": subset.headline_floor, "places": places}


def comparison_files(board: Board) -> Iterator[tuple[str, bytes]]:
    """Yield (path within the site, content) of the scripts that the page loads: sums of submissions, and the draws."""
    # Scripts and no JSON, because a page that is opened from a file:// address may load scripts and nothing else
    for name, submission in board.by_id.items():
        yield (
            f"scores/{name}.js",
            f"turkicIdiomScores({json.dumps(name)},{_compact(concept_sums(submission))});\n".encode(),
        )
    names = concept_names(board.data)
    rows = [_packed(counts) for counts in poisson_counts(names)] if names else []
    yield DRAWS_FILE, f"turkicIdiomDraws({_compact(rows)});\n".encode()
    exchanges = []
    for name in names:  # a bit for each exchange: 1 if the systems are exchanged
        bits = np.packbits(signs_of_concept(name, SEED) < 0).tobytes()
        exchanges.append(base64.b64encode(bits).decode("ascii"))
    yield SIGNS_FILE, f"turkicIdiomSigns({_compact(exchanges)});\n".encode()


def choice_labels(submissions: Collection[ScoredSubmission]) -> dict[str, str]:
    """Return id -> a label by which the page offers a submission: name, variant and revision; no two are the same."""
    notes = distinctions(submissions)
    labels: dict[str, str] = {}
    for submission in submissions:
        metadata = submission.metadata
        note = notes.get(submission.id) or (metadata.revision or "")[:REVISION_LENGTH]
        about = f"{variant(metadata)}, {note}" if note else variant(metadata)
        label = " ".join(f"{metadata.name} ({about})".split())
        labels[submission.id] = f"{label} {submission.id}" if label in labels.values() else label
    return labels


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


def short_number(value: float) -> int | float:
    """Return a whole number as an int, so that JSON has no ``.0``; any other number stays as it is."""
    return int(value) if value == int(value) else value


def concept_files(boards: Sequence[Board]) -> Iterator[tuple[str, bytes]]:
    """Yield (path within the site, content) of the scripts of the browser of concepts.

    The first holds what search and order need; texts of concepts, results by task and language, and what one model
    misses are files of their own, which the page loads when somebody asks for them.
    """
    lexicon = boards[0].data.lexicon
    rows = {row["id"]: row for row in (lexicon_rows(lexicon) if lexicon else ())}
    counts: dict[str, list[tuple[int, int]]] = {}  # concept -> for each of its items the subset and who solves it
    subsets: dict[str, dict[str, Any]] = {}
    models: dict[str, str] = {}
    missed: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for board in boards:
        labels = choice_labels(board.by_id.values())
        models |= {name: labels[name] for name in board.by_id}
        for subset in board.data.with_parts:
            table = []
            for result in item_results(board, subset):
                concept, n = result["concept"], result["n_missed"]
                row = rows.setdefault(concept, bare_row(concept))
                n_solved = result["n_models"] - n
                row.setdefault("items", []).append([subset.key, result["text"], result["right"], n_solved])
                counts.setdefault(concept, []).append((len(subsets), n_solved))
                is_alike = None if subset.spelling_free is None else int(result["id"] not in subset.spelling_free)
                table.append([concept, is_alike, result["chosen"], result["n_chosen"]])
            subsets[subset.key] = {
                "key": subset.key,
                "task": TASK_LABELS[subset.task],
                "title": subset_title(subset.name),
                "from": get_language(subset.name.partition("-")[0]).code,
                "to": subset.language,
                "models": sum(1 for one in board.by_id.values() if one.find(subset.task, subset.name)),
            }
            yield f"concepts/{subset.key.replace('/', '-')}.js", _call("Part", subset.key, table)
        for name, submission in board.by_id.items():
            missed.setdefault(name, {}).update(_missed(board, submission))
    for name, of_model in missed.items():
        yield f"concepts/of-{name}.js", _call("Part", f"of-{name}", of_model)
    index = []
    names = sorted(rows)
    for start in range(0, len(names), CHUNK):
        yield (
            f"concepts/{start // CHUNK}.js",
            _call("Part", str(start // CHUNK), [rows[name] for name in names[start : start + CHUNK]]),
        )
    for name in names:
        row = rows[name]
        texts = {code: [entry["idiom"], entry["meaning"]] for code, entry in row["entries"].items()}
        index.append(
            {key: row[key] for key in ("id", "gloss", "aliases") if key in row}
            | {"texts": texts, "n": counts.get(name, [])}
        )
    data = browser_data(index, subsets=subsets)
    yield CONCEPTS_FILE, _call("Concepts", data | {"chunk": CHUNK, "models": models})


def _missed(board: Board, submission: ScoredSubmission) -> dict[str, list[tuple[str, str]]]:
    """Return ``T2/tur`` -> (concept, wrong answer) of each item that a submission misses; "" if that is not kept."""
    missed = {}
    for score in submission.subsets:
        subset = board.data.find(score.task, score.subset)
        if subset is None or score.similarities is not None:
            continue
        answers = wrong_answers(submission, score, subset)
        rows = zip(score.concepts, score.solved.tolist(), answers, strict=True)
        # The first documents of hundreds of encoders would take more room than all other files of the site
        missed[subset.key] = [
            (concept, answer[0] if answer and score.answers else "")
            for concept, is_solved, answer in rows
            if not is_solved
        ]
    return missed


def _call(name: str, *values: Any) -> bytes:
    """Return a script that hands values to its page."""
    return f"turkicIdiom{name}({','.join(map(json_for_script, values))});\n".encode()


def check_rules(data: BoardData) -> dict[str, Any]:
    """Return the rules by which the page "Submit" checks a submission, from the same source as `leaderboard check`.

    The page checks the form of a submission: files, sizes, metadata, and every line of the predictions. It does not
    know the ids of queries and documents, and computes no score; the command does.
    """
    files = {}
    for task, name in rules.PREDICTION_FILES.items():
        subsets: dict[str, Any] = {subset.name: {"n": subset.n, "pool": subset.pool} for subset in data.of_task(task)}
        kind, head = "answers", ["subset", "prompt", "method"]
        if task == SPANS:
            kind, head = "tags", ["language"]
        elif task == STS:
            kind, head = "similarities", ["subset"]
            subsets = {name: {} for name in subsets}  # a submission also has pairs that are not scored themselves
        elif task in SUBSETS:
            kind, head = "ranking", ["subset", "documents"]
        # The board of encoders knows no subsets of items: null stands for any
        of_file = {"task": task, "kind": kind, "head": head, "subsets": subsets or None}
        files[name] = of_file | {"is_open": task == CLOZE_OPEN}
    return {
        "format": rules.FORMAT,
        "metadata_file": rules.METADATA_FILE,
        "metadata": rules.metadata_schema(),
        "files": files,
        "limits": {
            "metadata": rules.MAX_METADATA,
            "packed": rules.MAX_PACKED,
            "unpacked": rules.MAX_UNPACKED,
            "line": rules.MAX_LINE,
            "faults": MAX_FAULTS,
            "answer": MAX_ANSWER,
            "slug": rules.SLUG_LENGTH,
        },
        "data": {"path": data.path, "revision": data.revision, "editions": editions()},
        "letters": "".join(sorted(TAG_LETTERS)),
        "prompts": list(VARIANTS),
        "methods": list(METHODS),
        "blanks": BLANKS.pattern,
    }


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


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)
