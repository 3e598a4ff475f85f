"""Idiomaticity detection: data by idiom, training, macro F1 and the command."""

import json
import math
import shutil

import pytest
from sklearn.metrics import f1_score

from tests.encoders.untrained_models import WORDS
from tests.similarity.conftest import write_csv, write_task1
from tests.training.toy_task import change_json, dodiom_rows
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.encoders.siblings.idiom_tokens import IDIOMATICITY_RECORD
from turkic_idiom_tasks.encoders.siblings.sentence_classifier import predict_labels
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.metrics.classification import macro_f1, macro_f1_interval
from turkic_idiom_tasks.splits import is_test_concept
from turkic_idiom_tasks.tasks.siblings.astitch import Labelled
from turkic_idiom_tasks.training.config import IdiomaticityConfig
from turkic_idiom_tasks.training.siblings.idiomaticity import load_classifier, train_stage
from turkic_idiom_tasks.training.siblings.labelled import build_labelled
from turkic_idiom_tasks.training.trainer import set_weights

HINT = {0: "su", 1: "ateş"}  # the word that tells the label


def rows_of(names, n):
    """Sentences of some idioms, whose label is told by one word."""
    rows = []
    for number in range(n):
        label, idiom = number % 2, names[number % len(names)]
        rows.append((label, f"{idiom} {HINT[label]} {WORDS[number * 5 % 12]}", idiom, {f"means {idiom}": label}))
    return rows


def hinted(n, *, flipped=False):
    """Rows whose label is told by one word, or is the other one."""
    labels = [number % 2 for number in range(n)]
    texts = [f"{HINT[label]} {WORDS[number % 12]}" for number, label in enumerate(labels)]
    return [Labelled(label ^ flipped, text, "", "göz", "tr") for label, text in zip(labels, texts, strict=True)]


@pytest.fixture
def astitch(tmp_path, monkeypatch):
    """Folder in the layout of AStitchInLanguageModels, Task 1 A and B in English."""
    root = tmp_path / "astitch"
    (root / "Task2").mkdir(parents=True)
    write_task1(root, "EN", "train_zero_shot", rows_of(["göz", "dil", "el"], 60))
    write_task1(root, "EN", "train_one_shot", rows_of(["ev", "yol"], 4))
    write_task1(root, "EN", "dev", rows_of(["ev"], 8))
    write_task1(root, "EN", "test", rows_of(["yol", "gün", "gece"], 30))
    monkeypatch.setenv("ASTITCH_DATA", str(root))


def test_macro_f1_by_hand():
    # label 0: TP 2, FP 1, FN 1 -> 4/6; label 1: TP 1, FP 1, FN 1 -> 2/4; the mean is 7/12
    gold, predicted = [0, 0, 0, 1, 1], [0, 0, 1, 0, 1]
    assert macro_f1(gold, predicted) == pytest.approx(7 / 12)
    assert macro_f1(gold, predicted) == pytest.approx(f1_score(gold, predicted, average="macro"))
    assert math.isnan(macro_f1([0, 0], [0, 0]))
    assert macro_f1([0, 1], [0, 0]) == pytest.approx(1 / 3)  # label 0: 2/3, label 1: 0


def test_the_interval_resamples_idioms():
    gold, predicted = [0, 1] * 20, [0, 1] * 10 + [1, 0] * 10
    of_many = macro_f1_interval(gold, predicted, [str(number) for number in range(40)])
    of_two = macro_f1_interval(gold, predicted, ["right"] * 20 + ["wrong"] * 20)
    assert of_many.low < macro_f1(gold, predicted) == 0.5 < of_many.high
    assert of_two.high - of_two.low > 2 * (of_many.high - of_many.low)
    perfect = macro_f1_interval(gold, gold, ["a", "b"] * 20)
    assert (perfect.low, perfect.high) == (1, 1)


def test_the_rows_of_astitch(astitch):
    data = build_labelled("astitch", setup="one-shot", inputs=())
    assert [len(stage) for stage in data.stages] == [60, 4]
    assert (len(data.development), len(data.test)) == (8, 30)
    assert {row.second for row in data.test} == {""}
    assert {row.idiom for row in data.test} == {"yol", "gün", "gece"}  # known from the other file
    meanings = build_labelled("astitch", subtask="B")
    assert meanings.test[0].second == "means yol"
    assert meanings.test[0].idiom == "yol"
    assert len(meanings.stages) == 1


