"""The command from submissions on disk to a site."""

import json

import pytest

from leaderboard.rescore import load_records
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.lexicon.sources import DATA_VARIABLE


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    monkeypatch.setenv(DATA_VARIABLE, "")  # --data sets it; put back afterwards


def test_the_site_has_the_scores_computed_from_the_predictions(
    command, tmp_path, submission_folder, submission_lexicon, submission_gold
):
    reproduced = tmp_path / "reproduced.txt"
    reproduced.write_text(f"# ran again\n{submission_folder.name}\n")
    arguments = ["--data", submission_lexicon, "--out", "site", "--reproduced", reproduced]
    done = command("turkic-idiom", "leaderboard", "build", submission_folder.parent, *arguments)
    assert done.returncode == 0, done.stderr
    assert "Site: site/index.html" in done.stdout
    (record,) = load_records(submission_folder.parent, submission_gold)
    (model,) = json.loads((tmp_path / "site/leaderboard.json").read_text("utf-8"))["models"]
    assert model["id"] == submission_folder.name
    assert model["badges"] == ["recomputed", "reproduced"]
    main_scores = {(one["task"], one["subset"]): one["main"] for one in model["subsets"]}
    assert main_scores == {(one.task, one.subset): pytest.approx(one.main, abs=1e-6) for one in record.subsets}
    assert model["overall"]["rank"] == 1
    page = (tmp_path / "site" / "models" / f"{submission_folder.name}.html").read_text("utf-8")
    assert "Org/Model" in page
    assert "tutmoq" in page  # texts of the data stand among the hardest queries


def test_a_submission_with_a_fault_stops_the_build(submission_spoiler, submission_lexicon, tmp_path, capsys):
    submission_spoiler.fields(dataset_revision="f" * 40)
    place = str(submission_spoiler.folder.parent)
    arguments = ["leaderboard", "build", place, "--out", str(tmp_path / "site"), "--data", str(submission_lexicon)]
    assert main(arguments) == 1
    assert "ffffffffffff" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()


def test_a_list_of_reproduced_submissions_must_be_readable_and_right(
    submission_folder, submission_lexicon, tmp_path, capsys
):
    place = str(submission_folder.parent)
    arguments = ["leaderboard", "build", place, "--out", str(tmp_path / "site"), "--data", str(submission_lexicon)]
    assert main([*arguments, "--reproduced", str(tmp_path / "none.txt")]) == 1
    assert "none.txt: cannot be read" in capsys.readouterr().err
    (tmp_path / "list.txt").write_text("somebody-else\n")
    assert main([*arguments, "--reproduced", str(tmp_path / "list.txt")]) == 1
    assert "no submission 'somebody-else'" in capsys.readouterr().err
