"""Language models on the leaderboard: their answers as submissions, their scores, and their page."""

import csv
import gzip
import json
import math
import re
from dataclasses import astuple

import pytest

from leaderboard.board import make_board
from leaderboard.data import item_board_data
from leaderboard.details import missed_items, trap_profiles
from leaderboard.submission import read_submission, slug, submission_files
from tests.leaderboard.boards_for_tests import answers_of, gold, near, save_person
from tests.leaderboard.conftest import Spoiler, loaded, make_submission, scored, write_lm_eval
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.dataset.similarity import content_digest
from turkic_idiom_tasks.results.item_answers import ITEM_TASKS, find_items, item_subsets
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS
from turkic_idiom_tasks.tasks.items.scoring import score_items, score_open


@pytest.fixture(scope="module")
def data(answers_dataset):
    return answers_dataset


@pytest.fixture(scope="module")
def metadata(answers_metadata):
    about = {"revision": None, "n_parameters": None, "type": "llm", "pooling": None, "few_shot": 0}
    return lambda name: answers_metadata.model_copy(update=about | {"name": name})


@pytest.fixture(scope="module")
def gold_content(data, metadata):
    return submission_files(metadata("org/gold"), answers_of(data, gold))


def sample(item, answer, *, filter="flexible", prompt="en1"):
    document = {"id": item.id, "digest": content_digest([astuple(item)]), "prompt": prompt}
    responses = [json.dumps({"answer": answer})]
    if filter == "none":
        responses = [["mark", float(number == answer)] for number in range(len(item.options))]
    return {"doc": document, "filter": filter, "filtered_resps": responses}


def test_answers_survive_the_files_and_scores_are_those_of_the_scorer(data, metadata, tmp_path):
    def mixed(item, is_open):
        number = sum(map(ord, item.id)) % 3
        if number == 0:
            return None
        return near(item, is_open) if number == 1 else gold(item, is_open)

    predictions = answers_of(data, mixed)
    place = make_submission(tmp_path, metadata("org/mixed"), submission_files(metadata("org/mixed"), predictions))
    read = loaded(place, data).predictions
    assert {key: value.answers for key, value in read.items()} == {
        key: value.answers for key, value in predictions.items()
    }
    scores = {(score.task, score.subset): score for score in scored(place, data).subsets}
    assert list(scores) == list(predictions)  # in the usual order
    for (task, subset), value in predictions.items():
        score = scores[task, subset]
        if task in OPEN_TASKS:
            expected = score_open(task, value.items.rows, value.answers, data.lexicon)
        else:
            expected = score_items(value.items.rows, value.answers)
        for name, figure in expected.items():
            assert score.scores[name] == figure or (math.isnan(score.scores[name]) and math.isnan(figure))
        main = "accepted" if task in OPEN_TASKS else "accuracy"
        assert score.sums[:, 0].sum() / len(score.sums) == pytest.approx(expected[main], abs=1e-12)
        assert score.floor == (0.0 if task in OPEN_TASKS else {"usage": 0.5}.get(task, 0.25))


def test_answers_to_items_of_another_version_are_refused(data, metadata, gold_content, tmp_path):
    """A position says nothing about options that stand in another order, even if the lexicon is the same."""
    meaning = gzip.decompress(gold_content["meaning.jsonl.gz"])
    digest = find_items(data, "meaning", "tr").digest
    other = {**gold_content, "meaning.jsonl.gz": gzip.compress(meaning.replace(digest.encode(), b"0" * 12))}
    left_out = read_submission(make_submission(tmp_path, metadata("org/other"), other), data)
    assert "another version" in left_out.reason
    assert find_items(data, "meaning", "az").digest != digest


