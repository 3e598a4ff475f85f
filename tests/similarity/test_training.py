"""Training for idiomatic similarity, from the triplets to the saved model."""

import json
import unicodedata
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from tests.encoders.untrained_models import WORDS
from tests.similarity.conftest import (
    CORRECT,
    INCORRECT,
    OTHER,
    OTHER_CORRECT,
    SENTENCE,
    write_csv,
    write_toy_chengyu,
)
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.dataset.similarity import SentencePairs, Triplet
from turkic_idiom_tasks.encoders.siblings.idiom_tokens import IdiomTable, make_tokens
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.load import load_lexicon
from turkic_idiom_tasks.metrics.similarity import similarity_scores
from turkic_idiom_tasks.runs.run import run_models
from turkic_idiom_tasks.runs.run_options import make_options
from turkic_idiom_tasks.splits import is_development_idiom, retrieval_split
from turkic_idiom_tasks.tasks.siblings.chengyu import read_chengyu, read_chengyu_triplets
from turkic_idiom_tasks.training.cards import SIMILARITY_RECORD
from turkic_idiom_tasks.training.config import SimilarityConfig
from turkic_idiom_tasks.training.siblings.known_idioms import known_idioms
from turkic_idiom_tasks.training.similarity import (
    development_spearman,
    fine_tune_similarity,
    pair_similarities,
    regression_rows,
    simcse_rows,
)
from turkic_idiom_tasks.training.trainee import load_trainee, sentence_prompt
from turkic_idiom_tasks.training.triplets import build_triplets, development_rows

A = Triplet("a gold mine", "a source of riches", "an ore pit", "gold mine")
WITHOUT_POSITIVE = Triplet("a night owl", None, "a dark bird", "night owl")
WITHOUT_NEGATIVE = Triplet("a top dog", "a leader", None, "top dog")
TRIPLETS = [A, WITHOUT_POSITIVE, WITHOUT_NEGATIVE]
HEAD = ("original", "correct", "incorrect", "idiom")  # of a table of triplets
ROWS = [(f"A {n} b .", f"C {n} .", f"I {n} .", f"idiom {n}") for n in range(40)]


@pytest.fixture(scope="module")
def toy_folder(tmp_path_factory):
    return write_toy_chengyu(tmp_path_factory.mktemp("toy"))


@pytest.fixture
def toy(toy_folder, monkeypatch):
    """The folder of a ChengyuSTS that a tiny model can learn, which is the one in use."""
    monkeypatch.setenv("CHENGYU_STS_DATA", str(toy_folder))
    return toy_folder


@pytest.fixture
def data(toy):
    return build_triplets("chengyu")


@pytest.fixture
def trainee(sentence_model):
    return load_trainee(str(sentence_model), task="T2")


def test_what_is_missing_is_the_sentence_itself_or_a_random_other_one():
    """The rules of the ChengyuSTS paper, section 4.2."""
    draws = [simcse_rows(TRIPLETS, rng=np.random.default_rng(seed)) for seed in range(20)]
    expected = [(A.original, A.correct, A.incorrect), ("a night owl", "a night owl", "a dark bird")]
    assert all(rows[:2] == expected for rows in draws)
    assert {rows[2] for rows in draws} == {("a top dog", "a leader", other) for other in ("a gold mine", "a night owl")}
    same = replace(A, idiom=WITHOUT_NEGATIVE.idiom.title())  # a capital letter makes no other idiom
    with pytest.raises(InputError, match="'a top dog' has no incorrect sentence"):
        simcse_rows([same, WITHOUT_NEGATIVE], rng=np.random.default_rng(1))


def test_the_targets_of_the_regression():
    """AStitch section 4.2: 1 for (E, E_c), and for (E, E_i) what the untuned model finds for (E_c, E_i)."""
    vectors = {A.correct: np.array([0.6, 0.8]), A.incorrect: np.array([-0.5, 0.75])}  # their product is 0.3
    assert regression_rows(TRIPLETS, vectors) == [
        ("a gold mine", "a source of riches", 1.0),
        ("a gold mine", "an ore pit", pytest.approx(0.3)),
        ("a top dog", "a leader", 1.0),
    ]


def test_development_pairs_are_scored_as_the_task_scores_its_own():
    rows = development_rows({"x": [A, A, WITHOUT_NEGATIVE]})
    kinds = {row.id: (row.sentence1, row.sentence2, row.gold, row.other) for row in rows}
    assert kinds["x/0/correct"] == (A.original, A.correct, 1.0, None)
    assert kinds["x/0/incorrect"] == (A.original, A.incorrect, None, "x/0/reference")
    assert kinds["x/0/reference"][:2] == (A.correct, A.incorrect)
    assert kinds["x/0/general"] == (A.original, WITHOUT_NEGATIVE.original, 0.0, None)  # not the same idiom
    assert "x/2/incorrect" not in kinds


