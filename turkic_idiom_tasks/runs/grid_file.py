"""Reading of a grid file: YAML with a part for each kind of cell; what a part leaves out has the paper's value."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.models import checked
from turkic_idiom_tasks.io.reading import display, read_yaml
from turkic_idiom_tasks.runs.cells import CellKind, nearest
from turkic_idiom_tasks.runs.idiomaticity import IdiomaticityCells
from turkic_idiom_tasks.runs.retrieval import RetrievalCells
from turkic_idiom_tasks.runs.similarity import SimilarityCells
from turkic_idiom_tasks.runs.spans import SpanCells

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
        if part.get(TRAINING, {}) != {}:
            config: Any = kind.model_fields[TRAINING].annotation
            settings = [setting for setting in config.model_fields if setting not in kind.set_by_cells]
            _check_keys(part[TRAINING], settings, place=f"{place}: {TRAINING}")
        parts.append(checked(kind, part, place=place, exit_code=1))
    return parts


def _check_keys(content: Any, known: Iterable[str], *, place: str) -> None:
    """Raise InputError if a value is no mapping, is empty, or has unknown keys."""
    # Before pydantic does, whose error would not name the nearest known key
    names = list(known)
    problems = []
    if not isinstance(content, Mapping) or not content:
        problems.append(f"must be a mapping with keys, not {display(content)}")
    else:
        for key in content:
            if key not in names:
                problems.append(f"unknown key {display(key)}{nearest(str(key), names)}")
    if problems:
        raise InputError(f"{place}: {'; '.join(problems)}; known keys: {', '.join(names)}")
