"""`turkic-idiom submit`: from finished results to submissions; stock mteb and lm-eval run once each."""

import gzip
import json
import re
import shutil
import sys

import numpy as np
import pytest

from leaderboard.board import make_board
from leaderboard.data import board_data
from leaderboard.submit import submit
from tests.leaderboard.boards_for_tests import random_rankings, random_tags
from tests.leaderboard.conftest import scored
from tests.results.conftest import header_of
from tests.spans.conftest import first_letter_classifier, make_classifier  # noqa: F401
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.dataset.retrieval import PAPER_TASKS
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.results import record
from turkic_idiom_tasks.results.predictions import SPANS, Rankings
from turkic_idiom_tasks.results.record import SUFFIX, Throughput, Training
from turkic_idiom_tasks.results.scored import score_subset

BM25 = "mteb/baseline-bm25s"
STATED = {"contact": "@me", "training_data": "Wikipedia; no idiom of the benchmark"}
VERSIONS = {"turkic-idiom-tasks": "0.1.0", "mteb": "2.26.24"}


def keep(path, dataset, predictions, *, model="org/encoder", revision="b" * 40, top_k=None, **header):
    """Writes a record as our commands do."""
    name = record.ModelName(name=model, revision=revision, n_parameters=7)
    header = {"model": name, "settings": {}, "versions": VERSIONS} | header
    record.write_record(path, header_of(predictions, dataset, **header), predictions, top_k=top_k)


def keep_rankings(path, dataset, task, subset, seed=0, **about):
    keep(path, dataset, {(task, subset): random_rankings(dataset, task, subset, seed)}, **about)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory, submission_dataset):
    """Records of a checkpoint in a folder on T1 under two poolings, cut at five documents."""
    folder = tmp_path_factory.mktemp("encoder")
    for seed, pooling in enumerate(("mean", "cls")):
        for subset in submission_dataset.subsets("T1"):
            path = folder / f"local__encoder-{pooling}" / f"T1-{subset}{SUFFIX}"
            about = {"model": f"local/encoder (pooling={pooling})", "settings": {"pooling": pooling}, "top_k": 5}
            keep_rankings(path, submission_dataset, "T1", subset, seed, **about)
    return folder


@pytest.fixture(scope="module")
def grid(tmp_path_factory, submission_dataset):
    """Records of a span grid: one model, trained on Turkish, tested and adapted to two languages, with two seeds."""
    folder = tmp_path_factory.mktemp("grid") / "cells"
    for seed in (1, 2):
        for language, sizes in (("tr", ("all",)), ("az", (0, 5, "all")), ("uz", (0, 5, "all"))):
            for place, size in enumerate(sizes):
                tags = random_tags(submission_dataset, language, [seed, place, ord(language[0])])
                about = {"model": "org/bert", "revision": None}
                about["training"] = Training(regime="tr-only", language="tr", seed=seed, size=size)
                path = folder / f"org__bert-{language}-{size}-{seed}{SUFFIX}"
                keep(path, submission_dataset, {(SPANS, language): tags}, **about)
    return folder


@pytest.fixture
def submitted(tmp_path, submission_dataset):
    """A function that submits and returns the folders and the scored submissions."""

    def run(*places, dataset=submission_dataset, poolings=(), seed=None, **stated):
        options = {"dataset": dataset, "stated": STATED | stated, "poolings": poolings, "seed": seed}
        return submit(list(places), tmp_path / "out", **options)

    return run


@pytest.fixture
def packed(submitted, submission_dataset):
    """A function that submits and returns the scored submissions, which read from their folders are the same."""

    def run(*places, **stated):
        written = submitted(*places, **stated)
        for folder, submission in written:
            again = scored(folder, submission_dataset)
            assert (again.id, again.metadata) == (submission.id, submission.metadata)
            assert [score.scores for score in again.subsets] == [score.scores for score in submission.subsets]
        return [submission for _, submission in written]

    return run