def test_test_idioms_in_training_are_refused_by_name(astitch, monkeypatch):
    """Also where training has another spelling."""
    folder = astitch / "Dataset" / "Task2" / "SubtaskB-Fine_Tune" / "CreateFineTuneData" / "EN" / "trainData"
    write_csv(folder / "trainToPredict.csv", [HEAD, *ROWS, (SENTENCE, CORRECT, INCORRECT, "Gold-Mine")])
    monkeypatch.setenv("ASTITCH_DATA", str(astitch))
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
    assert chosen_by == {idiom for *_, idiom in ROWS if is_development_idiom(idiom)}
    assert OTHER_CORRECT in without.test["eng"].texts
    assert OTHER not in {row.original for row in without.training}


def test_a_lexicon_keeps_its_splits_and_no_language_trains_on_what_another_one_tests():
    lexicon, data = load_lexicon(), build_triplets("lexicon")
    concept_of = {entry.original: concept for code in LANGUAGES for concept, entry in lexicon.of(code).items()}
    trained = {concept_of[row.original] for row in data.training}
    chosen_by = {concept_of[row.sentence1] for row in data.development.rows if row.kind == "correct"}
    assert {retrieval_split(concept) for concept in trained} == {"train"}
    assert {retrieval_split(concept) for concept in chosen_by} == {"development"}
    like = lexicon.judged("same")
    for concept in trained | chosen_by:
        assert "test" not in map(retrieval_split, like.get(concept, ()))
    assert len(data.training) > 300
    assert data.n_left_out > 0
    assert list(build_triplets("lexicon", languages=["az", "tr"]).test) == ["tur", "azj"]


def test_an_idiom_is_the_same_in_capital_letters_and_in_other_code_points(tmp_path):
    names = [f"{letter}pe {number} un sermek" for number in range(40) for letter in "İi"]
    decomposed = unicodedata.normalize("NFD", "pé de moleque")
    rows = [(f"Um {name}.", f"c {name}", f"i {name}", name) for name in (*names, decomposed)]
    data = build_triplets(str(write_csv(tmp_path / "triplets.csv", [HEAD, *rows])))
    learned = {row.idiom.replace("İ", "i") for row in data.training}
    assert learned.isdisjoint({row.idiom.replace("İ", "i") for row in data.development.rows})
    table = IdiomTable(idioms=make_tokens(known_idioms(data.path, data)))
    (occurrence,) = table.occurrences("Comprei um pé de moleque.")
    assert occurrence.token == "IDpédemolequeID"


def test_the_revision_depends_on_what_the_idiom_is(tmp_path):
    table = write_csv(tmp_path / "triplets.csv", [HEAD, *ROWS])
    before = build_triplets(str(table))
    assert build_triplets(str(table)).revision == before.revision
    # the same sentences, and the same idioms in another spelling
    write_csv(table, [HEAD, *((*row[:3], row[3].replace(" ", "-")) for row in ROWS)])
    after = build_triplets(str(table))
    assert [row.original for row in after.training] == [row.original for row in before.training]
    assert after.revision != before.revision


def test_the_prompt_for_similarity_stands_before_every_sentence(sentence_model, trainee, data, tmp_path):
    """Training, its scores before and after, `turkic-idiom run` and the saved model agree on it."""
    pairs = data.test["cmn"]
    plain = pair_similarities(trainee.model, pairs)
    prompted = SentenceTransformer(str(sentence_model), prompts={"STS": f"{WORDS[14]} ", "query": "x"}, device="cpu")
    prompted.save_pretrained(str(tmp_path / "prompted"), create_model_card=False)
    trainee = load_trainee(str(tmp_path / "prompted"), task="T2")
    untuned = pair_similarities(trainee.model, pairs)
    assert np.abs(untuned - plain).max() > 1e-3
    tuned = fine_tune_similarity(trainee, data, config=SimilarityConfig(epochs=1, batch_size=8, seed=1))
    options = make_options(tasks=["ChengyuSTS"], output=tmp_path / "results", device="cpu")
    (run,) = run_models([str(tmp_path / "prompted")], open_dataset(""), options)
    expected = similarity_scores(pairs, untuned)["spearman"]
    assert run.subsets["cmn"].scores["spearman"] == pytest.approx(expected, abs=1e-6)
    tuned.model.save_pretrained(str(tmp_path / "tuned"), create_model_card=False)
    again = load_trainee(str(tmp_path / "tuned"), task="T2")
    assert sentence_prompt(again.model) == sentence_prompt(trainee.model) == f"{WORDS[14]} "


