"""The site as a Space, and scores as a pull request, against a Hub on the loopback interface."""

import json
import re

import pytest
import yaml

from tests.hub_server import TOKEN, Repository
from tests.warm_commands import MODULES, WarmCommands
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.results.record import SUFFIX, DataName, Header, ModelName, SubsetScores, write_record

SPACE, MODEL, DATASET = "org/leaderboard", "org/model", "org/turkic-idioms"
T2 = (("tur", 0.25, 0.125), ("azj", 0.75, 0.0625))  # subset, nDCG and floor; the mean is 0.5
PROPOSED = [("TurkicIdiomT2", 0.5), ("TurkicIdiomT2-tur", 0.25), ("TurkicIdiomT2-azj", 0.75)]


@pytest.fixture(scope="module")
def warm(session_online):
    """Has imported what these commands need, on which each of them would spend a second."""
    with WarmCommands(modules=(*MODULES["turkic-idiom"], "leaderboard.publish"), **session_online) as commands:
        yield commands


@pytest.fixture
def leaderboard(warm, hub, tmp_path):
    """Runs `turkic-idiom leaderboard`; the token must never be in the output."""

    def run(*arguments):
        done = warm.run("leaderboard", *arguments, cwd=tmp_path)
        assert TOKEN not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.fixture
def eval_results(leaderboard):
    def run(folder, *arguments, model=MODEL, code=0):
        done = leaderboard("eval-results", folder, "--model", model, "--dataset", DATASET, *arguments)
        assert done.returncode == code, done.stderr
        return done.stdout if code == 0 else done.stderr

    return run


def refused(capsys, folder):
    """What is refused before any request."""
    arguments = ["eval-results", str(folder), "--model", MODEL, "--dataset", DATASET, "--yes"]
    assert main(["leaderboard", *arguments]) == 1
    return " ".join(capsys.readouterr().err.split())


def test_a_site_becomes_a_static_space_in_one_commit(leaderboard, hub, tmp_path, capsys):
    site = tmp_path / "site"
    (site / "models").mkdir(parents=True)
    assert main(["leaderboard", "publish", str(site), "--space", SPACE, "--yes"]) == 1  # before any request
    assert "no index.html in it; build the site first: turkic-idiom leaderboard build" in capsys.readouterr().err
    (site / "index.html").write_text("<h1>Leaderboard</h1>")
    (site / "models" / "a.html").write_text("a")
    planned = leaderboard("publish", site, "--space", SPACE)
    assert planned.returncode == 0, planned.stderr
    assert "nothing was sent" in planned.stdout
    assert hub.repositories == {}
    assert leaderboard("publish", site, "--space", SPACE, "--yes").returncode == 0
    space = hub.repository(SPACE, "space")
    assert len(space.commits) == 2  # the Hub's template, and ours
    assert space.files["index.html"] == b"<h1>Leaderboard</h1>"
    assert yaml.safe_load(space.files["README.md"].decode().split("---\n")[1])["sdk"] == "static"
    assert "style.css" in space.files  # of the template: not ours to delete
    (site / "models" / "a.html").rename(site / "models" / "b.html")
    changed = leaderboard("publish", site, "--space", SPACE, "--yes")
    assert "1 added" in changed.stdout
    assert "models/a.html" in changed.stdout  # left there, and said: nothing on the Hub is ever deleted
    assert {name for name in space.files if name.startswith("models/")} == {"models/a.html", "models/b.html"}
    assert "nothing has changed" in leaderboard("publish", site, "--space", SPACE, "--yes").stdout


@pytest.fixture
def benchmark(hub):
    """A published dataset that registers T2 in two languages and T3 in one; its commit."""
    names = ["TurkicIdiomT2", "TurkicIdiomT2-tur", "TurkicIdiomT2-azj", "TurkicIdiomT3", "TurkicIdiomT3-tur-azj"]
    repository = hub.repositories["dataset", DATASET] = Repository(DATASET)
    tasks = yaml.safe_dump({"tasks": [{"id": name} for name in names]}).encode()
    repository.main = repository.add({"eval.yaml": tasks})
    model = hub.repositories["model", MODEL] = Repository(MODEL, "model")
    model.main = model.add({"README.md": b"a model"})
    return repository.main


def write_results(folder, revision, *, t2=T2, model=None):
    """T2, and T1, which the dataset does not register; as mteb does."""
    folder.mkdir(parents=True)
    for task, rows in {"TurkicIdiomT2": t2, "TurkicIdiomT1": (("tur-azj", 0.5, 0.1),)}.items():
        split = [{"hf_subset": subset, "main_score": main, "ndcg_floor": floor} for subset, main, floor in rows]
        result = {"task_name": task, "dataset_revision": revision, "mteb_version": "2.26.24", "scores": {"test": split}}
        (folder / f"{task}.json").write_text(json.dumps(result))
    if model:
        (folder / "model_meta.json").write_text(json.dumps({"name": model, "revision": None, "n_parameters": None}))
    return folder


