import logging
import sys

import numpy as np
import pytest

from turkic_idiom_tasks.encoders.char_ngrams import encode_texts
from turkic_idiom_tasks.encoders.checkpoints import folder_revision, load_checkpoint
from turkic_idiom_tasks.encoders.poolings import build_sentence_transformer
from turkic_idiom_tasks.encoders.registry import MODELS_VARIABLE, local_models
from turkic_idiom_tasks.encoders.resolve import resolve_model
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES


def test_one_changed_weight_is_another_revision_and_a_copy_is_not(untrained, own_copy):
    assert folder_revision(own_copy) == folder_revision(untrained)
    weights = own_copy / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    assert folder_revision(own_copy) != folder_revision(untrained)


def test_a_cross_encoder_is_refused_rather_than_mean_pooled(untrained, tmp_path):
    from sentence_transformers import CrossEncoder

    CrossEncoder(str(untrained), num_labels=1, device="cpu").save_pretrained(str(tmp_path / "cross"))
    with pytest.raises(InputError, match="a CrossEncoder scores pairs and makes no vectors") as caught:
        resolve_model(str(tmp_path / "cross"))
    assert caught.value.exit_code == 2


@pytest.mark.skipif(sys.platform == "win32", reason="~ is not HOME there")
def test_a_folder_below_home(own_copy, monkeypatch):
    monkeypatch.setenv("HOME", str(own_copy.parent))
    assert load_checkpoint(f"~/{own_copy.name}", device="cpu").get_embedding_dimension() == 32


def test_saved_prompts_come_along_from_a_folder(untrained, tmp_path):
    import mteb

    model = build_sentence_transformer(str(untrained), "cls", device="cpu")
    model.prompts = {"query": "soru: ", "document": "metin: "}
    model.save_pretrained(str(tmp_path / "prompted"))
    loaded = resolve_model(f"{tmp_path / 'prompted'} (pooling=max)", device="cpu")
    task = mteb.get_task("TurkicIdiomT2").metadata
    assert (loaded.prompt(task, "query"), loaded.prompt(task, "document")) == ("soru: ", "metin: ")
    assert loaded.meta.name == "local/prompted"
    assert loaded.meta_for("max").name == "local/prompted (pooling=max)"


@pytest.mark.parametrize("name", ["org/", "/model", "/", "a/b/c", "model"])
def test_a_name_without_both_parts_is_left_out_with_a_warning(untrained, monkeypatch, caplog, name):
    monkeypatch.setenv(MODELS_VARIABLE, f"{name}={untrained};good/one={untrained}")
    with caplog.at_level(logging.WARNING):
        assert local_models() == {"good/one": untrained.resolve()}
    assert repr(f"{name}={untrained}") in caplog.text


def test_no_texts_are_no_vectors():
    vectors = encode_texts([], LANGUAGES["tr"])
    assert (vectors.shape, vectors.dtype) == ((0, 4096), np.float32)
