import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from turkic_idiom_tasks.encoders.checkpoints import load_checkpoint
from turkic_idiom_tasks.encoders.pooled import PooledEncoder
from turkic_idiom_tasks.encoders.poolings import POOLINGS, pool_all, with_pooling
from turkic_idiom_tasks.errors import InputError


def unit(*values):
    return np.array(values) / np.linalg.norm(values)


# Two tokens, one padding token (9, 9) that must never count; embedding output and four layers.
LAYERS = [
    [[1, 0], [3, 0]],  # embedding output, mean (2, 0)
    [[0, 2], [0, 4]],  # layer 1, mean (0, 3)
    [[4, 0], [0, 2]],  # layer 2, mean (2, 1)
    [[1, 1], [1, 3]],  # layer 3, mean (1, 2)
    [[5, -2], [1, -4]],  # layer 4, mean (3, -3)
]
EXPECTED = {
    "cls": unit(5, -2),
    "mean": unit(3, -3),
    "max": unit(5, -2),  # max(5, 1), max(-2, -4): not 9, and not 0 as a mask by multiplication would give
    "first_last": unit(3, 0),  # (0, 3) + (3, -3)
    "last_four": unit(6, 3),  # (0, 3) + (2, 1) + (1, 2) + (3, -3)
}


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("pooling", POOLINGS)
def test_values_worked_out_by_hand(pooling, side):
    pad = [9, 9]
    rows = [[pad, *layer] if side == "left" else [*layer, pad] for layer in LAYERS]
    mask = torch.tensor([[0, 1, 1] if side == "left" else [1, 1, 0]])
    found = pool_all([torch.tensor([row], dtype=torch.float32) for row in rows], mask)[pooling]
    assert found.dtype == torch.float32
    np.testing.assert_allclose(found[0], EXPECTED[pooling], atol=1e-6)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    length=st.integers(1, 6),
    left=st.integers(0, 4),
    right=st.integers(0, 4),
    garbage=st.sampled_from([0.0, 1e6, -1e6, float("inf"), float("nan")]),
)
def test_padding_never_changes_a_pooled_vector(seed, length, left, right, garbage):
    generator = torch.Generator().manual_seed(seed)
    real = [torch.randn(2, length, 8, generator=generator) for _ in range(5)]
    padded = [
        torch.cat([torch.full((2, left, 8), garbage), layer, torch.full((2, right, 8), garbage)], dim=1)
        for layer in real
    ]
    mask = torch.tensor([[0] * left + [1] * length + [0] * right] * 2)
    alone = pool_all(real, torch.ones(2, length, dtype=torch.long))
    for pooling, vectors in pool_all(padded, mask).items():
        torch.testing.assert_close(vectors, alone[pooling], atol=1e-6, rtol=0)


@pytest.mark.parametrize(("side", "first_layer"), [("left", 0), ("right", 1)])
@pytest.mark.parametrize("pooling", POOLINGS)
def test_stock_modules_agree_with_pool_all(untrained_bert, texts, pooling, first_layer, side):
    stock = with_pooling(load_checkpoint(str(untrained_bert), device="cpu"), pooling, first_layer=first_layer)
    stock.tokenizer.padding_side = side
    with torch.inference_mode():
        features = stock.preprocess(texts)
        inputs = {name: features[name] for name in ("input_ids", "attention_mask")}
        hidden = stock[0].model(**inputs, output_hidden_states=True).hidden_states
        ours = pool_all(hidden, inputs["attention_mask"], first_layer=first_layer, poolings=[pooling])[pooling]
        theirs = stock(features)["sentence_embedding"]
    assert 0 in inputs["attention_mask"]  # otherwise no side was tested
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)


def test_pooling_replaces_the_models_own_and_keeps_its_prompts(minilm):
    built = with_pooling(load_checkpoint(str(minilm), device="cpu"), "max")
    assert [type(module).__name__ for module in built] == ["Transformer", "Pooling", "Normalize"]
    assert built[1].pooling_mode == "max"
    assert built.max_seq_length == 256  # of sentence_bert_config.json, not BERT's 512
    assert built.dtype == torch.float32


def test_a_pooling_of_more_layers_than_a_model_has_is_refused(make_untrained):
    shallow = load_checkpoint(str(make_untrained(num_hidden_layers=3)), device="cpu")
    with pytest.raises(InputError, match=r"needs 4 transformer layers.*has 3.*cls, mean, max, first_last"):
        with_pooling(shallow, "last_four")
    with pytest.raises(InputError, match="needs 4 transformer layers"):
        PooledEncoder(shallow).encode(["göz"])
    with_pooling(shallow, "first_last")
