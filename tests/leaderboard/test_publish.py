"""The site as a Space, and scores as a pull request, against a Hub on the loopback interface."""

import json

import pytest
import yaml

from tests.hub_server import TOKEN, Repository
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.results.record import SUFFIX, DataName, Header, ModelName, subset_scores, write_record

SPACE, MODEL, DATASET = "org/leaderboard", "org/model", "org/turkic-idioms"


@pytest.fixture
def leaderboard(_warm, hub, tmp_path):
    """Runs `turkic-idiom leaderboard`; the token must never be in the output."""

    def run(*arguments):
        done = _warm.run("leaderboard", *arguments, cwd=tmp_path)
        assert TOKEN not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "site"
    (folder / "models").mkdir(parents=True)
    (folder / "index.html").write_text("<h1>Leaderboard</h1>")
    (folder / "models" / "a.html").write_text("a")
    return folder


def test_a_site_becomes_a_static_space_in_one_commit(leaderboard, hub, site):
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
    again = leaderboard("publish", site, "--space", SPACE, "--yes")
    assert "nothing has changed" in again.stdout
    assert len(space.commits) == 3


def test_a_folder_that_is_no_site_is_refused(tmp_path, capsys):
    assert main(["leaderboard", "publish", str(tmp_path), "--space", SPACE, "--yes"]) == 1  # before any request
    assert "no index.html in it; build the site first: turkic-idiom leaderboard build" in capsys.readouterr().err


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


def write_results(folder, revision):
    """T2 in all its languages, with scores whose mean is 0.5; T1, which the dataset does not register; as mteb does."""
    scores = {
        "TurkicIdiomT2": [("tur", 0.25, 0.125), ("azj", 0.75, 0.0625)],
        "TurkicIdiomT1": [("tur-azj", 0.5, 0.1)],
    }
    folder.mkdir()
    for task, rows in scores.items():
        split = [{"hf_subset": subset, "main_score": main, "ndcg_floor": floor} for subset, main, floor in rows]
        record = {"task_name": task, "dataset_revision": revision, "mteb_version": "2.26.24", "scores": {"test": split}}
        (folder / f"{task}.json").write_text(json.dumps(record))
    return folder


def write_records(folder, revision):
    """The same scores of T2 as records of ours."""
    for subset, ndcg, floor in (("tur", 0.25, 0.125), ("azj", 0.75, 0.0625)):
        header = Header(
            data=DataName(path=DATASET, revision=revision),
            model=ModelName(name=MODEL, revision=None),
            settings={},
            versions={},
            subsets=[subset_scores("T2", subset, {"ndcg": ndcg, "ndcg_floor": floor})],
        )
        write_record(folder / f"T2-{subset}{SUFFIX}", header, {})
    return folder


def test_records_of_ours_beside_the_same_scores_in_mtebs_format(leaderboard, hub, benchmark, tmp_path):
    folder = write_records(write_results(tmp_path / "r", benchmark), benchmark)
    shown = leaderboard("eval-results", folder, "--model", MODEL, "--dataset", DATASET)
    assert shown.returncode == 0, shown.stderr
    proposed = yaml.safe_load(shown.stdout.partition("bytes to send\n")[2].partition("Dry run")[0])
    assert [(entry["dataset"]["task_id"], entry["value"]) for entry in proposed] == [
        ("TurkicIdiomT2", 0.5),
        ("TurkicIdiomT2-tur", 0.25),
        ("TurkicIdiomT2-azj", 0.75),
    ]


def test_scores_are_proposed_once_in_a_pull_request(leaderboard, hub, benchmark, tmp_path):
    arguments = ("eval-results", write_results(tmp_path / "r", benchmark), "--model", MODEL, "--dataset", DATASET)
    shown = leaderboard(*arguments)
    assert shown.returncode == 0, shown.stderr
    assert "Dry run: nothing was sent; add --yes to open a pull request." in shown.stdout
    model = hub.repository(MODEL, "model")
    assert model.pulls == {}
    opened = leaderboard(*arguments, "--yes")
    assert opened.stdout.endswith(f"pull request {hub.url}/{MODEL}/discussions/1\n")
    assert list(model.files) == ["README.md"]  # main is untouched
    proposed = yaml.safe_load(model.commits[model.pulls[1]][".eval_results/turkic-idioms.yaml"])
    assert [(entry["dataset"]["task_id"], entry["value"]) for entry in proposed] == [
        ("TurkicIdiomT2", 0.5),  # (0.25 + 0.75) / 2
        ("TurkicIdiomT2-tur", 0.25),
        ("TurkicIdiomT2-azj", 0.75),
    ]
    assert {(entry["dataset"]["id"], entry["dataset"]["revision"]) for entry in proposed} == {(DATASET, benchmark)}
    assert proposed[1]["notes"] == "nDCG without a cut-off; a random ranking has 0.1250"
    again = leaderboard(*arguments, "--yes")
    assert again.stdout.endswith(f"pull request {hub.url}/{MODEL}/discussions/1\n")
    assert len(model.pulls) == 1
    model.main = model.pulls[1]  # merged
    assert "there is nothing to propose" in leaderboard(*arguments, "--yes").stdout


