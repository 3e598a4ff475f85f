"""The trainer against an independent one: a loop of plain transformers and PyTorch on the same batches."""

from itertools import pairwise

import pytest
import torch

from tests.training.toy_task import changed, regime
from turkic_idiom_tasks.training.retrieval import fine_tune_retrieval
from turkic_idiom_tasks.training.trainee import load_trainee

RATE, DECAY, SCALE = 5e-3, 0.01, 20  # the scale of sentence-transformers' MultipleNegativesRankingLoss
PAIRS = {(pair.idiom, pair.meaning) for pair in regime().pairs}


@pytest.fixture(scope="module")
def model(make_untrained):
    """A tiny untrained BERT without dropout, whose training is a function of its batches."""
    return make_untrained(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)


def train(folder, monkeypatch):
    """(batches of the trainer, its weights after the last step)."""
    trainee = load_trainee(str(folder), task="T2", pooling="mean")
    seen, module = [], trainee.model[0]
    preprocess = module.preprocess

    def record(texts, **options):
        seen.append(list(texts))
        return preprocess(texts, **options)

    monkeypatch.setattr(module, "preprocess", record)
    # The last weights stay, not the best.
    monkeypatch.setattr("turkic_idiom_tasks.training.encoder_trainer.set_weights", lambda model, weights: None)
    config = changed(epochs=2, learning_rate=RATE, weight_decay=DECAY, loss="mnrl")
    fine_tune_retrieval(trainee, regime(), config=config)
    batches = [columns for columns in pairwise(seen) if PAIRS.issuperset(zip(*columns, strict=False))]
    return batches, trainee.model[0].model.state_dict()


def embed(model, tokenizer, texts):
    """(B, H) means over the tokens of each text, of length 1."""
    features = tokenizer(texts, padding=True, return_tensors="pt")
    mask = features["attention_mask"].unsqueeze(-1)
    hidden = model(**features).last_hidden_state
    return torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=-1)


def train_bare(folder, batches):
    from transformers import AutoModel, AutoTokenizer

    model, tokenizer = AutoModel.from_pretrained(folder).train(), AutoTokenizer.from_pretrained(folder)
    kinds = {True: [], False: []}
    for name, parameter in model.named_parameters():
        kinds["LayerNorm" not in name and not name.endswith("bias")].append(parameter)
    groups = [{"params": kinds[True], "weight_decay": DECAY}, {"params": kinds[False], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=RATE)
    for step, (idioms, meanings) in enumerate(batches):
        for group in optimizer.param_groups:
            group["lr"] = RATE * (1 - step / len(batches))
        cosines = embed(model, tokenizer, idioms) @ embed(model, tokenizer, meanings).T
        torch.nn.functional.cross_entropy(SCALE * cosines, torch.arange(len(idioms))).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    return model.state_dict()


def test_the_trainer_makes_the_steps_of_a_bare_loop(model, monkeypatch):
    from transformers import AutoModel

    batches, ours = train(model, monkeypatch)
    seen = sorted(pair for batch in batches for pair in zip(*batch, strict=True))
    assert seen == sorted([*PAIRS, *PAIRS])  # two epochs, every pair once in each
    assert all(len(set(column)) == len(column) for batch in batches for column in batch)
    bare, untrained = train_bare(model, batches), AutoModel.from_pretrained(model).state_dict()
    for name, weight in ours.items():
        if name.endswith("key.bias"):  # a softmax ignores it: its gradient is rounding, which Adam blows up
            continue
        torch.testing.assert_close(weight, bare[name], atol=2e-6, rtol=0, msg=name)
        assert "pooler" in name or (weight - untrained[name]).abs().max() > RATE  # six steps of at most RATE
