"""Settings of fine-tuning, checked by pydantic, and the processes that torchrun starts.

The settings have the same names in a grid file. This module imports nothing heavy, so that a command line or a grid
file can be checked before torch is loaded.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, PositiveInt, ValidationError, model_validator

from turkic_idiom_tasks.encoders.names import REPLACE_ALL, REPLACE_SELECTED
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.io.reading import display
from turkic_idiom_tasks.tasks.spans.subwords import Labelling

MNRL, COSINE, SIMCSE = "mnrl", "cosine", "simcse"
SEEDS = (42, 43, 44)  # the paper has three seeds, but does not name them
PRETRAIN_EPOCHS = 5  # passes over the sentences of a masked-LM training, as AStitch has for English
MAX_SEED = 2**32 - 1  # the largest that NumPy takes

LearningRate = Annotated[FiniteFloat, Field(gt=0)]
WeightDecay = Annotated[FiniteFloat, Field(ge=0)]
Seed = Annotated[int, Field(ge=0, le=MAX_SEED)]
NotNegative = Annotated[int, Field(ge=0)]

Settings = TypeVar("Settings", bound=BaseModel)


class RetrievalConfig(BaseModel):
    """Settings of the fine-tuning of an encoder; the defaults are the paper's, as far as it states them.

    Attributes:
        epochs: passes over the training pairs.
        batch_size: pairs per step and device.
        learning_rate: learning rate of AdamW, falling linearly to 0.
        weight_decay: weight decay of AdamW.
        seed: seed of the order of the pairs, the negatives and dropout.
        loss: ``mnrl`` or ``cosine``; None is mnrl for sentence-transformers models and cosine for plain encoders.
        negatives: wrong meanings per pair for the cosine loss; 0 is the paper's setting and collapses the encoder.
        pooling: one of the five; None is the model's own, for plain encoders the mean.
        evaluations: number of evaluations on the development queries per epoch.
        patience: number of evaluations without a new best score after which training stops.
        cached: compute mnrl over the whole batch with the memory for `mini_batch` pairs.
        mini_batch: pairs per forward pass if `cached`.
        bf16: train in bfloat16 autocast; weights and development scores stay float32.
        gradient_checkpointing: compute activations twice instead of keeping them.
        lora: rank of low-rank adapters, merged into the weights at the end; 0 trains all weights.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    epochs: PositiveInt = 1
    batch_size: PositiveInt = 16
    learning_rate: LearningRate = 2e-5
    weight_decay: WeightDecay = 0.01
    seed: Seed = 42
    loss: Literal["mnrl", "cosine"] | None = None
    negatives: NotNegative = 1
    pooling: str | None = None
    evaluations: PositiveInt = 4
    patience: PositiveInt = 3
    cached: bool = False
    mini_batch: PositiveInt = 32
    bf16: bool = False
    gradient_checkpointing: bool = False
    lora: NotNegative = 0

    @model_validator(mode="after")
    def _save_memory_once(self) -> Self:
        if self.cached and self.gradient_checkpointing:
            raise ValueError("cached and gradient_checkpointing save the same memory twice; choose one of them")
        return self


class SpanConfig(BaseModel):
    """Settings of the fine-tuning of a token classifier; the defaults are the paper's, as far as it states them.

    Attributes:
        epochs: passes over the training sentences.
        batch_size: sentences per step and device.
        learning_rate: learning rate of AdamW, falling linearly to 0.
        weight_decay: weight decay of AdamW.
        labelling: ``all`` gives every sub-word of a word a label (the paper), ``first`` only its first one.
        max_length: sub-words of a sentence that are used in training; None is the limit of the model, at most 512.
        bf16: train in bfloat16 autocast; the weights stay float32.
        pad_to_max: pad every batch to max_length instead of to its longest sentence.
        group_by_length: put sentences of similar length into a batch; fewer padded positions, another order.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    epochs: PositiveInt = 5
    batch_size: PositiveInt = 8
    learning_rate: LearningRate = 5e-5
    weight_decay: WeightDecay = 0.01
    labelling: Labelling = "all"
    max_length: PositiveInt | None = None
    bf16: bool = False
    pad_to_max: bool = False
    group_by_length: bool = False


class SimilarityConfig(BaseModel):
    """Settings of the training for idiomatic similarity; epochs and temperature are those of ChengyuSTS and SimCSE.

    Attributes:
        epochs: passes over the triplets.
        batch_size: triplets, or pairs for the cosine loss, per step and device.
        learning_rate: learning rate of AdamW, falling linearly to 0.
        weight_decay: weight decay of AdamW.
        seed: seed of the order, of the random negatives and of dropout.
        loss: ``simcse`` (contrastive, over triplets) or ``cosine`` (regression on the similarity of pairs).
        temperature: temperature of simcse.
        pooling: one of the five; None is the model's own, for plain encoders the mean.
        bf16: train in bfloat16 autocast; weights and development scores stay float32.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    epochs: PositiveInt = 4
    batch_size: PositiveInt = 32
    learning_rate: LearningRate = 2e-5
    weight_decay: WeightDecay = 0.01
    seed: Seed = 42
    loss: Literal["simcse", "cosine"] = "simcse"
    temperature: Annotated[FiniteFloat, Field(gt=0)] = 0.05
    pooling: str | None = None
    bf16: bool = False


