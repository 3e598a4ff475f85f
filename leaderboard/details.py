"""What the pages show besides tables of submissions: scores by subset, hard items, traps, shares of spelling."""

import math
from collections import Counter
from typing import Any

import numpy as np

from leaderboard.board import Board, ScoredSubmission
from leaderboard.data import SubsetItems
from leaderboard.ranking import NO_SCORE, Score
from leaderboard.tables import subset_title
from turkic_idiom_tasks.dataset.similarity import STS
from turkic_idiom_tasks.languages import get_language
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.metrics.bootstrap import Stratum, resample_models
from turkic_idiom_tasks.metrics.ranking import random_ndcg
from turkic_idiom_tasks.results.item_answers import ITEM_TASKS
from turkic_idiom_tasks.results.predictions import SPANS
from turkic_idiom_tasks.results.scored import ScoredSubset
from turkic_idiom_tasks.tasks.items.item_types import TRAPS, USAGE, Item
from turkic_idiom_tasks.tasks.items.items import HARD_TASKS, whole_of
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS, RECALL_THREE
from turkic_idiom_tasks.tasks.items.prompts import option_texts

Values = dict[str, Any]  # what a template shows, by name

N_MISSED = 5  # items of each task

_COLUMNS: dict[str, tuple[str, ...]] = {  # task -> the scores beside the main one
    SPANS: ("span_precision", "span_recall", "token_f1", "token_accuracy"),
    STS: ("spearman_idiom", "affinity", "scaled_similarity", "accuracy"),
    USAGE: ("accuracy_corrected", "pair_accuracy", "recall_figurative", "recall_literal", "unreadable"),
    RECALL_THREE: ("first", "exact", "unjudged", "unreadable"),
}
_OPEN_COLUMNS: tuple[str, ...] = ("exact", "lemma", "unjudged", "unreadable")
_CHOICE_COLUMNS = ("accuracy_corrected", "near_share", "lexical_share", "random_share", "unreadable")
_RETRIEVAL_COLUMNS: tuple[str, ...] = ("ndcg_floor", "ndcg_corrected", "ndcg_strict", "ndcg_at_10", "mrr")
_RETRIEVAL_COLUMNS += ("recall_at_1", "recall_at_5", "recall_at_10")
_TITLES = {  # of scores whose names do not say it
    "ndcg_floor": "floor",
    "ndcg_corrected": "corrected",
    "ndcg_strict": "strict",
    "ndcg_at_10": "nDCG@10",
    "mrr": "MRR",
    "span_precision": "precision",
    "span_recall": "recall",
    "token_f1": "token F1",
    "spearman_idiom": "idiom pairs",
    "accuracy": "paraphrase nearer",
    "accuracy_corrected": "corrected",
    "pair_accuracy": "both right",
    "first": "first right",
    "exact": "exact form",
    "unjudged": "not judged",
    "near_share": "near traps",
    "lexical_share": "lexical traps",
    "random_share": "random traps",
}


def task_part(submission: ScoredSubmission, board: Board, task: str) -> Values:
    """Return one task on the page of a submission: a row for each subset with all of its scores."""
    main, usual_columns = {SPANS: "span F1", STS: "Spearman"}.get(task, "nDCG"), _RETRIEVAL_COLUMNS
    if task in ITEM_TASKS:
        main, usual_columns = ("accepted", _OPEN_COLUMNS) if task in OPEN_TASKS else ("accuracy", _CHOICE_COLUMNS)
    columns = _COLUMNS.get(whole_of(task), usual_columns)
    rows = []
    ways: dict[str, None] = {}  # how language models were asked
    for score in submission.of_task(task):
        main_score = board.main_scores[submission.id][task, score.subset]
        others = [score.scores.get(name, math.nan) for name in columns]
        rows.append((subset_title(score.subset), score, main_score, others))
        if score.answers is not None:
            ways[f"prompt {score.answers.prompt}, {score.answers.method}"] = None
    return {
        "task": task,
        "columns": (main, *(_TITLES.get(name, name.replace("_at_", "@").replace("_", " ")) for name in columns)),
        "rows": rows,
        "asked": "; ".join(ways),
    }


