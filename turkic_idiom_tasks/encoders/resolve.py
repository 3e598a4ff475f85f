"""From a name on the command line to a loaded model, whatever kind of model it is."""

from __future__ import annotations

import difflib
import re
import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turkic_idiom_tasks.encoders.checkpoints import check_dtype, is_local, load_checkpoint, load_error, quiet_loading
from turkic_idiom_tasks.encoders.hub import offline_if_unreachable
from turkic_idiom_tasks.encoders.poolings import check_pooling
from turkic_idiom_tasks.encoders.registry import hub_meta, load_local, load_pooled, local_meta, pooled_name
from turkic_idiom_tasks.errors import InputError, usage_error

if TYPE_CHECKING:
    from mteb.models.model_meta import ModelMeta
    from sentence_transformers import SentenceTransformer

_POOLED = re.compile(r"(?P<base>.+) \(pooling=(?P<pooling>[^)]*)\)")
_WITHOUT_DOWNLOAD = ("mteb/baseline-", "turkic-idiom/")
_DOCUMENT_PROMPTS = ("document", "passage", "corpus")  # what sentence-transformers' encode_document looks for, in order


@dataclass(frozen=True, slots=True, eq=False)
class LoadedModel:
    """A model, ready to encode.

    Attributes:
        meta: its mteb metadata, under whose name and revision results stand.
        mteb_model: what mteb would evaluate.
        encoder: the sentence-transformers model inside, if it begins with a text transformer: it can be pooled in any
        way.
        pooling: the pooling that its name asked for, ``NAME (pooling=mean)``.
    """

    meta: ModelMeta
    mteb_model: Any
    encoder: SentenceTransformer | None = None
    pooling: str | None = None

    def prompt(self, task_metadata: Any, role: str) -> str:
        """What mteb and sentence-transformers would put before a text of this task; empty for nothing.

        Args:
            task_metadata: the task's mteb metadata.
            role: ``query`` or ``document``.
        """
        from mteb.models.abs_encoder import get_prompt_name
        from mteb.models.instruct_wrapper import InstructSentenceTransformerModel
        from mteb.types import PromptType

        kind = PromptType(role)
        if isinstance(self.mteb_model, InstructSentenceTransformerModel):
            if kind == PromptType.document and not self.mteb_model.apply_instruction_to_passages:
                return _default_prompt(self.encoder)  # mteb calls plain encode() without a prompt
            return str(self.mteb_model.get_task_instruction(task_metadata, kind) or "")
        prompts = self.mteb_model.model_prompts or {}
        name = get_prompt_name(prompts, task_metadata, kind) if prompts else None
        if name is not None and prompts.get(name) is not None:
            return str(prompts[name])
        return _default_prompt(self.encoder, role)

    def meta_for(self, pooling: str) -> ModelMeta:
        """The metadata of this model under another pooling: the registered one, or this one under the pooled name."""
        from mteb.models.model_implementations import MODEL_REGISTRY

        match = _POOLED.fullmatch(str(self.meta.name))
        name = pooled_name(match["base"] if match else str(self.meta.name), pooling)
        registered = MODEL_REGISTRY.get(name)
        if registered is not None and registered.revision == self.meta.revision:
            return registered
        return self.meta.model_copy(update={"name": name})


def resolve_model(
    name: str, *, revision: str | None = None, device: str | None = None, dtype: str = "float32"
) -> LoadedModel:
    """Loads a model by mteb name, Hub id, local folder, or any of them with `` (pooling=…)`` behind it.

    Args:
        name: as given on the command line.
        revision: Hub commit; None is the one that mteb pins, otherwise the newest.
        device: None lets the library choose.
        dtype: of a transformer's weights, whatever the checkpoint or mteb would choose.

    Raises:
        InputError: it cannot be found, reached or loaded; says what was tried.
    """
    from mteb.models.model_implementations import MODEL_REGISTRY

    check_dtype(dtype)
    match = _POOLED.fullmatch(name)
    base, pooling = (match["base"], match["pooling"]) if match else (name, None)
    if pooling is not None:
        check_pooling(pooling)
    registered = _lookup(name) or _lookup(base)
    if is_local(base):
        folder = Path(base).expanduser().resolve()
        model = load_checkpoint(str(folder), device=device, dtype=dtype)
        return _wrapped(model, local_meta(f"local/{folder.name}", folder), pooling=pooling)
    if registered is None:
        return _from_hub(base, revision=revision, device=device, dtype=dtype, pooling=pooling)
    if revision and registered.revision != revision:
        raise usage_error(f"{name}: mteb pins revision {registered.revision}, not {revision}; leave --revision out")
    if registered.loader is load_pooled or registered.loader is load_local:
        path = str(registered.loader_kwargs["path"])
        commit = None if Path(path).is_dir() or registered.revision == "no_revision_available" else registered.revision
        model = load_checkpoint(path, revision=commit, device=device, dtype=dtype)
        prompts = registered.loader_kwargs.get("model_prompts")
        meta = MODEL_REGISTRY.get(base, registered)
        return _wrapped(model, meta, pooling=pooling, prompts=prompts)
    return _registered(registered, device=device, dtype=dtype, pooling=pooling)


