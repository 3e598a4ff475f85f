"""Vectors of glosses that stand in several languages, from any encoder, for the alignment of a lexicon."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from turkic_idiom_tasks.encoders import char_ngrams
from turkic_idiom_tasks.encoders.pooled import PooledEncoder
from turkic_idiom_tasks.encoders.poolings import native_pooling
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.harnesses.mteb_loading import resolve_model
from turkic_idiom_tasks.harnesses.quiet import quiet_libraries


def encode_glosses(
    model: str, texts: Sequence[Mapping[str, str]], *, prefix: str, progress: Callable[[int, int], None]
) -> npt.NDArray[np.float32]:
    """Return one vector for each gloss, (N, D) float32 of length 1, from one pass over the distinct texts.

    The model is a transformer: an mteb or Hugging Face name, or a local folder; `` (pooling=mean)`` may follow. The
    texts of a gloss, by language code, are read in a row after the prefix, such as ``query: `` for E5. The progress is
    the number of distinct texts that are done, and of all.
    """
    with quiet_libraries():
        loaded = resolve_model(model)
    if loaded.encoder is None:
        raise usage_error(f"{model}: no transformer; alignment takes transformers and {char_ngrams.NAME}")
    pooling = loaded.pooling or native_pooling(loaded.encoder)
    if pooling is None:
        raise usage_error(f"{model}: its own pooling is none of the five; choose one: '{model} (pooling=mean)'")
    encoder = PooledEncoder(loaded.encoder, model_id=model)
    joined = [prefix + "; ".join(gloss.values()) for gloss in texts]
    return encoder.encode(joined, poolings=[pooling], progress=progress)[pooling]
