"""Comparison of two results, for each task and subset and over the languages of a task.

Results are records of `turkic-idiom run`, `finetune span` or the grid. Every score is computed again from the rankings
or tags and the data in use, and must equal the score in the record.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.retrieval import TASKS, find_task
from turkic_idiom_tasks.dataset.similarity import SIMILARITY_TASKS
from turkic_idiom_tasks.errors import InputError, refuse_faults, usage_error
from turkic_idiom_tasks.io.reading import display
from turkic_idiom_tasks.languages import counted
from turkic_idiom_tasks.metrics.bootstrap import LEVEL, Stratum
from turkic_idiom_tasks.metrics.comparison import Comparison, Pair, compare, holm
from turkic_idiom_tasks.metrics.ranking import are_near_floor
from turkic_idiom_tasks.report.frame import IS_RELIABLE, MACRO
from turkic_idiom_tasks.results.headlines import spelling_free
from turkic_idiom_tasks.results.predictions import IDIOMATICITY, SPANS, Rankings, SubsetKey, usual_order
from turkic_idiom_tasks.results.record import Header, Record, find_records, read_header, read_record
from turkic_idiom_tasks.results.scored import ScoredSubset, score_record

# Header of one of the records, scores with sums averaged over seeds, and the sorted seeds (none without a training)
_Scores = tuple[Header, ScoredSubset, list[int]]
_System = Mapping[SubsetKey, _Scores]

SIDES = ("A", "B")
# Of T1: the queries whose answer spelling does not find (see `results.headlines`), and the others
PARTS = ("spelling-free", "spelt-alike")
# A smaller p, after Holm, shows a difference. Rounded, because 1 - .95 is .05000000000000004
ALPHA = round(1 - LEVEL, 9)
_DECIMALS = 6  # as mteb rounds
_NOT_COMPARED = (*SIMILARITY_TASKS, IDIOMATICITY)
_NO_PAIRED_TEST = (
    "there is no paired test of it, because Spearman's correlation and macro F1 are no means over items; read the "
    "intervals beside the scores"
)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the comparison; `holm` is the sign-flip p adjusted for all lines but those of `PARTS`."""

    task: str
    subset: str  # or one of `PARTS`
    result: Comparison
    holm: float | None
    floor: float = math.nan  # score of a random ranking

    @property
    def winner(self) -> str | None:
        """Return the side that is significantly better; None if the difference is not significant."""
        if self.holm is None or self.holm >= ALPHA:
            return None
        return SIDES[1] if self.result.difference > 0 else SIDES[0]


@dataclass(frozen=True, slots=True)
class Report:
    """A comparison of two systems."""

    names: tuple[str, str]
    rows: tuple[Row, ...]  # the subsets of each task, their mean if there are several, and the parts of T1
    remarks: tuple[str, ...]  # limits of the comparison


