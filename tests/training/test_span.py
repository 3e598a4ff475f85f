"""Fine-tuning for spans, and `turkic-idiom finetune span` as a user runs it: several seeds, damaged folders."""

import csv
import json
import math
import shutil
from dataclasses import replace

import pytest
import torch
from huggingface_hub import ModelCard

from tests.runs.grid_data import span_part, stamps, write_grid_file
from tests.training.toy_task import change_json, sentences
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.encoders.folders import folder_revision
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.metrics.spans import micro_scores, span_counts
from turkic_idiom_tasks.results.predictions import SPANS
from turkic_idiom_tasks.results.record import find_records, read_header
from turkic_idiom_tasks.spans import LABELS
from turkic_idiom_tasks.tasks.spans.classifier import TokenClassifier
from turkic_idiom_tasks.training.cards import SPAN_RECORD, model_card, save_checkpoint
from turkic_idiom_tasks.training.config import SpanConfig
from turkic_idiom_tasks.training.span import few_shot_sample, fine_tune, load_untuned
from turkic_idiom_tasks.training.trainer import KeepBest

VALIDATION = sentences(40)[30:]
CONFIG = SpanConfig(epochs=12, learning_rate=5e-3)  # with which the tiny BERT learns to tag
QUICK = ("--set", "epochs=1", "--set", "learning_rate=5e-3")


@pytest.fixture(scope="module")
def tuned_classifier(untrained_bert):
    """The tiny BERT as a classifier that has learnt to tag, and the outcome of its training."""
    return train(untrained_bert, sentences(30), VALIDATION, **CONFIG.model_dump())


def train(folder, rows, validation, *, seed=1, **settings):
    classifier = load_untuned(str(folder), seed=seed)
    return classifier, fine_tune(classifier, rows, validation, config=SpanConfig(**settings), seed=seed)


def f1(classifier, rows):
    found = classifier.predict([row.tokens for row in rows], [row.language for row in rows], progress=False)
    return micro_scores(span_counts([row.tags for row in rows], [one.tags for one in found]), "span")["span_f1"]


def test_the_best_evaluation_has_the_highest_score_and_of_equal_ones_the_smallest_loss_or_is_the_first():
    best = KeepBest(torch.nn.Linear(1, 1), "f1", "eval_loss")
    evaluations = [
        (math.nan, 0.1, True),  # score, loss, and whether it is the best so far
        (0.5, 0.4, True),
        (0.5, 0.4, False),
        (0.5, 0.3, True),
        (0.4, 0.0, False),
        (math.nan, 0.0, False),
    ]
    for score, loss, is_best in evaluations:
        metrics = {"f1": score, "eval_loss": loss}
        best.offer(metrics)
        assert (best.best is metrics) == is_best


def test_the_idiom_is_learnt_and_of_equal_epochs_the_smallest_loss_counts(untrained_bert, tuned_classifier):
    found, outcome = tuned_classifier
    assert f1(load_untuned(str(untrained_bert), seed=1), VALIDATION) < 0.9
    assert f1(found, sentences(60)[40:]) == outcome["validation_span_f1"] == 1.0
    history = outcome["history"]
    assert len(history) == CONFIG.epochs
    perfect = [row for row in history if row["span_f1"] == 1.0]
    assert len(perfect) > 1
    assert outcome["best_epoch"] == min(perfect, key=lambda row: row["loss"])["epoch"]
    # the weights are those of that epoch: their loss on the validation sentences, computed by hand, is the one noted
    total, n_labels = 0.0, 0
    for sentence in VALIDATION:
        encoded = found.tokenizer(list(sentence.tokens), is_split_into_words=True, return_tensors="pt")
        labels = torch.tensor([LABELS.index(tag) for tag in sentence.tags])  # every word is one sub-word
        with torch.no_grad():
            logits = found.model(**encoded).logits[0, 1:-1]
        total += torch.nn.functional.cross_entropy(logits, labels, reduction="sum").item()
        n_labels += len(labels)
    assert total / n_labels == pytest.approx(min(row["loss"] for row in perfect), abs=1e-5)


def test_validation_sentences_of_changing_length_keep_their_own_tags(untrained_bert):
    validation = []
    for number, sentence in enumerate(VALIDATION):
        extra = ("su",) * (number * 7 % 10)
        tokens, tags = extra + sentence.tokens, ("O",) * len(extra) + sentence.tags
        validation.append(replace(sentence, tokens=tokens, tags=tags, sentence=" ".join(tokens)))
    classifier, outcome = train(untrained_bert, sentences(30), validation, epochs=6, learning_rate=3e-3)
    assert f1(classifier, validation) == pytest.approx(outcome["validation_span_f1"])
    assert outcome["validation_span_f1"] > 0


def test_the_same_seed_gives_the_same_weights_and_another_does_not(untrained_bert):
    weights = []
    for seed in (3, 3, 4):
        classifier, outcome = train(untrained_bert, sentences(8), [], epochs=1, seed=seed)
        assert outcome == {"best_epoch": None, "validation_span_f1": None, "history": []}  # the last epoch stands
        weights.append(classifier.model.classifier.weight.detach())
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_every_option_trains(untrained_bert):
    options = {"bf16": True, "max_length": 16, "labelling": "first"}
    _, outcome = train(untrained_bert, sentences(30), VALIDATION, epochs=2, learning_rate=5e-3, **options)
    assert outcome["validation_span_f1"] > 0.9