def write_model_meta(folder, name):
    """What mteb writes beside the results of a model."""
    (folder / "model_meta.json").write_text(json.dumps({"name": name, "revision": None, "n_parameters": None}))


def test_the_plan_names_the_model_of_the_results(leaderboard, hub, benchmark, tmp_path):
    """The name of a local folder is not that of the repository."""
    arguments = ("--model", MODEL, "--dataset", DATASET)
    folder = write_results(tmp_path / "r", benchmark)
    assert "scores of a model that the results do not name\n" in leaderboard("eval-results", folder, *arguments).stdout
    write_model_meta(folder, "local/checkpoint")
    named = leaderboard("eval-results", folder, *arguments)
    assert named.returncode == 0, named.stderr
    assert named.stdout.startswith(f"scores of local/checkpoint\nmodel {MODEL} at ")
    (tmp_path / "records").mkdir()
    records = write_records(tmp_path / "records", benchmark)
    assert leaderboard("eval-results", records, *arguments).stdout.startswith(f"scores of {MODEL}\n")


def test_scores_of_several_models_are_refused(tmp_path, capsys):
    """T1 of one model and T2 of another are no scores of either; the same name in both formats is one model."""
    folder = tmp_path / "all"
    arguments = ["leaderboard", "eval-results", str(folder), "--model", MODEL, "--dataset", DATASET, "--yes"]
    folder.mkdir()
    write_records(folder, "a" * 40)
    mtebs = write_results(folder / "mteb", "a" * 40)
    (mtebs / "TurkicIdiomT2.json").unlink()
    write_model_meta(mtebs, "other/model")
    assert main(arguments) == 1  # before any request
    message = capsys.readouterr().err
    assert f"several models ({MODEL}, other/model); name the folder of one model" in " ".join(message.split())
    write_model_meta(mtebs, MODEL)
    (mtebs / "TurkicIdiomT1.json").write_text((mtebs / "TurkicIdiomT1.json").read_text().replace("a" * 40, "b" * 40))
    assert main(arguments) == 1
    assert "scores of different data" in capsys.readouterr().err


def test_the_score_of_a_task_needs_all_its_subsets(leaderboard, hub, benchmark, tmp_path):
    folder = write_results(tmp_path / "r", benchmark)
    record = json.loads((folder / "TurkicIdiomT2.json").read_text())
    record["scores"]["test"].pop()
    (folder / "TurkicIdiomT2.json").write_text(json.dumps(record))
    shown = leaderboard("eval-results", folder, "--model", MODEL, "--dataset", DATASET)
    assert "task_id: TurkicIdiomT2-tur\n" in shown.stdout
    assert "task_id: TurkicIdiomT2\n" not in shown.stdout


def test_scores_of_other_data_are_refused(leaderboard, hub, benchmark, tmp_path, capsys):
    arguments = ("--model", MODEL, "--dataset", DATASET, "--yes")
    other = leaderboard("eval-results", write_results(tmp_path / "other", "b" * 40), *arguments)
    assert other.returncode == 1
    assert (
        f"revision {'b' * 40}, which is no commit of {DATASET}; score again with --data {DATASET}@COMMIT"
        in other.stderr
    )
    mixed = write_results(tmp_path / "mixed", benchmark)
    (mixed / "TurkicIdiomT1.json").write_text((mixed / "TurkicIdiomT1.json").read_text().replace(benchmark, "b" * 40))
    assert main(["leaderboard", "eval-results", str(mixed), *arguments]) == 1  # before any request
    assert "scores of different data" in capsys.readouterr().err
    absent = leaderboard(
        "eval-results", write_results(tmp_path / "r", benchmark), "--model", "org/absent", *arguments[2:]
    )
    assert "model org/absent: no such repository, or the token may not see it; check the name" in absent.stderr
    assert hub.repository(MODEL, "model").pulls == {}


@pytest.mark.parametrize("field", ["main_score", "ndcg_floor"])
def test_a_score_too_large_for_a_float_is_damage(tmp_path, capsys, field):
    folder = write_results(tmp_path / "r", "a" * 40)
    path = folder / "TurkicIdiomT1.json"
    record = json.loads(path.read_text())
    record["scores"]["test"][0][field] = 10**400
    path.write_text(json.dumps(record))
    assert main(["leaderboard", "eval-results", str(folder), "--model", MODEL, "--dataset", DATASET]) == 1
    message = capsys.readouterr().err
    assert "TurkicIdiomT1.json" in message
    assert field in message
