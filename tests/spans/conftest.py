"""Classifiers whose every answer is known beforehand."""

import pytest

from tests.dataset.conftest import hub_layout, turkish_only  # noqa: F401
from tests.encoders.untrained_models import SPECIAL, save_with_special_tokens
from tests.items.conftest import byte_tokenizer  # noqa: F401
from tests.lm_eval_runs import few_tasks, manager  # noqa: F401
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.spans import LABELS

LETTERS = "abcçdeəfgğhxıijkqlmnoöprsştuüvwyzäňýžêţâîûʻʼ0123456789"
SIZES = {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}


def letter_tokenizer(folder, *, lowers=False, **options):
    """Every letter is a sub-word of its own; BERT's normaliser takes out what cannot be seen, such as U+200B."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    letters = [*LETTERS, *(letter.upper() for letter in LETTERS if len(letter.upper()) == 1), *"İI.,"]
    subwords = [*SPECIAL, *dict.fromkeys(letters), *(f"##{letter}" for letter in dict.fromkeys(letters))]
    vocabulary = {subword: number for number, subword in enumerate(subwords)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=200))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowers, strip_accents=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return save_with_special_tokens(tokenizer, folder, **options)


@pytest.fixture(scope="session")
def make_classifier(tmp_path_factory):
    """A function that writes a token classifier and returns its folder.

    With `subwords` (sub-word -> tag) or `positions` (tag of each position) the output at a sub-word is that tag,
    whatever stands around it: attention and feed-forward layers add nothing, and an embedding holds four ones out of
    twelve at the place of its tag, which is what the classifier's row for the tag looks for. Without either the weights
    are random.
    """

    def make(*, subwords=None, positions=None, labels=LABELS, kind="bert", size=512, tokenizer=None, seed=0):
        import torch
        from transformers import CONFIG_MAPPING, AutoModelForTokenClassification

        folder = tmp_path_factory.mktemp("classifier")
        vocabulary = letter_tokenizer(folder, **(tokenizer or {})).get_vocab()
        sizes = SIZES
        if kind == "distilbert":
            sizes = {"dim": 12, "n_layers": 2, "n_heads": 2, "hidden_dim": 16}
        config = CONFIG_MAPPING[kind](
            vocab_size=len(vocabulary), max_position_embeddings=size, id2label=dict(enumerate(labels)), **sizes
        )
        torch.manual_seed(seed)
        model = AutoModelForTokenClassification.from_config(config)
        with torch.no_grad():
            if subwords is None and positions is None:
                for parameter in model.parameters():
                    parameter.add_(0.5 * torch.randn_like(parameter))
            else:
                _rig(model, vocabulary, subwords or {}, positions or ())
        model.save_pretrained(folder)
        return folder

    return make


def _rig(model, vocabulary, subwords, positions):
    import torch

    ones = {label: torch.eye(3)[number].repeat_interleave(4) for number, label in enumerate(LABELS)}
    embeddings = model.bert.embeddings
    for layer in (embeddings.word_embeddings, embeddings.position_embeddings, embeddings.token_type_embeddings):
        layer.weight.zero_()
    for layer in model.bert.encoder.layer:
        for dense in (layer.attention.output.dense, layer.output.dense):
            dense.weight.zero_()
            dense.bias.zero_()
    for subword, number in vocabulary.items():
        if not positions:
            embeddings.word_embeddings.weight[number] = ones[subwords.get(subword, "O")]
    for position, label in enumerate(positions):
        embeddings.position_embeddings.weight[position] = ones[label]
    for number, label in model.config.id2label.items():
        model.classifier.weight[number] = ones[label]
    model.classifier.bias.zero_()


@pytest.fixture(scope="session")
def first_letter_classifier(make_classifier):
    """Folder of a classifier for which a word that begins with g, d or b begins an idiom, with a, y, e or ç goes on.

    Within a word a, i and u go on with an idiom, which only the scores of the sub-words see.
    """
    inside = dict.fromkeys([*"ayeçvt", "##a", "##i", "##u"], "I-IDIOM")
    return make_classifier(subwords=dict.fromkeys("gdbGDBk", "B-IDIOM") | inside)


def by_first_letter(words):
    """What `first_letter_classifier` says of words: a letter for each."""
    return "".join("B" if word[0] in "gdbGDBk" else "I" if word[0] in "ayeçvt" else "O" for word in words)


@pytest.fixture(scope="session")
def bundled():
    """(language, sentence) for every annotated example of the bundled lexicon."""
    dataset = open_dataset()
    return [
        (LANGUAGES[code], sentence)
        for code in dataset.span_languages
        for rows in dataset.sentences(code).values()
        for sentence in rows
    ]
