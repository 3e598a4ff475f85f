"""Comparison of two results, for each task and subset and over the languages of a task.

Results are records of `turkic-idiom run`, `finetune span` or the grid. Every score is computed again from the rankings
or tags and the data in use, and must equal the score in the record.
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
from turkic_idiom_tasks.dataset.similarity import SIMILARITY_TASKS
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.reading import display
from turkic_idiom_tasks.metrics.bootstrap import LEVEL
from turkic_idiom_tasks.metrics.comparison import Comparison, Paired, compare, holm
from turkic_idiom_tasks.report.frame import MACRO
from turkic_idiom_tasks.results.predictions import IDIOMATICITY, SPANS, Rankings, SubsetKey, usual_order
from turkic_idiom_tasks.results.record import Header, Record, find_records, read_header, read_record
from turkic_idiom_tasks.results.scored import ScoredSubset, score_record

SIDES = ("A", "B")
ALPHA = round(1 - LEVEL, 9)  # a smaller p, after Holm, shows a difference
_DECIMALS = 6  # as mteb rounds
_NO_PAIRED_TEST = (
    "there is no paired test of it, because Spearman's correlation and macro F1 are no means over items; read the "
    "intervals beside the scores"
)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the comparison; `holm` is the sign-flip p adjusted for all lines."""

    task: str
    subset: str
    result: Comparison
    holm: float | None

    @property
    def winner(self) -> str | None:
        """Return the side that is significantly better; None if the difference is not significant."""
        if self.holm is None or self.holm >= ALPHA:
            return None
        return SIDES[1] if self.result.difference > 0 else SIDES[0]


