"""Language models on the leaderboard: their answers as submissions, their scores, and their page."""

import csv
import json
import math
import re
from types import SimpleNamespace

import pytest

from leaderboard.board import make_board, score_submission
from leaderboard.data import item_board_data
from leaderboard.details import missed_items, trap_profiles
from leaderboard.submission import Submission, submission_files
from tests.leaderboard.boards_for_tests import answers_of, gold, near, save_person
from tests.leaderboard.conftest import Spoiler, loaded, make_submission, scored
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.results.item_answers import ITEM_TASKS, item_subsets
from turkic_idiom_tasks.tasks.items.item_types import MEANING
from turkic_idiom_tasks.tasks.items.items import HARD_TASKS, whole_of
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS


@pytest.fixture(scope="module")
def metadata(answers_metadata):
    about = {"revision": None, "n_parameters": None, "type": "llm", "pooling": None, "few_shot": 0}
    return lambda name: answers_metadata.model_copy(update=about | {"name": name})


@pytest.fixture(scope="module")
def gold_content(answers_dataset, metadata):
    return submission_files(metadata("org/gold"), answers_of(answers_dataset, gold))


def test_answers_survive_the_files_and_scores_are_those_of_the_scorer(answers_dataset, metadata, tmp_path):
    def mixed(item, is_open):
        number = sum(map(ord, item.id)) % 3
        if number == 0:
            return None
        return near(item, is_open) if number == 1 else gold(item, is_open)

    predictions = answers_of(answers_dataset, mixed)
    place = make_submission(tmp_path, metadata("org/mixed"), submission_files(metadata("org/mixed"), predictions))
    read = loaded(place, answers_dataset).predictions
    assert {key: read[key].answers for key in read} == {key: predictions[key].answers for key in predictions}
    scores = {(score.task, score.subset): score for score in scored(place, answers_dataset).subsets}
    assert list(scores) == list(predictions)  # in the usual order
    for (task, subset), value in predictions.items():
        score, is_open = scores[task, subset], task in OPEN_TASKS
        pairs = zip(value.items.rows, value.answers, strict=True)
        n_right = sum(answer == gold(item, is_open) for item, answer in pairs)
        assert score.main == pytest.approx(n_right / score.n)
        assert score.sums.sum(axis=0).tolist() == [n_right, score.n]
        assert score.floor == (0.0 if is_open else {"usage": 0.5}.get(whole_of(task), 0.25))


def test_language_models_have_ranks_traps_and_missed_items_of_their_own(answers_dataset, metadata):
    def other(item, is_open):
        return next(place for place in range(len(item.options)) if place not in (item.gold, near(item, is_open)))

    submissions = []
    choices = {
        "gold": (gold, ITEM_TASKS),
        "near": (near, ITEM_TASKS),
        "part": (near, [MEANING]),
        "other": (other, [MEANING]),
    }
    for name, (choose, tasks) in choices.items():
        answers = answers_of(answers_dataset, choose, tasks=tasks)
        submissions.append(score_submission(Submission(name, metadata(f"org/{name}"), answers)))
    board = make_board(submissions, item_board_data(answers_dataset))
    assert list(board.overall) == ["gold", "near"]  # the others lack five tasks
    assert board.overall["gold"].score == pytest.approx(1.0)
    # all wrong: (0 - chance) / (1 - chance) is -1/3 with four options, -1 with two, 0 without
    assert board.overall["near"].score == pytest.approx((-1 / 3 - 1 / 3 - 1 - 1 / 3 + 2 * 0) / 6)
    assert [place.rank for place in board.overall.places.values()] == [1, 2]
    profiles = {profile["submission"].id: profile for profile in trap_profiles(board)}
    assert (profiles["gold"]["n_wrong"], profiles["gold"]["unreadable"]) == (0, 0)
    assert math.isnan(profiles["gold"]["shares"]["near"])
    of_near = profiles["near"]
    counted = [score for score in of_near["submission"].subsets if score.task not in HARD_TASKS]  # no item twice
    n_open = sum(score.n for score in counted if score.task in OPEN_TASKS)
    n_all = sum(score.n for score in counted)
    n_usage = sum(score.n for score in of_near["submission"].of_task("usage"))
    assert of_near["n_wrong"] == n_all - n_open - n_usage  # usage has no typed traps
    assert of_near["unreadable"] == pytest.approx(n_open / n_all)
    assert sum(of_near["shares"].values()) == pytest.approx(1)
    assert of_near["shares"]["near"] > 0.6  # where an item has no near trap, any other
    all_missed = missed_items(board, answers_dataset.lexicon)
    missed = {item["task"]: item for item in all_missed}
    # These data have none; hard items of `recall` they have, and the mean over six kinds above does not count these
    absent = {"situation", "situation_open", "meaning_rivals", "equivalent_rivals"}
    assert set(missed) == set(ITEM_TASKS) - absent - set(HARD_TASKS)
    assert of_near["submission"].of_task("recall_hard")
    # of several wrong answers the most frequent one is named
    of_meaning = [item for item in all_missed if item["task"] == MEANING]
    assert {(item["n_missed"], item["n_models"], item["n_chosen"]) for item in of_meaning} == {(3, 4, 2)}
    assert (missed["usage"]["n_missed"], missed["usage"]["n_models"]) == (1, 2)
    assert missed["cloze_open"]["chosen"] == ""  # nothing that could be read
    entry = answers_dataset.lexicon.of(missed["recall"]["language"])[missed["recall"]["concept"]]
    assert (missed["recall"]["text"], missed["recall"]["right"]) == (entry.meaning, entry.idiom)


