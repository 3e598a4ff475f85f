"""Vectors on disk while they are being computed, so that an interrupted run continues where it stopped."""

from __future__ import annotations

import hashlib
import io
import json
import time
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from turkic_idiom_tasks.files import write_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

SECONDS_PER_CHUNK = 30.0
_FORMAT = 1


def store_key(description: Mapping[str, Any], texts: Sequence[str], *, poolings: Sequence[str], batch_size: int) -> str:
    """A name for exactly this work: the same only if model, settings, poolings, batches and texts are.

    Args:
        description: `PooledEncoder.describe`.
        texts: the distinct texts, in order.
        poolings: in any order.
        batch_size: decides which texts are padded together, and so the last bits of the vectors.

    Returns:
        64 hexadecimal digits (sha256).
    """
    import torch
    import transformers

    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    work = [_FORMAT, dict(description), sorted(set(poolings)), batch_size, versions, list(texts)]
    return hashlib.sha256(
        json.dumps(work, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
    ).hexdigest()


class EmbeddingStore:
    """The finished part of one `encode`, in chunks of about half a minute of work each.

    Chunks follow one another in the order in which texts are encoded. A file that is cut short, altered or of other
    work counts as missing, with everything after it. The texts themselves are not stored.

    Attributes:
        directory: where the files are; may hold files of other keys.
        key: from `store_key`.
    """

    def __init__(self, directory: Path, key: str, *, seconds_per_chunk: float = SECONDS_PER_CHUNK) -> None:
        self.directory = directory
        self.key = key
        self._seconds_per_chunk = seconds_per_chunk
        self._n_saved = 0
        self._pending: list[np.ndarray] = []
        self._last_save = time.monotonic()

    def load(self, vectors: dict[str, np.ndarray]) -> int:
        """Fills in the finished rows and says how many there are.

        Args:
            vectors: pooling -> (N, H) float32, changed in place.

        Returns:
            How many texts, in the order of encoding, need not be encoded again.
        """
        self._n_saved = 0
        self._pending = []
        self._last_save = time.monotonic()
        while chunk := self._read(self._path(self._n_saved), vectors):
            rows, found = chunk
            for pooling, part in found.items():
                vectors[pooling][rows] = part
            self._n_saved += len(rows)
        return self._n_saved

    def is_begun(self) -> bool:
        """Whether an earlier run left its first chunk."""
        return self._path(0).is_file()

    def add(self, rows: np.ndarray, vectors: dict[str, np.ndarray]) -> None:
        """Takes note of a finished batch, and writes a chunk when it is time.

        Work that takes less than a chunk's time is never written: it is done again as fast as it is read.

        Args:
            rows: of `vectors`, (B,).
            vectors: pooling -> (N, H) float32.

        Raises:
            InputError: the folder cannot be written to.
        """
        self._pending.append(rows)
        if time.monotonic() - self._last_save < self._seconds_per_chunk:
            return
        chunk = np.concatenate(self._pending)
        buffer = io.BytesIO()
        parts = {f"vectors_{pooling}": found[chunk] for pooling, found in vectors.items()}
        np.savez(buffer, key=np.array(self.key), rows=chunk, **parts)  # type: ignore[arg-type]
        write_bytes(self._path(self._n_saved), buffer.getvalue())
        self._n_saved += len(chunk)
        self._pending = []
        self._last_save = time.monotonic()

    def discard(self) -> None:
        """Removes the files of this key, and the directory if that leaves it empty."""
        for pattern in (f"{self.key[:32]}-*.npz", f".{self.key[:32]}-*.npz.*"):  # the latter: of a killed write
            for path in self.directory.glob(pattern):
                path.unlink(missing_ok=True)
        try:
            self.directory.rmdir()
        except OSError:  # other work is kept there, or it never existed
            return

    def _path(self, start: int) -> Path:
        return self.directory / f"{self.key[:32]}-{start:09d}.npz"

    def _read(self, path: Path, vectors: dict[str, np.ndarray]) -> tuple[np.ndarray, dict[str, np.ndarray]] | None:
        """The rows and vectors of a chunk; None unless it is whole and belongs here."""
        try:
            with np.load(path, allow_pickle=False) as file:
                if str(file["key"]) != self.key:
                    return None
                rows = file["rows"]
                found = {pooling: file[f"vectors_{pooling}"] for pooling in vectors}
        except (OSError, ValueError, KeyError, EOFError, RuntimeError, zipfile.BadZipFile):
            return None  # RuntimeError: a damaged header says encrypted, or compressed in an unknown way
        fits = all(
            part.dtype == np.float32
            and part.shape == (len(rows), vectors[pooling].shape[1])
            and np.isfinite(part).all()
            for pooling, part in found.items()
        )
        in_range = rows.ndim == 1 and len(rows) and rows.min() >= 0 and rows.max() < len(next(iter(vectors.values())))
        return (rows, found) if fits and in_range else None
