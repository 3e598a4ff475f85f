"""The stock `mteb` command and API, unmodified, in a subprocess."""

import json

import pytest
import pytrec_eval

from turkic_idiom_tasks.lexicon.load import content_revision, load_lexicon
from turkic_idiom_tasks.metrics.ranking import random_ndcg
from turkic_idiom_tasks.retrieval.relevance import build_retrieval

RANDOM = "mteb/baseline-random-encoder"


def results(folder, task):
    (path,) = folder.rglob(f"{task}.json")
    return json.loads(path.read_text())


def by_subset(result):
    return {row["hf_subset"]: row for row in result["scores"]["test"]}


def assert_one_line_error(run, *parts):
    assert run.returncode in (1, 2), run.stderr
    assert "Traceback" not in run.stderr
    (line,) = [line for line in run.stderr.splitlines() if "error:" in line]
    for part in parts:
        assert str(part) in line


def test_run_scores_the_whole_pool_as_trec_eval_does(command, tmp_path, lexicon_directory):
    folders = ("--output-folder", tmp_path / "out", "--prediction-folder", tmp_path / "predictions")
    tasks = ("TurkicIdiomT1", "TurkicIdiomT2")
    run = command("mteb", "run", "-m", RANDOM, "-t", *tasks, *folders, data=lexicon_directory)
    assert run.returncode == 0, run.stderr
    result = results(tmp_path / "out", "TurkicIdiomT1")
    assert result["dataset_revision"] == content_revision(lexicon_directory)
    predictions = json.loads((tmp_path / "predictions" / "TurkicIdiomT1_predictions.json").read_text())
    lexicon = load_lexicon(lexicon_directory)
    assert set(by_subset(result)) == {"tur-azj", "tur-uzn"}
    for subset, row in by_subset(result).items():
        data = build_retrieval(lexicon, "T1", subset)
        ranked = predictions[subset]["test"]
        assert all(len(found) == len(data.documents) for found in ranked.values())  # nothing is cut off
        evaluator = pytrec_eval.RelevanceEvaluator(
            {query: dict(documents) for query, documents in data.qrels.items()},
            {"ndcg", "ndcg_cut.10", "recip_rank", "recall.1,5,10"},
        )
        per_query = evaluator.evaluate(ranked).values()
        names = {
            "ndcg": "ndcg",
            "ndcg_cut_10": "ndcg_at_10",
            "recip_rank": "mrr",
            "recall_1": "recall_at_1",
            "recall_5": "recall_at_5",
            "recall_10": "recall_at_10",
        }
        for theirs, ours in names.items():
            mean = sum(scores[theirs] for scores in per_query) / len(per_query)
            assert row[ours] == pytest.approx(mean, abs=1e-6), ours  # mteb rounds to six places
        assert row["main_score"] == row["ndcg"]
        floor = random_ndcg(len(data.documents), 1)
        assert row["ndcg_floor"] == pytest.approx(floor, abs=1e-6)
        assert row["ndcg_corrected"] == pytest.approx((row["ndcg"] - floor) / (1 - floor), abs=2e-6)
        assert (row["n_queries"], row["n_documents"]) == (len(data.queries), len(data.documents))
    said = " ".join((run.stdout + run.stderr).split())  # mteb wraps what is logged
    assert "TurkicIdiomT1:" in said
    assert "has no data for tur-tuk tur-gag; left out" in said


def test_languages_and_available_tasks(command, tmp_path, lexicon_directory):
    run = command("mteb", "run", "-m", RANDOM, "-t", "TurkicIdiomT3", "-l", "azj", "--output-folder", tmp_path / "out",
                  data=lexicon_directory)  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert set(by_subset(results(tmp_path / "out", "TurkicIdiomT3"))) == {"tur-azj"}
    listed = command("mteb", "available-tasks")
    for task in ("TurkicIdiomT1", "TurkicIdiomT2", "TurkicIdiomT3"):
        assert task in listed.stdout
    benchmarks = command("mteb", "available-benchmarks")
    assert "TurkicIdiom(v1)" in benchmarks.stdout


