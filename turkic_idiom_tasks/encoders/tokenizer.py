"""Fast tokenizers of classifiers, and how many sub-words their models take."""

from typing import Any

from transformers import AutoTokenizer

from turkic_idiom_tasks.encoders.checkpoints import loading
from turkic_idiom_tasks.encoders.folders import is_local, local_path
from turkic_idiom_tasks.errors import InputError, usage_error

MAX_LENGTH = 512  # sub-words in one window
MIN_LENGTH = 8
_POSITIONS_FROM_2 = {"xlm-roberta", "roberta", "camembert", "xlm-roberta-xl"}  # two of their positions cannot be used


def load_tokenizer(name_or_path: str, *, revision: str | None = None, trust_remote_code: bool = False) -> Any:
    """Return a fast tokenizer that takes sentences as lists of words."""
    path = local_path(name_or_path)
    options: dict[str, Any] = {
        "revision": revision or "main",
        "trust_remote_code": trust_remote_code,
        "local_files_only": is_local(name_or_path),
    }
    with loading(name_or_path):
        tokenizer = AutoTokenizer.from_pretrained(path, **options)
        # Byte-level BPE: a word begins with a space. Without it a tokenizer refuses sentences that are lists of words.
        if getattr(tokenizer, "add_prefix_space", True) is False:
            tokenizer = AutoTokenizer.from_pretrained(path, add_prefix_space=True, **options)
    if not tokenizer.is_fast:
        raise InputError(
            f"{name_or_path}: its tokenizer ({type(tokenizer).__name__}) does not say which word a sub-word belongs "
            "to; use a model with a fast tokenizer (tokenizer.json)"
        )
    return tokenizer


def lowers_case(tokenizer: Any) -> bool:
    """Return whether a fast tokenizer lower-cases; then callers do it before."""
    # Callers do it before, because tokenizers know no dotless i. One letter is tried, because the setting do_lower_case
    # of a fast tokenizer need not be what its file does.
    normalizer = tokenizer.backend_tokenizer.normalizer
    return bool(normalizer is not None and normalizer.normalize_str("A") == "a")


def window_length(config: Any, tokenizer: Any, *, max_length: int | None = None, least: int = MIN_LENGTH) -> int:
    """Return the number of sub-words in one forward pass: the lowest limit of caller, model and tokenizer, or 512."""
    limits = [tokenizer.model_max_length, MAX_LENGTH]
    positions = getattr(config, "max_position_embeddings", None) or 0
    if config.model_type in _POSITIONS_FROM_2:
        positions -= 2
    if positions > 0:  # models with relative positions state none, 0 or -1
        limits.append(positions)
    if max_length is not None:
        limits.append(max_length)
    length = int(min(limits))
    if length < least:
        raise usage_error(f"max_length is {length}; a text needs room for at least {least} sub-words")
    return length
