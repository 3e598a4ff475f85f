"""Models that we register with mteb: the baseline, the paper's encoders by pooling, the community's, local checkpoints.

``NAME (pooling=mean)`` is mteb's way of naming a model under a setting. Such a model is made of stock
sentence-transformers modules in mteb's own wrapper, so the stock command runs no code of ours when it encodes.
"""

import logging
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

# The start-up hook imports this module in every `mteb` command, while mteb itself is only partly imported. So names
# come from its submodules, and only the loaders import torch.
import mteb  # noqa: F401  # complete before its parts are used, unless it is mteb that imports us
import numpy as np
import numpy.typing as npt
from mteb.models.abs_encoder import AbsEncoder
from mteb.models.model_meta import ModelMeta, ScoringFunction
from mteb.models.sentence_transformer_wrapper import SentenceTransformerEncoderWrapper
from mteb.types import PromptType

from turkic_idiom_tasks.encoders import char_ngrams
from turkic_idiom_tasks.encoders.community import community_encoders
from turkic_idiom_tasks.encoders.folders import folder_revision
from turkic_idiom_tasks.encoders.names import NO_REVISION, PAPER_ENCODERS, POOLINGS, TRUST_VARIABLE, untrusted_code
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.harnesses import mteb_plugin
from turkic_idiom_tasks.io.reading import display
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT, get_language

log = logging.getLogger("turkic_idiom_tasks")

MODELS_VARIABLE = "TURKIC_IDIOM_MODELS"
_YES = ("1", "true", "t", "yes", "y", "on")  # as in the environment variables of options


def register_models(registry: dict[str, ModelMeta]) -> None:
    """Add our models to mteb's registry; a model that mteb has under the same name stays, also in repeated calls."""
    for meta in model_metas():
        registry.setdefault(str(meta.name), meta)
    registered = {name for name, meta in registry.items() if meta.loader in (load_local, refuse)}
    for name, folder, problem in local_models(taken={*registry} - registered):
        if name in registered:  # by an earlier call
            continue
        if folder is not None:
            try:
                plain = local_meta(name, folder)
                metas = [plain, *_pooled_metas(name, plain.revision, path=str(folder))]
                registry |= {str(meta.name): meta for meta in metas}
                continue
            except Exception as error:
                # The other models must be registered even if one folder is bad
                problem = f"{MODELS_VARIABLE}: {error}"
        log.warning("%s", problem)
        # The name in a malformed part is registered too, and loading it raises the problem: it must never load another
        # model
        for refused in (name, *(pooled_name(name, pooling) for pooling in POOLINGS)) if name else ():
            meta = registry.get(refused) or make_meta(refused, revision=NO_REVISION, loader=refuse, arguments={})
            # mteb checks the extras that a model needs before it calls the loader, so a refusal must need none
            changes = {"loader": refuse, "loader_kwargs": {"problem": problem}, "extra_requirements_groups": None}
            registry[refused] = meta.model_copy(update=changes)


def model_metas() -> list[ModelMeta]:
    """Return the models that we always register: the baseline, the paper's encoders by pooling, the community's."""
    baseline = make_meta(char_ngrams.NAME, revision=char_ngrams.REVISION, loader=CharNgramEncoder, arguments={})
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
    metas = [baseline.model_copy(update=changes)]
    for name, (revision, prompts) in PAPER_ENCODERS.items():
        metas += _pooled_metas(name, revision, path=name, prompts=prompts)
    for name, encoder in community_encoders().items():
        arguments = {"model_prompts": encoder.prompts, "needs_remote_code": encoder.needs_remote_code or None}
        meta = make_meta(name, revision=encoder.revision or NO_REVISION, loader=load_community, arguments=arguments)
        changes = {
            "languages": [LANGUAGES[code].script_code for code in encoder.languages],
            "n_parameters": encoder.n_parameters,
            "license": encoder.license,
            "reference": f"https://huggingface.co/{name}",
        }
        metas.append(meta.model_copy(update=changes))
    return metas