def test_the_rows_of_semeval(tmp_path, monkeypatch):
    folder = tmp_path / "SubTaskA" / "Data"
    monkeypatch.setenv("SEMEVAL_IDIOM_DATA", str(tmp_path))
    columns = ("DataID", "Language", "MWE", "Setting", "Previous", "Target", "Next", "Label")
    trained = [("x", "EN", f"word {n // 2}", "zero_shot", "P.", f"T {n}.", "N.", n % 2) for n in range(80)]
    trained.append(("x", "PT", "pão duro", "zero_shot", "P.", "T.", "N.", 0))
    write_csv(folder / "train_zero_shot.csv", [columns, *trained])
    write_csv(folder / "train_one_shot.csv", [columns, ("x", "EN", "High life", "one_shot", "P.", "T.", "N.", 1)])
    tested = [(7, "EN", "high life", "P.", "Idiomatic.", "N."), (8, "EN", "high life", "P.", "Literal.", "N.")]
    write_csv(folder / "dev.csv", [("ID", "Language", "MWE", "Previous", "Target", "Next"), *tested])
    write_csv(folder / "dev_gold.csv", [("ID", "DataID", "Language", "Label"), (8, "x", "EN", 1), (7, "x", "EN", 0)])
    data = build_labelled("semeval", inputs=("context", "idiom"))
    (kept,), held = data.stages, data.development
    assert len(kept) + len(held) == 80
    assert held
    assert not {row.idiom for row in kept} & {row.idiom for row in held}
    assert [tuple(row) for row in data.test] == [
        (0, "P. Idiomatic. N.", "high life", "high life", ""),
        (1, "P. Literal. N.", "high life", "high life", ""),
    ]
    _, shots = build_labelled("semeval", setup="one-shot", inputs=()).stages
    assert [tuple(row) for row in shots] == [(1, "T.", "", "high life", "")]
    write_csv(folder / "dev_gold.csv", [("ID", "DataID", "Language", "Label"), (8, "x", "EN", 1)])
    with pytest.raises(InputError, match=r"dev\.csv:2: the label is ''"):
        build_labelled("semeval")


def test_a_lexicon_is_divided_by_idiom():
    data = build_labelled("lexicon", languages=["tr", "uz"])
    idioms = [{(row.language, row.second) for row in rows} for rows in (data.stages[0], data.development, data.test)]
    assert idioms[0].isdisjoint(idioms[1] | idioms[2])
    assert idioms[1].isdisjoint(idioms[2])
    assert sum(row.label for row in data.test) * 2 == len(data.test)
    assert len(data.stages[0]) > 300
    lexicon = open_dataset().lexicon
    like_test = lexicon.meaning_the_same(is_test_concept)
    entries = [entry for code in ("tr", "uz") for entry in lexicon.of(code).values() if entry.literal_example]
    assert any(entry.concept in like_test and not is_test_concept(entry.concept) for entry in entries)
    assert like_test.isdisjoint(row.idiom for row in (*data.stages[0], *data.development))


def test_every_setup_of_dodiom_has_the_same_test(tmp_path, monkeypatch):
    unused = [("deyim 0", "cümle 0 0", "idiom"), ("deyim 0", "?", "unknown")]  # the first stands twice
    monkeypatch.setenv("DODIOM_DATA", str(write_csv(tmp_path / "dodiom.csv", [*dodiom_rows(), *unused])))
    zero, one, few = (build_labelled("dodiom", setup=setup) for setup in ("zero-shot", "one-shot", "few-shot"))
    assert zero.test == one.test == few.test
    tested = {row.idiom for row in zero.test}
    assert tested.isdisjoint(row.idiom for row in zero.stages[0])
    n_idioms = len(tested | {row.idiom for row in zero.development})
    assert len(zero.test) == len(tested) * 4  # of 12 sentences 4 of each label are shots
    assert [len(data.stages) for data in (zero, one, few)] == [1, 2, 2]
    assert (len(one.stages[1]), len(few.stages[1])) == (2 * n_idioms, 8 * n_idioms)
    assert {row.first for row in few.stages[1]}.isdisjoint(row.first for row in few.test)
    assert {row.first for row in one.stages[1]} <= {row.first for row in few.stages[1]}


