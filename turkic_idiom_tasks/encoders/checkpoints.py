"""How a checkpoint is loaded: without its code, from safetensors, in a stated dtype, and with errors of one line."""

from __future__ import annotations

import hashlib
import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turkic_idiom_tasks.encoders import hub
from turkic_idiom_tasks.errors import InputError, usage_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sentence_transformers import SentenceTransformer

DTYPES = ("float32", "bfloat16", "float16")


def check_dtype(dtype: str) -> None:
    """Raises for a dtype that models cannot be loaded in.

    Raises:
        InputError: the name is unknown; the message lists the known ones.
    """
    if dtype not in DTYPES:
        raise usage_error(f"unknown dtype {dtype!r}; known: {', '.join(DTYPES)}")


def load_checkpoint(
    name_or_path: str, *, revision: str | None = None, device: str | None = None, dtype: str = "float32"
) -> SentenceTransformer:
    """A sentence-transformers model, or a plain encoder with the mean pooling that sentence-transformers gives it.

    Args:
        name_or_path: a Hub id or a local folder.
        revision: Hub commit; None is the newest.
        device: None lets sentence-transformers choose.
        dtype: of the weights, whatever the checkpoint was saved in.

    Raises:
        InputError: it cannot be found, reached or loaded.
    """
    import torch
    from sentence_transformers import SentenceTransformer

    check_dtype(dtype)
    is_folder = is_local(name_or_path)
    if is_folder:
        name_or_path = str(Path(name_or_path).expanduser())
        _check_folder(Path(name_or_path))
    try:
        with quiet_loading():
            model = SentenceTransformer(
                name_or_path,
                revision=revision,
                device=device,
                trust_remote_code=False,
                local_files_only=is_folder or not hub.is_reachable(),
                model_kwargs={"dtype": getattr(torch, dtype), "use_safetensors": True},
            )
    except Exception as error:  # the libraries below raise a dozen unrelated types for a bad name, folder or connection
        raise load_error(name_or_path, error) from error
    give_pad_token(getattr(model[0], "tokenizer", None))
    return model


def folder_revision(folder: Path) -> str:
    """SHA-1 of a checkpoint's files, 40 hexadecimal digits: the revision of a model that has no Hub commit."""
    digest = hashlib.sha1(usedforsecurity=False)
    for path in sorted(
        path for path in folder.rglob("*") if path.suffix in (".json", ".safetensors", ".txt", ".model")
    ):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
        with path.open("rb") as file:
            for block in iter(lambda: file.read(1 << 20), b""):
                digest.update(block)
    return digest.hexdigest()


def is_local(name_or_path: str) -> bool:
    """Whether this names a folder here rather than a model on the Hub: it exists, or could only be a path."""
    return name_or_path.startswith((".", "/", "~")) or name_or_path.count("/") > 1 or Path(name_or_path).is_dir()


def local_path(name_or_path: str) -> str:
    """A folder's name with ~ expanded, which no shell does within another argument; a Hub id as it is.

    Raises:
        InputError: it can only be a folder, and there is none.
    """
    if not is_local(name_or_path):
        return name_or_path
    path = Path(name_or_path).expanduser()
    if not path.is_dir():
        raise InputError(f"{name_or_path}: no such folder")
    return str(path)


@contextmanager
def quiet_loading() -> Iterator[None]:
    """Keeps transformers from drawing its bars where stderr is no terminal, and from listing a head's new weights."""
    from transformers.utils import logging as transformers_logging

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
    """The stock ``Transformer`` module at the head of a sentence-transformers model.

    Raises:
        InputError: the model starts with something else (static embeddings, a router).
    """
    from sentence_transformers.sentence_transformer.modules import Transformer

    first = model[0]
    if not isinstance(first, Transformer) or "message" in first.modality_config or first.tokenizer is None:
        raise usage_error(
            f"this model begins with {type(first).__name__}, not with a plain text transformer, so it cannot be pooled "
            "differently; use it without a pooling"
        )
    return first


def give_pad_token(tokenizer: Any) -> None:
    """Lets a decoder's tokenizer without a padding token pad with its end token, which the attention mask hides.

    Raises:
        InputError: it has no end token either.
    """
    if tokenizer is None or not hasattr(tokenizer, "pad_token") or tokenizer.pad_token is not None:
        return
    if tokenizer.eos_token is None:
        raise InputError(
            f"the tokenizer of {tokenizer.name_or_path} has neither a padding nor an end token; set pad_token in its "
            "tokenizer_config.json"
        )
    tokenizer.pad_token = tokenizer.eos_token


def load_error(name_or_path: str, error: BaseException) -> InputError:
    """One line that says what was tried, why it failed and what to do.

    Args:
        name_or_path: what the user asked for.
        error: what a library raised.
    """
    if isinstance(error, InputError):
        return error
    if _is_remote_code(error):
        return usage_error(
            f"{name_or_path} needs code from its own repository, which is never executed here; use a model that "
            "transformers supports by itself"
        )
    if is_local(name_or_path):
        return usage_error(f"{name_or_path}: cannot be loaded as a model ({_first_line(error)})")
    reason = hub.reason(error)
    if reason:
        return usage_error(f"{name_or_path}: {reason}")
    return usage_error(
        f"{name_or_path}: cannot be loaded from the Hugging Face Hub or its local cache ({_first_line(error)})"
    )


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise usage_error(f"{folder}: no such folder")
    if not any((folder / name).is_file() for name in ("modules.json", "config.json", "adapter_config.json")):
        raise usage_error(
            f"{folder}: not a model folder; it has neither modules.json (sentence-transformers) nor config.json"
        )
    if _declared_type(folder) == "CrossEncoder":  # sentence-transformers would quietly mean-pool it
        raise usage_error(f"{folder}: a CrossEncoder scores pairs and makes no vectors; give an encoder")


def _declared_type(folder: Path) -> str | None:
    """What kind of model the folder says it is; None if it does not say."""
    try:
        config = json.loads((folder / "config_sentence_transformers.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return config.get("model_type") if isinstance(config, dict) else None


def _is_remote_code(error: BaseException) -> bool:
    return any("trust_remote_code" in str(cause) for cause in hub.causes(error))


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__
