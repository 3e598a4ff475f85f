import json
import math
from dataclasses import replace

import pytest
import torch
from huggingface_hub import ModelCard

from tests.training.toy_task import sentences
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.metrics.spans import span_scores
from turkic_idiom_tasks.spans import LABELS
from turkic_idiom_tasks.tasks.spans.classifier import TokenClassifier
from turkic_idiom_tasks.training.cards import SPAN_RECORD, model_card, save_checkpoint
from turkic_idiom_tasks.training.config import SpanConfig
from turkic_idiom_tasks.training.span import few_shot_sample, fine_tune, load_untuned
from turkic_idiom_tasks.training.trainer import KeepBest

VALIDATION = sentences(40)[30:]


def train(folder, rows, validation, *, seed=1, **settings):
    classifier = load_untuned(str(folder), seed=seed)
    return classifier, fine_tune(classifier, rows, validation, config=SpanConfig(**settings), seed=seed)


def f1(classifier, rows):
    found = classifier.predict([row.tokens for row in rows], [row.language for row in rows], progress=False)
    return span_scores([row.tags for row in rows], [one.tags for one in found]).f1


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


def test_training_teaches_the_idiom(untrained_bert, tuned_classifier):
    classifier, outcome = tuned_classifier
    assert f1(load_untuned(str(untrained_bert), seed=1), VALIDATION) < 0.9
    assert f1(classifier, sentences(60)[40:]) == outcome["validation_span_f1"] == 1.0


def test_of_equal_epochs_the_one_with_the_smallest_loss_is_kept(tuned_classifier, span_config):
    found, outcome = tuned_classifier
    history = outcome["history"]
    assert len(history) == span_config.epochs
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


def test_what_cannot_be_trained(untrained_bert):
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


@pytest.fixture
def record(span_config):
    names = ("span_f1", "span_precision", "span_recall", "token_f1", "token_accuracy", "span_f1_ci_low")
    scores = dict.fromkeys(names, 0.5) | {"subword_f1": math.nan, "span_f1_ci_high": 0.75}
    return {
        "model": "org/encoder",
        "language": "tr",
        "seed": 1,
        "best_epoch": 3,
        "data": {"path": "lexicon", "revision": "f" * 40},
        "config": span_config.model_dump(),
        "scores": scores | {"n_sentences": 20.0, "n_idioms": 18.0},
    }


def test_a_saved_checkpoint_tags_alike_and_carries_its_card(tuned_classifier, record, tmp_path):
    (classifier, _), folder = tuned_classifier, tmp_path / "checkpoints" / "one"
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
