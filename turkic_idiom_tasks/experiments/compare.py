"""Whether one result is better than another, per task and subset and over the languages of a task.

Results are records, of `turkic-idiom run`, `finetune span` or the grid. Every score is computed again from the rankings
or tags and the data in use, and must be the one in the record.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.retrieval import TASKS, find_task
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.metrics.bootstrap import LEVEL
from turkic_idiom_tasks.metrics.comparison import Comparison, Paired, compare, holm
from turkic_idiom_tasks.results.predictions import SPANS, Key, Rankings, usual_order
from turkic_idiom_tasks.results.record import Header, Record, find_records, read_header, read_record
from turkic_idiom_tasks.results.scored import ScoredSubset, score_record

MACRO = "mean"  # the row over the languages of a task
SIDES = ("A", "B")
ALPHA = round(1 - LEVEL, 9)  # a smaller p, after Holm, shows a difference
_DECIMALS = 6  # as mteb rounds
_COMPUTED_AS = ("backend", "dtype")  # settings that must be alike, or rounding alone moves documents


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the comparison; `holm` is the sign-flip p adjusted for all lines."""

    task: str
    subset: str
    result: Comparison
    holm: float | None

    @property
    def winner(self) -> str | None:
        """Return the side that is shown to be better; None where no difference is shown."""
        if self.holm is None or self.holm >= ALPHA:
            return None
        return SIDES[1] if self.result.difference > 0 else SIDES[0]


