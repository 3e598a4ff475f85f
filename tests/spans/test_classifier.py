"""Token classifiers of known answers: windows, batches, labels and tokenizers of all kinds, and tags of sub-words."""

import json
import shutil
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import (
    AutoModel,
    AutoModelForTokenClassification,
    AutoTokenizer,
    ByT5Tokenizer,
    RobertaTokenizerFast,
)

from tests.spans.conftest import by_first_letter
from turkic_idiom_tasks.encoders.tokenizer import load_tokenizer, window_length
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.spans import LABELS
from turkic_idiom_tasks.tasks.spans.classifier import TokenClassifier, encode_words
from turkic_idiom_tasks.tasks.spans.subwords import IGNORED, project_tags, subword_labels, word_tags

O, B, I = LABELS  # noqa: E741
SENTENCES = [
    ["göz", "yumdu", "."],
    ["baş"],
    ["Ali", "bugün", "okula", "gitmedi", ",", "çünkü", "hasta", "."],
    ["dil"],
    ["komşusunun", "yaptıklarına", "göz", "yumdu"],
    ["e", "g", "ı", "i"],
]


def tags(prediction):
    return "".join(tag[0] for tag in prediction.tags)


def predict(classifier, sentences, language="tr", **options):
    return classifier.predict(sentences, [language] * len(sentences), progress=False, **options)


def alone(folder, words):
    """The tags of one sentence straight from transformers, a word by its first sub-word."""
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForTokenClassification.from_pretrained(folder)
    encoded = tokenizer(list(words), is_split_into_words=True, return_tensors="pt", return_token_type_ids=False)
    with torch.no_grad():
        numbers = model.eval()(**encoded).logits[0].argmax(-1).tolist()
    owners = encoded.word_ids()
    return "".join(model.config.id2label[numbers[owners.index(word)]][0] for word in range(len(words)))


@pytest.fixture(scope="module")
def first_letter(first_letter_classifier):
    return TokenClassifier.load(str(first_letter_classifier))


def test_padding_and_batch_order_change_nothing(make_classifier):
    # Untrained, so that the answer at a sub-word depends on all of the others, and of a seed that gives all three tags
    untrained = (make_classifier(seed=seed) for seed in range(50))
    bert = next(folder for folder in untrained if len(set("".join(alone(folder, words) for words in SENTENCES))) == 3)
    for folder in (bert, make_classifier(kind="distilbert")):  # the second knows no types of tokens
        expected = [alone(folder, words) for words in SENTENCES]
        classifier = TokenClassifier.load(str(folder))
        for batch_size in (1, 2, 100):
            for order in (1, -1):
                found = predict(classifier, SENTENCES[::order], batch_size=batch_size)
                assert [tags(one) for one in found] == expected[::order]


@pytest.mark.parametrize(
    "options", [{"padding_side": "left"}, {"pad_token": None, "eos_token": "[SEP]"}, {"truncation_side": "left"}]
)
def test_whatever_a_tokenizer_pads_or_cuts_its_words_keep_their_tags(make_classifier, options):
    folder = make_classifier(subwords=dict.fromkeys("gdbGDBk", B) | dict.fromkeys("ayeçvt", I), tokenizer=options)
    long = [word for words in SENTENCES for word in words] * 5
    found = predict(TokenClassifier.load(str(folder), max_length=32), [*SENTENCES, long])
    assert [tags(one) for one in found] == [by_first_letter(words) for words in [*SENTENCES, long]]


@settings(max_examples=50)
@given(
    st.lists(st.lists(st.text("gözyuma.", min_size=1, max_size=9), min_size=1, max_size=25), min_size=1, max_size=5),
    st.integers(8, 40),
    st.integers(1, 6),
)
def test_every_word_has_the_tag_of_its_first_subword_whatever_the_window(
    first_letter, sentences, max_length, batch_size
):
    classifier = TokenClassifier(first_letter.model, first_letter.tokenizer, name="test", max_length=max_length)
    found = predict(classifier, sentences, batch_size=batch_size)
    assert [tags(one) for one in found] == [by_first_letter(words) for words in sentences]
    for prediction, words in zip(found, sentences, strict=True):  # a letter is a sub-word; each stands there once
        assert prediction.owners == tuple(number for number, word in enumerate(words) for _ in word)
        assert len(prediction.subword_tags) == len(prediction.owners)


# The answers at the fourteen places of a window between [CLS] and [SEP]. Windows of sixteen positions share 16 // 4 = 4
# sub-words, so each begins ten sub-words after the one before it, and the first two of the shared ones belong to the
# earlier one: places 0 to 11 of the first window, then places 2 to 11 of the others, or 2 to 13 of the last one.
WINDOW = "BIOIBBOIIOIOBB"
FIRST, LATER = WINDOW[:12], WINDOW[2:12]