def test_a_training_that_diverges_is_refused(untrained_bert):
    message = r"training diverged, a loss is not finite; use a smaller learning rate than 1e\+30"
    with pytest.raises(InputError, match=message):
        train(untrained_bert, sentences(30), VALIDATION, epochs=2, learning_rate=1e30)


def test_samples_of_a_seed_are_nested():
    rows = sentences(60)
    rows[::2] = [replace(row, tags=("O",) * len(row.tokens)) for row in rows[::2]]
    ten, thirty = (few_shot_sample(rows, size, seed=5) for size in (10, 30))
    assert len(ten) == 10
    assert all(row.spans() for row in thirty)
    assert thirty[:10] == ten
    assert few_shot_sample(list(reversed(rows)), 10, seed=5) == ten  # whatever order they come in
    assert few_shot_sample(rows, 10, seed=6) != ten
    assert sorted(row.id for row in few_shot_sample(rows, None, seed=5)) == [row.id for row in rows]


def test_a_saved_checkpoint_tags_alike_and_carries_its_card(tuned_classifier, tmp_path):
    (classifier, _), folder = tuned_classifier, tmp_path / "checkpoints" / "one"
    names = ("span_f1", "span_precision", "span_recall", "token_f1", "token_accuracy", "span_f1_ci_low")
    scores = dict.fromkeys(names, 0.5) | {"subword_f1": math.nan, "span_f1_ci_high": 0.75}
    record = {"model": "org/encoder", "language": "tr", "seed": 1, "best_epoch": 3, "config": CONFIG.model_dump(),
              "data": {"path": "lexicon", "revision": "f" * 40},
              "scores": scores | {"n_sentences": 20.0, "n_idioms": 18.0}}  # fmt: skip
    save_checkpoint(classifier, folder, record)
    assert {path.name for path in folder.iterdir()} >= {"model.safetensors", "config.json", "README.md", SPAN_RECORD}
    assert not list(folder.parent.glob(".*"))
    assert json.loads((folder / SPAN_RECORD).read_text())["scores"]["subword_f1"] is None  # NaN is no JSON
    tokens = [sentence.tokens for sentence in sentences(60)[40:]]
    loaded = TokenClassifier.load(str(folder), device="cpu")
    assert loaded.predict(tokens, ["tr"] * 20) == classifier.predict(tokens, ["tr"] * 20)
    card = ModelCard((folder / "README.md").read_text())
    assert (card.data.base_model, card.data.language) == ("org/encoder", "tr")
    assert (card.data.pipeline_tag, card.data.library_name) == ("token-classification", "transformers")
    for text in ("| span_f1 | 0.500 |", "| subword_f1 | undefined |", "0.500 to 0.750", "Fewer than 30 test sentences"):
        assert text in card.text
    assert "epoch 3 had the best span F1" in card.text
    local = ModelCard(model_card("span", record | {"model": str(tmp_path), "best_epoch": None}))
    assert local.data.base_model is None
    assert "the last epoch is kept" in local.text
    with pytest.raises(InputError, match="exists already"):
        save_checkpoint(classifier, folder, record)


@pytest.fixture(scope="module")
def finetune_span(untrained_bert, grid_data):
    """Runs the command on the small lexicon, with the tiny BERT unless there is another model."""

    def run(out, *options, model=untrained_bert):
        command = ["finetune", "span", "-m", str(model), "--data", str(grid_data), "--out", str(out), *QUICK]
        return main([*command, *map(str, options)])

    return run


@pytest.fixture(scope="module")
def tuned(finetune_span, tmp_path_factory):
    """Folder of a classifier of one seed."""
    out = tmp_path_factory.mktemp("spans") / "out"
    assert finetune_span(out, "--seed", 1) == 0
    return out


@pytest.fixture
def copied(tuned, tmp_path):
    return shutil.copytree(tuned, tmp_path / "out")


def test_it_tests_on_every_language_and_the_grid_adapts(tuned, untrained_bert, grid_data, tmp_path, capsys):
    found = {}
    for path in find_records(tuned / "records"):
        header = read_header(path)
        (row,) = header.subsets
        found[row.subset] = (header.training.language, header.training.size, header.training.seed)
        assert (row.task, header.data.path) == (SPANS, str(grid_data))
    assert found == {"tr": ("tr", "all", 1), "az": ("tr", 0, 1)}
    (checkpoint,) = (tuned / "checkpoints").iterdir()
    assert (checkpoint / "model.safetensors").is_file()
    assert json.loads((checkpoint / "config.json").read_text())["id2label"]["1"] == "B-IDIOM"
    assert "Idiom spans in Turkish" in (checkpoint / "README.md").read_text()
    file = write_grid_file(tmp_path, span=span_part([untrained_bert]))
    assert main(["grid", "status", str(file), "--out", str(tuned)]) == 0
    assert "4 cells: 2 done, 2 missing" in capsys.readouterr().out


