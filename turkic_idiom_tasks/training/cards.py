"""Saving of tuned models: stock files, the record of the training, and a model card with the scores."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from huggingface_hub import ModelCard, ModelCardData
from pydantic_core import to_json

from turkic_idiom_tasks.encoders.checkpoints import quiet_loading
from turkic_idiom_tasks.encoders.folders import folder_revision, is_local
from turkic_idiom_tasks.encoders.names import CROSS_LINGUAL, MONOLINGUAL, trust_setting
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.files import check_writable, new_folder, write_json, write_text
from turkic_idiom_tasks.io.reading import first_line, read_json
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N
from turkic_idiom_tasks.results.record import installed_versions
from turkic_idiom_tasks.tasks.spans.classifier import TokenClassifier
from turkic_idiom_tasks.training.config import EncoderSettings

if TYPE_CHECKING:  # they import mteb, which `finetune span` does not need
    from turkic_idiom_tasks.training.encoder_trainer import Tuned
    from turkic_idiom_tasks.training.trainee import Trainee

RETRIEVAL_RECORD = "retrieval_finetuning.json"
SPAN_RECORD = "span_finetuning.json"
SIMILARITY_RECORD = "similarity_finetuning.json"
CARD = "README.md"
_REVISION = ".turkic-idiom-revision"  # of the folder of a checkpoint, as it was written
_TEMPLATES = Path(__file__).parent / "card_templates"
_OS_ERROR = "os error"  # a part of every message of Rust about a file that cannot be written


def check_new(folder: Path) -> None:
    """Raise InputError, before any work is done, if a model cannot be saved as this folder."""
    if folder.exists():
        raise usage_error(f"{folder}: exists already; choose another folder with --out, or remove it")
    check_writable(folder.parent)


def tuning_record(
    trainee: Trainee, tuned: Tuned, *, config: EncoderSettings, data: Mapping[str, Any], **more: Any
) -> dict[str, Any]:
    """Return everything that decides the weights of an encoder, and its scores; `more` is of this kind of training."""
    # No time, so that the same training gives the same record
    return {
        "model": trainee.name,
        "revision": trainee.revision,
        "pooling": trainee.pooling,
        **trust_setting(trainee.trust_remote_code),
        "config": config.model_dump(),
        "data": data,
        **tuned.record(),
        "versions": installed_versions(),
        **more,
    }


def save_tuned(tuned: Tuned, folder: Path, record: Mapping[str, Any]) -> None:
    """Write a new folder that ``SentenceTransformer(folder)`` loads without code of ours; write all files or none.

    A model with idiom tokens needs this package and ``trust_remote_code=True``. `record` is from `tuning_record`.
    """
    with new_model(folder) as unfinished:
        tuned.model.save_pretrained(str(unfinished), create_model_card=False)  # ours is written below
        kind, name = ("retrieval", RETRIEVAL_RECORD) if "regime" in record else ("similarity", SIMILARITY_RECORD)
        write_json(unfinished / name, without_nan(record))
        write_text(unfinished / CARD, model_card(kind, record))


def save_checkpoint(classifier: TokenClassifier, folder: Path, record: Mapping[str, Any]) -> None:
    """Write a new folder that transformers and lm-eval's ``token-classifier`` load; write all files or none.

    The record says what decided the weights, and their scores: model, language (code), seed, best_epoch, data (path and
    revision), config (fields of `SpanConfig`) and scores (as `score_predictions` names them).
    """
    with new_model(folder) as unfinished:
        classifier.model.save_pretrained(unfinished)
        classifier.tokenizer.save_pretrained(unfinished)
        write_json(unfinished / SPAN_RECORD, without_nan(record))
        write_text(unfinished / CARD, model_card("span", record))
        write_text(unfinished / _REVISION, folder_revision(unfinished))


def is_whole(checkpoint: Path, decides: Mapping[str, Any]) -> bool:
    """Return whether a checkpoint is as `save_checkpoint` wrote it, with these fields in its record."""
    # By a hash of all files, because loaders do not notice every damage
    stated = checkpoint / _REVISION
    if not stated.is_file() or stated.read_bytes() != folder_revision(checkpoint).encode():
        return False
    try:
        record = read_json(checkpoint / SPAN_RECORD)
        record["data"] = {"revision": record["data"]["revision"]}  # the path may be another one
        return bool({name: record[name] for name in decides} == without_nan(decides))
    except (InputError, LookupError, TypeError):
        return False


def model_card(kind: str, record: Mapping[str, Any]) -> str:
    """Return the model card of a record, with the YAML block that the Hub reads; the kind names a template."""
    languages = [record["language"]] if kind == "span" else record.get("languages", [])
    subject = ", ".join(LANGUAGES[code].name for code in languages)
    if kind == "retrieval" and record["regime"] == CROSS_LINGUAL:
        subject = f"Turkish to {subject}"
    if kind == "retrieval" and record["regime"] != MONOLINGUAL:
        languages = list(dict.fromkeys([PIVOT, *languages]))  # the idioms are Turkish
    library = [] if kind == "span" else ["sentence-transformers"]
    card = ModelCard.from_template(
        ModelCardData(
            # the Hub links the base model; a path on this machine is none, and tells nobody anything
            base_model=None if is_local(record["model"]) else record["model"],
            language=record["language"] if kind == "span" else languages or None,
            tags=[*library, "idioms", "turkic-idiom-tasks"],
        ),
        template_path=str(_TEMPLATES / f"{kind}.md"),
        record=record,
        data=record["data"],
        config=record["config"],
        subject=subject,
        shown=shown,
        small_n=SMALL_N,
    )
    return str(card.content)


@contextmanager
def new_model(folder: Path) -> Iterator[Path]:
    """Yield a folder to save a model in, which gets its name when all files are written; see `files.new_folder`."""
    # The remains of a killed run or a full disk must never be taken for a model
    with new_folder(folder) as unfinished, quiet_loading():
        try:
            yield unfinished
        # safetensors and tokenizers, written in Rust, raise plain errors of their own for a full disk
        except Exception as error:
            if _OS_ERROR not in str(error) or isinstance(error, InputError | OSError):
                raise
            raise InputError(
                f"{folder}: cannot be written ({first_line(error)}); make room, or choose another folder with --out"
            ) from error


def without_nan(value: Any) -> Any:
    """Return a value for JSON, in which None replaces NaN."""
    return json.loads(to_json(value, inf_nan_mode="null"))


def shown(value: float | None, digits: int = 3) -> str:
    """Return a score as texts have it."""
    return "undefined" if value is None or math.isnan(value) else f"{value:.{digits}f}"
