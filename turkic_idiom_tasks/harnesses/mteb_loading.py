"""Loading of a model of any kind by its name on the command line."""

import difflib
import hashlib
import inspect
import re
import runpy
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import mteb
import numpy as np
import numpy.typing as npt
import torch
from mteb.models.abs_encoder import AbsEncoder, get_prompt_name
from mteb.models.get_model_meta import get_model_meta
from mteb.models.instruct_wrapper import InstructSentenceTransformerModel
from mteb.models.model_implementations import MODEL_REGISTRY
from mteb.models.model_meta import ModelMeta
from mteb.models.sentence_transformer_wrapper import SentenceTransformerEncoderWrapper
from mteb.types import PromptType
from sentence_transformers import SentenceTransformer

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.similarity import SIMILARITY_TASKS
from turkic_idiom_tasks.encoders.checkpoints import backbone_of, hub_commit, load_checkpoint, load_error, quiet_loading
from turkic_idiom_tasks.encoders.folders import check_model_folder, is_local, stated_model
from turkic_idiom_tasks.encoders.names import (
    BATCH_SIZE,
    NATIVE,
    NO_REVISION,
    check_dtype,
    check_pooling,
    split_pooling,
    untrusted_code,
)
from turkic_idiom_tasks.encoders.poolings import native_pooling
from turkic_idiom_tasks.encoders.served import EmbeddingsClient
from turkic_idiom_tasks.errors import InputError, usage_error, without_keys
from turkic_idiom_tasks.harnesses.mteb_data import IdiomSTS
from turkic_idiom_tasks.harnesses.mteb_models import OUR_LOADERS, local_meta, make_meta, pooled_name, refuse
from turkic_idiom_tasks.harnesses.mteb_tasks import CLASS_OF_TASK
from turkic_idiom_tasks.harnesses.quiet import quiet_libraries
from turkic_idiom_tasks.io.hub_client import offline_if_unreachable
from turkic_idiom_tasks.results.predictions import Prediction, SubsetKey
from turkic_idiom_tasks.results.record import count_parameters
from turkic_idiom_tasks.splits import TEST

QUERY, DOCUMENT, SENTENCE = "query", "document", "sentence"  # roles of a text: in retrieval, and in a pair

# In some 150 places mteb's own records and loaders allow code from the Hub, without asking the user
_OWN_CLASS = re.compile(r".+\.py:\w+")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}")
_TRUSTS = re.compile(r"trust_remote_code\W+True\b")
_WITHOUT_DOWNLOAD = ("mteb/baseline-", "turkic-idiom/")  # models that no unreachable Hub should delay
# Only these are known to encode by plain sentence-transformers; a subclass may do anything else in its encode
_STOCK_LOADERS = (SentenceTransformerEncoderWrapper, InstructSentenceTransformerModel)
_PROMPT_NAMES = {  # names of the prompts that encode_query and encode_document look for, in this order
    QUERY: ("query",),
    DOCUMENT: ("document", "passage", "corpus"),
}


