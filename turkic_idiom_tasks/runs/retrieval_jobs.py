"""Work of the retrieval cells: rank with an encoder as it is, or train it first, each time from the same weights."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import JsonValue

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.retrieval import PAPER_TASKS, TASKS, target_language
from turkic_idiom_tasks.encoders.names import NATIVE, PRETRAINED
from turkic_idiom_tasks.encoders.pooled import PooledEncoder
from turkic_idiom_tasks.encoders.poolings import native_pooling
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses.mteb_loading import LoadedModel, resolve_model
from turkic_idiom_tasks.harnesses.mteb_results import model_revision
from turkic_idiom_tasks.harnesses.mteb_tasks import TASK_CLASSES
from turkic_idiom_tasks.results import TOP_K
from turkic_idiom_tasks.results.predictions import Rankings, SubsetKey
from turkic_idiom_tasks.results.record import (
    DataName,
    Header,
    ModelName,
    Throughput,
    Training,
    installed_versions,
    subset_scores,
)
from turkic_idiom_tasks.results.scored import score_subset
from turkic_idiom_tasks.runs.cells import Cell, Finish, Result, Work, pinned_commit
from turkic_idiom_tasks.runs.retrieval_cells import RetrievalPart
from turkic_idiom_tasks.splits import TEST
from turkic_idiom_tasks.tasks.retrieval.ranking import Prompts, encode_and_rank
from turkic_idiom_tasks.training.encoder_trainer import Tuned
from turkic_idiom_tasks.training.regimes import build_regime
from turkic_idiom_tasks.training.retrieval import fine_tune_retrieval
from turkic_idiom_tasks.training.trainee import Trainee, load_trainee, task_prompts


@dataclass(frozen=True, slots=True)
class _Encoder:
    """What a record states about the encoder of a cell; None is unknown, or does not apply."""

    revision: str | None
    n_parameters: int | None
    dtype: str | None
    prompts: dict[str, Any] | None

    @classmethod
    def of(cls, trainee: Trainee) -> _Encoder:
        return cls(
            revision=trainee.revision,
            n_parameters=sum(parameter.numel() for parameter in trainee.model.parameters()),
            dtype="float32",
            prompts={task: dict(by_role) for task, by_role in trainee.task_prompts.items()},
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Ranked:
    """Rankings of a cell by subset, and the speed of the encoder; None if it was not measured."""

    rankings: Mapping[SubsetKey, Rankings]
    throughput: Throughput | None = None


def start(cells: Sequence[Cell], work: Work[RetrievalPart]) -> Finish:
    """Rank with a pretrained model under the poolings of all cells; tuned models share no work.

    Returns:
        the function that runs one of the cells.

    Raises:
        InputError: the model cannot be loaded, or the data has no retrieval task.
    """
    if cells[0].regime != PRETRAINED:
        return partial(_tuned_result, work=work)
    start = time.perf_counter()
    model = cells[0].model
    commit, trust = pinned_commit(model), work.trust_remote_code
    poolings = [str(cell.pooling) for cell in cells]
    encoders: dict[str, _Encoder] = {}
    ranked: dict[str, _Ranked] = {}
    if NATIVE in poolings:
        loaded = resolve_model(model, revision=commit, trust_remote_code=trust)
        encoders[NATIVE] = _native_encoder(loaded)
        ranked[NATIVE] = _rank_natively(loaded, work.dataset)
    chosen = [pooling for pooling in poolings if pooling != NATIVE]
    if chosen:
        trainee = load_trainee(model, task="T2", revision=commit, trust_remote_code=trust)
        encoders |= dict.fromkeys(chosen, _Encoder.of(trainee))
        ranked |= _rank(trainee, work.dataset, language=None, poolings=chosen)
    seconds = (time.perf_counter() - start) / len(cells)
    return partial(_pretrained_result, work=work, encoders=encoders, ranked=ranked, seconds=seconds)


def _pretrained_result(
    cell: Cell,
    *,
    work: Work[RetrievalPart],
    encoders: Mapping[str, _Encoder],
    ranked: Mapping[str, _Ranked],
    seconds: float,
) -> Result:
    pooling = str(cell.pooling)
    return _result(cell, work, encoders[pooling], ranked[pooling], training=None, seconds=seconds)


def _tuned_result(cell: Cell, *, work: Work[RetrievalPart]) -> Result:
    """Train and score the encoder of a cell."""
    start = time.perf_counter()
    data = build_regime(work.dataset, cell.regime, language=cell.language)
    trainee = load_trainee(
        cell.model,
        task=data.task,
        pooling=cell.pooling,
        revision=pinned_commit(cell.model),
        trust_remote_code=work.trust_remote_code,
    )
    loaded = time.perf_counter()
    config = work.part.training.model_copy(update={"pooling": cell.pooling, "seed": cell.seed or 0})
    tuned = fine_tune_retrieval(trainee, data, config=config)
    trained = time.perf_counter()
    pooling = str(cell.pooling)
    ranked = _rank(trainee, work.dataset, language=cell.language, poolings=[pooling])[pooling]
    end = time.perf_counter()
    training = Training(
        regime=cell.regime,
        language=cell.language,
        seed=cell.seed,
        config=config.model_dump(),
        outcome=_outcome(tuned) | _seconds(load=loaded - start, train=trained - loaded, test=end - trained),
    )
    return _result(cell, work, _Encoder.of(trainee), ranked, training=training, seconds=end - start)


def _rank(trainee: Trainee, dataset: Dataset, *, language: str | None, poolings: Sequence[str]) -> dict[str, _Ranked]:
    """Return pooling -> rankings of the subsets with documents in a language, or of all subsets.

    Raises:
        InputError: there is no such subset.
    """
    subsets = _subsets(dataset, language)
    encoder = PooledEncoder(trainee.model, model_id=trainee.name)
    return _encode_and_rank(encoder, dataset, subsets, poolings=poolings, prompts=trainee.task_prompts)


def _encode_and_rank(
    encoder: PooledEncoder, dataset: Dataset, subsets: Sequence[SubsetKey], *, poolings: Sequence[str], prompts: Prompts
) -> dict[str, _Ranked]:
    by_pooling = encode_and_rank(encoder, dataset, subsets, poolings=poolings, prompts=prompts)
    throughput = Throughput.of(encoder)
    return {pooling: _Ranked(rankings, throughput) for pooling, rankings in by_pooling.items()}


def _rank_natively(loaded: LoadedModel, dataset: Dataset) -> _Ranked:
    """Return the rankings by a model of any kind as mteb evaluates it, over all subsets.

    A transformer whose own pooling is one of ours encodes each text only once.
    """
    subsets = _subsets(dataset, None)
    pooling = native_pooling(loaded.encoder) if loaded.encoder is not None else None
    if loaded.encoder is not None and pooling is not None:
        encoder = PooledEncoder(loaded.encoder, model_id=str(loaded.meta.name))
        prompts = task_prompts(loaded)
        return _encode_and_rank(encoder, dataset, subsets, poolings=[pooling], prompts=prompts)[pooling]
    rankings = {}
    for short in PAPER_TASKS:
        task = TASK_CLASSES[TASKS[short].name](dataset=dataset)
        for key in subsets:
            if key[0] == short:
                loaded.evaluate_subset(task, key[1])
                rankings[key] = task.predictions[TEST, key[1]]
    return _Ranked(rankings)


def _native_encoder(loaded: LoadedModel) -> _Encoder:
    """Return the description of a model as mteb evaluates it; some kinds of models have no prompts and no dtype."""
    return _Encoder(
        revision=model_revision(loaded.meta),
        n_parameters=loaded.n_parameters,
        dtype="float32" if loaded.is_sentence_transformer else None,
        prompts=task_prompts(loaded) if loaded.has_stock_prompts else None,
    )


def _subsets(dataset: Dataset, language: str | None) -> list[SubsetKey]:
    """Return the subsets of the paper's tasks with documents in a language, or all.

    Raises:
        InputError: there is no such subset.
    """
    subsets = []
    for task in PAPER_TASKS:
        for subset in dataset.subsets(task):
            if language in (None, target_language(task, subset).code):
                subsets.append((task, subset))
    if not subsets:
        raise InputError(f"{dataset.path}: no retrieval task with documents in {language or 'any language'}")
    return subsets


def _result(
    cell: Cell,
    work: Work[RetrievalPart],
    encoder: _Encoder,
    ranked: _Ranked,
    *,
    training: Training | None,
    seconds: float,
) -> Result:
    scores = []
    for (task, subset), ranking in ranked.rankings.items():
        scores.append(subset_scores(task, subset, score_subset(ranking).scores))
    header = Header(
        data=DataName.of(work.dataset),
        model=ModelName(name=cell.model, revision=encoder.revision, n_parameters=encoder.n_parameters),
        settings={"pooling": cell.pooling, "dtype": encoder.dtype, "prompts": encoder.prompts},
        training=training,
        versions=installed_versions(),
        subsets=scores,
        seconds=round(seconds, 3),
        throughput=ranked.throughput,
    )
    return Result(header, ranked.rankings, top_k=TOP_K)


def _outcome(tuned: Tuned) -> dict[str, JsonValue]:
    return {
        "untuned_ndcg": tuned.untuned.score,
        "tuned_ndcg": tuned.tuned.score if tuned.tuned else None,
        "kept_step": tuned.kept.step,
        "steps": tuned.n_steps,
        "diverged_at": tuned.diverged_at,
        "verdict": tuned.verdict,
        "loss": tuned.loss,
    }


def _seconds(**parts: float) -> dict[str, JsonValue]:
    return {f"{name}_seconds": round(value, 3) for name, value in parts.items()}