def local_models(taken: Iterable[str] = ()) -> list[tuple[str, Path | None, str]]:
    """Return name, folder and problem of each part of TURKIC_IDIOM_MODELS="org/name=/local/folder;…".

    A part with a `taken` name has a problem, and one with a problem has no folder; the problem of others is empty.
    """
    models: list[tuple[str, Path | None, str]] = []
    # The names of the paper's encoders are taken even where mteb does not list them: their poolings are registered
    names = {*PAPER_ENCODERS, *taken}
    for part in os.environ.get(MODELS_VARIABLE, "").split(";"):
        if not part.strip():
            continue
        name, separator, path = (text.strip() for text in part.partition("="))
        folder = Path(path).expanduser()
        organisation, slash, rest = name.partition("/")
        problem = ""
        if not separator or not path:
            problem = "names no folder"
        elif not (organisation and slash and rest) or "/" in rest:  # mteb refuses a name without a slash
            problem = "the name needs two parts, such as me/model"
        elif name in names:
            problem = f"there is already a model of the name {display(name)}; choose another, such as me/{rest}"
        elif not folder.is_dir():
            problem = f"{display(path)} is no folder"
        names.add(name)
        if problem:
            form = "write org/name=FOLDER, and ; between several"
            problem = f"{MODELS_VARIABLE}: the part {display(part.strip())}: {problem}; {form}"
        models.append((name, None if problem else folder.resolve(), problem))
    return models


def pooled_name(name: str, pooling: str) -> str:
    """Return ``NAME (pooling=mean)``."""
    return f"{name} (pooling={pooling})"


def local_meta(name: str, folder: Path) -> ModelMeta:
    """Return the metadata of a local checkpoint; its revision is the hash of its files."""
    return make_meta(name, revision=folder_revision(folder), loader=load_local, arguments={"path": str(folder)})


def make_meta(name: str, *, revision: str, loader: Any, arguments: Mapping[str, Any]) -> ModelMeta:
    """Return mteb's metadata of a model without the many optional fields."""
    fields = {
        "name": name,
        "revision": revision,
        "loader": loader,
        # mteb hands these to the loader, where None would replace a default
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
    from turkic_idiom_tasks.encoders.checkpoints import load_checkpoint
    from turkic_idiom_tasks.encoders.poolings import with_pooling

    # The revision of a folder is a hash of its files, which the Hub's client would take for a commit
    commit = None if Path(path).is_dir() or revision == NO_REVISION else revision
    model = load_checkpoint(path, revision=commit, device=device, trust_remote_code=trusts_remote_code())
    return SentenceTransformerEncoderWrapper(with_pooling(model, pooling), model_prompts=model_prompts)


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

    Code from the Hub, where a model needs it, is executed only if `trust_remote_code` or, if that is None,
    TURKIC_IDIOM_TRUST_REMOTE_CODE says so; otherwise there is an InputError.
    """
    trust = trusts_remote_code() if trust_remote_code is None else trust_remote_code
    if needs_remote_code and not trust:
        raise untrusted_code(model_name)
    commit = None if revision == NO_REVISION else revision
    return SentenceTransformerEncoderWrapper(
        model_name, revision=commit, trust_remote_code=trust and needs_remote_code, **kwargs
    )


OUR_LOADERS = (load_pooled, load_local, load_community)


def refuse(model_name: str, revision: str | None = None, *, problem: str, **kwargs: Any) -> Any:
    """Raise the problem of a malformed part of TURKIC_IDIOM_MODELS; mteb calls this in place of a loader."""
    raise usage_error(problem)


class CharNgramEncoder(AbsEncoder):
    """Built-in baseline as an mteb encoder, which takes the language of a text from the subset."""

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:  # mteb passes its name, revision and device
        pass

    def encode(
        self, inputs: Any, *, task_metadata: Any, hf_subset: str, prompt_type: PromptType | None = None, **_kwargs: Any
    ) -> npt.NDArray[np.float32]:
        """Return the vectors of all texts of the batches, (N, 4096) float32."""
        # A cross-lingual subset lists the language of the queries first and that of the documents last
        codes = task_metadata.hf_subsets_to_langscripts.get(hf_subset) or task_metadata.languages
        try:
            language = get_language(codes[-1] if prompt_type == PromptType.document else codes[0])
        except InputError:  # on a task of mteb in another language
            language = LANGUAGES[PIVOT]
        return char_ngrams.encode_texts([text for batch in inputs for text in batch["text"]], language)


def _pooled_metas(name: str, revision: str, *, path: str, prompts: Mapping[str, str] | None = None) -> list[ModelMeta]:
    metas = []
    for pooling in POOLINGS:
        arguments = {"path": path, "pooling": pooling, "model_prompts": prompts}
        metas.append(make_meta(pooled_name(name, pooling), revision=revision, loader=load_pooled, arguments=arguments))
    return metas


mteb_plugin.add_late()  # if this module was imported before mteb; does nothing while the hook is running
