"""Tokens of idioms in the encoder that is trained for similarity: added, taught by masked-LM training, and counted.

As in AStitch, section 4.2, the masked-LM training changes all weights, not the new vectors alone. Trainer and collator
are those of transformers.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import SentenceTransformer
from transformers import AutoModelForMaskedLM, DataCollatorForLanguageModeling, Trainer, TrainingArguments, set_seed

from turkic_idiom_tasks.encoders.checkpoints import backbone_of, load_pretrained
from turkic_idiom_tasks.encoders.folders import is_local
from turkic_idiom_tasks.encoders.siblings.idiom_tokens import IdiomToken
from turkic_idiom_tasks.encoders.siblings.idiom_transformer import IdiomTokenTransformer, add_idiom_tokens
from turkic_idiom_tasks.encoders.siblings.sentence_classifier import load_trained_classifier
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.training.config import IdiomTokenConfig, TrainerSettings
from turkic_idiom_tasks.training.trainee import Trainee
from turkic_idiom_tasks.training.trainer import check_loss, check_packages, keep_to_bars, trainer_arguments
from turkic_idiom_tasks.training.triplets import TripletData

log = logging.getLogger("turkic_idiom_tasks")


@dataclass(frozen=True, slots=True)
class Replacements:
    """How many distinct sentences have an idiom that is replaced."""

    sentences: int
    replaced: int  # those in which a token stands for an idiom


@dataclass(frozen=True, slots=True)
class Pretraining:
    """Outcome of a masked-LM training."""

    n_sentences: int
    n_with_token: int  # sentences with at least one idiom token
    loss: float  # mean over all steps


@dataclass(frozen=True, slots=True)
class GrownEncoder:
    """What was done to the encoder before it is trained for similarity."""

    n_tokens: int  # idioms that have a token
    classifier: str | None  # folder of the classifier that decides for `select`; None for `all`
    classifier_revision: str | None  # hash of the files of this folder
    training: Replacements  # in the training sentences
    test: Replacements  # in the sentences of the test pairs
    pretraining: Pretraining | None  # None if there was no masked-LM training

    def record(self, config: IdiomTokenConfig) -> dict[str, Any]:
        """Return settings and outcome for the record of the training."""
        return {"config": config.model_dump(), **asdict(self)}


def grow_encoder(
    trainee: Trainee,
    tokens: Sequence[IdiomToken],
    data: TripletData,
    *,
    config: IdiomTokenConfig,
    classifier: Path | None,
    sentences: Sequence[str],
    batch_size: int,
    seed: int,
) -> GrownEncoder:
    """Add the tokens to an encoder, and train it on sentences with them; its model is changed.

    Args:
        trainee: from `trainee.load_trainee`.
        tokens: from `idiom_tokens.make_tokens`.
        data: of the training for similarity, in which replacements are counted.
        config: settings of the tokens.
        classifier: folder of the classifier for ``select``.
        sentences: for the masked-LM training; empty for none.
        batch_size: of the masked-LM training.
        seed: of random vectors and of the masked-LM training.

    Raises:
        InputError: the encoder cannot have the tokens, or cannot learn from the sentences.
    """
    trained = None if classifier is None else load_trained_classifier(classifier)
    module = add_idiom_tokens(trainee.model, tokens, initial=config.idiom_token_init, seed=seed, trained=trained)
    pretraining = None
    if sentences:
        pretraining = pretrain_masked_lm(
            trainee.model,
            sentences,
            config=config,
            batch_size=batch_size,
            seed=seed,
            revision=trainee.revision,
            trust_remote_code=trainee.trust_remote_code,
        )
    tested = [text for pairs in data.test.values() for text in pairs.texts]
    return GrownEncoder(
        n_tokens=len(tokens),
        classifier=None if trained is None else str(trained.origin.folder),
        classifier_revision=None if trained is None else trained.origin.revision,
        training=_replacements(module, [triplet.original for triplet in data.training]),
        test=_replacements(module, tested),
        pretraining=pretraining,
    )


def pretrain_masked_lm(
    model: SentenceTransformer,
    sentences: Sequence[str],
    *,
    config: IdiomTokenConfig,
    batch_size: int,
    seed: int,
    revision: str | None = None,
    trust_remote_code: bool = False,
) -> Pretraining:
    """Train the transformer of a model to predict masked sub-words of sentences with idiom tokens; write nothing.

    Args:
        model: has idiom tokens; its weights are changed.
        sentences: idioms in them are replaced as in all inputs of the model.
        config: settings of the training.
        batch_size: sentences per step and device.
        seed: seed of the order, of the masks, of dropout, and of a head that the checkpoint does not have.
        revision: Hub commit of the model; None for a folder.
        trust_remote_code: whether code that comes with the model may be executed.

    Raises:
        InputError: the model has no masked-LM head or no mask token, no sentence has an idiom that is replaced, or
            training diverged.
    """
    check_packages("accelerate")
    transformer = backbone_of(model)
    if not isinstance(transformer, IdiomTokenTransformer):
        raise usage_error("masked-LM training is for models with idiom tokens; give --idiom-tokens")
    tokenizer = transformer.tokenizer
    if tokenizer.mask_token_id is None:
        raise usage_error(
            "the tokenizer has no mask token, so there is no masked-LM training; give an encoder like BERT"
        )
    rewritten = transformer.rewrite(sentences)
    n_with_token = sum(new != old for new, old in zip(rewritten, sentences, strict=True))
    if not n_with_token:
        raise InputError(
            f"none of the {len(sentences)} sentences has an idiom that is replaced, so no token would learn; give "
            "sentences with the idioms of the data"
        )
    set_seed(seed)
    encoded = tokenizer(rewritten, truncation=True, max_length=transformer.max_seq_length, verbose=False)
    settings = TrainerSettings(
        epochs=config.pretrain_epochs,
        batch_size=batch_size,
        learning_rate=config.pretrain_learning_rate,
        weight_decay=0.0,
    )
    trainer = Trainer(
        model=_with_head(transformer, revision=revision, trust_remote_code=trust_remote_code),
        args=trainer_arguments(TrainingArguments, settings, seed=seed),
        train_dataset=[{"input_ids": ids} for ids in encoded["input_ids"]],
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm_probability=config.masked),
    )
    keep_to_bars(trainer)
    loss = float(trainer.train().training_loss)
    model.eval()
    check_loss("masked-LM training", loss, learning_rate=config.pretrain_learning_rate)
    return Pretraining(len(sentences), n_with_token, loss)


def _with_head(transformer: IdiomTokenTransformer, *, revision: str | None, trust_remote_code: bool) -> Any:
    """Return a masked-LM model around the transformer itself; its head comes from the checkpoint, if that has one."""
    backbone: Any = transformer.model
    embeddings: Any = backbone.get_input_embeddings()
    name = str(backbone.name_or_path)
    masked_lm, report = load_pretrained(
        AutoModelForMaskedLM,
        name,
        revision=None if is_local(name) else revision,
        trust_remote_code=trust_remote_code,
        dtype=torch.float32,
        output_loading_info=True,
    )
    prefix = masked_lm.base_model_prefix
    if type(getattr(masked_lm, prefix, None)) is not type(backbone):
        raise usage_error(f"{name}: {type(backbone).__name__} cannot be trained as a masked language model")
    if report["missing_keys"]:
        log.warning("%s: has no masked-LM head; a new one is trained with it", name)
    masked_lm.resize_token_embeddings(len(embeddings.weight), mean_resizing=False)
    setattr(masked_lm, prefix, backbone)
    masked_lm.tie_weights()
    return masked_lm


def _replacements(module: IdiomTokenTransformer, texts: Sequence[str]) -> Replacements:
    distinct = list(dict.fromkeys(texts))
    n_replaced = sum(new != old for new, old in zip(module.rewrite(distinct), distinct, strict=True))
    return Replacements(len(distinct), n_replaced)
