"""Retrieval cells: an encoder, a regime of supervision, a language, a seed and a pooling, scored on every task.

The poolings of an untuned encoder come from one pass over the texts, so they are one job. A tuned encoder is trained
for its pooling, because the loss is computed from pooled vectors. `retrieval_jobs` does the work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar

from pydantic import JsonValue, model_validator

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.retrieval import PAPER_TASKS, target_language
from turkic_idiom_tasks.encoders.names import CROSS_LINGUAL, MONOLINGUAL, NATIVE, POOLINGS, PRETRAINED, REGIMES
from turkic_idiom_tasks.languages import TARGETS
from turkic_idiom_tasks.runs.cells import (
    AtLeastOne,
    Cell,
    CellKind,
    Finish,
    NonEmpty,
    Part,
    Seeds,
    Work,
    one_of,
    without_pooling,
)
from turkic_idiom_tasks.runs.workload import Passes, Workload
from turkic_idiom_tasks.training.config import MNRL, RetrievalConfig
from turkic_idiom_tasks.training.regimes import build_regime

RETRIEVAL = "retrieval"
SEEDS = (42,)  # the paper names no repetition for retrieval


class RetrievalPart(Part):
    """Retrieval cells of a grid.

    Attributes:
        models: names as `turkic-idiom run` takes them.
        regimes: regimes of supervision.
        languages: codes of the languages for which monolingual and cross-lingual training is repeated.
        poolings: poolings under which every encoder is trained and scored; ``native`` is that of the model itself, and
            works for pretrained models of any kind, also those that are no transformers.
        seeds: seeds with which every training is repeated.
        training: settings of the training of every encoder.
    """

    set_by_cells: ClassVar[frozenset[str]] = frozenset({"seed", "pooling"})

    models: AtLeastOne[Annotated[NonEmpty, without_pooling("; choose the pooling with poolings")]]
    regimes: AtLeastOne[Annotated[str, one_of(*REGIMES)]] = REGIMES
    languages: AtLeastOne[Annotated[str, one_of(*TARGETS)]] = TARGETS
    poolings: AtLeastOne[Annotated[str, one_of(*POOLINGS, NATIVE)]] = POOLINGS
    seeds: Seeds = SEEDS
    training: RetrievalConfig = RetrievalConfig()

    @model_validator(mode="after")
    def _check_poolings(self) -> RetrievalPart:
        if NATIVE in self.poolings and self.regimes != (PRETRAINED,):
            raise ValueError(
                f"poolings: {NATIVE} goes with regimes: [{PRETRAINED}] only, because an encoder is trained for one of "
                f"{', '.join(POOLINGS)}"
            )
        return self


class RetrievalKind(CellKind[RetrievalPart]):
    """Cells of `RetrievalPart`."""

    name = RETRIEVAL
    part = RetrievalPart

    def cells(self, part: RetrievalPart, dataset: Dataset) -> Iterator[Cell]:
        """Yield the cells model by model; a pretrained model depends on no seed."""
        for model in part.models:
            if PRETRAINED in part.regimes:
                for pooling in part.poolings:
                    yield Cell(RETRIEVAL, model, PRETRAINED, pooling=pooling)
            for seed in part.seeds:
                yield from _tuned_cells(part, model, seed)

    def settings(self, part: RetrievalPart, cell: Cell) -> dict[str, JsonValue]:
        """Return the settings of the training; none for a pretrained model."""
        if cell.regime == PRETRAINED:
            return {}
        return part.training.model_dump(exclude=set(part.set_by_cells))

    def shared_work(self, cell: Cell) -> tuple[object, ...]:
        """Return a key that the poolings of a pretrained model have in common."""
        return (cell.model,) if cell.regime == PRETRAINED else (cell,)

    def workload(self, part: RetrievalPart, cells: Sequence[Cell], dataset: Dataset) -> Workload:
        """Return the texts of the tasks, and those of the training and of its evaluations.

        If the file does not state the loss, it is taken to be the cosine loss of plain encoders, which trains on more.
        """
        cell = cells[0]
        if cell.regime == PRETRAINED:
            return Workload(encoded=_task_texts(dataset, None))
        data = build_regime(dataset, cell.regime, language=cell.language)
        config = part.training
        n_meanings = 1 if config.loss == MNRL else 1 + config.negatives
        pairs = Passes.of(pair.idiom for pair in data.pairs) + Passes.of(pair.meaning for pair in data.pairs)
        development = Passes()
        for retrieval in data.development.values():
            development += Passes.of({*retrieval.queries.values(), *retrieval.documents.values()})
        n_evaluations = 1 + config.evaluations * config.epochs  # the first one is that of the untuned model
        return Workload(
            encoded=_task_texts(dataset, cell.language) + development.times(n_evaluations),
            trained=pairs.times(n_meanings * config.epochs),
        )

    def start(self, cells: Sequence[Cell], work: Work[RetrievalPart]) -> Finish:
        """Rank with a pretrained model under all poolings; tuned models share no work."""
        # imported late, so that a grid file is checked and the state of a grid shown without loading torch
        from turkic_idiom_tasks.runs.retrieval_jobs import start

        return start(cells, work)


def _task_texts(dataset: Dataset, language: str | None) -> Passes:
    """Return the distinct texts of the subsets with documents in a language, or of all subsets."""
    texts: set[str] = set()
    for task in PAPER_TASKS:
        for subset in dataset.subsets(task):
            if language in (None, target_language(task, subset).code):
                data = dataset.retrieval(task, subset)
                texts.update(data.queries.values(), data.documents.values())
    return Passes.of(texts)


def _tuned_cells(part: RetrievalPart, model: str, seed: int) -> Iterator[Cell]:
    for regime in part.regimes:
        if regime == PRETRAINED:
            continue
        languages = part.languages if regime in (MONOLINGUAL, CROSS_LINGUAL) else (None,)
        for language in languages:
            for pooling in part.poolings:
                yield Cell(RETRIEVAL, model, regime, language, seed, pooling)
