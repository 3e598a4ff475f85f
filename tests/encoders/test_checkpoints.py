import shutil
import sys

import pytest

from turkic_idiom_tasks.encoders.checkpoints import hub_commit, load_checkpoint
from turkic_idiom_tasks.encoders.folders import folder_revision
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io import hub_client


@pytest.fixture
def own_copy(untrained_bert, tmp_path):
    """A copy of the untrained model that a test may change."""
    return shutil.copytree(untrained_bert, tmp_path / "copy")


@pytest.fixture
def with_dense(untrained_bert, tmp_path):
    """A model with a Dense layer behind its pooling, as safetensors."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Pooling

    transformer = load_checkpoint(str(untrained_bert), device="cpu")[0]
    model = SentenceTransformer(modules=[transformer, Pooling(32, "mean"), Dense(32, 8)], device="cpu")
    model.save_pretrained(str(tmp_path / "dense"))
    return tmp_path / "dense"


def as_pickle(folder):
    """Save the weights of a module as the older layout does."""
    import torch
    from safetensors.torch import load_file

    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


@pytest.mark.parametrize(
    "name", ["model.safetensors", "config.json", "tokenizer.json", "2_Dense/config.json", "2_Dense/pytorch_model.bin"]
)
def test_one_changed_byte_of_what_may_be_loaded_is_another_revision(own_copy, tmp_path, name):
    (own_copy / "2_Dense").mkdir()
    for file in ("config.json", "pytorch_model.bin"):
        (own_copy / "2_Dense" / file).write_bytes(b"0123")
    before = folder_revision(own_copy)
    assert folder_revision(shutil.copytree(own_copy, tmp_path / "again")) == before
    data = bytearray((own_copy / name).read_bytes())
    data[-1] ^= 1
    (own_copy / name).write_bytes(data)
    assert folder_revision(own_copy) != before


def test_what_is_never_loaded_is_no_part_of_the_revision_and_a_name_is(own_copy):
    before = folder_revision(own_copy)
    for name in ("README.md", ".gitattributes", ".cache/x.json", "model.onnx"):
        (own_copy / name).parent.mkdir(exist_ok=True)
        (own_copy / name).write_text("changed")
    assert folder_revision(own_copy) == before
    (own_copy / "tokenizer_config.json").rename(own_copy / "other.json")
    assert folder_revision(own_copy) != before


def test_pickled_weights_and_modules_outside_the_folder_are_refused(with_dense, own_copy):
    assert load_checkpoint(str(with_dense), device="cpu").get_embedding_dimension() == 8
    as_pickle(with_dense / "2_Dense")
    with pytest.raises(InputError, match=r"the weights of 2_Dense are a pickle .*save it again with save_pretrained"):
        load_checkpoint(str(with_dense), device="cpu")
    as_pickle(own_copy)
    with pytest.raises(InputError, match=r"has no weights in safetensors format.*save it again") as caught:
        load_checkpoint(str(own_copy), device="cpu")
    assert "\n" not in str(caught.value)
    modules = (with_dense / "modules.json").read_text()
    (with_dense / "modules.json").write_text(modules.replace('"2_Dense"', '"../elsewhere"'))
    with pytest.raises(InputError, match="cannot be loaded as a model"):
        load_checkpoint(str(with_dense), device="cpu")


@pytest.mark.skipif(sys.platform == "win32", reason="~ is not HOME there")
def test_a_folder_below_home(own_copy, monkeypatch):
    monkeypatch.setenv("HOME", str(own_copy.parent))
    assert load_checkpoint(f"~/{own_copy.name}", device="cpu").get_embedding_dimension() == 32


def test_the_commit_of_a_model_comes_from_the_cache_of_the_client(tmp_path, monkeypatch):
    from huggingface_hub import constants

    commit = "0123456789" * 4
    cached = tmp_path / "models--me--mine"
    (cached / "snapshots" / commit).mkdir(parents=True)
    (cached / "snapshots" / commit / "config.json").write_text("{}")
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text(commit)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(hub_client, "is_reachable", lambda: False)
    assert hub_commit("me/mine") == commit
    assert hub_commit("me/mine", "f" * 40) == "f" * 40
    assert hub_commit("me/unknown") is None
