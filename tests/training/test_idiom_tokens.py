"""Idiom tokens in an encoder: the grown vocabulary, the rewritten inputs, the saved folder and the command."""

import json
import shutil

import mteb
import numpy as np
import pytest
import sentence_transformers
import torch
from packaging.version import Version
from sentence_transformers import SentenceTransformer
from transformers import AutoTokenizer

from tests.encoders.untrained_models import WORDS
from tests.similarity.conftest import write_toy_chengyu
from tests.training.toy_task import change_json
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.encoders.checkpoints import load_checkpoint
from turkic_idiom_tasks.encoders.folders import folder_revision
from turkic_idiom_tasks.encoders.pooled import PooledEncoder
from turkic_idiom_tasks.encoders.poolings import with_pooling
from turkic_idiom_tasks.encoders.siblings.idiom_tokens import (
    CLASSIFIER_FOLDER,
    IDIOMATICITY_RECORD,
    TABLE,
    IdiomForm,
    IdiomTable,
    KnownIdiom,
    best_classifier,
    make_tokens,
)
from turkic_idiom_tasks.encoders.siblings.idiom_transformer import add_idiom_tokens
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.tasks.siblings.astitch import Labelled
from turkic_idiom_tasks.training.cards import SIMILARITY_RECORD
from turkic_idiom_tasks.training.config import IdiomaticityConfig, IdiomTokenConfig
from turkic_idiom_tasks.training.siblings.idiomaticity import load_classifier, save_classifier, train_seed
from turkic_idiom_tasks.training.siblings.known_idioms import known_idioms, read_sentences
from turkic_idiom_tasks.training.siblings.labelled import LabelledData
from turkic_idiom_tasks.training.siblings.token_training import pretrain_masked_lm
from turkic_idiom_tasks.training.trainee import load_trainee
from turkic_idiom_tasks.training.triplets import build_triplets

IDIOM, TOKEN = "göz dil", "IDgözdilID"
SENTENCE, REPLACED = "su göz dil ev", "su IDgözdilID ev"
LITERAL = "ateş göz dil ev"  # the classifier of these tests looks at the first word alone
SINCE_6 = pytest.mark.skipif(
    Version(sentence_transformers.__version__).major < 6, reason="version 5 trusts every local folder"
)


def with_tokens(folder, *idioms, **options):
    """A model with tokens for idioms, everywhere or where the best of some classifiers says idiomatic."""
    model = load_checkpoint(str(folder), device="cpu")
    add_tokens(model, *idioms, **options)
    return model


def add_tokens(model, *idioms, initial="mean", seed=1, classifiers=None):
    tokens = make_tokens([KnownIdiom(idiom, (IdiomForm((idiom,), "tr"),), "tr") for idiom in idioms or (IDIOM,)])
    add_idiom_tokens(model, tokens, initial=initial, seed=seed, classifier=classifiers)


def embeddings(model):
    return model[0].model.get_input_embeddings().weight.detach().clone()


@pytest.fixture
def saved(sentence_model, tmp_path):
    """Folder of the tiny encoder with one idiom token."""
    with_tokens(sentence_model).save_pretrained(str(tmp_path / "grown"), create_model_card=False)
    return tmp_path / "grown"