def n_seeds(folder, model):
    """The number of seeds in the row of a model in the table of the source language."""
    with (folder / "tables" / "table2_source.csv").open() as table:
        return next(row["seeds"] for row in csv.DictReader(table) if row["model"] == str(model))


def test_finished_seeds_are_kept_and_stand_in_the_tables(copied, finetune_span, untrained_bert, capsys):
    before = stamps(copied)
    assert finetune_span(copied, "--seed", 2) == 0
    after = stamps(copied)
    assert before.items() <= after.items()
    assert len(after) == 4
    printed = capsys.readouterr().out
    assert n_seeds(copied, untrained_bert) == "2"
    assert f"Checkpoints: {copied / 'checkpoints'}" in printed
    assert finetune_span(copied, "--seed", 1, "--set", "weight_decay=0.1") == 0
    assert n_seeds(copied, untrained_bert) == "1"  # those of other settings are not counted


def test_tables_of_somebody_else_are_refused_at_once(copied, finetune_span, untrained_bert, tmp_path, capsys):
    file = write_grid_file(tmp_path, span=span_part([untrained_bert]))
    write_tables = ["grid", "tables", str(file), "--out", str(copied)]
    commands = [lambda: finetune_span(copied, "--seed", 2), lambda: main(write_tables)]
    tables = copied / "tables"
    (tables / "scores.csv").write_text("mine")
    before = stamps(copied)
    for command in commands:
        assert command() == 1
        assert "scores.csv: was changed since it was written; move it away" in capsys.readouterr().err
    (tables / ".turkic-idiom.json").unlink()
    for command in commands:
        assert command() == 1
        assert "was not written by this command; choose an empty or new folder" in capsys.readouterr().err
    assert (stamps(copied), (tables / "scores.csv").read_text()) == (before, "mine")
    shutil.rmtree(tables)
    assert main(write_tables) == main(write_tables) == 0
    assert {"scores.csv", "table2_source.csv", "table2_source.md"} <= {path.name for path in tables.iterdir()}


@pytest.mark.parametrize("damage", ["other", "none", "settings"])
def test_a_checkpoint_is_used_only_as_it_was_written(copied, finetune_span, damage):
    (checkpoint,) = (copied / "checkpoints").iterdir()
    weights, about = checkpoint / "model.safetensors", checkpoint / "span_finetuning.json"
    if damage == "other":  # a file of the same size, which would be loaded
        content = weights.read_bytes()
        weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    elif damage == "settings":  # of another training
        change_json(about, lambda record: record["config"].update(epochs=2))
        (checkpoint / ".turkic-idiom-revision").write_text(folder_revision(checkpoint))
    expected = {path.name: read_header(path).subsets for path in find_records(copied / "records")}
    shutil.rmtree(copied / "records")
    assert finetune_span(copied, "--seed", 1) == 0
    assert {path.name: read_header(path).subsets for path in find_records(copied / "records")} == expected
    assert len(list((copied / "checkpoints").iterdir())) == (1 if damage == "none" else 2)  # one is set aside


def test_results_of_earlier_weights_are_in_no_table(copied, finetune_span, untrained_bert, tmp_path):
    """The tables hold one result for a model, a seed and a language: that of the weights that are there now."""
    model = shutil.copytree(untrained_bert, tmp_path / "model")
    assert finetune_span(copied, "--seed", 1, model=model) == 0
    change_json(model / "config.json", lambda config: config.update(note="other weights"))
    assert finetune_span(copied, "--seed", 1, "--seed", 2, model=model) == 0
    assert (n_seeds(copied, model), n_seeds(copied, untrained_bert)) == ("2", "1")
    assert len(find_records(copied / "records")) == 2 + 2 + 4


def test_a_model_that_cannot_be_loaded_does_not_stop_the_others(copied, finetune_span, untrained_bert, capsys, caplog):
    assert finetune_span(copied, "--seed", 1, "-m", untrained_bert, model="./absent") == 1
    printed = capsys.readouterr()
    assert "./absent failed: ./absent: no such folder" in printed.err
    assert caplog.text.count("failed: ./absent") == 1  # of the two cells that it has
    assert n_seeds(copied, untrained_bert) == "1"


@pytest.mark.parametrize(
    ("options", "message", "code"),
    [
        (("--language", "uz"), "no annotated uz sentences to train on; found tr, az", 1),
        (("--language", "xx"), "'language': must be one of tr, az", 2),
        (("-m", "m (pooling=mean)"), "'models.1': 'm (pooling=mean)' names a pooling", 2),
        (("--target", "gag"), "--target gag: no language of the data besides the source language; known: az", 2),
        (("--target", "tr"), "--target tr: no language of the data besides the source language", 2),
        (("--data", "./nothing"), "./nothing: no such directory", 1),
    ],
)
def test_bad_input_is_one_line(finetune_span, tmp_path, capsys, options, message, code):
    assert finetune_span(tmp_path / "out", *options) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not list((tmp_path / "out").rglob("*.safetensors"))