def test_samples_of_lm_eval_become_a_submission(data, tmp_path):
    items = find_items(data, "equivalent", "tr-uz").rows
    rows = []
    for item in items:
        rows.append(sample(item, None, filter="strict"))
        rows.append(sample(item, item.gold))
    write_lm_eval(tmp_path / "a", data, "some/model", "turkic_idiom_equivalent_tr_uz_gen", rows, few_shot=3)
    opened = find_items(data, "cloze_open", "az").rows
    rows = []
    for item in opened:
        rows += [
            sample(item, "başqa prompt", prompt="native"),
            sample(item, f"{item.idiom}\u200b"),
        ]
    write_lm_eval(tmp_path / "b", data, "some/model", "turkic_idiom_cloze_open_az", rows, few_shot=3)
    usage = find_items(data, "usage", "tr").rows
    rows = [sample(item, 0, filter="none") for item in usage]
    write_lm_eval(tmp_path / "c", data, "some/model", "turkic_idiom_usage_tr", rows, few_shot=3)
    arguments = ["submit", tmp_path, "--contact", "@me", "--training-data", "unknown", "--data", data.path]
    assert main([*map(str, arguments), "--out", str(tmp_path / "out")]) == 0
    (place,) = (tmp_path / "out").iterdir()
    submission = loaded(place, data)
    assert submission.id == slug(submission.metadata)
    assert (submission.metadata.regime, submission.metadata.few_shot) == ("few-shot", 3)
    predictions = submission.predictions
    assert predictions["equivalent", "tr-uz"].answers == tuple(item.gold for item in items)
    assert predictions["cloze_open", "az"].answers == tuple(item.idiom for item in opened)
    assert predictions["cloze_open", "az"].prompt == "en1"  # the first one of a run over several
    assert [predictions[key].method for key in predictions] == ["generation", "loglikelihood", "generation"]


def test_language_models_have_ranks_traps_and_missed_items_of_their_own(data, metadata, gold_content, tmp_path):
    place = tmp_path / "submissions"
    contents = {
        "org/gold": gold_content,
        "org/near": submission_files(metadata("org/near"), answers_of(data, near)),
        "org/part": submission_files(metadata("org/part"), answers_of(data, near, tasks=("meaning",))),
    }
    submissions = [scored(make_submission(place, metadata(name), content), data) for name, content in contents.items()]
    board = make_board(submissions, item_board_data(data))
    names = {name: submission.metadata.name for name, submission in board.by_id.items()}
    assert [names[key] for key in board.overall] == ["org/gold", "org/near"]  # org/part lacks five tasks
    standings = {names[key]: standing for key, standing in board.overall.items()}
    assert standings["org/gold"].score == pytest.approx(1.0)
    # all wrong: (0 - chance) / (1 - chance) is -1/3 with four options, -1 with two, 0 without
    assert standings["org/near"].score == pytest.approx((-1 / 3 - 1 / 3 - 1 - 1 / 3 + 2 * 0) / 6)
    assert [standing.rank for standing in standings.values()] == [1, 2]
    profiles = {profile["submission"].metadata.name: profile for profile in trap_profiles(board)}
    assert profiles["org/gold"]["n_wrong"] == 0
    assert math.isnan(profiles["org/gold"]["shares"]["near"])
    assert profiles["org/gold"]["unreadable"] == 0
    of_near = profiles["org/near"]
    n_open = sum(score.n for task in OPEN_TASKS for score in of_near["submission"].of_task(task))
    n_all = sum(score.n for score in of_near["submission"].subsets)
    n_usage = sum(score.n for score in of_near["submission"].of_task("usage"))
    assert of_near["n_wrong"] == n_all - n_open - n_usage  # usage has no typed traps
    assert of_near["unreadable"] == pytest.approx(n_open / n_all)
    assert sum(of_near["shares"].values()) == pytest.approx(1)
    assert of_near["shares"]["near"] > 0.6  # where an item has no near trap, any other
    missed = {item["task"]: item for item in missed_items(board, data.lexicon)}
    # These data have none; hard items of `recall` they have, and the mean over six kinds above does not count these
    absent = {"situation", "situation_open", "situation_open_hard", "meaning_rivals", "equivalent_rivals"}
    assert set(missed) == set(ITEM_TASKS) - absent
    assert (missed["meaning"]["n_missed"], missed["meaning"]["n_models"]) == (2, 3)
    assert (missed["usage"]["n_missed"], missed["usage"]["n_models"]) == (1, 2)
    assert missed["cloze_open"]["chosen"] == ""  # nothing that could be read
    entry = data.lexicon.of(missed["recall"]["language"])[missed["recall"]["concept"]]
    assert (missed["recall"]["text"], missed["recall"]["right"]) == (entry.meaning, entry.idiom)


