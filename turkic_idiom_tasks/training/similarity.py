"""Training an encoder for idiomatic similarity: supervised SimCSE over triplets, or regression on pairs.

SimCSE is the training of ChengyuSTS (Qiu et al., section 4.2): for every sentence E, E_c is the positive, and E_i and
the positives and negatives of the other sentences in the batch are the negatives. A missing positive is the sentence
itself, a missing negative a random sentence. Regression is the training of AStitchInLanguageModels, Task 2 B (Tayyar
Madabushi et al., 2021, section 4.2): the similarity of (E, E_c) is to be 1, that of (E, E_i) what the untuned model
finds for (E_c, E_i); general pairs with gold scores are mixed in, without which nothing pushes sentences apart. Trainer
and losses are those of sentence-transformers.

After every epoch the development pairs are scored in the same way as the test pairs of the task. The best weights so
far, at first the untuned ones, are kept in memory, and training ends with them.
"""

from __future__ import annotations

import logging
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainingArguments
from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss, MultipleNegativesRankingLoss
from sentence_transformers.sentence_transformer.training_args import BatchSamplers
from transformers import TrainerCallback, set_seed

from turkic_idiom_tasks.dataset.similarity import SentencePairs, Triplet
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.metrics.bootstrap import Floats
from turkic_idiom_tasks.metrics.similarity import similarity_scores, spearman, target_similarities
from turkic_idiom_tasks.training.config import SIMCSE, SimilarityConfig, n_processes
from turkic_idiom_tasks.training.encoder_trainer import (
    EncoderTrainer,
    ScoreEvaluator,
    check_batches,
    check_packages,
    encoder_arguments,
    trainer_shell,
)
from turkic_idiom_tasks.training.trainee import Trainee, sentence_prompt
from turkic_idiom_tasks.training.training import BestWeights
from turkic_idiom_tasks.training.triplets import TripletData, idiom_key

log = logging.getLogger("turkic_idiom_tasks")

_SPEARMAN = "spearman"
_EVALUATION_BATCH = 64  # texts; larger than in training, because there is no backward pass


@dataclass(frozen=True, slots=True)
class EpochScore:
    """Score of the development pairs after an epoch.

    Attributes:
        epoch: number of the epoch; 0 is the untuned model.
        spearman: Spearman's correlation over all development pairs in [-1, 1]; NaN where it is undefined, because the
            model finds all pairs equally similar or its vectors are not finite.
    """

    epoch: int
    spearman: float


@dataclass(frozen=True, slots=True, eq=False)
class TunedSimilarity:
    """A tuned encoder with its best weights, which may be the untuned ones.

    Attributes:
        model: the model, ready to encode; made of stock modules, but for one that puts idiom tokens into texts.
        history: the development scores, beginning with that of the untuned model.
        untuned_scores: subset -> name -> score of the test pairs by the untuned model.
        scores: the same by the weights that the model has now.
        similarities: subset -> (P,) cosine similarities of the test pairs by these weights.
        n_examples: triplets, or pairs for the cosine loss, that it was trained on.
        diverged_at: step at which loss or vectors were not finite and training stopped; None if there was none.
    """

    model: SentenceTransformer
    history: tuple[EpochScore, ...]
    untuned_scores: Mapping[str, Mapping[str, float]]
    scores: Mapping[str, Mapping[str, float]]
    similarities: Mapping[str, Floats]
    n_examples: int
    diverged_at: int | None

    @property
    def untuned(self) -> EpochScore:
        """Return the development score before training."""
        return self.history[0]

    @property
    def tuned(self) -> EpochScore | None:
        """Return the best development score of trained weights, the earliest among equal ones; None if undefined."""
        defined = [score for score in self.history[1:] if not math.isnan(score.spearman)]
        return max(defined, key=lambda score: score.spearman, default=None)

    @property
    def kept(self) -> EpochScore:
        """Return the development score of the weights that the model has now."""
        if self.tuned is None:
            return self.untuned
        is_better = math.isnan(self.untuned.spearman) or self.tuned.spearman > self.untuned.spearman
        return self.tuned if is_better else self.untuned

    @property
    def verdict(self) -> str:
        """Return one sentence on the effect of tuning and on the weights that were kept."""
        ending = ""
        if self.diverged_at is not None:
            ending = f"; loss or vectors were not finite at step {self.diverged_at}, where training stopped"
        before = _shown(self.untuned.spearman)
        if self.tuned is None:
            return f"no tuned weights could be scored{ending}; the untuned weights are kept ({before})"
        after = f"{_shown(self.tuned.spearman)} (epoch {self.tuned.epoch})"
        if self.kept.epoch:
            return f"tuning raised development Spearman from {before} to {after}{ending}"
        return (
            f"tuning did not raise development Spearman, {before} untuned and at best {after}{ending}; the untuned "
            "weights are kept"
        )


