import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.encoders.untrained_models import WORDS
from turkic_idiom_tasks.encoders.checkpoints import load_checkpoint
from turkic_idiom_tasks.encoders.pooled import PooledEncoder, TextVectors
from turkic_idiom_tasks.encoders.poolings import POOLINGS, with_pooling
from turkic_idiom_tasks.errors import InputError


@pytest.fixture(scope="module")
def encoder(untrained_bert):
    return PooledEncoder(load_checkpoint(str(untrained_bert), device="cpu"))


@pytest.mark.parametrize("kind", ["bert", "xlm-roberta", "distilbert"])
def test_one_pass_equals_five_stock_models(make_untrained, texts, kind):
    folder = str(make_untrained(kind))
    found = PooledEncoder(load_checkpoint(folder, device="cpu")).encode(texts)
    for pooling in POOLINGS:
        stock = with_pooling(load_checkpoint(folder, device="cpu"), pooling).encode(texts)
        np.testing.assert_allclose(found[pooling], stock, atol=1e-5)


def test_equal_texts_are_encoded_once_and_order_is_kept(untrained_bert, texts):
    encoder = PooledEncoder(load_checkpoint(str(untrained_bert), device="cpu"))
    vectors = TextVectors(encoder, POOLINGS, batch_size=7)
    for added in (texts[:25], texts):  # what stands in both is not encoded again
        vectors.add(added)
    assert encoder.n_texts_forwarded == len(set(texts)) < len(texts)
    assert encoder.seconds > 0
    assert encoder.device_name.endswith(f", {torch.get_num_threads()} threads")
    backwards = encoder.encode(texts[::-1], batch_size=7)
    for pooling in POOLINGS:
        found = vectors.of(pooling, texts)
        assert (found.dtype, found.shape) == (np.float32, (len(texts), 32))
        np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
        np.testing.assert_allclose(found, backwards[pooling][::-1], atol=1e-6)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=2, max_size=6))
def test_a_vector_never_depends_on_its_batch(encoder, texts):
    together = encoder.encode(texts)
    for index, text in enumerate(texts):
        for pooling, vectors in encoder.encode([text]).items():
            np.testing.assert_allclose(together[pooling][index], vectors[0], atol=1e-5)


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_decoder_without_padding_token(make_untrained, texts, side):
    folder = make_untrained("gpt2", tokenizer={"pad_token": None, "eos_token": "[SEP]", "padding_side": side})
    encoder = PooledEncoder(load_checkpoint(str(folder), device="cpu"))
    together = encoder.encode(texts)
    for pooling, vectors in encoder.encode(texts[:1]).items():
        np.testing.assert_allclose(together[pooling][0], vectors[0], atol=1e-5)
    with pytest.raises(InputError, match="neither a padding nor an end token"):
        load_checkpoint(str(make_untrained("gpt2", tokenizer={"pad_token": None})), device="cpu")


def test_long_texts_are_cut_at_the_models_limit(encoder):
    assert encoder.max_length == 64
    head = ["göz " * 62 + "dil", "göz " * 62 + "su"]  # [CLS], 62 words and [SEP] are 64 tokens: the last word is cut
    found = encoder.encode(head, poolings=["mean"])["mean"]
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)


def test_a_model_is_loaded_in_the_dtype_asked_for_and_gives_float32(untrained_bert):
    encoder = PooledEncoder(load_checkpoint(str(untrained_bert), device="cpu", dtype="bfloat16"))
    assert next(encoder.model.parameters()).dtype == torch.bfloat16
    assert encoder.encode(["göz"], poolings=["mean"])["mean"].dtype == np.float32
