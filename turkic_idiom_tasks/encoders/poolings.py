"""Paper's five poolings, which make one vector of a transformer's token vectors.

They are implemented twice: `pool_all` computes all of them from one forward pass, `with_pooling` makes each of them
from stock modules. Tests check that both give equal vectors.
"""

from collections.abc import Sequence

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, WeightedLayerPooling
from torch import Tensor

from turkic_idiom_tasks.encoders.checkpoints import backbone_of
from turkic_idiom_tasks.encoders.names import (
    FIRST_LAYER,
    LAST_LAYERS,
    LAYER_POOLINGS,
    POOLINGS,
    check_layers,
)

_STOCK_MODES = ("cls", "mean", "max")  # of the library's Pooling; the other two are means over mixtures of layers


def pool_all(
    hidden_states: Sequence[Tensor],
    attention_mask: Tensor,
    *,
    first_layer: int = FIRST_LAYER,
    poolings: Sequence[str] = POOLINGS,
) -> dict[str, Tensor]:
    """Return pooling -> (B, H) float32, each row of length 1, from the hidden states of one forward pass.

    The hidden states are the output of the embedding layer, then of each transformer layer, (B, T, H) each; the last
    one alone is enough for cls, mean and max. The (B, T) mask is 1 for real tokens and 0 for padding on either side.
    """
    n_layers = len(hidden_states) - 1
    real = attention_mask.bool().unsqueeze(-1)  # (B, T, 1)
    count = attention_mask.sum(1, keepdim=True).clamp(min=1).float()  # (B, 1)
    # Sums of half-precision numbers would lose digits with the length of the text.
    last = hidden_states[-1].float()
    means: dict[int, Tensor] = {}  # layer -> mean of its token vectors, which several poolings share
    pooled = {}
    for pooling in poolings:
        check_layers(pooling, n_layers, first_layer=first_layer)
        if pooling == "cls":
            # The first real token is not at position 0 if the padding is on the left.
            first_real = attention_mask.int().argmax(1).view(-1, 1, 1).expand(-1, 1, last.shape[-1])
            vectors = last.gather(1, first_real).squeeze(1)
        elif pooling == "max":
            # Multiplied by the mask, padding would be 0 and win against negative values.
            vectors = last.masked_fill(~real, float("-inf")).amax(1)
        else:
            # A mean over tokens is linear, so the mean of averaged layers is the average of their means. The paper
            # gives no weights for the last four layers: here they are equal.
            layers = {"mean": (-1,), "first_last": (first_layer, -1), "last_four": range(-LAST_LAYERS, 0)}[pooling]
            for layer in layers:
                if layer not in means:
                    # Not a product with the mask, in which a NaN of the padding would stay.
                    means[layer] = torch.where(real, hidden_states[layer].float(), 0.0).sum(1) / count
            vectors = sum(means[layer] for layer in layers)  # a sum is enough, because it is normalised below
        pooled[pooling] = torch.nn.functional.normalize(vectors, dim=-1)
    return pooled


def with_pooling(model: SentenceTransformer, pooling: str, *, first_layer: int = FIRST_LAYER) -> SentenceTransformer:
    """Return a model with the same transformer and prompts under one pooling, made of stock modules."""
    # Only stock modules, so that the stock mteb command and a saved checkpoint need no code of ours
    transformer = backbone_of(model)
    config = transformer.model.config.get_text_config()
    n_layers = int(getattr(config, "num_hidden_layers", None) or config.num_layers)
    check_layers(pooling, n_layers, first_layer=first_layer)
    dimension = transformer.get_embedding_dimension()
    modules = [transformer]
    if pooling in LAYER_POOLINGS:
        # The stock module for mixtures finds the layers only if the transformer returns all of them.
        transformer.model.config.output_hidden_states = True
        start = first_layer if pooling == "first_last" else n_layers + 1 - LAST_LAYERS
        weights = torch.zeros(n_layers + 1 - start)
        for layer in (0, -1) if pooling == "first_last" else range(LAST_LAYERS):
            weights[layer] += 1.0
        mixture = torch.nn.Parameter(weights, requires_grad=False)
        modules.append(
            WeightedLayerPooling(dimension, num_hidden_layers=n_layers, layer_start=start, layer_weights=mixture)
        )
    modules += [Pooling(dimension, pooling if pooling in _STOCK_MODES else "mean"), Normalize()]
    return SentenceTransformer(
        modules=modules, device=str(model.device), prompts=model.prompts, default_prompt_name=model.default_prompt_name
    )


def native_pooling(model: SentenceTransformer) -> str | None:
    """Return which of cls, mean and max the model's own modules compute; None if they compute something else."""
    modules = list(model)[1:]
    # The length of a vector does not matter where similarity is the cosine.
    if modules and isinstance(modules[-1], Normalize):
        modules.pop()
    elif model.similarity_fn_name != "cosine":
        return None
    # The five poolings would neither cut the vector nor process texts in a way of its own, and they pool prompts too.
    if model.truncate_dim is not None or getattr(model[0], "processing_kwargs", None):
        return None
    if len(modules) != 1 or not isinstance(modules[0], Pooling) or not modules[0].include_prompt:
        return None
    mode = modules[0].pooling_mode
    if isinstance(mode, tuple | list) and len(mode) == 1:
        mode = mode[0]
    return mode if mode in _STOCK_MODES else None
