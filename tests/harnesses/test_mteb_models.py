"""The models that mteb gets to know through us."""

import logging
import re
import subprocess
import sys
from types import SimpleNamespace

import mteb
import numpy as np
import pytest
import sentence_transformers
from mteb.models.model_implementations import MODEL_REGISTRY
from mteb.types import PromptType

from turkic_idiom_tasks.encoders.char_ngrams import encode_texts
from turkic_idiom_tasks.encoders.community import community_encoders, pinned_revision
from turkic_idiom_tasks.encoders.names import TRUST_VARIABLE
from turkic_idiom_tasks.encoders.poolings import POOLINGS
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses.mteb_models import (
    MODELS_VARIABLE,
    NO_REVISION,
    PAPER_ENCODERS,
    CharNgramEncoder,
    load_community,
    pooled_name,
    register_models,
)
from turkic_idiom_tasks.languages import LANGUAGES

E5 = "intfloat/multilingual-e5-small"


@pytest.mark.long
@pytest.mark.parametrize("first", ["mteb_models", "mteb_tasks"])
def test_models_are_registered_whatever_is_imported_first(first):
    code = (
        "import gc; gc.disable()\n"  # a fifth of the time of the imports
        f"import turkic_idiom_tasks.harnesses.{first}, mteb, sys\n"
        "from mteb.models.model_implementations import MODEL_REGISTRY as R\n"
        "print(sum('(pooling=' in n for n in R), 'turkic-idiom/char-ngrams' in R, 'torch' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # eleven encoders by five poolings; torch is needed for loading a model, not for listing it
    assert run.stdout.split() == ["55", "True", "False"]
    assert "could not register with mteb" not in run.stderr


def test_revisions_and_prompts_are_those_of_mteb():
    listed = [name for name in PAPER_ENCODERS if name in MODEL_REGISTRY and name not in community_encoders()]
    assert len(listed) == 5  # XLM-R, three E5, MPNet
    for revision, _ in PAPER_ENCODERS.values():
        assert revision == NO_REVISION or re.fullmatch("[0-9a-f]{40}", revision)
    for name in listed:
        revision, prompts = PAPER_ENCODERS[name]
        assert revision == MODEL_REGISTRY[name].revision
        assert prompts == MODEL_REGISTRY[name].loader_kwargs.get("model_prompts")


def test_the_communitys_encoders_are_models_of_mteb_with_the_prompts_of_the_paper():
    for name, encoder in community_encoders().items():
        meta = MODEL_REGISTRY[name]
        assert meta.loader is load_community, f"{name}: mteb lists it now; its record can be deleted"
        mteb.models.ModelMeta.model_validate(meta.model_dump())  # a licence or language that mteb does not know
        assert meta.revision == (encoder.revision or NO_REVISION)
        assert meta.n_parameters == encoder.n_parameters
    name = "ytu-ce-cosmos/turkish-e5-large"
    assert community_encoders()[name].prompts == PAPER_ENCODERS[name][1]
    assert pinned_revision(name) is None
    assert pinned_revision(E5) == MODEL_REGISTRY[E5].revision
    assert pinned_revision("LocalDoc/TEmA-small") == "06ab5c02140fa2e4dd7be1cbc61d797ede232070"
    assert pinned_revision("me/unknown") is None


@pytest.fixture
def loaded_with(untrained_bert, monkeypatch):
    """The name, revision and trust with which models were loaded from the Hub; all are the untrained model."""
    loaded_with = []
    load = sentence_transformers.SentenceTransformer.__init__

    def load_folder(self, name, *, revision, trust_remote_code, **options):
        loaded_with.append((name, revision, trust_remote_code))
        load(self, str(untrained_bert), **options)

    monkeypatch.setattr(sentence_transformers.SentenceTransformer, "__init__", load_folder)
    return loaded_with


@pytest.mark.parametrize("revision", [NO_REVISION, "0" * 40])
def test_mteb_loads_a_communitys_encoder_with_its_prompts(loaded_with, revision):
    """The stock command calls the loader with the name, the revision and the arguments of the record."""
    meta = MODEL_REGISTRY["LocalDoc/LocRet-small"].model_copy(update={"revision": revision})
    model = meta.load_model(device="cpu")
    assert model.model_prompts == {"query": "query: ", "document": "passage: "}
    assert loaded_with == [("LocalDoc/LocRet-small", None if revision == NO_REVISION else revision, False)]


@pytest.mark.parametrize("value", ["", "0", "no"])
def test_code_from_the_hub_is_executed_only_on_request(loaded_with, monkeypatch, value):
    meta = MODEL_REGISTRY["newmindai/TurkEmbed4STS"]
    monkeypatch.setenv(TRUST_VARIABLE, value)
    with pytest.raises(InputError, match=f"{TRUST_VARIABLE}=1"):
        meta.load_model(device="cpu")
    assert loaded_with == []
    monkeypatch.setenv(TRUST_VARIABLE, "1")
    meta.load_model(device="cpu")
    assert loaded_with == [(meta.name, None, True)]
    MODEL_REGISTRY["LocalDoc/LocRet-small"].load_model(device="cpu")  # which has no code: it gets no trust
    assert loaded_with[-1] == ("LocalDoc/LocRet-small", None, False)


@pytest.fixture
def register(monkeypatch):
    """Registers what the variable says, in a registry of its own that knows one model of mteb, and returns it."""

    def run(value):
        monkeypatch.setenv(MODELS_VARIABLE, value)
        registry = {E5: MODEL_REGISTRY[E5]}
        register_models(registry)
        return registry

    return run


def test_a_local_checkpoint_gets_a_plain_and_five_pooled_names(register, untrained_bert):
    registry = register(f"test/untrained={untrained_bert}")
    names = [name for name in registry if name.startswith("test/untrained")]
    assert names == ["test/untrained", *(pooled_name("test/untrained", pooling) for pooling in POOLINGS)]
    before = dict(registry)
    register_models(registry)  # as turkic_idiom_tasks.register() does in a notebook
    assert registry == before


@pytest.mark.parametrize(
    ("part", "name", "problem"),
    [
        (f"{E5}=FOLDER", E5, "there is already a model of the name"),
        ("dbmdz/bert-base-turkish-cased=FOLDER", "dbmdz/bert-base-turkish-cased", "choose another, such as me/bert"),
        ("a/b=", "a/b", "names no folder"),
        ("a/b=  ", "a/b (pooling=cls)", "names no folder"),
        ("a/b=/nowhere", "a/b", "'/nowhere' is no folder"),
        ("a/b=FOLDER;a/b=FOLDER", "a/b", "there is already a model of the name 'a/b'"),
        ("no-slash=FOLDER", "no-slash", "the name needs two parts"),
        ("org/=FOLDER", "org/", "the name needs two parts"),
        ("a/b/c=FOLDER", "a/b/c", "the name needs two parts"),
    ],
)
def test_a_malformed_part_is_an_error_when_its_model_is_loaded(register, untrained_bert, caplog, part, name, problem):
    """It never gives the model another one of that name, and the sound part beside it works."""
    with caplog.at_level(logging.WARNING):
        registry = register(f"{part};good/one={untrained_bert}".replace("FOLDER", str(untrained_bert)))
    assert re.search(f"{MODELS_VARIABLE}.*{re.escape(problem)}", caplog.text)
    assert registry["good/one"].load_model(device="cpu").model.get_embedding_dimension() == 32
    for _ in range(2):  # the second time when the models were registered again
        with pytest.raises(InputError, match=f"^{MODELS_VARIABLE}.*{re.escape(problem)}.*$") as caught:
            registry[name].load_model(device="cpu")
        assert "\n" not in str(caught.value)
        register_models(registry)


def test_a_part_without_a_name_is_a_warning(register, untrained_bert, caplog):
    with caplog.at_level(logging.WARNING):
        register(f"={untrained_bert}")
    assert "the name needs two parts" in caplog.text


def test_the_language_comes_from_the_subset():
    metadata = SimpleNamespace(hf_subsets_to_langscripts={"tur-azj": ["tur-Latn", "azj-Latn"]}, languages=["tur-Latn"])
    batches = [{"text": ["xəbər"]}, {"text": ["qələm"]}]
    options = {"task_metadata": metadata, "hf_split": "test", "hf_subset": "tur-azj"}
    model = CharNgramEncoder()
    documents = model.encode(batches, prompt_type=PromptType.document, **options)
    queries = model.encode(batches, prompt_type=PromptType.query, **options)
    np.testing.assert_array_equal(documents, encode_texts(["xəbər", "qələm"], LANGUAGES["az"]))
    np.testing.assert_array_equal(queries, encode_texts(["xəbər", "qələm"], LANGUAGES["tr"]))
    assert not np.array_equal(documents, queries)
