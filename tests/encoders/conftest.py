import shutil
from pathlib import Path

import pytest

WORDS = [
    "göz",
    "yummaq",
    "baş",
    "eğmek",
    "kulak",
    "asmak",
    "dil",
    "tutmaq",
    "el",
    "uzatmak",
    "yürek",
    "yanmak",
    "görmezden",
    "gelmek",
    "boyun",
    "saygı",
    "göstermek",
    "dinlemek",
    "konuşmamak",
    "yardım",
    "etmek",
    "üzülmek",
]


def save_bert(folder, *, n_layers=4, seed=0):
    """An untrained BERT of width 32 with a WordPiece tokenizer, saved as a plain transformers folder.

    Biases and layer norms are drawn too: at their initial values a forgotten one would not show.
    """
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    letters = "abcçdeəfgğhxıijkqlmnoöprsştuüvyz"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters), *WORDS]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=64,
    )
    state = torch.random.get_rng_state()
    torch.manual_seed(seed)
    model = BertModel(
        BertConfig(
            vocab_size=len(vocabulary),
            hidden_size=32,
            num_hidden_layers=n_layers,
            num_attention_heads=4,
            intermediate_size=64,
            max_position_embeddings=64,
        ),
        add_pooling_layer=False,
    ).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    torch.random.set_rng_state(state)
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def untrained(tmp_path_factory):
    """Folder of an untrained BERT: 4 layers, width 32; plain transformers files."""
    return save_bert(tmp_path_factory.mktemp("models") / "untrained")


@pytest.fixture
def own_copy(untrained, tmp_path):
    """A copy of the untrained model that a test may change."""
    return Path(shutil.copytree(untrained, tmp_path / "copy"))
