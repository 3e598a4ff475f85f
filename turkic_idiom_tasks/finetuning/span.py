"""Fine-tuning a token classifier for idiom spans, in the paper's configuration (its Appendix C).

Trainer and optimiser are those of transformers. Each epoch ends with an evaluation on the validation sentences; the
weights of the best one are kept in memory, not on disk, and are what training ends with: best by seqeval's span F1, of
equal ones that with the smallest loss (transformers alone would keep the earliest).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turkic_idiom_tasks.encoders.checkpoints import is_local, load_error, local_path, quiet_loading
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.finetuning.progress import keep_to_bars
from turkic_idiom_tasks.metrics.spans import span_scores
from turkic_idiom_tasks.span_detection.classifier import TokenClassifier, encode_words, load_tokenizer, window_length
from turkic_idiom_tasks.span_detection.sentences import TaggedSentence
from turkic_idiom_tasks.span_detection.subwords import LABELLING, piece_labels, word_tags
from turkic_idiom_tasks.spans import LABELS, OUTSIDE

SEEDS = (42, 43, 44)  # the paper: three seeds, which it does not name


@dataclass(frozen=True, slots=True)
class SpanConfig:
    """How a classifier is fine-tuned; the defaults are the paper's where it says something.

    Attributes:
        epochs: passes over the training sentences.
        batch_size: sentences per step and device.
        learning_rate: of AdamW, falling linearly to 0.
        weight_decay: of AdamW.
        labelling: ``all`` gives every piece of a word a label (the paper), ``first`` only its first one.
        max_length: pieces of a sentence that are used in training; None is what the model can take, at most 512.
        bf16: train in bfloat16 autocast; the weights stay float32.
        pad_to_max: pad every batch to max_length instead of to its longest sentence.
        group_by_length: put sentences of like length into a batch; fewer padded positions, another order.
    """

    epochs: int = 5
    batch_size: int = 8
    learning_rate: float = 5e-5
    weight_decay: float = 0.01
    labelling: str = "all"
    max_length: int | None = None
    bf16: bool = False
    pad_to_max: bool = False
    group_by_length: bool = False

    def __post_init__(self) -> None:
        if self.labelling not in LABELLING:
            raise usage_error(f"unknown labelling {self.labelling!r}; known: {', '.join(LABELLING)}")
        if self.epochs < 1 or self.batch_size < 1:
            raise usage_error("epochs and batch size must be at least 1")
        if not 0 < self.learning_rate < math.inf or not 0 <= self.weight_decay < math.inf:
            raise usage_error("the learning rate must be above 0, the weight decay not below it, and both finite")


@dataclass(frozen=True, slots=True, eq=False)
class FineTuned:
    """A classifier with the best of its epochs.

    Attributes:
        classifier: ready to tag sentences.
        best_epoch: which one; None where nothing was to validate on and the last one stands.
        validation_f1: span F1 of that epoch, in [0, 1]; NaN where nothing was to validate on.
        history: for every epoch its number, validation loss and span F1.
    """

    classifier: TokenClassifier
    best_epoch: int | None
    validation_f1: float
    history: tuple[Mapping[str, float], ...]


def load_untuned(name_or_path: str, *, seed: int, revision: str | None = None) -> TokenClassifier:
    """A pretrained encoder with an untrained head for the three tags, in float32.

    Args:
        name_or_path: Hub id or folder of an encoder.
        seed: of the head's initial weights.
        revision: Hub commit; None is the newest.

    Raises:
        InputError: it cannot be found or loaded, or its tokenizer does not say which word a piece belongs to.
    """
    import torch
    from transformers import AutoModelForTokenClassification, set_seed

    tokenizer = load_tokenizer(name_or_path, revision=revision)
    set_seed(seed)
    try:
        with quiet_loading():
            model = AutoModelForTokenClassification.from_pretrained(
                local_path(name_or_path),
                revision=revision or "main",
                id2label=dict(enumerate(LABELS)),
                label2id={label: number for number, label in enumerate(LABELS)},
                num_labels=len(LABELS),
                ignore_mismatched_sizes=True,  # a head for other labels is replaced
                dtype=torch.float32,  # or a checkpoint in half precision would be trained in half precision
                use_safetensors=True,
                trust_remote_code=False,
                local_files_only=is_local(name_or_path),
            )
    except Exception as error:  # the libraries below raise a dozen unrelated types for a bad name, folder or connection
        raise load_error(name_or_path, error) from error
    return TokenClassifier(model, tokenizer, name=name_or_path)


def fine_tune(
    classifier: TokenClassifier,
    train: Sequence[TaggedSentence],
    validation: Sequence[TaggedSentence],
    *,
    config: SpanConfig,
    seed: int,
) -> FineTuned:
    """Trains a classifier's own weights on sentences; nothing is written.

    Args:
        classifier: untuned, or tuned on another language; its weights are changed.
        train: sentences to learn from.
        validation: sentences to choose the epoch by; may be empty.
        config: how.
        seed: of the order of the sentences and of dropout.

    Raises:
        InputError: there is no training sentence, or the loss is not finite.
    """
    from transformers import DataCollatorForTokenClassification, set_seed

    if not train:
        raise InputError("no training sentence; choose a language or data with annotated examples in its train split")
    set_seed(seed)
    length = window_length(classifier.model.config, classifier.tokenizer, asked=config.max_length)
    padding: dict[str, Any] = {"padding": "max_length", "max_length": length} if config.pad_to_max else {}
    best = _best_weights()
    trainer = _trainer_class()(
        model=classifier.model,
        args=_arguments(config, seed=seed, validates=bool(validation)),
        train_dataset=_features(classifier.tokenizer, train, length, labelling=config.labelling),
        eval_dataset=_features(classifier.tokenizer, validation, length, labelling=config.labelling) or None,
        processing_class=classifier.tokenizer,
        data_collator=DataCollatorForTokenClassification(classifier.tokenizer, **padding),
        compute_metrics=_Validation(classifier.tokenizer, validation, length) if validation else None,
        preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1),
        callbacks=[best],
    )
    keep_to_bars(trainer)
    outcome = trainer.train()
    classifier.model.eval()
    losses = [outcome.training_loss, *(row["eval_loss"] for row in trainer.state.log_history if "eval_loss" in row)]
    if not all(map(math.isfinite, losses)):
        raise InputError(
            f"{classifier.name}: training diverged, a loss is not finite; use a smaller learning rate than "
            f"{config.learning_rate:g}"
        )
    history = tuple(
        {"epoch": row["epoch"], "loss": row["eval_loss"], "span_f1": row["eval_span_f1"]}
        for row in trainer.state.log_history
        if "eval_loss" in row
    )
    return FineTuned(classifier, best.epoch, best.f1, history)


def few_shot_sample(sentences: Sequence[TaggedSentence], size: int | None, *, seed: int) -> list[TaggedSentence]:
    """The first `size` sentences in a seeded order, so that the smaller samples of a seed are part of the larger ones.

    Args:
        sentences: of a training split.
        size: how many; None or more than there are is all of them.
        seed: of the order.
    """
    import numpy as np

    ordered = sorted(sentences, key=lambda sentence: sentence.id)
    order = np.random.default_rng(seed).permutation(len(ordered))
    return [ordered[position] for position in order[:size]]


def _features(
    tokenizer: Any, sentences: Sequence[TaggedSentence], length: int, *, labelling: str
) -> list[dict[str, list[int]]]:
    if not sentences:
        return []
    encoded = encode_words(tokenizer, [s.tokens for s in sentences], [s.language for s in sentences], max_length=length)
    names = [name for name in encoded if name in ("input_ids", "attention_mask", "token_type_ids")]
    return [
        {name: encoded[name][row] for name in names}
        | {"labels": piece_labels(sentence.tags, encoded.word_ids(row), labelling=labelling)}
        for row, sentence in enumerate(sentences)
    ]


class _Validation:
    """Span F1 over the words of the validation sentences, from the Trainer's label of every piece."""

    def __init__(self, tokenizer: Any, sentences: Sequence[TaggedSentence], length: int) -> None:
        tokens, languages = [s.tokens for s in sentences], [s.language for s in sentences]
        encoded = encode_words(tokenizer, tokens, languages, max_length=length)
        self._word_ids = [encoded.word_ids(row) for row in range(len(sentences))]
        self._gold = [sentence.tags for sentence in sentences]

    def __call__(self, evaluated: Any) -> dict[str, float]:
        found = []
        for row, (word_ids, gold) in enumerate(zip(self._word_ids, self._gold, strict=True)):
            owners = [word for word in word_ids if word is not None]
            labels = evaluated.predictions[row][: len(word_ids)]
            tags = [LABELS[label] for label, word in zip(labels, word_ids, strict=True) if word is not None]
            found.append([tag or OUTSIDE for tag in word_tags(tags, owners, len(gold))])
        return {"span_f1": span_scores(self._gold, found).f1}


