import json

import pytest

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.finetuning.card import RECORD, model_card, save_checkpoint
from turkic_idiom_tasks.finetuning.span import SpanConfig, few_shot_sample, fine_tune, load_untuned
from turkic_idiom_tasks.metrics.spans import span_scores
from turkic_idiom_tasks.span_detection.classifier import TokenClassifier
from turkic_idiom_tasks.span_detection.sentences import TaggedSentence

QUICK = SpanConfig(epochs=12, learning_rate=5e-3)


def sentences(n, language="tr"):
    """Sentences whose idiom is always `göz kalp`, between other words in turn."""
    others = ["ev", "yol", "gün", "gece", "su"]
    rows = []
    for number in range(n):
        before, after = others[number % 5], others[(number * 2 + 1) % 5]
        tokens = (before, "göz", "kalp", after) if number % 2 else ("göz", "kalp", after, before)
        tags = tuple({"göz": "B-IDIOM", "kalp": "I-IDIOM"}.get(token, "O") for token in tokens)
        rows.append(TaggedSentence(f"s{number:03d}", language, f"idiom {number}", " ".join(tokens), tokens, tags))
    return rows


def f1(classifier, rows):
    found = classifier.predict([row.tokens for row in rows], [row.language for row in rows], progress=False)
    return span_scores([row.tags for row in rows], [one.tags for one in found]).f1


@pytest.fixture(scope="module")
def tuned(untrained_bert):
    classifier = load_untuned(str(untrained_bert), seed=1)
    before = f1(classifier, sentences(40)[30:])
    return before, fine_tune(classifier, sentences(30), sentences(40)[30:], config=QUICK, seed=1)


def test_training_teaches_the_idiom(tuned):
    before, found = tuned
    assert f1(found.classifier, sentences(60)[40:]) == 1.0
    assert before < 0.9
    assert found.validation_f1 == 1.0


def test_the_weights_are_those_of_the_best_epoch(tuned):
    _, found = tuned
    best = max(found.history, key=lambda row: (row["span_f1"], -row["loss"]))
    assert found.best_epoch == best["epoch"]
    assert len(found.history) == QUICK.epochs


def test_of_equal_epochs_the_one_with_the_smallest_loss_stands(tuned):
    _, found = tuned
    perfect = [row for row in found.history if row["span_f1"] == 1.0]
    assert len(perfect) > 1
    assert found.best_epoch == min(perfect, key=lambda row: row["loss"])["epoch"]


def test_an_epoch_that_makes_it_worse_is_not_kept(untrained_bert, tuned):
    """Training on wrong tags: the first epoch, with the least harm, must be what comes out."""
    import copy

    _, found = tuned
    classifier = TokenClassifier(copy.deepcopy(found.classifier.model), found.classifier.tokenizer, name="copy")
    wrong = [TaggedSentence(s.id, "tr", s.idiom, s.sentence, s.tokens, ("O",) * len(s.tokens)) for s in sentences(30)]
    again = fine_tune(classifier, wrong, sentences(40)[30:], config=SpanConfig(epochs=4, learning_rate=1e-3), seed=1)
    f1_by_epoch = {row["epoch"]: row["span_f1"] for row in again.history}
    assert f1_by_epoch[4] < again.validation_f1
    assert f1(again.classifier, sentences(40)[30:]) == again.validation_f1 == max(f1_by_epoch.values())


def test_the_same_seed_gives_the_same_weights_and_another_does_not(untrained_bert):
    import torch

    def weights(seed):
        found = fine_tune(load_untuned(str(untrained_bert), seed=seed), sentences(8), [], config=SpanConfig(epochs=1),
                          seed=seed)  # fmt: skip
        return found.classifier.model.classifier.weight.detach().clone()

    assert torch.equal(weights(3), weights(3))
    assert not torch.equal(weights(3), weights(4))


