"""Work of the similarity cells: score an encoder as it is, or train it first."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial

from pydantic import JsonValue

from turkic_idiom_tasks.dataset.similarity import (
    ASTITCH_STS,
    CHENGYU_STS,
    STS,
    revision_of_pairs,
)
from turkic_idiom_tasks.encoders.names import PRETRAINED
from turkic_idiom_tasks.experiments.cells import Cell, Finish, Result, Work, pinned_commit
from turkic_idiom_tasks.experiments.similarity_cells import SimilarityPart
from turkic_idiom_tasks.finetuning.similarity import TunedSimilarity, fine_tune_similarity, similarities_of_subsets
from turkic_idiom_tasks.finetuning.trainee import Trainee, load_trainee
from turkic_idiom_tasks.finetuning.triplets import ASTITCH, CHENGYU, LEXICON, TripletData
from turkic_idiom_tasks.metrics.bootstrap import Floats
from turkic_idiom_tasks.results.record import DataName, Header, ModelName, Training, installed_versions, subset_scores
from turkic_idiom_tasks.results.scored import score_subset
from turkic_idiom_tasks.results.similarities import Similarities

TASK_OF_SOURCE = {LEXICON: STS, ASTITCH: ASTITCH_STS, CHENGYU: CHENGYU_STS}


def start(work: Work[SimilarityPart]) -> Finish:
    """Return the function that runs one cell.

    Raises:
        InputError: the data of the part cannot be used.
    """
    return partial(_finish, work=work, triplets=work.part.triplets(work.dataset))


def _finish(cell: Cell, *, work: Work[SimilarityPart], triplets: TripletData) -> Result:
    start = time.perf_counter()
    part = work.part
    trainee = load_trainee(
        cell.model,
        task="T2",
        pooling=part.training.pooling,
        revision=pinned_commit(cell.model),
        trust_remote_code=work.trust_remote_code,
    )
    if cell.regime == PRETRAINED:
        similarities: Mapping[str, Floats] = similarities_of_subsets(trainee.model, triplets.test)
        training = None
    else:
        config = part.training.model_copy(update={"seed": cell.seed or 0, "loss": cell.regime})
        tuned = fine_tune_similarity(trainee, triplets, config=config)
        similarities = tuned.similarities
        data: dict[str, JsonValue] = {"source": part.source, "seen_idioms": part.seen_idioms, "general": part.general}
        training = Training(
            regime=cell.regime,
            seed=cell.seed,
            config=config.model_dump() | data | {"revision": triplets.revision},
            outcome=_outcome(tuned),
        )
    return _result(cell, work, trainee, triplets, similarities, training=training, seconds=time.perf_counter() - start)


def _result(
    cell: Cell,
    work: Work[SimilarityPart],
    trainee: Trainee,
    triplets: TripletData,
    similarities: Mapping[str, Floats],
    *,
    training: Training | None,
    seconds: float,
) -> Result:
    source = work.part.source
    task = TASK_OF_SOURCE[source]
    predictions = {}
    scores = []
    for subset, values in similarities.items():
        prediction = Similarities(task, triplets.test[subset], values)
        predictions[task, subset] = prediction
        scores.append(subset_scores(task, subset, score_subset(prediction).scores))
    data = DataName.of(work.dataset)
    if source != LEXICON:
        data = DataName(path=source, revision=revision_of_pairs(triplets.test))
    header = Header(
        data=data,
        model=ModelName(
            name=cell.model,
            revision=trainee.revision,
            n_parameters=sum(parameter.numel() for parameter in trainee.model.parameters()),
        ),
        settings={"pooling": trainee.pooling, "dtype": "float32", "prompts": dict(trainee.prompts)},
        training=training,
        versions=installed_versions(),
        subsets=scores,
        seconds=round(seconds, 3),
    )
    return Result(header, predictions)


def _outcome(tuned: TunedSimilarity) -> dict[str, JsonValue]:
    history = [None if score.spearman != score.spearman else score.spearman for score in tuned.history]
    return {
        "best_epoch": tuned.kept.epoch,
        "development_spearman": history[tuned.kept.epoch],
        "history": list(history),
        "n_examples": tuned.n_examples,
        "diverged_at": tuned.diverged_at,
        "verdict": tuned.verdict,
    }
