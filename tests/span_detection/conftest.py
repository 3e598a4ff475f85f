"""Classifiers whose every answer is known beforehand, tagged data sets, and the runs of lm-eval that tests share."""

import json

import pytest

from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import write_lexicon
from turkic_idiom_tasks.span_detection.sentences import open_spans
from turkic_idiom_tasks.spans import LABELS, Span
from turkic_idiom_tasks.splits import span_split

LETTERS = "abcçdeəfgğhxıijkqlmnoöprsştuüvwyzäňýžêţâîûʻʼ0123456789"
SIZES = {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}


def letter_tokenizer(folder, *, lowers=False, **options):
    """Every letter is a piece of its own; BERT's normaliser takes out what cannot be seen, such as U+200B."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    letters = [*LETTERS, *(letter.upper() for letter in LETTERS if len(letter.upper()) == 1), *"İI.,"]
    pieces = [*special, *dict.fromkeys(letters), *(f"##{letter}" for letter in dict.fromkeys(letters))]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=200))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowers, strip_accents=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"} | options
    if names["cls_token"]:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
    given = {name: value for name, value in names.items() if value is not None}
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **given)
    made.save_pretrained(folder)
    return made


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    """Models as small as these only wait for their threads."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def make_classifier(tmp_path_factory):
    """A function that writes a token classifier and returns its folder.

    With `pieces` (piece -> tag) or `positions` (tag of each position) the output at a piece is that tag, whatever
    stands around it: attention and feed-forward layers add nothing, and an embedding holds four ones out of twelve at
    the place of its tag, which is what the classifier's row for the tag looks for. Without either the weights are
    random.
    """

    def make(*, pieces=None, positions=None, labels=LABELS, kind="bert", size=512, tokenizer=None, seed=0):
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
            if pieces is None and positions is None:
                for parameter in model.parameters():
                    parameter.add_(0.5 * torch.randn_like(parameter))
            else:
                _rig(model, vocabulary, pieces or {}, positions or ())
        model.save_pretrained(folder)
        return folder

    return make


def _rig(model, vocabulary, pieces, positions):
    import torch

    ones = {label: torch.eye(3)[number].repeat_interleave(4) for number, label in enumerate(LABELS)}
    embeddings = model.bert.embeddings
    for layer in (embeddings.word_embeddings, embeddings.position_embeddings, embeddings.token_type_embeddings):
        layer.weight.zero_()
    for layer in model.bert.encoder.layer:
        for dense in (layer.attention.output.dense, layer.output.dense):
            dense.weight.zero_()
            dense.bias.zero_()
    for piece, number in vocabulary.items():
        if not positions:
            embeddings.word_embeddings.weight[number] = ones[pieces.get(piece, "O")]
    for position, label in enumerate(positions):
        embeddings.position_embeddings.weight[position] = ones[label]
    for number, label in model.config.id2label.items():
        model.classifier.weight[number] = ones[label]
    model.classifier.bias.zero_()


@pytest.fixture(scope="session")
def first_letter_classifier(make_classifier):
    """Folder of a classifier for which a word that begins with g, d or b begins an idiom, with a, y, e or ç goes on.

    Within a word a, i and u go on with an idiom, which only the scores of the pieces see.
    """
    inside = dict.fromkeys([*"ayeçvt", "##a", "##i", "##u"], "I-IDIOM")
    return make_classifier(pieces=dict.fromkeys("gdbGDBk", "B-IDIOM") | inside)


def concepts_of(split, n, prefix="c"):
    """The first n made-up concept ids of a split."""
    return [f"{prefix}-{k}" for k in range(1000) if span_split(f"{prefix}-{k}") == split][:n]


def example(concept, idiom, before, found, after):
    """An entry whose example has the idiom between two other parts."""
    text = f"{before}{found}{after}"
    return Entry(concept, idiom, "anlamı", text, (Span(len(before), len(before) + len(found)),))


@pytest.fixture
def turkish_only(tmp_path):
    """A lexicon with four test, two validation and five training sentences in Turkish; its Azerbaijani has no spans."""
    test, validation, train = (concepts_of(split, n) for split, n in (("test", 4), ("validation", 2), ("train", 5)))
    words = ["baş", "göz", "kulak", "dil", "diş", "burun", "yüz", "boyun", "kan", "can", "yürek"]
    rows = [
        example(concept, f"{word} tutmak", f"Ali bugün {number}. kez ", f"{word} tuttu", ".")
        for number, (concept, word) in enumerate(zip(test + validation + train, words, strict=True))
    ]
    azerbaijani = [Entry(concept, "baş əymək", None, "Əli baş əydi.") for concept in test]
    concepts = [Concept(concept, "gloss") for concept in test + validation + train]
    write_lexicon(tmp_path / "turkish_only", concepts, {"tr": rows, "az": azerbaijani})
    return tmp_path / "turkish_only"


@pytest.fixture
def hub_layout(tmp_path):
    """A function that writes rows as config span-tr (or another) in a directory in the Hub layout."""

    def write(rows_of_split, *, config="span-tr", kind="jsonl", name="hub"):
        folder = tmp_path / name
        (folder / "data" / config).mkdir(parents=True, exist_ok=True)
        files = []
        for split, rows in rows_of_split.items():
            path = folder / "data" / config / f"{split}.{kind}"
            if kind == "jsonl":
                path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
            else:
                import pyarrow as pa
                import pyarrow.parquet as pq

                pq.write_table(pa.Table.from_pylist(rows), path)
            files.append(f"  - split: {split}\n    path: data/{config}/{split}.{kind}\n")
        card = "".join(["---\nconfigs:\n", f"- config_name: {config}\n  data_files:\n", *files, "---\n"])
        (folder / "README.md").write_text(card, "utf-8")
        return folder

    return write


@pytest.fixture(autouse=True)
def _fresh_cache():
    open_spans.cache_clear()


@pytest.fixture(scope="session")
def bundled():
    """(language, sentence) for every annotated example of the bundled lexicon."""
    source = open_spans("")
    return [
        (LANGUAGES[code], sentence)
        for code in source.languages
        for rows in source.load(code).values()
        for sentence in rows
    ]