def test_a_row_with_one_part_gives_way_to_a_complete_one(tmp_path):
    rows = [("S", "A_c", "A_i", "sim"), ("{a}b", "c", "", "1"), ("{a}b", "c", "d", ""), ("e", "", "f", "0")]
    triplets = read_chengyu_triplets(write_csv(tmp_path / "train.csv", rows))
    assert triplets == [Triplet("ab", "c", "d", "a"), Triplet("e", None, "f", "")]


def test_simcse_teaches_what_the_idioms_mean(trainee, data):
    config = SimilarityConfig(epochs=8, batch_size=8, learning_rate=3e-3, seed=1)
    pairs = data.test["cmn"]
    before = similarity_scores(pairs, pair_similarities(trainee.model, pairs))
    tuned = fine_tune_similarity(trainee, data, config=config)
    after = similarity_scores(pairs, pair_similarities(tuned.model, pairs))
    assert after["accuracy"] > 0.8  # on idioms never trained on; sim(E, E_c) > sim(E, E_i)
    assert after["affinity"] > before["affinity"] + 0.1
    assert tuned.kept.step > 0
    assert tuned.kept.score == max(score.score for score in tuned.history)
    assert len(tuned.history) == 9
    of_returned = development_spearman(tuned.model, data.development)["eval_score"]
    assert of_returned == pytest.approx(tuned.kept.score, abs=1e-6)


@pytest.mark.usefixtures("toy")
def test_the_regression_comes_nearer_to_its_targets(trainee, tmp_path):
    distant = [("0.0", first, second) for first, second in pairwise(WORDS)]
    distant += [("0.0", WORDS[0], WORDS[8]), ("0.0", WORDS[8], WORDS[0])]  # a test pair, in both orders
    data = build_triplets("chengyu", general=write_csv(tmp_path / "general.csv", distant))
    assert len(data.general) == len(WORDS) - 1
    pairs = SentencePairs("general", data.general)
    before = pair_similarities(trainee.model, pairs).mean()
    config = SimilarityConfig(epochs=4, batch_size=8, learning_rate=3e-3, loss="cosine", seed=1)
    tuned = fine_tune_similarity(trainee, data, config=config)
    assert tuned.kept.step > 0
    assert tuned.n_examples == 2 * len(data.training) + len(data.general)
    assert pair_similarities(tuned.model, pairs).mean() < before - 0.1  # their gold score is 0


def test_weights_that_are_worse_than_the_untuned_ones_are_not_kept(trainee, data):
    config = SimilarityConfig(epochs=1, learning_rate=1e30)
    before = pair_similarities(trainee.model, data.development)
    tuned = fine_tune_similarity(trainee, data, config=config)
    assert tuned.kept.step == 0
    assert "the untuned weights are kept" in tuned.verdict
    assert (pair_similarities(tuned.model, data.development) == before).all()


def test_the_command_saves_a_stock_model_and_scores_it_at_once(sentence_model, toy, tmp_path, capsys):
    out = tmp_path / "mine"
    command = ["finetune", "similarity", "-m", str(sentence_model), "--data", "chengyu", "--out", str(out)]
    assert main([*command, "--set", "epochs=2", "--set", "learning_rate=3e-3", "--set", "batch_size=8"]) == 0
    shown = capsys.readouterr().out
    record = json.loads((out / SIMILARITY_RECORD).read_text())
    scores = record["test"]["cmn"]
    assert f"{scores['spearman']:.3f}" in shown
    assert f"{record['untuned_test']['cmn']['spearman_idiom']:.3f}" in shown
    pairs = read_chengyu(toy / "test.csv")
    encode = partial(SentenceTransformer(str(out)).encode, normalize_embeddings=True)
    first, second = encode([row.sentence1 for row in pairs.rows]), encode([row.sentence2 for row in pairs.rows])
    again = similarity_scores(pairs, (first * second).sum(axis=1))
    assert again["spearman"] == pytest.approx(scores["spearman"], abs=1e-4)
    assert main(command) == 2
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--set", "general=small.csv"], 2, "only loss=cosine"),
        (["--seen-idioms", "maybe"], 2, "is not one of 'refuse', 'leave-out', 'keep'"),
        (["--data", "small.csv"], 1, "too few triplets"),
    ],
)
def test_bad_input(tmp_path, monkeypatch, capsys, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "small.csv", [HEAD, ("E", "C", "I", "x")])
    assert main(["finetune", "similarity", "-m", "./absent", *arguments]) == code
    assert message in capsys.readouterr().err