def compare_results(first: Path, second: Path, dataset: Dataset, *, tasks: Sequence[str] = ()) -> Report:
    """Compare the results of two systems on every task and subset that they have, except similarity tasks.

    Tasks are T1, T2, T3, T4, full names, or ``spans``; empty for all. Both results must have the same ones.
    """
    # Spearman's correlation of a similarity task is no mean over items, so the tests here do not apply to it
    unpaired = {name.lower() for task in SIMILARITY_TASKS.values() for name in (task.name, task.short)}
    wanted: set[str] = set()
    for name in tasks:
        if name.lower() in unpaired:
            raise usage_error(f"{name}: {_NO_PAIRED_TEST}")
        wanted.add(SPANS if name.lower() == SPANS else find_task(name).short)
    places = (first, second)
    # two folders may hold span results of several sizes; of two files the user knows what they are
    by_size = first.is_dir() and second.is_dir()
    a, b = (_read_system(place, dataset, wanted, by_size=by_size) for place in places)
    faults = []
    for key in sorted(a.keys() | b.keys()):
        if key not in a or key not in b:
            side = 0 if key in a else 1
            faults.append(f"{', '.join(key)} is only in {SIDES[side]} ({places[side]}), not in {places[1 - side]}")
        elif by_size:
            # The spread over seeds would otherwise count as a difference of the systems; of single files it is wanted
            seeds = [", ".join(map(str, of_system)) for _, _, of_system in (a[key], b[key])]
            if all(seeds) and seeds[0] != seeds[1]:
                faults.append(f"{', '.join(key)}: the seeds differ: {' and '.join(seeds)}")
    advice = "run what is missing, or choose what both have: a task with --task, or two files with the same subsets"
    refuse_faults(faults, advice=advice)
    pairs: dict[SubsetKey, Pair] = {}
    remarks: dict[str, None] = {}
    for key in a:
        (header_a, scored_a, _), (header_b, scored_b, _) = a[key], b[key]
        dtypes = [header.settings.get("dtype") for header in (header_a, header_b)]
        if None not in dtypes and dtypes[0] != dtypes[1]:
            remarks[f"A was run in {dtypes[0]}, B in {dtypes[1]}: rounding moves documents too"] = None
        pairs[key] = (Stratum(scored_a.concepts, scored_a.sums), Stratum(scored_b.concepts, scored_b.sums))
    rows: list[Row] = []
    for task in dict.fromkeys(task for task, _ in pairs):
        of_task = {subset: pair for (pair_task, subset), pair in pairs.items() if pair_task == task}
        parts: dict[str, dict[str, Pair]] = {}
        for subset, (before, after) in of_task.items():
            rows.append(Row(task, subset, compare({subset: (before, after)}), None, a[task, subset][1].floor))
            is_free = spelling_free(dataset.pool(task, subset)) if task in TASKS else None
            if is_free is not None and subset in counted(of_task):
                for part, chosen in zip(PARTS, (is_free, ~is_free), strict=True):
                    if chosen.any():
                        concepts = np.array(before.concepts)[chosen].tolist()
                        pair = (Stratum(concepts, before.sums[chosen]), Stratum(concepts, after.sums[chosen]))
                        parts.setdefault(part, {})[subset] = pair
        in_mean = {subset: of_task[subset] for subset in counted(of_task)}
        if len(of_task) > 1:
            floor = float(np.mean([a[task, subset][1].floor for subset in in_mean]))
            rows.append(Row(task, MACRO, compare(in_mean), None, floor))
        if len(parts) == len(PARTS):  # one part alone would repeat the whole
            rows += [Row(task, part, compare(parts[part]), None) for part in PARTS]
    adjusted = iter(holm([row.result.p for row in rows if row.subset not in PARTS]))
    rows = [row if row.subset in PARTS else replace(row, holm=next(adjusted)) for row in rows]
    return Report((_name(a), _name(b)), tuple(rows), tuple(remarks))


def verdict(report: Report) -> str:
    """Return the result in one sentence; only differences that are significant after Holm's correction count."""
    names = dict(zip(SIDES, report.names if len(set(report.names)) == len(SIDES) else SIDES, strict=True))
    sentences = []
    for task in dict.fromkeys(row.task for row in report.rows):
        of_task = [row for row in report.rows if row.task == task]
        *subsets, whole = [row for row in of_task if row.subset not in PARTS]  # the last is the mean, or the only row
        if whole.result.small:
            sentences.append(f"too few concepts on {task} for a test")
            continue
        winner = whole.winner
        sentence = f"no difference shown on {task}" if winner is None else f"{names[winner]} is better on {task}"
        details: list[str] = []
        for side in SIDES:
            n_won = sum(row.winner == side for row in subsets)
            if n_won and winner == side:
                details.insert(0, f"{n_won} of {len(subsets)} subsets")
            elif n_won:
                details.append(f"{names[side]} is better on {n_won} of {len(subsets)} subsets")
        if subsets and winner is not None and not any(row.winner == winner for row in subsets):
            details.insert(0, f"over all {len(subsets)} subsets, on none by itself")
        parts = [f"{row.result.difference:+.3f} on {row.subset} queries" for row in of_task if row.subset in PARTS]
        if winner is not None and parts:
            details.append(", ".join(parts))
        if are_near_floor((whole.result.first, whole.result.second), whole.floor):
            details.append(f"both are near the {whole.floor:.3f} of a random ranking")
        sentences.append(f"{sentence} ({'; '.join(details)})" if details else sentence)
    return "; ".join(sentences) + "."


