"""A fine-tuned token classifier that tags sentences of any length with any fast tokenizer, and its scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AutoModelForTokenClassification

from turkic_idiom_tasks.dataset.sentences import TestSentences
from turkic_idiom_tasks.encoders.checkpoints import give_pad_token, load_pretrained
from turkic_idiom_tasks.encoders.names import check_dtype
from turkic_idiom_tasks.encoders.tokenizer import load_tokenizer, lowers_case, window_length
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.progress import track
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N
from turkic_idiom_tasks.metrics.spans import micro_scores, span_f1_interval, token_accuracy, token_counts, word_scores
from turkic_idiom_tasks.orthography import lower
from turkic_idiom_tasks.results.predictions import Tags
from turkic_idiom_tasks.spans import LABELS, OUTSIDE, TAG_LETTERS
from turkic_idiom_tasks.tasks.spans.subwords import project_tags, word_tags

OVERLAP = 64  # sub-words that two windows of a long sentence share, at most a quarter of a window
BATCH_SIZE = 32  # sentences per forward pass


@dataclass(frozen=True, slots=True)
class Prediction:
    """Tags that a classifier gives to one sentence."""

    tags: tuple[str, ...]  # of the words; O for a word without a sub-word
    subword_tags: tuple[str, ...]  # of the sub-words without special tokens
    owners: tuple[int, ...]  # for each sub-word the position of its word


class TokenClassifier:
    """A transformers token classifier with its fast tokenizer."""

    def __init__(self, model: Any, tokenizer: Any, *, name: str, max_length: int | None = None) -> None:
        self.name = name  # Hub id or folder that the caller gave
        self.model = model.eval()
        self.tokenizer = tokenizer
        tokenizer.padding_side = tokenizer.truncation_side = "right"  # windows and positions count from the left
        give_pad_token(tokenizer)
        self.max_length = window_length(model.config, tokenizer, max_length=max_length)  # special tokens included
        labels = [str(model.config.id2label[number]) for number in range(model.config.num_labels)]
        # The tag that each output of the model stands for; B, b-idiom and the like stand for B-IDIOM
        self._tags = [TAG_LETTERS.get(label.upper().removesuffix("-IDIOM"), "") for label in labels]
        if sorted(self._tags) != sorted(LABELS):
            raise InputError(
                f"{name}: its labels are {', '.join(labels)}; span detection needs {', '.join(LABELS)}: fine-tune it "
                "with turkic-idiom finetune span, or correct id2label in its config.json"
            )

    @classmethod
    def load(
        cls,
        name_or_path: str,
        *,
        revision: str | None = None,
        device: str | None = None,
        dtype: str = "float32",
        max_length: int | None = None,
        trust_remote_code: bool = False,
    ) -> TokenClassifier:
        """Return a classifier from a Hub id or a local folder.

        The revision None is the newest commit; the device None takes the GPU if there is one. The dtype is float32,
        bfloat16 or float16. A window has `max_length` sub-words, by default the model's own limit, at most 512. Code
        that comes with the model is executed only if it is trusted. Labels other than O, B-IDIOM and I-IDIOM, and a
        tokenizer that does not say which word a sub-word belongs to, are an InputError.
        """
        check_dtype(dtype)
        tokenizer = load_tokenizer(name_or_path, revision=revision, trust_remote_code=trust_remote_code)
        model, report = load_pretrained(
            AutoModelForTokenClassification,
            name_or_path,
            revision=revision,
            trust_remote_code=trust_remote_code,
            dtype=getattr(torch, dtype),
            output_loading_info=True,
        )
        if report["missing_keys"]:  # which transformers fills at random, with a warning at most
            raise InputError(
                f"{name_or_path}: has no weights for {', '.join(sorted(report['missing_keys'])[:3])}; it is not "
                "fine-tuned for tagging words: use turkic-idiom finetune span"
            )
        device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        try:
            model = model.to(device)
        except (RuntimeError, AssertionError) as error:  # errors of torch for a device that does not exist
            raise usage_error(f"device {device!r} cannot be used: {str(error).splitlines()[0]}") from error
        return cls(model, tokenizer, name=name_or_path, max_length=max_length)

    def predict(
        self,
        sentences: Sequence[Sequence[str]],
        languages: Sequence[str],
        *,
        batch_size: int = BATCH_SIZE,
        progress: bool = True,
    ) -> list[Prediction]:
        """Return the tags of every sentence, in order; see `encode_words`."""
        # Sentences of a like length need little padding, and memory that is too small shows in the first batch
        longest_first = sorted(range(len(sentences)), key=lambda number: -sum(map(len, sentences[number])))
        predictions: dict[int, Prediction] = {}
        batches = [longest_first[start : start + batch_size] for start in range(0, len(sentences), batch_size)]
        for numbers in track(batches, "tagging, batches") if progress else batches:
            batch = self._predict_batch(
                [sentences[number] for number in numbers], [languages[number] for number in numbers]
            )
            predictions.update(zip(numbers, batch, strict=True))
        return [predictions[number] for number in range(len(sentences))]

    def _predict_batch(self, sentences: list[Sequence[str]], languages: list[str]) -> list[Prediction]:
        overlap = min(OVERLAP, self.max_length // 4)
        encoded = encode_words(self.tokenizer, sentences, languages, max_length=self.max_length, overlap=overlap)
        sentence_of_row = encoded.pop("overflow_to_sample_mapping")
        padded = self.tokenizer.pad(dict(encoded), return_tensors="pt").to(self.model.device)  # (rows, T)
        outputs: list[list[int]] = []
        if padded["input_ids"].numel():  # sentences of which the tokenizer leaves nothing make empty rows
            with torch.inference_mode():
                outputs = self.model(**padded).logits.argmax(-1).tolist()
        step = self.max_length - self.tokenizer.num_special_tokens_to_add() - overlap  # from window to window
        subwords: list[dict[int, tuple[int, str]]] = [{} for _ in sentences]  # position in the sentence -> word, tag
        for row, sentence in enumerate(sentence_of_row):
            window = row - sentence_of_row.index(sentence)
            position_in_window = 0
            for column, word in enumerate(encoded.word_ids(row)):
                if word is None:
                    continue
                # Of two windows that share a sub-word, the one whose middle is nearer decides its tag
                if window == 0 or position_in_window >= overlap // 2:
                    subwords[sentence][window * step + position_in_window] = (word, self._tags[outputs[row][column]])
                position_in_window += 1
        predictions = []
        for words, tag_by_position in zip(sentences, subwords, strict=True):
            in_order = [tag_by_position[position] for position in sorted(tag_by_position)]
            owners, tags = [owner for owner, _ in in_order], [tag for _, tag in in_order]
            tags_of_words = [tag or OUTSIDE for tag in word_tags(tags, owners, len(words))]
            predictions.append(Prediction(tuple(tags_of_words), tuple(tags), tuple(owners)))
        return predictions


def encode_words(
    tokenizer: Any,
    sentences: Sequence[Sequence[str]],
    languages: Sequence[str],
    *,
    max_length: int,
    overlap: int | None = None,
) -> Any:
    """Return the sub-words of sentences that are split into words already, without padding, as a ``BatchEncoding``.

    A row has at most `max_length` sub-words, special tokens included. The rows of a longer sentence share `overlap`
    sub-words; None cuts the sentence off. A sentence in capitals is read in lower case.
    """
    # Lower-cased here, by language, because a tokenizer that does it knows no dotless i. Of words in capitals it knows
    # pieces alone (GÜ LER YÜZ LÜ), so a tagger misses their idioms and marks others.
    is_uncased = lowers_case(tokenizer)
    read = []
    for words, code in zip(sentences, languages, strict=True):
        is_lowered = is_uncased or "".join(words).isupper()
        read.append([lower(word, LANGUAGES[code]) if is_lowered else word for word in words])
    windows = {} if overlap is None else {"stride": overlap, "return_overflowing_tokens": True}
    return tokenizer(read, is_split_into_words=True, truncation=True, max_length=max_length, **windows)


def predicted_tags(sentences: TestSentences, predictions: Sequence[Prediction]) -> Tags:
    """Return the predictions of a classifier, one for each sentence in the same order, as a record holds them."""
    return Tags(sentences, tuple("".join(tag[0] for tag in prediction.tags) for prediction in predictions))


def score_predictions(sentences: TestSentences, predictions: Sequence[Prediction]) -> dict[str, float]:
    """Return name -> score of one prediction for each sentence, in order, as for a record; NaN if undefined."""
    gold = [sentence.tags for sentence in sentences.rows]
    predicted = [prediction.tags for prediction in predictions]
    interval = span_f1_interval(gold, predicted, sentences.concepts)
    # Most likely the paper's scores are those of sub-words
    gold_subwords = [project_tags(tags, one.owners) for tags, one in zip(gold, predictions, strict=True)]
    subwords = [prediction.subword_tags for prediction in predictions]
    return {
        **word_scores(gold, predicted),
        "span_f1_ci_low": interval.low,
        "span_f1_ci_high": interval.high,
        "n_sentences": float(len(gold)),
        "n_idioms": float(len(set(sentences.concepts))),
        "small_sample": float(len(gold) < SMALL_N),
        **micro_scores(token_counts(gold_subwords, subwords), "subword"),
        "subword_accuracy": token_accuracy(gold_subwords, subwords),
    }
