import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from turkic_idiom_tasks.encoders.embeddings import EmbeddingStore, store_key
from turkic_idiom_tasks.encoders.pooled import PooledEncoder
from turkic_idiom_tasks.encoders.poolings import POOLINGS

BATCH = 4
SCRIPT = """
import json, sys, time
from pathlib import Path
from turkic_idiom_tasks.encoders.pooled import PooledEncoder

class Slow(PooledEncoder):
    def pool(self, inputs, poolings):
        time.sleep(0.2)  # so that the parent can kill it in the middle
        return super().pool(inputs, poolings)

model, directory, texts = sys.argv[1:]
texts = json.loads(texts)
encoder = Slow.load(model, device="cpu")
store = encoder.store_for(Path(directory), texts, batch_size=4)
store._seconds_per_chunk = 0.0  # a chunk after every batch
encoder.encode(texts, batch_size=4, store=store)
"""


def open_store(encoder, directory, texts):
    found = encoder.store_for(directory, texts, batch_size=BATCH)
    return EmbeddingStore(found.directory, found.key, seconds_per_chunk=0.0)


@pytest.fixture
def encoder(untrained_bert):
    return PooledEncoder.load(str(untrained_bert), device="cpu")


def test_a_killed_run_continues(encoder, untrained_bert, texts, tmp_path):
    import json

    whole = encoder.encode(texts, batch_size=BATCH)
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(untrained_bert), str(tmp_path), json.dumps(texts)])
    deadline = time.monotonic() + 120
    while len(list(tmp_path.glob("*.npz"))) < 3 and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    chunks = len(list(tmp_path.glob("*.npz")))
    n_distinct = len(set(texts))
    assert 3 <= chunks < n_distinct / BATCH

    encoder.n_texts_forwarded = 0
    store = open_store(encoder, tmp_path, texts)
    resumed = encoder.encode(texts, batch_size=BATCH, store=store)
    assert encoder.n_texts_forwarded == n_distinct - chunks * BATCH
    for pooling in POOLINGS:
        np.testing.assert_array_equal(resumed[pooling], whole[pooling])
    store.discard()
    for path in tmp_path.glob(".*"):  # at most the temporary file of the write that was killed
        path.unlink()
    assert not tmp_path.exists() or not list(tmp_path.iterdir())


def test_a_finished_run_forwards_nothing(encoder, texts, tmp_path):
    first = encoder.encode(texts, batch_size=BATCH, store=open_store(encoder, tmp_path, texts))
    encoder.n_texts_forwarded = 0
    again = encoder.encode(texts, batch_size=BATCH, store=open_store(encoder, tmp_path, texts))
    assert encoder.n_texts_forwarded == 0
    for pooling in POOLINGS:
        np.testing.assert_array_equal(first[pooling], again[pooling])


@pytest.mark.parametrize("damage", ["cut", "flipped", "foreign", "empty"])
def test_a_damaged_chunk_is_computed_again(encoder, texts, tmp_path, damage):
    whole = encoder.encode(texts, batch_size=BATCH, store=open_store(encoder, tmp_path, texts))
    second = sorted(tmp_path.glob("*.npz"))[1]
    data = bytearray(second.read_bytes())
    if damage == "cut":
        data = data[: len(data) // 2]
    elif damage == "flipped":
        data[len(data) // 2] ^= 0xFF
    elif damage == "foreign":
        with np.load(second) as file:
            np.savez(second, **{**dict(file), "key": np.array("0" * 64)})
        data = second.read_bytes()
    else:
        data = b""
    second.write_bytes(bytes(data))
    encoder.n_texts_forwarded = 0
    again = encoder.encode(texts, batch_size=BATCH, store=open_store(encoder, tmp_path, texts))
    assert encoder.n_texts_forwarded == len(set(texts)) - BATCH  # the chunk before the damaged one is kept
    for pooling in POOLINGS:
        np.testing.assert_array_equal(whole[pooling], again[pooling])


def test_the_key_changes_with_everything_that_changes_a_vector():
    base = {"model": "m", "revision": None, "backend": "torch", "dtype": "float32", "max_length": 64, "first_layer": 1}
    options = {"poolings": ["cls", "mean"], "batch_size": 32}
    keys = [store_key(base, ["a", "b"], **options)]
    keys += [store_key(base | {field: "other"}, ["a", "b"], **options) for field in base]
    keys += [
        store_key(base, ["b", "a"], **options),
        store_key(base, ["ab"], **options),
        store_key(base, ["a", "b"], poolings=["cls"], batch_size=32),
        store_key(base, ["a", "b"], poolings=["cls", "mean"], batch_size=8),
    ]
    assert len(set(keys)) == len(keys)
    assert store_key(base, ["a", "b"], poolings=["mean", "cls"], batch_size=32) == keys[0]


def test_discard_leaves_other_work_alone(encoder, texts, tmp_path):
    mine, other = open_store(encoder, tmp_path, texts), open_store(encoder, tmp_path, texts[:8])
    encoder.encode(texts, batch_size=BATCH, store=mine)
    encoder.encode(texts[:8], batch_size=BATCH, store=other)
    mine.discard()
    assert len(list(tmp_path.glob("*.npz"))) == 2  # eight texts in batches of four
    other.discard()
    assert not tmp_path.exists()