@pytest.mark.parametrize(
    ("n_subwords", "expected"),
    [(13, WINDOW[:13]), (14, WINDOW), (15, FIRST + WINDOW[2:5]), (30, FIRST + LATER + LATER[:8])],
)
def test_of_subwords_that_two_windows_share_each_has_those_nearer_to_its_middle(make_classifier, n_subwords, expected):
    positions = [O, *({"B": B, "I": I, "O": O}[letter] for letter in WINDOW), O]
    classifier = TokenClassifier.load(str(make_classifier(positions=positions, size=16)))
    assert classifier.max_length == 16
    assert tags(predict(classifier, [["a"] * n_subwords])[0]) == expected


def test_words_without_subwords_are_outside(first_letter, make_classifier):
    found = predict(first_letter, [["\u200b", "göz", "\u200b", "yumdu", "\u200b"], ["\u200b"], ["göz"]])
    assert [tags(one) for one in found] == ["OBOIO", "O", "B"]
    assert found[1].subword_tags == ()
    assert predict(first_letter, []) == []
    folder = make_classifier(subwords={"g": B}, tokenizer={"cls_token": None, "sep_token": None})
    assert tags(predict(TokenClassifier.load(str(folder)), [["\u200b"]])[0]) == "O"  # a window without any token


def test_only_an_uncased_model_is_given_small_letters_those_of_the_language(make_classifier):
    # ı begins an idiom, i goes on with one; str.lower would make `i` of I, and two characters of İ
    folder = make_classifier(subwords={"ı": B, "i": I, "ş": B, "s": I}, tokenizer={"lowers": True})
    classifier = TokenClassifier.load(str(folder))
    words = ["IŞIK", "ışık", "İzmir", "izmir", "Şey"]
    for language, expected in (("tr", "BBIIB"), ("az", "BBIIB"), ("gag", "BBIIB"), ("tk", "IBIIB"), ("uz", "IBIIB")):
        assert tags(predict(classifier, [words], language)[0]) == expected, language
    assert tags(predict(classifier, [["IIII", "İİİİ"]])[0]) == "BI"
    assert predict(classifier, [["IIİİ"]])[0].subword_tags == (B, O, O, O)  # ##ı and ##i have no label here
    assert len(predict(classifier, [["İİİİ"]])[0].owners) == 4  # no combining dots


@pytest.mark.parametrize(
    ("words", "language", "expected"),
    [
        (["IŞIK", "ışık", "İzmir", "izmir"], "tr", "BOBI"),  # as they are
        (["IŞIK", "İZMİR", "'", "2"], "tr", "OIOO"),
        (["ISSIQ"], "uz", "I"),
        (["Işık"], "tr", "B"),
    ],
)
def test_a_cased_model_is_given_small_letters_where_a_whole_sentence_is_in_capitals(
    make_classifier, words, language, expected
):
    cased = TokenClassifier.load(str(make_classifier(subwords={"I": B, "İ": B, "i": I})))
    assert tags(predict(cased, [words], language)[0]) == expected


@pytest.mark.parametrize("labels", [("B-IDIOM", "O", "I-IDIOM"), ("I", "B", "O"), ("o", "b-idiom", "i-idiom")])
def test_labels_in_another_order_or_case(make_classifier, labels):
    full = {"O": O, "B": B, "I": I}
    folder = make_classifier(subwords={"g": B, "y": I}, labels=tuple(full[label[0].upper()] for label in labels))
    config = json.loads((folder / "config.json").read_text())
    config["id2label"], config["label2id"] = dict(enumerate(labels)), {label: n for n, label in enumerate(labels)}
    (folder / "config.json").write_text(json.dumps(config))
    (found,) = predict(TokenClassifier.load(str(folder)), [["göz", "yumdu", "."]])
    assert found.tags == (B, I, O)


@pytest.mark.parametrize(
    "labels", [("LABEL_0", "LABEL_1", "LABEL_2"), ("O", "B-IDIOM", "I-IDIOM", "B-LOC"), ("B", "B-IDIOM", "O")]
)
def test_other_labels_are_an_error_that_names_both(make_classifier, labels):
    folder = make_classifier(labels=labels)
    with pytest.raises(InputError, match=f"its labels are {', '.join(labels)}; .*needs O, B-IDIOM, I-IDIOM"):
        TokenClassifier.load(str(folder))


def test_byte_level_subwords_of_a_word_begin_with_its_space(byte_tokenizer, tmp_path):
    bytes_alone = AutoTokenizer.from_pretrained(byte_tokenizer).backend_tokenizer
    RobertaTokenizerFast(tokenizer_object=bytes_alone, add_prefix_space=False).save_pretrained(tmp_path)
    tokenizer = load_tokenizer(str(tmp_path))
    encoded = encode_words(tokenizer, [["g", "g", "ö"]], ["tr"], max_length=32)
    subwords = zip(tokenizer.convert_ids_to_tokens(encoded["input_ids"][0]), encoded.word_ids(0), strict=True)
    found = [(subword, word) for subword, word in subwords if word is not None]
    assert found[:5] == [("Ġ", 0), ("g", 0), ("Ġ", 1), ("g", 1), ("Ġ", 2)]
    assert len(found) == 7  # ö has two bytes