class IdiomTokenConfig(BaseModel):
    """Settings of the tokens of idioms, and of the masked-LM training that teaches them before everything else.

    Attributes:
        idiom_tokens: ``all`` replaces every occurrence of an idiom by its token, ``select`` those that a classifier
            calls idiomatic.
        idiom_token_init: vector of a new token: ``random``, as in AStitch, or ``mean``, of the sub-words of the idiom.
        pretrain_epochs: passes over the sentences of the masked-LM training; AStitch has 5 for English and 10 for
            Portuguese.
        pretrain_learning_rate: its learning rate of AdamW, falling linearly to 0; AStitch does not state it.
        masked: share of the sub-words that are to be predicted, as in BERT.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    idiom_tokens: Literal["all", "select"]
    idiom_token_init: Literal["random", "mean"] = "mean"  # noqa: S105  # no password
    pretrain_epochs: PositiveInt = PRETRAIN_EPOCHS
    pretrain_learning_rate: LearningRate = 5e-5
    masked: Annotated[FiniteFloat, Field(gt=0, lt=1)] = 0.15


class IdiomaticityConfig(BaseModel):
    """Settings of the training of a classifier of sentences; epochs, learning rate and length are those of AStitch.

    Attributes:
        epochs: passes over the training sentences of each stage.
        batch_size: sentences per step and device; the paper does not state it.
        learning_rate: learning rate of AdamW, falling linearly to 0.
        weight_decay: weight decay of AdamW.
        max_length: sub-words of a sentence, or of a pair, that are used.
        bf16: train in bfloat16 autocast; the weights stay float32.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    epochs: PositiveInt = 9
    batch_size: PositiveInt = 32
    learning_rate: LearningRate = 2e-5
    weight_decay: WeightDecay = 0.01
    max_length: PositiveInt = 128
    bf16: bool = False


class TrainingSeeds(BaseModel):
    """Seeds with which a training is repeated; the command line gives them one by one."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    seeds: tuple[Seed, ...] = SEEDS


def check_token_inputs(
    replacements: Collection[str], *, classifier: str | Path | None, sentences: str | Path | None
) -> None:
    """Check that what was given for idiom tokens fits to the replacements.

    Args:
        replacements: some of `names.REPLACEMENTS`.
        classifier: folder of a classifier.
        sentences: file with sentences for the masked-LM training.

    Raises:
        InputError: ``select`` without a classifier, a classifier without it, or sentences without tokens.
    """
    if REPLACE_SELECTED in replacements and classifier is None:
        raise usage_error(
            "idiom tokens select need an idiomaticity classifier: give --idiomaticity-classifier DIR, in a grid "
            "idiomaticity_classifier, a folder that turkic-idiom finetune idiomaticity has made"
        )
    if REPLACE_SELECTED not in replacements and classifier is not None:
        raise usage_error(f"idiomaticity classifier {classifier}: only idiom tokens select ask it; leave it out")
    if not {REPLACE_ALL, REPLACE_SELECTED}.intersection(replacements) and sentences is not None:
        raise usage_error(f"sentences {sentences} for pre-training: they teach idiom tokens; choose all or select")


def checked(kind: type[Settings], settings: Mapping[str, object]) -> Settings:
    """Return settings from the command line as a `RetrievalConfig`, a `SpanConfig` or another of these classes.

    Raises:
        InputError: a setting is unknown or cannot be used; names it and its value.
    """
    try:
        return kind.model_validate(dict(settings))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        if not name:  # it is about several settings
            raise usage_error(message) from error
        value = display(first["input"])
        if first["type"] == "value_error" and value in message:
            raise usage_error(f"{name}: {message}") from error
        raise usage_error(f"{name} is {value}: {message}") from error


def is_first_process() -> bool:
    """Return whether this process writes and reports: the only process, or the first one of torchrun."""
    return int(os.environ.get("RANK", "0")) == 0


def n_processes() -> int:
    """Return the number of processes that train together."""
    return int(os.environ.get("WORLD_SIZE", "1"))