def fine_tune_similarity(trainee: Trainee, data: TripletData, *, config: SimilarityConfig) -> TunedSimilarity:
    """Train an encoder's own weights on triplets, and score it on the test pairs before and after; write nothing.

    Args:
        trainee: from `trainee.load_trainee`; its weights are changed.
        data: from `triplets.build_triplets`.
        config: settings of the training; the trainee must have been loaded with its pooling.

    Raises:
        InputError: the untuned model's vectors are not finite, a package is missing, or the triplets have no part that
            the loss can learn from.
    """
    check_packages("accelerate")
    check_batches(len(data.training), batch_size=config.batch_size)
    model = trainee.model
    set_seed(config.seed)
    untuned_scores = _scores(data.test, similarities_of_subsets(model, data.test))
    watcher = _EpochWatcher(model, _development_spearman(model, data.development))
    rows = _training_rows(model, data, config=config)
    with tempfile.TemporaryDirectory(prefix="turkic-idiom-") as scratch:
        trainer = EncoderTrainer(
            watcher,
            model=trainer_shell(model),
            args=_arguments(config, prompt=sentence_prompt(model), scratch=scratch),
            train_dataset=rows,
            loss=partial(_make_loss, config=config),
            evaluator=ScoreEvaluator(_SPEARMAN, partial(_evaluate, model=model, pairs=data.development)),
        )
        trainer.train()
    watcher.best.restore()
    model.eval()
    similarities = similarities_of_subsets(model, data.test)
    return TunedSimilarity(
        model=model,
        history=tuple(watcher.history),
        untuned_scores=untuned_scores,
        scores=_scores(data.test, similarities),
        similarities=similarities,
        n_examples=len(rows),
        diverged_at=watcher.diverged_at,
    )


def pair_similarities(model: SentenceTransformer, pairs: SentencePairs) -> Floats:
    """Return (P,) float64, the cosine similarity of every pair, under the model's prompt for similarity tasks.

    Vectors that are not finite give NaN.
    """
    row_of = {text: row for row, text in enumerate(pairs.texts)}
    first = [row_of[row.sentence1] for row in pairs.rows]
    second = [row_of[row.sentence2] for row in pairs.rows]
    vectors = np.asarray(
        model.encode(
            list(pairs.texts),
            prompt=sentence_prompt(model),
            batch_size=_EVALUATION_BATCH,
            normalize_embeddings=True,
            show_progress_bar=False,
        ),
        dtype=np.float64,
    )
    return np.asarray((vectors[first] * vectors[second]).sum(axis=1))


def similarities_of_subsets(model: SentenceTransformer, test: Mapping[str, SentencePairs]) -> dict[str, Floats]:
    """Return subset -> (P,) cosine similarities of the test pairs.

    Raises:
        InputError: the model's vectors are not finite.
    """
    similarities = {}
    for subset, pairs in test.items():
        values = pair_similarities(model, pairs)
        if not np.isfinite(values).all():
            raise InputError(f"{subset}: the model's vectors hold NaN or infinity; try another --pooling or model")
        similarities[subset] = np.clip(values, -1.0, 1.0)
    return similarities


def simcse_rows(triplets: Sequence[Triplet], *, rng: np.random.Generator) -> list[tuple[str, str, str]]:
    """Return (sentence, positive, negative) of every triplet.

    A missing positive is the sentence itself, a missing negative a random sentence of another idiom.

    Args:
        triplets: at least one.
        rng: generator of the random negatives.

    Raises:
        InputError: a negative is missing, and there is no sentence of another idiom.
    """
    rows = []
    for triplet in triplets:
        negative = triplet.incorrect or _random_sentence(triplets, triplet, rng=rng)
        rows.append((triplet.original, triplet.correct or triplet.original, negative))
    return rows


def regression_rows(triplets: Sequence[Triplet], targets: Sequence[float]) -> list[tuple[str, str, float]]:
    """Return (sentence, other sentence, similarity) of the pairs that triplets give.

    Args:
        triplets: those without a correct sentence give no pair, those without an incorrect one give one pair.
        targets: the untuned model's similarity of (E_c, E_i) of every triplet; ignored for a triplet that lacks
            E_c or E_i.
    """
    rows = []
    for triplet, target in zip(triplets, targets, strict=True):
        if triplet.correct:
            rows.append((triplet.original, triplet.correct, 1.0))
        if triplet.correct and triplet.incorrect:
            rows.append((triplet.original, triplet.incorrect, float(target)))
    return rows


class _EpochWatcher(TrainerCallback):
    """A callback that requests an evaluation after every epoch, and that keeps the best weights.

    Attributes:
        history: the development scores so far, beginning with that of the untuned model.
        best: weights of the best evaluation.
        diverged_at: step at which loss or vectors were not finite.
    """

    def __init__(self, model: SentenceTransformer, untuned: float) -> None:
        self.history = [EpochScore(0, untuned)]
        self.best = BestWeights(model)
        self.best.offer(untuned)
        self.diverged_at: int | None = None

    def on_epoch_end(self, args: Any, state: Any, control: Any, **context: Any) -> None:
        """Request an evaluation."""
        control.should_evaluate = self.diverged_at is None

    def on_evaluate(self, args: Any, state: Any, control: Any, *, metrics: Mapping[str, float], **context: Any) -> None:
        """Record an evaluation."""
        score = EpochScore(len(self.history), metrics[f"eval_{_SPEARMAN}"])
        self.history.append(score)
        self.best.offer(score.spearman)
        log.info("epoch %d: development Spearman %s", score.epoch, _shown(score.spearman))


