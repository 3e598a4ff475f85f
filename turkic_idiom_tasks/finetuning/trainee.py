"""The encoder that is to be fine-tuned for retrieval: stock modules under the pooling asked for, and its prompts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.retrieval.relevance import TASKS

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from turkic_idiom_tasks.encoders.resolve import LoadedModel

_PLAIN_POOLING = "mean"  # what sentence-transformers gives a plain encoder
_ROLES = ("query", "document")


@dataclass(frozen=True, slots=True, eq=False)
class Trainee:
    """An encoder before it is trained.

    Attributes:
        model: weights in float32; carries its prompts, so that they are saved with it.
        name: as it was asked for, without a pooling.
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
    """A model by any name that `turkic-idiom run` takes, ready to be trained.

    Args:
        name: mteb name, Hub id or folder, with `` (pooling=…)`` or without.
        task: short name of the task whose prompts are used, ``T2``.
        pooling: one of the five, in place of the model's own; None keeps that, and gives a plain encoder the mean.
        revision: Hub commit; None is the one that mteb pins, otherwise the newest.
        device: None lets sentence-transformers choose.

    Raises:
        InputError: it cannot be found, loaded or trained, or cannot have this pooling.
    """
    from turkic_idiom_tasks.encoders.poolings import check_pooling
    from turkic_idiom_tasks.encoders.resolve import native_pooling, resolve_model
    from turkic_idiom_tasks.startup.hook import extend_late

    check_pooling(pooling or _PLAIN_POOLING)
    extend_late()
    loaded = resolve_model(name, revision=revision, device=device)
    if loaded.encoder is None:
        raise usage_error(f"{name}: not a transformer encoder, so there is nothing to fine-tune; give another --model")
    if loaded.pooling and pooling not in (None, loaded.pooling):
        raise usage_error(f"{name} asks for another pooling than --pooling {pooling}; leave one of them out")
    is_plain = not _is_sentence_transformer(loaded.encoder)
    asked = pooling or loaded.pooling or (_PLAIN_POOLING if is_plain else None)
    prompts = {short: {role: _prompt(loaded, short, role) for role in _ROLES} for short in TASKS}
    model = _with_pooling(loaded.encoder, asked) if asked else loaded.encoder
    _freeze_layer_weights(model)
    model.prompts = {**model.prompts, **_saved_prompts(prompts, task)}
    return Trainee(
        model=model,
        name=name.removesuffix(f" (pooling={loaded.pooling})"),
        revision=loaded.meta.revision,
        pooling=asked or native_pooling(model),
        is_plain=is_plain,
        prompts=prompts[task],
        task_prompts=prompts,
    )


def _is_sentence_transformer(model: SentenceTransformer) -> bool:
    """Whether the checkpoint that a model was just loaded from declares its modules."""
    from sentence_transformers.util import is_sentence_transformer_model

    config = model[0].model.config
    origin, commit = str(model[0].model.name_or_path), getattr(config, "_commit_hash", None)
    if Path(origin).is_dir():  # old checkpoints keep the transformer in a folder of its own
        return any((folder / "modules.json").is_file() for folder in (Path(origin), Path(origin).parent))
    return bool(is_sentence_transformer_model(origin, revision=commit, local_files_only=True))


def _with_pooling(model: SentenceTransformer, pooling: str) -> SentenceTransformer:
    from sentence_transformers import SentenceTransformer

    from turkic_idiom_tasks.encoders.checkpoints import backbone_of
    from turkic_idiom_tasks.encoders.poolings import pooling_modules

    return SentenceTransformer(
        modules=pooling_modules(backbone_of(model), pooling),
        device=str(model.device),
        prompts=model.prompts,
        default_prompt_name=model.default_prompt_name,
    )


def _freeze_layer_weights(model: SentenceTransformer) -> None:
    """Keeps the mixture of layers what it is: a reload makes its weights trainable."""
    from sentence_transformers.sentence_transformer.modules import WeightedLayerPooling

    for module in model:
        if isinstance(module, WeightedLayerPooling):
            module.layer_weights.requires_grad_(False)


def _prompt(loaded: LoadedModel, short: str, role: str) -> str:
    return loaded.prompt(_task_metadata(short), role)


def _task_metadata(short: str) -> Any:
    import mteb

    return mteb.get_task(TASKS[short].name).metadata


def _saved_prompts(prompts: Mapping[str, Mapping[str, str]], task: str) -> dict[str, str]:
    """Prompt names as sentence-transformers and mteb look them up; of a task by name where it has one of its own."""
    saved = dict(prompts[task])
    for short, of_task in prompts.items():
        saved |= {f"{TASKS[short].name}-{role}": text for role, text in of_task.items() if text != prompts[task][role]}
    return saved
