"""The stock `mteb` command and API, unmodified; tests/harnesses/test_wheel.py starts the command as a user does."""

import json
import math
import shutil

import mteb
import pytest
import pytrec_eval

from hub_datasets.hub_export import hub_layout
from tests.hub_server import Repository, running_hub
from tests.warm_commands import assert_one_line_error
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses.mteb_tasks import TurkicIdiomT1
from turkic_idiom_tasks.lexicon.load import load_lexicon
from turkic_idiom_tasks.metrics.ranking import random_ndcg

RANDOM = "mteb/baseline-random-encoder"


def results(folder, task):
    (path,) = folder.rglob(f"{task}.json")
    return json.loads(path.read_text())


def by_subset(result):
    return {row["hf_subset"]: row for row in result["scores"]["test"]}


def test_run_scores_the_whole_pool_as_trec_eval_does(stock_mteb, tmp_path, small_lexicon, small_dataset, caplog):
    folders = ("--output-folder", tmp_path / "out", "--prediction-folder", tmp_path / "predictions")
    stock_mteb("run", "-m", RANDOM, "-t", "TurkicIdiomT1", *folders, data=small_lexicon)
    result = results(tmp_path / "out", "TurkicIdiomT1")
    assert result["dataset_revision"] == small_dataset.revision
    predictions = json.loads((tmp_path / "predictions" / "TurkicIdiomT1_predictions.json").read_text())
    assert set(by_subset(result)) == {"tur-azj", "tur-uzn"}
    for subset, row in by_subset(result).items():
        data = small_dataset.retrieval("T1", subset)
        ranked = predictions[subset]["test"]
        assert all(len(documents) == len(data.documents) for documents in ranked.values())  # nothing is cut off
        evaluator = pytrec_eval.RelevanceEvaluator(
            {query: dict(documents) for query, documents in data.qrels.items()},
            {"ndcg", "ndcg_cut.10", "recip_rank", "recall.1,5"},
        )
        per_query = evaluator.evaluate(ranked).values()
        names = {"ndcg": "ndcg", "ndcg_cut_10": "ndcg_at_10", "recip_rank": "mrr"}
        names |= {"recall_1": "recall_at_1", "recall_5": "recall_at_5"}
        for theirs, ours in names.items():
            mean = sum(scores[theirs] for scores in per_query) / len(per_query)
            assert row[ours] == pytest.approx(mean, abs=1e-6), ours  # mteb rounds to six places
        assert row["main_score"] == row["ndcg"]
        assert row["ndcg_floor"] == pytest.approx(random_ndcg(len(data.documents), 1), abs=1e-6)
        assert (row["n_queries"], row["n_documents"]) == (len(data.queries), len(data.documents))
    assert "has no data for tur-tuk tur-gag tur-kaz tur-tat tur-kir; left out" in caplog.text


def test_scores_of_other_data_are_never_shown(stock_mteb, tmp_path, small_lexicon, other_lexicon):
    arguments = ("run", "-m", RANDOM, "-t", "TurkicIdiomT1", "--output-folder", tmp_path)
    stock_mteb(*arguments, data=small_lexicon)
    before = results(tmp_path, "TurkicIdiomT1")
    with pytest.raises(InputError, match=r"scores of other data .*--overwrite-strategy always"):
        stock_mteb(*arguments, data=other_lexicon)
    assert results(tmp_path, "TurkicIdiomT1") == before
    stock_mteb(*arguments, "--overwrite-strategy", "always", data=other_lexicon)
    after = results(tmp_path, "TurkicIdiomT1")
    assert after["dataset_revision"] != before["dataset_revision"]
    stock_mteb(*arguments, data=other_lexicon)  # finished results of the same data are taken as they are
    assert results(tmp_path, "TurkicIdiomT1") == after


def test_broken_data_is_named_and_leaves_nothing_behind(stock_mteb, tmp_path, small_lexicon, capsys):
    broken = shutil.copytree(small_lexicon, tmp_path / "broken")
    lines = (broken / "az.jsonl").read_text().splitlines()
    (broken / "az.jsonl").write_text("\n".join([*lines[:4], lines[4][:40], *lines[5:]]))
    for path in broken.glob(".turkic-idiom*"):  # a lexicon that somebody wrote by hand
        path.unlink()
    folder = ("--output-folder", tmp_path / "out")
    with pytest.raises(InputError, match=r"az\.jsonl:5: malformed JSON"):
        stock_mteb("run", "-m", RANDOM, "-t", "TurkicIdiomT1", *folder, data=broken)
    assert not list(tmp_path.glob("out/**/TurkicIdiomT1.json"))
    stock_mteb("available-tasks", "-t", "STS12", data=broken)
    assert "STS12" in capsys.readouterr().out