@pytest.fixture
def refused(submitted):
    """A function that submits what is refused with this message."""

    def run(message, *places, **stated):
        with pytest.raises(InputError, match=message):
            submitted(*places, **stated)

    return run


def mains(submission, task):
    return {score.subset: score.main for score in submission.of_task(task)}


def tasks_and_subsets(submission):
    return [(score.task, score.subset) for score in submission.subsets]


def test_one_submission_for_each_pooling(encoder, packed, refused):
    refused("add --regime: which supervision", encoder, name="my/encoder")  # a checkpoint may have been tuned
    submissions = packed(encoder, regime="tr-only", name="my/encoder")
    assert [submission.metadata.pooling for submission in submissions] == ["cls", "mean"]
    for submission in submissions:
        about = submission.metadata
        assert (about.name, about.regime, about.type) == ("my/encoder", "tr-only", "encoder")
        assert (about.revision, about.n_parameters, about.versions) == ("b" * 40, 7, VERSIONS)
        assert tasks_and_subsets(submission) == [("T1", "tur-azj"), ("T1", "tur-uzn")]
    (mean,) = packed(encoder, regime="other", name="my/encoder", poolings=("mean",))
    assert mean.metadata.pooling == "mean"
    assert mains(mean, "T1") == mains(submissions[1], "T1")
    refused("--pooling 'max': not in the results; they have cls, mean", encoder, poolings=("max",))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({"pooling": "mean"}, "encoder"), ({"pooling": "mean", "max_length": 128}, "sentence-encoder")],
)
def test_the_pooling_is_the_models_own_where_run_states_it_and_a_choice_in_a_grid(
    packed, tmp_path, submission_dataset, settings, expected
):
    path = tmp_path / f"record{SUFFIX}"
    keep_rankings(path, submission_dataset, "T2", "tur", model="org/encoder", settings=settings)
    (submission,) = packed(path, regime="pretrained")
    assert (submission.metadata.type, submission.metadata.pooling) == (expected, "mean")


def test_the_speed_is_the_one_that_was_measured_over_most_texts(packed, tmp_path, submission_dataset):
    measured = {
        "T1": Throughput(n_texts=100, seconds=0.5, device="cold start"),
        "T2": Throughput(n_texts=300, seconds=0.7, device="NVIDIA H100"),
        "T3": None,
    }
    for task, throughput in measured.items():
        path, subset = tmp_path / f"{task}{SUFFIX}", submission_dataset.subsets(task)[0]
        keep_rankings(path, submission_dataset, task, subset, throughput=throughput)
    (submission,) = packed(tmp_path)
    assert submission.metadata.texts_per_second == 428.571  # 300 / 0.7
    assert submission.metadata.device == "NVIDIA H100"


def test_records_of_the_span_grid(packed, refused, grid, submission_dataset):
    submissions = packed(grid, name="my/bert")
    shots = {}
    for submission in submissions:
        about = submission.metadata
        assert about.type == "token-classifier"
        shots[about.regime, about.few_shot] = [score.subset for score in submission.subsets]
    assert shots == {
        ("tr-only", 0): ["tr", "az", "uz"],  # the checkpoint as it is
        ("few-shot", 5): ["az", "uz"],
        ("cross-lingual", None): ["tr", "az", "uz"],  # each with all that there is of its own
    }
    few_shot = next(one for one in submissions if one.metadata.few_shot == 5)
    expected = score_subset(random_tags(submission_dataset, "az", [1, 1, ord("a")]))
    assert mains(few_shot, SPANS)["az"] == expected.main  # of the smallest seed
    assert len(packed(grid, name="my/other", seed=2)) == 3
    refused("--seed 3: not in the results; they have 1, 2", grid, name="my/other", seed=3)
    (alone,) = packed(grid / f"org__bert-tr-all-1{SUFFIX}", name="my/turkish")
    assert (alone.metadata.regime, tasks_and_subsets(alone)) == ("tr-only", [(SPANS, "tr")])


