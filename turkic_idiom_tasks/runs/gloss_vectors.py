"""Vectors of glosses that stand in several languages, from any encoder, for the alignment of a lexicon."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from turkic_idiom_tasks.encoders import char_ngrams
from turkic_idiom_tasks.encoders.names import BATCH_SIZE, check_pooling
from turkic_idiom_tasks.encoders.pooled import PooledEncoder
from turkic_idiom_tasks.encoders.poolings import native_pooling
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.harnesses.mteb_loading import resolve_model
from turkic_idiom_tasks.harnesses.quiet import quiet_libraries

Vectors = npt.NDArray[np.float32]
SEPARATOR = "; "


def encode_glosses(
    model: str,
    texts: Sequence[Mapping[str, str]],
    *,
    pooling: str | None = None,
    prefix: str = "",
    revision: str | None = None,
    device: str | None = None,
    batch_size: int = BATCH_SIZE,
    progress: Callable[[int, int], None] | None = None,
) -> Vectors:
    """Return one vector for each gloss, from one pass over the distinct texts; the languages are read in a row.

    Args:
        model: mteb or Hugging Face name, or a local folder, of a transformer.
        texts: for each gloss language code -> text; at least one.
        pooling: None is the model's own.
        prefix: text before each gloss, such as ``query: `` for E5.
        revision: Hub commit; None is the one that mteb pins, otherwise the newest.
        device: None lets the library choose.
        batch_size: texts at a time.
        progress: called with the number of distinct texts that are done, and of all.

    Returns:
        (N, D) float32, each row of length 1.

    Raises:
        InputError: the model cannot be loaded, is no transformer, or has a pooling that is none of the five.
    """
    if pooling is not None:
        check_pooling(pooling)
    joined = [prefix + SEPARATOR.join(gloss.values()) for gloss in texts]
    with quiet_libraries():
        loaded = resolve_model(model, revision=revision, device=device)
    if loaded.encoder is None:
        raise usage_error(f"{model}: no transformer; alignment takes transformers and {char_ngrams.NAME}")
    chosen = pooling or loaded.pooling or native_pooling(loaded.encoder)
    if chosen is None:
        raise usage_error(f"{model}: its own pooling is none of the five; choose one with --pooling")
    encoder = PooledEncoder(loaded.encoder, model_id=model)
    return encoder.encode(joined, poolings=[chosen], batch_size=batch_size, progress=progress)[chosen]