@dataclass(frozen=True, slots=True, eq=False)
class LoadedModel:
    """A model, ready to encode."""

    meta: ModelMeta  # with the name and revision of its results
    mteb_model: Any  # what mteb would evaluate
    encoder: SentenceTransformer | None = None  # in it, if that begins with a text transformer: it can have any pooling
    pooling: str | None = None  # in its name, ``NAME (pooling=mean)``
    files: str | None = None  # hash of a folder that states another revision, which does not change with its files
    served: Mapping[str, Any] = field(default_factory=dict)  # what records state of a model on a server

    @property
    def is_sentence_transformer(self) -> bool:
        """Return whether its weights were loaded in the stated dtype; other models choose their own."""
        return isinstance(getattr(self.mteb_model, "model", None), SentenceTransformer)

    @property
    def has_stock_prompts(self) -> bool:
        """Return whether `prompt` is what the model gets: a wrapper with an encode of its own may do otherwise."""
        return type(self.mteb_model) in _STOCK_LOADERS

    def chosen_pooling(self, choice: str) -> str | None:
        """Return the pooling of a name from `POOLINGS` or `NATIVE`; None if only mteb can evaluate the model."""
        if choice == NATIVE:
            return None if self.encoder is None else native_pooling(self.encoder)
        if self.encoder is None:
            raise usage_error(
                f"{self.meta.name}: not a transformer encoder, so the pooling {choice} does not apply; leave it out"
            )
        return choice

    @property
    def revision(self) -> str | None:
        """Return the revision as records state it: None if mteb has none of it."""
        return None if self.meta.revision == NO_REVISION else str(self.meta.revision)

    @property
    def n_parameters(self) -> int | None:
        """Return the number of parameters as mteb lists it, or else counted; None if it is not known."""
        if self.meta.n_parameters is not None:
            return int(self.meta.n_parameters)
        return count_parameters(self.mteb_model.model) if self.is_sentence_transformer else None

    def prompts(self, task: str) -> dict[str, str]:
        """Return role -> prompt before the texts with that role, in a task (short name)."""
        metadata = CLASS_OF_TASK[task].metadata
        if task in SIMILARITY_TASKS:
            return {SENTENCE: self.prompt(metadata)}
        return {role: self.prompt(metadata, role) for role in (QUERY, DOCUMENT)}

    def prompt(self, task_metadata: Any, role: str | None = None) -> str:
        """Return the prompt that mteb and sentence-transformers would put before a text of this task; may be empty.

        The role is `QUERY` or `DOCUMENT`; None for the sentences of a similarity task, which have none in mteb.
        """
        kind = None if role is None else PromptType(role)
        if isinstance(self.mteb_model, InstructSentenceTransformerModel):
            if kind != PromptType.document or self.mteb_model.apply_instruction_to_passages:
                return str(self.mteb_model.get_task_instruction(task_metadata, kind) or "")
            # mteb encodes documents without instruction by plain encode()
            role = None
        else:
            prompts = self.mteb_model.model_prompts or {}
            name = get_prompt_name(prompts, task_metadata, kind) if prompts else None
            if name is not None and prompts.get(name) is not None:
                return str(prompts[name])
        # mteb states no prompt, so that encode_query, encode_document or encode takes its default
        if self.encoder is None:
            return ""
        for name in (*_PROMPT_NAMES.get(role or "", ()), self.encoder.default_prompt_name):
            if name in self.encoder.prompts:
                return str(self.encoder.prompts[name] or "")
        return ""

    def evaluate_subset(
        self, dataset: Dataset, key: SubsetKey, *, batch_size: int
    ) -> tuple[Prediction, dict[str, Any]]:
        """Return the prediction for a subset and mteb's row of scores, from mteb's evaluation, which any model has."""
        task, subset = CLASS_OF_TASK[key[0]](dataset=dataset), key[1]
        if isinstance(task, IdiomSTS) and not hasattr(self.mteb_model, "encode"):
            raise usage_error(
                f"{self.meta.name}: ranks documents, and gives no similarity of two sentences; leave it out of "
                f"{task.metadata.name}"
            )
        task.hf_subsets = [subset]
        arguments = {"batch_size": batch_size, "show_progress_bar": False}
        with quiet_libraries():
            # No cache: mteb's knows a task by its name alone, and would give the scores of other data
            result = mteb.evaluate(self.mteb_model, task, cache=None, encode_kwargs=arguments, show_progress_bar=False)
        (row,) = result.task_results[0].scores[TEST]
        return task.predictions[TEST, subset], row

    def meta_for(self, pooling: str) -> ModelMeta:
        """Return the metadata of this model under another pooling: the registered ones, or these with a new name."""
        name = pooled_name(split_pooling(str(self.meta.name))[0], pooling)
        registered = MODEL_REGISTRY.get(name)
        if registered is not None and registered.revision == self.meta.revision:
            return registered
        return self.meta.model_copy(update={"name": name})


