"""Further masked-LM training of an encoder, by which the tokens of idioms get their vectors (AStitch, section 4.2).

As in the paper, all weights are trained, not the new vectors alone. Trainer and collator are those of transformers.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from sentence_transformers import SentenceTransformer
from transformers import AutoModelForMaskedLM, DataCollatorForLanguageModeling, Trainer, TrainingArguments, set_seed

from turkic_idiom_tasks.encoders.checkpoints import backbone_of, load_error, quiet_loading
from turkic_idiom_tasks.encoders.folders import is_local
from turkic_idiom_tasks.encoders.idiom_transformer import IdiomTokenTransformer
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.training.config import IdiomTokenConfig
from turkic_idiom_tasks.training.encoder_trainer import check_packages
from turkic_idiom_tasks.training.training import keep_to_bars, trainer_arguments

log = logging.getLogger("turkic_idiom_tasks")


@dataclass(frozen=True, slots=True)
class Pretraining:
    """Outcome of a masked-LM training.

    Attributes:
        n_sentences: sentences that it saw.
        n_with_token: how many of them have at least one idiom token.
        loss: mean loss over all steps.
    """

    n_sentences: int
    n_with_token: int
    loss: float


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
    masked_lm = _with_head(transformer, revision=revision, trust_remote_code=trust_remote_code)
    encoded = tokenizer(rewritten, truncation=True, max_length=transformer.max_seq_length, verbose=False)
    features = [{"input_ids": ids} for ids in encoded["input_ids"]]
    trainer = Trainer(
        model=masked_lm,
        args=_arguments(config, batch_size=batch_size, seed=seed),
        train_dataset=features,
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm_probability=config.masked),
    )
    keep_to_bars(trainer)
    loss = float(trainer.train().training_loss)
    model.eval()
    if not math.isfinite(loss):
        raise InputError(
            f"the masked-LM training diverged, the loss is {loss}; use a smaller learning rate than "
            f"{config.pretrain_learning_rate:g}"
        )
    return Pretraining(len(sentences), n_with_token, loss)


def _with_head(transformer: IdiomTokenTransformer, *, revision: str | None, trust_remote_code: bool) -> Any:
    """Return a masked-LM model around the transformer itself; its head comes from the checkpoint, if that has one."""
    backbone: Any = transformer.model
    embeddings: Any = backbone.get_input_embeddings()
    name = str(backbone.name_or_path)
    try:
        with quiet_loading():
            masked_lm, report = AutoModelForMaskedLM.from_pretrained(
                name,
                revision=None if is_local(name) else revision,
                dtype=torch.float32,
                use_safetensors=True,
                trust_remote_code=trust_remote_code,
                local_files_only=is_local(name),
                output_loading_info=True,
            )
    except Exception as error:  # libraries raise many unrelated types for a bad name, folder or connection
        raise load_error(name, error) from error
    prefix = masked_lm.base_model_prefix
    if type(getattr(masked_lm, prefix, None)) is not type(backbone):
        raise usage_error(f"{name}: {type(backbone).__name__} cannot be trained as a masked language model")
    if report["missing_keys"]:
        log.warning("%s: has no masked-LM head; a new one is trained with it", name)
    masked_lm.resize_token_embeddings(len(embeddings.weight), mean_resizing=False)
    setattr(masked_lm, prefix, backbone)
    masked_lm.tie_weights()
    return masked_lm


def _arguments(config: IdiomTokenConfig, *, batch_size: int, seed: int) -> TrainingArguments:
    return trainer_arguments(
        seed=seed,
        num_train_epochs=config.pretrain_epochs,
        per_device_train_batch_size=batch_size,
        learning_rate=config.pretrain_learning_rate,
    )
