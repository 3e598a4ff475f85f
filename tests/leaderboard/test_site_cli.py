"""The command from submissions on disk to a site."""

import json
import re

import pytest

from leaderboard.scores import score_submission
from leaderboard.submission import load_submission
from tests.leaderboard.conftest import make_submission
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.lexicon.editions import editions


@pytest.fixture
def build(submission_folder, submission_lexicon, tmp_path):
    """A function that runs `leaderboard build` on the folder of submissions."""

    def run(*arguments, out="site"):
        fixed = ["--out", str(tmp_path / out), "--data", str(submission_lexicon)]
        return main(["leaderboard", "build", str(submission_folder.parent), *fixed, *map(str, arguments)])

    return run


def test_the_site_has_the_scores_computed_from_the_predictions(
    build, tmp_path, submission_folder, submission_dataset, capsys
):
    reproduced = tmp_path / "reproduced.txt"
    reproduced.write_text(f"# ran again\n{submission_folder.name}\n")
    assert build("--reproduced", reproduced) == 0
    printed = capsys.readouterr()
    assert f"Site: {tmp_path}/site/index.html" in printed.out
    assert printed.err == ""  # no progress bar where nobody watches
    scored = score_submission(load_submission(submission_folder, submission_dataset))
    (model,) = json.loads((tmp_path / "site/leaderboard.json").read_text("utf-8"))["models"]
    assert model["id"] == submission_folder.name
    assert model["badges"] == ["recomputed", "reproduced"]
    main_scores = {(row["task"], row["subset"]): row["main"] for row in model["subsets"]}
    assert main_scores == {(row.task, row.subset): pytest.approx(row.main, abs=1e-6) for row in scored.subsets}
    assert model["overall"]["rank"] == 1
    page = (tmp_path / "site" / "models" / f"{submission_folder.name}.html").read_text("utf-8")
    assert "Org/Model" in page
    assert "tutmoq" in page  # texts of the data stand among the hardest queries


@pytest.fixture
def sound(submission_spoiler, submission_metadata, submission_content):
    """A sound submission beside the one that a test spoils."""
    other = submission_metadata.model_copy(update={"name": "Org/Sound"})
    return make_submission(submission_spoiler.folder.parent, other, submission_content)


def test_a_submission_with_a_fault_never_stops_the_others(build, submission_spoiler, sound, tmp_path, capsys):
    submission_spoiler.fields(dataset_revision="f" * 40, contact="<script>\u202e")
    submission_spoiler.fields(type="robot")
    bad = submission_spoiler.folder
    (bad.parent / ".ipynb_checkpoints").mkdir()
    (tmp_path / "list.txt").write_text(f"{bad.name}\n{sound.name}\n")
    arguments = ["--reproduced", tmp_path / "list.txt", "--report", tmp_path / "left-out.html"]
    assert build(*arguments) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("1 submission, ")
    assert f"left out: 1\n  {bad}" in printed
    (model,) = json.loads((tmp_path / "site/leaderboard.json").read_text("utf-8"))["models"]
    assert (model["id"], model["badges"]) == (sound.name, ["recomputed", "reproduced"])
    for path in (tmp_path / "site").rglob("*"):
        assert not path.is_file() or bad.name not in path.read_text("utf-8"), path  # nothing of it is public
    report = (tmp_path / "left-out.html").read_text("utf-8")
    assert bad.name in report
    assert "submission.json, line 1: " in report
    assert report.count("<li>") == 2  # both faults
    assert "<script>" not in report
    assert "\u202e" not in report
    assert str(tmp_path) not in report
    assert sound.name not in report
    assert build(*arguments) == 0  # replaces the page that it wrote
    assert build("--strict", out="other") == 1
    assert "robot" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


def test_if_every_submission_has_a_fault_no_site_is_written(build, submission_spoiler, tmp_path, capsys):
    submission_spoiler.fields(dataset_revision="f" * 40)
    assert build("--report", tmp_path / "left-out.html") == 1
    assert "every submission has a fault" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()
    assert "ffffffffffff" in (tmp_path / "left-out.html").read_text("utf-8")


def test_the_page_for_maintainers_is_no_part_of_the_site(build, submission_folder, tmp_path, capsys):
    for place in (tmp_path / "site/left-out.html", submission_folder.parent / "left-out.html"):
        assert build("--report", place) == 2
        assert "choose a file elsewhere" in capsys.readouterr().err
    (tmp_path / "notes.html").write_text("mine")
    assert build("--report", tmp_path / "notes.html") == 1
    assert "was not written by this command" in capsys.readouterr().err
    assert (tmp_path / "notes.html").read_text() == "mine"


def test_submissions_for_another_edition_of_the_lexicon_are_listed_apart(
    build, submission_folder, submission_metadata, submission_content, tmp_path, capsys
):
    first_edition, edition = next(iter(editions().items()))
    earlier = submission_metadata.model_copy(update={"name": "Org/Earlier", "dataset_revision": first_edition})
    folder = make_submission(submission_folder.parent, earlier, submission_content)
    assert build() == 0
    printed = capsys.readouterr().out
    assert printed.startswith("1 submission, ")
    assert f"{folder.name}: predicts edition {edition} of the lexicon" in printed
    board = json.loads((tmp_path / "site/leaderboard.json").read_text("utf-8"))
    assert [model["id"] for model in board["models"]] == [submission_folder.name]
    assert [(other["id"], other["edition"]) for other in board["other_editions"]] == [(folder.name, edition)]
    older = (tmp_path / "site/index-older-editions.html").read_text("utf-8")
    assert re.search(r"Org/Earlier</th><td[^>]*>1\.0\.0<", older)
    assert "Its queries and right answers differ" in older
    index = (tmp_path / "site/index.html").read_text("utf-8")
    assert 'href="index-older-editions.html"' in index
    assert "Org/Earlier" not in index


def test_a_site_never_replaces_what_is_not_ours(build, submission_folder, tmp_path, capsys):
    (tmp_path / "site" / "models").mkdir(parents=True)
    (tmp_path / "site" / "models" / "mine.html").write_text("mine")
    assert build() == 1
    assert "--overwrite" in capsys.readouterr().err
    assert build("--overwrite") == 0
    assert (tmp_path / "site" / "models" / "mine.html").read_text() == "mine"
    assert build(out="submissions/site") == 2
    assert "lies in the folder of the submissions" in capsys.readouterr().err
    assert [path.name for path in submission_folder.parent.iterdir()] == [submission_folder.name]


def test_a_list_of_reproduced_submissions_must_be_readable_and_right(build, tmp_path, capsys):
    assert build("--reproduced", tmp_path / "none.txt") == 1
    assert "none.txt: cannot be read" in capsys.readouterr().err
    (tmp_path / "list.txt").write_text("somebody-else\n")
    assert build("--reproduced", tmp_path / "list.txt") == 1
    assert "no submission 'somebody-else'" in capsys.readouterr().err


def test_names_never_reach_the_terminal_raw(submission_folder, submission_lexicon, tmp_path, capsys):
    folder = tmp_path / "a\x1b[2J\u202eb[red]"
    folder.mkdir()
    submission_folder.rename(folder / submission_folder.name)
    arguments = ["leaderboard", "check", str(folder), "--data", str(submission_lexicon)]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert r"a\x1b[2J\u202eb[red]" in printed
    (folder / submission_folder.name / "x\x1b]0;title\x07").write_text("")
    assert main(arguments) == 1
    printed += capsys.readouterr().out
    assert not {"\x1b", "\x07", "\u202e"} & set(printed)
