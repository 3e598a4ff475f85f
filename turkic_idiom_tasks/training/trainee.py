"""Loading of an encoder to fine-tune for retrieval or similarity: modules with the chosen pooling, and prompts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import WeightedLayerPooling
from sentence_transformers.util import is_sentence_transformer_model

from turkic_idiom_tasks.dataset.retrieval import TASKS
from turkic_idiom_tasks.dataset.similarity import SIMILARITY_TASKS, STS
from turkic_idiom_tasks.encoders.folders import MODULES_FILE
from turkic_idiom_tasks.encoders.names import NO_REVISION, check_pooling
from turkic_idiom_tasks.encoders.poolings import native_pooling, with_pooling
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.harnesses.mteb_loading import LoadedModel, resolve_model
from turkic_idiom_tasks.harnesses.mteb_similarity import SIMILARITY_CLASSES
from turkic_idiom_tasks.harnesses.mteb_tasks import TASK_CLASSES

_SENTENCE_PROMPT = "STS"  # name of the prompt of similarity tasks, as sentence-transformers and mteb look it up
_PLAIN_POOLING = "mean"  # pooling that sentence-transformers gives a plain encoder


@dataclass(frozen=True, slots=True, eq=False)
class Trainee:
    """An encoder before it is trained."""

    model: SentenceTransformer  # weights in float32, with its prompts, so that they are saved with it
    name: str  # that the caller gave, without a pooling
    revision: str | None  # Hub commit, or the hash of a folder's files
    pooling: str | None  # one of the five; None if the model's own modules are something else
    is_plain: bool  # whether it is a plain transformers encoder, not a sentence-transformers model
    prompts: Mapping[str, str]  # role (query, document) -> prompt before a text, in training and in evaluation
    task_prompts: Mapping[str, Mapping[str, str]]  # short name of a task -> role -> prompt before a text of that task
    trust_remote_code: bool = False  # whether code that comes with the model was allowed to be executed


def load_trainee(
    name: str,
    *,
    task: str,
    pooling: str | None = None,
    revision: str | None = None,
    device: str | None = None,
    trust_remote_code: bool = False,
) -> Trainee:
    """Return a model by any name that `turkic-idiom run` takes, ready to be trained.

    Args:
        name: mteb name, Hub id or folder, with `` (pooling=…)`` or without.
        task: short name of the task whose prompts are used, ``T2``.
        pooling: one of the five; None keeps the model's own, and gives a plain encoder the mean.
        revision: Hub commit; None is the one that mteb pins, otherwise the newest.
        device: None lets sentence-transformers choose.
        trust_remote_code: whether code that comes with the model may be executed.
    """
    check_pooling(pooling or _PLAIN_POOLING)
    loaded = resolve_model(name, revision=revision, device=device, trust_remote_code=trust_remote_code)
    if loaded.encoder is None:
        raise usage_error(f"{name}: not a transformer encoder, so there is nothing to fine-tune; give another --model")
    if loaded.pooling and pooling not in (None, loaded.pooling):
        raise usage_error(f"{name} names another pooling than pooling={pooling}; leave one of them out")
    is_plain = not _declares_modules(loaded.encoder, str(loaded.meta.revision))
    chosen = pooling or loaded.pooling or (_PLAIN_POOLING if is_plain else None)
    prompts = task_prompts(loaded)
    model = with_pooling(loaded.encoder, chosen) if chosen else loaded.encoder
    for module in model:
        if isinstance(module, WeightedLayerPooling):  # loading a saved model makes its weights trainable again
            module.layer_weights.requires_grad_(False)
    model.prompts = {**model.prompts, **prompts[task]}
    for short, by_role in prompts.items():
        for role, text in by_role.items():
            if text != prompts[task][role]:  # mteb looks up the full name of a task first
                model.prompts[f"{TASKS[short].name}-{role}"] = text
    for_sentences = loaded.prompt(SIMILARITY_CLASSES[SIMILARITY_TASKS[STS].name].metadata)
    if for_sentences != sentence_prompt(model):
        model.prompts[_SENTENCE_PROMPT] = for_sentences
    return Trainee(
        model=model,
        name=name.removesuffix(f" (pooling={loaded.pooling})"),
        revision=loaded.meta.revision,
        pooling=chosen or native_pooling(model),
        is_plain=is_plain,
        prompts=prompts[task],
        task_prompts=prompts,
        trust_remote_code=trust_remote_code,
    )


def sentence_prompt(model: SentenceTransformer) -> str:
    """Return what a trainee puts before each sentence of a pair: its prompt for similarity tasks, or its default."""
    name = _SENTENCE_PROMPT if _SENTENCE_PROMPT in model.prompts else model.default_prompt_name
    return str(model.prompts.get(name or "", "") or "")


def task_prompts(loaded: LoadedModel) -> dict[str, dict[str, str]]:
    """Return short name of a task -> role -> prompt before a text of that task."""
    prompts: dict[str, dict[str, str]] = {}
    for short, task in TASKS.items():
        metadata = TASK_CLASSES[task.name].metadata
        prompts[short] = {role: loaded.prompt(metadata, role) for role in ("query", "document")}
    return prompts


def _declares_modules(model: SentenceTransformer, revision: str) -> bool:
    """Return whether the checkpoint that a model was just loaded from is a sentence-transformers model."""
    origin = str(model[0].model.name_or_path)
    folder = Path(origin)
    if folder.is_dir():  # old checkpoints have the transformer in a subfolder
        return (folder / MODULES_FILE).is_file() or (folder.parent / MODULES_FILE).is_file()
    commit = None if revision == NO_REVISION else revision
    return bool(is_sentence_transformer_model(origin, revision=commit, local_files_only=True))
