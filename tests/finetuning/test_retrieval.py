import json
import logging
import math

import numpy as np
import pytest
import torch

from tests.encoders.untrained_models import WORDS
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.finetuning.development import DevelopmentScore
from turkic_idiom_tasks.finetuning.regimes import Pair, RegimeData, build_regime
from turkic_idiom_tasks.finetuning.retrieval import RetrievalConfig, fine_tune_retrieval
from turkic_idiom_tasks.finetuning.retrieval_card import RECORD, model_card, save_tuned, tuning_record
from turkic_idiom_tasks.finetuning.trainee import load_trainee
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import load_lexicon, write_lexicon
from turkic_idiom_tasks.retrieval.relevance import RetrievalData, build_retrieval

QUICK = RetrievalConfig(epochs=5, learning_rate=5e-3, batch_size=16, evaluations=1, patience=9, seed=1)
COSINE = {"loss": "cosine", "epochs": 8, "learning_rate": 2e-3}  # learns more slowly
IDIOM, MEANING = WORDS[:7], WORDS[7:14]


def regime(prefixes=("", ""), shift=0):
    """49 idioms of two words; the meaning is made of the words that stand for them. Every seventh is held out.

    With a shift the words stand for others: what is learnt is wrong for the held-out ones.
    """
    query, document = prefixes
    rows = [(n, a, b) for n, (a, b) in enumerate((a, b) for a in range(7) for b in range(7))]

    def meaning(a, b, moved=0):
        return f"{document}{MEANING[(a + moved) % 7]} {MEANING[(b + moved) % 7]}"

    held = [row for row in rows if row[0] % 6 == 3]
    pairs = tuple(
        Pair(f"c-{n}", "tr", f"{query}{IDIOM[a]} {IDIOM[b]}", meaning(a, b, shift)) for n, a, b in rows if n % 6 != 3
    )
    data = RetrievalData(
        queries={f"tur:c-{n}": f"{query}{IDIOM[a]} {IDIOM[b]}" for n, a, b in held},
        documents={f"tur:c-{n}": meaning(a, b) for n, a, b in rows},
        qrels={f"tur:c-{n}": {f"tur:c-{n}": 1} for n, _, _ in held},
    )
    return RegimeData("tr-only", ("tr",), "T2", pairs, {"tr": data}, 0, 0)


def weights(model):
    return {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}


