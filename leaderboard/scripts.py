"""Data that the scripts of the pages need: those that compare models, browse items, and check a submission."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from leaderboard import submission as rules
from leaderboard.board import EXTRA_TASKS, RETRIEVAL_TASKS, Board, ScoredSubmission
from leaderboard.data import BoardData
from leaderboard.details import item_results, wrong_answers
from leaderboard.tables import REVISION_LENGTH, TASK_LABELS, distinctions, subset_title, variant
from turkic_idiom_tasks.concept_browser.parts import browser_data, json_for_script, lexicon_rows
from turkic_idiom_tasks.dataset.retrieval import TASKS
from turkic_idiom_tasks.dataset.similarity import STS
from turkic_idiom_tasks.io.reading import BLANKS
from turkic_idiom_tasks.languages import LANGUAGES, counted, get_language
from turkic_idiom_tasks.lexicon.editions import EDITIONS
from turkic_idiom_tasks.metrics.bootstrap import (
    FEW,
    RESAMPLES,
    SEED,
    SMALL_N,
    UNRELIABLE_NOTE,
    Floats,
    Stratum,
    digest,
    sum_by_concept,
)
from turkic_idiom_tasks.metrics.comparison import EXCHANGES
from turkic_idiom_tasks.report.compare import ALPHA
from turkic_idiom_tasks.results.item_answers import MAX_ANSWER, METHODS
from turkic_idiom_tasks.results.predictions import SPANS
from turkic_idiom_tasks.results.reader import MAX_FAULTS
from turkic_idiom_tasks.spans import TAG_LETTERS
from turkic_idiom_tasks.tasks.items.item_types import EQUIVALENTS
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS
from turkic_idiom_tasks.tasks.items.prompts import VARIANTS

CONCEPTS_FILE = "concepts.js"
CHUNK = 8  # concepts of a file with texts


def comparison_json(boards: Sequence[Board]) -> dict[str, Any]:
    """Return what the page needs to know about the data; nothing in it depends on the submissions."""
    names = sorted({concept for board in boards for subset in board.data.with_parts for concept in subset.concepts})
    # The same number in every subset, so that the draws of a concept are
    numbers = {name: number for number, name in enumerate(names)}
    # With the states with which these generators begin, the page makes the draws and exchanges of `turkic-idiom
    # compare`, and so gives the same intervals and p-values. The sums are exact in both places
    # (`bootstrap.sum_by_concept`).
    states = []  # of the generators of each concept's draws and exchanges: state and increment
    for name in names:
        state = ""
        for seed in ([SEED, digest(name)], [SEED, digest(name), EXCHANGES]):
            generator: Any = np.random.default_rng(seed).bit_generator.state["state"]
            state += f"{generator['state']:032x}{generator['inc']:032x}"
        states.append(state)
    subsets = []
    headlined = {subset.key for board in boards for subset in board.data.counted}
    in_means = counted(subset.name for board in boards for subset in board.data.subsets)
    for subset in (subset for board in boards for subset in board.data.with_parts):
        sizes = Counter(sorted(subset.concepts))  # queries of each concept
        of_items = list(zip(subset.texts, subset.concepts, strict=True))
        # Concepts of a query with several right answers, whose score is no one rank
        with_several = {concept for item, concept in of_items if subset.n_right.get(item, 1) > 1}
        headline: dict[str, Any] | None = None
        # The pairs of extra tasks have no share in the main score
        if subset.key in headlined and subset.task not in EXTRA_TASKS:
            headline = {"floor": subset.headline_floor, "places": None}  # of the concepts that count, None for all
            if subset.spelling_free is not None:
                counting = {concept for item, concept in of_items if item in subset.spelling_free}
                headline["places"] = [place for place, name in enumerate(sizes) if name in counting]
        row = {
            "key": subset.key,
            "task": subset.task,
            "title": subset_title(subset.name),
            "from": get_language(subset.name.partition("-")[0]).code,
            "language": subset.language,
            "label": subset_title(subset.name) if subset.task in EQUIVALENTS else LANGUAGES[subset.language].name,
            "n": subset.n,
            "headline": headline,
            "provisional": subset.name not in in_means,
            "concepts": [numbers[name] for name in sizes],
            "sizes": None if subset.task == SPANS else list(sizes.values()),
            "several": [place for place, name in enumerate(sizes) if name in with_several],
        }
        subsets.append(row)
    tasks = {task for board in boards for task in board.data.tasks}
    lexicon = boards[0].data.lexicon
    places = {name: place for place, name in enumerate(sorted({*names, *(lexicon.concepts if lexicon else ())}))}
    whole, *kinds = ([task for task in board.data.tasks if task not in EXTRA_TASKS] for board in boards)
    groups = [("All tasks", whole), ("T1–T3", [task for task in whole if task in RETRIEVAL_TASKS])]
    groups += [("All kinds", of_board) for of_board in kinds]
    return {
        "names": names,
        "chunks": [places[name] // CHUNK for name in names],
        "states": states,
        "subsets": subsets,
        "titles": {task: label for task, label in TASK_LABELS.items() if task in tasks},
        "small": SMALL_N,
        "few": FEW,
        "unreliable_note": UNRELIABLE_NOTE,
        "whole": sorted({task for _, group in groups for task in group}),
        "groups": groups,
        "alpha": ALPHA,
        "draws": RESAMPLES,
    }


def comparison_files(submissions: Iterable[ScoredSubmission]) -> Iterator[tuple[str, bytes]]:
    """Yield (path within the site, content) of the scripts that the page loads, one for each submission.

    It has ``T1/tur-azj`` -> the share of each concept, in the order of their names, in the sum of nDCG. For spans there
    are two numbers for each concept: its shares in the numerator and in the denominator of span F1.
    """
    for submission in submissions:
        sums_by_key = {}
        for score in submission.subsets:
            if not score.sums[:, 1].any():
                continue  # nothing to score, or a score that is no ratio of sums
            _, sums = sum_by_concept(Stratum(score.concepts, score.sums))
            sums_by_key[f"{score.task}/{score.subset}"] = short_numbers(sums if score.task == SPANS else sums[:, 0])
        # A script and no JSON, because a page that is opened from a file:// address may load scripts and nothing else
        yield f"scores/{submission.id}.js", _call("Scores", submission.id, sums_by_key)


def choice_labels(submissions: Collection[ScoredSubmission]) -> dict[str, str]:
    """Return id -> a label by which the page offers a submission: name, variant and revision; no two are the same."""
    notes = distinctions(submissions)
    labels: dict[str, str] = {}
    for submission in submissions:
        metadata = submission.metadata
        revision = metadata.revision or ""  # a commit, or in words
        note = notes.get(submission.id) or (revision if " " in revision else revision[:REVISION_LENGTH])
        about = f"{variant(metadata)}, {note}" if note else variant(metadata)
        label = " ".join(f"{metadata.name} ({about})".split())
        labels[submission.id] = f"{label} {submission.id}" if label in labels.values() else label
    return labels


def short_numbers(values: Floats) -> list[int | float]:
    """Return values in one list, whole numbers as int, so that JSON has no ``.0``."""
    return [int(value) if value.is_integer() else value for value in values.ravel().tolist()]


def concept_files(boards: Sequence[Board]) -> Iterator[tuple[str, bytes]]:
    """Yield (path within the site, content) of the scripts of the browser of concepts."""
    lexicon = boards[0].data.lexicon
    rows = {row["id"]: row for row in (lexicon_rows(lexicon) if lexicon else ())}
    counts: dict[str, list[tuple[int, int, int]]] = {}  # concept -> of each item the subset, who solves it, its place
    subsets: dict[str, dict[str, Any]] = {}
    models: dict[str, str] = {}
    missed: dict[str, dict[str, str | list[str | int]]] = {}
    for board in boards:
        models |= choice_labels(board.by_id.values())
        for subset in board.data.with_parts:
            table = []
            for place, result in enumerate(item_results(board, subset)):
                concept, n = result["concept"], result["n_missed"]
                row = rows.setdefault(concept, {"id": concept, "gloss": "", "entries": {}})
                n_solved = result["n_models"] - n
                row.setdefault("items", []).append([subset.key, result["text"], result["right"], n_solved])
                counts.setdefault(concept, []).append((len(subsets), n_solved, place))
                is_alike = None if subset.spelling_free is None else int(result["id"] not in subset.spelling_free)
                table.append([concept, is_alike, result["chosen"], result["n_chosen"]])
            subsets[subset.key] = {
                "key": subset.key,
                "task": TASK_LABELS[subset.task],
                "title": subset_title(subset.name),
                "from": get_language(subset.name.partition("-")[0]).code,
                "to": subset.language,
                "models": len(board.of_subset(subset)),
            }
            yield f"concepts/{subset.key.replace('/', '-')}.js", _call("Part", subset.key, table)
        for name, submission in board.by_id.items():
            missed.setdefault(name, {}).update(_missed(board, submission))
    for name, of_model in missed.items():
        yield f"concepts/of-{name}.js", _call("Part", f"of-{name}", of_model)
    # Search and order need the index alone. Texts, results and what one model misses are files of their own, which the
    # page loads when somebody asks for them.
    index = []
    names = sorted(rows)
    for start in range(0, len(names), CHUNK):
        number = str(start // CHUNK)
        yield f"concepts/{number}.js", _call("Part", number, [rows[name] for name in names[start : start + CHUNK]])
    for name in names:
        row = rows[name]
        texts = {}
        for code, entry in row["entries"].items():
            texts[code] = [entry["idiom"], entry.get("meaning", ""), *filter(None, [entry.get("per_million")])]
        about = {key: row[key] for key in ("id", "gloss", "aliases") if key in row}
        index.append(about | {"texts": texts, "n": counts.get(name, [])})
    data = browser_data(index, subsets=subsets)
    yield CONCEPTS_FILE, _call("Concepts", data | {"chunk": CHUNK, "models": models})


def _missed(board: Board, submission: ScoredSubmission) -> dict[str, str | list[str | int]]:
    """Return ``T2/tur`` -> which items a submission misses, in their order.

    It is a 1 for each that it misses, otherwise a 0; of a language model its wrong answer, "" if that cannot be read.
    """
    missed: dict[str, str | list[str | int]] = {}
    for subset in board.data.with_parts:
        score = submission.find(subset.task, subset.name)
        if score is None:
            continue
        # First documents of hundreds of encoders would take most of the room of the site
        if score.answers is None:
            missed[subset.key] = "".join("0" if is_solved else "1" for is_solved in score.solved)
        else:
            answers = zip(wrong_answers(score, subset), score.solved, strict=True)
            missed[subset.key] = [0 if is_solved else answer[0] if answer else "" for answer, is_solved in answers]
    return missed


def _call(name: str, *values: Any) -> bytes:
    """Return a script that hands values to its page."""
    return f"turkicIdiom{name}({','.join(map(json_for_script, values))});\n".encode()


def check_rules(data: BoardData) -> dict[str, Any]:
    """Return the rules by which the page "Submit" checks the form of a submission, those of `leaderboard check`."""
    # The page does not know the ids of queries and documents and computes no score; the command does
    files = {}
    for task, name in rules.PREDICTION_FILES.items():
        subsets: dict[str, Any] = {subset.name: {"n": subset.n, "pool": subset.pool} for subset in data.of_task(task)}
        kind, head = "answers", ["items", "prompt", "method"]  # beside the name of the subset
        if task == SPANS:
            kind, head = "tags", []
        elif task == STS:
            kind, head = "similarities", []
            # A submission also has pairs that are not scored themselves
            subsets = {name: {} for name in subsets}
        elif task in TASKS:
            kind, head = "ranking", ["documents"]
        # The board of encoders knows no subsets of items: null stands for any
        of_file = {"task": task, "kind": kind, "head": head, "subsets": subsets or None}
        files[name] = of_file | {"is_open": task in OPEN_TASKS}
    # Other programs than Python know the end of a text by another sign than \Z
    schema = json.dumps(rules.MetadataFile.model_json_schema()).replace(r"\\Z", "$")
    return {
        "format": rules.FORMAT,
        "metadata_file": rules.METADATA_FILE,
        "metadata": json.loads(schema),
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
        "data": {"path": data.path, "revision": data.revision, "editions": EDITIONS},
        "letters": "".join(sorted(TAG_LETTERS)),
        "prompts": list(VARIANTS),
        "methods": list(METHODS),
        "blanks": BLANKS.pattern,
    }