def test_a_classifier_joins_the_rankings_of_an_encoder_that_was_tuned_from_the_same_model(packed, grid, encoder):
    tags = grid / f"org__bert-tr-all-1{SUFFIX}"  # other weights than those that rank
    stated = {"type": "encoder", "regime": "tr-only"}
    (joined,) = packed(tags, encoder, name="my/joined", poolings=("mean",), **stated)
    assert tasks_and_subsets(joined) == [("T1", "tur-azj"), ("T1", "tur-uzn"), (SPANS, "tr")]
    assert joined.metadata.revision == "b" * 40
    apart = packed(tags, encoder, name="my/apart", **stated)  # of which of the two poolings?
    assert [len(submission.subsets) for submission in apart] == [2, 2, 1]
    others = packed(tags, encoder, poolings=("mean",), **stated)  # of a model of another name
    assert [len(submission.subsets) for submission in others] == [2, 1]


def test_the_regime_and_the_seed_of_tuned_encoders(packed, tmp_path, submission_dataset):
    for seed in (7, 8):
        for regime in ("pretrained", "monolingual"):
            training = Training(regime=regime, language="tr", seed=seed)
            path = tmp_path / "runs" / f"{regime}-{seed}{SUFFIX}"
            keep_rankings(path, submission_dataset, "T2", "tur", seed, training=training)
    submissions = packed(tmp_path / "runs")
    assert [submission.metadata.regime for submission in submissions] == ["monolingual", "pretrained"]
    expected = score_subset(random_rankings(submission_dataset, "T2", "tur", 7)).main
    assert [mains(submission, "T2") for submission in submissions] == [{"tur": expected}] * 2


def test_what_cannot_be_packed(encoder, packed, refused, submission_dataset, tmp_path):
    refused(r"of other data \(revision .* name its data with --data", encoder, dataset=open_dataset())
    (tmp_path / "empty").mkdir()
    refused("no such file or folder", tmp_path / "absent")
    refused("no results; expected", tmp_path / "empty")
    stated = {"regime": "other", "name": "my/encoder", "poolings": ("mean",)}
    for field, value, message in (
        ("name", "a b", "say with --name ORG/NAME how to call it publicly"),
        ("contact", "a\x07b", r"--contact: has the character '\\x07'"),
        ("n_parameters", -5, r"--parameters: .*, not -5"),
        ("training_data", "x" * 2001, r"--training-data: .*2000"),
        ("regime", "zero-shot", r"--regime: .*'pretrained', .*, not 'zero-shot'"),
    ):
        refused(message, encoder, **stated | {field: value})
    other = tmp_path / "other" / f"T1-tur-azj{SUFFIX}"
    keep_rankings(other, submission_dataset, "T1", "tur-azj", model="org/other")
    for options in ({"name": "my/encoder"}, {"n_parameters": 7}):
        message = r"is for one model, but T1 has results of .*'org/other'; name the files"
        refused(message, encoder, other, regime="other", **options)
    copy = shutil.copytree(encoder, tmp_path / "copy")
    refused(r"two results of T1, tur-azj: .* name the files of one of them", encoder, copy, **stated)
    path = next(copy.rglob(f"T1-tur-azj{SUFFIX}"))
    path.write_bytes(path.read_bytes()[:-20])
    refused(rf"T1-tur-azj{SUFFIX}: a gzip file that is cut short", copy, **stated)
    assert list((tmp_path / "out").glob("*")) == []
    packed(encoder, **stated)
    refused("exists already; remove it or choose another --out", encoder, **stated | {"poolings": ()})
    assert len(list((tmp_path / "out").glob("*"))) == 1  # nothing of the other pooling


