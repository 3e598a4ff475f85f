"""Reading of a grid file: YAML with a part for each kind of cell; what a part leaves out has the paper's value."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.reading import display, read_yaml
from turkic_idiom_tasks.runs.cells import CellKind, nearest
from turkic_idiom_tasks.runs.idiomaticity import IdiomaticityCells
from turkic_idiom_tasks.runs.retrieval import RetrievalCells
from turkic_idiom_tasks.runs.similarity import SimilarityCells
from turkic_idiom_tasks.runs.spans import SpanCells
from turkic_idiom_tasks.training.config import first_problem

KINDS: dict[str, type[CellKind]] = {
    kind.name: kind for kind in (RetrievalCells, SpanCells, SimilarityCells, IdiomaticityCells)
}
# The paper's own grid, and encoders that are worth a row of the leaderboard
PACKAGED = {name: Path(__file__).with_name(name) for name in ("paper.yaml", "community.yaml")}
TRAINING = "training"  # the key of the settings of a training


def read_grid_file(path: Path) -> list[CellKind]:
    """Return the parts of a file, or of our grid of that name, at least one, in the order of `KINDS`."""
    # A user's own file of that name comes first
    if not path.exists() and path.parent == Path():
        path = PACKAGED.get(path.name, path)
    if not path.is_file():
        raise usage_error(f"{path}: no such file; give a grid file, or one of ours: {', '.join(PACKAGED)}")
    content = read_yaml(path)
    _check_keys(content, KINDS, place=str(path))
    parts = []
    for name, kind in KINDS.items():
        if name not in content:
            continue
        place, part = f"{path}: {name}", content[name]
        _check_keys(part, kind.model_fields, place=place)
        if TRAINING in part:
            config: Any = kind.model_fields[TRAINING].annotation
            settings = [setting for setting in config.model_fields if setting not in kind.set_by_cells]
            _check_keys(part[TRAINING], settings, place=f"{place}: {TRAINING}")
        try:
            # as JSON, because pydantic then accepts a list as a tuple, but still no text or yes as a number
            parts.append(kind.model_validate_json(json.dumps(part, default=str)))  # YAML makes dates of some texts
        except ValidationError as error:
            raise InputError(f"{place}: {first_problem(error)}") from error
    if not parts:
        raise InputError(
            f"{path}: declares nothing; it needs a part {' or '.join(KINDS)}, see {PACKAGED['paper.yaml']}"
        )
    return parts


def _check_keys(content: Any, known: Iterable[str], *, place: str) -> None:
    """Raise InputError if a value is no mapping, or has unknown keys."""
    # Before pydantic does, whose error would not name the nearest known key
    names = list(known)
    problems = [] if isinstance(content, Mapping) else [f"must be a mapping, not {display(content)}"]
    for key in content if not problems else ():
        if key not in names:
            problems.append(f"unknown key {display(key)}{nearest(str(key), names)}")
    if problems:
        raise InputError(f"{place}: {'; '.join(problems)}; known keys: {', '.join(names)}")
