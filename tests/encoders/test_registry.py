import logging
import re
import subprocess
import sys
import time

import numpy as np
import pytest

from turkic_idiom_tasks.encoders.poolings import POOLINGS
from turkic_idiom_tasks.encoders.registry import MODELS_VARIABLE, NO_REVISION, PAPER_ENCODERS, model_metas, pooled_name


@pytest.mark.parametrize(
    "first", ["mteb", *(f"turkic_idiom_tasks.encoders.{m}" for m in ("registry", "char_ngrams", "resolve"))]
)
def test_models_are_registered_whatever_is_imported_first(first):
    code = (
        f"import {first}, mteb, sys; from mteb.models.model_implementations import MODEL_REGISTRY as R;"
        "print(sum('(pooling=' in n for n in R), 'turkic-idiom/char-ngrams' in R, 'torch' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["55", "True", "False"]  # eleven encoders by five poolings; torch not needed
    assert "could not register" not in found.stderr


def test_construction_is_cheap():
    model_metas()
    best = min(_seconds(model_metas) for _ in range(5))
    assert best < 0.020


def _seconds(action):
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def test_revisions_and_prompts_are_those_of_mteb():
    from mteb.models.model_implementations import MODEL_REGISTRY

    listed = [name for name in PAPER_ENCODERS if name in MODEL_REGISTRY]
    assert len(listed) == 5  # XLM-R, three E5, MPNet
    for name in listed:
        revision, prompts = PAPER_ENCODERS[name]
        assert revision == MODEL_REGISTRY[name].revision
        assert prompts == MODEL_REGISTRY[name].loader_kwargs.get("model_prompts")


def test_a_revision_is_a_commit_or_none():
    for revision, _ in PAPER_ENCODERS.values():
        assert revision == NO_REVISION or re.fullmatch("[0-9a-f]{40}", revision)


@pytest.fixture
def local_meta(monkeypatch, untrained_bert):
    monkeypatch.setenv(MODELS_VARIABLE, f"test/untrained={untrained_bert}")
    return {meta.name: meta for meta in model_metas()}


def test_a_local_checkpoint_gets_a_plain_and_five_pooled_names(local_meta):
    names = [name for name in local_meta if name.startswith("test/untrained")]
    assert names == ["test/untrained", *(pooled_name("test/untrained", pooling) for pooling in POOLINGS)]


def test_mteb_loads_a_local_checkpoint_under_a_pooling(local_meta, untrained_bert, texts):
    from turkic_idiom_tasks.encoders.pooled import PooledEncoder

    ours = PooledEncoder.load(str(untrained_bert), device="cpu").encode(texts)
    for pooling in POOLINGS:
        model = local_meta[pooled_name("test/untrained", pooling)].load_model(device="cpu")
        assert type(model).__module__.startswith("mteb.")
        assert {type(module).__module__.partition(".")[0] for module in model.model} == {"sentence_transformers"}
        np.testing.assert_allclose(model.model.encode(texts), ours[pooling], atol=1e-5)


def test_a_malformed_variable_is_a_warning(monkeypatch, untrained_bert, caplog):
    monkeypatch.setenv(MODELS_VARIABLE, f"nonsense;no-slash={untrained_bert};a/b=/nowhere;;good/one={untrained_bert}")
    with caplog.at_level(logging.WARNING):
        names = {meta.name for meta in model_metas()}
    assert {name for name in names if name.startswith(("good/", "a/", "no-slash"))} == {
        "good/one",
        *(pooled_name("good/one", pooling) for pooling in POOLINGS),
    }
    warned = " ".join(record.getMessage() for record in caplog.records)
    assert all(part in warned for part in ("'nonsense'", "'a/b=/nowhere'", "no-slash", MODELS_VARIABLE))