@pytest.fixture(scope="module")
def classifiers(untrained_bert, tmp_path_factory):
    """Folder with the classifiers of two seeds, which have learnt that "su" is idiomatic and "ateş" is not."""
    rows = []
    for number in range(40):
        hint = ("su", "ateş")[number % 2]
        rows.append(Labelled(number % 2, f"{hint} {WORDS[number * 5 % 9]} {IDIOM}", IDIOM, IDIOM, "tr"))
    data = LabelledData("toy", "0" * 40, (tuple(rows),), tuple(rows), tuple(rows))
    config = IdiomaticityConfig(epochs=6, batch_size=8, learning_rate=3e-3)
    settings = {"inputs": ["idiom"], "config": config.model_dump(), "subtask": "A"}
    folder = tmp_path_factory.mktemp("idiomaticity")
    classifier = load_classifier(str(untrained_bert), seed=1)
    scores, _ = train_seed(classifier, data, config=config, seed=1)
    assert scores["test_f1"] == 1
    save_classifier(classifier, folder / "seed-1", scores, settings)
    with torch.no_grad():  # one that always says idiomatic, with a worse score
        classifier.model.classifier.bias[:] = torch.tensor([99.0, -99.0])
    save_classifier(classifier, folder / "seed-2", scores, settings)
    change_json(folder / "seed-2" / IDIOMATICITY_RECORD, lambda record: record["scores"].update(development_f1=0.5))
    return folder


def test_the_vocabulary_grows_by_the_mean_of_the_pieces(sentence_model):
    before = embeddings(load_checkpoint(str(sentence_model), device="cpu"))
    model = with_tokens(sentence_model, IDIOM, "kalp yürek su")
    after = embeddings(model)
    assert after.shape == (before.shape[0] + 2, before.shape[1])
    assert torch.equal(after[:-2], before)
    position = {word: number + 4 for number, word in enumerate(WORDS)}  # behind four special tokens
    assert torch.allclose(after[-2], (before[position["göz"]] + before[position["dil"]]) / 2, atol=1e-7)
    three = before[position["kalp"]] + before[position["yürek"]] + before[position["su"]]
    assert torch.allclose(after[-1], three / 3, atol=1e-7)
    assert model.tokenizer.convert_tokens_to_ids(TOKEN) == len(before)


def test_a_real_tokenizer_keeps_the_token_whole(minilm, tmp_path):
    """MiniLM lower-cases and splits words; the token is one piece nevertheless, also in the saved folder."""
    model = with_tokens(minilm, "Goldmines")
    pieces = model.tokenizer.tokenize("Goldmines")
    assert len(pieces) > 1
    by_hand = embeddings(model)[model.tokenizer.convert_tokens_to_ids(pieces)].mean(0)
    assert torch.allclose(embeddings(model)[-1], by_hand, atol=1e-7)
    model.tokenizer.save_pretrained(tmp_path)
    for tokenizer in (model.tokenizer, AutoTokenizer.from_pretrained(tmp_path)):
        ids = tokenizer("the IDgoldminesID's end", add_special_tokens=False)["input_ids"]
        assert ids == tokenizer.convert_tokens_to_ids(["the", "IDgoldminesID", "'", "s", "end"])


def test_random_vectors_depend_on_the_seed_alone(sentence_model):
    idioms = [f"{word} ev" for word in WORDS]
    models = [with_tokens(sentence_model, *idioms, initial="random", seed=seed) for seed in (1, 1, 2)]
    a, b, c = (embeddings(model)[-len(WORDS) :] for model in models)
    assert torch.equal(a, b)
    assert not torch.equal(a, c)
    assert a.std().item() == pytest.approx(0.02, rel=0.2)  # initializer_range of BERT; 15 * 32 numbers


def test_a_saved_folder_rewrites_without_being_told(saved, sentence_model):
    loaded = load_checkpoint(str(saved), device="cpu")
    ids = [2, *loaded.tokenizer.convert_tokens_to_ids(["su", TOKEN, "ev"]), 3]  # [CLS], three words, [SEP]
    with torch.inference_mode():
        states = loaded[0].model(input_ids=torch.tensor([ids])).last_hidden_state[0]
    by_hand = torch.nn.functional.normalize(states.mean(0), dim=0).numpy()
    plain = load_checkpoint(str(sentence_model), device="cpu")
    stock = SentenceTransformer(str(saved), device="cpu", trust_remote_code=True)
    pooled = PooledEncoder(loaded).encode([SENTENCE], poolings=["mean"])["mean"][0]
    for vector in (loaded.encode([SENTENCE])[0], stock.encode([SENTENCE])[0], pooled):
        assert np.allclose(vector, by_hand, atol=1e-6)
    assert np.abs(plain.encode([SENTENCE])[0] - by_hand).max() > 1e-3
    assert np.allclose(loaded.encode(["su göz ev dil"]), plain.encode(["su göz ev dil"]), atol=1e-6)
    first_token = with_pooling(load_checkpoint(str(saved), device="cpu"), "cls")
    assert np.allclose(first_token.encode([SENTENCE]), first_token.encode([REPLACED]), atol=1e-6)


