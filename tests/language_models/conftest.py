"""A tokenizer that loses nothing, and a transformer without training that uses it."""

import pytest

from tests.span_detection.conftest import few_tasks  # noqa: F401


@pytest.fixture(scope="session")
def byte_tokenizer(tmp_path_factory):
    """Folder of a tokenizer whose tokens are the bytes of the text, so that decoding gives the text again."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {letter: number for number, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    folder = tmp_path_factory.mktemp("byte_tokenizer")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>", pad_token="<eos>").save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def untrained_gpt(byte_tokenizer, tmp_path_factory):
    """Folder of a small GPT-2 with random weights."""
    import torch
    from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel

    tokenizer = AutoTokenizer.from_pretrained(byte_tokenizer)
    torch.manual_seed(0)
    end = tokenizer.eos_token_id
    config = GPT2Config(vocab_size=len(tokenizer), n_positions=2048, n_embd=16, n_layer=1, n_head=2,
                        bos_token_id=end, eos_token_id=end, initializer_range=0.5)  # fmt: skip
    folder = tmp_path_factory.mktemp("untrained_gpt")
    GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