def _trainer_class() -> Any:
    """The Trainer, which must not put the validation sentences into another order when it groups by length."""
    from torch.utils.data import SequentialSampler
    from transformers import Trainer

    class InOrder(Trainer):
        def _get_eval_sampler(self, eval_dataset: Any) -> Any:
            return SequentialSampler(eval_dataset)

    return InOrder


def _best_weights() -> Any:
    """A callback that keeps a copy of the best epoch's weights and puts them back when training ends."""
    from transformers import TrainerCallback

    class BestWeights(TrainerCallback):
        epoch: int | None = None
        f1 = math.nan

        def __init__(self) -> None:
            self._rank = (-math.inf, -math.inf)
            self._weights: dict[str, Any] = {}

        def on_evaluate(self, args: Any, state: Any, control: Any, **context: Any) -> None:
            metrics = context["metrics"]
            f1 = metrics["eval_span_f1"]
            rank = (-1.0 if math.isnan(f1) else f1, -metrics["eval_loss"])
            if rank > self._rank:
                self._rank, self.f1, self.epoch = rank, f1, round(state.epoch)
                weights = context["model"].state_dict()
                self._weights = {name: tensor.detach().to("cpu", copy=True) for name, tensor in weights.items()}

        def on_train_end(self, args: Any, state: Any, control: Any, **context: Any) -> None:
            if self._weights:
                context["model"].load_state_dict(self._weights)
                self._weights = {}

    return BestWeights()


def _arguments(config: SpanConfig, *, seed: int, validates: bool) -> Any:
    import sys
    import tempfile

    import torch
    from transformers import TrainingArguments

    return TrainingArguments(
        output_dir=tempfile.gettempdir(),  # must be given; nothing is saved
        num_train_epochs=config.epochs,
        per_device_train_batch_size=config.batch_size,
        per_device_eval_batch_size=64,
        learning_rate=config.learning_rate,
        weight_decay=config.weight_decay,
        optim="adamw_torch_fused",
        lr_scheduler_type="linear",
        train_sampling_strategy="group_by_length" if config.group_by_length else "random",
        bf16=config.bf16,
        use_cpu=not torch.accelerator.is_available(),
        seed=seed,
        data_seed=seed,
        eval_strategy="epoch" if validates else "no",
        save_strategy="no",
        logging_strategy="no",
        report_to="none",
        disable_tqdm=not sys.stderr.isatty(),
        dataloader_pin_memory=False,
        remove_unused_columns=False,
    )