def spelling_splits(board: Board, task: str) -> list[Values]:
    """Return the subsets of a task whose queries are divided by whether spelling alone finds a right answer."""
    splits: list[Values] = []
    for subset in board.data.of_task(task):
        if subset.pool is not None and subset.spelling_free is not None and 0 < len(subset.spelling_free) < subset.n:
            groups: list[Values] = []
            # Related languages share many idioms word for word; only a model that understands idioms finds the others
            # too. The two groups are those of `turkic-idiom run`.
            is_free = np.array([query in subset.spelling_free for query in subset.texts])
            floors = np.array([random_ndcg(subset.pool, n_right) for n_right in subset.n_right.values()])
            for chosen in (is_free, ~is_free):
                concepts = np.array(subset.concepts)[chosen].tolist()
                of_subset = board.of_subset(subset)
                strata = {name: Stratum(concepts, score.sums[chosen]) for name, score in of_subset.items()}
                scores = {}  # id -> mean nDCG of these queries
                for name, of_model in zip(strata, resample_models(list(strata.values())), strict=True):
                    scores[name] = Score(of_model.score, of_model.interval())
                floor = float(floors[chosen].mean())
                groups.append({"n": len(concepts), "floor": floor, "scores": scores, "none": NO_SCORE})
            splits.append({"task": task, "language": subset.language, "groups": groups})
    return splits


def trap_profiles(board: Board) -> list[Values]:
    """Return for each language model, best first, which traps it falls into, over all of its choice items.

    `n_wrong` counts the wrong answers that could be read, of items with typed traps; `shares` are those of the trap
    types among them, NaN without any; `unreadable` is the share of all answers that could not be read.
    """
    profiles: list[Values] = []
    for name in dict.fromkeys([*board.overall, *board.by_id]):
        answers: list[tuple[Item, int | str | None]] = []
        for score in board.by_id[name].subsets:
            # No item counts twice
            if score.answers is not None and score.task not in HARD_TASKS:
                answers += zip(score.answers.items.rows, score.answers.answers, strict=True)
        n_unreadable = sum(answer is None for _, answer in answers)
        types = Counter(item.options[answer].trap for item, answer in answers if isinstance(answer, int))
        # These are right answers, and wrong ones of items without typed traps
        del types[None]
        n_wrong = types.total()
        profile = {
            "submission": board.by_id[name],
            "n_wrong": n_wrong,
            "shares": {trap: types[trap] / n_wrong if n_wrong else math.nan for trap in TRAPS},
            "unreadable": n_unreadable / len(answers) if answers else math.nan,
        }
        profiles.append(profile)
    return profiles


def missed_items(board: Board, lexicon: Lexicon | None) -> list[Values]:
    """Return the items of each task that most language models answer wrongly, with the wrong answer that most gave."""
    missed: list[Values] = []
    for task in board.data.tasks:
        if task in HARD_TASKS:
            continue
        of_task: list[Values] = []
        for subset in board.data.of_task(task):
            source = get_language(subset.name.partition("-")[0]).code
            about = {"task": task, "language": source, "target": subset.language}
            of_task += [result | about for result in item_results(board, subset) if result["n_missed"]]
        of_task.sort(key=lambda item: (-item["n_missed"] / item["n_models"], item["id"]))
        missed += of_task[:N_MISSED]
    for item in missed:
        item["gloss"] = lexicon.concepts[item["concept"]].gloss if lexicon else ""
    return missed


def item_results(board: Board, subset: SubsetItems) -> list[Values]:
    """Return for each item of a subset how many models miss it, and the wrong answer that most of them gave."""
    scored = board.of_subset(subset).values()
    n_solved = sum((score.solved for score in scored), np.zeros(subset.n, dtype=np.int64)).tolist()
    wrong = [wrong_answers(score, subset) for score in scored]
    results: list[Values] = []
    for place, (item, concept) in enumerate(zip(subset.texts, subset.concepts, strict=True)):
        count = Counter(answer for of_model in wrong if (answer := of_model[place]))
        # Of equally frequent answers always the same one, whatever the order of the submissions
        chosen, trap = min(count, key=lambda answer: (-count[answer], answer), default=("", ""))
        result: Values = {"id": item, "concept": concept, "text": subset.texts[item], "right": subset.answers[item]}
        result |= {"chosen": chosen, "trap": trap, "n_chosen": count[chosen, trap]}
        results.append(result | {"n_missed": len(scored) - n_solved[place], "n_models": len(scored)})
    return results


def wrong_answers(score: ScoredSubset, subset: SubsetItems) -> list[tuple[str, str] | None]:
    """Return the wrong answer, or wrong first document, and its type of trap; None where right or not known."""
    if score.answers is None:
        firsts = score.wrong_firsts or [None] * score.n
        return [(subset.documents[name], "") if name else None for name in firsts]
    wrong: list[tuple[str, str] | None] = []
    for item, answer, is_right in zip(score.answers.items.rows, score.answers.answers, score.solved, strict=True):
        if is_right or answer is None:
            wrong.append(None)
        elif isinstance(answer, int):
            wrong.append((option_texts(item)[answer], item.options[answer].trap or ""))
        else:
            wrong.append((answer, ""))
    return wrong
