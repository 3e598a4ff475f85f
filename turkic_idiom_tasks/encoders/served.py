"""Vectors from a server that speaks OpenAI's protocol of embeddings: OpenAI itself, vLLM, TEI, Ollama and others."""

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from turkic_idiom_tasks.errors import InputError, check_key
from turkic_idiom_tasks.io.reading import first_line

KEY_VARIABLE = "OPENAI_API_KEY"
CACHE_FILE = "embeddings.sqlite"  # in the folder of results
_RETRIES = 6  # of a request that meets a rate limit, a server error or a cut connection, each after a longer pause
_TABLE = "CREATE TABLE IF NOT EXISTS vectors (url, model, text, vector, PRIMARY KEY (url, model, text))"


class EmbeddingsClient:
    """A model on a server; every vector is kept in a cache, so that no text is paid for twice."""

    def __init__(self, model: str, base_url: str, *, cache: Path) -> None:
        check_key(KEY_VARIABLE)
        self._place = (base_url, model)
        self.dimensions = 0
        try:
            from openai import OpenAI  # late: an optional package

            key = os.environ.get(KEY_VARIABLE, "").strip() or "none"  # many servers of one's own ask for no key
            self._client = OpenAI(base_url=base_url, api_key=key, max_retries=_RETRIES, timeout=120.0)
            self._cache = sqlite3.connect(cache, timeout=120.0)
            self._cache.execute(_TABLE)
        except ModuleNotFoundError as error:
            raise InputError(f"{base_url}: needs pip install 'turkic-idiom-tasks[openai]'") from error
        except Exception as error:  # whatever an address that is none, or a damaged cache, raises
            raise InputError(f"--base-url {base_url}, with the cache {cache}: {error}") from error
        self.dimensions = self._ask(["deyim"]).shape[1]  # of any text

    def embed(self, texts: Sequence[str], *, batch_size: int) -> npt.NDArray[np.float32]:
        """Return (N, D) float32, the vectors of texts; those that are not in the cache are asked for in batches."""
        vectors: dict[str, npt.NDArray[np.float32]] = {}
        query = "SELECT vector FROM vectors WHERE url = ? AND model = ? AND text = ?"
        for text in dict.fromkeys(texts):
            row = self._cache.execute(query, (*self._place, text)).fetchone()
            if row and len(row[0]) == 4 * self.dimensions:  # else the name stands for another model now
                vectors[text] = np.frombuffer(row[0], dtype=np.float32)
        missing = [text for text in dict.fromkeys(texts) if text not in vectors]
        for start in range(0, len(missing), batch_size):
            batch = missing[start : start + batch_size]
            vectors.update(zip(batch, self._ask(batch), strict=True))
            rows = [(*self._place, text, vectors[text].tobytes()) for text in batch]
            with self._cache:
                self._cache.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)
        return np.stack([vectors[text] for text in texts])

    def _ask(self, batch: list[str]) -> npt.NDArray[np.float32]:
        base_url, model = self._place
        try:
            # Floats, because the client would ask for base64, which some servers do not know
            response = self._client.embeddings.create(model=model, input=batch, encoding_format="float")
            rows = {row.index: row.embedding for row in response.data}  # a server may reorder them
            with np.errstate(over="ignore"):  # infinity is refused below
                vectors = np.array([rows[number] for number in range(len(batch))], dtype=np.float32)
        except Exception as error:  # whatever the client raises for a failure, or a response that does not fit
            raise InputError(f"{base_url}, model {model}: {first_line(error)}; check both, or run it again") from error
        expected = (len(batch), self.dimensions or vectors.shape[-1])
        if vectors.shape != expected or len(response.data) != len(batch) or not np.isfinite(vectors).all():
            raise InputError(
                f"{base_url}, model {model}: sent {len(response.data)} vectors of shape {vectors.shape[1:]} for "
                f"{len(batch)} texts, of which each needs {expected[1]} finite numbers; run it again"
            )
        return vectors
