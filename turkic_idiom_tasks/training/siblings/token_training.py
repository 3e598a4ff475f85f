"""Tokens of idioms in the encoder that is trained for similarity: added, taught by masked-LM training, and counted."""

import logging
from collections.abc import Sequence
from operator import ne
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForMaskedLM, DataCollatorForLanguageModeling, set_seed

from turkic_idiom_tasks.encoders.checkpoints import backbone_of, load_pretrained
from turkic_idiom_tasks.encoders.folders import folder_revision, is_local
from turkic_idiom_tasks.encoders.siblings.idiom_tokens import IdiomToken
from turkic_idiom_tasks.encoders.siblings.idiom_transformer import IdiomTokenTransformer, add_idiom_tokens
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.training.config import IdiomTokenConfig, TrainerSettings
from turkic_idiom_tasks.training.trainee import Trainee
from turkic_idiom_tasks.training.trainer import train_model
from turkic_idiom_tasks.training.triplets import TripletData

log = logging.getLogger("turkic_idiom_tasks")


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
) -> dict[str, Any]:
    """Add the tokens to an encoder, train it on sentences with them, and return settings and outcome for a record.

    `data` is that of the training for similarity, in which the sentences with a replaced idiom are counted. The folder
    of a classifier is for ``select``; without sentences there is no masked-LM training.
    """
    module = add_idiom_tokens(trainee.model, tokens, initial=config.idiom_token_init, seed=seed, classifier=classifier)
    chosen = module.sentence_classifier
    pretraining = None
    if sentences:
        pretraining = pretrain_masked_lm(trainee, sentences, config=config, batch_size=batch_size, seed=seed)
    tested = [text for pairs in data.test.values() for text in pairs.texts]
    counts = {}
    for name, texts in (("training", [triplet.original for triplet in data.training]), ("test", tested)):
        distinct = list(dict.fromkeys(texts))
        counts[name] = {"sentences": len(distinct), "replaced": sum(map(ne, distinct, module.rewrite(distinct)))}
    return {
        "config": config.model_dump(),
        "n_tokens": len(tokens),
        "classifier": None if chosen is None else chosen.name,
        "classifier_revision": None if chosen is None else folder_revision(Path(chosen.name)),
        **counts,
        "pretraining": pretraining,
    }


def pretrain_masked_lm(
    trainee: Trainee, sentences: Sequence[str], *, config: IdiomTokenConfig, batch_size: int, seed: int
) -> dict[str, float]:
    """Train the transformer of a model with idiom tokens to predict masked sub-words; nothing is written.

    Idioms in the sentences are replaced as in all inputs of the model. Returned are ``n_sentences``, ``n_with_token``
    (those in which an idiom was replaced) and ``loss``, the mean over all steps.
    """
    transformer = backbone_of(trainee.model)
    assert isinstance(transformer, IdiomTokenTransformer)  # `grow_encoder` has just put it there
    tokenizer = transformer.tokenizer
    if tokenizer.mask_token_id is None:
        raise usage_error(
            f"{transformer.model.name_or_path}: its tokenizer has no mask token, so there is no masked-LM training; "
            "give an encoder like BERT"
        )
    rewritten = transformer.rewrite(sentences)
    n_with_token = sum(map(ne, sentences, rewritten))
    if not n_with_token:
        raise InputError(
            f"none of the {len(sentences)} sentences has an idiom that is replaced, so no token would learn; give "
            "sentences with the idioms of the data"
        )
    # decides which sub-words are masked, and the head where the checkpoint has none
    set_seed(seed)
    encoded = tokenizer(rewritten, truncation=True, max_length=transformer.max_seq_length, verbose=False)
    settings = TrainerSettings(
        epochs=config.pretrain_epochs,
        batch_size=batch_size,
        learning_rate=config.pretrain_learning_rate,
        weight_decay=0.0,
    )
    # All weights, not the new vectors alone, as in AStitch, section 4.2
    loss = train_model(
        _with_head(transformer, trainee),
        config=settings,
        seed=seed,
        name="masked-LM training",
        train_dataset=[{"input_ids": ids} for ids in encoded["input_ids"]],
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm_probability=config.masked),
    )
    trainee.model.eval()
    return {"n_sentences": len(sentences), "n_with_token": n_with_token, "loss": loss}


def _with_head(transformer: IdiomTokenTransformer, trainee: Trainee) -> Any:
    """Return a masked-LM model around the transformer itself; its head comes from the checkpoint, if that has one."""
    backbone: Any = transformer.model
    embeddings: Any = backbone.get_input_embeddings()
    name = str(backbone.name_or_path)
    masked_lm, report = load_pretrained(
        AutoModelForMaskedLM,
        name,
        revision=None if is_local(name) else trainee.revision,
        trust_remote_code=trainee.trust_remote_code,
        dtype=torch.float32,
        output_loading_info=True,
    )
    prefix = masked_lm.base_model_prefix
    if type(getattr(masked_lm, prefix, None)) is not type(backbone):
        raise usage_error(
            f"{name}: {type(backbone).__name__} cannot be trained as a masked language model; give an encoder like BERT"
        )
    if report["missing_keys"]:
        log.warning("%s: has no masked-LM head; a new one is trained with it", name)
    # The head takes the place of the checkpoint's own backbone: what it trains are the weights of the encoder itself.
    # Resizing by the mean would compute the covariance of all rows, for embeddings that are replaced right after it.
    masked_lm.resize_token_embeddings(len(embeddings.weight), mean_resizing=False)
    setattr(masked_lm, prefix, backbone)
    masked_lm.tie_weights()
    return masked_lm
