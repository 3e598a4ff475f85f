"""Models that we register with mteb: the baseline, the paper's encoders by pooling, the community's, local checkpoints.

``NAME (pooling=mean)`` is mteb's way of naming a model under a setting. Such a model is made of stock
sentence-transformers modules in mteb's own wrapper, so the stock command runs no code of ours when it encodes.

The start-up hook imports this module in every `mteb` command, while mteb itself is only partly imported. Therefore only
the loaders import torch.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mteb  # noqa: F401  # complete before its parts are used, unless it is mteb that imports us
import numpy as np
import numpy.typing as npt
from mteb.models.abs_encoder import AbsEncoder
from mteb.models.model_meta import ModelMeta, ScoringFunction
from mteb.models.sentence_transformer_wrapper import SentenceTransformerEncoderWrapper
from mteb.types import PromptType

from turkic_idiom_tasks.encoders import char_ngrams
from turkic_idiom_tasks.encoders.community import CommunityEncoder, community_encoders
from turkic_idiom_tasks.encoders.folders import folder_revision
from turkic_idiom_tasks.encoders.names import NO_REVISION, PAPER_ENCODERS, POOLINGS, TRUST_VARIABLE, untrusted_code
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.harnesses.hook import extend_late
from turkic_idiom_tasks.io.reading import display
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT, Language, get_language

log = logging.getLogger("turkic_idiom_tasks")

MODELS_VARIABLE = "TURKIC_IDIOM_MODELS"
_YES = ("1", "true", "t", "yes", "y", "on")  # as in the environment variables of options


@dataclass(frozen=True, slots=True)
class LocalModel:
    """One part of TURKIC_IDIOM_MODELS."""

    name: str  # under which the model is registered
    folder: Path | None  # its checkpoint; None if there is a problem
    problem: str | None = None  # why the model cannot be used


def register_models(registry: dict[str, ModelMeta]) -> None:
    """Add our models to mteb's registry; a model that mteb has under the same name stays, also in repeated calls.

    The name in a malformed part of TURKIC_IDIOM_MODELS is registered too: loading it raises the problem, so that the
    name never loads another model.
    """
    for meta in model_metas():
        registry.setdefault(str(meta.name), meta)
    registered = {name for name, meta in registry.items() if meta.loader in (load_local, refuse)}
    for model in local_models(taken={*registry} - registered):
        if model.name in registered:  # by an earlier call
            continue
        problem = model.problem
        if model.folder is not None:
            try:
                plain = local_meta(model.name, model.folder)
                pooled = _pooled_metas(model.name, plain.revision, path=str(model.folder))
                registry |= {str(meta.name): meta for meta in (plain, *pooled)}
            except Exception as error:  # the other models must be registered even if one folder is bad
                problem = f"{MODELS_VARIABLE}: {error}"
        if problem:
            log.warning("%s", problem)
            _register_refusal(registry, model.name, problem)


def model_metas() -> list[ModelMeta]:
    """Return the models that we always register: the baseline, the paper's encoders by pooling, the community's."""
    metas = [_baseline_meta()]
    for name, (revision, prompts) in PAPER_ENCODERS.items():
        metas += _pooled_metas(name, revision, path=name, prompts=prompts)
    return metas + [_community_meta(encoder) for encoder in community_encoders().values()]


def local_models(taken: Iterable[str] = ()) -> list[LocalModel]:
    """Return the parts of TURKIC_IDIOM_MODELS="org/name=/local/folder;…"; a part with a `taken` name has a problem."""
    models: list[LocalModel] = []
    names = {*PAPER_ENCODERS, *taken}
    for part in os.environ.get(MODELS_VARIABLE, "").split(";"):
        if part.strip():
            models.append(_parse_part(part.strip(), names))
            names.add(models[-1].name)
    return models


def _parse_part(part: str, taken: Collection[str]) -> LocalModel:
    name, separator, path = part.partition("=")
    name, path = name.strip(), path.strip()
    folder = Path(path).expanduser()
    organisation, slash, rest = name.partition("/")
    if not separator or not path:
        problem = "names no folder"
    elif not (organisation and slash and rest) or "/" in rest:
        problem = "the name needs two parts, such as me/model"
    elif name in taken:
        problem = f"there is already a model of the name {display(name)}; choose another, such as me/{rest}"
    elif not folder.is_dir():
        problem = f"{display(path)} is no folder"
    else:
        return LocalModel(name, folder.resolve())
    form = "write org/name=FOLDER, and ; between several"
    return LocalModel(name, None, f"{MODELS_VARIABLE}: the part {display(part)}: {problem}; {form}")


def pooled_name(name: str, pooling: str) -> str:
    """Return ``NAME (pooling=mean)``."""
    return f"{name} (pooling={pooling})"


def local_meta(name: str, folder: Path) -> ModelMeta:
    """Return the metadata of a local checkpoint; its revision is the hash of its files."""
    return make_meta(name, revision=folder_revision(folder), loader=load_local, arguments={"path": str(folder)})


def hub_meta(name: str, revision: str | None) -> ModelMeta:
    """Return the metadata of a model on the Hub that mteb does not list."""
    return make_meta(name, revision=revision or NO_REVISION, loader=SentenceTransformerEncoderWrapper, arguments={})


def make_meta(name: str, *, revision: str, loader: Any, arguments: Mapping[str, Any]) -> ModelMeta:
    """Return mteb's metadata of a model without the many optional fields.

    The loader is what mteb calls with name, revision and the arguments that are not None.
    """
    fields = {
        "name": name,
        "revision": revision,
        "loader": loader,
        "loader_kwargs": {key: value for key, value in arguments.items() if value is not None},
        "framework": ["Sentence Transformers", "PyTorch"],
        "similarity_fn_name": ScoringFunction.COSINE,
        "open_weights": True,
        "use_instructions": arguments.get("model_prompts") is not None,
    }
    return ModelMeta.create_empty(fields)


def trusts_remote_code() -> bool:
    """Return whether TURKIC_IDIOM_TRUST_REMOTE_CODE allows the stock mteb command to run code that models come with."""
    return os.environ.get(TRUST_VARIABLE, "").strip().lower() in _YES


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
    """Load a model under one pooling as stock modules in mteb's own wrapper; mteb calls this for a pooled name."""
    from turkic_idiom_tasks.encoders.poolings import build_sentence_transformer

    commit = None if Path(path).is_dir() or revision == NO_REVISION else revision
    trust = trusts_remote_code()
    model = build_sentence_transformer(path, pooling, revision=commit, device=device, trust_remote_code=trust)
    return SentenceTransformerEncoderWrapper(model, model_prompts=model_prompts)


