"""Scoring of models on the tasks of encoders for `turkic-idiom run`; every result is written when it is finished."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.retrieval import TASKS, queries_with_shared_stem
from turkic_idiom_tasks.io.files import check_writable
from turkic_idiom_tasks.results.predictions import SubsetKey, subsets_of
from turkic_idiom_tasks.results.scored import ScoredSubset
from turkic_idiom_tasks.runs.run_model import ModelScorer, Unit
from turkic_idiom_tasks.runs.run_options import (
    LogReporter,
    Reporter,
    RunOptions,
    choose_subsets,
    full_name,
    make_options,
    open_datasets,
)

__all__ = ["LogReporter", "ModelRun", "Reporter", "RunOptions", "make_options", "run_models"]


@dataclass(frozen=True, slots=True, eq=False)
class ModelRun:
    """Scores of a model under one pooling on one task.

    Attributes:
        model: display name, with the pooling if one was chosen.
        task: full name.
        subsets: name -> scores.
        shared_stem: subset -> the queries that have a content word in common with a relevant document; empty for
            similarity.
        left_out: subsets of the task that the data does not have.
        folder: folder of the result files.
    """

    model: str
    task: str
    subsets: Mapping[str, ScoredSubset]
    shared_stem: Mapping[str, frozenset[str]]
    left_out: tuple[str, ...]
    folder: Path


def run_models(
    models: Sequence[str], dataset: Dataset, options: RunOptions, *, reporter: Reporter | None = None
) -> list[ModelRun]:
    """Score models one after the other, and write each result when it is done; finished results are only read.

    Args:
        models: mteb or Hugging Face names, or local folders.
        dataset: the data to score on.
        options: tasks and settings.
        reporter: is told about the progress.

    Raises:
        InputError: data, model, pooling or output folder cannot be used; results that are written already stay.
    """
    reporter = reporter or LogReporter()
    datasets = open_datasets(dataset, options)
    subsets = choose_subsets(datasets, options, reporter)
    check_writable(options.output)
    shared_stem: dict[SubsetKey, frozenset[str]] = {}
    for task, subset in subsets:
        if task in TASKS:
            shared_stem[task, subset] = queries_with_shared_stem(dataset.retrieval(task, subset), task, subset)
    names = list(dict.fromkeys(models))
    runs: list[ModelRun] = []
    for number, name in enumerate(names, start=1):
        scorer = ModelScorer(datasets, subsets, options, reporter, place=f"model {number}/{len(names)}")
        for unit in scorer.score(name):
            runs.append(_model_run(unit, shared_stem))
    return runs


def _model_run(unit: Unit, shared_stem: Mapping[SubsetKey, frozenset[str]]) -> ModelRun:
    short = unit.task.short
    present = unit.dataset.subsets(short) if short in TASKS else unit.dataset.pair_subsets(short)
    return ModelRun(
        model=str(unit.variant.meta.name),
        task=full_name(short),
        subsets={subset: unit.scored[subset] for subset in unit.subsets},
        shared_stem={subset: shared_stem[short, subset] for subset in unit.subsets if (short, subset) in shared_stem},
        left_out=tuple(subset for subset in subsets_of(short) if subset not in present),
        folder=unit.folder.path,
    )