def test_the_same_results_are_the_same_bytes_and_hidden_copies_are_not_read(encoder, packed, tmp_path):
    shutil.copytree(encoder, tmp_path / "runs" / ".__encoder")  # as harnesses name the folder of the model ./encoder
    shutil.copytree(encoder, tmp_path / "runs" / ".ipynb_checkpoints")
    contents = []
    for place in (encoder, tmp_path / "runs"):
        packed(place, name="my/encoder", regime="other")
        files = sorted(path for path in (tmp_path / "out").rglob("*") if path.is_file())
        contents.append([(path.relative_to(tmp_path), path.read_bytes()) for path in files])
        shutil.rmtree(tmp_path / "out")
    assert len(contents[0]) == 4
    assert contents[0] == contents[1]


@pytest.mark.parametrize("columns", [50, 120])
def test_the_commands_say_what_is_missing_what_was_packed_and_what_is_wrong(
    tmp_path, monkeypatch, capsys, submission_lexicon, submission_dataset, submission_predictions, columns
):
    monkeypatch.setenv("COLUMNS", f"{columns}")
    path = tmp_path / "runs" / f"all{SUFFIX}"
    keep(path, submission_dataset, submission_predictions, model="turkic-idiom/char-ngrams")
    arguments = ["submit", str(tmp_path / "runs"), "--out", str(tmp_path / "out"), "--data", str(submission_lexicon)]
    arguments += ["--type", "baseline", "--regime", "pretrained"]
    assert main(arguments) == 2
    refusal = capsys.readouterr().err
    assert "add --training-data: what it was trained on" in refusal
    assert "--contact: how you want to be reached" in refusal
    assert not (tmp_path / "out").exists()
    assert main([*arguments, "--contact", "@me", "--training-data", "none"]) == 0
    (folder,) = (tmp_path / "out").iterdir()
    printed = capsys.readouterr().out
    assert printed.startswith(f"{folder}\n  turkic-idiom/char-ngrams, revision {'b' * 40}, baseline, pretrained, 7 par")
    files = [f"{task}.jsonl.gz" for task in (*PAPER_TASKS, SPANS)]
    assert {path.name for path in folder.iterdir()} == {"submission.json", *files}
    bad = shutil.copytree(folder, tmp_path / "bad" / folder.name)
    content = gzip.decompress((bad / "T1.jsonl.gz").read_bytes()).replace(b'"tur:', b'"xxx:', 2)
    (bad / "T1.jsonl.gz").write_bytes(gzip.compress(content))
    check = ["leaderboard", "check", str(tmp_path / "out"), str(bad), "--data", str(submission_lexicon)]
    assert main(check) == 1
    printed = capsys.readouterr().out
    assert printed.startswith(f"{folder}: ok\n")
    for line in (2, 3):
        assert re.search(rf"{bad / 'T1.jsonl.gz'}:{line}: .*tur-azj has no query 'xxx:", printed)
    table = [line for line in printed.splitlines() if str(tmp_path) not in line]
    assert max(map(len, table)) <= columns
    assert "…" not in printed
    rows = {line.split()[0]: line.split() for line in table if line}
    assert rows["Task"][:5] == ["Task", "Score", "tr", "az", "uz"]
    assert (rows["Task"][5:] == ["uncorrected", "items"]) == (columns == 120)
    assert all("*" in text for text in rows["Spans"][2:5])  # as `turkic-idiom run` marks scores of few items
    assert "* fewer than 30 items" in printed
    of_folder = scored(folder, submission_dataset)
    for title, task, name in (("Spans", SPANS, "span_f1"), ("T2", "T2", "ndcg_corrected")):
        scores = [score.scores[name] for score in of_folder.of_task(task)]
        shown = [float(text.rstrip("*~")) for text in rows[title][1:5]]
        assert shown == pytest.approx([sum(scores) / 3, *scores], abs=0.0006)
    assert set(rows["T1"][1:4]) == {"-"}  # so small a lexicon has too few spelling-free queries for a headline


def write_json(path, value):
    path.write_text(json.dumps(value))


