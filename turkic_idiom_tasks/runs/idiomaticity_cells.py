"""Idiomaticity cells: a classifier for each model, setup and seed. `idiomaticity_jobs` does the work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import JsonValue

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.results.predictions import IDIOMATICITY
from turkic_idiom_tasks.runs.cells import (
    AtLeastOne,
    Cell,
    CellKind,
    Distinct,
    Finish,
    Names,
    Part,
    Seeds,
    Work,
    one_of,
)
from turkic_idiom_tasks.runs.workload import Passes, Workload
from turkic_idiom_tasks.training.config import SEEDS, IdiomaticityConfig
from turkic_idiom_tasks.training.siblings.labelled import (
    ASTITCH,
    DODIOM,
    IDIOM,
    INPUTS,
    LEXICON,
    SETUPS,
    ZERO_SHOT,
    Labelled,
    LabelledData,
    build_labelled,
)


class IdiomaticityPart(Part):
    """Idiomaticity cells of a grid.

    Attributes:
        models: encoders on the Hub, or folders.
        source: ``lexicon`` (the data of the grid), ``astitch`` or ``dodiom`` (what their variables name).
        subtask: ``A``, or ``B`` of AStitch.
        setups: ``zero-shot``, ``one-shot``, ``few-shot``; a lexicon has ``zero-shot`` alone.
        inputs: what is given beside the sentence: ``context``, ``idiom``, both or nothing.
        languages: one subset of AStitch, or codes of languages of the lexicon; none means the default.
        seeds: seeds with which every training is repeated.
        training: settings of every training.
    """

    models: Names
    source: Annotated[str, one_of(LEXICON, ASTITCH, DODIOM)] = LEXICON
    subtask: Literal["A", "B"] = "A"
    setups: AtLeastOne[Annotated[str, one_of(*SETUPS)]] = (ZERO_SHOT,)
    inputs: Distinct[Annotated[str, one_of(*INPUTS)]] = (IDIOM,)
    languages: Distinct[str] = ()
    seeds: Seeds = SEEDS
    training: IdiomaticityConfig = IdiomaticityConfig()

    def rows(self, dataset: Dataset, setup: str) -> LabelledData:
        """Return the rows of a setup.

        Raises:
            InputError: the data cannot be used, or lacks the setup.
        """
        data = dataset if self.source == LEXICON else self.source
        return build_labelled(data, setup=setup, inputs=self.inputs, subtask=self.subtask, languages=self.languages)


class IdiomaticityKind(CellKind[IdiomaticityPart]):
    """Cells of `IdiomaticityPart`."""

    name = IDIOMATICITY
    part = IdiomaticityPart

    def cells(self, part: IdiomaticityPart, dataset: Dataset) -> Iterator[Cell]:
        """Yield the cells model by model, then setup by setup.

        Raises:
            InputError: the data of the part cannot be used.
        """
        revisions = {setup: part.rows(dataset, setup).revision for setup in part.setups}
        for model in part.models:
            for setup, revision in revisions.items():
                for seed in part.seeds:
                    yield Cell(IDIOMATICITY, model, setup, seed=seed, data=revision)

    def settings(self, part: IdiomaticityPart, cell: Cell) -> dict[str, JsonValue]:
        """Return the settings of the training, and where its data comes from."""
        where: dict[str, JsonValue] = {"source": part.source, "subtask": part.subtask, "inputs": list(part.inputs)}
        return part.training.model_dump() | where

    def shared_work(self, cell: Cell) -> tuple[object, ...]:
        """Return a key that all setups of a model and a seed have in common."""
        return (cell.model, cell.seed)

    def workload(self, part: IdiomaticityPart, cells: Sequence[Cell], dataset: Dataset) -> Workload:
        """Return the rows of the stages, of the development after each epoch, and of the tests."""
        setups = [part.rows(dataset, cell.regime) for cell in cells]
        epochs = part.training.epochs
        stages = [setups[0].stages[0]]  # all setups begin with it
        for rows in setups:
            stages += rows.stages[1:]
        development = _passes(setups[0].development).times(epochs)
        workload = Workload()
        for stage in stages:
            workload += Workload(encoded=development, trained=_passes(stage).times(epochs))
        for rows in setups:
            workload += Workload(encoded=_passes(rows.test))
        return workload

    def start(self, cells: Sequence[Cell], work: Work[IdiomaticityPart]) -> Finish:
        """Train the stage that the cells begin with."""
        # imported late, so that a grid file is checked and the state of a grid shown without loading torch
        from turkic_idiom_tasks.runs.idiomaticity_jobs import start

        return start(cells, work)


def _passes(rows: Sequence[Labelled]) -> Passes:
    return Passes.of(f"{row.first} {row.second}" for row in rows)
