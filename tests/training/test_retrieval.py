"""Fine-tuning for retrieval: what is learnt, kept and saved, and the steps of an independent trainer."""

import json
import logging
import math
import resource
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from huggingface_hub import ModelCard
from mteb.models.model_implementations import MODEL_REGISTRY
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer

from tests.training.toy_task import COSINE_OPTIONS, QUICK, changed, record_of, regime
from turkic_idiom_tasks.dataset.retrieval import RetrievalData
from turkic_idiom_tasks.encoders.names import POOLINGS
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses.mteb_models import NO_REVISION, load_pooled, make_meta
from turkic_idiom_tasks.training.cards import RETRIEVAL_RECORD, model_card, save_tuned, without_nan
from turkic_idiom_tasks.training.encoder_trainer import Evaluation
from turkic_idiom_tasks.training.retrieval import development_ndcg, fine_tune_retrieval
from turkic_idiom_tasks.training.trainee import load_trainee

TEXTS = ["göz dil", "kalp", "su ateş ev"]
RATE, DECAY, SCALE = 5e-3, 0.01, 20  # the scale of sentence-transformers' MultipleNegativesRankingLoss
PAIRS = {(pair.idiom, pair.meaning) for pair in regime().pairs}


def weights(model):
    return {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}


def equal(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def tune(folder, data=None, *, pooling=None, **changes):
    trainee = load_trainee(str(folder), task="T2", pooling=pooling)
    return trainee, fine_tune_retrieval(trainee, data or regime(), config=changed(**changes))


def score_again(model, data):
    """nDCG from the formula: log 2 / log(1 + rank) of the one relevant document, texts encoded by hand."""
    held = data.development["tr"]
    queries = model.encode(list(held.queries.values()), normalize_embeddings=True)
    documents = model.encode(list(held.documents.values()), normalize_embeddings=True)
    names = list(held.documents)
    gains = []
    for query, row in zip(held.queries, queries @ documents.T, strict=True):
        (target,) = held.qrels[query]
        gains.append(1 / math.log2(1 + 1 + np.count_nonzero(row > row[names.index(target)])))
    return float(np.mean(gains))


@pytest.fixture(scope="module")
def tuned(sentence_model):
    return tune(sentence_model)


@pytest.fixture(scope="module")
def saved(tuned, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "model"
    save_tuned(tuned[1], folder, record_of(*tuned))
    return folder


def test_training_raises_development_ndcg_and_keeps_the_best_weights(tuned, sentence_model):
    trainee, found = tuned
    assert not trainee.is_plain
    assert found.loss == "mnrl"
    assert found.verdict.startswith(f"tuning raised development nDCG from {found.history[0].score:.4f} to")
    assert [one.step for one in found.history] == [0, 3, 6, 9, 12, 15]  # 41 pairs are 3 batches of 16
    assert found.n_steps == 15
    assert found.kept.score == max(one.score for one in found.history) > found.history[0].score + 0.2
    assert score_again(found.model, regime()) == pytest.approx(found.kept.score, abs=1e-9)
    untuned = load_trainee(str(sentence_model), task="T2").model
    assert score_again(untuned, regime()) == pytest.approx(found.history[0].score, abs=1e-9)


@pytest.mark.parametrize(
    "pooling",
    [pytest.param(name, marks=() if name == "first_last" else pytest.mark.long) for name in POOLINGS],
)
def test_a_plain_encoder_learns_under_every_pooling_and_reloads_alike(untrained_bert, tmp_path, pooling):
    trainee, found = tune(untrained_bert, pooling=pooling, loss="mnrl")
    assert trainee.is_plain
    assert trainee.pooling == pooling
    assert found.kept.score > found.history[0].score + 0.1
    folder = tmp_path / "models" / "one"
    save_tuned(found, folder, record_of(trainee, found, config=changed(pooling=pooling, loss="mnrl")))
    again = SentenceTransformer(str(folder), device="cpu")
    assert np.array_equal(again.encode(TEXTS), found.model.encode(TEXTS))
    kinds = {module["type"].split(".")[0] for module in json.loads((folder / "modules.json").read_text())}
    assert kinds == {"sentence_transformers"}
    if pooling in ("first_last", "last_four"):  # the mixture is no parameter, and is none after a reload either
        expected = [1, 0, 0, 1] if pooling == "first_last" else [1, 1, 1, 1]
        assert found.model[1].layer_weights.tolist() == again[1].layer_weights.tolist() == expected
        assert tune(folder, epochs=1)[1].model[1].layer_weights.tolist() == expected


@pytest.mark.long
def test_plain_encoders_learn_by_the_cosine_loss_unless_asked_otherwise(sentence_model, untrained_bert, caplog):
    with caplog.at_level(logging.WARNING, "turkic_idiom_tasks"):
        _, found = tune(untrained_bert, pooling="max", **COSINE_OPTIONS | {"loss": None})
        assert "collapse" not in caplog.text
        _, letter = tune(untrained_bert, pooling="max", negatives=0, **COSINE_OPTIONS)  # the paper to the letter
    assert found.loss == "cosine"
    assert found.kept.score > found.history[0].score + 0.1
    assert "they collapse" in caplog.text
    assert letter.history[-1].score < found.history[-1].score - 0.1
    assert tune(sentence_model, loss="cosine", epochs=1)[1].loss == "cosine"


def test_the_same_seed_gives_the_same_weights_and_another_does_not(sentence_model):
    def run(seed):  # adapters begin with random weights, and the cosine loss draws its negatives
        _, found = tune(sentence_model, epochs=1, seed=seed, lora=8, learning_rate=2e-2, loss="cosine")
        assert found.kept.step > 0
        return weights(found.model)

    first = run(3)
    assert equal(first, run(3))
    assert not equal(first, run(4))


@pytest.mark.parametrize(
    ("options", "n_steps"),
    [
        ({}, 2),  # the first step breaks the weights, and the second one's loss shows it
        ({"epochs": 1, "batch_size": 64}, 1),  # one step in all, so only vectors can show it
    ],
)
def test_a_training_that_diverges_stops_and_leaves_the_untuned_weights(sentence_model, options, n_steps):
    trainee, found = tune(sentence_model, learning_rate=1e30, **options)
    assert (found.diverged_at, found.n_steps, found.tuned) == (n_steps, n_steps, None)
    assert equal(weights(found.model), weights(load_trainee(str(sentence_model), task="T2").model))
    assert f"not finite at step {n_steps}, where training stopped; the untuned weights are kept" in found.verdict
    record = record_of(trainee, found)
    assert json.loads(json.dumps(without_nan(record), allow_nan=False))["tuned_ndcg"] is None
    assert "| tuned | undefined |" in model_card("retrieval", record)


def test_a_loss_that_diverges_late_leaves_the_best_weights_before_it(sentence_model):
    """From the 8th training step on, the transformer's output is NaN (two forward passes a step)."""
    trainee = load_trainee(str(sentence_model), task="T2")
    passes = []

    def break_late(module, inputs, output):
        passes.extend([1] * module.training)
        if module.training and len(passes) > 14:
            output["token_embeddings"] = output["token_embeddings"] * math.nan
        return output

    handle = trainee.model[0].register_forward_hook(break_late)
    found = fine_tune_retrieval(trainee, regime(), config=QUICK)
    handle.remove()
    assert (found.diverged_at, found.n_steps) == (8, 8)
    assert [one.step for one in found.history] == [0, 3, 6]
    assert found.kept.step in (3, 6)
    assert score_again(found.model, regime()) == pytest.approx(found.kept.score, abs=1e-9)


def test_tuning_that_makes_it_worse_is_undone_and_stops_when_patience_runs_out(saved):
    before = weights(load_trainee(str(saved), task="T2").model)
    trainee, found = tune(saved, regime(shift=3), patience=2, epochs=12)
    assert found.tuned.score < found.history[0].score
    assert found.kept.step == 0
    assert equal(weights(found.model), before)
    assert "did not raise development nDCG" in found.verdict
    assert "In this folder: the untuned weights." in model_card("retrieval", record_of(trainee, found))
    scores = [one.score for one in found.history[1:]]
    assert found.stopped_early
    assert len(scores) - 1 - scores.index(max(scores)) == 2
    assert found.n_steps == 3 * len(scores) < 36


def test_evaluations_are_spread_over_the_steps_and_one_is_after_the_last(sentence_model):
    _, found = tune(sentence_model, epochs=2, evaluations=4, patience=99)
    assert [one.step for one in found.history] == [0, 1, 2, 3, 4, 5, 6]  # eighths of 6 steps, rounded up
    assert not found.stopped_early
    # with one idiom in every pair a batch holds one of them, which has no negatives: fewer steps, and nothing is learnt
    data = regime()
    same = tuple(pair._replace(idiom="göz dil") for pair in data.pairs)
    _, found = tune(sentence_model, replace(data, pairs=same), weight_decay=0.0)
    assert found.history[-1].step == found.n_steps > 0
    assert found.history[-1].score == found.history[0].score
    assert found.kept.step == 0


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [{"cached": True, "mini_batch": 4}, {"bf16": True}, {"gradient_checkpointing": True},
     {"lora": 8, "learning_rate": 2e-2}, {"lora": 8, "learning_rate": 2e-2, "gradient_checkpointing": True}],
)  # fmt: skip
def test_every_option_trains_and_scores_in_float32(sentence_model, tmp_path, options):
    trainee, found = tune(sentence_model, **options)
    assert found.kept.score > found.history[0].score + 0.1
    save_tuned(found, tmp_path / "model", record_of(trainee, found, config=changed(**options)))
    again = SentenceTransformer(str(tmp_path / "model"), device="cpu")
    tolerance = 1e-3 if "lora" in options else 1e-9  # merging rounds
    assert score_again(again, regime()) == pytest.approx(found.kept.score, abs=tolerance)
    assert np.allclose(again.encode(TEXTS), found.model.encode(TEXTS), rtol=0, atol=1e-6)  # bfloat16: 1e-3
    assert not (tmp_path / "model" / "adapter_config.json").exists()
    assert {tensor.dtype for tensor in again.state_dict().values() if tensor.is_floating_point()} == {torch.float32}


def with_prompts(folder, prompts, out):
    """The folder of a copy of a model with prompts."""
    model = SentenceTransformer(str(folder), prompts=prompts, device="cpu")
    model.save_pretrained(str(out), create_model_card=False)
    return out


def test_prompts_stand_before_texts_in_training_and_evaluation(sentence_model, tmp_path):
    prompts = {"query": "ev ", "document": "yol gün "}
    trainee, found = tune(with_prompts(sentence_model, prompts, tmp_path / "prompted"), epochs=1)
    _, written = tune(sentence_model, regime(prefixes=tuple(prompts.values())), epochs=1)
    assert equal(weights(found.model), weights(written.model))
    assert [one.score for one in found.history] == [one.score for one in written.history]
    _, bare = tune(sentence_model, epochs=1)
    assert not equal(weights(found.model), weights(bare.model))
    record = record_of(trainee, found)
    save_tuned(found, tmp_path / "saved", record)
    again = load_trainee(str(tmp_path / "saved"), task="T3")
    assert dict(again.prompts) == record["prompts"] == dict(trainee.prompts) == prompts


def test_prompts_of_mteb_and_of_single_tasks_are_saved_with_the_model(sentence_model, tmp_path, monkeypatch):
    prompts = {"query": "ev ", "document": "yol "}
    arguments = {"path": str(sentence_model), "pooling": "mean", "model_prompts": prompts}
    name = "test/e5 (pooling=mean)"
    meta = make_meta(name, revision=NO_REVISION, loader=load_pooled, arguments=arguments)
    monkeypatch.setitem(MODEL_REGISTRY, name, meta)
    trainee = load_trainee(name, task="T2")
    assert (trainee.name, trainee.pooling, dict(trainee.prompts)) == ("test/e5", "mean", prompts)
    trainee.model.save_pretrained(str(tmp_path / "saved"), create_model_card=False)
    assert dict(load_trainee(str(tmp_path / "saved"), task="T1").prompts) == prompts
    of_tasks = {"TurkicIdiomT2-query": "ev ", "query": "yol ", "document": ""}
    folder = with_prompts(sentence_model, of_tasks, tmp_path / "prompted")
    queries = {"T1": "yol ", "T2": "ev "}
    for task, expected in queries.items():
        trainee = load_trainee(str(folder), task=task)
        assert trainee.prompts["query"] == expected
        again = tmp_path / f"again-{task}"
        trainee.model.save_pretrained(str(again), create_model_card=False)
        assert {name: load_trainee(str(again), task=name).prompts["query"] for name in queries} == queries


def test_a_saved_model_has_its_record_and_card_and_nothing_is_overwritten(tuned, saved):
    _, found = tuned
    assert not list(saved.parent.glob(".*"))
    record = json.loads((saved / RETRIEVAL_RECORD).read_text())
    assert record["config"]["learning_rate"] == QUICK.learning_rate
    assert (record["untuned_ndcg"], record["tuned_ndcg"]) == (found.history[0].score, found.tuned.score)
    assert [(row["step"], row["ndcg"]) for row in record["history"]] == [(one.step, one.score) for one in found.history]
    card = ModelCard((saved / "README.md").read_text())
    assert (card.data.language, card.data.library_name) == (["tr"], "sentence-transformers")
    assert f"| tuned | {found.tuned.score:.4f} |" in card.text
    assert "Fewer than 30 development queries." in card.text
    with pytest.raises(InputError, match=r"exists already; .*choose another --out"):
        save_tuned(found, saved, record)


def test_a_full_disk_leaves_nothing_behind(tuned, tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))  # bytes of a file; the weights have 200,000
    try:
        with pytest.raises(InputError, match=r"one: cannot be written .*; make room") as error:
            save_tuned(tuned[1], tmp_path / "models" / "one", record_of(*tuned))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "\n" not in str(error.value)
    assert list((tmp_path / "models").iterdir()) == []


