"""Training an encoder for idiomatic similarity: supervised SimCSE over triplets, or regression on pairs.

SimCSE is the training of ChengyuSTS (Qiu et al., section 4.2): for every sentence E, E_c is the positive, and E_i and
the positives and negatives of the other sentences in the batch are the negatives. Regression is the training of
AStitchInLanguageModels, Task 2 B (Tayyar Madabushi et al., 2021, section 4.2): the similarity of (E, E_c) is to be 1,
that of (E, E_i) what the untuned model finds for (E_c, E_i); general pairs with gold scores are mixed in.
"""

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss, MultipleNegativesRankingLoss
from sentence_transformers.sentence_transformer.training_args import BatchSamplers

from turkic_idiom_tasks.dataset.similarity import SentencePairs, Triplet
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.metrics.bootstrap import Floats
from turkic_idiom_tasks.metrics.similarity import spearman, target_similarities
from turkic_idiom_tasks.training.config import SIMCSE, SimilarityConfig, n_processes
from turkic_idiom_tasks.training.encoder_trainer import Tuned, train_encoder
from turkic_idiom_tasks.training.trainee import Trainee, sentence_prompt
from turkic_idiom_tasks.training.trainer import EVALUATION_BATCH, IS_FINITE
from turkic_idiom_tasks.training.triplets import TripletData, idiom_key

log = logging.getLogger("turkic_idiom_tasks")

Vectors = Mapping[str, Any]  # distinct text -> its vector, (H,) float32 of length 1


def fine_tune_similarity(trainee: Trainee, data: TripletData, *, config: SimilarityConfig) -> Tuned:
    """Train an encoder's own weights on triplets; nothing is written. It must have been loaded with this pooling."""
    model = trainee.model
    if config.loss == SIMCSE:
        rows: list[Any] = simcse_rows(data.training, rng=np.random.default_rng(config.seed))
        names = ("anchor", "positive", "negative")
        make_loss: Callable[[SentenceTransformer], torch.nn.Module] = partial(
            MultipleNegativesRankingLoss,
            scale=1 / config.temperature,
            gather_across_devices=n_processes() > 1,  # the sentences of all processes are negatives
        )
    else:
        texts: dict[str, None] = {}
        for triplet in data.training:
            if triplet.correct and triplet.incorrect:
                texts |= {triplet.correct: None, triplet.incorrect: None}
        rows = regression_rows(data.training, _vectors(model, tuple(texts)))
        names, make_loss = ("sentence1", "sentence2", "score"), CosineSimilarityLoss
        if not rows:
            raise InputError("no triplet has a correct sentence, which the cosine loss needs; use --set loss=simcse")
        if not data.general:
            log.warning(
                "no general pairs: nothing pushes sentences apart, so the regression may collapse; give some with "
                "--set general=FILE"
            )
        rows += [(row.sentence1, row.sentence2, row.gold or 0.0) for row in data.general]  # all have a gold score
    return train_encoder(
        model,
        Dataset.from_dict(dict(zip(names, zip(*rows, strict=True), strict=True))),
        partial(development_spearman, model, data.development),
        config=config,
        loss=config.loss,
        score_name="Spearman",
        make_loss=make_loss,
        # without duplicates, because a sentence twice in a batch would be a negative of itself
        batch_sampler=BatchSamplers.NO_DUPLICATES if config.loss == SIMCSE else BatchSamplers.BATCH_SAMPLER,
        prompts=sentence_prompt(model) or None,
    )


def development_spearman(model: SentenceTransformer, pairs: SentencePairs) -> dict[str, float]:
    """Return Spearman's correlation over all development pairs; NaN if they are equally similar."""
    # As in the task, the gold score of (E, E_i) is what the model itself finds for (E_c, E_i), anew in each evaluation;
    # the stock EmbeddingSimilarityEvaluator takes fixed gold scores.
    similarities = pair_similarities(model, pairs)
    if not np.isfinite(similarities).all():
        return {"eval_score": math.nan, IS_FINITE: 0.0}
    targets = target_similarities(pairs, similarities)
    return {"eval_score": spearman(targets[pairs.is_scored], similarities[pairs.is_scored]), IS_FINITE: 1.0}


def pair_similarities(model: SentenceTransformer, pairs: SentencePairs) -> Floats:
    """Return (P,) float64 cosine similarities under the model's prompt for similarity; NaN for vectors with NaN."""
    vectors = _vectors(model, pairs.texts)
    first = np.array([vectors[row.sentence1] for row in pairs.rows], dtype=np.float64)
    second = np.array([vectors[row.sentence2] for row in pairs.rows], dtype=np.float64)
    return np.asarray((first * second).sum(axis=1))


def similarities_of_subsets(model: SentenceTransformer, test: Mapping[str, SentencePairs]) -> dict[str, Floats]:
    """Return subset -> (P,) cosine similarities of the test pairs."""
    similarities = {}
    for subset, pairs in test.items():
        values = pair_similarities(model, pairs)
        if not np.isfinite(values).all():
            raise InputError(f"{subset}: the model's vectors hold NaN or infinity; try another pooling or model")
        similarities[subset] = np.clip(values, -1.0, 1.0)  # rounding may exceed 1
    return similarities


def simcse_rows(triplets: Sequence[Triplet], *, rng: np.random.Generator) -> list[tuple[str, str, str]]:
    """Return (sentence, positive, negative) of every triplet; a missing negative is a random sentence."""
    rows = []
    for triplet in triplets:
        negative = triplet.incorrect
        if not negative:
            pool = []
            for other in triplets:
                is_other = not triplet.idiom or idiom_key(other.idiom) != idiom_key(triplet.idiom)
                if is_other and other.original != triplet.original:
                    pool.append(other.original)
            if not pool:
                raise InputError(
                    f"the triplet {triplet.original!r} has no incorrect sentence, and no other idiom can give one; add "
                    "sentences of other idioms"
                )
            negative = pool[int(rng.integers(len(pool)))]
        # Dropout makes two vectors of a sentence that is its own positive
        rows.append((triplet.original, triplet.correct or triplet.original, negative))
    return rows


def regression_rows(triplets: Sequence[Triplet], vectors: Vectors) -> list[tuple[str, str, float]]:
    """Return (sentence, other sentence, similarity) of the pairs of triplets; `vectors` are the untuned model's."""
    rows = []
    for triplet in triplets:
        if triplet.correct:
            rows.append((triplet.original, triplet.correct, 1.0))
        if triplet.correct and triplet.incorrect:
            # what the untuned model finds, not 0: both sentences share all words but those for the idiom
            target = float(vectors[triplet.correct] @ vectors[triplet.incorrect])
            rows.append((triplet.original, triplet.incorrect, target))
    return rows


def _vectors(model: SentenceTransformer, texts: Sequence[str]) -> Vectors:
    vectors = model.encode(
        list(texts),
        prompt=sentence_prompt(model),
        batch_size=EVALUATION_BATCH,
        normalize_embeddings=True,
        show_progress_bar=False,
    )
    return dict(zip(texts, vectors, strict=True))
