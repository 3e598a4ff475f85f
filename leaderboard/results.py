"""What `turkic-idiom submit` finds in results: predictions, and what the results say of the model that made them.

Read are the folders of `turkic-idiom run`, of stock ``mteb run --prediction-folder`` (beside its output folder), of
``lm-eval run --log_samples`` and of `turkic-idiom finetune span`. They are the submitter's own files: a mistake
ends the reading, with the file named.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from leaderboard.records import SPANS
from turkic_idiom_tasks.encoders.registry import NO_REVISION
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.experiments.compared_results import open_result, read_rankings
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT
from turkic_idiom_tasks.metrics.ranking import ranking_groups
from turkic_idiom_tasks.retrieval.ranking import Groups
from turkic_idiom_tasks.retrieval.relevance import TASKS, find_task
from turkic_idiom_tasks.retrieval.source import SPLIT

RANKINGS_SUFFIX = ".rankings.jsonl.gz"
PREDICTIONS_SUFFIX = "_predictions.json"
_MTEB_FILES = tuple(f"{task.name}{PREDICTIONS_SUFFIX}" for task in TASKS.values())
_SAMPLES = re.compile(r"samples_turkic_idiom_span_(?P<language>[a-z]+)(?:_(?P<prompt>xml|native))?_(?P<date>.+)\.jsonl")
_POOLED = re.compile(r"(?P<base>.+) \(pooling=(?P<pooling>[^)]*)\)")
_BASELINES = ("turkic-idiom/", "mteb/baseline-")
_LOCAL = "local/"  # what the name of a checkpoint in a folder begins with
_ALL = "all"
_ADAPTED = "cross-lingual"  # trained on the source language, then on all that there is of the target language

Names = Mapping[str, Mapping[str, Any]]  # subset or language -> query or sentence -> its prediction


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The predictions of one model on one task or language, and what is known of it; None is not known.

    Attributes:
        path: the file.
        task: short name of a retrieval task, or `SPANS`.
        predictions: subset -> query -> document ids, or language -> sentence -> letters.
        name: of the model, without its pooling.
        revision: of the model.
        n_parameters: of the model.
        type: what kind of model it is.
        regime: which supervision by idioms it had.
        pooling: one of the five.
        few_shot: examples of the target language it saw.
        seed: of the training, where several are told apart by it.
        dataset_revision: of the data.
        versions: package -> version.
    """

    path: Path
    task: str
    predictions: Names
    name: str
    dataset_revision: str
    revision: str | None = None
    n_parameters: int | None = None
    type: str | None = None
    regime: str | None = None
    pooling: str | None = None
    few_shot: int | None = None
    seed: int | None = None
    versions: Mapping[str, str] = field(default_factory=dict)


def find_predictions(places: Sequence[Path]) -> list[Found]:
    """Everything in some files and folders that can be submitted.

    Raises:
        InputError: a place does not exist or holds nothing of the kind, or a file is damaged.
    """
    files: list[Path] = []
    for place in places:
        if not place.exists():
            raise usage_error(f"{place}: no such file or folder; give the folder that a run has written")
        files += sorted(path for path in place.rglob("*") if path.is_file()) if place.is_dir() else [place]
    metas = _model_metas(files)
    found = [one for path in dict.fromkeys(files) for one in _read(path, metas)]
    if not found:
        raise InputError(
            f"{', '.join(map(str, places))}: nothing to submit; expected *{RANKINGS_SUFFIX} of turkic-idiom run, "
            f"*{PREDICTIONS_SUFFIX} of mteb run --prediction-folder, samples_turkic_idiom_span_*.jsonl of lm-eval run "
            "--log_samples, or cells/*.json of turkic-idiom finetune span"
        )
    return [one for one in found if not _is_lone_source(one, found)]


def _read(path: Path, metas: Mapping[tuple[str, str], Path]) -> Iterator[Found]:
    """What one file holds; nothing if it is of another kind."""
    with _damage_named(path):
        if path.name.endswith(RANKINGS_SUFFIX):
            yield _own_rankings(path, metas)
        elif path.name in _MTEB_FILES:
            yield from _mteb_predictions(path, metas)
        elif _SAMPLES.fullmatch(path.name):
            yield _lm_eval_samples(path)
        elif path.parent.name == "cells" and path.suffix == ".json":
            yield from _span_cell(path)


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        message = f"{path}: damaged ({type(error).__name__}: {error}); compute it again"
        raise InputError(message) from error


def _model_metas(files: Sequence[Path]) -> dict[tuple[str, str], Path]:
    """(name, revision) -> the ``model_meta.json`` that mteb and `turkic-idiom run` write beside results."""
    beside = [path.with_name("model_meta.json") for path in files if path.name.endswith(RANKINGS_SUFFIX)]
    found = {}
    for path in dict.fromkeys(path for path in (*files, *beside) if path.name == "model_meta.json" and path.is_file()):
        with _damage_named(path):
            meta = _json(path)
            found[str(meta["name"]), str(meta["revision"])] = path
    return found


def _own_rankings(path: Path, metas: Mapping[tuple[str, str], Path]) -> Found:
    header, rankings = read_rankings(path)
    meta = _meta(metas, header["model"], header["model_revision"])
    result = path.with_name(f"{path.name.removesuffix(RANKINGS_SUFFIX)}.json")
    if not result.is_file():
        raise InputError(f"{path}: no {result.name} beside it; the run was not finished: run the same command again")
    return Found(
        path,
        find_task(header["task"]).short,
        rankings,
        dataset_revision=header["dataset"]["revision"],
        versions={"mteb": _json(result)["mteb_version"]} | header.get("versions", {}),
        **_of_encoder(header["model"], header["model_revision"], meta, pooling=header["settings"].get("pooling")),
    )


