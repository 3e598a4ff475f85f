"""Loading of an encoder to fine-tune for retrieval or similarity: modules with the chosen pooling, and prompts."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import WeightedLayerPooling
from sentence_transformers.util import is_sentence_transformer_model

from turkic_idiom_tasks.dataset.retrieval import TASKS
from turkic_idiom_tasks.dataset.similarity import STS
from turkic_idiom_tasks.encoders.folders import MODULES_FILE
from turkic_idiom_tasks.encoders.names import check_pooling
from turkic_idiom_tasks.encoders.poolings import native_pooling, with_pooling
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.harnesses.mteb_loading import SENTENCE, resolve_model

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
    name: str, *, task: str, pooling: str | None = None, revision: str | None = None, trust_remote_code: bool = False
) -> Trainee:
    """Return a model by any name that `turkic-idiom run` takes, ready to be trained with the prompts of a task.

    The pooling None keeps the model's own, and gives a plain encoder the mean. The revision None is the commit that
    mteb pins, otherwise the newest.
    """
    check_pooling(pooling or _PLAIN_POOLING)
    loaded = resolve_model(name, revision=revision, trust_remote_code=trust_remote_code)
    if loaded.encoder is None:
        raise usage_error(f"{name}: not a transformer encoder, so there is nothing to fine-tune; give another --model")
    if loaded.pooling and pooling not in (None, loaded.pooling):
        raise usage_error(f"{name}: names another pooling than pooling={pooling}; leave one of them out")
    # Does the checkpoint declare modules? The loaded model has some in any case: the library gives a plain encoder a
    # mean pooling. Old checkpoints have the transformer in a subfolder; those of the Hub are in the cache by now.
    origin = str(loaded.encoder[0].model.name_or_path)
    if Path(origin).is_dir():
        is_plain = not any((folder / MODULES_FILE).is_file() for folder in (Path(origin), Path(origin).parent))
    else:
        is_plain = not is_sentence_transformer_model(origin, revision=loaded.revision, local_files_only=True)
    chosen = pooling or loaded.pooling or (_PLAIN_POOLING if is_plain else None)
    prompts = {short: loaded.prompts(short) for short in TASKS}
    model = with_pooling(loaded.encoder, chosen) if chosen else loaded.encoder
    for module in model:
        if isinstance(module, WeightedLayerPooling):  # loading a saved model makes its weights trainable again
            module.layer_weights.requires_grad_(False)
    # mteb may know prompts that the checkpoint does not have; the saved model is to bring them along
    model.prompts = {**model.prompts, **prompts[task]}
    for short, by_role in prompts.items():
        for role, text in by_role.items():
            if text != prompts[task][role]:  # mteb looks up the full name of a task first
                model.prompts[f"{TASKS[short].name}-{role}"] = text
    for_sentences = loaded.prompts(STS)[SENTENCE]
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