def test_the_command_trains_scores_and_keeps_finished_seeds(untrained_bert, astitch, tmp_path, capsys):
    out = tmp_path / "out"
    model = shutil.copytree(untrained_bert, tmp_path / "model")
    command = ["finetune", "idiomaticity", "-m", str(model), "--data", "astitch", "--setup", "one-shot"]
    command += ["--set", "epochs=6", "--set", "learning_rate=3e-3", "--set", "batch_size=8", "--seed", "1"]
    command += ["--out", str(out)]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "60 + 4 training rows, 8 for development, 30 for the test (3 idioms)" in shown
    record = json.loads((out / "seed-1" / IDIOMATICITY_RECORD).read_text())
    assert record["scores"]["test_f1"] == 1.0  # one word tells the label
    assert "1.000" in shown
    assert "0.333" in shown  # 15 of each label, always the same answer: (2/3 + 0) / 2
    before = (out / "seed-1" / "model.safetensors").stat().st_mtime_ns
    assert main(command) == 0
    assert (out / "seed-1" / "model.safetensors").stat().st_mtime_ns == before
    assert main([*command, "--set", "weight_decay=0.1"]) == 1
    assert "seed-1: holds another training" in capsys.readouterr().err
    assert main([*command, "--seed", "-1"]) == 2
    assert "'--seed'" in capsys.readouterr().err
    change_json(model / "config.json", lambda config: config.update(note="other weights"))
    assert main(command) == 1  # scores of earlier weights are not shown again
    assert "seed-1: holds another training" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data": "lexicon", "setup": "few-shot"}, "one sentence of each use"),
        ({"data": "lexicon", "inputs": ["context"]}, "only astitch has them"),
        ({"data": "lexicon", "inputs": ["meaning"]}, "--inputs meaning: choose one of context, idiom"),
        ({"data": "lexicon", "languages": ["gag"]}, "--language gag"),
        ({"data": "astitch", "languages": ["tr"]}, "eng, por"),
        ({"data": "astitch", "subtask": "B", "inputs": []}, "--subtask B: .* leave out --inputs"),
        ({"data": "dodiom"}, "DODIOM_DATA"),
        ({"data": "semeval"}, "SEMEVAL_IDIOM_DATA"),
        ({"data": "semeval", "setup": "few-shot"}, "zero-shot and one-shot"),
    ],
)
def test_bad_input(options, message, monkeypatch):
    monkeypatch.delenv("DODIOM_DATA", raising=False)
    monkeypatch.delenv("SEMEVAL_IDIOM_DATA", raising=False)
    with pytest.raises(InputError, match=message):
        build_labelled(**options)


def test_a_stage_is_kept_only_where_it_makes_the_classifier_better(untrained_bert):
    config = IdiomaticityConfig(epochs=4, learning_rate=3e-3, batch_size=8, max_length=16)
    classifier = load_classifier(str(untrained_bert), seed=1)
    first = train_stage(classifier, hinted(40), hinted(20), config=config, seed=1)
    assert first.development_f1 == 1.0
    worse = train_stage(classifier, hinted(40, flipped=True), hinted(20), config=config, seed=1, earlier=first)
    assert (worse.development_f1, worse.best_epoch, worse.n_epochs) == (1.0, first.best_epoch, 8)
    set_weights(classifier.model, worse.weights)
    assert predict_labels(classifier, hinted(20), max_length=16) == [row.label for row in hinted(20)]
    untaught = load_classifier(str(untrained_bert), seed=1)
    short = config.model_copy(update={"epochs": 1, "learning_rate": 1e-9})
    first = train_stage(untaught, hinted(40), hinted(20), config=short, seed=1)
    assert first.development_f1 < 1
    better = train_stage(untaught, hinted(40), hinted(20), config=config, seed=1, earlier=first)
    assert better.development_f1 == 1.0
    assert 1 < better.best_epoch <= better.n_epochs == 5