def test_code_that_comes_with_a_model_is_not_trusted(saved):
    """Its own classes for the weights and the configuration are not imported, although ours has to be."""
    (saved / "modeling_theirs.py").write_text("raise SystemExit('this must not run')")
    names = {"AutoConfig": "modeling_theirs.Config", "AutoModel": "modeling_theirs.Model"}
    change_json(saved / "config.json", lambda config: config.update(auto_map=names))
    assert load_checkpoint(str(saved), device="cpu")[0].rewrite([SENTENCE]) == [REPLACED]


@SINCE_6
def test_plain_sentence_transformers_refuses_the_folder_and_we_refuse_a_further_module_with_code(saved):
    with pytest.raises(ValueError, match="trust_remote_code=True"):
        SentenceTransformer(str(saved))
    (saved / "modeling_theirs.py").write_text("raise SystemExit('this must not run')")
    theirs = {"idx": 9, "name": "9", "path": "", "type": "modeling_theirs.Head"}
    change_json(saved / "modules.json", lambda modules: modules.append(theirs))
    with pytest.raises(InputError, match="nothing has been executed"):
        load_checkpoint(str(saved))


def test_a_token_in_the_vocabulary_is_named(sentence_model, saved):
    model = load_checkpoint(str(sentence_model), device="cpu")
    model.tokenizer.add_tokens([TOKEN])
    with pytest.raises(InputError, match=rf"'{TOKEN}' of the idiom '{IDIOM}' is in the vocabulary"):
        add_tokens(model)
    with pytest.raises(InputError, match="has idiom tokens already"):
        with_tokens(saved, "kalp su")


@pytest.mark.parametrize("token", ["baş", "IDevID"])  # an ordinary word of the tokenizer; none at all
def test_a_folder_with_another_table_or_none_is_refused(saved, token):
    change_json(saved / TABLE, lambda table: table["idioms"][0].update(token=token))
    with pytest.raises(InputError, match=f"{TABLE}: 1 of its 1 tokens are no added tokens .* such as '{token}'"):
        load_checkpoint(str(saved))
    (saved / TABLE).unlink()
    with pytest.raises(InputError, match=TABLE):
        load_checkpoint(str(saved))


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda table: table.update(format=2), "format.*another version wrote it"),
        (lambda table: table["idioms"][0].pop("forms"), "forms"),
        (lambda table: table["idioms"][0]["forms"][0]["parts"].clear(), "parts"),
        (lambda table: table["idioms"][0]["forms"][0].update(language="xx"), r"language': must be one of tr, az"),
    ],
)
def test_a_damaged_table_is_refused(saved, change, part):
    change_json(saved / TABLE, change)
    with pytest.raises(InputError, match=f"{TABLE}: field .*{part}"):
        load_checkpoint(str(saved))