@pytest.fixture(scope="module")
def answers_site(answers_dataset, metadata, gold_content, tmp_path_factory):
    """A site of two language models, one of which answers with a script; their folders, and the texts of the pages."""
    place = tmp_path_factory.mktemp("answers")
    about = metadata("org/near")
    right = make_submission(place / "submissions", metadata("org/gold"), gold_content)
    answers = answers_of(answers_dataset, near)
    hostile = make_submission(place / "submissions", about, submission_files(about, answers))
    Spoiler(hostile).row(1, "cloze_open.jsonl.gz", answer="<script>alert(1)</script>")
    folder = place / "site"
    arguments = ["build", str(place / "submissions"), "--out", str(folder), "--data", answers_dataset.path]
    assert main(["leaderboard", *arguments]) == 0
    pages = {path.name: path.read_text("utf-8") for path in folder.rglob("*.html")}
    return SimpleNamespace(right=right, hostile=hostile, folder=folder, pages=pages)


def test_a_site_has_a_page_of_language_models_only_with_such_submissions(answers_site, shared_site):
    pages, link = answers_site.pages, f'href="models/{answers_site.right.name}.html"'
    assert (link in pages["language-models.html"], link in pages["index.html"]) == (True, False)  # ranks do not mix
    assert 'href="language-models.html"' in pages["index.html"]
    assert "prompt en1, generation" in pages[f"{answers_site.hostile.name}.html"]
    assert not (shared_site.folder / "language-models.html").exists()
    assert 'href="language-models.html"' not in (shared_site.folder / "index.html").read_text("utf-8")


def test_an_answer_that_is_a_script_is_shown_as_text(answers_site):
    assert "<script>alert" not in answers_site.pages["language-models.html"]
    data = (answers_site.folder / "concepts" / f"of-{answers_site.hostile.name}.js").read_text("utf-8")
    assert "\\u003cscript>alert(1)" in data


def test_people_stand_above_language_models_without_a_rank(answers_dataset, metadata, gold_content, tmp_path, capsys):
    place, site = tmp_path / "submissions", tmp_path / "site"
    make_submission(place, metadata("org/gold"), gold_content)
    turkish, uzbek = ("meaning", "tr"), ("meaning", "uz")
    sound = save_person(place / "people", 1, answers_dataset, {turkish: 4, uzbek: 2})
    save_person(place / "people", 2, answers_dataset, {turkish: 2})
    older = save_person(place / "people", 3, answers_dataset, {turkish: 4})
    older.write_text(older.read_text("utf-8").replace(answers_dataset.revision, "0" * 40), "utf-8")
    forged = save_person(place / "people", 4, answers_dataset, {turkish: 1})
    forged.write_text(forged.read_text("utf-8").replace('"task": "meaning"', '"task": "x\\nfile: ok"'), "utf-8")
    (place / "people" / "notes.txt").symlink_to(sound)
    assert main(["leaderboard", "check", str(place), "--data", answers_dataset.path]) == 1
    printed = capsys.readouterr().out
    assert "answers-00000001.json: ok" in printed
    assert re.search("answers-00000003.json: .*revision .0000", printed)
    assert "\nfile: ok" not in printed  # what a file says never begins a line of its own
    assert main(["leaderboard", "build", str(place), "--out", str(site), "--data", answers_dataset.path]) == 0
    printed = capsys.readouterr().out
    assert "left out: 3" in printed
    assert "notes.txt" in printed

    file = json.loads((site / "language-models.json").read_text("utf-8"))
    rows = {(row["task"], row["subset"]): row for row in file["people"]}
    # Turkish: 4 of 4 and 2 of 4 are right; Uzbek: 2 of 4, by one person
    assert {key: (row["main"], row["best"], row["n_people"], row["n_items"]) for key, row in rows.items()} == {
        turkish: (0.75, 1.0, 2, 4),
        uzbek: (0.5, 0.5, 1, 4),
    }
    assert all(row["low"] < row["main"] < row["high"] for row in rows.values())
    assert len(file["models"]) == 1
    first, second = csv.DictReader((site / "language-models.csv").read_text("utf-8").splitlines())
    assert (first["name"], first["rank"], first["meaning uz"]) == ("People (n = 2)", "", "0.500000")
    assert (second["name"], second["rank"]) == ("org/gold", "1")

    def row_of(page):
        body = re.search('<tbody class="people">(.*?)</tbody>', (site / page).read_text("utf-8"), re.DOTALL)[1]
        return re.sub("<[^>]*>", " ", body)

    # Corrected for guessing: (.5 - .25) / .75, and over both languages the mean of that and (.75 - .25) / .75
    assert re.search(r"People \(n = 1\).* \.333 .*4 items, best \.333", row_of("uz-language-models.html"))
    n_sets = len(item_subsets(answers_dataset, "meaning"))
    assert re.search(rf"People \(n = 2\).* \.500 .*8 items, 2 of {n_sets} sets", row_of("language-models.html"))
