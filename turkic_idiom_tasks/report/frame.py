"""Scores as pandas frames, from which everything that is printed or written is laid out.

`score_frame` (long: a row for every score) and `query_frame` (a row for every test query) are of finished results, for
the paper's tables. `report_run` has all that `turkic-idiom run` prints of a run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from turkic_idiom_tasks.dataset.retrieval import PAPER_TASKS, TASKS
from turkic_idiom_tasks.dataset.similarity import SIMILARITY_TASKS
from turkic_idiom_tasks.encoders.names import PRETRAINED
from turkic_idiom_tasks.languages import counted
from turkic_idiom_tasks.metrics.bootstrap import Resampled, mean
from turkic_idiom_tasks.results.record import Header, Record
from turkic_idiom_tasks.results.scored import score_record

if TYPE_CHECKING:  # it imports torch and mteb, which comparing and reporting finished results do not need
    from turkic_idiom_tasks.runs.run import ModelRun

IDENTITY = ["model", "regime", "language", "seed", "pooling", "size"]  # columns that identify a result
SCORE_COLUMNS = [*IDENTITY, "task", "subset", "measure", "value"]
QUERY_COLUMNS = [*IDENTITY, "task", "subset", "query", "concept", "ndcg"]
MACRO = "mean"  # name of the macro average over the languages of a task, among its subsets

IS_RELIABLE = "interval_is_reliable"  # False if few concepts make up a score, so that its interval may be too short
UNTUNED_KEPT = "untuned_kept"  # a measure: 1 if a training ended with the untuned weights, else 0
BEST_EPOCH = "best_epoch"  # a measure: the epoch whose weights were kept
N_SEEDS, SPREAD = "seeds", "sd over seeds"  # columns that `average_seeds` adds
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
SIZES = ("n_queries", "n_documents")
HEADLINE = ("headline", "headline_low", "headline_high", "headline_is_reliable")
# Of T1; see `results.headlines`
SPELLING = ("ndcg_spelling_free", "ndcg_spelling_free_floor", "ndcg_spelt_alike", "n_spelling_free")
SIMILARITY_NAMES = tuple(task.name for task in SIMILARITY_TASKS.values())
SIMILARITY_MEASURES = ("spearman", "spearman_idiom", "spearman_general", "affinity", "scaled_similarity", "accuracy")
PAIR_COUNTS = ("n_pairs", "n_idioms")

_PLACE = ("model", "task", "subset", *HEADLINE)
_RETRIEVAL_COLUMNS = (*_PLACE, *MEASURES, "ndcg_low", "ndcg_high", IS_RELIABLE, *SIZES, *SPELLING)
_SIMILARITY_COLUMNS = (*_PLACE, *SIMILARITY_MEASURES, "spearman_low", "spearman_high", IS_RELIABLE, *PAIR_COUNTS)


def score_frame(headers: Iterable[Header]) -> pd.DataFrame:
    """Return the scores that results state, with `SCORE_COLUMNS`; an undefined value is NaN.

    A pretrained model has no language and no seed. The language is that of the meanings (retrieval) or of the sentences
    (spans) of the training; size is a text: ``0``, ``10``, ``all``.
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
    # Types are stated, so that they do not depend on missing values
    return pd.DataFrame(rows, columns=SCORE_COLUMNS, dtype="object").astype({"seed": "Int64", "value": "float64"})


