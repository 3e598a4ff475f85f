"""Report on a grid: states by model and regime, failures, and an estimate of the time for the missing cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from statistics import mean

from turkic_idiom_tasks.results.record import Header, differing_majors
from turkic_idiom_tasks.runs.cells import Cell
from turkic_idiom_tasks.runs.grid import MISSING, STATES

_MINUTE, _HOUR = 60, 3600


def matrix(states: Mapping[Cell, str]) -> dict[str, dict[str, Counter[str]]]:
    """Return model -> regime -> number of cells in each state, in the order of the grid file."""
    counts: dict[str, dict[str, Counter[str]]] = {}
    for cell, state in states.items():
        counts.setdefault(cell.model, {}).setdefault(cell.regime, Counter())[state] += 1
    return counts


def summary(states: Mapping[Cell, str], headers: Mapping[Cell, Header]) -> str:
    """Return a line with the number of cells in each state, and one with the time that the missing ones may take.

    The time is estimated from finished cells of the same kind and regime.
    """
    counts = Counter(states.values())
    parts = [f"{counts[state]} {state}" for state in STATES if counts[state]]
    total = f"{len(states)} cell{'' if len(states) == 1 else 's'}: {', '.join(parts)}"
    measured: dict[tuple[str, ...], list[float]] = {}
    for cell, header in headers.items():
        if header.seconds is not None:
            for key in ((cell.kind, cell.regime), (cell.kind, cell.regime, cell.model)):
                measured.setdefault(key, []).append(header.seconds)
    missing = [cell for cell, state in states.items() if state == MISSING]
    expected = []
    for cell in missing:
        # Models differ in size, so a time of the same model is worth more than one of any
        key = (cell.kind, cell.regime)
        similar = measured.get((*key, cell.model)) or measured.get(key)
        if similar:
            expected.append(mean(similar))
    if not missing:
        return f"{total}\nnothing is missing"
    if not expected:
        return f"{total}\nno estimate from measured times: no similar cell is finished yet"
    n_unknown = len(missing) - len(expected)
    seconds = sum(expected)
    if seconds < 2 * _MINUTE:
        duration = f"{seconds:.0f} s"
    elif seconds < 2 * _HOUR:
        duration = f"{seconds / _MINUTE:.0f} min"
    else:
        duration = f"{seconds / _HOUR:.1f} h"
    rest = f"; no similar cell is finished for {n_unknown} more cells" if n_unknown else ""
    return f"{total}\nabout {duration} of work for {len(expected)} missing cells, one at a time{rest}"


def remarks(headers: Mapping[Cell, Header], failures: Mapping[Cell, str]) -> list[str]:
    """Return a line for each failure, each training that diverged, and each difference between libraries."""
    lines = [f"failed: {cell}: {error}" for cell, error in failures.items()]
    libraries: Counter[str] = Counter()
    for cell, header in headers.items():
        outcome = header.training.outcome if header.training else {}
        if outcome.get("diverged_at") is not None:
            lines.append(f"diverged: {cell}: {outcome.get('verdict')}")
        libraries.update(differing_majors(header.versions))
    for library, n_cells in sorted(libraries.items()):
        lines.append(
            f"another version: {n_cells} finished cells were computed with {library} and are used as they are; to "
            "compute them again, choose a new --out"
        )
    return lines