def test_without_validation_sentences_the_last_epoch_stands(untrained_bert):
    found = fine_tune(load_untuned(str(untrained_bert), seed=1), sentences(8), [], config=SpanConfig(epochs=1), seed=1)
    assert found.best_epoch is None
    assert found.history == ()


@pytest.mark.parametrize("options", [{"bf16": True}, {"pad_to_max": True, "max_length": 16},
                                     {"group_by_length": True}, {"labelling": "first"}])  # fmt: skip
def test_every_option_trains(untrained_bert, options):
    config = SpanConfig(epochs=12, learning_rate=5e-3, **options)
    found = fine_tune(
        load_untuned(str(untrained_bert), seed=1), sentences(30), sentences(40)[30:], config=config, seed=1
    )
    assert found.validation_f1 > 0.9


def test_a_diverging_training_is_an_error(untrained_bert):
    classifier = load_untuned(str(untrained_bert), seed=1)
    config = SpanConfig(epochs=2, learning_rate=1e30)
    with pytest.raises(
        InputError, match=r"training diverged, a loss is not finite; use a smaller learning rate than 1e\+30"
    ):
        fine_tune(classifier, sentences(30), sentences(40)[30:], config=config, seed=1)


def test_bad_settings_and_no_sentences(untrained_bert):
    with pytest.raises(InputError, match="unknown labelling 'last'; known: all, first"):
        SpanConfig(labelling="last")
    with pytest.raises(InputError, match="at least 1"):
        SpanConfig(epochs=0)
    with pytest.raises(InputError, match="no training sentence"):
        fine_tune(load_untuned(str(untrained_bert), seed=1), [], [], config=SpanConfig(), seed=1)
    with pytest.raises(InputError, match="absent"):
        load_untuned("./absent", seed=1)


def test_samples_of_a_seed_are_nested():
    rows = sentences(60)
    ten, thirty = (few_shot_sample(rows, size, seed=5) for size in (10, 30))
    assert len(ten) == 10
    assert thirty[:10] == ten
    assert few_shot_sample(list(reversed(rows)), 10, seed=5) == ten  # whatever order they come in
    assert few_shot_sample(rows, 10, seed=6) != ten
    assert sorted(row.id for row in few_shot_sample(rows, None, seed=5)) == [row.id for row in rows]


def test_a_saved_checkpoint_tags_alike_and_carries_its_card(tuned, tmp_path):
    _, found = tuned
    scores = dict.fromkeys(("span_f1", "span_precision", "span_recall", "token_f1", "subword_f1", "token_accuracy",
                            "span_f1_ci_low", "span_f1_ci_high"), 0.5)  # fmt: skip
    record = {
        "model": "org/encoder", "language": "tr", "seed": 1, "best_epoch": 3, "tags": {"s": "OBI"},
        "data": {"path": "lexicon", "revision": "f" * 40},
        "config": {"epochs": 5, "batch_size": 8, "learning_rate": 5e-5, "weight_decay": 0.01, "labelling": "all"},
        "scores": scores | {"n_sentences": 20.0, "n_idioms": 18.0, "small_sample": 1.0},
    }  # fmt: skip
    folder = tmp_path / "checkpoints" / "one"
    save_checkpoint(found.classifier, folder, record)
    assert {path.name for path in folder.iterdir()} >= {"model.safetensors", "config.json", "README.md", RECORD}
    assert not list(folder.parent.glob(".*"))
    assert "tags" not in json.loads((folder / RECORD).read_text())
    rows = sentences(60)[40:]
    loaded = TokenClassifier.load(str(folder), device="cpu")
    assert loaded.predict([r.tokens for r in rows], ["tr"] * 20) == found.classifier.predict(
        [r.tokens for r in rows], ["tr"] * 20
    )
    card = model_card(record)
    assert "base_model: org/encoder" in card
    assert "| span_f1 | 0.500 |" in card
    assert "Fewer than 30 test sentences" in card
    from huggingface_hub import ModelCard

    assert ModelCard(card).data.pipeline_tag == "token-classification"
