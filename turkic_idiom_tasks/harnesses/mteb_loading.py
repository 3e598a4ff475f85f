"""Loading of a model of any kind by its name on the command line."""

from __future__ import annotations

import difflib
import inspect
import re
import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mteb
import torch
from mteb.models.abs_encoder import get_prompt_name
from mteb.models.get_model_meta import get_model_meta
from mteb.models.instruct_wrapper import InstructSentenceTransformerModel
from mteb.models.model_implementations import MODEL_REGISTRY
from mteb.models.model_meta import ModelMeta
from mteb.models.sentence_transformer_wrapper import SentenceTransformerEncoderWrapper
from mteb.types import PromptType
from sentence_transformers import SentenceTransformer

from turkic_idiom_tasks.encoders.checkpoints import (
    backbone_of,
    hub_commit,
    load_checkpoint,
    load_error,
    quiet_loading,
)
from turkic_idiom_tasks.encoders.folders import is_local
from turkic_idiom_tasks.encoders.names import (
    BATCH_SIZE,
    NO_REVISION,
    POOLED_NAME,
    check_dtype,
    check_pooling,
    untrusted_code,
)
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.harnesses.mteb_models import (
    hub_meta,
    load_community,
    load_local,
    load_pooled,
    local_meta,
    pooled_name,
)
from turkic_idiom_tasks.harnesses.mteb_results import IdiomTask
from turkic_idiom_tasks.harnesses.mteb_similarity import IdiomSTS
from turkic_idiom_tasks.harnesses.quiet import quiet_libraries
from turkic_idiom_tasks.io.hub_client import offline_if_unreachable
from turkic_idiom_tasks.results.predictions import Prediction
from turkic_idiom_tasks.splits import TEST

_TRUSTS = re.compile(r"trust_remote_code\W+True\b")
_WITHOUT_DOWNLOAD = ("mteb/baseline-", "turkic-idiom/")
_STOCK_LOADERS = (SentenceTransformerEncoderWrapper, InstructSentenceTransformerModel)
_PROMPT_NAMES = {  # names of the prompts that encode_query and encode_document look for, in this order
    "query": ("query",),
    "document": ("document", "passage", "corpus"),
}


@dataclass(frozen=True, slots=True)
class _Loading:
    """How a checkpoint is loaded; see `resolve_model`."""

    device: str | None
    dtype: str
    trust_remote_code: bool

    def load(self, name_or_path: str, *, revision: str | None = None) -> SentenceTransformer:
        return load_checkpoint(
            name_or_path,
            revision=revision,
            device=self.device,
            dtype=self.dtype,
            trust_remote_code=self.trust_remote_code,
        )


