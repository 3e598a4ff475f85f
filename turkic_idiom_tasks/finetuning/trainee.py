"""The encoder that is fine-tuned for retrieval: stock modules under the pooling that was chosen, and its prompts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import WeightedLayerPooling
from sentence_transformers.util import is_sentence_transformer_model

from turkic_idiom_tasks.dataset.retrieval import TASKS
from turkic_idiom_tasks.encoders.checkpoints import backbone_of
from turkic_idiom_tasks.encoders.folders import MODULES_FILE
from turkic_idiom_tasks.encoders.names import NO_REVISION, check_pooling
from turkic_idiom_tasks.encoders.poolings import native_pooling, pooling_modules
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.integrations.mteb_loading import LoadedModel, resolve_model
from turkic_idiom_tasks.integrations.mteb_tasks import TASK_CLASSES

_PLAIN_POOLING = "mean"  # what sentence-transformers gives a plain encoder
_ROLES = ("query", "document")


@dataclass(frozen=True, slots=True, eq=False)
class Trainee:
    """An encoder before it is trained.

    Attributes:
        model: weights in float32; carries its prompts, so that they are saved with it.
        name: as the caller named it, without a pooling.
        revision: Hub commit, or the hash of a folder's files.
        pooling: one of the five; None where the model's own modules are something else.
        is_plain: a transformers encoder, not a sentence-transformers model.
        prompts: role (``query``, ``document``) -> what stands before a text, in training as at evaluation.
        task_prompts: short name of a task -> the same for that task.
    """

    model: SentenceTransformer
    name: str
    revision: str | None
    pooling: str | None
    is_plain: bool
    prompts: Mapping[str, str]
    task_prompts: Mapping[str, Mapping[str, str]]


def load_trainee(
    name: str, *, task: str, pooling: str | None = None, revision: str | None = None, device: str | None = None
) -> Trainee:
    """Return a model by any name that `turkic-idiom run` takes, ready to be trained.

    Args:
        name: mteb name, Hub id or folder, with `` (pooling=…)`` or without.
        task: short name of the task whose prompts are used, ``T2``.
        pooling: one of the five, in place of the model's own; None keeps that, and gives a plain encoder the mean.
        revision: Hub commit; None is the one that mteb pins, otherwise the newest.
        device: None lets sentence-transformers choose.

    Raises:
        InputError: it cannot be found, loaded or trained, or cannot have this pooling.
    """
    check_pooling(pooling or _PLAIN_POOLING)
    loaded = resolve_model(name, revision=revision, device=device)
    if loaded.encoder is None:
        raise usage_error(f"{name}: not a transformer encoder, so there is nothing to fine-tune; give another --model")
    if loaded.pooling and pooling not in (None, loaded.pooling):
        raise usage_error(f"{name} names another pooling than --pooling {pooling}; leave one of them out")
    is_plain = not _declares_modules(loaded.encoder, str(loaded.meta.revision))
    chosen = pooling or loaded.pooling or (_PLAIN_POOLING if is_plain else None)
    prompts = _task_prompts(loaded)
    model = _with_pooling(loaded.encoder, chosen) if chosen else loaded.encoder
    _freeze_layer_weights(model)
    model.prompts = {**model.prompts, **_saved_prompts(prompts, task)}
    return Trainee(
        model=model,
        name=name.removesuffix(f" (pooling={loaded.pooling})"),
        revision=loaded.meta.revision,
        pooling=chosen or native_pooling(model),
        is_plain=is_plain,
        prompts=prompts[task],
        task_prompts=prompts,
    )


def _declares_modules(model: SentenceTransformer, revision: str) -> bool:
    """Return whether the checkpoint that a model was just loaded from is a sentence-transformers model."""
    origin = str(model[0].model.name_or_path)
    if Path(origin).is_dir():  # old checkpoints keep the transformer in a folder of its own
        return any((folder / MODULES_FILE).is_file() for folder in (Path(origin), Path(origin).parent))
    commit = None if revision == NO_REVISION else revision
    return bool(is_sentence_transformer_model(origin, revision=commit, local_files_only=True))


def _task_prompts(loaded: LoadedModel) -> dict[str, dict[str, str]]:
    """Return short name of a task -> role -> what mteb puts before a text of it."""
    prompts: dict[str, dict[str, str]] = {}
    for short, task in TASKS.items():
        metadata = TASK_CLASSES[task.name].metadata
        prompts[short] = {role: loaded.prompt(metadata, role) for role in _ROLES}
    return prompts


def _with_pooling(model: SentenceTransformer, pooling: str) -> SentenceTransformer:
    return SentenceTransformer(
        modules=pooling_modules(backbone_of(model), pooling),
        device=str(model.device),
        prompts=model.prompts,
        default_prompt_name=model.default_prompt_name,
    )


def _freeze_layer_weights(model: SentenceTransformer) -> None:
    """Keep the mixture of layers as it is; loading a saved model makes its weights trainable again."""
    for module in model:
        if isinstance(module, WeightedLayerPooling):
            module.layer_weights.requires_grad_(False)


def _saved_prompts(prompts: Mapping[str, Mapping[str, str]], task: str) -> dict[str, str]:
    """Return prompts by the names by which sentence-transformers and mteb look them up.

    Those of `task` are the model's own; a task with other prompts has them under its full name.
    """
    saved = dict(prompts[task])
    for short, of_task in prompts.items():
        for role, text in of_task.items():
            if text != prompts[task][role]:
                saved[f"{TASKS[short].name}-{role}"] = text
    return saved
