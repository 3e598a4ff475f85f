"""A transformer that encodes distinct texts once, sorted by length, with every pooling from one forward pass."""

from __future__ import annotations

import inspect
import platform
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor

from turkic_idiom_tasks.encoders.checkpoints import backbone_of, give_pad_token, load_checkpoint
from turkic_idiom_tasks.encoders.idiom_transformer import IdiomTokenTransformer
from turkic_idiom_tasks.encoders.names import BATCH_SIZE, FIRST_LAYER, LAYER_POOLINGS, POOLINGS, check_layers
from turkic_idiom_tasks.encoders.poolings import count_layers, pool_all, text_config
from turkic_idiom_tasks.encoders.tokenizer import window_length
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import display

_LEAST = 3  # sub-words for which a text needs room: one, and the special ones around it

_CPUINFO = Path("/proc/cpuinfo")  # the only place where Linux names the processor

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Tokens:
    """Tokens of the distinct texts.

    Attributes:
        ids: token ids of each text.
        types: token type ids of each text; None if the model takes none.
    """

    ids: list[list[int]]
    types: list[list[int]] | None


class PooledEncoder:
    """A transformers backbone with its tokenizer.

    Batches are always padded on the right, whatever side the tokenizer prefers. All five poolings use the attention
    mask, and padding on the right changes no position, so a vector never depends on the other texts of its batch.

    Attributes:
        model_id: name or path, for messages.
        dtype: dtype of the weights and the forward pass: float32, bfloat16 or float16. Vectors are always float32.
        max_length: longer texts are cut to this many tokens.
        first_layer: index of the hidden states that first_last takes as the first layer.
        model: the transformers backbone.
        n_texts_forwarded: texts that went through the model so far.
        seconds: how long that took so far, with tokens and copies from the device.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        model_id: str,
        max_length: int | None = None,
        first_layer: int = FIRST_LAYER,
        rewrite: Callable[[Sequence[str]], list[str]] | None = None,
    ) -> None:
        self.model_id = model_id
        self.dtype = str(model.dtype).removeprefix("torch.")
        self.first_layer = first_layer
        self.max_length = window_length(model.config, tokenizer, max_length=max_length, least=_LEAST)
        self.n_texts_forwarded = 0
        self.seconds = 0.0
        self.model = model.eval()
        self._tokenizer = tokenizer
        self._rewrite = rewrite  # puts idiom tokens into texts, if the model has any
        self._n_layers = count_layers(model)
        self._inputs = set(tokenizer.model_input_names) & set(inspect.signature(model.forward).parameters)

    @classmethod
    def load(
        cls,
        name_or_path: str,
        revision: str | None = None,
        *,
        device: str | None = None,
        dtype: str = "float32",
        max_length: int | None = None,
        first_layer: int = FIRST_LAYER,
    ) -> PooledEncoder:
        """Load an encoder from a Hub id or a local folder (sentence-transformers model or plain transformers encoder).

        Args:
            name_or_path: Hub id or folder.
            revision: Hub commit; None is the newest.
            device: device of torch; None lets sentence-transformers choose.
            dtype: float32, bfloat16 or float16.
            max_length: longest text in tokens; None is the model's own limit, at most 512.
            first_layer: index of the hidden states that counts as the first layer.

        Raises:
            InputError: there is no such model, or it cannot be loaded or pooled.
        """
        model = load_checkpoint(name_or_path, revision=revision, device=device, dtype=dtype)
        return cls.from_sentence_transformer(
            model, model_id=name_or_path, max_length=max_length, first_layer=first_layer
        )

    @classmethod
    def from_sentence_transformer(
        cls,
        model: SentenceTransformer,
        *,
        model_id: str | None = None,
        max_length: int | None = None,
        first_layer: int = FIRST_LAYER,
    ) -> PooledEncoder:
        """Return an encoder that shares weights, dtype, device and tokenizer with a loaded model.

        Args:
            model: a model that begins with a stock ``Transformer`` module.
            model_id: name for messages; None takes the path of the weights.
            max_length: longest text in tokens; None is the model's own limit, at most 512.
            first_layer: index of the hidden states that counts as the first layer.

        Raises:
            InputError: the model does not begin with a transformer, or its tokenizer cannot pad.
        """
        transformer = backbone_of(model)
        give_pad_token(transformer.tokenizer)
        rewrite = None
        if isinstance(transformer, IdiomTokenTransformer):
            rewrite = partial(transformer.rewrite, prompts=tuple(model.prompts.values()))
        return cls(
            transformer.model,
            transformer.tokenizer,
            model_id=model_id or str(transformer.model.name_or_path),
            max_length=max_length,
            first_layer=first_layer,
            rewrite=rewrite,
        )

    @property
    def dimension(self) -> int:
        """Return the length H of a vector."""
        return int(text_config(self.model).hidden_size)

    @property
    def device_name(self) -> str:
        """Return the name of the accelerator, or of the processor with the number of threads that torch uses."""
        device = self.model.device
        if device.type == "cuda":
            return str(torch.cuda.get_device_name(device))
        if device.type == "cpu":
            return f"{_processor_name()}, {torch.get_num_threads()} threads"
        return str(device.type)

    def encode(
        self,
        texts: Sequence[str],
        *,
        poolings: Sequence[str] = POOLINGS,
        batch_size: int = BATCH_SIZE,
        progress: Callable[[int, int], None] | None = None,
    ) -> dict[str, Vectors]:
        """Return the vectors of the texts under each pooling; prompts must be in the texts already.

        Args:
            texts: N texts; equal ones are encoded once.
            poolings: names from `POOLINGS`; all come from the same forward pass.
            batch_size: texts per forward pass.
            progress: called after each batch with the number of distinct texts that are done, and of all.

        Returns:
            pooling -> (N, H) float32, each row of length 1.

        Raises:
            InputError: a pooling is unknown or needs more layers than the model has, or a vector is not finite.
        """
        poolings = tuple(dict.fromkeys(poolings))
        for pooling in poolings:
            check_layers(pooling, self._n_layers, first_layer=self.first_layer)
        row_of_text: dict[str, int] = {}
        for text in texts:
            row_of_text.setdefault(text, len(row_of_text))
        distinct = list(row_of_text)
        start = time.perf_counter()
        vectors = self._encode_distinct(distinct, poolings, batch_size=batch_size, progress=progress)
        self.seconds += time.perf_counter() - start
        self._check_finite(distinct, vectors)
        rows = np.array([row_of_text[text] for text in texts], dtype=np.int64)
        return {pooling: distinct_vectors[rows] for pooling, distinct_vectors in vectors.items()}

    def pool(self, inputs: dict[str, Tensor], poolings: Sequence[str]) -> dict[str, Tensor]:
        """Return the poolings of one forward pass of the backbone.

        Args:
            inputs: input_ids and attention_mask, (B, T) int64, and token_type_ids if the model takes them.
            poolings: names from `POOLINGS`.

        Returns:
            pooling -> (B, H) float32.
        """
        needs_layers = any(pooling in LAYER_POOLINGS for pooling in poolings)
        output = self.model(**inputs, output_hidden_states=needs_layers, return_dict=True)
        last = output.last_hidden_state
        hidden_states = (*output.hidden_states[:-1], last) if needs_layers else (last,)
        return pool_all(hidden_states, inputs["attention_mask"], first_layer=self.first_layer, poolings=poolings)

    def _encode_distinct(
        self,
        texts: list[str],
        poolings: Sequence[str],
        *,
        batch_size: int,
        progress: Callable[[int, int], None] | None,
    ) -> dict[str, Vectors]:
        tokens = self._tokenize(texts)
        longest_first = np.argsort([-len(ids) for ids in tokens.ids], kind="stable")
        vectors = {pooling: np.zeros((len(texts), self.dimension), np.float32) for pooling in poolings}
        for start in range(0, len(texts), batch_size):
            batch = longest_first[start : start + batch_size]
            inputs = self._batch_inputs(tokens, batch)
            with torch.inference_mode():
                tensors = {name: torch.from_numpy(array).to(self.model.device) for name, array in inputs.items()}
                for pooling, pooled in self.pool(tensors, poolings).items():
                    vectors[pooling][batch] = pooled.cpu().numpy()
            self.n_texts_forwarded += len(batch)
            if progress is not None:
                progress(start + len(batch), len(texts))
        return vectors

    def _check_finite(self, texts: list[str], vectors: dict[str, Vectors]) -> None:
        for pooling, rows in vectors.items():
            is_finite = np.isfinite(rows).all(axis=1)
            if not is_finite.all():
                text = texts[int(is_finite.argmin())]
                raise InputError(
                    f"{self.model_id}: the vector of the text {display(text)} under pooling {pooling} is not finite "
                    f"(NaN or infinity), in {self.dtype}; use --dtype float32, and check the weights of the model"
                )

    def _tokenize(self, texts: list[str]) -> _Tokens:
        if not texts:
            return _Tokens([], None)
        encoded = self._tokenizer(
            texts if self._rewrite is None else self._rewrite(texts),
            truncation=True,
            max_length=self.max_length,
            padding=False,
            return_attention_mask=False,
            verbose=False,
        )
        types = encoded.get("token_type_ids") if "token_type_ids" in self._inputs else None
        return _Tokens(encoded["input_ids"], types)

    def _batch_inputs(self, tokens: _Tokens, batch: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[np.int64]]:
        """Return the (B, T) int64 inputs of a batch of rows, padded on the right."""
        inputs = {"input_ids": _padded(tokens.ids, batch, fill=self._tokenizer.pad_token_id)}
        lengths = np.array([len(tokens.ids[row]) for row in batch])
        positions = np.arange(inputs["input_ids"].shape[1])
        inputs["attention_mask"] = (positions < lengths[:, None]).astype(np.int64)
        if tokens.types is not None:
            inputs["token_type_ids"] = _padded(tokens.types, batch, fill=self._tokenizer.pad_token_type_id)
        return inputs


@cache
def _processor_name() -> str:
    match = None
    if _CPUINFO.is_file():
        match = re.search(r"^model name\s*:(.+)$", _CPUINFO.read_text("utf-8", "replace"), re.MULTILINE)
    name = match[1] if match else platform.processor() or platform.machine()
    return " ".join(name.split())


def _padded(rows: list[list[int]], batch: npt.NDArray[np.int64], *, fill: int) -> npt.NDArray[np.int64]:
    """Return the rows of a batch as one (B, T) int64 array, padded on the right."""
    width = max(len(rows[row]) for row in batch)
    array = np.full((len(batch), width), fill, np.int64)
    for index, row in enumerate(batch):
        array[index, : len(rows[row])] = rows[row]
    return array