@pytest.mark.parametrize(
    ("positions", "model_max", "kind", "asked", "expected"),
    [
        (512, 512, "bert", None, 512),
        (512, 128, "bert", None, 128),
        (514, 10**30, "xlm-roberta", None, 512),
        (130, 10**30, "xlm-roberta", None, 128),  # its positions begin at 2
        (8192, 8192, "modernbert", None, 512),
        (64, 512, "bert", 100, 64),  # more than the model can do
        (None, 10**30, "t5", None, 512),
    ],
)
def test_window_length_is_the_least_limit(positions, model_max, kind, asked, expected):
    config = SimpleNamespace(max_position_embeddings=positions, model_type=kind)
    assert window_length(config, SimpleNamespace(model_max_length=model_max), max_length=asked) == expected


def cut_weights(folder):
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:200])


def slow_tokenizer(folder):
    for path in folder.glob("token*"):
        path.unlink()
    ByT5Tokenizer().save_pretrained(folder)


def remove_head(folder):
    config = (folder / "config.json").read_text()
    AutoModel.from_pretrained(folder).save_pretrained(folder)
    (folder / "config.json").write_text(config)  # our labels, but no head


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (cut_weights, "damaged"),
        (slow_tokenizer, r"\(ByT5Tokenizer\) does not say which word a sub-word belongs to; .*fast"),
        (remove_head, r"no weights for classifier\.bias, classifier\.weight; it is not fine-tuned"),
    ],
)
def test_what_cannot_be_loaded(first_letter_classifier, tmp_path, damage, message):
    folder = shutil.copytree(first_letter_classifier, tmp_path / "damaged")
    damage(folder)
    with pytest.raises(InputError, match=message) as error:
        TokenClassifier.load(str(folder))
    assert "\n" not in str(error.value)


def test_a_folder_below_the_home_folder_in_bfloat16(first_letter_classifier, monkeypatch):
    # no shell expands the ~ of --model_args pretrained=~/model
    monkeypatch.setenv("HOME", str(first_letter_classifier.parent))
    classifier = TokenClassifier.load(f"~/{first_letter_classifier.name}", dtype="bfloat16", device="cpu")
    assert classifier.model.dtype == torch.bfloat16
    assert [tags(one) for one in predict(classifier, SENTENCES)] == [by_first_letter(words) for words in SENTENCES]


@st.composite
def sentences(draw):
    """Tags of proper IOB2, and for each word how many sub-words it has, perhaps none."""
    tags = draw(st.lists(st.sampled_from(LABELS), min_size=1, max_size=10))
    tags = [B if tag == I and (n == 0 or tags[n - 1] == O) else tag for n, tag in enumerate(tags)]
    counts = draw(st.lists(st.integers(0, 4), min_size=len(tags), max_size=len(tags)))
    return tags, [word for word, count in enumerate(counts) for _ in range(count)]


def test_labels_of_all_subwords_and_of_the_first_alone():
    # as in the paper: B on the first sub-word of the idiom, I on every later one, also of the first word
    #           [CLS] göz  ##den düş  ##müş ##tü  .  [SEP]
    word_ids = [None, 0, 0, 1, 1, 1, 2, None]
    assert subword_labels([B, I, O], word_ids) == [-100, 1, 2, 2, 2, 2, 0, -100]
    assert subword_labels([B, I, O], word_ids, labelling="first") == [-100, 1, -100, 2, -100, -100, 0, -100]


@given(sentences(), st.sampled_from(["all", "first"]), st.integers(0, 40))
def test_words_to_subwords_and_back_and_their_labels(case, labelling, end):
    """Between two words there may be a special token, as where two windows meet."""
    tags, owners = case
    between = next((n for n in range(end, len(owners)) if owners[n] != owners[n - 1]), len(owners))
    projected, labels = [], []
    for position, owner in enumerate(owners):
        is_first = owner not in owners[:position]
        # a sub-word is O exactly where its word is, and only a word's first sub-word can be B
        projected.append(tags[owner] if is_first or tags[owner] == O else I)
        labels.append(LABELS.index(projected[-1]) if is_first or labelling == "all" else IGNORED)
    assert project_tags(tags, owners) == projected
    assert word_tags(projected, owners, len(tags)) == [tag if n in owners else None for n, tag in enumerate(tags)]
    labels.insert(between, IGNORED)
    owners.insert(between, None)
    assert subword_labels(tags, [None, *owners, None], labelling=labelling) == [IGNORED, *labels, IGNORED]