def test_scores_of_languages_are_averaged_with_equal_weight(sentence_model):
    trainee = load_trainee(str(sentence_model), task="T3")
    all_held = regime().development["tr"]
    few = RetrievalData(dict(list(all_held.queries.items())[:2]), all_held.documents, all_held.qrels)
    found = development_ndcg(trainee.model, {"az": all_held, "uz": few}, prompts=trainee.prompts)
    assert found["eval_score"] == pytest.approx((found["eval_score_az"] + found["eval_score_uz"]) / 2)
    assert found["eval_score_az"] != found["eval_score_uz"]
    # the one relevant document of a random ranking stands at each rank alike
    n = len(all_held.documents)
    assert found["eval_floor"] == pytest.approx(sum(1 / math.log2(1 + rank) for rank in range(1, n + 1)) / n)


def test_a_difference_near_the_score_of_a_random_ranking_is_said_to_be_one(tuned):
    """(.1360 - .13) / .87 = .007 of the way from chance to perfect; .19 is .069 of it."""
    for after, is_near in ((0.1360, True), (0.19, False)):
        found = replace(tuned[1], history=(Evaluation(0, 0.1293), Evaluation(5, after)), floor=0.13)
        assert ("near the 0.1300 of a random ranking" in found.verdict) is is_near
        assert f"from 0.1293 to {after:.4f}" in found.verdict
    assert 0 < tuned[1].floor < 1
    assert "near" not in tuned[1].verdict


