"""What `turkic-idiom grid plan` and `grid status` print: cells, states, errors, and how long the rest may take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import mean

from turkic_idiom_tasks.experiments.grid import DONE, FAILED, MISSING, STATES, Cell, Grid, read_record
from turkic_idiom_tasks.experiments.retrieval_cells import RETRIEVAL

_MINUTE, _HOUR = 60, 3600


def plan(grid: Grid) -> str:
    """Every cell with its state, the counts, and an estimate of the time that the missing ones take."""
    cells = grid.cells()
    states = {cell.name: grid.state(cell) for cell in cells}
    lines = [f"{states[cell.name]:8s}{cell}" for cell in cells]
    return "\n".join([*lines, "", _counts(list(states.values())), _estimate(grid, cells, states), ""])


def status(grid: Grid) -> str:
    """A line per kind, model and regime with its counts, every error, and every training that diverged."""
    cells = grid.cells()
    states = {cell.name: grid.state(cell) for cell in cells}
    groups = dict.fromkeys((cell.kind, cell.model, cell.regime) for cell in cells)
    lines = []
    for group in groups:
        found = [states[cell.name] for cell in cells if (cell.kind, cell.model, cell.regime) == group]
        lines.append(f"{', '.join(group)}: {_counts(found)}")
    for cell in cells:
        if states[cell.name] == FAILED:
            lines.append(f"failed: {cell}: {grid.failure(cell).error}")
        elif states[cell.name] == DONE and cell.kind == RETRIEVAL:
            lines += _diverged(cell)
    return "\n".join([*lines, "", _counts(list(states.values())), _estimate(grid, cells, states), ""])


def _diverged(cell: Cell) -> list[str]:
    poolings = read_record(cell.results[0])["poolings"]
    tunings = {name: found["tuning"] for name, found in poolings.items() if found["tuning"]}
    return [
        f"diverged: {cell}, {name}: {tuning['verdict']}"
        for name, tuning in tunings.items()
        if tuning["diverged_at"] is not None
    ]


def _counts(states: Sequence[str]) -> str:
    counts = Counter(states)
    parts = [f"{counts[state]} {state}" for state in STATES if counts[state]]
    return f"{len(states)} cell{'' if len(states) == 1 else 's'}: {', '.join(parts)}"


def _estimate(grid: Grid, cells: Sequence[Cell], states: dict[str, str]) -> str:
    """From what finished cells took: those of the same kind and regime, of the same model if there is one."""
    missing = [cell for cell in cells if states[cell.name] == MISSING]
    if not missing:
        return "nothing is missing"
    took = [(cell, _seconds(cell)) for cell in cells if states[cell.name] == DONE]
    known = [_expected(cell, took) for cell in missing]
    seconds = [value for value in known if value is not None]
    if not seconds:
        return "no estimate: it is made from finished cells, and there is none of these kinds yet"
    unknown = f"; {len(missing) - len(seconds)} more cells have no finished one like them" if None in known else ""
    return f"about {_duration(sum(seconds))} of work for {len(seconds)} missing cells, one at a time{unknown}"


def _expected(cell: Cell, took: Sequence[tuple[Cell, float]]) -> float | None:
    alike = [(one, seconds) for one, seconds in took if (one.kind, one.regime) == (cell.kind, cell.regime)]
    same_model = [seconds for one, seconds in alike if one.model == cell.model]
    seconds = same_model or [seconds for _, seconds in alike]
    return mean(seconds) if seconds else None


def _seconds(cell: Cell) -> float:
    return sum(float(read_record(path).get("seconds", 0.0)) for path in cell.results)


def _duration(seconds: float) -> str:
    if seconds < 2 * _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < 2 * _HOUR:
        return f"{seconds / _MINUTE:.0f} min"
    return f"{seconds / _HOUR:.1f} h"
