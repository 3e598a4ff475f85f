"""A tuned encoder on disk: stock modules and their prompts, the record of its run, and a model card with its scores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from turkic_idiom_tasks.encoders.checkpoints import is_local, quiet_loading
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.files import check_writable, whole_folder, write_json, write_text
from turkic_idiom_tasks.finetuning.regimes import MONOLINGUAL, TR_ONLY, RegimeData
from turkic_idiom_tasks.finetuning.retrieval import COSINE, RetrievalConfig, TunedEncoder
from turkic_idiom_tasks.finetuning.trainee import Trainee
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT

RECORD = "retrieval_finetuning.json"
_PACKAGES = ("turkic-idiom-tasks", "sentence-transformers", "transformers", "torch")
_FEW = 30  # queries; below that a score is hardly one


def tuning_record(
    trainee: Trainee, data: RegimeData, tuned: TunedEncoder, *, config: RetrievalConfig, path: str, revision: str
) -> dict[str, Any]:
    """Everything that decides the weights, and how the development set was scored; the same for the same run.

    Args:
        trainee: what was trained.
        data: on what.
        tuned: what came out.
        config: how.
        path: of the data, as results name it.
        revision: of the data.
    """
    return {
        "model": trainee.name,
        "revision": trainee.revision,
        "regime": data.regime,
        "languages": list(data.languages),
        "pooling": trainee.pooling,
        "loss": tuned.loss,
        "prompts": dict(trainee.prompts),
        "config": asdict(config),
        "data": {
            "path": path,
            "revision": revision,
            "training_pairs": len(data.pairs),
            "development_queries": data.n_development,
            "dropped_for_test": data.dropped_for_test,
            "dropped_for_development": data.dropped_for_development,
        },
        "untuned_ndcg": tuned.untuned.ndcg,
        "tuned_ndcg": tuned.tuned.ndcg if tuned.tuned else None,
        "kept_step": tuned.kept.step,
        "steps": tuned.n_steps,
        "diverged_at": tuned.diverged_at,
        "stopped_early": tuned.stopped_early,
        "verdict": tuned.verdict,
        "history": [_finite(asdict(evaluation)) for evaluation in tuned.history],
        "versions": {package: version(package) for package in _PACKAGES},
    }


def check_new(folder: Path) -> None:
    """Makes sure, before any work is done, that a model can be saved as this folder.

    Raises:
        InputError: it exists, or its parent cannot be written to.
    """
    if folder.exists():
        raise usage_error(f"{folder}: exists already; choose another folder with --out, or remove it")
    check_writable(folder.parent)


def save_tuned(tuned: TunedEncoder, folder: Path, record: Mapping[str, Any]) -> None:
    """Writes a folder that ``SentenceTransformer(folder)`` loads without code of ours; whole or not at all.

    Args:
        tuned: what to save.
        folder: must not exist.
        record: from `tuning_record`.

    Raises:
        InputError: the folder exists, cannot be written to, or the disk is full.
    """
    check_new(folder)
    with whole_folder(folder) as unfinished:
        with quiet_loading():
            tuned.model.save_pretrained(str(unfinished), create_model_card=False)
        write_json(unfinished / RECORD, record)
        write_text(unfinished / "README.md", model_card(record))


def model_card(record: Mapping[str, Any]) -> str:
    """The README of a tuned encoder, with the YAML block that the Hub reads."""
    data, config = record["data"], record["config"]
    lines = [
        *_yaml_block(record),
        "",
        f"# Idioms and their meanings: {_what(record)}",
        "",
        f"`{record['model']}` fine-tuned with turkic-idiom-tasks in the regime {record['regime']} on",
        f"{data['training_pairs']} pairs of `{data['path']}` (revision `{data['revision']}`), seed {config['seed']}:",
        f"{config['epochs']} epochs, batch {config['batch_size']}, learning rate {config['learning_rate']:g}, weight",
        f"decay {config['weight_decay']:g}, loss {_loss_name(record)}, pooling {record['pooling'] or 'of the model'}.",
        "No concept of the test split was trained on, in any language, nor a text that one of them has.",
        "",
        f"nDCG over the whole pool, {data['development_queries']} development queries (concepts never trained on):",
        "",
        "| weights | nDCG |",
        "|---|---:|",
        f"| untuned | {record['untuned_ndcg']:.4f} |",
        f"| tuned | {_shown(record['tuned_ndcg'])} |",
        "",
        f"In this folder: {'the tuned weights' if record['kept_step'] else 'the untuned weights'}. "
        f"{record['verdict'][0].upper()}{record['verdict'][1:]}.",
        *(["", "Fewer than 30 development queries."] if data["development_queries"] < _FEW else []),
        "",
        "Score it on the test concepts: `turkic-idiom run -m FOLDER`. Load it: `SentenceTransformer(FOLDER)`, then",
        "`encode_query` and `encode_document`, which put its prompts before the texts.",
        "",
    ]
    return "\n".join(lines)


def _yaml_block(record: Mapping[str, Any]) -> list[str]:
    languages = list(dict.fromkeys([*([] if record["regime"] == MONOLINGUAL else [PIVOT]), *record["languages"]]))
    base = [] if is_local(record["model"]) else [f"base_model: {record['model']}"]
    return [
        "---",
        "library_name: sentence-transformers",
        "pipeline_tag: sentence-similarity",
        "language:",
        *(f"- {code}" for code in languages),
        *base,
        "tags:",
        "- sentence-transformers",
        "- idioms",
        "- turkic-idiom-tasks",
        "---",
    ]


def _what(record: Mapping[str, Any]) -> str:
    names = ", ".join(LANGUAGES[code].name for code in record["languages"])
    return names if record["regime"] in (TR_ONLY, MONOLINGUAL) else f"Turkish to {names}"


def _loss_name(record: Mapping[str, Any]) -> str:
    return f"cosine with {record['config']['negatives']} negatives" if record["loss"] == COSINE else record["loss"]


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"


def _finite(evaluation: dict[str, Any]) -> dict[str, Any]:
    """An evaluation with null for scores that are not numbers."""
    return {
        "step": evaluation["step"],
        "ndcg": _number(evaluation["ndcg"]),
        "by_language": {code: _number(score) for code, score in evaluation["by_language"].items()},
    }


def _number(score: float) -> float | None:
    return None if math.isnan(score) else score
