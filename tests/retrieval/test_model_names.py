"""What results call a model: unique in a run, as the user or its folder says, and honest about converted weights."""

import json
import shutil

import pytest

from tests.retrieval.conftest import rows_of
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses.mteb_loading import name_models
from turkic_idiom_tasks.results.record import find_records, read_header

STATED = {"name": "some-lab/its-encoder", "revision": "4-bit weights from a package 0.3.0"}


@pytest.fixture
def checkpoints(tmp_path, sentence_model, make_untrained):
    """Two checkpoints of other weights in folders of one name."""
    shutil.copytree(sentence_model, tmp_path / "r1" / "checkpoint-500")
    shutil.copytree(make_untrained(seed=1), tmp_path / "r2" / "checkpoint-500")
    return ["r1/checkpoint-500", "r2/checkpoint-500"]


def test_two_checkpoints_of_one_name_are_two_models_everywhere(turkic, tmp_path, small_lexicon, checkpoints):
    first, second = checkpoints
    arguments = ("run", "-m", first, "-m", second, "-t", "T2", "--data", small_lexicon)
    rows = rows_of(turkic(*arguments, "--format", "csv"))
    assert {row["model"] for row in rows} == {"local/r1-checkpoint-500", "local/r2-checkpoint-500"}
    assert len({row["ndcg"] for row in rows if row["subset"] == "mean"}) == 2
    folders = sorted(path.name for path in (tmp_path / "results" / "results").iterdir())
    assert folders == ["local__r1-checkpoint-500", "local__r2-checkpoint-500"]
    places = [f"results/results/{name}" for name in folders]
    about = ("--contact", "me", "--training-data", "none", "--regime", "other")
    submitted = turkic("submit", *places, "--data", small_lexicon, "--out", "sent", *about)
    assert submitted.returncode == 0, submitted.stderr
    assert len(list((tmp_path / "sent").iterdir())) == 2


def test_one_model_under_two_of_its_names_is_scored_once(turkic, small_lexicon, checkpoints, tmp_path):
    (tmp_path / "r1" / "again").symlink_to("checkpoint-500")
    arguments = ("run", "-t", "T1", "-l", "az", "--data", small_lexicon, "--format", "csv", "--pooling", "all")
    first = checkpoints[0]
    rows = rows_of(turkic(*arguments, "-m", first, "-m", f"./{first}", "-m", f"{first} (pooling=mean)"))
    assert len(rows) == len({(row["model"], row["subset"]) for row in rows}) == 5 * 2
    # a symlink is named as the user wrote it, and is a model of its own
    rows = rows_of(turkic(*arguments, "-m", "r1/again"))
    assert {row["model"].partition(" ")[0] for row in rows} == {"local/again"}


def test_a_name_of_the_users_own_counts(turkic, small_lexicon, checkpoints):
    arguments = ("run", "-t", "T1", "-l", "az", "--data", small_lexicon, "--format", "csv")
    arguments += tuple(part for name in checkpoints for part in ("-m", name))
    rows = rows_of(turkic(*arguments, "--name", "early", "--name", "late"))
    assert list(dict.fromkeys(row["model"] for row in rows)) == ["local/early", "local/late"]
    for names, said in (("early",), "2 local models"), (("same", "same"), "local/same"), (("a/b", "c"), "a/b"):
        run = turkic(*arguments, *(part for name in names for part in ("--name", name)))
        assert run.returncode == 2
        assert said in run.stderr


def test_names_take_as_many_folders_as_it_takes_and_never_that_of_another_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for place in ("a/x/m", "b/x/m", "c", "d"):
        (tmp_path / place).mkdir(parents=True)
    assert name_models(["a/x/m", "b/x/m", "some/hub-model"]) == {"a/x/m": "local/a-x-m", "b/x/m": "local/b-x-m"}
    assert name_models([f"{tmp_path}/a/../c"]) == {f"{tmp_path}/a/../c": "local/c"}
    for place in "cd":
        (tmp_path / place / "turkic_idiom_model.json").write_text(json.dumps(STATED))
    assert name_models(["./c"]) == {"./c": "some-lab/its-encoder"}
    assert name_models(["c", "some-lab/its-encoder"]) == {"c": "local/c"}
    assert name_models(["c", "d"]) == {"c": "local/c", "d": "local/d"}
    own = name_models(["one.py:Mine", "two.py:Mine"])
    assert own == {"one.py:Mine": "local/one-Mine", "two.py:Mine": "local/two-Mine"}


def test_a_folder_of_converted_weights_states_what_it_is(turkic, small_lexicon, checkpoints, tmp_path):
    """Its name and revision are in records and mteb's files; other weights are computed again."""
    stated = tmp_path / checkpoints[0] / "turkic_idiom_model.json"
    stated.write_text(json.dumps(STATED))
    arguments = ("run", "-m", checkpoints[0], "-t", "T1", "-l", "az", "--data", small_lexicon, "--format", "csv")
    before = rows_of(turkic(*arguments))
    assert {row["model"] for row in before} == {STATED["name"]}
    (record,) = find_records(tmp_path / "results")
    assert read_header(record).model.revision == STATED["revision"]
    (meta,) = (tmp_path / "results").rglob("model_meta.json")
    assert json.loads(meta.read_text())["revision"] == STATED["revision"]
    shutil.rmtree(tmp_path / checkpoints[0])
    shutil.copytree(tmp_path / checkpoints[1], tmp_path / checkpoints[0])
    stated.write_text(json.dumps(STATED))
    run = turkic(*arguments)
    assert "computed again" in run.stderr
    assert rows_of(run) != before


@pytest.mark.parametrize(
    "content", ['{"name": "no-slash", "revision": "1"}', '{"name": "a/b", "revision": "../x"}', "["]
)
def test_a_folder_that_states_nonsense_is_refused(tmp_path, content):
    (tmp_path / "turkic_idiom_model.json").write_text(content)
    with pytest.raises(InputError, match=r"turkic_idiom_model\.json"):
        name_models([str(tmp_path)])
