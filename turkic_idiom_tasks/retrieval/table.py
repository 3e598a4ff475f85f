"""The final table of `turkic-idiom run`: one block per task, a column per subset, a row per model."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from turkic_idiom_tasks.metrics.statistics import SMALL_N, Interval, bootstrap_interval
from turkic_idiom_tasks.retrieval.ranking import SubsetRanking
from turkic_idiom_tasks.retrieval.relevance import concept_of
from turkic_idiom_tasks.retrieval.suite import ModelRun

OVERLAP_TASK = "TurkicIdiomT1"  # elsewhere a meaning hardly ever has a word of its idiom
_SCORES = ("ndcg", "ndcg_floor", "ndcg_corrected", "ndcg_at_10", "mrr", "recall_at_1", "recall_at_5", "recall_at_10")
MACRO = "mean"


def render(runs: Sequence[ModelRun], *, style: str) -> str:
    """The runs as text.

    Args:
        runs: in the order in which they shall stand.
        style: ``table`` for people; ``csv`` or ``json`` with every score, one record per model, task and subset.
    """
    if style == "csv":
        return _csv(_records(runs))
    if style == "json":
        return json.dumps(_records(runs), ensure_ascii=False, indent=2) + "\n"
    return "\n".join(_block([run for run in runs if run.task == task]) for task in dict.fromkeys(r.task for r in runs))


def interval(rankings: dict[str, SubsetRanking]) -> Interval:
    """95% bootstrap interval of the macro average of nDCG over subsets; of a single subset, its own interval."""
    scores = {subset: ranking.per_query.ndcg for subset, ranking in rankings.items()}
    clusters = {subset: [concept_of(query) for query in ranking.queries] for subset, ranking in rankings.items()}
    return bootstrap_interval(scores, clusters)


def _records(runs: Sequence[ModelRun]) -> list[dict[str, Any]]:
    """One record per model, task and subset, and one for the macro average (`mean`), whose counts are sums."""
    records = []
    for run in runs:
        by_subset = {subset: ranking.scores() for subset, ranking in run.rankings.items()}
        for subset, scores in by_subset.items():
            bounds = interval({subset: run.rankings[subset]})
            records.append(_record(run, subset, scores=scores, bounds=bounds) | _overlap(run, subset))
        records.append(_record(run, MACRO, scores=_macro(list(by_subset.values())), bounds=interval(run.rankings)))
        records[-1] |= dict.fromkeys(_overlap(run, next(iter(by_subset))))  # no mean: the shares differ by subset
    return records


def _record(run: ModelRun, subset: str, *, scores: dict[str, float], bounds: Interval) -> dict[str, Any]:
    record: dict[str, Any] = {"model": run.model, "task": run.task, "subset": subset}
    record |= {name: scores[name] for name in _SCORES}
    record |= {"ndcg_low": bounds.low, "ndcg_high": bounds.high}
    return record | {"n_queries": int(scores["n_queries"]), "n_documents": int(scores["n_documents"])}


def _overlap(run: ModelRun, subset: str) -> dict[str, Any]:
    """Mean nDCG of the queries that share a stem with a relevant document, and of the others; None of no query."""
    ranking, shared = run.rankings[subset], run.shared_stem[subset]
    mask = np.array([query in shared for query in ranking.queries])
    means = {
        f"ndcg_{name}": float(ranking.per_query.ndcg[part].mean()) if part.any() else None
        for name, part in (("shared_stem", mask), ("no_shared_stem", ~mask))
    }
    return means | {"n_no_shared_stem": int((~mask).sum())}


def _overlap_block(runs: list[ModelRun]) -> str:
    subsets = list(runs[0].rankings)
    found = [[_overlap(run, subset) for subset in subsets] for run in runs]
    header = ["queries that share a stem / do not", *subsets]
    counts = [
        f"{len(runs[0].rankings[subset].queries) - part['n_no_shared_stem']} / {part['n_no_shared_stem']}"
        for subset, part in zip(subsets, found[0], strict=True)
    ]
    rows = [["queries", *counts]]
    for run, parts in zip(runs, found, strict=True):
        cells = [f"{_or_none(part['ndcg_shared_stem'])} / {_or_none(part['ndcg_no_shared_stem'])}" for part in parts]
        rows.append([run.model, *cells])
    lines = _aligned([header, *rows])
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]]) + "\n"


def _or_none(value: float | None) -> str:
    return "–" if value is None else _number(value)


def _macro(subsets: list[dict[str, float]]) -> dict[str, float]:
    means = {name: sum(scores[name] for scores in subsets) / len(subsets) for name in _SCORES}
    return means | {name: sum(scores[name] for scores in subsets) for name in ("n_queries", "n_documents")}


def _csv(records: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def _block(runs: list[ModelRun]) -> str:
    """One task: nDCG with its interval per subset and in the mean, the chance-corrected mean, nDCG@10 and MRR."""
    subsets = list(runs[0].rankings)
    sizes = [runs[0].rankings[subset].scores() for subset in subsets]
    header = [runs[0].task, *subsets, MACRO, "corrected", "nDCG@10", "MRR"]
    rows = [
        ["queries", *(_count(size["n_queries"]) for size in sizes), "", "", "", ""],
        ["documents", *(str(size["n_documents"]) for size in sizes), "", "", "", ""],
        ["random ranking (floor)", *(_number(size["ndcg_floor"]) for size in sizes)],
    ]
    macro = _macro(sizes)
    rows[-1] += [_number(macro["ndcg_floor"]), _number(0.0), "", ""]
    for run in runs:
        scores = [ranking.scores() for ranking in run.rankings.values()]
        mean = _macro(scores)
        cells = [
            _with_interval(score["ndcg"], interval({s: run.rankings[s]}))
            for s, score in zip(subsets, scores, strict=True)
        ]
        cells.append(_with_interval(mean["ndcg"], interval(run.rankings)))
        rows.append([run.model, *cells, *(_number(mean[name]) for name in ("ndcg_corrected", "ndcg_at_10", "mrr"))])
    lines = _aligned([header, *rows])
    lines.insert(1, "-" * len(lines[0]))
    if any(size["n_queries"] < SMALL_N for size in sizes):
        lines.append(f"* fewer than {SMALL_N} queries: read the interval, not the score")
    if runs[0].left_out:
        lines.append(f"not in this data: {' '.join(runs[0].left_out)}")
    text = "nDCG over the whole pool [95% bootstrap interval]\n" + "\n".join(lines) + "\n"
    return text + ("\n" + _overlap_block(runs) if runs[0].task == OVERLAP_TASK else "")


def _count(n_queries: float) -> str:
    return f"{int(n_queries)}{'*' if n_queries < SMALL_N else ''}"


def _number(value: float) -> str:
    return f"{value:.3f}"


def _with_interval(value: float, bounds: Interval) -> str:
    return f"{value:.3f} [{bounds.low:.3f}, {bounds.high:.3f}]"


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
