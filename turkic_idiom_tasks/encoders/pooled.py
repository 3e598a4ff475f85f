"""A transformer that encodes distinct texts once, length-sorted, with every pooling from one forward pass."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from turkic_idiom_tasks.encoders.embeddings import EmbeddingStore, store_key
from turkic_idiom_tasks.encoders.poolings import (
    FIRST_LAYER,
    LAYER_POOLINGS,
    POOLINGS,
    check_layers,
    count_layers,
    pool_all,
)
from turkic_idiom_tasks.errors import usage_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from sentence_transformers import SentenceTransformer
    from torch import Tensor

BACKENDS = ("torch", "openvino")
LONGEST = 512  # tokens; no text of these tasks comes near it
BATCH_SIZE = 32


@dataclass(frozen=True, slots=True)
class _Tokens:
    """The tokens of the distinct texts.

    Attributes:
        ids: token ids of each text.
        types: token type ids of each text; None where the model takes none.
    """

    ids: list[list[int]]
    types: list[list[int]] | None


class PooledEncoder:
    """A transformers backbone with its tokenizer.

    Batches are always padded on the right, whatever side the tokenizer prefers: all five poolings go by the attention
    mask, and on the right padding moves no position, so a vector never depends on the other texts of its batch.

    Attributes:
        model_id: name or path, as it was asked for.
        revision: Hub commit, if one was given.
        backend: torch or openvino.
        dtype: float32, bfloat16 or float16; of the weights and the forward pass. Vectors are float32 always.
        max_length: longer texts are cut to this many tokens.
        first_layer: index of the hidden states that first_last takes as the first layer.
        model: the transformers backbone.
        n_texts_forwarded: texts that went through the model so far, for progress reports and tests.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        model_id: str,
        revision: str | None = None,
        backend: str = "torch",
        max_length: int | None = None,
        first_layer: int = FIRST_LAYER,
    ) -> None:
        if backend not in BACKENDS:
            raise usage_error(f"unknown backend {backend!r}; known: {', '.join(BACKENDS)}")
        self.model_id = model_id
        self.revision = revision
        self.backend = backend
        self.dtype = str(model.dtype).removeprefix("torch.")
        self.first_layer = first_layer
        self.max_length = _max_length(tokenizer, model, asked=max_length)
        self.n_texts_forwarded = 0
        self._tokenizer = tokenizer
        self.model = model.eval()
        self._n_layers = count_layers(model)
        self._inputs = _input_names(tokenizer, model)
        self._compiled: dict[tuple[str, ...], Any] = {}
        if backend == "openvino":
            from turkic_idiom_tasks.encoders.openvino_backend import check_available

            check_available(self.dtype)

    @classmethod
    def load(
        cls,
        name_or_path: str,
        revision: str | None = None,
        *,
        backend: str = "torch",
        device: str | None = None,
        dtype: str = "float32",
        max_length: int | None = None,
        first_layer: int = FIRST_LAYER,
    ) -> PooledEncoder:
        """An encoder from a Hub id or a local folder (sentence-transformers model or plain transformers encoder).

        Args:
            name_or_path: Hub id or folder.
            revision: Hub commit; None is the newest.
            backend: torch or openvino.
            device: of torch; None lets sentence-transformers choose.
            dtype: float32, bfloat16 or float16.
            max_length: in tokens; None is the model's own limit, at most 512.
            first_layer: index of the hidden states that counts as the first layer.

        Raises:
            InputError: no such model, or it cannot be loaded or pooled.
        """
        from turkic_idiom_tasks.encoders.checkpoints import load_checkpoint

        model = load_checkpoint(
            name_or_path, revision=revision, device="cpu" if backend == "openvino" else device, dtype=dtype
        )
        return cls.from_sentence_transformer(
            model,
            backend=backend,
            model_id=name_or_path,
            revision=revision,
            max_length=max_length,
            first_layer=first_layer,
        )

    @classmethod
    def from_sentence_transformer(
        cls,
        model: SentenceTransformer,
        backend: str = "torch",
        *,
        model_id: str | None = None,
        revision: str | None = None,
        max_length: int | None = None,
        first_layer: int = FIRST_LAYER,
    ) -> PooledEncoder:
        """An encoder that shares weights, dtype, device and tokenizer with a loaded sentence-transformers model.

        Args:
            model: begins with a stock ``Transformer`` module.
            backend: torch or openvino.
            model_id: name for `describe` and the embedding store; None takes the path the weights came from.
            revision: Hub commit, for `describe`.
            max_length: in tokens; None is the model's own limit, at most 512.
            first_layer: index of the hidden states that counts as the first layer.

        Raises:
            InputError: the model does not begin with a transformer, or its tokenizer cannot pad.
        """
        from turkic_idiom_tasks.encoders.checkpoints import backbone_of, give_pad_token

        transformer = backbone_of(model)
        give_pad_token(transformer.tokenizer)
        return cls(
            transformer.model,
            transformer.tokenizer,
            model_id=model_id or str(transformer.model.name_or_path),
            revision=revision,
            backend=backend,
            max_length=max_length,
            first_layer=first_layer,
        )

    def describe(self) -> dict[str, Any]:
        """Everything that decides the vectors: model, revision, backend, dtype, max_length, first_layer."""
        return {
            "model": self.model_id,
            "revision": self.revision,
            "backend": self.backend,
            "dtype": self.dtype,
            "max_length": self.max_length,
            "first_layer": self.first_layer,
        }

    def store_for(
        self,
        directory: Path,
        texts: Sequence[str],
        *,
        poolings: Sequence[str] = POOLINGS,
        batch_size: int = BATCH_SIZE,
    ) -> EmbeddingStore:
        """The store in which an interrupted `encode` of exactly these texts continues.

        Args:
            directory: where its files go.
            texts: as they will be given to `encode`.
            poolings: as they will be given to `encode`.
            batch_size: as it will be given to `encode`.
        """
        distinct = list(dict.fromkeys(texts))
        return EmbeddingStore(directory, store_key(self.describe(), distinct, poolings=poolings, batch_size=batch_size))

    def encode(
        self,
        texts: Sequence[str],
        *,
        poolings: Sequence[str] = POOLINGS,
        batch_size: int = BATCH_SIZE,
        store: EmbeddingStore | None = None,
        progress: bool = True,
    ) -> dict[str, np.ndarray]:
        """The vectors of the texts under each pooling; a prompt must stand in the text already.

        Args:
            texts: N texts; equal ones are encoded once.
            poolings: names from `POOLINGS`; all come from the same forward pass.
            batch_size: texts per forward pass.
            store: from `store_for` with the same arguments; finished work is kept there and not done again.
            progress: draw a progress bar on stderr if that is a terminal.

        Returns:
            pooling -> (N, H) float32, each row of length 1.

        Raises:
            InputError: a pooling is unknown, or needs more layers than the model has.
        """
        poolings = tuple(dict.fromkeys(poolings))
        for pooling in poolings:
            check_layers(pooling, self._n_layers, first_layer=self.first_layer)
        rows: dict[str, int] = {}
        row_of_text = np.array([rows.setdefault(text, len(rows)) for text in texts], dtype=np.int64)
        vectors = self._encode_distinct(list(rows), poolings, batch_size=batch_size, store=store, progress=progress)
        return {pooling: found[row_of_text] for pooling, found in vectors.items()}

    def _encode_distinct(
        self,
        texts: list[str],
        poolings: tuple[str, ...],
        *,
        batch_size: int,
        store: EmbeddingStore | None,
        progress: bool,
    ) -> dict[str, np.ndarray]:
        from tqdm import tqdm

        tokens = self._tokenize(texts)
        longest_first = np.argsort([-len(ids) for ids in tokens.ids], kind="stable")
        vectors = {pooling: np.zeros((len(texts), self.dimension), np.float32) for pooling in poolings}
        done = store.load(vectors) if store is not None else 0
        bar = tqdm(
            total=len(texts),
            initial=done,
            desc=f"encoding ({self.backend}, {self.dtype})",
            unit="text",
            disable=not progress or not sys.stderr.isatty(),
        )
        batches = [longest_first[start : start + batch_size] for start in range(done, len(texts), batch_size)]
        inputs = (self._batch_inputs(tokens, batch) for batch in batches)
        for index, found in enumerate(self._forward(inputs, poolings)):
            for pooling, part in found.items():
                vectors[pooling][batches[index]] = part
            self.n_texts_forwarded += len(batches[index])
            bar.update(len(batches[index]))
            if store is not None:
                store.add(batches[index], vectors)
        bar.close()
        return vectors

    @property
    def dimension(self) -> int:
        """The length H of a vector."""
        config = (
            self.model.config.get_text_config() if hasattr(self.model.config, "get_text_config") else self.model.config
        )
        return int(config.hidden_size)

    def _tokenize(self, texts: list[str]) -> _Tokens:
        if not texts:
            return _Tokens([], None)
        encoded = self._tokenizer(
            texts,
            truncation=True,
            max_length=self.max_length,
            padding=False,
            return_attention_mask=False,
            verbose=False,
        )
        types = encoded.get("token_type_ids") if "token_type_ids" in self._inputs else None
        return _Tokens(encoded["input_ids"], types)

    def _batch_inputs(self, tokens: _Tokens, batch: np.ndarray) -> dict[str, np.ndarray]:
        """The (B, T) int64 inputs of a batch of rows, padded on the right."""
        inputs = {"input_ids": _padded(tokens.ids, batch, fill=self._tokenizer.pad_token_id)}
        lengths = np.array([len(tokens.ids[row]) for row in batch])
        inputs["attention_mask"] = (np.arange(inputs["input_ids"].shape[1]) < lengths[:, None]).astype(np.int64)
        if tokens.types is not None:
            inputs["token_type_ids"] = _padded(tokens.types, batch, fill=self._tokenizer.pad_token_type_id)
        return inputs

    def _forward(
        self, batches: Iterable[dict[str, np.ndarray]], poolings: tuple[str, ...]
    ) -> Iterator[dict[str, np.ndarray]]:
        if self.backend == "openvino":
            if poolings not in self._compiled:
                from turkic_idiom_tasks.encoders.openvino_backend import CompiledPooling

                names = ("input_ids", "attention_mask", "token_type_ids")
                present = tuple(name for name in names if name != "token_type_ids" or name in self._inputs)
                self._compiled[poolings] = CompiledPooling(self, input_names=present, poolings=poolings)
            yield from self._compiled[poolings].run(batches)
            return
        import torch

        for batch in batches:
            with torch.inference_mode():
                tensors = {name: torch.from_numpy(array).to(self.model.device) for name, array in batch.items()}
                pooled = self.pool(tensors, poolings)
                found = {pooling: vectors.cpu().numpy() for pooling, vectors in pooled.items()}
            yield found

    def pool(self, inputs: dict[str, Tensor], poolings: tuple[str, ...]) -> dict[str, Tensor]:
        """One forward pass of the backbone and the poolings, in torch; what the OpenVINO graph is made from.

        Args:
            inputs: input_ids and attention_mask, (B, T) int64, and token_type_ids where the model takes them.
            poolings: names from `POOLINGS`.

        Returns:
            pooling -> (B, H) float32.
        """
        needs_layers = any(pooling in LAYER_POOLINGS for pooling in poolings)
        output = self.model(**inputs, output_hidden_states=needs_layers, return_dict=True)
        last = output.last_hidden_state
        hidden_states = (*output.hidden_states[:-1], last) if needs_layers else (last,)
        return pool_all(hidden_states, inputs["attention_mask"], first_layer=self.first_layer, poolings=poolings)


def _padded(rows: list[list[int]], batch: np.ndarray, *, fill: int) -> np.ndarray:
    """The chosen rows as one (B, T) int64 array, filled up on the right."""
    width = max(len(rows[row]) for row in batch)
    array = np.full((len(batch), width), fill, np.int64)
    for index, row in enumerate(batch):
        array[index, : len(rows[row])] = rows[row]
    return array


def _input_names(tokenizer: Any, model: Any) -> set[str]:
    """What the tokenizer returns and the model's forward names as a parameter."""
    import inspect

    return set(tokenizer.model_input_names) & set(inspect.signature(model.forward).parameters)


def _max_length(tokenizer: Any, model: Any, *, asked: int | None) -> int:
    """The smallest of what was asked for, the tokenizer's and the model's limit, and `LONGEST`."""
    positions = getattr(model.config, "max_position_embeddings", None)
    limits = [asked, tokenizer.model_max_length, positions, LONGEST]
    length = min(limit for limit in limits if limit is not None and limit > 0)
    if length < 3:
        raise usage_error(f"max_length is {length}; a text needs room for at least three tokens")
    return int(length)