def write_records(folder, revision):
    """The same scores of T2 as records of ours."""
    folder.mkdir(exist_ok=True)
    for subset, ndcg, floor in T2:
        data, model = DataName(path=DATASET, revision=revision), ModelName(name=MODEL, revision=None)
        scores = SubsetScores(task="T2", subset=subset, scores={"ndcg": ndcg, "ndcg_floor": floor})
        header = Header(data=data, model=model, settings={}, versions={}, subsets=[scores])
        write_record(folder / f"T2-{subset}{SUFFIX}", header, {})
    return folder


def proposed(text):
    entries = yaml.safe_load(text)
    return entries, [(entry["dataset"]["task_id"], entry["value"]) for entry in entries]


def test_a_dry_run_shows_scores_of_both_formats_and_of_whole_tasks(eval_results, benchmark, tmp_path):
    shown = eval_results(write_records(write_results(tmp_path / "both", benchmark), benchmark))
    assert shown.startswith(f"scores of {MODEL}\n")
    assert proposed(shown.partition("bytes to send\n")[2].partition("Dry run")[0])[1] == PROPOSED
    shown = eval_results(write_results(tmp_path / "r", benchmark, t2=T2[:1], model="local/checkpoint"))
    assert shown.startswith(f"scores of local/checkpoint\nmodel {MODEL} at ")  # a folder has another name
    assert "task_id: TurkicIdiomT2-tur\n" in shown
    assert "task_id: TurkicIdiomT2\n" not in shown


def test_scores_are_proposed_once_in_a_pull_request(eval_results, hub, benchmark, tmp_path):
    folder = write_results(tmp_path / "r", benchmark)
    planned = eval_results(folder)
    assert planned.startswith("scores of a model that the results do not name\n")
    assert "Dry run: nothing was sent; add --yes to open a pull request." in planned
    model = hub.repository(MODEL, "model")
    assert model.pulls == {}
    for _ in range(2):
        opened = eval_results(folder, "--yes")
        assert opened.endswith(f"pull request {hub.url}/{MODEL}/discussions/1\n")
        assert len(model.pulls) == 1
    assert list(model.files) == ["README.md"]  # main is untouched
    entries, values = proposed(model.commits[model.pulls[1]][".eval_results/turkic-idioms.yaml"])
    assert values == PROPOSED
    assert {(entry["dataset"]["id"], entry["dataset"]["revision"]) for entry in entries} == {(DATASET, benchmark)}
    assert entries[1]["notes"] == "nDCG without a cut-off; a random ranking has 0.1250"
    model.main = model.pulls[1]  # merged
    assert "there is nothing to propose" in eval_results(folder, "--yes")


def test_scores_of_several_models_or_data_and_damaged_ones_are_refused(tmp_path, capsys):
    """T1 of one model and T2 of another are no scores of either; the same name in both formats is one model."""
    folder = write_records(tmp_path / "all", "a" * 40)
    write_results(folder / "mteb", "b" * 40, t2=(), model="other/model")
    message = refused(capsys, folder)
    assert f"several models ({MODEL}, other/model); name the folder of one model" in message
    (folder / "mteb" / "model_meta.json").unlink()
    message = refused(capsys, folder)
    assert "scores of different data" in message
    assert "two results of" not in message
    both = tmp_path / "both"
    for name in ("first", "again"):
        write_results(both / name, "a" * 40, t2=T2[:1])
    assert "two results of T1, tur-azj: " in refused(capsys, both)
    message = refused(capsys, write_results(tmp_path / "large", "a" * 40, t2=[("tur", 10**400, 0.125)]))
    assert re.search("TurkicIdiomT2.json.*main_score", message)  # too large for a float


def test_scores_of_data_that_is_not_on_the_hub_are_refused(eval_results, hub, benchmark, tmp_path):
    refusal = eval_results(write_results(tmp_path / "other", "b" * 40), "--yes", code=1)
    assert f"revision {'b' * 40}, which is no commit of {DATASET}; score again with --data {DATASET}@COMMIT" in refusal
    absent = eval_results(write_results(tmp_path / "r", benchmark), "--yes", model="org/absent", code=1)
    assert "model org/absent: not there, or the token may not see it (404); check the name" in absent
    assert hub.repository(MODEL, "model").pulls == {}