def equal(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def changed(config=QUICK, **changes):
    return RetrievalConfig(**{name: getattr(config, name) for name in config.__dataclass_fields__} | changes)


def tune(folder, data=None, *, pooling=None, prompts=None, **changes):
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
def sentence_model(untrained_bert, tmp_path_factory):
    """The tiny untrained BERT as a sentence-transformers checkpoint."""
    from turkic_idiom_tasks.encoders.poolings import build_sentence_transformer

    folder = tmp_path_factory.mktemp("sentence_model")
    build_sentence_transformer(str(untrained_bert), "mean").save_pretrained(str(folder), create_model_card=False)
    return folder


@pytest.fixture(scope="module")
def tuned(sentence_model):
    return tune(sentence_model)


@pytest.fixture(scope="module")
def saved(tuned, tmp_path_factory):
    trainee, found = tuned
    folder = tmp_path_factory.mktemp("saved") / "model"
    save_tuned(found, folder, tuning_record(trainee, regime(), found, config=QUICK, path="lexicon", revision="f" * 40))
    return folder


def test_training_raises_development_ndcg(tuned):
    trainee, found = tuned
    assert not trainee.is_plain
    assert found.loss == "mnrl"
    assert found.kept.ndcg > found.untuned.ndcg + 0.2
    assert found.verdict.startswith(f"tuning raised development nDCG from {found.untuned.ndcg:.4f} to")
    assert [one.step for one in found.history] == [0, 3, 6, 9, 12, 15]  # 41 pairs are 3 batches of 16
    assert found.n_steps == 15


def test_the_kept_weights_are_those_of_the_best_evaluation(tuned, sentence_model):
    _, found = tuned
    assert found.kept.ndcg == max(one.ndcg for one in found.history)
    assert score_again(found.model, regime()) == pytest.approx(found.kept.ndcg, abs=1e-9)
    assert score_again(load_trainee(str(sentence_model), task="T2").model, regime()) == pytest.approx(
        found.untuned.ndcg, abs=1e-9
    )


@pytest.mark.parametrize("pooling", ["cls", "mean", "max", "first_last", "last_four"])
def test_a_plain_encoder_learns_under_every_pooling_and_reloads_alike(untrained_bert, tmp_path, pooling):
    from sentence_transformers import SentenceTransformer

    trainee, found = tune(untrained_bert, pooling=pooling, loss="mnrl")
    assert trainee.is_plain
    assert trainee.pooling == pooling
    assert found.kept.ndcg > found.untuned.ndcg + 0.1
    config = changed(pooling=pooling, loss="mnrl")
    folder = tmp_path / "models" / "one"
    save_tuned(found, folder, tuning_record(trainee, regime(), found, config=config, path="lexicon", revision="f" * 40))
    texts = ["göz dil", "kalp", "su ateş ev"]
    again = SentenceTransformer(str(folder), device="cpu")
    assert np.array_equal(again.encode(texts), found.model.encode(texts))
    kinds = {json.loads((folder / "modules.json").read_text())[n]["type"].split(".")[0] for n in range(len(again))}
    assert kinds == {"sentence_transformers"}
    if pooling in ("first_last", "last_four"):  # the mixture is no parameter, and is none after a reload either
        mixture = found.model[1].layer_weights.detach()
        expected = [1, 0, 0, 1] if pooling == "first_last" else [1, 1, 1, 1]
        assert mixture.tolist() == again[1].layer_weights.tolist() == expected
        once_more, _ = tune(folder, epochs=1)
        assert once_more.model[1].layer_weights.tolist() == expected


def test_the_five_poolings_start_from_different_scores(untrained_bert):
    scores = set()
    for pooling in ("cls", "mean", "max", "first_last", "last_four"):
        trainee = load_trainee(str(untrained_bert), task="T2", pooling=pooling)
        scores.add(DevelopmentScore(trainee.model, regime().development, prompts=trainee.prompts)(step=0).ndcg)
    assert len(scores) == 5


def test_plain_encoders_learn_by_the_cosine_loss_unless_asked_otherwise(sentence_model, untrained_bert, caplog):
    with caplog.at_level(logging.WARNING, "turkic_idiom_tasks"):
        _, found = tune(untrained_bert, pooling="max", **COSINE | {"loss": None})
    assert found.loss == "cosine"
    assert found.kept.ndcg > found.untuned.ndcg + 0.1
    assert "collapse" not in caplog.text
    with caplog.at_level(logging.WARNING, "turkic_idiom_tasks"):
        _, letter = tune(untrained_bert, pooling="max", negatives=0, **COSINE)  # the paper to the letter
    assert "they collapse" in caplog.text
    assert letter.history[-1].ndcg < found.history[-1].ndcg - 0.1
    assert tune(sentence_model, loss="cosine", epochs=1)[1].loss == "cosine"


@pytest.mark.parametrize("options", [{"lora": 8, "learning_rate": 2e-2}, {"loss": "cosine"}])
def test_the_same_seed_gives_the_same_weights_and_another_does_not(sentence_model, options):
    def run(seed):
        _, found = tune(sentence_model, epochs=3, seed=seed, **options)
        assert found.kept.step > 0
        return weights(found.model)

    first = run(3)
    assert equal(first, run(3))
    assert not equal(first, run(4))


def test_a_diverging_loss_stops_and_leaves_the_untuned_weights(sentence_model, caplog):
    before = weights(load_trainee(str(sentence_model), task="T2").model)
    trainee, found = tune(sentence_model, learning_rate=1e30)
    assert found.diverged_at == 2  # the first step is what breaks the weights
    assert found.n_steps == 2
    assert found.tuned is None
    assert equal(weights(found.model), before)
    assert "were not finite at step 2, where training stopped; the untuned weights are kept" in found.verdict
    record = tuning_record(trainee, regime(), found, config=QUICK, path="lexicon", revision="f" * 40)
    assert json.loads(json.dumps(record, allow_nan=False))["tuned_ndcg"] is None
    assert "| tuned | undefined |" in model_card(record)


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
    assert score_again(found.model, regime()) == pytest.approx(found.kept.ndcg, abs=1e-9)
    assert "not finite at step 8" in found.verdict


def test_weights_of_the_last_step_that_cannot_be_scored_are_not_kept(sentence_model):
    """One step in all: no later loss could show what it did."""
    before = weights(load_trainee(str(sentence_model), task="T2").model)
    _, found = tune(sentence_model, learning_rate=1e30, epochs=1, batch_size=64)
    assert (found.n_steps, found.diverged_at) == (1, 1)
    assert math.isnan(found.history[-1].ndcg)
    assert equal(weights(found.model), before)


def test_tuning_that_makes_it_worse_is_undone_and_said(saved):
    before = weights(load_trainee(str(saved), task="T2").model)
    trainee, found = tune(saved, regime(shift=3))
    assert found.tuned.ndcg < found.untuned.ndcg
    assert found.kept.step == 0
    assert equal(weights(found.model), before)
    assert "made it worse" in found.verdict
    assert "the untuned weights are kept" in found.verdict
    record = tuning_record(trainee, regime(), found, config=QUICK, path="lexicon", revision="f" * 40)
    assert "In this folder: the untuned weights." in model_card(record)


def test_it_stops_when_patience_runs_out(saved):
    _, found = tune(saved, regime(shift=3), patience=2, epochs=12)
    scores = [one.ndcg for one in found.history[1:]]
    assert found.stopped_early
    assert len(scores) - 1 - scores.index(max(scores)) == 2
    assert found.n_steps == 3 * len(scores) < 36


def test_several_evaluations_an_epoch_and_one_after_the_last_step(sentence_model):
    _, found = tune(sentence_model, epochs=2, evaluations=4, patience=99)
    assert [one.step for one in found.history] == [0, 1, 2, 3, 4, 5, 6]  # eighths of 6 steps, rounded up


def test_duplicates_that_shorten_an_epoch_do_not_lose_its_last_evaluation(sentence_model):
    """One idiom in every pair: a batch holds one of them, which has no negatives, and nothing is learnt from it."""
    data = regime()
    same = tuple(Pair(pair.concept, "tr", "göz dil", pair.meaning) for pair in data.pairs)
    _, found = tune(
        sentence_model, RegimeData("tr-only", ("tr",), "T2", same, data.development, 0, 0), weight_decay=0.0
    )
    assert found.history[-1].step == found.n_steps > 0
    assert found.history[-1].ndcg == found.untuned.ndcg
    assert "did not change development nDCG" in found.verdict


@pytest.mark.parametrize(
    "options",
    [{"cached": True, "mini_batch": 4}, {"bf16": True}, {"gradient_checkpointing": True},
     {"lora": 8, "learning_rate": 2e-2}, {"lora": 8, "learning_rate": 2e-2, "gradient_checkpointing": True}],
)  # fmt: skip
def test_every_option_trains_and_scores_in_float32(sentence_model, tmp_path, options):
    from sentence_transformers import SentenceTransformer

    trainee, found = tune(sentence_model, **options)
    assert found.kept.ndcg > found.untuned.ndcg + 0.1
    record = tuning_record(trainee, regime(), found, config=changed(**options), path="lexicon", revision="f" * 40)
    save_tuned(found, tmp_path / "model", record)
    again = SentenceTransformer(str(tmp_path / "model"), device="cpu")
    tolerance = 1e-3 if "lora" in options else 1e-9  # merging rounds
    assert score_again(again, regime()) == pytest.approx(found.kept.ndcg, abs=tolerance)
    texts = ["göz dil", "kalp", "su ateş ev"]
    assert np.allclose(again.encode(texts), found.model.encode(texts), rtol=0, atol=1e-6)  # bfloat16: 1e-3
    assert not (tmp_path / "model" / "adapter_config.json").exists()
    assert {tensor.dtype for tensor in again.state_dict().values() if tensor.is_floating_point()} == {torch.float32}


def test_a_cached_batch_trains_like_the_whole_one(sentence_model):
    """Without dropout the two losses are one function, so the scores agree; the sums differ in the last bits."""

    def run(**options):
        trainee = load_trainee(str(sentence_model), task="T2")
        for module in trainee.model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        return fine_tune_retrieval(trainee, regime(), config=changed(epochs=1, batch_size=16, **options))

    whole, cached = run(), run(cached=True, mini_batch=4)
    assert cached.history[-1].ndcg == pytest.approx(whole.history[-1].ndcg, abs=1e-3)


def test_prompts_stand_before_texts_in_training_and_evaluation(sentence_model, tmp_path):
    """As if they had been written into the texts; and the saved model brings them along."""
    from sentence_transformers import SentenceTransformer

    prompts = {"query": "ev ", "document": "yol gün "}
    prompted = SentenceTransformer(str(sentence_model), prompts=prompts, device="cpu")
    prompted.save_pretrained(str(tmp_path / "prompted"), create_model_card=False)
    trainee, found = tune(tmp_path / "prompted", epochs=1)
    assert dict(trainee.prompts) == prompts
    _, written = tune(sentence_model, regime(prefixes=tuple(prompts.values())), epochs=1)
    assert equal(weights(found.model), weights(written.model))
    assert [one.ndcg for one in found.history] == [one.ndcg for one in written.history]
    _, bare = tune(sentence_model, epochs=1)
    assert not equal(weights(found.model), weights(bare.model))
    record = tuning_record(trainee, regime(), found, config=QUICK, path="lexicon", revision="f" * 40)
    save_tuned(found, tmp_path / "saved", record)
    again = load_trainee(str(tmp_path / "saved"), task="T3")
    assert dict(again.prompts) == record["prompts"] == prompts


def test_prompts_that_only_mteb_knows_are_saved_with_the_model(sentence_model, tmp_path, monkeypatch):
    from mteb.models.model_implementations import MODEL_REGISTRY

    from turkic_idiom_tasks.encoders.registry import _meta, load_pooled

    prompts = {"query": "ev ", "document": "yol "}
    options = {"path": str(sentence_model), "pooling": "mean", "model_prompts": prompts}
    name = "test/e5 (pooling=mean)"
    meta = _meta(name, revision="no_revision_available", loader=load_pooled, loader_kwargs=options)
    monkeypatch.setitem(MODEL_REGISTRY, name, meta)
    trainee = load_trainee(name, task="T2")
    assert (trainee.name, trainee.pooling, dict(trainee.prompts)) == ("test/e5", "mean", prompts)
    trainee.model.save_pretrained(str(tmp_path / "saved"), create_model_card=False)
    assert dict(load_trainee(str(tmp_path / "saved"), task="T1").prompts) == prompts


def test_prompts_of_single_tasks_are_saved_with_the_model(sentence_model, tmp_path):
    from sentence_transformers import SentenceTransformer

    prompts = {"TurkicIdiomT2-query": "ev ", "query": "yol ", "document": ""}
    model = SentenceTransformer(str(sentence_model), prompts=prompts, device="cpu")
    model.save_pretrained(str(tmp_path / "prompted"), create_model_card=False)
    for task, expected in (("T1", "yol "), ("T2", "ev "), ("T3", "yol ")):
        trainee = load_trainee(str(tmp_path / "prompted"), task=task)
        assert trainee.prompts["query"] == expected
        folder = tmp_path / f"again-{task}"
        trainee.model.save_pretrained(str(folder), create_model_card=False)
        assert {t: load_trainee(str(folder), task=t).prompts["query"] for t in ("T1", "T2", "T3")} == {
            "T1": "yol ", "T2": "ev ", "T3": "yol "
        }  # fmt: skip


def test_a_saved_model_has_its_record_and_card_and_nothing_is_overwritten(tuned, saved):
    from huggingface_hub import ModelCard

    _, found = tuned
    assert not list(saved.parent.glob(".*"))
    record = json.loads((saved / RECORD).read_text())
    assert record["config"]["learning_rate"] == QUICK.learning_rate
    assert record["untuned_ndcg"] == found.untuned.ndcg
    assert record["tuned_ndcg"] == found.tuned.ndcg
    card = ModelCard((saved / "README.md").read_text())
    assert card.data.language == ["tr"]
    assert f"| tuned | {found.tuned.ndcg:.4f} |" in card.text
    with pytest.raises(InputError, match="exists already; choose another folder with --out"):
        save_tuned(found, saved, record)


def test_a_full_disk_leaves_nothing_behind(tuned, saved, tmp_path):
    """A limit on the size of files stands for it: the weights (200 kB) do not fit."""
    import resource

    _, found = tuned
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
        with pytest.raises(InputError, match=r"cannot be written .* make room or choose another --out"):
            save_tuned(found, tmp_path / "models" / "one", json.loads((saved / RECORD).read_text()))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list((tmp_path / "models").iterdir()) == []


def test_development_scores_are_the_scores_of_the_task(saved, tmp_path, monkeypatch):
    """The task's own queries, scored as development queries, and by `turkic-idiom run` with its own way to encode."""
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(WORDS, size=4, replace=False)) for _ in range(120)]
    rows = [Entry(f"c-{n}", texts[n], texts[60 + n]) for n in range(60)]
    write_lexicon(tmp_path / "lexicon", [Concept(row.concept, "gloss") for row in rows], {"az": rows})
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(tmp_path / "lexicon"))
    assert main(["run", "-m", str(saved), "-t", "T2", "-o", str(tmp_path / "results")]) == 0
    (file,) = tmp_path.glob("results/**/TurkicIdiomT2.json")
    (scores,) = json.loads(file.read_text())["scores"]["test"]
    trainee = load_trainee(str(saved), task="T2")
    data = build_retrieval(load_lexicon(tmp_path / "lexicon"), "T2", "azj")
    found = DevelopmentScore(trainee.model, {"az": data}, prompts=trainee.prompts)(step=0)
    assert found.ndcg == pytest.approx(scores["ndcg"], abs=1e-6)


