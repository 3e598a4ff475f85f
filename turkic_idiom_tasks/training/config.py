"""Settings of fine-tuning, named as in a grid file and after ``--set``, and the processes that torchrun starts."""

# Nothing heavy is imported, so that a command line or a grid file can be checked before torch is loaded
import os
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, PositiveInt

from turkic_idiom_tasks.encoders.names import POOLINGS, REPLACE_ALL, REPLACE_SELECTED
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.tasks.spans.subwords import Labelling

MNRL, COSINE, SIMCSE = "mnrl", "cosine", "simcse"
SEEDS = (42, 43, 44)  # the paper has three seeds, but does not name them
PRETRAIN_EPOCHS = 5  # passes over the sentences of a masked-LM training, as AStitch has for English
MAX_SEED = 2**32 - 1  # the largest that NumPy takes

NotNegative = Annotated[int, Field(ge=0)]
Seed = Annotated[int, Field(ge=0, le=MAX_SEED, description="Seed of everything random.")]
Epochs = Annotated[PositiveInt, Field(description="Passes over the training data.")]
LearningRate = Annotated[FiniteFloat, Field(gt=0, description="Learning rate of AdamW.")]


class Settings(BaseModel):
    """Settings that a grid file or the command line states; unknown ones are refused."""

    # strict: a number in quotes or a yes that YAML makes a truth value would be another setting than the one meant
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class TrainerSettings(Settings):
    """Settings of every training with AdamW, whose learning rate falls linearly to 0."""

    epochs: Epochs = 1
    batch_size: PositiveInt = 16  # examples per step and device
    learning_rate: LearningRate = 2e-5
    weight_decay: Annotated[FiniteFloat, Field(ge=0)] = 0.01
    bf16: bool = False  # train in bfloat16 autocast; weights and scores stay float32


class EncoderSettings(TrainerSettings):
    """Settings of the trainings whose result is an encoder of texts."""

    seed: Seed = 42
    pooling: Annotated[
        str | None, Field(description=f"{', '.join(POOLINGS)}; null: the model's own, mean for a plain encoder")
    ] = None


class RetrievalConfig(EncoderSettings):
    """Settings of the fine-tuning for retrieval; the defaults are the paper's, as far as it states them."""

    loss: Annotated[
        Literal["mnrl", "cosine"] | None,
        Field(description="mnrl or cosine; null: mnrl for sentence-transformers models, else cosine"),
    ] = None
    negatives: Annotated[
        NotNegative,
        Field(description="wrong meanings per pair for cosine; 0 is the paper to the letter, and collapses"),
    ] = 1
    evaluations: PositiveInt = 4  # on the development queries, per epoch
    patience: PositiveInt = 3  # evaluations without a new best score after which training stops
    cached: Annotated[bool, Field(description="mnrl with large batches, in the memory of mini_batch pairs")] = False
    mini_batch: PositiveInt = 32  # pairs per forward pass if cached
    gradient_checkpointing: bool = False  # compute activations twice instead of keeping them
    lora: Annotated[
        NotNegative, Field(description="rank of adapters, such as 16, which are merged; 0 trains all weights")
    ] = 0


class SpanConfig(TrainerSettings):
    """Settings of the fine-tuning of a token classifier; the defaults are the paper's, as far as it states them."""

    epochs: Epochs = 5
    batch_size: PositiveInt = 8
    learning_rate: LearningRate = 5e-5
    labelling: Labelling = "all"  # every sub-word of a word has a label (the paper), or only its first one
    max_length: PositiveInt | None = None  # sub-words of a sentence in training; None is the model's limit, at most 512
    # Not to be set any more. The names of finished cells are hashes of all settings, so the two must stay among them.
    pad_to_max: Literal[False] = False
    group_by_length: Literal[False] = False


class SimilarityConfig(EncoderSettings):
    """Settings of the training for similarity; epochs and temperature are those of ChengyuSTS and SimCSE."""

    epochs: Epochs = 4
    batch_size: PositiveInt = 32
    loss: Annotated[
        Literal["simcse", "cosine"],
        Field(description="supervised over triplets; cosine: regression on the similarity of pairs"),
    ] = "simcse"
    temperature: Annotated[FiniteFloat, Field(gt=0)] = 0.05  # of simcse


class SimilarityOptions(SimilarityConfig):
    """Settings of `turkic-idiom finetune similarity`: also its files, and the tokens of idioms."""

    general: Annotated[
        str | None,
        Field(description="FILE of general pairs for the regression: score in [0, 1], two sentences; no header line"),
    ] = None
    idiom_token_init: Annotated[
        Literal["random", "mean"], Field(description="vector of a new token: mean of the sub-words, or random")
    ] = "mean"  # noqa: S105  # no password
    idiomaticity_classifier: Annotated[
        str | None, Field(description="DIR that finetune idiomaticity has made, for --idiom-tokens select")
    ] = None
    pretrain_sentences: Annotated[
        str | None, Field(description="FILE of sentences with the idioms, one a line, for masked-LM training before")
    ] = None
    pretrain_epochs: PositiveInt = PRETRAIN_EPOCHS


class IdiomTokenConfig(Settings):
    """Settings of the tokens of idioms, and of the masked-LM training that teaches them before everything else."""

    idiom_tokens: Literal["all", "select"]
    idiom_token_init: Literal["random", "mean"] = "mean"  # noqa: S105  # no password
    pretrain_epochs: PositiveInt = PRETRAIN_EPOCHS
    pretrain_learning_rate: LearningRate = 5e-5  # falls linearly to 0; AStitch does not state it
    masked: Annotated[FiniteFloat, Field(gt=0, lt=1)] = 0.15  # share of the sub-words, as in BERT


class IdiomaticityConfig(TrainerSettings):
    """Settings of the training of a classifier of sentences; epochs, learning rate and length are those of AStitch."""

    epochs: Epochs = 9
    batch_size: PositiveInt = 32
    max_length: PositiveInt = 128  # sub-words of a sentence, or of a pair, that are used


def check_token_inputs(
    replacements: Collection[str], *, classifier: str | Path | None, sentences: str | Path | None
) -> None:
    """Raise InputError if what was given for idiom tokens does not fit to the replacements (`names.REPLACEMENTS`)."""
    problems = []
    if REPLACE_SELECTED in replacements and classifier is None:
        problems.append(
            "idiom tokens select need an idiomaticity classifier: give --set idiomaticity_classifier=DIR, in a "
            "grid idiomaticity_classifier, a folder that turkic-idiom finetune idiomaticity has made"
        )
    # What would have no effect is refused: whoever gave it believes that it decided the result.
    if REPLACE_SELECTED not in replacements and classifier is not None:
        problems.append(f"idiomaticity classifier {classifier}: only idiom tokens select ask it; leave it out")
    if not {REPLACE_ALL, REPLACE_SELECTED}.intersection(replacements) and sentences is not None:
        problems.append(f"sentences {sentences} for pre-training: they teach idiom tokens; choose all or select")
    if problems:
        raise usage_error("; ".join(problems))


def is_first_process() -> bool:
    """Return whether this process writes and reports: the only process, or the first one of torchrun."""
    # from the environment, because torch.distributed is set up only when a trainer is made
    return int(os.environ.get("RANK", "0")) == 0


def n_processes() -> int:
    """Return the number of processes that train together."""
    return int(os.environ.get("WORLD_SIZE", "1"))
