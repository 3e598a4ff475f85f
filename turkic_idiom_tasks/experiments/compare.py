"""`turkic-idiom compare`: whether B is better than A, per task and subset and over the languages of a task."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.experiments.compared_results import (
    SPANS,
    Key,
    Scored,
    check_revisions,
    find_results,
    models,
    read_scores,
)
from turkic_idiom_tasks.metrics.comparison import Comparison, Paired, compare, holm
from turkic_idiom_tasks.metrics.statistics import LEVEL, RESAMPLES, SMALL_N

MACRO = "mean"  # the row over the languages of a task
_SIDES = ("A", "B")
_DECIMALS = 6  # as mteb rounds
_COMPUTED_AS = ("backend", "dtype")  # settings that must be alike, or rounding alone moves documents


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; `holm` is the sign-flip p adjusted for all lines."""

    task: str
    subset: str
    result: Comparison
    holm: float | None


@dataclass(frozen=True, slots=True)
class Report:
    """A comparison of two systems: their names, the rows, and what is to be minded besides."""

    names: tuple[str, str]
    rows: tuple[Row, ...]
    warnings: tuple[str, ...]


def compare_results(first: Path, second: Path, *, tasks: Sequence[str] = ()) -> Report:
    """Compares the results of two systems on every task and subset that they have.

    Args:
        first: result file or folder of A.
        second: of B.
        tasks: T1, T2, T3, full names, or ``spans``; empty for all.

    Raises:
        InputError: the results cannot be read, are of different data, or one has what the other lacks.
    """
    places = (first, second)
    files = [find_results(place, tasks) for place in places]
    _check_same([{result.task for result in found} for found in files], places)
    check_revisions(*files)
    by_size = first.is_dir() and second.is_dir()
    a, b = (read_scores(found, by_size=by_size) for found in files)
    _check_same([set(a), set(b)], places)
    pairs = {key: _paired(a[key], b[key], key=key, by_size=by_size) for key in a}
    names = tuple(", ".join(models(scored)) for scored in (a, b))
    return Report((names[0], names[1]), _rows(pairs), tuple(_differing_settings(a, b)))


def _rows(pairs: Mapping[Key, Paired]) -> tuple[Row, ...]:
    """A row per subset in the order found, and for each task with several one over all of them."""
    compared: dict[Key, Comparison] = {}
    for task in dict.fromkeys(task for task, _ in pairs):
        strata = {subset: paired for (name, subset), paired in pairs.items() if name == task}
        compared |= {(task, subset): compare({subset: paired}) for subset, paired in strata.items()}
        if len(strata) > 1:
            compared[task, MACRO] = compare(strata)
    adjusted = holm([result.p for result in compared.values()])
    rows = zip(compared.items(), adjusted, strict=True)
    return tuple(Row(task, subset, result, p) for ((task, subset), result), p in rows)


def _check_same(found: Sequence[set[Any]], places: Sequence[Path]) -> None:
    """Refuses tasks, or tasks with subsets, that only one of the two has."""
    for here, there, side in ((0, 1, "A"), (1, 0, "B")):
        only = sorted(found[here] - found[there])
        if only:
            what = only[0] if isinstance(only[0], str) else ", ".join(only[0])
            raise InputError(
                f"{what} is only in {side} ({places[here]}), not in {places[there]}; run what is missing, or choose "
                "what both have with --task"
            )


def _paired(a: Scored, b: Scored, *, key: Key, by_size: bool) -> Paired:
    where = ", ".join(key)
    differing = sorted(set(a.sums) ^ set(b.sums))
    if differing:
        raise InputError(f"{where}: {differing[0]!r} is only in {(a if differing[0] in a.sums else b).path}")
    if by_size and a.seeds != b.seeds:
        shown = " and ".join(", ".join(map(str, side.seeds)) for side in (a, b))
        raise InputError(f"{where}: the seeds differ: {shown}; run what is missing")
    items = sorted(a.sums)
    sums = (np.array([side.sums[item] for item in items], dtype=np.float64) for side in (a, b))
    return Paired([a.clusters[item] for item in items], *sums)


def _differing_settings(a: Mapping[Key, Scored], b: Mapping[Key, Scored]) -> list[str]:
    found = []
    for name in _COMPUTED_AS:
        for key in a:
            values = [side[key].settings.get(name) for side in (a, b)]
            if None not in values and values[0] != values[1] and "mteb" not in values:
                found.append(f"A was run with the {name} {values[0]}, B with {values[1]}: rounding moves documents too")
    return list(dict.fromkeys(found))