def test_scores_of_languages_are_averaged_with_equal_weight(sentence_model):
    trainee = load_trainee(str(sentence_model), task="T3")
    all_held = regime().development["tr"]
    few = RetrievalData(dict(list(all_held.queries.items())[:2]), all_held.documents, all_held.qrels)
    found = DevelopmentScore(trainee.model, {"az": all_held, "uz": few}, prompts=trainee.prompts)(step=0)
    assert set(found.by_language) == {"az", "uz"}
    assert found.ndcg == pytest.approx((found.by_language["az"] + found.by_language["uz"]) / 2)
    assert found.by_language["az"] != found.by_language["uz"]


@pytest.fixture
def lexicon_folder(tmp_path):
    """98 Azerbaijani concepts that can be learnt."""
    rows = [
        Entry(f"c-{n}", f"{IDIOM[n % 7]} {IDIOM[n // 7 % 7]} {'ev ' * (n // 49)}".strip(),
              f"{MEANING[n % 7]} {MEANING[n // 7 % 7]} {'gece ' * (n // 49)}".strip())
        for n in range(98)
    ]  # fmt: skip
    write_lexicon(tmp_path / "lexicon", [Concept(row.concept, "gloss") for row in rows], {"az": rows})
    return tmp_path / "lexicon"


def test_the_command_tunes_saves_and_the_model_is_scored_at_once(
    sentence_model, lexicon_folder, tmp_path, capsys, monkeypatch
):
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(lexicon_folder))
    folder = tmp_path / "mine"
    command = ["finetune", "retrieval", "-m", str(sentence_model), "--regime", "monolingual", "--language", "az"]
    command += ["--epochs", "6", "--learning-rate", "5e-3", "--out", str(folder)]
    assert main(command) == 0
    shown = capsys.readouterr().out
    record = json.loads((folder / RECORD).read_text())
    data = build_regime(load_lexicon(lexicon_folder), "monolingual", language="az")
    assert record["data"]["training_pairs"] == len(data.pairs)
    assert f"development nDCG untuned {record['untuned_ndcg']:.4f}\n" in shown
    assert f"development nDCG tuned   {record['tuned_ndcg']:.4f}\n" in shown
    assert f"Model: {folder}" in shown

    def task_score(model):
        assert main(["run", "-m", str(model), "-t", "T2", "-o", str(tmp_path / "results"), "--format", "csv"]) == 0
        (file,) = tmp_path.glob(f"results/**/*{model.name}*/**/TurkicIdiomT2.json")
        return json.loads(file.read_text())["scores"]["test"][0]["ndcg"]

    assert task_score(folder) > task_score(sentence_model) + 0.1  # on concepts that were never trained on
    assert main(command) == 2  # the folder exists now
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--regime", "zero-shot"], 2, "unknown regime 'zero-shot'"),
        (["--regime", "monolingual", "--language", "xx"], 2, "unknown language 'xx'"),
        (["--regime", "monolingual", "--language", "uz"], 1, "too few pairs"),
        (["--regime", "monolingual", "--language", "az", "--pooling", "median"], 2, "unknown pooling 'median'"),
        (["--regime", "tr-only", "--epochs", "0"], 2, "epochs must be at least 1, not 0"),
        (["--regime", "tr-only", "--learning-rate", "0"], 2, "learning rate must be above 0"),
        (["--regime", "tr-only", "--cached", "--gradient-checkpointing"], 2, "choose one of them"),
        (["--regime", "tr-only", "--data", "/absent"], 1, "no such directory"),
        (["--regime", "monolingual", "--language", "az", "-m", "./absent"], 2, "no such folder"),
        (["--regime", "monolingual", "--language", "az", "-m", "turkic-idiom/char-ngrams"], 2, "nothing to fine-tune"),
    ],
)
def test_bad_input(untrained_bert, lexicon_folder, tmp_path, capsys, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(lexicon_folder))
    assert main(["finetune", "retrieval", "-m", str(untrained_bert), *arguments]) == code
    assert message in capsys.readouterr().err
    assert not (tmp_path / "tuned").exists() or not list((tmp_path / "tuned").iterdir())


