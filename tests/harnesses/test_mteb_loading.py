"""From a name to a loaded model, and the prompts that mteb would give it."""

import mteb
import pytest
import torch
from datasets import Dataset
from mteb.models.instruct_wrapper import InstructSentenceTransformerModel
from mteb.models.sentence_transformer_wrapper import SentenceTransformerEncoderWrapper
from mteb.types import PromptType
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling
from torch.utils.data import DataLoader

from turkic_idiom_tasks.encoders.checkpoints import load_checkpoint
from turkic_idiom_tasks.encoders.poolings import native_pooling, with_pooling
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses.mteb_loading import LoadedModel, resolve_model
from turkic_idiom_tasks.io import hub_client


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    monkeypatch.setattr(hub_client, "is_reachable", lambda: False)


def test_a_local_folder(minilm):
    loaded = resolve_model(f"{minilm} (pooling=max)", device="cpu")
    assert loaded.pooling == "max"
    assert native_pooling(loaded.encoder) == "mean"
    assert loaded.encoder.dtype == torch.float32
    assert len(loaded.meta.revision) == 40


def test_other_models_stay_as_mteb_has_them():
    loaded = resolve_model("bm25s")  # its old name in mteb
    assert loaded.encoder is None
    assert loaded.meta.name == loaded.mteb_model.mteb_model_meta.name == "mteb/baseline-bm25s"


def test_the_native_pooling_is_known_and_that_of_models_that_rank_otherwise_is_none(untrained_bert):
    def loaded():
        return load_checkpoint(str(untrained_bert), device="cpu")

    transformer = loaded()[0]

    def model(*modules, **options):
        return SentenceTransformer(modules=[transformer, *modules], device="cpu", **options)

    for pooling in ("cls", "mean", "max"):
        assert native_pooling(model(Pooling(32, pooling))) == pooling
    mean = Pooling(32, "mean")
    assert native_pooling(model(mean, Normalize(), similarity_fn_name="dot")) == "mean"
    for other in (
        *(with_pooling(loaded(), name) for name in ("first_last", "last_four")),
        model(mean, Dense(32, 8)),
        *(model(Pooling(32, mode)) for mode in ("lasttoken", ("cls", "mean"))),
        model(Pooling(32, "mean", include_prompt=False)),
        model(mean, Normalize(), truncate_dim=8),
        model(mean, similarity_fn_name="dot"),
    ):
        assert native_pooling(other) is None, other


def recorded_text(wrapper, task, kind):
    """The one text that really reaches the tokenizer when mteb encodes "göz" through a wrapper."""
    seen = []
    preprocess = wrapper.model.preprocess

    def spy(inputs, prompt=None, **kwargs):
        seen.append((prompt or "") + inputs[0])
        return preprocess(inputs, prompt=prompt, **kwargs)

    wrapper.model.preprocess = spy
    texts = DataLoader(Dataset.from_dict({"text": ["göz"]}))
    wrapper.encode(texts, task_metadata=task, hf_split="test", hf_subset="tur", prompt_type=kind)
    return seen[0]


PROMPTS = {  # of the model, its default, of mteb's record
    "none": ({}, None, None),
    "own": ({"query": "soru: ", "document": "metin: "}, None, None),
    "passage": ({"query": "q: ", "passage": "p: "}, None, None),
    "default": ({"x": "her: "}, "x", None),
    "e5": ({}, None, {"query": "query: ", "document": "passage: "}),
}


@pytest.mark.parametrize("kind", [PromptType.query, PromptType.document])
@pytest.mark.parametrize("case", [*PROMPTS, "instruction", "instruction of queries alone"])
def test_the_prompt_is_what_mteb_puts_before_a_text(untrained_bert, case, kind):
    if case in PROMPTS:
        model = with_pooling(load_checkpoint(str(untrained_bert), device="cpu"), "mean")
        model.prompts, model.default_prompt_name, of_mteb = PROMPTS[case]
        wrapper = SentenceTransformerEncoderWrapper(model, model_prompts=of_mteb)
    else:
        template, to_passages = "Instruct: {instruction}\nQuery: ", case == "instruction"
        wrapper = InstructSentenceTransformerModel(
            str(untrained_bert),
            None,
            device="cpu",
            instruction_template=template,
            apply_instruction_to_passages=to_passages,
        )
    task = mteb.get_task("TurkicIdiomT2").metadata
    prompt = LoadedModel(None, wrapper, wrapper.model).prompt(task, kind.value)
    assert prompt + "göz" == recorded_text(wrapper, task, kind)
    if case not in PROMPTS and kind == PromptType.query:
        assert prompt.startswith("Instruct: Given an idiom")


def test_a_folder_without_a_model_that_makes_vectors_is_refused(untrained_bert, tmp_path):
    CrossEncoder(str(untrained_bert), num_labels=1, device="cpu").save_pretrained(str(tmp_path / "cross"))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{broken")
    for folder, problem in (
        ("", "not a model folder"),
        ("broken", "cannot be loaded as a model"),
        ("cross", "a CrossEncoder scores pairs and makes no vectors"),  # rather than mean-pooled
    ):
        with pytest.raises(InputError, match=problem) as caught:
            resolve_model(str(tmp_path / folder))
        assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "name", ["jinaai/jina-embeddings-v3", "newmindai/TurkEmbed4STS", "newmindai/TurkEmbed4STS (pooling=mean)"]
)
def test_a_registered_model_that_needs_code_is_refused_before_anything_is_loaded(name):
    with pytest.raises(InputError, match="--trust-remote-code"):
        resolve_model(name)
    with pytest.raises(InputError) as caught:
        resolve_model(name, trust_remote_code=True)
    assert "--trust-remote-code" not in str(caught.value)  # but that there is no network, or a package is missing