def name_models(models: Sequence[str], names: Sequence[str] = ()) -> dict[str, str]:
    """Return model -> what results call it, for each local folder and each class of one's own among the models.

    A name from `names` counts first, one for each of these models; then what a folder states (see `StatedModel`); then
    the name of the folder or class, with as many of its parent folders as tell it from the others.
    """
    places: dict[str, Path] = {}
    for model in models:
        base, _ = split_pooling(model)
        if _OWN_CLASS.fullmatch(base):
            file, class_name = base.rsplit(":", maxsplit=1)
            places[model] = Path(file).expanduser().absolute().with_suffix("") / class_name
        elif is_local(base):
            folder = Path(base).expanduser()  # a symlink is named as the user wrote it
            places[model] = folder.resolve() if ".." in folder.parts else folder.absolute()
    if names and (len(names) != len(places) or not all(map(_NAME.fullmatch, names))):
        raise usage_error(
            f"--name {' '.join(names)}: give a name of Latin letters, digits, . _ and - for each of the {len(places)} "
            "local models, in their order"
        )
    candidates: dict[Path, list[str]] = {}  # the first one counts
    for number, place in enumerate(places.values()):
        parts = place.parts[1:] or ("root",)
        candidates[place] = ["local/" + "-".join(parts[-n:]) for n in range(1, len(parts) + 1)]
        stated = stated_model(place)
        if names:
            candidates[place] = [f"local/{names[number]}"]
        elif stated is not None:
            candidates[place].insert(0, stated.name)
    while True:
        counts = Counter([*(set(models) - set(places)), *(labels[0] for labels in candidates.values())])
        ambiguous = [labels for labels in candidates.values() if counts[labels[0]] > 1]
        if not ambiguous:
            return {model: candidates[place][0] for model, place in places.items()}
        if all(len(labels) == 1 for labels in ambiguous):
            raise usage_error(f"several models would be called {ambiguous[0][0]}; tell them apart with --name")
        for labels in ambiguous:
            del labels[: len(labels) > 1]


def check_name(name: str, *, revision: str | None = None) -> bool:
    """Return False for a model whose name says that it is no transformer; a name that is wrong is an InputError."""
    base, pooling = split_pooling(name)
    if pooling is not None:
        check_pooling(pooling)
    if _OWN_CLASS.fullmatch(base):
        return False
    if is_local(base):
        check_model_folder(base)
        return True
    meta = _lookup(base)
    if meta is not None and revision and meta.revision not in (revision, NO_REVISION):
        raise usage_error(f"{name}: mteb pins revision {meta.revision}, not {revision}; leave --revision out")
    return meta is None or meta.loader in (*_STOCK_LOADERS, *OUR_LOADERS, refuse)


