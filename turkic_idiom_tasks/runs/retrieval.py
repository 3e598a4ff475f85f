"""Retrieval cells: an encoder, a regime of supervision, a language, a seed and a pooling, scored on every task."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import JsonValue, model_validator

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.retrieval import PAPER_TASKS, TASKS, target_language
from turkic_idiom_tasks.encoders.community import pinned_revision
from turkic_idiom_tasks.encoders.names import CROSS_LINGUAL, MONOLINGUAL, NATIVE, POOLINGS, PRETRAINED, REGIMES
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import target_codes
from turkic_idiom_tasks.results.predictions import SubsetKey
from turkic_idiom_tasks.results.record import DataName, Record, Throughput, Training, build_record, count_parameters
from turkic_idiom_tasks.runs.cells import AtLeastOne, Cell, CellKind, Finish, Names, Seeds, one_of
from turkic_idiom_tasks.training.config import RetrievalConfig
from turkic_idiom_tasks.training.regimes import build_regime

RETRIEVAL = "retrieval"
SEEDS = (42,)  # the paper names no repetition for retrieval


class RetrievalCells(CellKind):
    """Retrieval cells of a grid."""

    name = RETRIEVAL
    set_by_cells: ClassVar[frozenset[str]] = frozenset({"seed", "pooling"})

    # names as `turkic-idiom run` takes them
    models: Names
    regimes: AtLeastOne[Annotated[str, one_of(*REGIMES)]] = REGIMES
    # for which monolingual and cross-lingual training is repeated
    languages: AtLeastOne[Annotated[str, one_of(*target_codes())]] = target_codes()
    # under which every encoder is trained and scored; ``native`` is that of the model itself, and works for pretrained
    # models of any kind, also those that are no transformers
    poolings: AtLeastOne[Annotated[str, one_of(*POOLINGS, NATIVE)]] = POOLINGS
    seeds: Seeds = SEEDS  # with which every training is repeated
    training: RetrievalConfig = RetrievalConfig()

    @model_validator(mode="after")
    def _check_poolings(self) -> RetrievalCells:
        if NATIVE in self.poolings and self.regimes != (PRETRAINED,):
            raise ValueError(
                f"poolings: {NATIVE} goes with regimes: [{PRETRAINED}] only, because an encoder is trained for one of "
                f"{', '.join(POOLINGS)}"
            )
        return self

    def jobs(self, dataset: Dataset) -> Iterator[list[Cell]]:
        """Yield the jobs model by model."""
        for model in self.models:
            if PRETRAINED in self.regimes:
                # A pretrained model depends on no seed, and one pass over the texts gives all poolings
                yield [Cell(RETRIEVAL, model, PRETRAINED, pooling=pooling) for pooling in self.poolings]
            for seed in self.seeds:
                for regime in self.regimes:
                    if regime == PRETRAINED:
                        continue
                    languages = self.languages if regime in (MONOLINGUAL, CROSS_LINGUAL) else (None,)
                    for language in languages:
                        # The loss is computed from pooled vectors, so an encoder is trained for each pooling from the
                        # same weights
                        for pooling in self.poolings:
                            yield [Cell(RETRIEVAL, model, regime, language, seed, pooling)]

    def settings(self, cell: Cell) -> dict[str, JsonValue]:
        """Return the settings of the training; none for a pretrained model."""
        # what the cells set is in their own fields, and so in their names
        return {} if cell.regime == PRETRAINED else self.training.model_dump(exclude=set(self.set_by_cells))

    def start(self, cells: Sequence[Cell], dataset: Dataset, *, folder: Path, trust_remote_code: bool) -> Finish:
        """Rank with a pretrained model under the poolings of all cells; tuned models share no work."""
        if cells[0].regime == PRETRAINED:
            from turkic_idiom_tasks.runs.engine import score_untuned

            records = score_untuned(
                cells[0].model,
                dataset,
                _subsets(dataset, None),
                [str(cell.pooling) for cell in cells],
                prompts=lambda loaded: {task: loaded.prompts(task) for task in TASKS},
                trust_remote_code=trust_remote_code,
            )
            return lambda cell: records[str(cell.pooling)]
        from turkic_idiom_tasks.encoders.pooled import PooledEncoder, TextVectors
        from turkic_idiom_tasks.results.scored import score_all
        from turkic_idiom_tasks.runs.engine import predict
        from turkic_idiom_tasks.training.retrieval import fine_tune_retrieval
        from turkic_idiom_tasks.training.trainee import load_trainee

        def finish(cell: Cell) -> Record:
            start = time.perf_counter()
            pooling = str(cell.pooling)
            data = build_regime(dataset, cell.regime, language=cell.language)
            trainee = load_trainee(
                cell.model,
                task=data.task,
                pooling=pooling,
                revision=pinned_revision(cell.model),
                trust_remote_code=trust_remote_code,
            )
            loaded = time.perf_counter()
            config = self.training.model_copy(update={"pooling": pooling, "seed": cell.seed or 0})
            tuned = fine_tune_retrieval(trainee, data, config=config)
            trained = time.perf_counter()
            # the same code as for untuned models, so that tuned and untuned scores differ by the weights alone
            encoder = PooledEncoder(trainee.model, model_id=trainee.name)
            keys, prompts = _subsets(dataset, cell.language), trainee.task_prompts
            results = predict(TextVectors(encoder, [pooling]), dict.fromkeys(TASKS, dataset), keys, prompts=prompts)
            predictions = {key: by_pooling[pooling] for key, by_pooling in results}
            end = time.perf_counter()
            outcome = tuned.record() | {
                "load_seconds": round(loaded - start, 3),
                "train_seconds": round(trained - loaded, 3),
                "test_seconds": round(end - trained, 3),
            }
            # A score by language in it may be NaN, which no record has
            del outcome["history"]
            return build_record(
                cell.model,
                predictions,
                score_all(predictions),
                data=DataName.of(dataset),
                revision=trainee.revision,
                n_parameters=count_parameters(trainee.model),
                settings={
                    "pooling": pooling,
                    "dtype": "float32",
                    "prompts": {task: dict(by_role) for task, by_role in prompts.items()},
                },
                training=Training(
                    regime=cell.regime,
                    language=cell.language,
                    seed=cell.seed,
                    config=config.model_dump(),
                    outcome=outcome,
                ),
                seconds=end - start,
                throughput=Throughput.of(encoder),
            )

        return finish


def _subsets(dataset: Dataset, language: str | None) -> list[SubsetKey]:
    """Return the subsets of the paper's tasks with documents in a language, or all."""
    subsets = []
    for task in PAPER_TASKS:
        for subset in dataset.subsets(task):
            if language in (None, target_language(task, subset).code):
                subsets.append((task, subset))
    if not subsets:
        raise InputError(f"{dataset.path}: no retrieval task with documents in {language or 'any language'}")
    return subsets
