import numpy as np
import pytest

from turkic_idiom_tasks.encoders.embeddings import EmbeddingStore

KEY, OTHER = "a" * 64, "b" * 64
VECTORS = {"mean": np.arange(6, dtype=np.float32).reshape(3, 2)}


def saved(directory, key=KEY):
    store = EmbeddingStore(directory, key, seconds_per_chunk=0)
    store.add(np.array([2, 0, 1]), VECTORS)
    return next(directory.glob(f"{key[:32]}-*.npz"))


def load(directory):
    found = {"mean": np.zeros((3, 2), np.float32)}
    return EmbeddingStore(directory, KEY).load(found), found["mean"]


@pytest.mark.parametrize("flip", [0x01, 0x08, 0xFF])
def test_one_damaged_byte_never_crashes_and_never_gives_a_wrong_vector(tmp_path, flip):
    path = saved(tmp_path)
    whole = path.read_bytes()
    assert load(tmp_path)[0] == 3
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= flip
        path.write_bytes(damaged)
        done, vectors = load(tmp_path)
        assert done in (0, 3)  # a byte that nobody reads (a time stamp) may be wrong
        np.testing.assert_array_equal(vectors, VECTORS["mean"] if done else np.zeros((3, 2)))


def test_a_chunk_cut_anywhere_counts_as_missing(tmp_path):
    path = saved(tmp_path)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert load(tmp_path)[0] == 0


def test_discard_removes_the_temporary_file_of_a_killed_write_but_nothing_of_others(tmp_path):
    name = saved(tmp_path).name
    saved(tmp_path, OTHER)
    (tmp_path / f".{name}.x1y2").write_bytes(b"half")
    (tmp_path / f".{OTHER[:32]}-000000003.npz.z9").write_bytes(b"half")
    (tmp_path / "notes.txt").write_text("mine")
    EmbeddingStore(tmp_path, KEY).discard()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f".{OTHER[:32]}-000000003.npz.z9",
        f"{OTHER[:32]}-000000000.npz",
        "notes.txt",
    ]