def render(report: Report, *, style: str) -> str:
    """The comparison as text.

    Args:
        report: what `compare_results` returned.
        style: ``table`` for people; ``csv`` or ``json`` with one record per task and subset, scores to six places.
    """
    records = [_record(row, report.names) for row in report.rows]
    if style == "json":
        return json.dumps(records, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    if style == "csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, fieldnames=list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
        return text.getvalue()
    return _table(report)


def _record(row: Row, names: tuple[str, str]) -> dict[str, Any]:
    found = row.result
    scores = {
        "mean_a": found.first,
        "mean_b": found.second,
        "difference": found.difference,
        "low": found.interval.low,
        "high": found.interval.high,
    }
    p_values = {"p": found.p, "p_pratt": found.p_pratt, "p_wilcox": found.p_wilcox, "p_holm": row.holm}
    return {
        **{"a": names[0], "b": names[1], "task": row.task, "subset": row.subset},
        **{"n": found.n, "n_clusters": found.n_clusters},
        **{name: round(value, _DECIMALS) + 0.0 for name, value in scores.items()},  # + 0.0: no -0.0
        **{"wins": found.wins, "ties": found.ties, "losses": found.losses},
        "effect": None if found.effect is None else round(found.effect, _DECIMALS),
        **{name: None if p is None else float(f"{p:.6g}") for name, p in p_values.items()},
    }


def _table(report: Report) -> str:
    header = ["task", "subset", "n", *_SIDES, "B - A", f"{LEVEL:.0%} interval", "win/tie/loss", "effect", "p"]
    header += ["Holm", "pratt", "wilcox"]
    lines = _aligned([header, *([*_cells(row)] for row in report.rows)])
    lines.insert(1, "-" * max(map(len, lines)))
    heading = [f"{side}: {name}" for side, name in zip(_SIDES, report.names, strict=True)]
    return "\n".join([*heading, "", *lines, "", *_notes(report)]) + "\n"


def _cells(row: Row) -> list[str]:
    found = row.result
    bounds = f"[{_signed(found.interval.low)}, {_signed(found.interval.high)}]"
    p_values = (found.p, row.holm, found.p_pratt, found.p_wilcox)
    return [
        *(row.task, row.subset, f"{found.n}{'*' if found.small else ''}"),
        *(f"{found.first:.3f}", f"{found.second:.3f}", _signed(found.difference), bounds),
        f"{found.wins}/{found.ties}/{found.losses}",
        "–" if found.effect is None else _signed(found.effect),
        *("–" if p is None else _p_value(p) for p in p_values),
    ]


def _notes(report: Report) -> list[str]:
    """What the columns mean, and what is to be minded."""
    tasks = {row.task for row in report.rows}
    n_tests = sum(row.holm is not None for row in report.rows)
    notes = []
    if any(not task.startswith(SPANS) for task in tasks):
        notes.append("A, B: mean nDCG of the queries over the whole pool")
    if any(task.startswith(SPANS) for task in tasks):
        notes.append("A, B (spans): micro-averaged F1 of whole spans; counts of several seeds are added up")
    notes.append(
        f"{LEVEL:.0%} interval: paired percentile bootstrap of B - A, {RESAMPLES:,} resamples of whole concepts"
    )
    notes.append(
        "  where a few concepts make up the difference it is too short (it covers 84 to 90%): mind p and effect too"
    )
    notes.append("win/tie/loss: concepts on which B is better, equal, worse")
    if n_tests:
        notes += [
            "effect: matched-pairs rank-biserial correlation, from -1 to 1, positive where B is better",
            f"p: two-sided sign-flip test, A and B exchanged by concept, (k + 1) / ({RESAMPLES:,} + 1)",
            f"Holm: that p adjusted for all p of this table ({n_tests})",
            "pratt, wilcox: p of the Wilcoxon signed-rank test; ties ranked (Pratt), or dropped as in the paper",
        ]
    if any(row.subset == MACRO for row in report.rows):
        notes.append(
            f"{MACRO}: languages weigh alike; a concept is resampled and exchanged in all its languages at once"
        )
    if any(row.result.small for row in report.rows):
        notes.append(f"* fewer than {SMALL_N} concepts: too few for a test; read the interval, not the difference")
    if any(row.result.effect is None and not row.result.small for row in report.rows):
        notes.append("–: A and B score the same on every concept")
    return [*notes, *report.warnings]


def _signed(value: float) -> str:
    return f"{round(value, 3) + 0.0:+.3f}"


def _p_value(p: float) -> str:
    return f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}"


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