def comparison_frame(report: Report) -> pd.DataFrame:
    """Return each row for programs, with scores rounded to six decimal places and p-values to six digits."""
    rows = []
    for row in report.rows:
        result = row.result
        fields: dict[str, Any] = {"a": report.names[0], "b": report.names[1]}
        fields |= {"task": TASKS[row.task].name if row.task in TASKS else row.task, "subset": row.subset}
        fields |= {"n": result.n, "n_clusters": result.n_concepts}
        scores = {"mean_a": result.first, "mean_b": result.second, "difference": result.difference}
        scores |= {"low": result.interval.low, "high": result.interval.high}
        for name, value in scores.items():
            fields[name] = round(value, _DECIMALS) + 0.0  # + 0.0: no -0.0
        fields |= {"wins": result.wins, "ties": result.ties, "losses": result.losses}
        fields["effect"] = None if result.effect is None else round(result.effect, _DECIMALS)
        p_values = {"p": result.p, "p_pratt": result.p_pratt, "p_wilcox": result.p_wilcox, "p_holm": row.holm}
        for name, p in p_values.items():
            fields[name] = None if p is None else float(f"{p:.6g}")
        rows.append(fields | {IS_RELIABLE: result.interval.is_reliable})
    return pd.DataFrame(rows)


def _read_system(place: Path, dataset: Dataset, wanted: Collection[str], *, by_size: bool) -> _System:
    """Return the scores of one system in a record or folder, for the wanted tasks (short names; empty for all)."""
    results: dict[SubsetKey, list[tuple[Record, ScoredSubset]]] = {}
    known: set[str] = set()
    for path in find_records(place):
        tasks = {row.task for row in read_header(path).subsets}
        known |= tasks
        if tasks & {*_NOT_COMPARED} or (wanted and not tasks & {*wanted}):
            continue
        record = read_record(path, dataset)
        for scored in score_record(record):
            if wanted and scored.task not in wanted:
                continue
            task, prediction = scored.task, record.predictions[scored.task, scored.subset]
            if isinstance(prediction, Rankings) and not prediction.has_all_places:
                raise InputError(
                    f"{record.path}: {task}, {scored.subset}: cut at {scored.cut} documents per query, without the "
                    "places of relevant documents behind them, so that nDCG cannot be computed from it; compute it "
                    "again"
                )
            # Results with different numbers of training sentences are of different systems
            if task == SPANS and by_size and record.header.training is not None:
                task = f"{SPANS}-{record.header.training.size}"
            results.setdefault((task, scored.subset), []).append((record, scored))
    if not results:
        names = ", ".join(sorted(known)) or "no subset at all"
        reason = f" only; {_NO_PAIRED_TEST}" if known and known <= {*_NOT_COMPARED} else ""
        expected = ", ".join(sorted(wanted)) or "a task that can be compared"
        raise InputError(f"{place}: no result of {expected}; it has {names}{reason}")

    # the task of a result, because that of its key may have a size: spans-10
    places = {(task, subset): usual_order((results[task, subset][0][1].task, subset)) for task, subset in results}
    return {key: _mean_over_seeds(results[key], key) for key in sorted(results, key=lambda key: (places[key], key[0]))}


def _mean_over_seeds(results: Sequence[tuple[Record, ScoredSubset]], key: SubsetKey) -> _Scores:
    """Return the mean of results that differ only in the seed."""
    paths: dict[int | None, Path] = {}  # seed -> record
    first, scored = results[0]
    facts = _facts(first.header)
    for record, _ in results:
        seed = None if record.header.training is None else record.header.training.seed
        others = _facts(record.header)
        reasons = []
        for name in sorted({*facts, *others}):
            if facts.get(name) != others.get(name):
                reasons.append(f" (they differ in {name}: {display(facts.get(name))} and {display(others.get(name))})")
        if seed in paths or reasons:
            reason = reasons[0] if reasons else ""
            raise InputError(
                f"several results of {', '.join(key)}: {paths.get(seed, first.path)} and {record.path}{reason}; give "
                "the folder or file of one model"
            )
        paths[seed] = record.path
    sums = np.mean([scored.sums for _, scored in results], axis=0)
    return first.header, replace(scored, sums=sums), sorted(seed for seed in paths if seed is not None)


def _facts(header: Header) -> dict[str, Any]:
    """Return everything that tells systems apart, except the seed: name -> value."""
    facts: dict[str, Any] = {"model": header.model.name, "revision": header.model.revision}
    facts |= {f"setting {name}": value for name, value in header.settings.items()}
    training = header.training
    if training is not None:
        facts |= {"regime": training.regime, "language": training.language, "size": training.size}
        facts |= {f"training setting {name}": value for name, value in training.config.items() if name != "seed"}
    return facts


def _name(system: _System) -> str:
    names = []
    for header, _, _ in system.values():
        name, pooling = header.model.name, header.settings.get("pooling")
        if pooling is not None and "(pooling=" not in name:
            name = f"{name} (pooling={pooling})"
        if header.training is not None:
            name = f"{name}, {header.training.regime}"
        names.append(name)
    return "; ".join(dict.fromkeys(names))