def test_select_asks_the_classifier_about_the_sentence_without_its_prompt(sentence_model, classifiers):
    """The classifier looks at the first word, which is that of the sentence; poolings get the prompt in the text."""
    model = with_tokens(sentence_model, classifiers=classifiers)  # of seed 1, whose development score is better
    n_weights = sum(1 for _ in load_checkpoint(str(sentence_model)).parameters())
    assert sum(1 for _ in model.parameters()) == n_weights  # those of the classifier are not trained
    texts = [SENTENCE, LITERAL, "su ev"]
    assert model[0].rewrite(texts) == [REPLACED, LITERAL, "su ev"]
    assert model[0].rewrite(texts[::-1]) == ["su ev", LITERAL, REPLACED]
    model.prompts = {"query": "ateş ", "none": ""}
    prompted = ["ateş " + text for text in texts]
    vectors = PooledEncoder(model).encode(prompted, poolings=["mean"])["mean"]
    assert np.allclose(vectors, model.encode(texts, prompt="ateş "), atol=1e-6)
    assert model[0].rewrite(prompted, prompts=["ateş "]) == ["ateş " + REPLACED, "ateş " + LITERAL, "ateş su ev"]


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"subtask": "B"}, "subtask B"),
        ({"inputs": ["context", "idiom"]}, "sentences around"),
        ({"inputs": None}, "not the record of a finished training"),
        (None, "turkic-idiom finetune idiomaticity"),
    ],
)
def test_a_classifier_of_something_else_is_refused(classifiers, tmp_path, change, part):
    if change is not None:
        shutil.copy(classifiers / "seed-1" / IDIOMATICITY_RECORD, tmp_path)
        change_json(tmp_path / IDIOMATICITY_RECORD, lambda record: record["settings"].update(change))
    with pytest.raises(InputError, match=part):
        best_classifier(tmp_path)


@pytest.fixture(scope="module")
def with_mask(make_untrained, tmp_path_factory):
    """Folder of a tiny encoder whose tokenizer has a mask token."""
    folder = tmp_path_factory.mktemp("with_mask")
    bert = make_untrained(tokenizer={"mask_token": "gece"})
    with_pooling(load_checkpoint(str(bert)), "mean").save_pretrained(str(folder), create_model_card=False)
    return folder


def test_masked_lm_training_changes_all_weights_and_learns(with_mask):
    """As AStitch continues the pre-training of BERT: the new vectors, the old ones and the layers."""
    sentences = [SENTENCE, "ev göz dil su", "yol gün göz dil"] * 8
    outcomes = []
    for epochs in (1, 12):
        trainee = load_trainee(str(with_mask), task="T2")
        add_tokens(trainee.model)
        before = {name: weight.detach().clone() for name, weight in trainee.model.named_parameters()}
        config = IdiomTokenConfig(idiom_tokens="all", pretrain_epochs=epochs, pretrain_learning_rate=3e-3)
        outcomes.append(pretrain_masked_lm(trainee, sentences, config=config, batch_size=8, seed=1))
    weights = dict(trainee.model.named_parameters())
    changed = {name for name, weight in weights.items() if not torch.equal(weight, before[name])}
    (table,) = [name for name in weights if name.endswith("word_embeddings.weight")]
    assert not torch.equal(weights[table][-1], before[table][-1])  # of the token
    assert not torch.equal(weights[table][:-1], before[table][:-1])
    assert any("layer.0." in name for name in changed)
    assert (outcomes[1]["n_sentences"], outcomes[1]["n_with_token"]) == (24, 24)
    assert outcomes[1]["loss"] < outcomes[0]["loss"] - 0.3
    assert not trainee.model.training


def test_sentences_that_teach_nothing_are_refused(with_mask, sentence_model, tmp_path):
    for folder, sentence, message in (
        (with_mask, "su ev", "none of the 1 sentences has an idiom"),
        (sentence_model, SENTENCE, "no mask token"),
    ):
        trainee = load_trainee(str(folder), task="T2")
        add_tokens(trainee.model)
        with pytest.raises(InputError, match=message):
            pretrain_masked_lm(trainee, [sentence], config=IdiomTokenConfig(idiom_tokens="all"), batch_size=8, seed=1)
    (tmp_path / "empty.txt").write_text("\n \n")
    with pytest.raises(InputError, match=r"empty.txt: no sentence"):
        read_sentences(tmp_path / "empty.txt")