def test_what_cannot_be_trained_is_refused(sentence_model, monkeypatch):
    trainee = load_trainee(str(sentence_model), task="T2")
    with torch.no_grad():
        next(iter(trainee.model.parameters())).fill_(math.nan)
    with pytest.raises(InputError, match="hold NaN or infinity"):
        fine_tune_retrieval(trainee, regime(), config=QUICK)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match=r"41 training rows .* 64 for each of 2 processes; .* a smaller batch_size"):
        tune(sentence_model, batch_size=64)


def train_ours(folder, monkeypatch):
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


def test_the_trainer_makes_the_steps_of_a_bare_loop(make_untrained, monkeypatch):
    """An independent one, of plain transformers and PyTorch, on the same batches; without dropout nothing is random."""
    model = make_untrained(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    batches, ours = train_ours(model, monkeypatch)
    seen = sorted(pair for batch in batches for pair in zip(*batch, strict=True))
    assert seen == sorted([*PAIRS, *PAIRS])  # two epochs, every pair once in each
    assert all(len(set(column)) == len(column) for batch in batches for column in batch)
    bare, untrained = train_bare(model, batches), AutoModel.from_pretrained(model).state_dict()
    for name, weight in ours.items():
        if name.endswith("key.bias"):  # a softmax ignores it: its gradient is rounding, which Adam blows up
            continue
        torch.testing.assert_close(weight, bare[name], atol=2e-6, rtol=0, msg=name)
        assert "pooler" in name or (weight - untrained[name]).abs().max() > RATE  # six steps of at most RATE