def test_the_site_has_a_page_of_language_models_only_with_such_submissions(
    data, metadata, gold_content, shared_site, tmp_path
):
    place = tmp_path / "submissions"
    hostile = make_submission(
        place, metadata("org/near"), submission_files(metadata("org/near"), answers_of(data, near))
    )
    right = make_submission(place, metadata("org/gold"), gold_content)
    Spoiler(hostile).row(1, "cloze_open.jsonl.gz", answer="<script>alert(1)</script>")
    build = ["leaderboard", "build", str(place), "--out", str(tmp_path / "site"), "--data", data.path]
    assert main(build) == 0
    page = (tmp_path / "site" / "language-models.html").read_text("utf-8")
    assert f'href="models/{right.name}.html"' in page
    assert "<script>alert" not in page
    for name in ("index.html", "how-to-read.html"):
        assert 'href="language-models.html"' in (tmp_path / "site" / name).read_text("utf-8")
    overview = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert f'href="models/{right.name}.html"' not in overview  # ranks do not mix
    model = (tmp_path / "site" / "models" / f"{hostile.name}.html").read_text("utf-8")
    assert "prompt en1, generation" in model
    mistakes = (tmp_path / "site" / "concepts" / f"of-{hostile.name}.js").read_text("utf-8")
    assert "\\u003cscript>alert(1)" in mistakes
    figures = json.loads((tmp_path / "site" / "language-models.json").read_text("utf-8"))
    assert [row["overall"]["rank"] for row in figures["models"]] == [1, 2]
    assert not (shared_site.folder / "language-models.html").exists()
    assert 'href="language-models.html"' not in (shared_site.folder / "index.html").read_text("utf-8")


def test_people_stand_above_the_models_without_a_rank(data, metadata, gold_content, item_lexicon, tmp_path, capsys):
    place, site = tmp_path / "submissions", tmp_path / "site"
    make_submission(place, metadata("org/gold"), gold_content)
    turkish, uzbek = ("meaning", "tr"), ("meaning", "uz")
    save_person(place / "people", 1, data, {turkish: 4, uzbek: 2})
    save_person(place / "people", 2, data, {turkish: 2})
    older = save_person(place / "people", 3, data, {turkish: 4})
    older.write_text(older.read_text("utf-8").replace(data.revision, "0" * 40), "utf-8")
    (place / "people" / "notes.txt").write_text("no answers")
    assert main(["leaderboard", "check", str(place), "--data", str(item_lexicon)]) == 1
    printed = capsys.readouterr().out
    assert "answers-00000001.json: ok" in printed
    assert re.search("answers-00000003.json: .*revision .0000", printed)
    assert main(["leaderboard", "build", str(place), "--out", str(site), "--data", str(item_lexicon)]) == 0
    printed = capsys.readouterr().out
    assert "left out: 2" in printed
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
    assert [first["name"], first["type"], first["rank"], first["meaning uz"]] == [
        "People (n = 2)",
        "people",
        "",
        "0.500000",
    ]
    assert [second["name"], second["rank"]] == ["org/gold", "1"]

    def row_of(page):
        body = re.search('<tbody class="people">(.*?)</tbody>', (site / page).read_text("utf-8"), re.DOTALL)[1]
        return re.sub("<[^>]*>", " ", body)

    # Corrected for guessing: (.5 - .25) / .75, and over both languages the mean of that and (.75 - .25) / .75
    assert re.search(r"People \(n = 1\).* \.333 .*4 items, best \.333", row_of("uz-language-models.html"))
    n_sets = len(item_subsets(data, "meaning"))
    assert re.search(rf"People \(n = 2\).* \.500 .*8 items, 2 of {n_sets} sets", row_of("language-models.html"))
