"""Scores of finished results as one long frame, from which the paper's tables and figures are made.

`score_frame` has a row for every score of every subset of every result. Intervals and tests also need `query_frame`,
which has a row for every test query.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from turkic_idiom_tasks.dataset.retrieval import TASKS, target_language
from turkic_idiom_tasks.encoders.names import PRETRAINED
from turkic_idiom_tasks.results.record import Header, Record
from turkic_idiom_tasks.results.scored import score_record

IDENTITY = ["model", "regime", "language", "seed", "pooling", "size"]  # columns that identify a result
SCORE_COLUMNS = [*IDENTITY, "task", "subset", "measure", "value"]
QUERY_COLUMNS = [*IDENTITY, "task", "subset", "query", "concept", "ndcg"]
MACRO = "mean"  # name of the macro average over the languages of a task, among its subsets

IS_RELIABLE = "interval_is_reliable"  # False if few concepts make up a score, so that its interval may be too short
UNTUNED_KEPT = "untuned_kept"  # a measure: 1 if a training ended with the untuned weights, else 0
BEST_EPOCH = "best_epoch"  # a measure: the epoch whose weights were kept
MEASURES = (
    "ndcg",
    "ndcg_floor",
    "ndcg_corrected",
    "ndcg_strict",
    "ndcg_strict_floor",
    "ndcg_at_10",
    "mrr",
    "recall_at_1",
    "recall_at_5",
    "recall_at_10",
)


def score_frame(headers: Iterable[Header]) -> pd.DataFrame:
    """Return the scores that results state.

    Returns:
        a frame with `SCORE_COLUMNS`. A pretrained model has no language and no seed. The language is that of the
        meanings (retrieval) or of the sentences (spans) of the training; size is a text: ``0``, ``10``, ``all``. An
        undefined value is NaN.
    """
    rows: list[list[Any]] = []
    for header in headers:
        identity = _identity(header)
        outcome = header.training.outcome if header.training else {}
        extra: dict[str, Any] = {}
        if "kept_step" in outcome:
            extra[UNTUNED_KEPT] = float(outcome["kept_step"] == 0)
        if BEST_EPOCH in outcome:
            extra[BEST_EPOCH] = outcome[BEST_EPOCH]
        for subset in header.subsets:
            for measure, value in {**subset.scores, **extra}.items():
                rows.append([*identity, subset.task, subset.subset, measure, value])
    return _typed(pd.DataFrame(rows, columns=SCORE_COLUMNS), "value")


def query_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Return the nDCG of every test query of the retrieval tasks, computed from the rankings.

    Returns:
        a frame with `QUERY_COLUMNS`.

    Raises:
        InputError: the rankings of a record do not give the scores that it states.
    """
    frames = []
    for record in records:
        identity = dict(zip(IDENTITY, _identity(record.header), strict=True))
        for scored in score_record(record):
            if scored.task in TASKS:
                columns = {"query": scored.items, "concept": scored.concepts, "ndcg": scored.sums[:, 0]}
                frames.append(pd.DataFrame({**identity, "task": scored.task, "subset": scored.subset, **columns}))
    if not frames:
        return _typed(pd.DataFrame(columns=QUERY_COLUMNS), "ndcg")
    return _typed(pd.concat(frames, ignore_index=True)[QUERY_COLUMNS], "ndcg")


def widen(scores: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return a frame with a row for each combination of the keys, in their order, and a column for each measure."""
    rows = scores[keys].drop_duplicates()
    wide = scores.pivot(index=keys, columns="measure", values="value")
    return rows.merge(wide.reset_index(), on=keys, how="left", sort=False)


def language_of(task: str, subset: str) -> str:
    """Return the code of the language of the documents of a retrieval subset."""
    return target_language(task, subset).code


def _identity(header: Header) -> list[Any]:
    training, pooling = header.training, header.settings.get("pooling")
    if training is None:
        return [header.model.name, PRETRAINED, None, None, pooling, None]
    size = None if training.size is None else str(training.size)
    return [header.model.name, training.regime, training.language, training.seed, pooling, size]


def _typed(frame: pd.DataFrame, value: str) -> pd.DataFrame:
    """Return the frame with fixed column types, which do not depend on missing values."""
    types = dict.fromkeys(frame.columns, "object")
    types |= {"seed": "Int64", value: "float64"}
    frame = frame.astype(types)
    texts = [column for column in frame.columns if types[column] == "object"]
    frame[texts] = frame[texts].where(frame[texts].notna(), None)
    return frame
