"""Saving of tuned models: stock files, the record of the training, and a model card with the scores.

A folder gets its name when all its files are written, so the remains of a killed run or a full disk are never taken
for a model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from huggingface_hub import ModelCardData

from turkic_idiom_tasks.encoders.checkpoints import quiet_loading
from turkic_idiom_tasks.encoders.folders import is_local
from turkic_idiom_tasks.encoders.idiom_tokens import CLASSIFIER_FOLDER
from turkic_idiom_tasks.encoders.names import CROSS_LINGUAL, MONOLINGUAL, trust_setting
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.files import check_writable, new_folder, write_json, write_text
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N
from turkic_idiom_tasks.results.record import installed_versions
from turkic_idiom_tasks.tasks.spans.classifier import TokenClassifier
from turkic_idiom_tasks.training.config import COSINE, SIMCSE, RetrievalConfig, SimilarityConfig
from turkic_idiom_tasks.training.regimes import RegimeData

if TYPE_CHECKING:  # the first three import mteb, which `finetune span` does not need
    from turkic_idiom_tasks.training.retrieval import TunedEncoder
    from turkic_idiom_tasks.training.similarity import TunedSimilarity
    from turkic_idiom_tasks.training.trainee import Trainee
    from turkic_idiom_tasks.training.triplets import TripletData

RETRIEVAL_RECORD = "retrieval_finetuning.json"
SPAN_RECORD = "span_finetuning.json"
SIMILARITY_RECORD = "similarity_finetuning.json"
CARD = "README.md"
_OS_ERROR = "os error"  # a part of every message of Rust about a file that cannot be written
_SPAN_SCORES = ("span_f1", "span_precision", "span_recall", "token_f1", "subword_f1", "token_accuracy")


def check_new(folder: Path) -> None:
    """Check, before any work is done, that a model can be saved as this folder.

    Raises:
        InputError: the folder exists, or its parent cannot be written to.
    """
    if folder.exists():
        raise usage_error(f"{folder}: exists already; choose another folder with --out, or remove it")
    check_writable(folder.parent)


def tuning_record(
    trainee: Trainee, data: RegimeData, tuned: TunedEncoder, *, config: RetrievalConfig, path: str, revision: str
) -> dict[str, Any]:
    """Return everything that decides the weights, and the scores on the development split.

    The same training gives the same record.

    Args:
        trainee: the encoder before training.
        data: data of the training.
        tuned: the encoder after training.
        config: settings of the training.
        path: the name of the data in results.
        revision: revision of the data.
    """
    return {
        "model": trainee.name,
        "revision": trainee.revision,
        "regime": data.regime,
        "languages": list(data.languages),
        "pooling": trainee.pooling,
        "loss": tuned.loss,
        "prompts": dict(trainee.prompts),
        **trust_setting(trainee.trust_remote_code),
        "config": config.model_dump(),
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
        "history": [without_nan(asdict(evaluation)) for evaluation in tuned.history],
        "versions": installed_versions(),
    }


def save_tuned(tuned: TunedEncoder, folder: Path, record: Mapping[str, Any]) -> None:
    """Write a folder that ``SentenceTransformer(folder)`` loads without code of ours; write all files or none.

    Args:
        tuned: the encoder to save.
        folder: must not exist.
        record: from `tuning_record`.

    Raises:
        InputError: the folder exists or cannot be written, for example because the disk is full.
    """
    with new_model(folder) as unfinished:
        tuned.model.save_pretrained(str(unfinished), create_model_card=False)
        write_json(unfinished / RETRIEVAL_RECORD, record)
        write_text(unfinished / CARD, retrieval_card(record))


def save_checkpoint(classifier: TokenClassifier, folder: Path, record: Mapping[str, Any]) -> None:
    """Write a folder that transformers and lm-eval's ``token-classifier`` load; write all files or none.

    Args:
        classifier: the classifier to save.
        folder: must not exist.
        record: everything that decided the weights, and their scores; see `span_card` for the keys that it needs.

    Raises:
        InputError: the folder exists or cannot be written, for example because the disk is full.
    """
    with new_model(folder) as unfinished:
        classifier.model.save_pretrained(unfinished)
        classifier.tokenizer.save_pretrained(unfinished)
        write_json(unfinished / SPAN_RECORD, without_nan(dict(record)))
        write_text(unfinished / CARD, span_card(record))


def similarity_record(
    trainee: Trainee, data: TripletData, tuned: TunedSimilarity, *, config: SimilarityConfig
) -> dict[str, Any]:
    """Return everything that decides the weights, and the scores on the development and test pairs.

    Args:
        trainee: the encoder before training.
        data: data of the training.
        tuned: the encoder after training.
        config: settings of the training.
    """
    return {
        "model": trainee.name,
        "revision": trainee.revision,
        "pooling": trainee.pooling,
        **trust_setting(trainee.trust_remote_code),
        "config": config.model_dump(),
        "data": {
            "path": data.path,
            "revision": data.revision,
            "triplets": len(data.training),
            "general_pairs": len(data.general),
            "examples": tuned.n_examples,
            "development_pairs": int(data.development.is_scored.sum()),
            "left_out": data.n_left_out,
            "test_idioms_seen": list(data.seen),
        },
        "untuned_spearman": tuned.untuned.spearman,
        "tuned_spearman": tuned.tuned.spearman if tuned.tuned else None,
        "kept_epoch": tuned.kept.epoch,
        "diverged_at": tuned.diverged_at,
        "verdict": tuned.verdict,
        "history": [asdict(score) for score in tuned.history],
        "untuned_test": dict(tuned.untuned_scores),
        "test": dict(tuned.scores),
        "versions": installed_versions(),
    }


def save_similarity(tuned: TunedSimilarity, folder: Path, record: Mapping[str, Any]) -> None:
    """Write a folder that ``SentenceTransformer(folder)`` loads without code of ours; write all files or none.

    A model with idiom tokens needs this package and ``trust_remote_code=True``.

    Args:
        tuned: the encoder to save.
        folder: must not exist.
        record: from `similarity_record`.

    Raises:
        InputError: the folder exists or cannot be written, for example because the disk is full.
    """
    with new_model(folder) as unfinished:
        tuned.model.save_pretrained(str(unfinished), create_model_card=False)
        write_json(unfinished / SIMILARITY_RECORD, without_nan(dict(record)))
        write_text(unfinished / CARD, similarity_card(record))


def similarity_card(record: Mapping[str, Any]) -> str:
    """Return the model card of an encoder tuned for idiomatic similarity, with the YAML block that the Hub reads.

    Args:
        record: from `similarity_record`.
    """
    data, config = record["data"], record["config"]
    loss = f"supervised SimCSE, temperature {config['temperature']:g}"
    if config["loss"] != SIMCSE:
        loss = "regression on cosine similarity"
    seen = data["test_idioms_seen"]
    lines = [
        "# Idiomatic similarity of sentences",
        "",
        f"`{record['model']}` fine-tuned with turkic-idiom-tasks on {data['triplets']} triplets of `{data['path']}`",
        f"(revision `{data['revision']}`), seed {config['seed']}: {config['epochs']} epochs, batch "
        f"{config['batch_size']}, learning rate",
        f"{config['learning_rate']:g}, weight decay {config['weight_decay']:g}, {loss}, pooling "
        f"{record['pooling'] or 'of the model'}.",
        f"{len(seen)} idioms of the test pairs were trained on{': ' if seen else ''}{', '.join(seen)}.",
        *_token_lines(record.get("idiom_tokens")),
        "",
        f"Spearman's correlation on {data['development_pairs']} development pairs: "
        f"{_shown(record['untuned_spearman'], digits=4)} untuned, {_shown(record['tuned_spearman'], digits=4)} tuned.",
        f"In this folder: {'the tuned weights' if record['kept_epoch'] else 'the untuned weights'}. "
        f"{record['verdict'][0].upper()}{record['verdict'][1:]}.",
        "",
        "| test pairs | Spearman, untuned | this model | 95% | idiom pairs, untuned | this model |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for subset, scores in record["test"].items():
        untuned = record["untuned_test"][subset]
        interval = f"{_shown(scores['spearman_ci_low'])} to {_shown(scores['spearman_ci_high'])}"
        cells = [_shown(untuned["spearman"]), _shown(scores["spearman"]), interval]
        cells += [_shown(untuned["spearman_idiom"]), _shown(scores["spearman_idiom"])]
        lines.append(f"| {subset} | {' | '.join(cells)} |")
    header = ModelCardData(
        base_model=_base_model(record),
        library_name="sentence-transformers",
        pipeline_tag="sentence-similarity",
        tags=["sentence-transformers", "idioms", "turkic-idiom-tasks"],
    )
    return _card(header, lines)


def retrieval_card(record: Mapping[str, Any]) -> str:
    """Return the model card of a tuned encoder, with the YAML block that the Hub reads.

    Args:
        record: from `tuning_record`.
    """
    data, config = record["data"], record["config"]
    languages = record["languages"]
    if record["regime"] != MONOLINGUAL:
        languages = list(dict.fromkeys([PIVOT, *languages]))
    names = ", ".join(LANGUAGES[code].name for code in record["languages"])
    subject = f"Turkish to {names}" if record["regime"] == CROSS_LINGUAL else names
    loss = f"cosine with {config['negatives']} negatives" if record["loss"] == COSINE else record["loss"]
    lines = [
        f"# Idioms and their meanings: {subject}",
        "",
        f"`{record['model']}` fine-tuned with turkic-idiom-tasks in the regime {record['regime']} on",
        f"{data['training_pairs']} pairs of `{data['path']}` (revision `{data['revision']}`), seed {config['seed']}:",
        f"{config['epochs']} epochs, batch {config['batch_size']}, learning rate {config['learning_rate']:g}, weight",
        f"decay {config['weight_decay']:g}, loss {loss}, pooling {record['pooling'] or 'of the model'}.",
        "The training data has no concept of the test split, in any language, and no text of such a concept.",
        "",
        f"nDCG over the whole pool, {data['development_queries']} development queries (concepts never trained on):",
        "",
        "| weights | nDCG |",
        "|---|---:|",
        f"| untuned | {record['untuned_ndcg']:.4f} |",
        f"| tuned | {_shown(record['tuned_ndcg'], digits=4)} |",
        "",
        f"In this folder: {'the tuned weights' if record['kept_step'] else 'the untuned weights'}. "
        f"{record['verdict'][0].upper()}{record['verdict'][1:]}.",
    ]
    if data["development_queries"] < SMALL_N:
        lines += ["", f"Fewer than {SMALL_N} development queries."]
    lines += [
        "",
        "Score it on the test concepts: `turkic-idiom run -m FOLDER`. Load it: `SentenceTransformer(FOLDER)`, then",
        "`encode_query` and `encode_document`, which put its prompts before the texts.",
    ]
    header = ModelCardData(
        base_model=_base_model(record),
        language=languages,
        library_name="sentence-transformers",
        pipeline_tag="sentence-similarity",
        tags=["sentence-transformers", "idioms", "turkic-idiom-tasks"],
    )
    return _card(header, lines)


def span_card(record: Mapping[str, Any]) -> str:
    """Return the model card of a tuned classifier, with the YAML block that the Hub reads.

    Args:
        record: has the keys model, language (code), seed, best_epoch, data (path and revision), config (fields of
            `SpanConfig`) and scores (as `score_predictions` names them).
    """
    data, config, scores = record["data"], record["config"], record["scores"]
    language = LANGUAGES[record["language"]]
    best_epoch = record["best_epoch"]
    chosen = "the last epoch is kept, because there were no validation sentences"
    if best_epoch is not None:
        chosen = f"epoch {best_epoch} had the best span F1 on the validation sentences"
    lines = [
        f"# Idiom spans in {language.name}",
        "",
        f"`{record['model']}` fine-tuned with turkic-idiom-tasks to tag the words of idioms (O, B-IDIOM, I-IDIOM), on",
        f"the training sentences of `{data['path']}` (revision `{data['revision']}`), seed {record['seed']}:",
        f"{config['epochs']} epochs, batch {config['batch_size']}, learning rate {config['learning_rate']:g}, weight",
        f"decay {config['weight_decay']:g}, labels on {config['labelling']} sub-words of a word; {chosen}.",
        "",
        f"On the {scores['n_sentences']:.0f} test sentences ({scores['n_idioms']:.0f} idioms, none seen in training):",
        "",
        "| score | value |",
        "|---|---:|",
    ]
    for name in _SPAN_SCORES:
        lines.append(f"| {name} | {_shown(scores[name])} |")
    low, high = _shown(scores["span_f1_ci_low"]), _shown(scores["span_f1_ci_high"])
    lines += ["", f"95% interval of span_f1, resampling concepts: {low} to {high}."]
    if scores["n_sentences"] < SMALL_N:
        lines += ["", f"Fewer than {SMALL_N} test sentences: read the interval, not the score."]
    lines += [
        "",
        "Score it again: `lm-eval run --model token-classifier --model_args pretrained=FOLDER --tasks "
        f"turkic_idiom_span_{language.code}`",
    ]
    header = ModelCardData(
        base_model=_base_model(record),
        language=language.code,
        library_name="transformers",
        metrics=["seqeval"],
        pipeline_tag="token-classification",
        tags=["idioms", "turkic-idiom-tasks"],
    )
    return _card(header, lines)


def _token_lines(tokens: Mapping[str, Any] | None) -> list[str]:
    """Return the lines of a card about idiom tokens; none for a model that was not given any."""
    if tokens is None:
        return []
    settings, pretraining = tokens["config"], tokens["pretraining"]
    where = "everywhere" if tokens["classifier"] is None else f"where the classifier in `{CLASSIFIER_FOLDER}/` says so"
    lines = [
        "",
        f"{tokens['n_tokens']} idioms have a token of their own, in place of the idiom {where}; its initial vector: "
        f"{settings['idiom_token_init']}.",
    ]
    if pretraining is not None:
        epochs = settings["pretrain_epochs"]
        lines.append(f"Masked-LM training before: {pretraining['n_sentences']} sentences, {epochs} epochs.")
    return [
        *lines,
        "Loading it needs `pip install turkic-idiom-tasks`: `SentenceTransformer(FOLDER, trust_remote_code=True)`.",
    ]


@contextmanager
def new_model(folder: Path) -> Iterator[Path]:
    """Yield a folder to save a model in, which gets its name when all files are written; see `files.new_folder`."""
    check_new(folder)
    with new_folder(folder) as unfinished, quiet_loading():
        try:
            yield unfinished
        except Exception as error:  # safetensors and tokenizers, written in Rust, have their own types of errors
            if _OS_ERROR not in str(error) or isinstance(error, InputError | OSError):
                raise
            reason = str(error).splitlines()[0]
            raise InputError(
                f"{folder}: cannot be written ({reason}); make room, or choose another folder with --out"
            ) from error


def _card(header: ModelCardData, lines: list[str]) -> str:
    return "\n".join(["---", header.to_yaml(), "---", "", *lines, ""])


def _base_model(record: Mapping[str, Any]) -> str | None:
    return None if is_local(record["model"]) else str(record["model"])


def _shown(value: float | None, *, digits: int = 3) -> str:
    return "undefined" if value is None or math.isnan(value) else f"{value:.{digits}f}"


def without_nan(value: Any) -> Any:
    """Return a value for JSON, in which None replaces NaN."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, Mapping):
        return {key: without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(inner) for inner in value]
    return value