def resolve_model(
    name: str,
    *,
    label: str | None = None,
    revision: str | None = None,
    device: str | None = None,
    dtype: str = "float32",
    trust_remote_code: bool = False,
) -> LoadedModel:
    """Load a model by mteb name, Hub id or local folder, each of which `` (pooling=…)`` may follow, or an own class.

    ``FILE.py:CLASS`` is an encoder in mteb's sense. The label of a local model is from `name_models`. The revision None
    is the commit that mteb pins, otherwise the newest; the device None is the library's choice. The dtype is that of a
    transformer's weights, whatever the checkpoint or mteb would choose. Code that comes with the model is executed only
    if it is trusted.
    """
    check_dtype(dtype)
    check_name(name, revision=revision)
    base, pooling = split_pooling(name)
    label = label or name_models([name]).get(name, "")
    if pooling is None and _OWN_CLASS.fullmatch(base):
        return _load_own_class(*base.rsplit(":", maxsplit=1), label=label)
    load = partial(load_checkpoint, device=device, dtype=dtype, trust_remote_code=trust_remote_code)
    if is_local(base):
        folder = Path(base).expanduser().resolve()
        model, meta = load(str(folder)), local_meta(label, folder)
        stated, files = stated_model(folder), None
        if stated is not None and stated.name == label:
            files, meta = meta.revision, meta.model_copy(update={"revision": stated.revision})
        return replace(_wrapped(model, meta, pooling=pooling), files=files)
    meta = _lookup(name) or _lookup(base)
    if meta is None:
        try:
            # A name such as `main` moves; results name the commit that it stood for
            commit = hub_commit(base, revision)
            model = load(base, revision=commit or revision)
        except InputError as error:
            nearest = difflib.get_close_matches(base, MODEL_REGISTRY, n=3)
            hint = f"; similar names that mteb knows: {', '.join(nearest)}" if nearest else ""
            raise usage_error(f"{error}{hint}") from error
        known = commit or revision or NO_REVISION
        hub_meta = make_meta(base, revision=known, loader=SentenceTransformerEncoderWrapper, arguments={})
        return _wrapped(model, hub_meta, pooling=pooling)
    if revision:
        meta = meta.model_copy(update={"revision": revision})
    if meta.loader not in OUR_LOADERS:
        return _load_as_mteb(meta, device=device, dtype=dtype, trust_remote_code=trust_remote_code, pooling=pooling)
    # A local checkpoint, or an encoder of the paper or the community. It is loaded without the pooling that it may
    # name, because one pass of the model gives all poolings
    path = str(meta.loader_kwargs.get("path", meta.name))
    if meta.loader_kwargs.get("needs_remote_code") and not trust_remote_code:
        raise untrusted_code(path)
    commit = None if is_local(path) else hub_commit(path, None if meta.revision == NO_REVISION else meta.revision)
    model = load(path, revision=commit)
    plain = MODEL_REGISTRY.get(base, meta)
    if commit is not None:
        plain = plain.model_copy(update={"revision": commit})
    return _wrapped(model, plain, pooling=pooling, prompts=meta.loader_kwargs.get("model_prompts"))


@dataclass(eq=False)
class _ServedEncoder(AbsEncoder):
    """A model on a server as an mteb encoder."""

    client: EmbeddingsClient
    model_prompts: dict[str, str]  # role -> prompt, without empty ones

    def encode(
        self, inputs: Any, *, prompt_type: PromptType | None = None, batch_size: int = BATCH_SIZE, **_options: Any
    ) -> npt.NDArray[np.float32]:
        """Return the vectors of all texts of the batches, (N, D) float32."""
        prompt = self.model_prompts.get(prompt_type.value, "") if prompt_type else ""
        return self.client.embed([prompt + text for batch in inputs for text in batch["text"]], batch_size=batch_size)


def load_served(name: str, base_url: str, *, cache: Path, prompts: Mapping[str, str]) -> LoadedModel:
    """Return a model on a server, ``openai/NAME``; the prompts are those before texts of a role."""
    provider, _, model = name.partition("/")
    if provider != "openai" or not model:
        raise usage_error(f"{name}: with --base-url a model is named openai/NAME, after the protocol of the server")
    client = EmbeddingsClient(model, base_url, cache=cache)
    encoder = _ServedEncoder(client, {role: prompt for role, prompt in prompts.items() if prompt})
    meta = make_meta(name, revision=NO_REVISION, loader=_ServedEncoder, arguments={})
    # Nothing is known of the weights behind a server
    meta = encoder.mteb_model_meta = meta.model_copy(update={"framework": ["API"], "open_weights": None})
    return LoadedModel(meta, encoder, served={"base_url": without_keys(base_url), "dimensions": client.dimensions})


def _lookup(name: str) -> ModelMeta | None:
    """Return the metadata that mteb lists under a name; None if it lists none."""
    try:
        with warnings.catch_warnings():
            # mteb warns of the old name of a renamed model, under which it finds the model all the same
            warnings.simplefilter("ignore", DeprecationWarning)
            return get_model_meta(name)
    except KeyError:
        return None


