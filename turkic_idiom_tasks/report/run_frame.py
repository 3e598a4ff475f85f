"""Scores of a run as one long pandas frame: a row for each model, task and subset, and for each macro average."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from turkic_idiom_tasks.metrics.bootstrap import Resampled, mean
from turkic_idiom_tasks.report.frame import IS_RELIABLE, MACRO, MEASURES
from turkic_idiom_tasks.report.similarity_frame import SIMILARITY_NAMES, similarity_frame
from turkic_idiom_tasks.results.scored import ScoredSubset
from turkic_idiom_tasks.runs.run import ModelRun

SIZES = ("n_queries", "n_documents")
OVERLAP = ("ndcg_shared_stem", "ndcg_no_shared_stem", "n_no_shared_stem")
INTERVAL = ("ndcg_low", "ndcg_high")
COLUMNS = ("model", "task", "subset", *MEASURES, *INTERVAL, IS_RELIABLE, *SIZES, *OVERLAP)


def scores_frame(runs: Sequence[ModelRun]) -> pd.DataFrame:
    """Return the scores of runs: retrieval with `COLUMNS`, then similarity with the columns of `similarity_frame`."""
    retrieval = [run for run in runs if run.task not in SIMILARITY_NAMES]
    similarity = [run for run in runs if run.task in SIMILARITY_NAMES]
    if not similarity:
        return retrieval_frame(retrieval)
    if not retrieval:
        return similarity_frame(similarity)
    return pd.concat([retrieval_frame(retrieval), similarity_frame(similarity)], ignore_index=True)


def retrieval_frame(runs: Sequence[ModelRun]) -> pd.DataFrame:
    """Return the scores of runs on retrieval tasks, in their order.

    Every run has a row for each subset and one for their macro average (`MACRO`), whose sizes are sums. The interval is
    the 95% interval of nDCG. The columns `OVERLAP` hold nDCG of the queries that share a stem with a relevant document,
    nDCG of the other queries, and the number of the other queries. They are empty in the macro average, because the
    shares differ by subset.
    """
    rows: list[dict[str, Any]] = []
    for run in runs:
        parts = []
        run_rows = []
        for subset, scored in run.subsets.items():
            resampled = scored.resampled()
            parts.append(resampled)
            row: dict[str, Any] = {"model": run.model, "task": run.task, "subset": subset}
            row |= {name: scored.scores[name] for name in (*MEASURES, *SIZES)}
            run_rows.append(row | _interval(resampled) | _overlap(scored, run.shared_stem[subset]))
        macro: dict[str, Any] = {"model": run.model, "task": run.task, "subset": MACRO}
        for name in MEASURES:
            macro[name] = sum(row[name] for row in run_rows) / len(run_rows)
        for name in SIZES:
            macro[name] = sum(row[name] for row in run_rows)
        rows += [*run_rows, macro | _interval(mean(parts))]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return frame.astype(dict.fromkeys((*SIZES, "n_no_shared_stem"), "Int64"))


def overall(runs: Iterable[ModelRun]) -> Resampled:
    """Return the macro average over the tasks of one model, each task the macro average of its subsets, resampled."""
    tasks = []
    for run in runs:
        tasks.append(mean([run.subsets[subset].resampled() for subset in sorted(run.subsets)]))
    return mean(tasks)


def to_csv(frame: pd.DataFrame) -> str:
    """Return a frame as CSV."""
    text: str = frame.to_csv(index=False, lineterminator="\n")
    return text


def to_json(frame: pd.DataFrame) -> str:
    """Return a frame as a JSON list of objects, with null for undefined values."""
    plain = frame.astype(object)
    rows = plain.where(plain.notna(), None).to_dict("records")
    return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"


def _interval(resampled: Resampled) -> dict[str, Any]:
    interval = resampled.interval()
    return {"ndcg_low": interval.low, "ndcg_high": interval.high, IS_RELIABLE: interval.is_reliable}


def _overlap(scored: ScoredSubset, shared_stem: frozenset[str]) -> dict[str, Any]:
    """Return mean nDCG of the queries that share a stem with a relevant document, and of the others."""
    shares = np.array([query in shared_stem for query in scored.items])
    ndcg = scored.sums[:, 0]
    return {
        "ndcg_shared_stem": float(ndcg[shares].mean()) if shares.any() else None,
        "ndcg_no_shared_stem": float(ndcg[~shares].mean()) if not shares.all() else None,
        "n_no_shared_stem": int((~shares).sum()),
    }