def test_a_dataset_without_training_pairs_is_refused(untrained_bert, tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("TURKIC_IDIOM_DATA", raising=False)
    folder = tmp_path / "hub"
    folder.mkdir()
    (folder / "README.md").write_text("---\nconfigs:\n- config_name: span-tr\n  data_files: a.jsonl\n---\n")
    (folder / "a.jsonl").write_text("{}\n")
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(folder))
    assert main(["finetune", "retrieval", "-m", str(untrained_bert), "--regime", "tr-only"]) == 2
    assert "holds only the test queries; give --data a lexicon directory" in capsys.readouterr().err


@pytest.mark.slow
def test_two_processes_train_one_model(sentence_model, lexicon_folder, command, tmp_path):
    arguments = ["finetune", "retrieval", "-m", sentence_model, "--regime", "monolingual", "--language", "az"]
    arguments += [
        "--epochs",
        "8",
        "--learning-rate",
        "5e-3",
        "--batch-size",
        "8",
        "--patience",
        "99",
        "--out",
        tmp_path / "mine",
    ]
    launch = ["--standalone", "--nproc_per_node", "2", "-m", "turkic_idiom_tasks"]
    done = command("torchrun", *launch, *arguments, data=lexicon_folder, OMP_NUM_THREADS="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Model: ") == 1
    record = json.loads((tmp_path / "mine" / RECORD).read_text())
    assert record["steps"] == 8 * (record["data"]["training_pairs"] // 16)  # half as many as one process would make
    assert record["tuned_ndcg"] > record["untuned_ndcg"] + 0.1
    arguments[-1] = tmp_path / "other"
    done = command("torchrun", *launch, *arguments, "--batch-size", "64", data=lexicon_folder, OMP_NUM_THREADS="1")
    assert "a smaller --batch-size" in done.stderr


def test_a_model_whose_vectors_are_not_finite_is_refused(sentence_model):
    trainee = load_trainee(str(sentence_model), task="T2")
    with torch.no_grad():
        next(iter(trainee.model.parameters())).fill_(math.nan)
    with pytest.raises(InputError, match="hold NaN or infinity"):
        fine_tune_retrieval(trainee, regime(), config=QUICK)