def test_bundled_data_without_any_setting(command, tmp_path):
    run = command(
        "mteb", "run", "-m", "turkic-idiom/char-ngrams", "-t", "TurkicIdiomT1", "--output-folder", tmp_path / "out"
    )
    assert run.returncode == 0, run.stderr
    rows = by_subset(results(tmp_path / "out", "TurkicIdiomT1"))
    assert set(rows) == {"tur-azj", "tur-tuk", "tur-gag", "tur-uzn"}
    # cognates: the baseline must be far above chance between Turkish and Azerbaijani
    assert rows["tur-azj"]["ndcg_corrected"] > 0.3


def test_scores_of_other_data_are_never_shown(command, tmp_path, lexicon_directory):
    arguments = ("mteb", "run", "-m", RANDOM, "-t", "TurkicIdiomT2", "--output-folder", tmp_path / "out")
    assert command(*arguments, data=lexicon_directory).returncode == 0
    before = results(tmp_path / "out", "TurkicIdiomT2")
    refused = command(*arguments)  # the bundled lexicon now
    assert_one_line_error(
        refused, "scores of other data", before["dataset_revision"][:12], "--overwrite-strategy always"
    )
    assert results(tmp_path / "out", "TurkicIdiomT2") == before
    overwritten = command(*arguments, "--overwrite-strategy", "always")
    assert overwritten.returncode == 0, overwritten.stderr
    assert results(tmp_path / "out", "TurkicIdiomT2")["dataset_revision"] != before["dataset_revision"]
    again = command(*arguments)  # finished results of the same data are taken as they are
    assert again.returncode == 0, again.stderr


def test_broken_data_is_one_line_and_leaves_nothing_behind(command, tmp_path, lexicon_directory):
    path = lexicon_directory / "az.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:4], lines[4][:40], *lines[5:]]))
    run = command(
        "mteb", "run", "-m", RANDOM, "-t", "TurkicIdiomT1", "--output-folder", tmp_path / "out", data=lexicon_directory
    )
    assert_one_line_error(run, "az.jsonl:5: malformed JSON", "turkic-idiom dataset check")
    assert not list(tmp_path.glob("out/**/TurkicIdiomT1.json"))
    listed = command("mteb", "available-tasks", "-t", "STS12", data=lexicon_directory)
    assert listed.returncode == 0, listed.stderr


def test_a_lexicon_without_turkish_asked_for_t1(command, tmp_path, lexicon_directory):
    (lexicon_directory / "tr.jsonl").unlink()
    run = command(
        "mteb", "run", "-m", RANDOM, "-t", "TurkicIdiomT1", "--output-folder", tmp_path / "out", data=lexicon_directory
    )
    assert_one_line_error(run, lexicon_directory, "nothing to evaluate for TurkicIdiomT1", "needs Turkish (tr.jsonl)")
    run = command(
        "mteb", "run", "-m", RANDOM, "-t", "TurkicIdiomT2", "--output-folder", tmp_path / "out", data=lexicon_directory
    )
    assert run.returncode == 0, run.stderr
    assert set(by_subset(results(tmp_path / "out", "TurkicIdiomT2"))) == {"azj", "uzn"}


def test_descriptive_statistics_are_of_the_data_in_use(command, tmp_path, lexicon_directory, monkeypatch):
    code = "import mteb, json; print(json.dumps(mteb.get_task('TurkicIdiomT1').metadata.descriptive_stats))"
    run = command("python", "-c", code, data=lexicon_directory, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert run.returncode == 0, run.stderr
    statistics = json.loads(run.stdout.splitlines()[-1])["test"]
    # six test concepts and eighteen documents in Azerbaijani, five and fifteen in Uzbek
    assert statistics["hf_subset_descriptive_stats"]["tur-azj"]["num_queries"] == 6
    assert statistics["hf_subset_descriptive_stats"]["tur-uzn"]["num_documents"] == 15
    assert statistics["num_samples"] == 6 + 18 + 5 + 15
