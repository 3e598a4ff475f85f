"""`leaderboard.build` and its command: from submissions on disk to a site."""

import json
import re

import pytest

from leaderboard import build as build_from_python
from tests.leaderboard.conftest import Spoiler, scored
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.lexicon.editions import EDITIONS


@pytest.fixture
def build(submission_folder, submission_lexicon, tmp_path, capsys):
    """A function that runs `leaderboard build` on the folder of submissions, and returns what it printed."""

    def run(*arguments, out="site", code=0):
        fixed = ["--out", str(tmp_path / out), "--data", str(submission_lexicon)]
        capsys.readouterr()
        assert main(["leaderboard", "build", str(submission_folder.parent), *fixed, *map(str, arguments)]) == code
        return capsys.readouterr()

    return run


@pytest.fixture
def models(tmp_path):
    """A function that returns the models of leaderboard.json."""
    return lambda: json.loads((tmp_path / "site/leaderboard.json").read_text("utf-8"))["models"]


def test_scores_come_from_the_predictions(build, models, tmp_path, submission_folder, submission_dataset, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795996800")  # 2026-11-30, 0:00 UTC
    (tmp_path / "reproduced.txt").write_text(f"# ran again\n{submission_folder.name}\n")
    repository = "https://github.com/org/idioms"
    printed = build("--reproduced", tmp_path / "reproduced.txt", "--repository", f"{repository}/")
    assert f"Site: {tmp_path}/site/index.html" in printed.out
    assert all(line.startswith("scoring submissions: ") for line in printed.err.splitlines())
    (model,) = models()
    assert model["id"] == submission_folder.name
    assert model["badges"] == ["recomputed", "reproduced"]
    main_scores = {(row["task"], row["subset"]): row["main"] for row in model["subsets"]}
    expected = scored(submission_folder, submission_dataset).subsets
    assert main_scores == {(row.task, row.subset): pytest.approx(row.main, abs=1e-6) for row in expected}
    assert "tutmoq" in (tmp_path / "site" / "concepts.js").read_text("utf-8")
    page = (tmp_path / "site" / "data.html").read_text("utf-8")
    assert 'datetime="2026-11-30"' in page
    assert f'href="{repository}"' in page
    # the same from Python
    ids = [submission_folder.name]
    same = {"data": submission_dataset, "reproduced": ids, "repository": repository}
    built = build_from_python(submission_folder.parent, tmp_path / "again", **same)
    assert [submission.id for submission in built.scored] == ids
    assert (built.left_out, built.other_editions) == ([], {})
    for path in built.files:
        assert path.read_bytes() == (tmp_path / "site" / path.relative_to(tmp_path / "again")).read_bytes()


def test_a_submission_with_a_fault_never_stops_the_others(build, models, submission_folder, add_submission, tmp_path):
    bad = submission_folder
    Spoiler(bad).fields(dataset_revision="f" * 40, contact="<script>\u202e", type="robot")
    (bad.parent / ".ipynb_checkpoints").mkdir()
    reports = ["--report", tmp_path / "left-out.html"]
    assert "every submission has a fault" in build(*reports, code=1).err
    assert not (tmp_path / "site").exists()
    assert bad.name in (tmp_path / "left-out.html").read_text("utf-8")
    sound = add_submission(name="Org/Sound")
    (tmp_path / "list.txt").write_text(f"{bad.name}\n{sound.name}\n")
    printed = build("--reproduced", tmp_path / "list.txt", *reports).out  # replaces the page that it wrote
    assert printed.startswith("1 submission, ")
    assert f"left out: 1\n  {bad}" in printed
    (model,) = models()
    assert (model["id"], model["badges"]) == (sound.name, ["recomputed", "reproduced"])
    for path in (tmp_path / "site").rglob("*"):
        assert not path.is_file() or bad.name not in path.read_text("utf-8"), path  # nothing of it is public
    report = (tmp_path / "left-out.html").read_text("utf-8")
    assert bad.name in report
    assert "submission.json, line 1: " in report
    assert report.count("<li>") == 2  # both faults
    for absent in ("<script>", "\u202e", str(tmp_path), sound.name):
        assert absent not in report


def test_submissions_for_another_edition_are_listed_apart(build, models, submission_folder, add_submission, tmp_path):
    first_edition, edition = next(iter(EDITIONS.items()))
    folder = add_submission(name="Org/Earlier", dataset_revision=first_edition)
    printed = build().out
    assert printed.startswith("1 submission, ")
    assert f"{folder.name}: predicts edition {edition} of the lexicon" in printed
    assert [model["id"] for model in models()] == [submission_folder.name]
    others = json.loads((tmp_path / "site/leaderboard.json").read_text("utf-8"))["other_editions"]
    assert [(other["id"], other["edition"]) for other in others] == [(folder.name, edition)]
    older = (tmp_path / "site/index-older-editions.html").read_text("utf-8")
    assert re.search(r"Org/Earlier</th><td[^>]*>1\.0\.0<", older)
    assert "Its queries and right answers differ" in older
    index = (tmp_path / "site/index.html").read_text("utf-8")
    assert 'href="index-older-editions.html"' in index
    assert "Org/Earlier" not in index


def test_one_system_under_two_names_is_named_and_left_in(
    build, models, submission_folder, add_submission, submission_lexicon, tmp_path, capsys
):
    copy = add_submission(name="Org/Copy")
    Spoiler(copy).row(2, "spans.jsonl.gz", tags="BOOOOO")  # another answer to one sentence
    note = "same score as {} on every item of T1, T2, T3"
    assert main(["leaderboard", "check", str(copy.parent), "--data", str(submission_lexicon)]) == 0
    for printed in (capsys.readouterr().out, build().out):
        for folder, other in ((submission_folder, "Org/Copy"), (copy, "Org/Model")):
            assert f"{folder.name}: {note.format(other)}\n" in printed
    assert [model["retrieval"]["rank"] for model in models()] == [1, 1]
    page = (tmp_path / "site/index-retrieval.html").read_text("utf-8")
    assert page.count("same score as") == 2
    assert note.format("Org/Model") in (tmp_path / f"site/models/{copy.name}.html").read_text("utf-8")


def test_a_site_replaces_only_what_is_ours_and_never_lies_among_submissions(build, submission_folder, tmp_path):
    site = tmp_path / "site"
    (site / "models").mkdir(parents=True)
    (site / "models" / "mine.html").write_text("mine")
    assert "holds 'models' and was not written by this command; choose an empty or new" in build(code=1).err
    (site / "index.html").write_text("mine")
    build("--overwrite")
    assert (site / "models" / "mine.html").read_text() == "mine"
    assert "Which models understand" in (site / "index.html").read_text("utf-8")
    assert "index.html: is in the way" in build(out="site/index.html", code=1).err
    (tmp_path / "link").symlink_to(submission_folder.parent)
    for out in ("submissions", "submissions/site", "link/site", "submissions/../submissions/x"):
        assert "lies in the folder of the submissions" in build("--overwrite", out=out, code=2).err
    assert [path.name for path in submission_folder.parent.iterdir()] == [submission_folder.name]


def test_arguments_that_cannot_be_used(build, submission_folder, tmp_path, monkeypatch):
    for place in (tmp_path / "site/left-out.html", submission_folder.parent / "left-out.html"):
        assert "choose a place elsewhere" in build("--report", place, code=2).err
    assert "none.txt: cannot be read" in build("--reproduced", tmp_path / "none.txt", code=1).err
    (tmp_path / "list.txt").write_text("somebody-else\n")
    assert "no submission 'somebody-else'" in build("--reproduced", tmp_path / "list.txt", code=1).err
    for repository in ("javascript:alert(1)", "https://github.com/org"):
        assert "give an address like" in build("--repository", repository, code=2).err
    for epoch in ("soon", "9" * 30):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
        assert "seconds since 1970" in build(code=2).err


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
