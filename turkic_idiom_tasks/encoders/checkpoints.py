"""Loading of a checkpoint: from safetensors, in a stated dtype, with errors of one line."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Transformer
from sentence_transformers.util import load_file_path
from transformers.utils import logging as transformers_logging

from turkic_idiom_tasks.encoders.folders import MODULES_FILE, check_model_folder, is_local, local_path
from turkic_idiom_tasks.encoders.names import check_dtype, untrusted_code
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io import hub_client
from turkic_idiom_tasks.io.reading import first_line, read_json

OUR_MODULE = "turkic_idiom_tasks.encoders.siblings.idiom_transformer.IdiomTokenTransformer"
_CODELESS = (".Pooling", ".WeightedLayerPooling", ".Normalize", ".Dense")  # they load no code, even if trusted
# Weights of these are loaded by transformers, which insists on safetensors itself, or they have none.
_WITHOUT_OWN_WEIGHTS = (".Transformer", ".IdiomTokenTransformer", ".Pooling", ".Normalize")
_COMMIT = re.compile("[0-9a-f]{40}")
_SAVE_AGAIN = "if you trust the model, load it and save it again with save_pretrained(), which writes safetensors"


def load_checkpoint(
    name_or_path: str,
    *,
    revision: str | None = None,
    device: str | None = None,
    dtype: str = "float32",
    trust_remote_code: bool = False,
) -> SentenceTransformer:
    """Load a sentence-transformers model, or a plain encoder with the mean pooling that the library gives it.

    The revision None is the newest commit, the device None the library's choice. The dtype is that of the weights, also
    if the checkpoint was saved in another one. Code that comes with the model is executed only if it is trusted.
    """
    check_dtype(dtype)
    is_folder = is_local(name_or_path)
    if is_folder:
        check_model_folder(name_or_path)
        name_or_path = str(Path(name_or_path).expanduser())
    place = {"revision": revision, "local_files_only": is_folder or not hub_client.is_reachable()}
    with loading(name_or_path):
        path = load_file_path(name_or_path, MODULES_FILE, **place)
        modules = read_json(Path(path)) if path else []  # a plain encoder has no such file
        kinds = [str(module["type"]) for module in modules]
        # sentence-transformers imports a class of ours only if it is told to trust the model. The class is that of the
        # installed package: a file of the model is looked for only where a class has one point in its name.
        others = [kind for kind in kinds if kind != OUR_MODULE]
        are_codeless = all(kind.startswith("sentence_transformers.") and kind.endswith(_CODELESS) for kind in others)
        options: dict[str, Any] = {"model_kwargs": {"dtype": getattr(torch, dtype), "use_safetensors": True}}
        options["trust_remote_code"] = trust_remote_code
        if len(others) < len(kinds) and are_codeless and not trust_remote_code:
            options["trust_remote_code"] = True  # for our class; what it loads is not trusted
            for name in ("model_kwargs", "processor_kwargs", "config_kwargs"):
                options[name] = options.get(name, {}) | {"trust_remote_code": False}
        for module, kind in zip(modules, kinds, strict=True):
            folder = str(module["path"])
            if kind.endswith(_WITHOUT_OWN_WEIGHTS):
                continue
            # A module after the transformer, such as a Dense layer, may have pickled weights, which would be loaded.
            if not load_file_path(name_or_path, "model.safetensors", folder, **place) and load_file_path(
                name_or_path, "pytorch_model.bin", folder, **place
            ):
                raise usage_error(
                    f"{name_or_path}: the weights of {folder} are a pickle (pytorch_model.bin), which can execute code "
                    f"and is never loaded; {_SAVE_AGAIN}"
                )
        model = SentenceTransformer(name_or_path, device=device, **place, **options)
    give_pad_token(getattr(model[0], "tokenizer", None))
    return model


def load_pretrained(
    auto_class: Any, name_or_path: str, *, revision: str | None = None, trust_remote_code: bool = False, **options: Any
) -> Any:
    """Return the result of ``from_pretrained`` of a class of transformers for weights, without pickles."""
    path = local_path(name_or_path)
    with loading(name_or_path):
        return auto_class.from_pretrained(
            path,
            revision=revision or "main",
            use_safetensors=True,
            trust_remote_code=trust_remote_code,
            local_files_only=is_local(name_or_path),
            **options,
        )


def hub_commit(name: str, revision: str | None = None) -> str | None:
    """Return the current commit of a revision (commit, tag, branch) of a model on the Hub; None if it is not known."""
    if revision and _COMMIT.fullmatch(revision):
        return revision
    local_files_only = not hub_client.is_reachable()
    for filename in (MODULES_FILE, "config.json"):
        with loading(name):
            path = load_file_path(name, filename, revision=revision, local_files_only=local_files_only)
        if path and _COMMIT.fullmatch(Path(path).parent.name):  # the client's cache has a folder for each commit
            return Path(path).parent.name
    return None


@contextmanager
def loading(name_or_path: str) -> Iterator[None]:
    """Silence transformers, and turn whatever a library raises about a model into an InputError of one line."""
    try:
        with quiet_loading():
            yield
    except Exception as error:  # libraries raise many unrelated types for a bad name, folder or connection
        raise load_error(name_or_path, error) from error


@contextmanager
def quiet_loading() -> Iterator[None]:
    """Silence transformers: progress bars if stderr is no terminal, and the list of the new weights of a head."""
    was_enabled = transformers_logging.is_progress_bar_enabled()
    verbosity = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()
    if not sys.stderr.isatty():
        transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(verbosity)
        if was_enabled:
            transformers_logging.enable_progress_bar()


def backbone_of(model: SentenceTransformer) -> Any:
    """Return the ``Transformer`` module at the head of a model; InputError if that is something else."""
    first = model[0]
    # Static embeddings and routers are other classes; models of images and chat templates use the same class.
    if not isinstance(first, Transformer) or "message" in first.modality_config or first.tokenizer is None:
        raise usage_error(
            f"this model begins with {type(first).__name__}, not with a plain text transformer, so it cannot be pooled "
            "differently; use it without a pooling"
        )
    return first


def give_pad_token(tokenizer: Any) -> None:
    """Set the end token as the padding token of a decoder's tokenizer without one; the attention mask hides it."""
    # The tokenizer of static embeddings is of another library and has no such attribute.
    if tokenizer is None or not hasattr(tokenizer, "pad_token") or tokenizer.pad_token is not None:
        return
    if tokenizer.eos_token is None:
        raise InputError(
            f"the tokenizer of {tokenizer.name_or_path} has neither a padding nor an end token; set pad_token in its "
            "tokenizer_config.json"
        )
    tokenizer.pad_token = tokenizer.eos_token


def load_error(name_or_path: str, error: BaseException) -> InputError:
    """Return an error with one line about a model that a library could not load: what was tried, why, what to do."""
    if isinstance(error, InputError):
        return error
    # Both of these are plain errors, a ValueError and an OSError, which only their texts tell from others
    causes = [str(cause) for cause in hub_client.causes(error)]
    if any("trust_remote_code" in cause for cause in causes):
        return untrusted_code(name_or_path)
    if any("file named model.safetensors" in cause for cause in causes):
        return usage_error(
            f"{name_or_path}: has no weights in safetensors format, the only format that is loaded, because a pickle "
            f"can execute code; {_SAVE_AGAIN}"
        )
    # The libraries explain over many lines what a developer could try; the first line says what is wrong.
    reason = f"{type(error).__name__}: {first_line(error)[:200]}" if str(error) else type(error).__name__
    if is_local(name_or_path):
        return usage_error(f"{name_or_path}: cannot be loaded as a model ({reason})")
    return usage_error(
        f"{name_or_path}: "
        + (hub_client.reason(error) or f"cannot be loaded from the Hugging Face Hub or its local cache ({reason})")
    )
