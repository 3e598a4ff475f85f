"""Small lexicons; a tokenizer that loses nothing, and a transformer without training that uses it."""

import pytest

from tests.lm_eval_runs import few_tasks, manager  # noqa: F401
from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.lexicon.entries import Concept, Entry, Lexicon
from turkic_idiom_tasks.lexicon.load import BUNDLED
from turkic_idiom_tasks.splits import retrieval_split

NOUNS = (
    "göz", "baş", "diş", "kulak", "burun", "yüz", "boyun", "kan", "can", "yürek", "gönül", "taş",
    "su", "yol", "gün", "söz", "el", "ayak", "dil", "bel", "kol", "saç", "diz", "ateş",
)  # fmt: skip
VERBS = ("tutmak", "atmak", "çekmek", "vurmak", "bakmak", "kırmak", "açmak")


def small_lexicon(n_concepts, *, judgements=None, order=None):
    """Return a Turkish lexicon whose first half are test concepts, two neighbours with one word of the gloss in common.

    Judgements are by the numbers of two concepts, the order is that of the entries.
    """
    test, other = [], []
    for number in range(400):
        (test if retrieval_split(f"c-{number}") == "test" else other).append(f"c-{number}")
    names = [*test[: n_concepts // 2], *other[: n_concepts - n_concepts // 2]]
    entries = {}
    for number in order or range(n_concepts):
        idiom = f"{NOUNS[number % len(NOUNS)]} {VERBS[number % len(VERBS)]}"
        meaning = f"{'çok ' * (number % 4)}{NOUNS[-number % len(NOUNS)]}lemek"
        entries[names[number]] = Entry(names[number], idiom, meaning)
    equivalents = {}
    for (first, second), judgement in (judgements or {}).items():
        equivalents[tuple(sorted((names[first], names[second])))] = judgement
    concepts = {}
    for number, name in enumerate(names):
        concepts[name] = Concept(name, f"to {chr(ord('a') + number // 2) * 3}", "verb")
    return Lexicon(concepts, {"tr": entries}, revision="0" * 40, equivalents=equivalents)


@pytest.fixture(scope="session")
def dataset():
    return current_dataset()


@pytest.fixture(scope="session")
def unjudged_lexicon(tmp_path_factory):
    """Folder with few Uzbek and Azerbaijani entries of the bundled lexicon, and without equivalents."""
    folder = tmp_path_factory.mktemp("unjudged")
    for name, n_lines in (("concepts.jsonl", None), ("uz.jsonl", 90), ("az.jsonl", 90)):
        lines = (BUNDLED / name).read_text("utf-8").splitlines(keepends=True)
        (folder / name).write_text("".join(lines[:n_lines]), "utf-8")
    return folder


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