def _lookup(name: str) -> ModelMeta | None:
    """What mteb lists under a name, or under the new name of one that it has renamed."""
    from mteb.models.get_model_meta import get_model_meta

    try:
        return get_model_meta(name)
    except KeyError:
        return None


def _from_hub(name: str, *, revision: str | None, device: str | None, dtype: str, pooling: str | None) -> LoadedModel:
    try:
        model = load_checkpoint(name, revision=revision, device=device, dtype=dtype)
    except InputError as error:
        raise _with_nearest_names(name, error) from error
    config = getattr(getattr(model[0], "model", None), "config", None)
    return _wrapped(model, hub_meta(name, revision or getattr(config, "_commit_hash", None)), pooling=pooling)


def _registered(meta: ModelMeta, *, device: str | None, dtype: str, pooling: str | None) -> LoadedModel:
    """A model of mteb's registry; transformers in the dtype that was asked for, everything else as mteb loads it."""
    from mteb.models.instruct_wrapper import InstructSentenceTransformerModel
    from mteb.models.sentence_transformer_wrapper import SentenceTransformerEncoderWrapper

    stock = (SentenceTransformerEncoderWrapper, InstructSentenceTransformerModel)
    needs_hub = not str(meta.name).startswith(_WITHOUT_DOWNLOAD)
    try:
        with offline_if_unreachable() if needs_hub else nullcontext():
            if meta.loader not in stock:
                return LoadedModel(meta, meta.load_model(device=device))
            import torch

            options = dict(meta.loader_kwargs)
            model_kwargs = {k: v for k, v in options.get("model_kwargs", {}).items() if k != "torch_dtype"}
            options["model_kwargs"] = {**model_kwargs, "dtype": getattr(torch, dtype), "use_safetensors": True}
            options |= {"device": device, "trust_remote_code": False}
            with quiet_loading():
                wrapper = meta.loader(meta.name, revision=meta.revision, **options)
            wrapper.mteb_model_meta = meta
    except Exception as error:  # loaders raise what they like: missing extras, keys, files, connections
        raise load_error(str(meta.name), error) from error
    return LoadedModel(meta, wrapper, _transformer_or_none(wrapper.model), pooling)


def _wrapped(
    model: SentenceTransformer, meta: ModelMeta, *, pooling: str | None, prompts: dict[str, str] | None = None
) -> LoadedModel:
    from mteb.models.sentence_transformer_wrapper import SentenceTransformerEncoderWrapper

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # mteb calls methods that sentence-transformers has renamed
        wrapper = SentenceTransformerEncoderWrapper(model, model_prompts=prompts)
    wrapper.mteb_model_meta = meta
    return LoadedModel(meta, wrapper, _transformer_or_none(model), pooling)


def native_pooling(model: SentenceTransformer) -> str | None:
    """Which of cls, mean and max a model's own modules amount to; None if more follows the transformer."""
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling

    modules = list(model)[1:]
    if modules and isinstance(modules[-1], Normalize):
        modules.pop()
    elif model.similarity_fn_name != "cosine":  # the length of a vector would count
        return None
    if model.truncate_dim is not None or getattr(model[0], "processing_kwargs", None):
        return None
    if len(modules) != 1 or not isinstance(modules[0], Pooling) or not modules[0].include_prompt:
        return None
    mode = modules[0].pooling_mode
    mode = mode[0] if isinstance(mode, (tuple, list)) and len(mode) == 1 else mode
    return mode if mode in ("cls", "mean", "max") else None


def _transformer_or_none(model: Any) -> SentenceTransformer | None:
    from turkic_idiom_tasks.encoders.checkpoints import backbone_of

    try:
        backbone_of(model)
    except InputError:
        return None
    found: SentenceTransformer = model
    return found


def _default_prompt(encoder: SentenceTransformer | None, role: str | None = None) -> str:
    """The prompt that encode_query, encode_document or (without a role) encode take when they are given none."""
    if encoder is None:
        return ""
    for name in {"query": ("query",), "document": _DOCUMENT_PROMPTS}.get(role or "", ()):
        if name in encoder.prompts:
            return str(encoder.prompts[name] or "")
    default = encoder.default_prompt_name
    return str(encoder.prompts.get(default) or "") if default else ""


def _with_nearest_names(name: str, error: InputError) -> InputError:
    from mteb.models.model_implementations import MODEL_REGISTRY

    nearest = difflib.get_close_matches(name, MODEL_REGISTRY, n=3)
    hint = f"; similar names that mteb knows: {', '.join(nearest)}" if nearest else ""
    return usage_error(f"{error}{hint}")