@dataclass(frozen=True, slots=True, eq=False)
class LoadedModel:
    """A model, ready to encode.

    Attributes:
        meta: its mteb metadata, with the name and revision of its results.
        mteb_model: the model that mteb would evaluate.
        encoder: the sentence-transformers model in it, if that begins with a text transformer and so can have any
            pooling.
        pooling: the pooling in its name, ``NAME (pooling=mean)``.
    """

    meta: ModelMeta
    mteb_model: Any
    encoder: SentenceTransformer | None = None
    pooling: str | None = None

    @property
    def is_sentence_transformer(self) -> bool:
        """Return whether its weights were loaded in the stated dtype; other models choose their own."""
        return isinstance(getattr(self.mteb_model, "model", None), SentenceTransformer)

    @property
    def has_stock_prompts(self) -> bool:
        """Return whether `prompt` is what the model gets: a wrapper with an encode of its own may do otherwise."""
        return type(self.mteb_model) in _STOCK_LOADERS

    @property
    def n_parameters(self) -> int | None:
        """Return the number of parameters, or None if it is not known."""
        if self.meta.n_parameters is not None:
            return int(self.meta.n_parameters)
        if not self.is_sentence_transformer:
            return None
        return int(sum(parameter.numel() for parameter in self.mteb_model.model.parameters()))

    def prompt(self, task_metadata: Any, role: str | None = None) -> str:
        """Return the prompt that mteb and sentence-transformers would put before a text of this task; may be empty.

        Args:
            task_metadata: the task's mteb metadata.
            role: ``query`` or ``document``; None for the sentences of a similarity task, which have no role.
        """
        kind = None if role is None else PromptType(role)
        if isinstance(self.mteb_model, InstructSentenceTransformerModel):
            if kind == PromptType.document and not self.mteb_model.apply_instruction_to_passages:
                return _default_prompt(self.encoder)  # mteb calls plain encode() without a prompt
            return str(self.mteb_model.get_task_instruction(task_metadata, kind) or "")
        prompts = self.mteb_model.model_prompts or {}
        name = get_prompt_name(prompts, task_metadata, kind) if prompts else None
        if name is not None and prompts.get(name) is not None:
            return str(prompts[name])
        return _default_prompt(self.encoder, role)

    def evaluate_subset(
        self, task: IdiomTask, subset: str, *, batch_size: int = BATCH_SIZE
    ) -> tuple[Prediction, dict[str, Any]]:
        """Evaluate the model on one subset of a task as mteb does, which works for any model of mteb.

        Args:
            task: the task; its chosen subsets are changed.
            subset: name of the subset.
            batch_size: texts per forward pass.

        Returns:
            the rankings or similarities, and mteb's row of scores.

        Raises:
            InputError: the model ranks documents without vectors, and the task asks for similarities.
        """
        if isinstance(task, IdiomSTS) and not hasattr(self.mteb_model, "encode"):
            raise usage_error(
                f"{self.meta.name}: ranks documents, and gives no similarity of two sentences; leave it out of "
                f"{task.metadata.name}"
            )
        task.hf_subsets = [subset]
        arguments = {"batch_size": batch_size, "show_progress_bar": False}
        with quiet_libraries():
            result = mteb.evaluate(self.mteb_model, task, cache=None, encode_kwargs=arguments, show_progress_bar=False)
        (row,) = result.task_results[0].scores[TEST]
        return task.predictions[TEST, subset], row

    def meta_for(self, pooling: str) -> ModelMeta:
        """Return the metadata of this model under another pooling: the registered ones, or these with a new name."""
        match = POOLED_NAME.fullmatch(str(self.meta.name))
        name = pooled_name(match["base"] if match else str(self.meta.name), pooling)
        registered = MODEL_REGISTRY.get(name)
        if registered is not None and registered.revision == self.meta.revision:
            return registered
        return self.meta.model_copy(update={"name": name})


def resolve_model(
    name: str,
    *,
    revision: str | None = None,
    device: str | None = None,
    dtype: str = "float32",
    trust_remote_code: bool = False,
) -> LoadedModel:
    """Load a model by mteb name, Hub id or local folder, each of which `` (pooling=…)`` may follow.

    Args:
        name: the name on the command line.
        revision: Hub commit; None is the one that mteb pins, otherwise the newest.
        device: None lets the library choose.
        dtype: dtype of a transformer's weights, whatever the checkpoint or mteb would choose.
        trust_remote_code: whether code that comes with the model may be executed.

    Raises:
        InputError: the model cannot be found, reached or loaded, or needs code that may not be executed; says what was
            tried.
    """
    check_dtype(dtype)
    match = POOLED_NAME.fullmatch(name)
    base, pooling = (match["base"], match["pooling"]) if match else (name, None)
    if pooling is not None:
        check_pooling(pooling)
    loading = _Loading(device, dtype, trust_remote_code)
    if is_local(base):
        folder = Path(base).expanduser().resolve()
        model = loading.load(str(folder))
        return _wrapped(model, local_meta(f"local/{folder.name}", folder), pooling=pooling)
    registered = _lookup(name) or _lookup(base)
    if registered is None:
        return _from_hub(base, revision, loading=loading, pooling=pooling)
    if revision and registered.revision not in (revision, NO_REVISION):
        raise usage_error(f"{name}: mteb pins revision {registered.revision}, not {revision}; leave --revision out")
    if revision:
        registered = registered.model_copy(update={"revision": revision})
    if registered.loader in (load_pooled, load_local, load_community):
        return _registered_by_us(registered, base, loading=loading, pooling=pooling)
    return _registered_by_mteb(registered, loading=loading, pooling=pooling)