def _evaluate(step: int, *, model: SentenceTransformer, pairs: SentencePairs) -> dict[str, float]:
    similarities = pair_similarities(model, pairs)
    if not np.isfinite(similarities).all():
        return {_SPEARMAN: math.nan}
    return {_SPEARMAN: _pair_spearman(pairs, similarities)}


def _pair_spearman(pairs: SentencePairs, similarities: Floats) -> float:
    targets = target_similarities(pairs, similarities)
    return spearman(targets[pairs.is_scored], similarities[pairs.is_scored])


def _development_spearman(model: SentenceTransformer, pairs: SentencePairs) -> float:
    """Return the development score of the untuned model; NaN if it finds all pairs equally similar.

    Raises:
        InputError: its vectors are not finite.
    """
    similarities = pair_similarities(model, pairs)
    if not np.isfinite(similarities).all():
        raise InputError("the untuned model's vectors hold NaN or infinity; try another --pooling or model")
    return _pair_spearman(pairs, similarities)


def _scores(test: Mapping[str, SentencePairs], similarities: Mapping[str, Floats]) -> dict[str, dict[str, float]]:
    return {subset: similarity_scores(pairs, similarities[subset]) for subset, pairs in test.items()}


def _training_rows(model: SentenceTransformer, data: TripletData, *, config: SimilarityConfig) -> Dataset:
    triplets = data.training
    if config.loss == SIMCSE:
        rows = simcse_rows(triplets, rng=np.random.default_rng(config.seed))
        sentences, positives, negatives = zip(*rows, strict=True)
        return Dataset.from_dict({"anchor": sentences, "positive": positives, "negative": negatives})
    pairs = regression_rows(triplets, _untuned_similarities(model, triplets))
    if not pairs:
        raise InputError("no triplet has a correct sentence, which the cosine loss needs; use --loss simcse")
    for row in data.general:
        pairs.append((row.sentence1, row.sentence2, row.gold or 0.0))
    if not data.general:
        log.warning("no general pairs: nothing pushes sentences apart, so the regression may collapse; give --general")
    firsts, seconds, similarities = zip(*pairs, strict=True)
    return Dataset.from_dict({"sentence1": firsts, "sentence2": seconds, "score": similarities})


def _untuned_similarities(model: SentenceTransformer, triplets: Sequence[Triplet]) -> list[float]:
    """Return the similarity of (E_c, E_i) of every triplet; NaN if one of them is missing."""
    distinct: dict[str, None] = {}
    for triplet in triplets:
        if triplet.correct and triplet.incorrect:
            distinct |= {triplet.correct: None, triplet.incorrect: None}
    texts = list(distinct)
    row_of = {text: row for row, text in enumerate(texts)}
    vectors = model.encode(
        texts,
        prompt=sentence_prompt(model),
        batch_size=_EVALUATION_BATCH,
        normalize_embeddings=True,
        show_progress_bar=False,
    )
    similarities = []
    for triplet in triplets:
        if triplet.correct and triplet.incorrect:
            similarities.append(float(vectors[row_of[triplet.correct]] @ vectors[row_of[triplet.incorrect]]))
        else:
            similarities.append(math.nan)
    return similarities


def _random_sentence(triplets: Sequence[Triplet], triplet: Triplet, *, rng: np.random.Generator) -> str:
    key = idiom_key(triplet.idiom)
    pool = [other.original for other in triplets if not triplet.idiom or idiom_key(other.idiom) != key]
    pool = [text for text in pool if text != triplet.original]
    if not pool:
        raise InputError(
            f"the triplet {triplet.original!r} has no incorrect sentence, and no other idiom can give one; add "
            "sentences of other idioms"
        )
    return pool[int(rng.integers(len(pool)))]


def _make_loss(model: SentenceTransformer, *, config: SimilarityConfig) -> torch.nn.Module:
    if config.loss == SIMCSE:
        gathers = n_processes() > 1  # the sentences of all processes are negatives
        return MultipleNegativesRankingLoss(model, scale=1 / config.temperature, gather_across_devices=gathers)
    return CosineSimilarityLoss(model)


def _arguments(config: SimilarityConfig, *, prompt: str, scratch: str) -> SentenceTransformerTrainingArguments:
    # without duplicates, because a sentence twice in a batch would be a negative of itself
    sampler = BatchSamplers.NO_DUPLICATES if config.loss == SIMCSE else BatchSamplers.BATCH_SAMPLER
    return encoder_arguments(
        scratch,
        num_train_epochs=config.epochs,
        per_device_train_batch_size=config.batch_size,
        learning_rate=config.learning_rate,
        weight_decay=config.weight_decay,
        batch_sampler=sampler,
        prompts=prompt or None,
        bf16=config.bf16,
        seed=config.seed,
    )


def _shown(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:.4f}"