def load_local(
    model_name: str, revision: str | None = None, *, path: str, device: str | None = None, **kwargs: Any
) -> SentenceTransformerEncoderWrapper:
    """Load a local checkpoint unchanged in mteb's own wrapper; stock mteb cannot load one by its path."""
    from turkic_idiom_tasks.encoders.checkpoints import load_checkpoint

    return SentenceTransformerEncoderWrapper(
        load_checkpoint(path, device=device, trust_remote_code=trusts_remote_code())
    )


def load_community(
    model_name: str,
    revision: str | None = None,
    *,
    needs_remote_code: bool = False,
    trust_remote_code: bool | None = None,
    **kwargs: Any,
) -> SentenceTransformerEncoderWrapper:
    """Load one of the community's encoders in mteb's own wrapper; without a pinned revision the newest.

    Args:
        model_name: its name on the Hub.
        revision: its commit, or mteb's name for no revision.
        needs_remote_code: whether it is loaded with code from the Hub.
        trust_remote_code: whether that code may be executed; None means that TURKIC_IDIOM_TRUST_REMOTE_CODE decides.
        kwargs: further arguments of mteb's wrapper.

    Raises:
        InputError: it needs code from the Hub, which may not be executed.
    """
    trust = trusts_remote_code() if trust_remote_code is None else trust_remote_code
    if needs_remote_code and not trust:
        raise untrusted_code(model_name)
    commit = None if revision == NO_REVISION else revision
    return SentenceTransformerEncoderWrapper(
        model_name, revision=commit, trust_remote_code=trust and needs_remote_code, **kwargs
    )