def _load_as_mteb(
    meta: ModelMeta, *, device: str | None, dtype: str, trust_remote_code: bool, pooling: str | None
) -> LoadedModel:
    """Load a model of mteb's registry: transformers in the stated dtype, everything else as mteb loads it."""
    if meta.loader not in _STOCK_LOADERS and not trust_remote_code:
        try:
            source = inspect.getsource(meta.loader) if meta.loader else ""
        except (OSError, TypeError):  # no source is installed
            source = ""
        if meta.loader_kwargs.get("trust_remote_code") or _TRUSTS.search(source):
            raise untrusted_code(str(meta.name))
    needs_hub = not str(meta.name).startswith(_WITHOUT_DOWNLOAD)
    try:
        with offline_if_unreachable() if needs_hub else nullcontext():
            if meta.loader not in _STOCK_LOADERS:
                return LoadedModel(meta, meta.load_model(device=device))
            model_kwargs = dict(meta.loader_kwargs.get("model_kwargs", {}))
            # The older name of dtype, which transformers may prefer to the dtype that the results state
            model_kwargs.pop("torch_dtype", None)
            model_kwargs |= {"dtype": getattr(torch, dtype), "use_safetensors": True}
            arguments = dict(meta.loader_kwargs) | {"model_kwargs": model_kwargs}
            arguments |= {"device": device, "trust_remote_code": trust_remote_code}
            with quiet_loading():
                wrapper = meta.loader(meta.name, revision=meta.revision, **arguments)
    except Exception as error:
        # Loaders raise any error: missing extras, keys, files, connections
        raise load_error(str(meta.name), error) from error
    return _of_wrapper(wrapper, meta, pooling=pooling)


def _load_own_class(file: str, class_name: str, *, label: str) -> LoadedModel:
    """Make an encoder of a class in a Python file; it is asked by mteb alone, and its vectors are checked."""
    path = Path(file).expanduser()
    name = f"{file}:{class_name}"
    try:
        revision = hashlib.sha1(path.read_bytes(), usedforsecurity=False).hexdigest()
        # Not as __main__, so that what the file does as a script is left out
        encoder = runpy.run_path(str(path), run_name=path.stem)[class_name]()
        encode = encoder.encode
    except Exception as error:
        # The code is the user's, and may raise anything
        problem = f"{name}: cannot be made ({type(error).__name__}: {error})"
        raise usage_error(f"{problem}; name a class with encode in that file, made without arguments") from error

    def checked(inputs: Any, **options: Any) -> npt.NDArray[np.float32]:
        # Without this a wrong number of rows would surface deep in mteb, and half precision would make ties
        vectors = np.asarray(encode(inputs, **options), dtype=np.float32)
        n_texts = len(inputs.dataset)
        problem = ""
        if vectors.ndim != 2 or len(vectors) != n_texts:
            returned = f"encode returns an array of shape {vectors.shape} for {n_texts} texts"
            problem = f"{returned}; it must return one row for each text"
        elif not np.isfinite(vectors).all():
            row = int((~np.isfinite(vectors)).any(axis=1).argmax())
            problem = f"the vector of text {row + 1} of {n_texts} is not finite"
        if problem:
            raise InputError(f"{name}: {problem}")
        return vectors

    encoder.encode = checked
    meta = make_meta(label, revision=revision, loader=type(encoder), arguments={})
    encoder.mteb_model_meta = meta
    return LoadedModel(meta, encoder)


def _wrapped(
    model: SentenceTransformer, meta: ModelMeta, *, pooling: str | None, prompts: dict[str, str] | None = None
) -> LoadedModel:
    with warnings.catch_warnings():
        # mteb calls methods that sentence-transformers has renamed
        warnings.simplefilter("ignore", FutureWarning)
        wrapper = SentenceTransformerEncoderWrapper(model, model_prompts=prompts)
    return _of_wrapper(wrapper, meta, pooling=pooling)


def _of_wrapper(wrapper: Any, meta: ModelMeta, *, pooling: str | None) -> LoadedModel:
    # The wrapper derives its own from the model, without our name and revision
    wrapper.mteb_model_meta = meta
    encoder = None
    with suppress(InputError):  # it does not begin with a text transformer
        backbone_of(wrapper.model)
        encoder = wrapper.model
    return LoadedModel(meta, wrapper, encoder, pooling)