def test_a_lexicon_without_turkish_asked_for_t1(stock_mteb, tmp_path, small_lexicon):
    without = shutil.copytree(small_lexicon, tmp_path / "without")
    for path in (without / "tr.jsonl", *without.glob(".turkic-idiom*")):
        path.unlink()
    folder = ("--output-folder", tmp_path / "out")
    with pytest.raises(InputError, match=r"nothing to evaluate for TurkicIdiomT1, which needs Turkish \(tr.jsonl\)"):
        stock_mteb("run", "-m", RANDOM, "-t", "TurkicIdiomT1", *folder, data=without)
    stock_mteb("run", "-m", RANDOM, "-t", "TurkicIdiomT2", *folder, data=without)
    assert set(by_subset(results(tmp_path / "out", "TurkicIdiomT2"))) == {"azj", "uzn"}


def test_a_task_takes_a_dataset_instead_of_the_variable_and_is_evaluated_twice(
    monkeypatch, small_dataset, other_lexicon
):
    """mteb unloads the data after an evaluation, and with it what describes the data."""
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(other_lexicon))
    assert TurkicIdiomT1().metadata.revision != small_dataset.revision
    task = TurkicIdiomT1(dataset=small_dataset)
    assert task.hf_subsets == ["tur-azj", "tur-uzn"]
    model = mteb.get_model(RANDOM)
    first, second = (mteb.evaluate(model, task, cache=None, show_progress_bar=False).task_results[0] for _ in range(2))
    assert first.dataset_revision == second.dataset_revision == task.metadata.revision == small_dataset.revision
    assert first.scores == second.scores
    assert set(first.hf_subsets) == {"tur-azj", "tur-uzn"}


def test_a_similarity_that_is_nan_is_one_line(small_dataset):
    """Infinite vectors have no cosine; mteb itself would put them anywhere."""
    task = TurkicIdiomT1(dataset=small_dataset)
    pool = small_dataset.pool("T1", "tur-azj")
    ranked = {query: dict.fromkeys(pool.documents, math.nan) for query in pool.queries}
    with pytest.raises(InputError, match="its vectors are not finite; load the model in float32"):
        task.task_specific_scores({}, {}, ranked, hf_split="test", hf_subset="tur-azj")


@pytest.mark.long
@pytest.mark.slow
def test_a_dataset_on_the_hub_at_a_revision_scores_like_the_lexicon(command, stock_mteb, tmp_path, small_lexicon):
    hub_layout(load_lexicon(small_lexicon)).write(tmp_path / "layout")
    repository = Repository("tester/turkic-idioms")
    pinned = repository.commit(tmp_path / "layout")
    shutil.rmtree(tmp_path / "layout" / "data")
    (tmp_path / "layout" / "README.md").write_text("---\nconfigs: []\n---\nemptied later\n")
    repository.commit(tmp_path / "layout")
    arguments = ("run", "-m", RANDOM, "-t", "TurkicIdiomT3")
    folder = ("--output-folder", tmp_path / "hub")
    with running_hub() as hub:
        hub.repositories["dataset", repository.name] = repository
        online = {"HF_ENDPOINT": hub.url, "HF_HUB_OFFLINE": "0", "HF_HOME": str(tmp_path / "home")}
        online["HF_HUB_DISABLE_XET"] = "1"
        run = command("mteb", *arguments, *folder, data=f"{repository.name}@{pinned}", **online)
        assert run.returncode == 0, run.stderr
        assert any("tur-azj" in request for request in hub.requests)
        absent = command("mteb", *arguments, *folder, data=f"{repository.name}@v9", **online)
    assert_one_line_error(absent, "tester/turkic-idioms@v9: cannot be read from the Hub")
    stock_mteb(*arguments, "--output-folder", tmp_path / "local", data=small_lexicon)
    from_hub, from_lexicon = (results(tmp_path / name, "TurkicIdiomT3") for name in ("hub", "local"))
    assert from_hub["dataset_revision"] == pinned
    for subset, row in by_subset(from_lexicon).items():
        assert by_subset(from_hub)[subset]["ndcg"] == row["ndcg"]