@pytest.mark.slow
def test_numbers_are_those_that_run_prints(tmp_path, capsys, packed, submission_lexicon, submission_dataset):
    arguments = ["-m", "turkic-idiom/char-ngrams", "-o", str(tmp_path / "runs"), "--data", str(submission_lexicon)]
    assert main(["run", *arguments, "--format", "json"]) == 0
    printed = {(row["task"][-2:], row["subset"]): row for row in json.loads(capsys.readouterr().out)}
    (submission,) = packed(tmp_path / "runs")
    about = submission.metadata
    assert (about.name, about.type, about.regime) == ("turkic-idiom/char-ngrams", "baseline", "pretrained")
    assert {"turkic-idiom-tasks", "mteb", "torch"} <= set(about.versions)
    board = make_board([submission], board_data(submission_dataset))
    assert set(board.main_scores[submission.id]) == {key for key in printed if key[1] != "mean"}
    for score in submission.subsets:
        row = printed[score.task, score.subset]
        for name, value in score.scores.items():
            assert value == row[name]
        interval = board.main_scores[submission.id][score.task, score.subset].interval
        assert (interval.low, interval.high) == (row["ndcg_low"], row["ndcg_high"])


@pytest.fixture
def stock(monkeypatch, tmp_path, submission_lexicon):
    """A function that runs the command of a stock harness in this process, on the small lexicon."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(submission_lexicon))

    def run(main_function, *arguments):
        monkeypatch.setattr(sys, "argv", list(map(str, arguments)))
        main_function()

    return run


@pytest.mark.slow
def test_predictions_of_stock_mteb(stock, packed, refused, tmp_path, submission_dataset):
    from mteb.cli import main as mteb_main

    places = (tmp_path / "predictions", tmp_path / "mteb")
    folders = ("--prediction-folder", places[0], "--output-folder", places[1])
    stock(mteb_main, "mteb", "run", "-m", BM25, "-t", "TurkicIdiomT1", *folders)
    path = places[0] / "TurkicIdiomT1_predictions.json"
    path.with_name("STS12_predictions.json").write_text("{}")  # a task of others is left alone
    (submission,) = packed(*places)
    about = submission.metadata
    assert (about.name, about.type, about.n_parameters) == (BM25, "baseline", 0)
    assert {"mteb", "torch", "transformers"} <= set(about.versions)
    (result,) = places[1].rglob("TurkicIdiomT1.json")
    rows = {row["hf_subset"]: row for row in json.loads(result.read_text())["scores"]["test"]}
    assert set(mains(submission, "T1")) == set(rows)
    for score in submission.subsets:
        assert score.cut is None
        for name, value in score.scores.items():
            assert value == pytest.approx(rows[score.subset][name], abs=1e-6)

    # The same of another model, of which mteb kept three documents of the first query
    model = {"revision": "c" * 40, "n_parameters": 118e6}
    meta = result.with_name("model_meta.json")
    write_json(meta, json.loads(meta.read_text()) | model | {"name": "org/st"})
    good = json.loads(path.read_text()) | {"mteb_model_meta": {"model_name": "org/st", "revision": "c" * 40}}
    pool, of_query = submission_dataset.pool("T1", "tur-azj"), good["tur-azj"]["test"]
    similarities = np.array([[of_query[query][name] for name in pool.documents] for query in pool.queries])
    kept = np.argsort(-similarities[0], kind="stable")[:3]
    of_query[pool.queries[0]] = {pool.documents[place]: similarities[0, place] for place in kept.tolist()}
    similarities[0, np.setdiff1d(np.arange(len(pool.documents)), kept)] = -np.inf
    write_json(path, good)
    (cut,) = packed(*places)
    about, score = cut.metadata, cut.find("T1", "tur-azj")
    assert (about.name, about.type, about.n_parameters) == ("org/st", "sentence-encoder", 118_000_000)
    assert (about.regime, about.revision, score.cut) == ("pretrained", "c" * 40, 3)
    expected = score_subset(Rankings.from_similarities(pool, similarities))
    assert score.scores == pytest.approx(expected.scores, abs=1e-12)

    refused(r"TurkicIdiomT1_predictions.json: does not say which data .* --output-folder", path)
    for change, message in (
        ({"tur-azj": {"test": {}}}, "there is no prediction for the query"),
        ({"tur-azj": {"dev": {}}}, "there is no prediction for the query"),
        ({"tur-kaz": {"test": {}}}, "the data in use has no subset 'tur-kaz'"),
        ({"mteb_model_meta": {"model_name": 1}}, r"field 'mteb_model_meta.model_name'"),
    ):
        write_json(path, good | change)
        refused(message, *places, name="my/other")
    write_json(path, good)
    other = shutil.copytree(result.parent, places[1] / "older") / result.name
    write_json(other, json.loads(other.read_text()) | {"dataset_revision": "0" * 40})
    refused("on different data, and it is not known which run", *places, name="my/other")


@pytest.mark.slow
def test_samples_of_stock_lm_eval(
    stock,
    packed,
    refused,
    tmp_path,
    first_letter_classifier,  # noqa: F811
    encoder,
    monkeypatch,
):
    from lm_eval.__main__ import cli_evaluate

    # lm-eval looks for its own tasks beside this file; reading all fourteen thousand takes six seconds
    monkeypatch.setattr("lm_eval.tasks.manager.__file__", str(tmp_path / "none" / "manager.py"))
    samples = tmp_path / "lm"
    model = ("--model", "token-classifier", "--model_args", f"pretrained={first_letter_classifier}")
    tasks = ("--tasks", "turkic_idiom_span_tr", "turkic_idiom_span_az")
    stock(cli_evaluate, "lm-eval", "run", *model, *tasks, "--output_path", samples, "--log_samples")
    refused("say with --name ORG/NAME how to call it publicly", samples)
    refused("add --regime", samples, name="my/tagger")
    (submission,) = packed(samples, name="my/tagger", regime="tr-only")
    (results,) = samples.rglob("results_*.json")
    stated = json.loads(results.read_text())
    assert submission.metadata.type == "token-classifier"
    assert submission.metadata.n_parameters == stated["config"]["model_num_parameters"]
    assert set(submission.metadata.versions) == {"lm-eval", "transformers"}
    assert tasks_and_subsets(submission) == [(SPANS, "tr"), (SPANS, "az")]
    for score in submission.subsets:
        row = stated["results"][f"turkic_idiom_span_{score.language}"]
        for name, ours in (("f1", "span_f1"), ("token_f1", "token_f1"), ("exact_match", "sequence_accuracy")):
            assert score.scores[ours] == pytest.approx(row[f"{name},strict"], abs=1e-12)
    assert 0 < submission.subsets[0].main < 1
    # with the rankings of the same model: one submission
    (together,) = packed(samples, encoder, name="my/both", regime="tr-only", type="encoder", poolings=("mean",))
    assert (together.metadata.pooling, together.metadata.revision) == ("mean", "b" * 40)
    assert [score.task for score in together.subsets] == ["T1", "T1", SPANS, SPANS]

    # The same files, as lm-eval writes them of a language model with three examples
    config = stated["config"] | {"model": "hf", "model_sha": "d" * 40, "model_num_parameters": 10, "model_args": {}}
    write_json(
        results, stated | {"model_name": "org/llm", "config": config, "n-shot": dict.fromkeys(stated["n-shot"], 3)}
    )
    (submission,) = packed(samples)
    about = submission.metadata
    assert (about.name, about.type, about.regime, about.few_shot) == ("org/llm", "llm", "few-shot", 3)
    assert (about.revision, about.n_parameters) == ("d" * 40, 10)
    copy = shutil.copytree(samples, tmp_path / "copy")
    refused(r"two results of spans, .*: .*samples_turkic_idiom_span_.*; name the", samples, copy, name="my/two")
    results.unlink()
    refused(r"no results_.*\.json beside it", samples)