def query_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Return the nDCG of every test query, with `QUERY_COLUMNS`, from rankings that must give the stated scores."""
    rows: list[list[Any]] = []
    for record in records:
        identity = _identity(record.header)
        for scored in score_record(record):
            if scored.task in TASKS:
                place = [*identity, scored.task, scored.subset]
                for query in zip(scored.items, scored.concepts, scored.sums[:, 0].tolist(), strict=True):
                    rows.append([*place, *query])
    return pd.DataFrame(rows, columns=QUERY_COLUMNS, dtype="object").astype({"seed": "Int64", "ndcg": "float64"})


def average_seeds(cells: pd.DataFrame, keys: list[str], *, main: str) -> pd.DataFrame:
    """Return the mean over seeds of every measure, NaN where one is undefined, and the deviation of the main one.

    A row of `cells` is a result; results of different seeds have the keys in common. The deviation is in `SPREAD`.
    """
    # pandas would drop rows that lack a key, without a word
    groups = cells.groupby(keys, sort=False, dropna=False)
    measures = [name for name in cells.columns if name not in keys and pd.api.types.is_numeric_dtype(cells[name])]
    # A mean over only those seeds whose score is defined would look better than the system is
    means = groups[measures].agg(lambda values: values.mean(skipna=False))
    means[SPREAD] = groups[main].agg(lambda values: values.std(skipna=False))
    means[N_SEEDS] = groups.size()
    return means.reset_index()


def report_run(runs: Sequence[ModelRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the scores of a run, and the mean headline of each model over T1 to T3, or else its other tasks.

    First come the scores of retrieval, then those of similarity, each in the order of the runs. A model has a row for
    each subset of a task and one for the macro average (`MACRO`) of those that means count (`languages.counted`), whose
    sizes are sums. The 95% interval is that of nDCG or of Spearman's correlation over all pairs. The columns `HEADLINE`
    hold the headline of the subset, or the mean of those that are defined, with its interval; `SPELLING` is empty in
    the macro average.
    """
    rows: list[dict[str, Any]] = []
    headlines: dict[str, dict[str, Resampled]] = {}  # model -> task -> its headline
    for run in runs:
        run_rows, headline = _rows(run)
        rows += run_rows
        if headline:
            headlines.setdefault(run.model, {})[run.task] = headline
    overall = []
    for model, by_task in headlines.items():
        # Few sentences decide T4 and STS: their intervals of .15 on either side would drown the other tasks
        of_paper = [by_task[name] for name in (TASKS[task].name for task in PAPER_TASKS) if name in by_task]
        overall.append({"model": model} | _interval(HEADLINE, mean(of_paper or list(by_task.values()))))
    rows.sort(key=lambda row: row["task"] in SIMILARITY_NAMES)
    are_similarity = {row["task"] in SIMILARITY_NAMES for row in rows}
    columns = dict.fromkeys(_RETRIEVAL_COLUMNS if are_similarity != {True} else ())
    columns |= dict.fromkeys(_SIMILARITY_COLUMNS if True in are_similarity else ())
    # Int64, because a column of plain integers becomes one of floats where a row lacks it: 400.0 documents
    counts = [name for name in (*SIZES, "n_spelling_free", *PAIR_COUNTS) if name in columns]
    frame = pd.DataFrame(rows, columns=list(columns)).astype(dict.fromkeys(counts, "Int64"))
    return frame, pd.DataFrame(overall, columns=["model", *HEADLINE])


def to_json(frame: pd.DataFrame) -> str:
    """Return a frame as a JSON list of objects, with null for undefined values."""
    # Otherwise pandas would put NaN in place of None, which is no JSON
    plain = frame.astype(object)
    rows = plain.where(plain.notna(), None).to_dict("records")
    return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"


def _rows(run: ModelRun) -> tuple[list[dict[str, Any]], Resampled | None]:
    """Return the rows of a run, and its headline; None if no subset has one."""
    is_similarity = run.task in SIMILARITY_NAMES
    measures, counts = (SIMILARITY_MEASURES, PAIR_COUNTS) if is_similarity else (MEASURES, SIZES)
    with_interval = (measures[0], f"{measures[0]}_low", f"{measures[0]}_high", IS_RELIABLE)
    place = {"model": run.model, "task": run.task}
    rows: list[dict[str, Any]] = []
    parts, headlines = {}, {}
    for subset, scored in run.subsets.items():
        parts[subset] = scored.resampled()
        row = place | {"subset": subset} | _interval(with_interval, parts[subset])
        row |= {name: scored.scores.get(name) for name in (*measures, *counts, *SPELLING)}
        headline = scored.resampled_headline(parts[subset])
        if headline:
            headlines[subset] = headline
            row |= _interval(HEADLINE, headline)
        rows.append(row)
    names = counted(run.subsets)
    macro_row = place | {"subset": MACRO} | _interval(with_interval, mean([parts[name] for name in names]))
    counted_rows = [row for row in rows if row["subset"] in names]
    for name in measures:
        macro_row[name] = sum(row[name] for row in counted_rows) / len(counted_rows)
    for name in counts:
        macro_row[name] = sum(row[name] for row in counted_rows)
    if not headlines:
        return [*rows, macro_row], None
    headline = mean([headlines[name] for name in counted(headlines)])
    return [*rows, macro_row | _interval(HEADLINE, headline)], headline


def _interval(names: tuple[str, ...], resampled: Resampled) -> dict[str, Any]:
    """Return a score and its interval under the names of the score, its two ends, and whether they are reliable."""
    interval = resampled.interval()
    return dict(zip(names, (resampled.score, interval.low, interval.high, interval.is_reliable), strict=True))


def _identity(header: Header) -> list[Any]:
    training, pooling = header.training, header.settings.get("pooling")
    if training is None:
        return [header.model.name, PRETRAINED, None, None, pooling, None]
    size = None if training.size is None else str(training.size)
    return [header.model.name, training.regime, training.language, training.seed, pooling, size]