def _mteb_predictions(path: Path, metas: Mapping[tuple[str, str], Path]) -> Iterator[Found]:
    task = find_task(path.name.removesuffix(PREDICTIONS_SUFFIX))
    content = _json(path)
    header = content.pop("mteb_model_meta")
    name, revision = str(header["model_name"]), str(header["revision"])
    result = metas[name, revision].with_name(f"{task.name}.json") if (name, revision) in metas else None
    if result is None or not result.is_file():
        raise InputError(
            f"{path}: does not say which data it is of; name the --output-folder of the same mteb run too, which holds "
            f"{task.name}.json of {name}"
        )
    record = _json(result)
    yield Found(
        path,
        task.short,
        {subset: {query: _groups(row) for query, row in found[SPLIT].items()} for subset, found in content.items()},
        dataset_revision=record["dataset_revision"],
        versions={"mteb": record["mteb_version"]} | _mteb_versions(result.with_name("run_settings.jsonl"), task.name),
        **_of_encoder(name, revision, _json(metas[name, revision])),
    )


def _groups(similarities: Mapping[str, float]) -> Groups:
    return ranking_groups(np.array(list(similarities.values()), dtype=np.float64), list(similarities))


def _mteb_versions(path: Path, task: str) -> dict[str, str]:
    """The versions of the last run of a task, as far as mteb wrote them down."""
    versions: dict[str, str] = {}
    for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
        row = json.loads(line)
        if row["task"] == task:
            versions = {name: number for name, number in row["version"].items() if number}
    return versions


def _meta(metas: Mapping[tuple[str, str], Path], name: str, revision: str | None) -> Mapping[str, Any]:
    path = metas.get((str(name), str(revision)))
    return _json(path) if path else {}


def _of_encoder(
    name: str, revision: str | None, meta: Mapping[str, Any], *, pooling: str | None = None
) -> dict[str, Any]:
    """What retrieval results say of a model."""
    match = _POOLED.fullmatch(name)
    base = match["base"] if match else name
    is_baseline = base.startswith(_BASELINES)
    return {
        "name": base,
        "revision": None if revision in (None, "", NO_REVISION) else revision,
        "n_parameters": meta.get("n_parameters"),
        "type": "baseline" if is_baseline else "encoder" if match else "sentence-encoder",
        "regime": None if base.startswith(_LOCAL) else "pretrained",
        "pooling": pooling or (match["pooling"] if match else None),
    }


def _lm_eval_samples(path: Path) -> Found:
    match = _SAMPLES.fullmatch(path.name)
    if match is None or match["language"] not in LANGUAGES:
        raise InputError(f"{path}: samples of no language of the benchmark; known: {', '.join(LANGUAGES)}")
    results = path.with_name(f"results_{match['date']}.json")
    if not results.is_file():
        raise InputError(f"{path}: no {results.name} beside it, which says what was run; copy it there too")
    task = path.name.removeprefix("samples_").removesuffix(f"_{match['date']}.jsonl")
    record = _json(results)
    data = record["configs"][task]["metadata"]
    if "data_revision" not in data:
        raise InputError(f"{results}: does not say which data it is of; run it again with the lm-eval command of an "
                         "environment in which turkic-idiom doctor finds nothing wrong")  # fmt: skip
    rows = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    tags = {row["doc"]["id"]: row["span_f1"][2] for row in rows if row["filter"] == "strict"}
    config, shots = record["config"], record["n-shot"][task]
    is_classifier = config["model"] == "token-classifier"
    return Found(
        path,
        SPANS,
        {match["language"]: tags},
        name=record["model_name"],
        revision=config.get("model_sha") or None,
        n_parameters=config.get("model_num_parameters") or None,
        type="token-classifier" if is_classifier else "llm",
        regime=None if is_classifier else "few-shot" if shots else "pretrained",
        few_shot=None if is_classifier else shots,
        dataset_revision=data["data_revision"],
        versions={"lm-eval": record["lm_eval_version"], "transformers": record["transformers_version"]},
    )


def _span_cell(path: Path) -> Iterator[Found]:
    """A cell; one of the source language stands for it both untouched (0 examples) and where all have seen theirs."""
    result = open_result(path, required=True)
    record = result.record if result else {}
    is_source = record["language"] == record["source_language"]
    sizes: tuple[Any, ...] = (0, _ALL) if is_source else (record["size"],)
    for size in sizes:
        only_turkish = "tr-only" if record["source_language"] == PIVOT else "other"
        yield Found(
            path,
            SPANS,
            {record["language"]: record["tags"]},
            name=record["model"],
            revision=record["model_revision"],
            type="token-classifier",
            regime=only_turkish if size == 0 else _ADAPTED if size == _ALL else "few-shot",
            few_shot=None if size == _ALL else size,
            seed=record["seed"],
            dataset_revision=record["data"]["revision"],
            versions=record["versions"],
        )


def _is_lone_source(one: Found, found: Sequence[Found]) -> bool:
    """Whether a source language stands for a grid in which no language has been adapted to."""
    if one.seed is None or one.regime != _ADAPTED:
        return False
    others = (other for other in found if (other.name, other.seed, other.regime) == (one.name, one.seed, _ADAPTED))
    return {language for other in others for language in other.predictions} == set(one.predictions)


def _json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))
