"""Training for idiomatic similarity, from the triplets to the saved model."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from tests.encoders.untrained_models import WORDS
from tests.similarity.conftest import CORRECT, INCORRECT, OTHER, OTHER_CORRECT, SENTENCE, write_csv
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.dataset.similarity import SentencePairs, Triplet
from turkic_idiom_tasks.encoders.poolings import build_sentence_transformer
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.finetuning.cards import SIMILARITY_RECORD
from turkic_idiom_tasks.finetuning.config import SimilarityConfig
from turkic_idiom_tasks.finetuning.similarity import (
    fine_tune_similarity,
    pair_similarities,
    regression_rows,
    simcse_rows,
)
from turkic_idiom_tasks.finetuning.trainee import load_trainee
from turkic_idiom_tasks.finetuning.triplets import build_triplets, development_rows
from turkic_idiom_tasks.lexicon.load import load_lexicon
from turkic_idiom_tasks.metrics.similarity import similarity_scores
from turkic_idiom_tasks.similarity.chengyu import read_chengyu, read_chengyu_triplets
from turkic_idiom_tasks.splits import is_development_idiom, retrieval_split

A = Triplet("a gold mine", "a source of riches", "an ore pit", "gold mine")
WITHOUT_POSITIVE = Triplet("a night owl", None, "a dark bird", "night owl")
WITHOUT_NEGATIVE = Triplet("a top dog", "a leader", None, "top dog")
IDIOM, MEANING = WORDS[:7], WORDS[7:14]


def toy_rows(is_test):
    """Rows of ChengyuSTS with idioms of two words, whose meaning is the words that stand for them."""
    rows = [("S", "A_c", "A_i", "sim")]
    for number in range(49):
        if (number % 6 == 3) != is_test:
            continue
        a, b = divmod(number, 7)
        sentence = f"{{{IDIOM[a]} {IDIOM[b]}}}"
        correct, incorrect = f"{MEANING[a]} {MEANING[b]}", f"{MEANING[(a + 3) % 7]} {MEANING[(b + 3) % 7]}"
        rows += [(sentence, correct, incorrect, ""), (sentence, correct, "", "1.0")]
    if is_test:
        rows += [(WORDS[0], "", WORDS[8], "0.0"), (WORDS[1], WORDS[1], "", "1.0")]
    return rows


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """Folder in the form of ChengyuSTS that a tiny model can learn."""
    folder = tmp_path_factory.mktemp("toy")
    write_csv(folder / "train.csv", toy_rows(is_test=False))
    write_csv(folder / "test.csv", toy_rows(is_test=True))
    return folder


@pytest.fixture(scope="module")
def sentence_model(untrained_bert, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sentence_model")
    build_sentence_transformer(str(untrained_bert), "mean").save_pretrained(str(folder), create_model_card=False)
    return folder


def test_what_is_missing_is_the_sentence_itself_or_a_random_other_one():
    """The rules of the ChengyuSTS paper, section 4.2."""
    rows = simcse_rows([A, WITHOUT_POSITIVE, WITHOUT_NEGATIVE], rng=np.random.default_rng(1))
    assert rows[0] == (A.original, A.correct, A.incorrect)
    assert rows[1] == ("a night owl", "a night owl", "a dark bird")
    assert rows[2][:2] == ("a top dog", "a leader")
    drawn = {
        simcse_rows([A, WITHOUT_POSITIVE, WITHOUT_NEGATIVE], rng=np.random.default_rng(seed))[2][2]
        for seed in range(20)
    }
    assert drawn == {"a gold mine", "a night owl"}
    with pytest.raises(InputError, match="'a top dog' has no incorrect sentence"):
        simcse_rows([WITHOUT_NEGATIVE], rng=np.random.default_rng(1))


def test_the_targets_of_the_regression():
    """AStitch section 4.2: 1 for (E, E_c), and for (E, E_i) what the untuned model finds for (E_c, E_i)."""
    rows = regression_rows([A, WITHOUT_POSITIVE, WITHOUT_NEGATIVE], [0.3, math.nan, math.nan])
    assert rows == [
        ("a gold mine", "a source of riches", 1.0),
        ("a gold mine", "an ore pit", 0.3),
        ("a top dog", "a leader", 1.0),
    ]


def test_development_pairs_are_scored_as_the_task_scores_its_own():
    kinds = {row.id: (row.sentence1, row.sentence2, row.gold, row.other) for row in development_rows({"x": [A, A, WITHOUT_NEGATIVE]})}  # fmt: skip  # noqa: E501
    assert kinds["x/0/correct"] == (A.original, A.correct, 1.0, None)
    assert kinds["x/0/incorrect"] == (A.original, A.incorrect, None, "x/0/reference")
    assert kinds["x/0/reference"][:2] == (A.correct, A.incorrect)
    assert kinds["x/0/general"] == (A.original, WITHOUT_NEGATIVE.original, 0.0, None)  # not the same idiom
    assert "x/2/incorrect" not in kinds


@pytest.fixture
def astitch_with_training(astitch, monkeypatch):
    """The miniature with a training file: 30 idioms, and one of the test pairs, in another spelling."""
    rows = [("original", "correct", "incorrect", "idiom")]
    rows += [(f"A {n} b .", f"C {n} .", f"I {n} .", f"idiom {n}") for n in range(30)]
    rows.append((SENTENCE, CORRECT, INCORRECT, "Gold-Mine"))
    folder = astitch / "Dataset" / "Task2" / "SubtaskB-Fine_Tune" / "CreateFineTuneData" / "EN" / "trainData"
    write_csv(folder / "trainToPredict.csv", rows)
    monkeypatch.setenv("ASTITCH_DATA", str(astitch))


def test_test_idioms_in_training_are_refused_by_name(astitch_with_training):
    with pytest.raises(InputError, match=r"1 idioms .* occur in training: Gold-Mine; .*--seen-idioms keep"):
        build_triplets("astitch", languages=["eng"])
    kept = build_triplets("astitch", languages=["eng"], seen_idioms="keep")
    without = build_triplets("astitch", languages=["eng"], seen_idioms="leave-out")
    assert kept.seen == ("Gold-Mine",)
    assert (without.seen, without.n_left_out) == ((), 1)
    assert {row.idiom for row in kept.training} - {row.idiom for row in without.training} == {"Gold-Mine"}
    trained = {row.idiom for row in without.training}
    chosen_by = {row.idiom for row in without.development.rows}
    assert trained.isdisjoint(chosen_by)
    assert chosen_by == {f"idiom {n}" for n in range(30) if is_development_idiom(f"idiom {n}")}
    assert OTHER_CORRECT in without.test["eng"].texts
    assert OTHER not in {row.original for row in without.training}


def test_a_lexicon_keeps_its_splits():
    data = build_triplets("lexicon", languages=["az", "tr"])
    lexicon = load_lexicon()
    concept_of = {}
    for code in ("az", "tr"):
        for concept, entry in lexicon.of(code).items():
            concept_of[entry.original] = concept
    assert {retrieval_split(concept_of[row.original]) for row in data.training} == {"train"}
    assert {retrieval_split(concept_of[row.sentence1]) for row in data.development.rows if row.kind == "correct"} == {"development"}  # fmt: skip  # noqa: E501
    assert list(data.test) == ["tur", "azj"]
    assert len(data.training) > 300


def test_a_row_with_one_part_gives_way_to_a_complete_one(tmp_path):
    rows = [("S", "A_c", "A_i", "sim"), ("{a}b", "c", "", "1"), ("{a}b", "c", "d", ""), ("e", "", "f", "0")]
    triplets = read_chengyu_triplets(write_csv(tmp_path / "train.csv", rows))
    assert triplets == [Triplet("ab", "c", "d", "a"), Triplet("e", None, "f", "")]


def test_simcse_teaches_what_the_idioms_mean(sentence_model, toy, monkeypatch):
    monkeypatch.setenv("CHENGYU_STS_DATA", str(toy))
    data = build_triplets("chengyu")
    config = SimilarityConfig(epochs=8, batch_size=8, learning_rate=3e-3, seed=1)
    tuned = fine_tune_similarity(load_trainee(str(sentence_model), task="T2"), data, config=config)
    before, after = tuned.untuned_scores["cmn"], tuned.scores["cmn"]
    assert after["accuracy"] > 0.8  # on idioms never trained on; sim(E, E_c) > sim(E, E_i)
    assert after["affinity"] > before["affinity"] + 0.1
    assert tuned.kept.epoch > 0
    assert tuned.kept.spearman == max(score.spearman for score in tuned.history)
    assert len(tuned.history) == 9
    # the model that is returned has the weights that were scored
    again = similarity_scores(data.test["cmn"], pair_similarities(tuned.model, data.test["cmn"]))
    assert again["spearman"] == pytest.approx(after["spearman"], abs=1e-6)


def test_the_regression_comes_nearer_to_its_targets(sentence_model, toy, tmp_path, monkeypatch):
    monkeypatch.setenv("CHENGYU_STS_DATA", str(toy))
    distant = [("0.0", first, second) for first, second in pairwise(WORDS)]
    distant.append(("0.0", WORDS[0], WORDS[8]))  # a test pair
    data = build_triplets("chengyu", general=write_csv(tmp_path / "general.csv", distant))
    assert len(data.general) == len(WORDS) - 1
    pairs = SentencePairs("general", data.general)
    trainee = load_trainee(str(sentence_model), task="T2")
    before = pair_similarities(trainee.model, pairs).mean()
    config = SimilarityConfig(epochs=4, batch_size=8, learning_rate=3e-3, loss="cosine", seed=1)
    tuned = fine_tune_similarity(trainee, data, config=config)
    assert tuned.kept.epoch > 0
    assert tuned.n_examples == 2 * len(data.training) + len(data.general)
    assert pair_similarities(tuned.model, pairs).mean() < before - 0.1  # their gold score is 0


def test_weights_that_are_worse_than_the_untuned_ones_are_not_kept(sentence_model, toy, monkeypatch):
    monkeypatch.setenv("CHENGYU_STS_DATA", str(toy))
    config = SimilarityConfig(epochs=1, learning_rate=1e30)
    tuned = fine_tune_similarity(load_trainee(str(sentence_model), task="T2"), build_triplets("chengyu"), config=config)
    assert tuned.kept.epoch == 0
    assert "the untuned weights are kept" in tuned.verdict
    assert tuned.scores == tuned.untuned_scores


def test_the_command_saves_a_stock_model_and_scores_it_at_once(sentence_model, toy, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CHENGYU_STS_DATA", str(toy))
    out = tmp_path / "mine"
    command = ["finetune", "similarity", "-m", str(sentence_model), "--data", "chengyu", "--out", str(out)]
    assert main([*command, "--epochs", "2", "--learning-rate", "3e-3", "--batch-size", "8"]) == 0
    shown = capsys.readouterr().out
    record = json.loads((out / SIMILARITY_RECORD).read_text())
    scores = record["test"]["cmn"]
    assert f"{scores['spearman']:.3f}" in shown
    assert f"{record['untuned_test']['cmn']['spearman_idiom']:.3f}" in shown
    assert "Idiomatic similarity" in (out / "README.md").read_text()
    pairs = read_chengyu(toy / "test.csv")
    first = SentenceTransformer(str(out)).encode([row.sentence1 for row in pairs.rows], normalize_embeddings=True)
    second = SentenceTransformer(str(out)).encode([row.sentence2 for row in pairs.rows], normalize_embeddings=True)
    again = similarity_scores(pairs, (first * second).sum(axis=1))
    assert again["spearman"] == pytest.approx(scores["spearman"], abs=1e-4)
    assert main(command) == 2
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--loss", "triplet"], 2, "loss"),
        (["--general", "small.csv"], 2, "only --loss cosine"),
        (["--seen-idioms", "maybe"], 2, "choose one of refuse, leave-out, keep"),
        (["--data", "astitch", "--language", "tr"], 1, "ASTITCH_DATA"),
        (["--data", "small.csv"], 1, "too few triplets"),
    ],
)
def test_bad_input(tmp_path, monkeypatch, capsys, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ASTITCH_DATA", raising=False)
    write_csv(tmp_path / "small.csv", [("original", "correct", "incorrect", "idiom"), ("E", "C", "I", "x")])
    assert main(["finetune", "similarity", "-m", "./absent", *arguments]) == code
    assert message in capsys.readouterr().err
