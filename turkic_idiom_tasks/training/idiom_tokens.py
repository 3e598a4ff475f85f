"""Tokens of idioms in the encoder that is trained for similarity: added, taught by masked-LM training, and counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from turkic_idiom_tasks.encoders.idiom_tokens import IdiomToken
from turkic_idiom_tasks.encoders.idiom_transformer import IdiomTokenTransformer, add_idiom_tokens
from turkic_idiom_tasks.encoders.sentence_classifier import load_trained_classifier
from turkic_idiom_tasks.training.config import IdiomTokenConfig
from turkic_idiom_tasks.training.masked_lm import Pretraining, pretrain_masked_lm
from turkic_idiom_tasks.training.trainee import Trainee
from turkic_idiom_tasks.training.triplets import TripletData


@dataclass(frozen=True, slots=True)
class Replacements:
    """How many distinct sentences have an idiom that is replaced.

    Attributes:
        sentences: sentences of the pairs or triplets.
        replaced: those in which a token stands for an idiom.
    """

    sentences: int
    replaced: int


@dataclass(frozen=True, slots=True)
class GrownEncoder:
    """What was done to the encoder before it is trained for similarity.

    Attributes:
        n_tokens: idioms that have a token.
        classifier: folder of the classifier that decides for ``select``; None for ``all``.
        classifier_revision: hash of the files of this folder.
        training: replacements in the training sentences.
        test: replacements in the sentences of the test pairs.
        pretraining: outcome of the masked-LM training; None if there was none.
    """

    n_tokens: int
    classifier: str | None
    classifier_revision: str | None
    training: Replacements
    test: Replacements
    pretraining: Pretraining | None

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
        tokens: from `encoders.idiom_tokens.make_tokens`.
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


def _replacements(module: IdiomTokenTransformer, texts: Sequence[str]) -> Replacements:
    distinct = list(dict.fromkeys(texts))
    rewritten = module.rewrite(distinct)
    n_replaced = sum(new != old for new, old in zip(rewritten, distinct, strict=True))
    return Replacements(len(distinct), n_replaced)