@dataclass(frozen=True, slots=True)
class Report:
    """A comparison of two systems.

    Attributes:
        names: what A and B are called.
        rows: for each task its subsets, and last their mean where there are several.
        remarks: what limits the comparison.
    """

    names: tuple[str, str]
    rows: tuple[Row, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Scored:
    """What one system scored on one subset, averaged over its seeds.

    Attributes:
        header: of a record of it.
        items: ids of the queries or sentences, sorted.
        concepts: the concept of each item.
        sums: (items, 2) what each item adds to numerator and denominator of the score.
        seeds: of the records that were averaged, sorted; empty of a model that was not trained.
    """

    header: Header
    items: tuple[str, ...]
    concepts: tuple[str, ...]
    sums: npt.NDArray[np.float64]
    seeds: tuple[int, ...]


def compare_results(first: Path, second: Path, dataset: Dataset, *, tasks: Sequence[str] = ()) -> Report:
    """Compare the results of two systems on every task and subset that they have.

    Args:
        first: record or folder of A.
        second: of B.
        dataset: what was scored.
        tasks: T1, T2, T3, full names, or ``spans``; empty for all.

    Raises:
        InputError: the results cannot be read, are of different data, or one has what the other lacks.
    """
    places = (first, second)
    wanted = _task_names(tasks)
    headers = [_find_headers(place, wanted) for place in places]
    _check_same_data(*headers)
    _check_same([_tasks_of(found, wanted) for found in headers], places)
    by_size = first.is_dir() and second.is_dir()
    systems = [_read_system(found, dataset, wanted, by_size=by_size) for found in headers]
    _check_same([set(system) for system in systems], places)
    a, b = systems
    pairs = {key: _paired(a[key], b[key], key, by_size=by_size) for key in a}
    return Report((_name(a), _name(b)), _compare_rows(pairs), tuple(_differing_settings(a, b)))


def verdict(report: Report) -> str:
    """Return in a sentence what is shown; only what survives Holm's correction counts."""
    parts = []
    for task in dict.fromkeys(row.task for row in report.rows):
        rows = [row for row in report.rows if row.task == task]
        whole = rows[-1]  # the mean over the languages, or the only row
        subsets = rows[:-1]
        if whole.result.small:
            parts.append(f"too few concepts on {task} for a test")
            continue
        part = f"no difference shown on {task}" if whole.winner is None else f"{whole.winner} is better on {task}"
        counts: list[str] = []
        for side in SIDES:
            n_won = sum(row.winner == side for row in subsets)
            if n_won and whole.winner == side:
                counts.insert(0, f"{n_won} of {len(subsets)} subsets")
            elif n_won:
                counts.append(f"{side} is better on {n_won} of {len(subsets)} subsets")
        if subsets and whole.winner is not None and not any(row.winner == whole.winner for row in subsets):
            counts.insert(0, f"over all {len(subsets)} subsets, on none by itself")
        parts.append(f"{part} ({'; '.join(counts)})" if counts else part)
    return "; ".join(parts) + "."


def to_rows(report: Report) -> list[dict[str, Any]]:
    """Return a mapping per row for programs, with scores to six places."""
    rows = []
    for row in report.rows:
        result = row.result
        scores = {
            "mean_a": result.first,
            "mean_b": result.second,
            "difference": result.difference,
            "low": result.interval.low,
            "high": result.interval.high,
        }
        p_values = {"p": result.p, "p_pratt": result.p_pratt, "p_wilcox": result.p_wilcox, "p_holm": row.holm}
        rows.append(
            {
                "a": report.names[0],
                "b": report.names[1],
                "task": TASKS[row.task].name if row.task in TASKS else row.task,
                "subset": row.subset,
                "n": result.n,
                "n_clusters": result.n_concepts,
                **{name: round(value, _DECIMALS) + 0.0 for name, value in scores.items()},  # + 0.0: no -0.0
                "wins": result.wins,
                "ties": result.ties,
                "losses": result.losses,
                "effect": None if result.effect is None else round(result.effect, _DECIMALS),
                **{name: None if p is None else float(f"{p:.6g}") for name, p in p_values.items()},
                "interval_is_reliable": result.interval.is_reliable,
            }
        )
    return rows


def to_json(report: Report) -> str:
    """Return the rows of a comparison as JSON."""
    return json.dumps(to_rows(report), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def to_csv(report: Report) -> str:
    """Return the rows of a comparison as comma-separated values."""
    return str(pd.DataFrame(to_rows(report)).to_csv(index=False, lineterminator="\n"))


def _task_names(names: Sequence[str]) -> set[str]:
    """Return the short names of tasks.

    Raises:
        InputError: a task is unknown.
    """
    return {SPANS if name.lower() == SPANS else find_task(name).short for name in names}


def _find_headers(place: Path, wanted: Collection[str]) -> dict[Path, Header]:
    """Return record -> header of the results of the wanted tasks; of all where none is named.

    Raises:
        InputError: there is none.
    """
    if not place.exists():
        raise usage_error(f"{place}: no such file or folder; give a result file or the folder of one model")
    headers, chosen = {}, {}
    for path in find_records(place):
        headers[path] = read_header(path)
        if _tasks_of({path: headers[path]}, wanted):
            chosen[path] = headers[path]
    if not chosen:
        known = ", ".join(sorted(_tasks_of(headers, ())))
        raise InputError(f"{place}: no result of {', '.join(sorted(wanted))}; it has {known or 'no subset at all'}")
    return chosen


def _tasks_of(headers: Mapping[Path, Header], wanted: Collection[str]) -> set[str]:
    tasks: set[str] = set()
    for header in headers.values():
        tasks.update(row.task for row in header.subsets if not wanted or row.task in wanted)
    return tasks


def _check_same_data(first: Mapping[Path, Header], second: Mapping[Path, Header]) -> None:
    revisions = []
    for headers in (first, second):
        revisions.append(sorted({header.data.revision[:12] for header in headers.values()}))
    if revisions[0] != revisions[1]:
        shown = " and ".join(", ".join(of_side) for of_side in revisions)
        raise InputError(f"A and B were scored on different data (revisions {shown}); run both again on the same data")


def _check_same(names: Sequence[set[Any]], places: Sequence[Path]) -> None:
    """Refuse tasks, or tasks with subsets, that only one of the two has."""
    for here, there in ((0, 1), (1, 0)):
        only = sorted(names[here] - names[there])
        if only:
            what = only[0] if isinstance(only[0], str) else ", ".join(only[0])
            raise InputError(
                f"{what} is only in {SIDES[here]} ({places[here]}), not in {places[there]}; run what is missing, or "
                "choose what both have with --task"
            )


def _read_system(
    headers: Mapping[Path, Header], dataset: Dataset, wanted: Collection[str], *, by_size: bool
) -> dict[Key, _Scored]:
    """Return (task, subset) -> what one system scored there.

    Args:
        headers: record -> header.
        dataset: what was scored.
        wanted: short names of tasks; empty for all.
        by_size: whether span results with other numbers of training sentences are other tasks.

    Raises:
        InputError: a record is damaged, cut, of other data, or does not give the scores that it states; or two records
            of one subset differ in more than the seed.
    """
    scored: dict[Key, list[tuple[Record, ScoredSubset]]] = {}
    for path in headers:
        record = read_record(path, dataset)
        for subset in score_record(record):
            if wanted and subset.task not in wanted:
                continue
            _check_exact(record, subset)
            task = subset.task
            if task == SPANS and by_size and record.header.training is not None:
                task = f"{SPANS}-{record.header.training.size}"
            scored.setdefault((task, subset.subset), []).append((record, subset))
    keys = sorted(scored, key=lambda key: (usual_order((scored[key][0][1].task, key[1])), key[0]))
    return {key: _mean_over_seeds(scored[key], key) for key in keys}


def _check_exact(record: Record, subset: ScoredSubset) -> None:
    predictions = record.predictions[subset.task, subset.subset]
    if isinstance(predictions, Rankings) and not predictions.has_all_places:
        raise InputError(
            f"{record.path}: {subset.task}, {subset.subset}: cut at {subset.cut} documents per query, without the "
            "places of relevant documents behind them, so that nDCG cannot be computed from it; compute it again"
        )
    if not subset.sums[:, 1].any():
        raise InputError(
            f"{record.path}: the test sentences of {subset.subset} hold no idiom, and none is predicted; there is "
            "nothing to compare"
        )


def _mean_over_seeds(results: Sequence[tuple[Record, ScoredSubset]], key: Key) -> _Scored:
    """Return results that differ in the seed alone as one."""
    by_seed: dict[int | None, Path] = {}
    record, subset = results[0]
    for other, _ in results:
        seed = None if other.header.training is None else other.header.training.seed
        if seed in by_seed or _without_seed(other.header) != _without_seed(record.header):
            place = by_seed.get(seed, record.path)
            raise InputError(
                f"several results of {', '.join(key)}: {place} and {other.path}; give the folder or file of one model"
            )
        by_seed[seed] = other.path
    return _Scored(
        record.header,
        subset.items,
        subset.concepts,
        np.mean([scored.sums for _, scored in results], axis=0),
        seeds=tuple(sorted(seed for seed in by_seed if seed is not None)),
    )


def _without_seed(header: Header) -> tuple[Any, ...]:
    """Return what tells systems apart, besides the seed."""
    training = header.training
    trained = None if training is None else (training.regime, training.language, training.size)
    return (header.model.name, header.settings.get("pooling"), trained)


def _paired(a: _Scored, b: _Scored, key: Key, *, by_size: bool) -> Paired:
    if by_size and a.seeds and b.seeds and a.seeds != b.seeds:
        shown = " and ".join(", ".join(map(str, side.seeds)) for side in (a, b))
        raise InputError(f"{', '.join(key)}: the seeds differ: {shown}; run what is missing")
    return Paired(a.concepts, a.sums, b.sums)


def _compare_rows(pairs: Mapping[Key, Paired]) -> tuple[Row, ...]:
    """Return a row per subset in the order of the results, and for each task with several a last one over all."""
    compared: dict[Key, Comparison] = {}
    for task in dict.fromkeys(task for task, _ in pairs):
        strata = {subset: paired for (name, subset), paired in pairs.items() if name == task}
        for subset, paired in strata.items():
            compared[task, subset] = compare({subset: paired})
        if len(strata) > 1:
            compared[task, MACRO] = compare(strata)
    adjusted = holm([result.p for result in compared.values()])
    rows = []
    for ((task, subset), result), p in zip(compared.items(), adjusted, strict=True):
        rows.append(Row(task, subset, result, p))
    return tuple(rows)


def _differing_settings(a: Mapping[Key, _Scored], b: Mapping[Key, _Scored]) -> list[str]:
    """Return a remark for each setting in which A and B were not run alike."""
    remarks = []
    for name in _COMPUTED_AS:
        for key in a:
            values = [side[key].header.settings.get(name) for side in (a, b)]
            if None not in values and values[0] != values[1] and "mteb" not in values:
                remarks.append(
                    f"A was run with the {name} {values[0]}, B with {values[1]}: rounding moves documents too"
                )
    return list(dict.fromkeys(remarks))


def _name(system: Mapping[Key, _Scored]) -> str:
    """Return what a system is called: its model, with pooling and regime."""
    names = []
    for scored in system.values():
        name, pooling = scored.header.model.name, scored.header.settings.get("pooling")
        if pooling is not None and "(pooling=" not in name:
            name = f"{name} (pooling={pooling})"
        if scored.header.training is not None:
            name = f"{name}, {scored.header.training.regime}"
        names.append(name)
    return "; ".join(dict.fromkeys(names))
