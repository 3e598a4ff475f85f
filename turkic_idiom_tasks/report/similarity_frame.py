"""Scores of a run on similarity tasks as one long pandas frame, with a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from turkic_idiom_tasks.dataset.similarity import SIMILARITY_TASKS
from turkic_idiom_tasks.metrics.bootstrap import Resampled, mean
from turkic_idiom_tasks.metrics.similarity import character_overlap
from turkic_idiom_tasks.report.frame import IS_RELIABLE, MACRO
from turkic_idiom_tasks.results.predictions import Similarities
from turkic_idiom_tasks.results.scored import score_subset
from turkic_idiom_tasks.runs.run import ModelRun

SIMILARITY_NAMES = tuple(task.name for task in SIMILARITY_TASKS.values())
SIMILARITY_MEASURES = (
    "spearman",
    "spearman_idiom",
    "spearman_general",
    "affinity",
    "scaled_similarity",
    "accuracy",
)
PAIR_COUNTS = ("n_pairs", "n_idioms")
OVERLAP_BASELINE = "character overlap (baseline)"


def similarity_frame(runs: Sequence[ModelRun]) -> pd.DataFrame:
    """Return the scores of runs on similarity tasks, in their order.

    Every run has a row for each subset and one for their macro average (`MACRO`), whose counts are sums. The interval
    is the 95% interval of Spearman's correlation over all pairs.
    """
    rows: list[dict[str, Any]] = []
    for run in runs:
        parts: list[Resampled] = []
        run_rows: list[dict[str, Any]] = []
        for subset, scored in run.subsets.items():
            resampled = scored.resampled()
            parts.append(resampled)
            row: dict[str, Any] = {"model": run.model, "task": run.task, "subset": subset}
            row |= {name: scored.scores[name] for name in (*SIMILARITY_MEASURES, *PAIR_COUNTS)}
            run_rows.append(row | _interval(resampled))
        macro: dict[str, Any] = {"model": run.model, "task": run.task, "subset": MACRO}
        for name in SIMILARITY_MEASURES:
            macro[name] = sum(row[name] for row in run_rows) / len(run_rows)
        for name in PAIR_COUNTS:
            macro[name] = sum(row[name] for row in run_rows)
        rows += [*run_rows, macro | _interval(mean(parts))]
    columns = ["model", "task", "subset", *SIMILARITY_MEASURES, "spearman_low", "spearman_high", IS_RELIABLE]
    frame = pd.DataFrame(rows, columns=[*columns, *PAIR_COUNTS])
    return frame.astype(dict.fromkeys(PAIR_COUNTS, "Int64"))


def overlap_baseline(run: ModelRun) -> ModelRun:
    """Return the scores of a baseline on the pairs of a run: the character trigrams that two sentences share."""
    subsets = {}
    for subset, scored in run.subsets.items():
        if scored.similarities is not None:
            task, pairs = scored.similarities.task, scored.similarities.pairs
            values = character_overlap([row.sentence1 for row in pairs.rows], [row.sentence2 for row in pairs.rows])
            subsets[subset] = score_subset(Similarities(task, pairs, values))
    return ModelRun(OVERLAP_BASELINE, run.task, subsets, shared_stem={}, left_out=run.left_out, folder=run.folder)


def _interval(resampled: Resampled) -> dict[str, Any]:
    interval = resampled.interval()
    return {"spearman_low": interval.low, "spearman_high": interval.high, IS_RELIABLE: interval.is_reliable}
