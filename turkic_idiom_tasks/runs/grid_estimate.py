"""Estimate of the time and memory that the missing cells of a grid need, model by model, before anything has run.

Time is the arithmetic of the texts plus a fixed time for each cell:

    seconds = tokens * (2 N forward, 6 N with the backward pass) / throughput + cells * SECONDS_PER_CELL

N is the number of parameters without the embeddings of the vocabulary, which are looked up and not multiplied; where
their number is unknown, N is the number of all parameters, so the time is too long. Two floating-point operations per
parameter and token forward, and twice as many backward, are the rule of Kaplan et al. 2020 (arXiv 2001.08361, section
2.1). It leaves out the attention over positions, which is small for texts as short as these.

The fixed time is what cells took with a BERT of 30 thousand parameters on one core of a busy machine: 9.6 s on average
over seven cells of both kinds, from 0.1 s (a test) to 25 s (five epochs over 817 sentences). Downloads are not counted,
and neither are the tokens of prompts.

Memory is what weights alone need in float32: 4 bytes per parameter; in training with AdamW 4 more for the gradient and
8 for its two moments (Rajbhandari et al. 2020, arXiv 1910.02054, section 3.1, with all states in float32). Activations
come on top of it, and grow with the batch size.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mteb.models.get_model_meta import get_model_meta
from safetensors import SafetensorError, safe_open

from turkic_idiom_tasks.encoders.folders import is_local
from turkic_idiom_tasks.runs.cells import Cell
from turkic_idiom_tasks.runs.grid import MISSING, Grid, Job
from turkic_idiom_tasks.runs.workload import TFLOPS, Passes, Workload

TOKENS_PER_WORD = 2.4  # sub-words of a Turkish word in Gemma's vocabulary, as embeddingmagibu2's model card counts them
SPECIAL_TOKENS = 2  # at the ends of a text
SECONDS_PER_CELL = 10.0  # all that does not grow with the model; see above
FORWARD, TRAINING = 2, 6  # floating-point operations per parameter and token
WEIGHT_BYTES, TRAINING_BYTES = 4, 16  # per parameter
GIB = 2**30

_VOCABULARY = ("word_embeddings.weight", "embed_tokens.weight", "tok_embeddings.weight", "embedding.weight")


@dataclass(frozen=True, slots=True)
class ModelSize:
    """Size of a model; None is unknown.

    Attributes:
        n_parameters: number of its parameters.
        n_vocabulary: how many of them are the embeddings of the vocabulary.
    """

    n_parameters: int | None = None
    n_vocabulary: int | None = None

    @property
    def n_multiplied(self) -> int | None:
        """Return the number of parameters that every token is multiplied with, or an upper bound of it."""
        return None if self.n_parameters is None else self.n_parameters - (self.n_vocabulary or 0)


@dataclass(frozen=True, slots=True)
class ModelEstimate:
    """What the missing cells of a model need; None is unknown.

    Attributes:
        model: its name in the grid file.
        size: its size.
        n_cells: number of its missing cells.
        workload: their texts.
        seconds: time; None if the size or the work of a cell is unknown.
        memory: bytes of the weights, and of the states of the optimizer if a cell trains.
    """

    model: str
    size: ModelSize
    n_cells: int
    workload: Workload | None
    seconds: float | None
    memory: int | None


def estimate_grid(grid: Grid, *, tflops: float = TFLOPS) -> list[ModelEstimate]:
    """Return an estimate for each model with missing cells, in the order of the grid file.

    Args:
        grid: the grid; its finished records say how large their models are.
        tflops: floating-point operations per second that the accelerator sustains, in units of 10^12.

    Raises:
        InputError: a record is damaged, or the data lacks what a cell needs.
    """
    counted: dict[str, int] = {}
    for cell, header in grid.headers().items():
        if header.model.n_parameters is not None:
            counted[cell.model] = header.model.n_parameters
    n_cells: dict[str, int] = {}
    workloads: dict[str, Workload | None] = {}
    known: dict[Any, Workload | None] = {}
    for job in grid.jobs:
        cells = [cell for cell in job.names if job.state(cell) == MISSING]
        if not cells:
            continue
        model = cells[0].model
        n_cells[model] = n_cells.get(model, 0) + len(cells)
        workload = _workload(job, cells, grid, known)
        before = workloads.setdefault(model, Workload())
        workloads[model] = None if before is None or workload is None else before + workload
    sizes = model_sizes(n_cells, counted)
    return [
        _estimate(model, sizes[model], n_cells=n_cells[model], workload=workloads[model], tflops=tflops)
        for model in n_cells
    ]


def model_sizes(models: Iterable[str], counted: Mapping[str, int]) -> dict[str, ModelSize]:
    """Return the sizes of models: as counted in finished cells, of a folder's weights, or as mteb lists them.

    Args:
        models: names in the grid file.
        counted: model -> number of parameters that a finished cell has counted.
    """
    sizes = {}
    for model in models:
        size = folder_size(Path(model).expanduser()) if is_local(model) else _listed_size(model)
        sizes[model] = replace(size, n_parameters=counted.get(model, size.n_parameters))
    return sizes


def folder_size(folder: Path) -> ModelSize:
    """Return the size of the model in a folder, from the shapes of its tensors; unknown if they cannot be read."""
    n_parameters = n_vocabulary = 0
    paths = [*folder.glob("*.safetensors"), *folder.glob("[0-9]_*/*.safetensors")]
    try:
        for path in paths:
            with safe_open(path, framework="numpy") as tensors:
                for name in tensors.keys():  # noqa: SIM118  # not a mapping
                    n_numbers = 1
                    for length in tensors.get_slice(name).get_shape():
                        n_numbers *= length
                    n_parameters += n_numbers
                    n_vocabulary += n_numbers if name.endswith(_VOCABULARY) else 0
    except (OSError, SafetensorError):
        return ModelSize()
    return ModelSize(n_parameters, n_vocabulary) if paths else ModelSize()


def n_tokens(passes: Passes) -> float:
    """Return the number of tokens of texts by the two constants above."""
    return passes.n_words * TOKENS_PER_WORD + passes.n_texts * SPECIAL_TOKENS


def _listed_size(model: str) -> ModelSize:
    try:
        meta = get_model_meta(model)
    except KeyError:
        return ModelSize()
    return ModelSize(meta.n_parameters, meta.n_embedding_parameters)


def _workload(job: Job, cells: list[Cell], grid: Grid, known: dict[Any, Workload | None]) -> Workload | None:
    """Return the work of the missing cells of a job, which is the same for all models and poolings."""
    key = (job.kind.name, tuple(replace(cell, model="", pooling=None) for cell in cells))
    if key not in known:
        known[key] = job.kind.workload(job.part, cells, grid.dataset)
    return known[key]


def _estimate(model: str, size: ModelSize, *, n_cells: int, workload: Workload | None, tflops: float) -> ModelEstimate:
    seconds = memory = None
    if workload is not None and size.n_multiplied is not None:
        per_parameter = FORWARD * n_tokens(workload.encoded) + TRAINING * n_tokens(workload.trained)
        seconds = per_parameter * size.n_multiplied / (tflops * 1e12) + n_cells * SECONDS_PER_CELL
    if workload is not None and size.n_parameters is not None:
        trains = workload.trained.n_texts > 0
        memory = size.n_parameters * (TRAINING_BYTES if trains else WEIGHT_BYTES)
    return ModelEstimate(model, size, n_cells, workload, seconds, memory)
