"""Compare the lines of Python in each room with its budget in pyproject.toml; `make lint` runs it.

A budget only falls: lower it when a room becomes smaller. A change that must raise one says why in a comment beside it.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
SLACK = 100  # lines by which a room may be below its budget before the budget has to be lowered


def main() -> int:
    """Return 1 if a room is over its budget, far below it, or has none."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    budgets: dict[str, int] = settings["tool"]["lines-per-room"]
    lines = dict.fromkeys(budgets, 0)
    faults = []
    for package in settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
        for path in sorted((ROOT / package).rglob("*.py")):
            folders = path.relative_to(ROOT).parts[:-1]
            room = "/".join(folders[:2])
            if room not in budgets:
                room = folders[0]
            if room not in budgets:
                faults.append(f"{path.relative_to(ROOT)}: its room has no budget; add it to [tool.lines-per-room]")
                continue
            lines[room] += path.read_text(encoding="utf-8").count("\n")
    for room, budget in budgets.items():
        if lines[room] > budget:
            faults.append(f"{room}: {lines[room]} lines, {lines[room] - budget} over its budget; make it smaller")
        elif lines[room] < budget - SLACK:
            faults.append(f"{room}: {lines[room]} lines; lower its budget of {budget} in pyproject.toml")
    print("\n".join(faults) or f"{sum(lines.values())} lines in {len(lines)} rooms, all within their budgets")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
