"""A transformer that encodes texts sorted by length, each distinct one once, with every pooling from one pass."""

import inspect
import platform
import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from sentence_transformers import SentenceTransformer
from transformers.data.data_collator import pad_without_fast_tokenizer_warning

from turkic_idiom_tasks.encoders.checkpoints import backbone_of, give_pad_token
from turkic_idiom_tasks.encoders.names import BATCH_SIZE, FIRST_LAYER, LAYER_POOLINGS, POOLINGS
from turkic_idiom_tasks.encoders.poolings import pool_all
from turkic_idiom_tasks.encoders.tokenizer import window_length
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import display

_LEAST = 3  # sub-words for which a text needs room: one, and the special ones around it
_CPUINFO = Path("/proc/cpuinfo")  # the only place where Linux names the processor

Vectors = npt.NDArray[np.float32]


class PooledEncoder:
    """Transformers backbone of a sentence-transformers model, with its tokenizer."""

    def __init__(
        self, model: SentenceTransformer, *, model_id: str | None = None, first_layer: int = FIRST_LAYER
    ) -> None:
        """Share weights, dtype, device and tokenizer with a loaded model; its id is for messages."""
        transformer = backbone_of(model)
        give_pad_token(transformer.tokenizer)
        self.model = transformer.model.eval()
        self.model_id = model_id or str(self.model.name_or_path)
        self.dtype = str(self.model.dtype).removeprefix("torch.")  # of weights and forward pass; vectors are float32
        self.dimension = int(self.model.config.get_text_config().hidden_size)  # length H of a vector
        self.first_layer = first_layer
        self.max_length = window_length(self.model.config, transformer.tokenizer, least=_LEAST)  # longer texts are cut
        self.n_texts_forwarded = 0  # texts that went through the model so far
        self.seconds = 0.0  # how long that took, with tokens and copies from the device
        self._tokenizer = transformer.tokenizer
        self._rewrite: Callable[[list[str]], list[str]] = list
        if hasattr(transformer, "rewrite"):  # it puts tokens of idioms into texts
            self._rewrite = partial(transformer.rewrite, prompts=tuple(model.prompts.values()))
        # Some tokenizers give types of tokens that the model does not take; then stock code leaves them out too.
        accepted = inspect.signature(self.model.forward).parameters
        self._takes_types = "token_type_ids" in self._tokenizer.model_input_names and "token_type_ids" in accepted

    @property
    def device_name(self) -> str:
        """Return the name of the accelerator, or of the processor with the number of threads that torch uses."""
        device = self.model.device
        if device.type == "cuda":
            return str(torch.cuda.get_device_name(device))
        if device.type == "cpu":
            match = None
            if _CPUINFO.is_file():
                match = re.search(r"^model name\s*:(.+)$", _CPUINFO.read_text("utf-8", "replace"), re.MULTILINE)
            name = match[1] if match else platform.processor() or platform.machine()
            return f"{' '.join(name.split())}, {torch.get_num_threads()} threads"
        return str(device.type)

    def encode(
        self,
        texts: Sequence[str],
        *,
        poolings: Sequence[str] = POOLINGS,
        batch_size: int = BATCH_SIZE,
        progress: Callable[[int, int], None] | None = None,
    ) -> dict[str, Vectors]:
        """Return pooling -> (N, H) float32, each row of length 1, of N texts, which hold their prompts already.

        The progress is the number of texts that are done, and of all, after each batch.
        """
        vectors = {pooling: np.zeros((len(texts), self.dimension), np.float32) for pooling in poolings}
        if not texts:  # which tokenizers refuse
            return vectors
        begin = time.perf_counter()
        tokens = self._tokenizer(
            self._rewrite(list(texts)),
            truncation=True,
            max_length=self.max_length,
            padding=False,
            return_attention_mask=False,
            verbose=False,
        )
        names = ["input_ids"]
        if self._takes_types and "token_type_ids" in tokens:
            names.append("token_type_ids")
        # So a batch has little padding, and one that does not fit into the memory fails at the beginning.
        longest_first = np.argsort([-len(ids) for ids in tokens["input_ids"]], kind="stable")
        needs_layers = any(pooling in LAYER_POOLINGS for pooling in poolings)
        for start in range(0, len(texts), batch_size):
            batch = longest_first[start : start + batch_size]
            # On the right, whatever the tokenizer prefers: that changes no position, and the poolings use the mask, so
            # a vector never depends on the other texts of its batch.
            inputs = pad_without_fast_tokenizer_warning(
                self._tokenizer,
                {name: [tokens[name][row] for row in batch] for name in names},
                padding_side="right",
                return_attention_mask=True,
                return_tensors="pt",
            ).to(self.model.device)
            with torch.inference_mode():
                output = self.model(**inputs, output_hidden_states=needs_layers, return_dict=True)
                # The last of the hidden states may lack a final layer norm, which the last hidden state always has.
                last = output.last_hidden_state
                hidden_states = (*output.hidden_states[:-1], last) if needs_layers else (last,)
                mask = inputs["attention_mask"]
                pooled = pool_all(hidden_states, mask, first_layer=self.first_layer, poolings=poolings)
                for pooling, of_batch in pooled.items():
                    vectors[pooling][batch] = of_batch.cpu().numpy()
            self.n_texts_forwarded += len(batch)
            if progress is not None:
                progress(start + len(batch), len(texts))
        self.seconds += time.perf_counter() - begin
        for pooling, rows in vectors.items():
            is_finite = np.isfinite(rows).all(axis=1)
            if not is_finite.all():
                text = texts[int(is_finite.argmin())]
                raise InputError(
                    f"{self.model_id}: the vector of the text {display(text)} under pooling {pooling} is not finite "
                    f"(NaN or infinity), in {self.dtype}; use --set dtype=float32, and check the weights of the model"
                )
        return vectors


class TextVectors:
    """Vectors of every text so far, under each pooling; equal texts are encoded once."""

    def __init__(self, encoder: PooledEncoder, poolings: Sequence[str], *, batch_size: int = BATCH_SIZE) -> None:
        self.poolings = tuple(poolings)  # names from `POOLINGS`; all come from the same forward passes
        self._encoder = encoder
        self._batch_size = batch_size
        self._row_of_text: dict[str, int] = {}
        self._vectors = {pooling: np.zeros((0, encoder.dimension), np.float32) for pooling in poolings}

    def add(self, texts: Sequence[str], *, progress: Callable[[int, int], None] | None = None) -> None:
        """Encode the new texts, prompts included, in one call, so that batches hold texts of similar length."""
        new = [text for text in dict.fromkeys(texts) if text not in self._row_of_text]
        encoded = self._encoder.encode(new, poolings=self.poolings, batch_size=self._batch_size, progress=progress)
        for text in new:
            self._row_of_text[text] = len(self._row_of_text)
        for pooling, vectors in encoded.items():
            self._vectors[pooling] = np.concatenate([self._vectors[pooling], vectors])

    def of(self, pooling: str, texts: Sequence[str]) -> Vectors:
        """Return the (N, H) vectors, each of length 1, of texts that were added."""
        return self._vectors[pooling][[self._row_of_text[text] for text in texts]]
