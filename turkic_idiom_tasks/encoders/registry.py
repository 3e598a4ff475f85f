"""The models that mteb gets to know through us: the baseline, the paper's encoders by pooling, local checkpoints.

``NAME (pooling=mean)`` is mteb's own way of naming a model under a setting. Such a model is made of stock
sentence-transformers modules under mteb's own wrapper, so that the stock command runs no code of ours when it
encodes.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turkic_idiom_tasks.encoders.checkpoints import folder_revision
from turkic_idiom_tasks.encoders.poolings import POOLINGS
from turkic_idiom_tasks.errors import InputError, for_command_line
from turkic_idiom_tasks.languages import LANGUAGES

if TYPE_CHECKING:
    from mteb.models.model_meta import ModelMeta
    from mteb.models.sentence_transformer_wrapper import SentenceTransformerEncoderWrapper

log = logging.getLogger("turkic_idiom_tasks")

MODELS_VARIABLE = "TURKIC_IDIOM_MODELS"
NO_REVISION = "no_revision_available"  # mteb's name for a model without a pinned commit
_E5_PROMPTS = {"query": "query: ", "document": "passage: "}  # as mteb and the model cards define them

# The paper's nine encoders: revision, prompts. Revisions are those that mteb pins; it pins none for the others.
# The paper does not say which size of multilingual-e5 it used: all three are here.
PAPER_ENCODERS: dict[str, tuple[str, dict[str, str] | None]] = {
    "FacebookAI/xlm-roberta-base": ("e73636d4f797dec63c3081bb6ed5c7b0bb3f2089", None),
    # mteb does not list it; ten public projects that pin it name this commit
    "google-bert/bert-base-multilingual-cased": ("3f076fdb1ab68d5b2880cb87a0886f315b8146f8", None),
    "dbmdz/bert-base-turkish-cased": (NO_REVISION, None),
    "dbmdz/electra-base-turkish-cased-discriminator": (NO_REVISION, None),
    "dbmdz/distilbert-base-turkish-cased": (NO_REVISION, None),
    "dbmdz/convbert-base-turkish-mc4-cased": (NO_REVISION, None),
    "ytu-ce-cosmos/turkish-e5-large": (NO_REVISION, None),
    "intfloat/multilingual-e5-small": ("fd1525a9fd15316a2d503bf26ab031a61d056e98", _E5_PROMPTS),
    "intfloat/multilingual-e5-base": ("d13f1b27baf31030b7fd040960d60d909913633f", _E5_PROMPTS),
    "intfloat/multilingual-e5-large": ("ab10c1a7f42e74530fe7ae5be82e6d4f11a719eb", _E5_PROMPTS),
    "sentence-transformers/paraphrase-multilingual-mpnet-base-v2": ("79f2382ceacceacdf38563d7c5d16b9ff8d725d6", None),
}


def model_metas() -> list[ModelMeta]:
    """Every model we register: the baseline, the paper's encoders by pooling, those of TURKIC_IDIOM_MODELS."""
    metas = [_baseline_meta()]
    for name, (revision, prompts) in PAPER_ENCODERS.items():
        metas += [
            _meta(
                pooled_name(name, pooling),
                revision=revision,
                loader=load_pooled,
                loader_kwargs={"path": name, "pooling": pooling, "model_prompts": prompts},
            )
            for pooling in POOLINGS
        ]
    for name, path in local_models().items():
        try:
            revision = folder_revision(path)
        except OSError as error:
            log.warning("%s: %s cannot be read (%s); left out", MODELS_VARIABLE, path, error.strerror)
            continue
        metas.append(_meta(name, revision=revision, loader=load_local, loader_kwargs={"path": str(path)}))
        metas += [
            _meta(
                pooled_name(name, pooling),
                revision=revision,
                loader=load_pooled,
                loader_kwargs={"path": str(path), "pooling": pooling},
            )
            for pooling in POOLINGS
        ]
    return metas


def pooled_name(name: str, pooling: str) -> str:
    """``NAME (pooling=mean)``."""
    return f"{name} (pooling={pooling})"


