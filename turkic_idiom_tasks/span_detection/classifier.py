"""A fine-tuned token classifier that tags sentences, whatever tokenizer it has and however long they are."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from turkic_idiom_tasks.encoders.checkpoints import (
    check_dtype,
    give_pad_token,
    is_local,
    load_error,
    local_path,
    quiet_loading,
)
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.orthography import lower
from turkic_idiom_tasks.span_detection.subwords import word_tags
from turkic_idiom_tasks.spans import BEGIN, INSIDE, LABELS, OUTSIDE

LONGEST = 512  # pieces in one window
OVERLAP = 64  # pieces that two windows of a long sentence share, at most a quarter of a window
_LABEL_OF = {"B": BEGIN, "I": INSIDE, "O": OUTSIDE}
_SINUSOIDAL_SHIFT = {"xlm-roberta", "roberta", "camembert", "xlm-roberta-xl"}  # their positions begin at 2


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a classifier says of one sentence.

    Attributes:
        tags: of the words; O for a word that no piece stands for.
        piece_tags: of the pieces, special tokens left out.
        owners: for each piece the position of its word.
    """

    tags: tuple[str, ...]
    piece_tags: tuple[str, ...]
    owners: tuple[int, ...]


class TokenClassifier:
    """A transformers token classifier with its tokenizer.

    Attributes:
        name: Hub id or folder, as it was asked for.
        model: the classifier, in evaluation mode.
        tokenizer: its fast tokenizer.
        max_length: pieces in one window, special tokens included.
    """

    def __init__(self, model: Any, tokenizer: Any, *, name: str, max_length: int | None = None) -> None:
        self.name = name
        self.model = model.eval()
        self.tokenizer = tokenizer
        tokenizer.padding_side = tokenizer.truncation_side = "right"  # what windows and positions count from
        give_pad_token(tokenizer)
        self.max_length = window_length(model.config, tokenizer, asked=max_length)
        self._tags = _tags_of_labels(model.config, name)

    @classmethod
    def load(
        cls,
        name_or_path: str,
        *,
        revision: str | None = None,
        device: str | None = None,
        dtype: str = "float32",
        max_length: int | None = None,
    ) -> TokenClassifier:
        """A classifier from a Hub id or a local folder.

        Args:
            name_or_path: Hub id or folder.
            revision: Hub commit; None is the newest.
            device: cpu, cuda, cuda:1; None takes the GPU if there is one.
            dtype: float32, bfloat16 or float16.
            max_length: pieces in one window; None is the model's own limit, at most 512.

        Raises:
            InputError: it cannot be found or loaded, has other labels than O, B-IDIOM and I-IDIOM, or a tokenizer
                that does not say which word a piece belongs to.
        """
        import torch
        from transformers import AutoModelForTokenClassification

        check_dtype(dtype)
        path = local_path(name_or_path)
        device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        tokenizer = load_tokenizer(name_or_path, revision=revision)
        try:
            with quiet_loading():
                model, report = AutoModelForTokenClassification.from_pretrained(
                    path,
                    revision=revision or "main",
                    dtype=getattr(torch, dtype),
                    use_safetensors=True,
                    trust_remote_code=False,
                    local_files_only=is_local(name_or_path),
                    output_loading_info=True,
                )
        except (
            Exception
        ) as error:  # the libraries below raise a dozen unrelated types for a bad name, folder or connection
            raise load_error(name_or_path, error) from error
        if report["missing_keys"]:
            raise InputError(
                f"{name_or_path}: has no weights for {', '.join(sorted(report['missing_keys'])[:3])}; it is not "
                "fine-tuned for tagging words: use turkic-idiom finetune span"
            )
        try:
            model = model.to(device)
        except (RuntimeError, AssertionError) as error:  # torch: no such device, or none of that kind here
            raise usage_error(f"device {device!r} cannot be used: {str(error).splitlines()[0]}") from error
        return cls(model, tokenizer, name=name_or_path, max_length=max_length)

    def predict(
        self,
        sentences: Sequence[Sequence[str]],
        languages: Sequence[str],
        *,
        batch_size: int = 32,
        progress: bool = True,
    ) -> list[Prediction]:
        """The tags of every sentence, in order.

        Args:
            sentences: the words of each.
            languages: code of each; decides how an uncased model's text is lower-cased.
            batch_size: sentences per forward pass; longest first.
            progress: draw a progress bar on stderr if that is a terminal.
        """
        from tqdm import tqdm

        longest_first = sorted(range(len(sentences)), key=lambda n: -sum(map(len, sentences[n])))
        found: dict[int, Prediction] = {}
        bar = tqdm(
            total=len(sentences), desc="tagging", unit="sentence", disable=not progress or not sys.stderr.isatty()
        )
        for start in range(0, len(sentences), batch_size):
            batch = longest_first[start : start + batch_size]
            part = self._predict_batch([sentences[n] for n in batch], [languages[n] for n in batch])
            found.update(zip(batch, part, strict=True))
            bar.update(len(batch))
        bar.close()
        return [found[n] for n in range(len(sentences))]

    def _predict_batch(self, sentences: list[Sequence[str]], languages: list[str]) -> Iterator[Prediction]:
        """Windows that overlap: of the pieces that two share, each has those nearer to its own middle."""
        import torch

        overlap = min(OVERLAP, self.max_length // 4)
        encoded = encode_words(self.tokenizer, sentences, languages, max_length=self.max_length, overlap=overlap)
        owner_of_row = encoded.pop("overflow_to_sample_mapping")
        padded = self.tokenizer.pad(dict(encoded), return_tensors="pt").to(self.model.device)
        with torch.inference_mode():
            labels = self.model(**padded).logits.argmax(-1).tolist() if padded["input_ids"].numel() else []
        step = self.max_length - self.tokenizer.num_special_tokens_to_add() - overlap
        pieces: list[dict[int, tuple[int, str]]] = [{} for _ in sentences]  # position -> word and tag
        for row, sentence in enumerate(owner_of_row):
            window = row - owner_of_row.index(sentence)
            words = [(column, word) for column, word in enumerate(encoded.word_ids(row)) if word is not None]
            for position, (column, word) in enumerate(words):
                if window == 0 or position >= overlap // 2:
                    pieces[sentence][window * step + position] = (word, self._tags[labels[row][column]])
        for words_of, found in zip(sentences, pieces, strict=True):
            owners = tuple(found[position][0] for position in sorted(found))
            tags = tuple(found[position][1] for position in sorted(found))
            yield Prediction(tuple(tag or OUTSIDE for tag in word_tags(tags, owners, len(words_of))), tags, owners)


def load_tokenizer(name_or_path: str, *, revision: str | None = None) -> Any:
    """A fast tokenizer that takes sentences as lists of words.

    Raises:
        InputError: it cannot be loaded, or does not say which word a piece belongs to.
    """
    from transformers import AutoTokenizer

    path = local_path(name_or_path)
    options: dict[str, Any] = {"revision": revision or "main", "trust_remote_code": False}
    options["local_files_only"] = is_local(name_or_path)
    try:
        tokenizer = AutoTokenizer.from_pretrained(path, **options)
        if getattr(tokenizer, "add_prefix_space", True) is False:  # byte-level BPE: a word begins with a space
            tokenizer = AutoTokenizer.from_pretrained(path, add_prefix_space=True, **options)
    except Exception as error:  # as above
        raise load_error(name_or_path, error) from error
    if not tokenizer.is_fast:
        raise InputError(
            f"{name_or_path}: its tokenizer ({type(tokenizer).__name__}) does not say which word a piece belongs to; "
            "span detection needs a model with a fast tokenizer (tokenizer.json)"
        )
    return tokenizer


def encode_words(
    tokenizer: Any,
    sentences: Sequence[Sequence[str]],
    languages: Sequence[str],
    *,
    max_length: int,
    overlap: int | None = None,
) -> Any:
    """The pieces of sentences that are cut into words already, without padding.

    A tokenizer that lower-cases knows nothing of dotted and dotless i; its words are lower-cased here, by language.

    Args:
        tokenizer: from `load_tokenizer`.
        sentences: the words of each.
        languages: code of each.
        max_length: pieces in a row, special tokens included.
        overlap: pieces that the rows of a longer sentence share; None cuts it off at `max_length`.
    """
    if _lowers(tokenizer):
        pairs = zip(sentences, languages, strict=True)
        sentences = [[lower(word, LANGUAGES[code]) for word in words] for words, code in pairs]
    windows = {} if overlap is None else {"stride": overlap, "return_overflowing_tokens": True}
    return tokenizer(
        [list(words) for words in sentences],
        is_split_into_words=True,
        truncation=True,
        max_length=max_length,
        verbose=False,
        **windows,
    )


def window_length(config: Any, tokenizer: Any, *, asked: int | None = None) -> int:
    """The pieces that fit into one forward pass: the least of what is asked for and what model and tokenizer can do.

    Raises:
        InputError: fewer than eight.
    """
    positions = getattr(config, "max_position_embeddings", None)
    if positions and config.model_type in _SINUSOIDAL_SHIFT:
        positions -= 2
    limits = (asked, positions, tokenizer.model_max_length, LONGEST)
    length = min(limit for limit in limits if limit is not None)
    if length < 8:
        raise InputError(f"max_length is {length}; a window needs at least eight pieces")
    return int(length)


def _lowers(tokenizer: Any) -> bool:
    normalizer = tokenizer.backend_tokenizer.normalizer
    return normalizer is not None and normalizer.normalize_str("A") == "a"


def _tags_of_labels(config: Any, name: str) -> list[str]:
    """The tag that each output of the model stands for; B, b-idiom and the like are taken for B-IDIOM."""
    labels = [str(config.id2label[number]) for number in range(config.num_labels)]
    tags = [_LABEL_OF.get(label.upper().removesuffix("-IDIOM"), "") for label in labels]
    if sorted(tags) != sorted(LABELS):
        raise InputError(
            f"{name}: its labels are {', '.join(labels)}; span detection needs {', '.join(LABELS)}: fine-tune it with "
            "turkic-idiom finetune span, or correct id2label in its config.json"
        )
    return tags