def test_the_sentences_of_a_lexicon_have_their_idioms():
    """E has its own idiom, in the form in which it is inflected there; the two rewordings have not."""
    data = build_triplets("lexicon", languages=["tk"])
    tokens = make_tokens(known_idioms("lexicon", data, languages=["tk"]))
    found = IdiomTable(idioms=tokens).occurrences
    assert len(data.training) > 90
    n_reworded = 0
    for triplet in data.training:
        assert triplet.idiom in [occurrence.idiom for occurrence in found(triplet.original)]
        n_reworded += bool(found(triplet.correct)) + bool(found(triplet.incorrect))
    assert n_reworded < 0.03 * len(data.training)
    assert {row.idiom for row in data.test["tuk"].rows} <= {row.idiom for row in tokens}


@pytest.fixture
def similarity_command(tmp_path, monkeypatch):
    """Begins a command on a toy ChengyuSTS whose sentences begin with "su", for which the classifier says idiomatic."""
    monkeypatch.setenv("CHENGYU_STS_DATA", str(write_toy_chengyu(tmp_path / "toy", before="su ")))

    def begin(model, *options):
        command = ["finetune", "similarity", "-m", str(model), "--data", "chengyu", "--out", str(tmp_path / "tokens")]
        return main([*command, *map(str, options)]), tmp_path / "tokens"

    return begin


def test_the_command_gives_each_idiom_a_token_and_the_tasks_apply_it(
    with_mask, similarity_command, tmp_path, capsys, register_local
):
    (tmp_path / "sentences.txt").write_text("ev baş boş\nbaş baş su\n", encoding="utf-8")
    options = ["--set", "epochs=2", "--set", "learning_rate=3e-3", "--set", "batch_size=8", "--idiom-tokens", "all"]
    options += ["--set", f"pretrain_sentences={tmp_path / 'sentences.txt'}", "--set", "pretrain_epochs=1"]
    code, out = similarity_command(with_mask, *options)
    assert code == 0
    record = json.loads((out / SIMILARITY_RECORD).read_text())
    tokens, spearman = record["idiom_tokens"], record["test"]["cmn"]["spearman"]
    assert tokens["n_tokens"] == 49
    assert tokens["training"] == {"sentences": record["data"]["triplets"], "replaced": record["data"]["triplets"]}
    assert tokens["test"]["replaced"] == 8  # the sentences with an idiom, not their rewordings
    assert tokens["pretraining"]["n_with_token"] == 2
    assert "Idiom tokens: 49" in capsys.readouterr().out
    assert "49 idioms have a token of their own" in (out / "README.md").read_text()
    register_local(f"me/tokens={out}")  # what the stock command reads from TURKIC_IDIOM_MODELS
    task = mteb.get_task("ChengyuSTS")
    result = mteb.evaluate(mteb.get_model("me/tokens"), task, cache=None, show_progress_bar=False)
    assert result.task_results[0].scores["test"][0]["spearman"] == pytest.approx(spearman, abs=1e-4)


def test_the_command_asks_the_classifier_and_saves_it(sentence_model, similarity_command, classifiers):
    options = ("--set", "epochs=1", "--idiom-tokens", "select", "--set", f"idiomaticity_classifier={classifiers}")
    code, out = similarity_command(sentence_model, *options)
    assert code == 0
    tokens = json.loads((out / SIMILARITY_RECORD).read_text())["idiom_tokens"]
    assert tokens["classifier"] == str(classifiers / "seed-1")
    assert tokens["classifier_revision"] == folder_revision(classifiers / "seed-1")
    assert tokens["training"]["replaced"] == tokens["training"]["sentences"]  # all of them begin with "su"
    rewrite = load_checkpoint(str(out), device="cpu")[0].rewrite
    assert rewrite(["su baş boş", "ateş baş boş"]) == ["su IDbaşboşID", "ateş baş boş"]
    shutil.rmtree(out / CLASSIFIER_FOLDER)
    with pytest.raises(InputError, match="the classifier, idiomaticity/, is missing"):
        load_checkpoint(str(out))