def local_models() -> dict[str, Path]:
    """Name -> folder from TURKIC_IDIOM_MODELS="org/name=/local/dir;…"; a malformed part is left out with a warning."""
    models = {}
    for part in filter(None, (part.strip() for part in os.environ.get(MODELS_VARIABLE, "").split(";"))):
        name, separator, path = part.partition("=")
        folder = Path(path).expanduser()
        if not separator or name.count("/") != 1 or not all(name.split("/")) or not folder.is_dir():
            log.warning(
                "%s: %r is not org/name=FOLDER with a folder that exists; left out (separate several with ;)",
                MODELS_VARIABLE,
                part,
            )
            continue
        models[name] = folder.resolve()
    return models


def load_pooled(
    model_name: str,
    revision: str | None = None,
    *,
    path: str,
    pooling: str,
    device: str | None = None,
    model_prompts: dict[str, str] | None = None,
    **kwargs: Any,
) -> SentenceTransformerEncoderWrapper:
    """A model under one pooling, of stock modules, as mteb's own wrapper; what mteb calls for a pooled name.

    Raises:
        InputError: it cannot be loaded (under the ``mteb`` command: SystemExit with the message alone).
    """
    from mteb.models.sentence_transformer_wrapper import SentenceTransformerEncoderWrapper

    from turkic_idiom_tasks.encoders.poolings import build_sentence_transformer

    commit = None if Path(path).is_dir() or revision == NO_REVISION else revision
    try:
        model = build_sentence_transformer(path, pooling, revision=commit, device=device)
    except InputError as error:
        raise for_command_line(error) from error
    return SentenceTransformerEncoderWrapper(model, model_prompts=model_prompts)


def load_local(
    model_name: str, revision: str | None = None, *, path: str, device: str | None = None, **kwargs: Any
) -> SentenceTransformerEncoderWrapper:
    """A local checkpoint as it is, as mteb's own wrapper; stock mteb cannot load one by its path.

    Raises:
        InputError: it cannot be loaded (under the ``mteb`` command: SystemExit with the message alone).
    """
    from mteb.models.sentence_transformer_wrapper import SentenceTransformerEncoderWrapper

    from turkic_idiom_tasks.encoders.checkpoints import load_checkpoint

    try:
        return SentenceTransformerEncoderWrapper(load_checkpoint(path, device=device))
    except InputError as error:
        raise for_command_line(error) from error


def load_char_ngrams(model_name: str, revision: str | None = None, **kwargs: Any) -> Any:
    """The built-in baseline as mteb calls it."""
    from turkic_idiom_tasks.encoders.char_ngrams import CharNgramEncoder

    return CharNgramEncoder(model_name, revision)


def local_meta(name: str, folder: Path) -> ModelMeta:
    """Metadata of a local checkpoint; its revision is the hash of its files, so that two of one name stay apart."""
    return _meta(name, revision=folder_revision(folder), loader=load_local, loader_kwargs={"path": str(folder)})


def hub_meta(name: str, revision: str | None) -> ModelMeta:
    """Metadata of a model on the Hub that mteb does not list."""
    from mteb.models.sentence_transformer_wrapper import SentenceTransformerEncoderWrapper

    return _meta(name, revision=revision or NO_REVISION, loader=SentenceTransformerEncoderWrapper, loader_kwargs={})


def _baseline_meta() -> ModelMeta:
    from turkic_idiom_tasks.encoders import char_ngrams

    languages = [language.script_code for language in LANGUAGES.values()]
    meta = _meta(char_ngrams.NAME, revision=char_ngrams.REVISION, loader=load_char_ngrams, loader_kwargs={})
    changes = {
        "languages": languages,
        "n_parameters": 0,
        "memory_usage_mb": 0,
        "embed_dim": char_ngrams.DIMENSION,
        "license": "apache-2.0",
        "framework": ["NumPy"],
        "training_datasets": set(),
        "release_date": "2026-11-20",
    }
    return meta.model_copy(update=changes)


def _meta(name: str, *, revision: str, loader: Any, loader_kwargs: dict[str, Any]) -> ModelMeta:
    from mteb.models.model_meta import ModelMeta, ScoringFunction

    return ModelMeta.create_empty(
        {
            "name": name,
            "revision": revision,
            "loader": loader,
            "loader_kwargs": {key: value for key, value in loader_kwargs.items() if value is not None},
            "framework": ["Sentence Transformers", "PyTorch"],
            "similarity_fn_name": ScoringFunction.COSINE,
            "open_weights": True,
            "use_instructions": loader_kwargs.get("model_prompts") is not None,
        }
    )
