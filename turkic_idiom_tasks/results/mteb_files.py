"""Files that the stock ``mteb run`` writes: predictions (``--prediction-folder``), and scores in its output folder."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict, FiniteFloat

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.retrieval import TASKS, Pool, find_task
from turkic_idiom_tasks.errors import InputError, refuse_faults
from turkic_idiom_tasks.io.models import read_model_lines
from turkic_idiom_tasks.io.reading import display
from turkic_idiom_tasks.results.model_predictions import (
    AGAIN,
    HarnessFile,
    ModelPredictions,
    StatedScores,
    describe_encoder,
    read_harness_file,
)
from turkic_idiom_tasks.results.predictions import Rankings, SubsetKey
from turkic_idiom_tasks.results.record import MODEL_META, check_data
from turkic_idiom_tasks.splits import TEST

PREDICTIONS_SUFFIX = "_predictions.json"
PREDICTION_FILES = {f"{task.name}{PREDICTIONS_SUFFIX}": task for task in TASKS.values()}
SCORE_FILES = {f"{task.name}.json": task for task in TASKS.values()}

_Similarities = dict[str, dict[str, FiniteFloat]]  # query -> document -> similarity


class _Model(HarnessFile):
    name: str
    revision: str | None
    n_parameters: int | None = None  # mteb sometimes writes 1.2e8, which pydantic reads as a whole number


class _Score(HarnessFile):
    hf_subset: str
    main_score: float | None  # None if it is undefined
    ndcg_floor: float | None = None


class _Result(HarnessFile):
    task_name: str
    dataset_revision: str
    mteb_version: str
    scores: dict[str, list[_Score]]


class _PredictionsHeader(HarnessFile):
    model_name: str
    revision: str | None


class _Predictions(BaseModel):
    model_config = ConfigDict(extra="allow")

    mteb_model_meta: _PredictionsHeader
    __pydantic_extra__: dict[str, dict[str, _Similarities]]  # subset -> split -> similarities


class _Run(HarnessFile):
    task: str
    version: dict[str, str | None]


def read_predictions(path: Path, metas: Mapping[tuple[str, str], Sequence[Path]], dataset: Dataset) -> ModelPredictions:
    """Return the predictions of one task, from one of the `PREDICTION_FILES`; the metas are from `model_metas`."""
    task = PREDICTION_FILES[path.name]
    content = read_harness_file(_Predictions, path)
    header = content.mteb_model_meta
    # A file of predictions names the model but not the data; only the scores of the same run say which it was.
    results: dict[Path, _Result] = {}
    for meta_path in metas.get((header.model_name, str(header.revision)), ()):
        result_path = meta_path.with_name(f"{task.name}.json")
        if result_path.is_file():
            results[meta_path] = read_harness_file(_Result, result_path)
    strange = [subset for subset in content.__pydantic_extra__ if subset not in dataset.subsets(task.short)]
    problem = ""
    if strange:
        problem = f"the data in use has no subset {display(strange[0])}; name the data with --data"
    elif not results:
        problem = (
            "does not say which data it is of; name the --output-folder of the same mteb run too, which holds "
            f"{task.name}.json of {header.model_name}"
        )
    elif len({result.dataset_revision for result in results.values()}) > 1:
        folders = " and ".join(str(other.parent) for other in results)
        problem = (
            f"{folders} hold {task.name}.json of {header.model_name} on different data, and it is not known which run "
            "made these predictions; name the folder of one run"
        )
    if problem:
        raise InputError(f"{path}: {problem}")
    meta_path, result = next(iter(results.items()))
    check_data(path, result.dataset_revision, dataset)
    predictions: dict[SubsetKey, Rankings] = {}
    for subset, splits in content.__pydantic_extra__.items():
        pool = dataset.pool(task.short, subset)
        predictions[task.short, subset] = _rankings(splits.get(TEST, {}), pool, place=f"{path}, {subset}")
    versions: dict[str, str] = {}
    settings_path = meta_path.with_name("run_settings.jsonl")
    # mteb appends a line for every run, so the last line of a task is about the results that are there
    for run in read_model_lines(_Run, settings_path, AGAIN) if settings_path.is_file() else ():
        if run.task == task.name:
            versions = {package: number for package, number in run.version.items() if number}
    versions = {"mteb": result.mteb_version} | versions
    described = describe_encoder(path, header.model_name, header.revision)
    n_parameters = read_harness_file(_Model, meta_path).n_parameters
    return replace(described, predictions=predictions, n_parameters=n_parameters, versions=versions)


def _rankings(rows: _Similarities, pool: Pool, *, place: str) -> Rankings:
    documents = {document for row in rows.values() for document in row}
    faults = [f"there is no prediction for the query {display(query)}" for query in pool.queries if not rows.get(query)]
    faults += [f"the data has no query {display(query)}" for query in sorted(set(rows) - set(pool.queries))]
    faults += [f"document {display(document)} is not in the data" for document in sorted(documents - set(pool.column))]
    advice = "name the data with --data, or compute it again on this data"
    refuse_faults(faults, place=f"{place}: ", advice=advice)
    rankings = Rankings.from_retrieved(pool, rows)
    # mteb keeps only the best documents of a query: those that it leaves out rank behind all others
    n_listed = np.array([len(rows[query]) for query in pool.queries], dtype=np.int32)
    is_cut = bool((n_listed < len(pool.documents)).any())
    return replace(rankings, n_listed=n_listed if is_cut else None)


def model_metas(files: Sequence[Path]) -> dict[tuple[str, str], list[Path]]:
    """Return (name, revision) -> every ``model_meta.json`` that mteb has written beside results."""
    metas: dict[tuple[str, str], list[Path]] = {}
    for path in files:
        if path.name == MODEL_META:
            meta = read_harness_file(_Model, path)
            metas.setdefault((meta.name, str(meta.revision)), []).append(path)
    return metas


def read_scores(path: Path) -> Iterator[StatedScores]:
    """Yield the scores of one of the `SCORE_FILES`; the ``model_meta.json`` beside it names the model."""
    result = read_harness_file(_Result, path)
    meta_path = path.with_name(MODEL_META)
    model = read_harness_file(_Model, meta_path).name if meta_path.is_file() else None
    for row in result.scores.get(TEST, []):
        about = (path, model, find_task(result.task_name).short, row.hf_subset, result.dataset_revision)
        yield StatedScores(*about, math.nan if row.main_score is None else row.main_score, row.ndcg_floor)
