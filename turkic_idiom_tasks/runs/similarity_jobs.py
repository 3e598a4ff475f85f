"""Work of the similarity cells: score a model as it is, or give an encoder idiom tokens or train it first."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import JsonValue

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.pair_dataset import PairDataset
from turkic_idiom_tasks.dataset.similarity import ASTITCH_STS, CHENGYU_STS, SIMILARITY_TASKS, STS
from turkic_idiom_tasks.encoders.idiom_tokens import make_tokens
from turkic_idiom_tasks.encoders.names import NATIVE, PRETRAINED, REPLACE_SELECTED
from turkic_idiom_tasks.encoders.pooled import PooledEncoder
from turkic_idiom_tasks.encoders.poolings import native_pooling
from turkic_idiom_tasks.encoders.text_vectors import TextVectors
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.harnesses.mteb_loading import resolve_model
from turkic_idiom_tasks.harnesses.mteb_results import model_revision
from turkic_idiom_tasks.harnesses.mteb_similarity import SIMILARITY_CLASSES
from turkic_idiom_tasks.metrics.bootstrap import Floats
from turkic_idiom_tasks.results.predictions import Prediction, Similarities
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
from turkic_idiom_tasks.runs.similarity_cells import SimilarityPart
from turkic_idiom_tasks.tasks.similarity.pair_similarities import SENTENCE, similarities_by_pooling
from turkic_idiom_tasks.training.idiom_tokens import grow_encoder
from turkic_idiom_tasks.training.known_idioms import known_idioms
from turkic_idiom_tasks.training.similarity import TunedSimilarity, fine_tune_similarity, similarities_of_subsets
from turkic_idiom_tasks.training.trainee import Trainee, load_trainee, sentence_prompt
from turkic_idiom_tasks.training.triplets import ASTITCH, CHENGYU, LEXICON, TripletData

TASK_OF_SOURCE = {LEXICON: STS, ASTITCH: ASTITCH_STS, CHENGYU: CHENGYU_STS}


@dataclass(frozen=True, slots=True, eq=False)
class _Outcome:
    """Result of a cell: model, settings, predictions by subset; its training and the speed of the encoder if known."""

    model: ModelName
    settings: dict[str, JsonValue]
    predictions: Mapping[str, Prediction]
    training: Training | None = None
    throughput: Throughput | None = None


def start(work: Work[SimilarityPart]) -> Finish:
    """Return the function that runs one cell.

    Raises:
        InputError: the data of the part cannot be used.
    """
    return partial(_finish, work=work, triplets=work.part.triplets(work.dataset))


def _finish(cell: Cell, *, work: Work[SimilarityPart], triplets: TripletData) -> Result:
    begin = time.perf_counter()
    task = TASK_OF_SOURCE[work.part.source]
    data = work.dataset
    if work.part.source != LEXICON:
        data = PairDataset(task, work.part.source, triplets.test)
    if cell.regime == PRETRAINED:
        outcome = _untuned(cell, work, task, data, subsets=tuple(triplets.test))
    else:
        outcome = _treated(cell, work, task, triplets)
    scores = []
    for subset, prediction in outcome.predictions.items():
        scores.append(subset_scores(task, subset, score_subset(prediction).scores))
    header = Header(
        data=DataName.of(data),
        model=outcome.model,
        settings=outcome.settings,
        training=outcome.training,
        versions=installed_versions(),
        subsets=scores,
        seconds=round(time.perf_counter() - begin, 3),
        throughput=outcome.throughput,
    )
    return Result(header, {(task, subset): prediction for subset, prediction in outcome.predictions.items()})


def _untuned(cell: Cell, work: Work[SimilarityPart], task: str, data: Dataset, *, subsets: tuple[str, ...]) -> _Outcome:
    """Score a model of any kind; a transformer encodes each sentence only once.

    Raises:
        InputError: a pooling is chosen for a model that is no transformer.
    """
    revision = pinned_commit(cell.model)
    loaded = resolve_model(cell.model, revision=revision, trust_remote_code=work.trust_remote_code)
    if loaded.encoder is None and work.part.training.pooling is not None:
        raise usage_error(
            f"{cell.model}: not a transformer encoder, so training: {{pooling: {work.part.training.pooling}}} does not "
            "apply; list this model in a grid file that sets no pooling"
        )
    evaluated = SIMILARITY_CLASSES[SIMILARITY_TASKS[task].name](dataset=data)
    pooling = work.part.training.pooling
    if pooling is None and loaded.encoder is not None:
        pooling = native_pooling(loaded.encoder)
    predictions: dict[str, Prediction] = {}
    throughput = None
    chosen = work.part.training.pooling or NATIVE  # as the retrieval cells of the same model state it
    dtype = "float32" if loaded.is_sentence_transformer else None
    settings: dict[str, JsonValue] = {"pooling": chosen, "dtype": dtype, "prompts": None}
    if loaded.encoder is not None and pooling is not None:
        prompt = loaded.prompt(evaluated.metadata)
        settings["prompts"] = {SENTENCE: prompt}
        encoder = PooledEncoder.from_sentence_transformer(loaded.encoder, model_id=str(loaded.meta.name))
        vectors = TextVectors(encoder, [pooling])
        for subset in subsets:
            by_pooling = similarities_by_pooling(vectors, task, data.pairs(task, subset), prompt=prompt)
            predictions[subset] = by_pooling[pooling]
        throughput = Throughput.of(encoder)
    else:
        for subset in subsets:
            predictions[subset], _ = loaded.evaluate_subset(evaluated, subset)
    model = ModelName(name=cell.model, revision=model_revision(loaded.meta), n_parameters=loaded.n_parameters)
    return _Outcome(model, settings, predictions, throughput=throughput)


def _treated(cell: Cell, work: Work[SimilarityPart], task: str, triplets: TripletData) -> _Outcome:
    """Give an encoder idiom tokens, train it for similarity, or both, and score it."""
    part, seed = work.part, cell.seed or 0
    treatment = part.treatments()[cell.regime]
    trainee = load_trainee(
        cell.model,
        task="T2",
        pooling=part.training.pooling,
        revision=pinned_commit(cell.model),
        trust_remote_code=work.trust_remote_code,
    )
    config: dict[str, JsonValue] = {}
    report: dict[str, JsonValue] = {}
    if treatment.replacement is not None:
        report["idiom_tokens"] = _grow(trainee, treatment.replacement, work, triplets, seed=seed)
    if treatment.loss is None:
        similarities: Mapping[str, Floats] = similarities_of_subsets(trainee.model, triplets.test)
    else:
        similarity_config = part.training.model_copy(update={"seed": seed, "loss": treatment.loss})
        tuned = fine_tune_similarity(trainee, triplets, config=similarity_config)
        similarities = tuned.similarities
        config |= similarity_config.model_dump()
        report |= _report(tuned)
    config |= {
        "source": part.source,
        "seen_idioms": part.seen_idioms,
        "general": part.general,
        "revision": triplets.revision,
    }
    predictions = {}
    for subset, values in similarities.items():
        predictions[subset] = Similarities(task, triplets.test[subset], values)
    n_parameters = sum(parameter.numel() for parameter in trainee.model.parameters())
    return _Outcome(
        ModelName(name=cell.model, revision=trainee.revision, n_parameters=n_parameters),
        {"pooling": trainee.pooling, "dtype": "float32", "prompts": {SENTENCE: sentence_prompt(trainee.model)}},
        predictions,
        Training(regime=cell.regime, seed=cell.seed, config=config, outcome=report),
    )


def _grow(
    trainee: Trainee, replacement: str, work: Work[SimilarityPart], triplets: TripletData, *, seed: int
) -> dict[str, JsonValue]:
    """Add a token for each idiom of the data to an encoder; return settings and outcome."""
    part = work.part
    config = part.token_config(replacement)
    idioms = known_idioms(part.data(work.dataset), triplets, languages=part.languages)
    classifier = part.idiomaticity_classifier if replacement == REPLACE_SELECTED else None
    grown = grow_encoder(
        trainee,
        make_tokens(idioms),
        triplets,
        config=config,
        classifier=None if classifier is None else Path(classifier),
        sentences=part.sentences(),
        batch_size=part.training.batch_size,
        seed=seed,
    )
    return grown.record(config)


def _report(tuned: TunedSimilarity) -> dict[str, JsonValue]:
    history: list[JsonValue] = [None if math.isnan(score.spearman) else score.spearman for score in tuned.history]
    return {
        "best_epoch": tuned.kept.epoch,
        "development_spearman": history[tuned.kept.epoch],
        "history": history,
        "n_examples": tuned.n_examples,
        "diverged_at": tuned.diverged_at,
        "verdict": tuned.verdict,
    }
