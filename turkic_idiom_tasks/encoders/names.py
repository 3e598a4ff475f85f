"""Names of encoders, regimes, poolings and number formats, with their checks; imports nothing heavy."""

import json
import re
from pathlib import Path
from typing import Any

from turkic_idiom_tasks.errors import InputError, usage_error

POOLINGS = ("cls", "mean", "max", "first_last", "last_four")
NATIVE = "native"  # the pooling that a model was made for, whatever it is; also of models without one
POOLED_NAME = re.compile(r"(.+) \(pooling=([^)]*)\)")
LAYER_POOLINGS = ("first_last", "last_four")  # these need the hidden states of more layers than the last
# The paper does not say whether its first layer is the output of the embeddings (0) or of the first transformer layer
FIRST_LAYER = 1  # index of the hidden states that count as the first layer; an option everywhere
LAST_LAYERS = 4
DTYPES = ("float32", "bfloat16", "float16")
BATCH_SIZE = 32

# Idioms in the training of a model: none, only Turkish ones, those of the tested language, or those of all languages.
REGIMES = PRETRAINED, TR_ONLY, MONOLINGUAL, CROSS_LINGUAL = ("pretrained", "tr-only", "monolingual", "cross-lingual")
TUNED_REGIMES = (TR_ONLY, MONOLINGUAL, CROSS_LINGUAL)

INITIAL_VECTORS = RANDOM, MEAN = ("random", "mean")  # of the tokens of idioms
REPLACEMENTS = REPLACE_NONE, REPLACE_ALL, REPLACE_SELECTED = ("none", "all", "select")  # of idioms by tokens
IDIOMATIC, NOT_IDIOMATIC = 0, 1  # labels of the classifiers of sentences, as in AStitchInLanguageModels

TRUST_OPTION = "--trust-remote-code"
TRUST_VARIABLE = "TURKIC_IDIOM_TRUST_REMOTE_CODE"  # the same for the stock mteb command, which has no such option

NO_REVISION = "no_revision_available"  # mteb's name for a model without a pinned commit
# The paper's nine encoders: revision, prompts. Revisions are those that mteb pins; it pins none for the others.
PAPER_ENCODERS: dict[str, tuple[str, dict[str, str] | None]] = {
    record["name"]: (record.get("revision", NO_REVISION), record.get("prompts"))
    for record in json.loads(Path(__file__).with_name("paper_encoders.json").read_text(encoding="utf-8"))
}


def split_pooling(name: str) -> tuple[str, str | None]:
    """Return the name of a model and the pooling that follows it, as mteb names one: ``NAME (pooling=mean)``."""
    match = POOLED_NAME.fullmatch(name)
    return (match[1], match[2]) if match else (name, None)


def trust_setting(trust_remote_code: bool) -> dict[str, Any]:
    """Return what a result states about trust: a setting if code of models was allowed to run, otherwise nothing."""
    return {"trust_remote_code": True} if trust_remote_code else {}


def untrusted_code(name: str) -> InputError:
    """Return the error about a model that comes with code of its own, while running such code is not allowed."""
    return usage_error(
        f"{name}: needs code that comes with the model, and nothing has been executed; such code can do whatever you "
        f"can do on this machine. If you have read it and trust its authors, pass {TRUST_OPTION} to turkic-idiom run, "
        f"finetune or grid, set {TRUST_VARIABLE}=1 for the stock mteb command, or put trust_remote_code=True into "
        "--model_args of lm-eval"
    )


def check_pooling(pooling: str) -> None:
    """Raise InputError if a pooling does not exist."""
    if pooling not in POOLINGS:
        raise usage_error(f"unknown pooling {pooling!r}; known: {', '.join(POOLINGS)}")


def check_layers(pooling: str, n_layers: int, *, first_layer: int = FIRST_LAYER) -> None:
    """Raise InputError if a model with this number of layers cannot have a pooling."""
    check_pooling(pooling)
    problem = ""
    if pooling == "last_four" and n_layers < LAST_LAYERS:
        others = ", ".join(name for name in POOLINGS if name != "last_four")
        problem = f"needs {LAST_LAYERS} transformer layers, this model has {n_layers}; use one of {others}"
    elif pooling == "first_last" and not 0 <= first_layer <= n_layers:
        problem = f"first_layer is {first_layer}; a model with {n_layers} layers allows 0 (embeddings) to {n_layers}"
    if problem:
        raise usage_error(f"pooling {pooling}: {problem}")


def check_dtype(dtype: str) -> None:
    """Raise InputError if models cannot be loaded in a dtype."""
    if dtype not in DTYPES:
        raise usage_error(f"unknown dtype {dtype!r}; known: {', '.join(DTYPES)}")