def _lookup(name: str) -> ModelMeta | None:
    """Return the metadata that mteb lists under a name, which may be the old name of a renamed model."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return get_model_meta(name)
    except KeyError:
        return None


def _from_hub(name: str, revision: str | None, *, loading: _Loading, pooling: str | None) -> LoadedModel:
    """Load a model that mteb does not list."""
    try:
        commit = hub_commit(name, revision)
        model = loading.load(name, revision=commit or revision)
    except InputError as error:
        nearest = difflib.get_close_matches(name, MODEL_REGISTRY, n=3)
        hint = f"; similar names that mteb knows: {', '.join(nearest)}" if nearest else ""
        raise usage_error(f"{error}{hint}") from error
    return _wrapped(model, hub_meta(name, commit or revision), pooling=pooling)


def _registered_by_us(meta: ModelMeta, base: str, *, loading: _Loading, pooling: str | None) -> LoadedModel:
    """Load a local checkpoint, or an encoder of the paper or the community, without the pooling that it may name."""
    path = str(meta.loader_kwargs.get("path", meta.name))
    if meta.loader_kwargs.get("needs_remote_code") and not loading.trust_remote_code:
        raise untrusted_code(path)
    prompts = meta.loader_kwargs.get("model_prompts")
    plain = MODEL_REGISTRY.get(base, meta)
    if is_local(path):
        model = loading.load(path)
        return _wrapped(model, plain, pooling=pooling, prompts=prompts)
    commit = hub_commit(path, None if meta.revision == NO_REVISION else meta.revision)
    model = loading.load(path, revision=commit)
    if commit is not None:
        plain = plain.model_copy(update={"revision": commit})
    return _wrapped(model, plain, pooling=pooling, prompts=prompts)


def _registered_by_mteb(meta: ModelMeta, *, loading: _Loading, pooling: str | None) -> LoadedModel:
    """Load a model of mteb's registry: transformers in the stated dtype, everything else as mteb loads it."""
    needs_hub = not str(meta.name).startswith(_WITHOUT_DOWNLOAD)
    try:
        with offline_if_unreachable() if needs_hub else nullcontext():
            if meta.loader not in _STOCK_LOADERS:
                if _executes_remote_code(meta) and not loading.trust_remote_code:
                    raise untrusted_code(str(meta.name))
                return LoadedModel(meta, meta.load_model(device=loading.device))
            arguments = dict(meta.loader_kwargs)
            model_kwargs = dict(arguments.get("model_kwargs", {}))
            model_kwargs.pop("torch_dtype", None)  # the older name of dtype
            arguments["model_kwargs"] = {
                **model_kwargs,
                "dtype": getattr(torch, loading.dtype),
                "use_safetensors": True,
            }
            arguments |= {"device": loading.device, "trust_remote_code": loading.trust_remote_code}
            with quiet_loading():
                wrapper = meta.loader(meta.name, revision=meta.revision, **arguments)
            wrapper.mteb_model_meta = meta
    except Exception as error:  # loaders raise any error: missing extras, keys, files, connections
        raise load_error(str(meta.name), error) from error
    return LoadedModel(meta, wrapper, _transformer_or_none(wrapper.model), pooling)


def _executes_remote_code(meta: ModelMeta) -> bool:
    """Return whether a loader of mteb executes code from the Hub without asking: by its arguments, or in its source."""
    if meta.loader_kwargs.get("trust_remote_code"):
        return True
    try:
        return meta.loader is not None and _TRUSTS.search(inspect.getsource(meta.loader)) is not None
    except (OSError, TypeError):  # no source is installed
        return False


def _wrapped(
    model: SentenceTransformer, meta: ModelMeta, *, pooling: str | None, prompts: dict[str, str] | None = None
) -> LoadedModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # mteb calls methods that sentence-transformers has renamed
        wrapper = SentenceTransformerEncoderWrapper(model, model_prompts=prompts)
    wrapper.mteb_model_meta = meta
    return LoadedModel(meta, wrapper, _transformer_or_none(model), pooling)


def _transformer_or_none(model: Any) -> SentenceTransformer | None:
    try:
        backbone_of(model)
    except InputError:
        return None
    encoder: SentenceTransformer = model
    return encoder


def _default_prompt(encoder: SentenceTransformer | None, role: str | None = None) -> str:
    """Return the default prompt of encode_query, encode_document or (without a role) encode."""
    if encoder is None:
        return ""
    for name in _PROMPT_NAMES.get(role or "", ()):
        if name in encoder.prompts:
            return str(encoder.prompts[name] or "")
    default = encoder.default_prompt_name
    return str(encoder.prompts.get(default) or "") if default else ""
