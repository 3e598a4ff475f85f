"""Tiny untrained models of several architectures, made on the spot for tests of mechanics."""

import json
import shutil
from pathlib import Path

import pytest

WORDS = ("baş", "boş", "eğmek", "əymək", "göz", "dil", "el", "kalp", "yürek", "su", "ateş", "ev", "yol", "gün", "gece")
SIZES = {"hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 64}


SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def save_tokenizer(folder, **options):
    """A tokenizer of whole words."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate([*SPECIAL, *WORDS])}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    save_with_special_tokens(tokenizer, folder, **options)


def save_with_special_tokens(tokenizer, folder, **options):
    """Save a tokenizer as a fast one and return it; an option of None takes a special token away."""
    from tokenizers import processors
    from transformers import PreTrainedTokenizerFast

    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"} | options
    if names["cls_token"]:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
    given = {name: value for name, value in names.items() if value is not None}
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **given)
    made.save_pretrained(folder)
    return made


@pytest.fixture(scope="session")
def make_untrained(tmp_path_factory):
    """A function that writes a tiny untrained model of an architecture and returns its folder."""

    def make(kind="bert", *, tokenizer=None, seed=0, **changes):
        import torch
        from transformers import CONFIG_MAPPING, AutoModel

        sizes = SIZES | {"max_position_embeddings": 64} | changes
        if kind == "distilbert":
            sizes = {"dim": 32, "n_layers": 4, "n_heads": 4, "hidden_dim": 64, "max_position_embeddings": 64}
        torch.manual_seed(seed)
        model = AutoModel.from_config(CONFIG_MAPPING[kind](vocab_size=len(WORDS) + 4, pad_token_id=0, **sizes))
        with torch.no_grad():  # at their initial values a forgotten bias or layer norm would not show
            for parameter in model.parameters():
                parameter.add_(0.1 * torch.randn_like(parameter))
        folder = tmp_path_factory.mktemp(f"untrained_{kind}")
        model.save_pretrained(folder)
        save_tokenizer(folder, **(tokenizer or {}))
        return folder

    return make


@pytest.fixture(scope="session")
def untrained_bert(make_untrained):
    """Folder of a tiny untrained BERT: 4 layers, hidden size 32."""
    return make_untrained()


@pytest.fixture(scope="session")
def sentence_model(untrained_bert, tmp_path_factory):
    """The tiny untrained BERT as a sentence-transformers checkpoint."""
    from turkic_idiom_tasks.encoders.checkpoints import load_checkpoint
    from turkic_idiom_tasks.encoders.poolings import with_pooling

    folder = tmp_path_factory.mktemp("sentence_model")
    with_pooling(load_checkpoint(str(untrained_bert)), "mean").save_pretrained(str(folder), create_model_card=False)
    return folder


CUSTOM_CODE = """
from pathlib import Path
from transformers import BertConfig, BertForSequenceClassification, BertForTokenClassification, BertModel

Path(MARK).touch()


class CustomConfig(BertConfig):
    model_type = "custom_bert"


class CustomModel(BertModel):
    config_class = CustomConfig


class CustomForTokenClassification(BertForTokenClassification):
    config_class = CustomConfig


class CustomForSequenceClassification(BertForSequenceClassification):
    config_class = CustomConfig
"""
CUSTOM_CLASSES = {
    "AutoConfig": "custom.CustomConfig",
    "AutoModel": "custom.CustomModel",
    "AutoModelForTokenClassification": "custom.CustomForTokenClassification",
    "AutoModelForSequenceClassification": "custom.CustomForSequenceClassification",
}


@pytest.fixture(scope="session")
def custom_model(untrained_bert, tmp_path_factory):
    """Folder of the untrained BERT as an architecture that only the code in the folder knows.

    The code makes a file ``executed`` beside the folder.
    """
    folder = Path(shutil.copytree(untrained_bert, tmp_path_factory.mktemp("custom") / "model"))
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "custom_bert", "auto_map": CUSTOM_CLASSES}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "custom.py").write_text(CUSTOM_CODE.replace("MARK", repr(str(folder.parent / "executed"))))
    return folder


@pytest.fixture
def executed(custom_model, tmp_path, monkeypatch):
    """The file that exists once the code of the custom model was executed."""
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    mark = custom_model.parent / "executed"
    mark.unlink(missing_ok=True)
    return mark


@pytest.fixture(scope="session")
def texts():
    """Forty texts of 1 to 12 words, at least two of them equal."""
    import numpy as np

    rng = np.random.default_rng(0)
    made = [" ".join(rng.choice(WORDS, size=1 + index % 12)) for index in range(39)]
    return [*made, made[3]]