@dataclass(frozen=True, slots=True)
class Report:
    """A comparison of two systems.

    Attributes:
        names: names of A and B.
        rows: the subsets of each task, then their mean if there are several.
        remarks: limits of the comparison.
    """

    names: tuple[str, str]
    rows: tuple[Row, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Scored:
    """Scores of one system on one subset, averaged over its seeds.

    Attributes:
        header: header of one of its records.
        items: ids of the queries or sentences, sorted.
        concepts: the concept of each item.
        sums: (items, 2) parts of each item in numerator and denominator of the score.
        seeds: seeds of the records that were averaged, sorted; empty for a model that was not trained.
    """

    header: Header
    items: tuple[str, ...]
    concepts: tuple[str, ...]
    sums: npt.NDArray[np.float64]
    seeds: tuple[int, ...]


def compare_results(first: Path, second: Path, dataset: Dataset, *, tasks: Sequence[str] = ()) -> Report:
    """Compare the results of two systems on every task and subset that they have, except similarity tasks.

    Spearman's correlation of a similarity task is no mean over items, so the tests of this comparison do not apply.

    Args:
        first: record or folder of A.
        second: record or folder of B.
        dataset: the data that was scored.
        tasks: T1, T2, T3, T4, full names, or ``spans``; empty for all.

    Raises:
        InputError: the results cannot be read, are of different data, or one has tasks or subsets that the other lacks.
    """
    places = (first, second)
    wanted: set[str] = set()
    for name in tasks:
        wanted.add(_compared_task(name))
    a_headers, b_headers = _find_headers(first, wanted), _find_headers(second, wanted)
    _check_same_data(a_headers, b_headers)
    _check_same([_tasks_of(a_headers, wanted), _tasks_of(b_headers, wanted)], places)
    by_size = first.is_dir() and second.is_dir()
    a = _read_system(a_headers, dataset, wanted, by_size=by_size)
    b = _read_system(b_headers, dataset, wanted, by_size=by_size)
    _check_same([set(a), set(b)], places)
    pairs = {}
    for key in a:
        if by_size and a[key].seeds and b[key].seeds and a[key].seeds != b[key].seeds:
            seeds = f"{', '.join(map(str, a[key].seeds))} and {', '.join(map(str, b[key].seeds))}"
            raise InputError(f"{', '.join(key)}: the seeds differ: {seeds}; run what is missing")
        pairs[key] = Paired(a[key].concepts, a[key].sums, b[key].sums)
    return Report((_name(a), _name(b)), _compare_rows(pairs), tuple(_differing_settings(a, b)))


def verdict(report: Report) -> str:
    """Return the result in one sentence; only differences that are significant after Holm's correction count."""
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
    """Return each row as a mapping for programs, with scores rounded to six decimal places."""
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
        fields: dict[str, Any] = {
            "a": report.names[0],
            "b": report.names[1],
            "task": TASKS[row.task].name if row.task in TASKS else row.task,
            "subset": row.subset,
            "n": result.n,
            "n_clusters": result.n_concepts,
        }
        for name, value in scores.items():
            fields[name] = round(value, _DECIMALS) + 0.0  # + 0.0: no -0.0
        fields |= {"wins": result.wins, "ties": result.ties, "losses": result.losses}
        fields["effect"] = None if result.effect is None else round(result.effect, _DECIMALS)
        for name, p in p_values.items():
            fields[name] = None if p is None else float(f"{p:.6g}")
        fields["interval_is_reliable"] = result.interval.is_reliable
        rows.append(fields)
    return rows


def to_json(report: Report) -> str:
    """Return the rows of a comparison as JSON."""
    return json.dumps(to_rows(report), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def to_csv(report: Report) -> str:
    """Return the rows of a comparison as comma-separated values."""
    return str(pd.DataFrame(to_rows(report)).to_csv(index=False, lineterminator="\n"))


def _compared_task(name: str) -> str:
    """Return the short name of a task.

    Raises:
        InputError: there is no such task, or it is a similarity task.
    """
    for task in SIMILARITY_TASKS.values():
        if name.lower() in (task.name.lower(), task.short.lower()):
            raise usage_error(f"{name}: {_NO_PAIRED_TEST}")
    return SPANS if name.lower() == SPANS else find_task(name).short


def _find_headers(place: Path, wanted: Collection[str]) -> dict[Path, Header]:
    """Return record -> header of the results of the wanted tasks, or of all tasks if none is wanted.

    Raises:
        InputError: there is no such result.
    """
    if not place.exists():
        raise usage_error(f"{place}: no such file or folder; give a result file or the folder of one model")
    headers, chosen = {}, {}
    skipped: set[str] = set()
    for path in find_records(place):
        header = read_header(path)
        not_compared = {row.task for row in header.subsets if row.task in (*SIMILARITY_TASKS, IDIOMATICITY)}
        if not_compared:
            skipped |= not_compared
            continue
        headers[path] = header
        if _tasks_of({path: headers[path]}, wanted):
            chosen[path] = headers[path]
    if not chosen:
        if not headers and skipped:
            raise InputError(f"{place}: holds results of {', '.join(sorted(skipped))} only; {_NO_PAIRED_TEST}")
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
        revisions.append(", ".join(sorted({header.data.revision[:12] for header in headers.values()})))
    if revisions[0] != revisions[1]:
        both = " and ".join(revisions)
        raise InputError(f"A and B were scored on different data (revisions {both}); run both again on the same data")


def _check_same(names: Sequence[set[Any]], places: Sequence[Path]) -> None:
    """Raise InputError if only one of the two has a task, or a subset of a task."""
    for here, there in ((0, 1), (1, 0)):
        only = sorted(names[here] - names[there])
        if only:
            if isinstance(only[0], str):
                name, advice = only[0], "choose what both have with --task"
            else:
                name, advice = ", ".join(only[0]), "compare two files with the same subsets"
            raise InputError(
                f"{name} is only in {SIDES[here]} ({places[here]}), not in {places[there]}; run what is missing, or "
                f"{advice}"
            )


def _read_system(
    headers: Mapping[Path, Header], dataset: Dataset, wanted: Collection[str], *, by_size: bool
) -> dict[SubsetKey, _Scored]:
    """Return (task, subset) -> the scores of one system.

    Args:
        headers: record -> header.
        dataset: the data that was scored.
        wanted: short names of tasks; empty for all.
        by_size: whether span results with different numbers of training sentences are different tasks.

    Raises:
        InputError: a record is damaged, cut, of other data, or does not give the scores that it states; or two records
            of one subset differ in more than the seed.
    """
    scored: dict[SubsetKey, list[tuple[Record, ScoredSubset]]] = {}
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

    def place(key: SubsetKey) -> tuple[tuple[int, int], str]:
        _, subset = scored[key][0]
        return usual_order((subset.task, subset.subset)), key[0]

    return {key: _mean_over_seeds(scored[key], key) for key in sorted(scored, key=place)}


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


def _mean_over_seeds(results: Sequence[tuple[Record, ScoredSubset]], key: SubsetKey) -> _Scored:
    """Return the mean of results that differ only in the seed."""
    by_seed: dict[int | None, Path] = {}
    record, subset = results[0]
    for other, _ in results:
        seed = None if other.header.training is None else other.header.training.seed
        difference = _first_difference(record.header, other.header)
        if seed in by_seed or difference is not None:
            place = by_seed.get(seed, record.path)
            reason = f" (they differ in {difference})" if difference else ""
            raise InputError(
                f"several results of {', '.join(key)}: {place} and {other.path}{reason}; give the folder or file of "
                "one model"
            )
        by_seed[seed] = other.path
    return _Scored(
        record.header,
        subset.items,
        subset.concepts,
        np.mean([scored.sums for _, scored in results], axis=0),
        seeds=tuple(sorted(seed for seed in by_seed if seed is not None)),
    )


def _first_difference(header: Header, other: Header) -> str | None:
    """Return what tells two results apart besides the seed; None if they differ in nothing else."""
    facts, other_facts = _without_seed(header), _without_seed(other)
    for name in sorted({*facts, *other_facts}):
        if facts.get(name) != other_facts.get(name):
            return f"{name}: {display(facts.get(name))} and {display(other_facts.get(name))}"
    return None


def _without_seed(header: Header) -> dict[str, Any]:
    """Return everything that tells systems apart, except the seed: name -> value."""
    facts: dict[str, Any] = {"model": header.model.name, "revision": header.model.revision}
    for name, value in header.settings.items():
        facts[f"setting {name}"] = value
    training = header.training
    if training is not None:
        facts |= {"regime": training.regime, "language": training.language, "size": training.size}
        for name, value in training.config.items():
            if name != "seed":
                facts[f"training setting {name}"] = value
    return facts


def _compare_rows(pairs: Mapping[SubsetKey, Paired]) -> tuple[Row, ...]:
    """Return a row for each subset, and for a task with several subsets a last row over all of them."""
    pairs_by_task: dict[str, dict[str, Paired]] = {}
    for (task, subset), paired in pairs.items():
        pairs_by_task.setdefault(task, {})[subset] = paired
    compared: dict[SubsetKey, Comparison] = {}
    for task, strata in pairs_by_task.items():
        for subset, paired in strata.items():
            compared[task, subset] = compare({subset: paired})
        if len(strata) > 1:
            compared[task, MACRO] = compare(strata)
    adjusted = holm([result.p for result in compared.values()])
    rows = []
    for ((task, subset), result), p in zip(compared.items(), adjusted, strict=True):
        rows.append(Row(task, subset, result, p))
    return tuple(rows)


def _differing_settings(a: Mapping[SubsetKey, _Scored], b: Mapping[SubsetKey, _Scored]) -> list[str]:
    """Return a remark for each setting that differs between A and B."""
    remarks = []
    for key in a:
        dtypes = a[key].header.settings.get("dtype"), b[key].header.settings.get("dtype")
        if None not in dtypes and dtypes[0] != dtypes[1]:
            remarks.append(f"A was run in {dtypes[0]}, B in {dtypes[1]}: rounding moves documents too")
    return list(dict.fromkeys(remarks))


def _name(system: Mapping[SubsetKey, _Scored]) -> str:
    """Return the name of a system: its model, with pooling and regime."""
    names = []
    for scored in system.values():
        name, pooling = scored.header.model.name, scored.header.settings.get("pooling")
        if pooling is not None and "(pooling=" not in name:
            name = f"{name} (pooling={pooling})"
        if scored.header.training is not None:
            name = f"{name}, {scored.header.training.regime}"
        names.append(name)
    return "; ".join(dict.fromkeys(names))
