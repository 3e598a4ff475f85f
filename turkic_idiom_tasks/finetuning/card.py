"""A fine-tuned classifier on disk: safetensors, tokenizer, the record of its run, and a model card with its scores."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from turkic_idiom_tasks.encoders.checkpoints import is_local, quiet_loading
from turkic_idiom_tasks.files import whole_folder, write_json, write_text
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.span_detection.classifier import TokenClassifier

RECORD = "span_finetuning.json"
_SHOWN = ("span_f1", "span_precision", "span_recall", "token_f1", "subword_f1", "token_accuracy")


def save_checkpoint(classifier: TokenClassifier, folder: Path, record: Mapping[str, Any]) -> None:
    """Writes a folder that transformers and lm-eval's ``token-classifier`` load; whole or not at all.

    Args:
        classifier: what to save.
        folder: must not exist.
        record: of the run, as the grid writes it.

    Raises:
        InputError: it cannot be written.
    """
    with whole_folder(folder) as unfinished:
        with quiet_loading():
            classifier.model.save_pretrained(unfinished)
            classifier.tokenizer.save_pretrained(unfinished)
        write_json(unfinished / RECORD, {key: value for key, value in record.items() if key != "tags"})
        write_text(unfinished / "README.md", model_card(record))


def model_card(record: Mapping[str, Any]) -> str:
    """The README of a checkpoint, with the YAML block that the Hub reads."""
    scores = record["scores"]
    language = LANGUAGES[record["language"]]
    data, config = record["data"], record["config"]
    base = [] if is_local(record["model"]) else [f"base_model: {record['model']}"]
    lines = [
        "---",
        "library_name: transformers",
        "pipeline_tag: token-classification",
        f"language: {language.code}",
        *base,
        "tags:",
        "- idioms",
        "- turkic-idiom-tasks",
        "metrics:",
        "- seqeval",
        "---",
        "",
        f"# Idiom spans in {language.name}",
        "",
        f"`{record['model']}` fine-tuned with turkic-idiom-tasks to tag the words of idioms (O, B-IDIOM, I-IDIOM), on",
        f"the training sentences of `{data['path']}` (revision `{data['revision']}`), seed {record['seed']}:",
        f"{config['epochs']} epochs, batch {config['batch_size']}, learning rate {config['learning_rate']:g}, weight",
        f"decay {config['weight_decay']:g}, labels on {config['labelling']} pieces of a word; epoch",
        f"{record['best_epoch']} had the best span F1 on the validation sentences.",
        "",
        f"On the {scores['n_sentences']:.0f} test sentences ({scores['n_idioms']:.0f} idioms, none seen in training):",
        "",
        "| score | value |",
        "|---|---:|",
        *(f"| {name} | {_shown(scores[name])} |" for name in _SHOWN),
        "",
        f"95% interval of span_f1, resampling idioms: {_shown(scores['span_f1_ci_low'])} to "
        f"{_shown(scores['span_f1_ci_high'])}.",
        *(["", "Fewer than 30 test sentences: read the interval, not the score."] if scores["small_sample"] else []),
        "",
        "Score it again: `lm-eval run --model token-classifier --model_args pretrained=FOLDER --tasks "
        f"turkic_idiom_span_{language.code}`",
        "",
    ]
    return "\n".join(lines)


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
