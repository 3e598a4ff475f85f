"""Fine-tuning a token classifier for idiom spans, in the paper's configuration (its Appendix C).

Trainer and optimiser are those of transformers. Training ends with the weights of the best epoch, by span F1.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from transformers import AutoModelForTokenClassification, DataCollatorForTokenClassification, EvalPrediction

from turkic_idiom_tasks.dataset.sentences import TaggedSentence
from turkic_idiom_tasks.encoders.tokenizer import window_length
from turkic_idiom_tasks.metrics.spans import micro_scores, span_counts
from turkic_idiom_tasks.spans import LABELS, OUTSIDE
from turkic_idiom_tasks.tasks.spans.classifier import TokenClassifier, encode_words
from turkic_idiom_tasks.tasks.spans.subwords import subword_labels, word_tags
from turkic_idiom_tasks.training.cards import without_nan
from turkic_idiom_tasks.training.config import SpanConfig
from turkic_idiom_tasks.training.trainer import KeepBest, load_with_new_head, train_model


def load_untuned(name_or_path: str, *, seed: int, **options: Any) -> TokenClassifier:
    """Return a pretrained encoder with an untrained head for the three tags, whose initial weights the seed decides."""
    labels: dict[str, Any] = {"id2label": dict(enumerate(LABELS)), "num_labels": len(LABELS)}
    labels["label2id"] = {label: number for number, label in enumerate(LABELS)}
    model, tokenizer = load_with_new_head(AutoModelForTokenClassification, name_or_path, seed=seed, **labels, **options)
    return TokenClassifier(model, tokenizer, name=name_or_path)


def fine_tune(
    classifier: TokenClassifier,
    train: Sequence[TaggedSentence],
    validation: Sequence[TaggedSentence],
    *,
    config: SpanConfig,
    seed: int,
) -> dict[str, Any]:
    """Train the weights of a classifier, untuned or tuned on another language, and return the outcome for a record.

    The validation sentences choose the epoch; there may be none. The seed is that of the order and of dropout. Returned
    are ``best_epoch`` and its ``validation_span_f1`` in [0, 1], both None without validation sentences, where the last
    epoch is kept; and the ``history``: epoch, validation loss and span_f1 of every epoch.
    """
    model, tokenizer = classifier.model, classifier.tokenizer
    length = window_length(model.config, tokenizer, max_length=config.max_length)
    features, _ = _features(tokenizer, train, length, config=config)
    validation_features, word_ids = _features(tokenizer, validation, length, config=config)

    def validation_scores(evaluated: EvalPrediction) -> dict[str, float]:
        """Return span F1 over the words of the sentences; the predictions are (sentences, T) labels of sub-words."""
        predicted = []
        for sentence, words, labels in zip(validation, word_ids, evaluated.predictions, strict=True):
            tags, owners = [], []
            for label, owner in zip(labels, words, strict=False):  # the predictions are padded
                if owner is not None:
                    tags.append(LABELS[label])
                    owners.append(owner)
            predicted.append([tag or OUTSIDE for tag in word_tags(tags, owners, len(sentence.tags))])
        counts = span_counts([sentence.tags for sentence in validation], predicted)
        return {"span_f1": micro_scores(counts, "span")["span_f1"]}

    # Of epochs with the same F1 the one with the smallest loss; transformers alone would keep the earliest
    best = KeepBest(model, "eval_span_f1", "eval_loss")
    train_model(
        model,
        config=config,
        seed=seed,
        name=classifier.name,
        best=best if validation else None,
        train_dataset=features,
        eval_dataset=validation_features or None,
        processing_class=tokenizer,
        data_collator=DataCollatorForTokenClassification(tokenizer),
        compute_metrics=validation_scores if validation else None,
        # the trainer would otherwise keep the logits of all validation sentences in memory
        preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1),
    )
    history = []
    for metrics in best.history:
        history.append({"epoch": metrics["epoch"], "loss": metrics["eval_loss"], "span_f1": metrics["eval_span_f1"]})
    best_epoch = round(best.best["epoch"]) if history else None
    outcome = {"best_epoch": best_epoch, "validation_span_f1": best.best.get("eval_span_f1"), "history": history}
    return dict(without_nan(outcome))


def few_shot_sample(sentences: Sequence[TaggedSentence], size: int | None, *, seed: int) -> list[TaggedSentence]:
    """Return the first `size` sentences in a seeded order, or all; the samples of a seed are nested.

    Every sentence of a smaller sample has an idiom, as in the paper.
    """
    # sorted, so that the samples do not depend on the order in the file
    ordered = sorted(sentences, key=lambda sentence: sentence.id)
    if size is not None:
        ordered = [sentence for sentence in ordered if sentence.spans()]
    order = np.random.default_rng(seed).permutation(len(ordered))
    return [ordered[position] for position in order[:size]]


def _features(
    tokenizer: Any, sentences: Sequence[TaggedSentence], length: int, *, config: SpanConfig
) -> tuple[list[dict[str, list[int]]], list[list[int | None]]]:
    """Return the inputs and labels of every sentence, and for each of its sub-words the position of its word."""
    if not sentences:
        return [], []
    tokens = [sentence.tokens for sentence in sentences]
    encoded = encode_words(tokenizer, tokens, [sentence.language for sentence in sentences], max_length=length)
    rows, word_ids = [], []
    for row, sentence in enumerate(sentences):
        features = {name: values[row] for name, values in encoded.items()}
        word_ids.append(encoded.word_ids(row))
        features["labels"] = subword_labels(sentence.tags, word_ids[row], labelling=config.labelling)
        rows.append(features)
    return rows, word_ids
