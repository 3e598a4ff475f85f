"""Idiomaticity cells: a classifier of sentences for each model, setup and seed, scored on the test rows."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import JsonValue

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.encoders.community import pinned_revision
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N
from turkic_idiom_tasks.results.predictions import IDIOMATICITY
from turkic_idiom_tasks.results.record import DataName, Record, Training, build_record, count_parameters
from turkic_idiom_tasks.runs.cells import (
    AtLeastOne,
    Cell,
    CellKind,
    Distinct,
    Finish,
    Names,
    Seeds,
    content_revision,
    one_of,
)
from turkic_idiom_tasks.training.config import SEEDS, IdiomaticityConfig
from turkic_idiom_tasks.training.siblings.labelled import (
    ASTITCH,
    DODIOM,
    IDIOM,
    INPUTS,
    LEXICON,
    SETUPS,
    ZERO_SHOT,
    LabelledData,
    build_labelled,
)


class IdiomaticityCells(CellKind):
    """Idiomaticity cells of a grid."""

    name = IDIOMATICITY

    models: Names  # encoders on the Hub, or folders
    source: Annotated[str, one_of(LEXICON, ASTITCH, DODIOM)] = LEXICON  # the grid's data, or what a variable names
    subtask: Literal["A", "B"] = "A"  # B of AStitch alone
    setups: AtLeastOne[Annotated[str, one_of(*SETUPS)]] = (ZERO_SHOT,)  # a lexicon has ``zero-shot`` alone
    inputs: Distinct[Annotated[str, one_of(*INPUTS)]] = (IDIOM,)  # what is given beside the sentence
    languages: Distinct[str] = ()  # one subset of AStitch, or codes of languages of the lexicon; none: the default
    seeds: Seeds = SEEDS  # with which every training is repeated
    training: IdiomaticityConfig = IdiomaticityConfig()

    def _rows(self, dataset: Dataset, setup: str) -> LabelledData:
        data = dataset if self.source == LEXICON else self.source
        return build_labelled(data, setup=setup, inputs=self.inputs, subtask=self.subtask, languages=self.languages)

    def jobs(self, dataset: Dataset) -> Iterator[list[Cell]]:
        """Yield a job for each model and seed, with a cell for each setup."""
        revisions = {setup: self._rows(dataset, setup).revision for setup in self.setups}
        for model in self.models:
            for seed in self.seeds:
                yield [Cell(IDIOMATICITY, model, setup, seed=seed, data=data) for setup, data in revisions.items()]

    def settings(self, cell: Cell) -> dict[str, JsonValue]:
        """Return the settings of the training, and where its data comes from."""
        where: dict[str, JsonValue] = {"source": self.source, "subtask": self.subtask, "inputs": list(self.inputs)}
        return self.training.model_dump() | where

    def start(self, cells: Sequence[Cell], dataset: Dataset, *, folder: Path, trust_remote_code: bool) -> Finish:
        """Train the stage that the cells begin with."""
        from turkic_idiom_tasks.training.siblings.idiomaticity import load_classifier, train_seed, train_stage

        begin = time.perf_counter()
        model, seed = cells[0].model, cells[0].seed or 0
        # The setups of a model and a seed begin with the same training, without sentences of the test idioms
        shared = self._rows(dataset, cells[0].regime)
        classifier = load_classifier(
            model, seed=seed, revision=pinned_revision(model), trust_remote_code=trust_remote_code
        )
        first = train_stage(classifier, shared.stages[0], shared.development, config=self.training, seed=seed)
        # Each record states the whole time of its result, as if its cell had been run alone.
        shared_seconds = time.perf_counter() - begin

        def finish(cell: Cell) -> Record:
            start = time.perf_counter()
            rows = self._rows(dataset, cell.regime)
            scores, labels = train_seed(classifier, rows, config=self.training, seed=seed, first=first)
            n_idioms = len({row.idiom for row in rows.test})
            figures = {
                "macro_f1": scores["test_f1"],
                "macro_f1_ci_low": scores["low"],
                "macro_f1_ci_high": scores["high"],
                "development_macro_f1": scores["development_f1"],
                "n_sentences": float(len(rows.test)),
                "n_idioms": float(n_idioms),
                "small_sample": float(n_idioms < SMALL_N),
            }
            return build_record(
                model,
                {},  # no predictions: the labels are in the outcome
                {(IDIOMATICITY, rows.path): figures},
                data=DataName(path=rows.path, revision=rows.revision),
                revision=content_revision(model),
                n_parameters=count_parameters(classifier.model),
                settings={"dtype": "float32", "inputs": list(self.inputs), "subtask": self.subtask},
                training=Training(
                    regime=cell.regime,
                    seed=cell.seed,
                    config=self.training.model_dump() | {"source": self.source},
                    outcome={"best_epoch": scores["best_epoch"], "test_labels": "".join(map(str, labels))},
                ),
                seconds=shared_seconds + time.perf_counter() - start,
            )

        return finish