def refuse(model_name: str, revision: str | None = None, *, problem: str, **kwargs: Any) -> Any:
    """Raise the problem of a malformed part of TURKIC_IDIOM_MODELS; mteb calls this in place of a loader."""
    raise usage_error(problem)


class CharNgramEncoder(AbsEncoder):
    """Built-in baseline as an mteb encoder, which takes the language of a text from the subset."""

    def __init__(
        self, model_name: str = char_ngrams.NAME, revision: str | None = char_ngrams.REVISION, **kwargs: Any
    ) -> None:
        self.model_name = model_name

    def encode(
        self,
        inputs: Any,
        *,
        task_metadata: Any,
        hf_split: str,
        hf_subset: str,
        prompt_type: PromptType | None = None,
        **kwargs: Any,
    ) -> npt.NDArray[np.float32]:
        """Return the vectors of all texts of the batches, (N, 4096) float32.

        A cross-lingual subset lists the language of the queries first and that of the documents last.
        """
        codes = task_metadata.hf_subsets_to_langscripts.get(hf_subset) or task_metadata.languages
        language = _language_of(codes[-1] if prompt_type == PromptType.document else codes[0])
        texts: list[str] = []
        for batch in inputs:
            texts += batch["text"]
        return char_ngrams.encode_texts(texts, language)


def _language_of(code: str) -> Language:
    """Return the record of a language, or of the pivot for a language of mteb that is not in this benchmark."""
    try:
        return get_language(code)
    except InputError:
        return LANGUAGES[PIVOT]


def _baseline_meta() -> ModelMeta:
    meta = make_meta(char_ngrams.NAME, revision=char_ngrams.REVISION, loader=CharNgramEncoder, arguments={})
    changes = {
        "languages": [language.script_code for language in LANGUAGES.values()],
        "n_parameters": 0,
        "memory_usage_mb": 0,
        "embed_dim": char_ngrams.DIMENSION,
        "license": "apache-2.0",
        "framework": ["NumPy"],
        "training_datasets": set(),
        "release_date": "2026-11-20",
    }
    return meta.model_copy(update=changes)


def _community_meta(encoder: CommunityEncoder) -> ModelMeta:
    arguments = {"model_prompts": encoder.prompts, "needs_remote_code": encoder.needs_remote_code or None}
    meta = make_meta(encoder.name, revision=encoder.revision or NO_REVISION, loader=load_community, arguments=arguments)
    changes = {
        "languages": [LANGUAGES[code].script_code for code in encoder.languages],
        "n_parameters": encoder.n_parameters,
        "license": encoder.license,
        "reference": f"https://huggingface.co/{encoder.name}",
    }
    return meta.model_copy(update=changes)


def _pooled_metas(name: str, revision: str, *, path: str, prompts: Mapping[str, str] | None = None) -> list[ModelMeta]:
    """Return the metadata of a model under every pooling."""
    metas = []
    for pooling in POOLINGS:
        arguments = {"path": path, "pooling": pooling, "model_prompts": prompts}
        metas.append(make_meta(pooled_name(name, pooling), revision=revision, loader=load_pooled, arguments=arguments))
    return metas


def _register_refusal(registry: dict[str, ModelMeta], model: str, problem: str) -> None:
    """Make every name of a model raise the problem as soon as the model is loaded."""
    if not model:
        return
    for name in (model, *(pooled_name(model, pooling) for pooling in POOLINGS)):
        meta = registry.get(name) or make_meta(name, revision=NO_REVISION, loader=refuse, arguments={})
        changes = {"loader": refuse, "loader_kwargs": {"problem": problem}, "extra_requirements_groups": None}
        registry[name] = meta.model_copy(update=changes)


extend_late()  # registers if this module was imported before mteb; does nothing while the hook is running
