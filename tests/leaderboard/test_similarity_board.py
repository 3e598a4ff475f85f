"""Similarity of sentence pairs on the leaderboard: submitted, scored, ranked in a tab of its own, shown."""

import json
import re
from datetime import date

import numpy as np
import pytest

from leaderboard.board import make_board
from leaderboard.data import board_data
from leaderboard.site import write_site
from leaderboard.submission import submission_files
from leaderboard.tables import tabs_of
from tests.leaderboard.conftest import make_submission, scored
from turkic_idiom_tasks.dataset.similarity import CORRECT, GENERAL
from turkic_idiom_tasks.metrics.similarity import resampled_spearman, spearman, target_similarities
from turkic_idiom_tasks.results.predictions import Similarities

KEY = ("STS", "tur")


@pytest.fixture(scope="module")
def values(pair_dataset):
    """Similarities of a model that knows idioms, and of one that sees only which sentences share words."""
    by_model = {"org/knows": [], "org/sees": []}
    for number, row in enumerate(pair_dataset.pairs(*KEY).rows):
        of_kind = {CORRECT: (0.9, 0.5), GENERAL: (0.1, 0.1)}.get(row.kind, (0.4, 0.7))
        for of_model, value in zip(by_model.values(), of_kind, strict=True):
            of_model.append(value + 0.001 * number)
    return {name: np.array(of_model) for name, of_model in by_model.items()}


@pytest.fixture(scope="module")
def submissions(values, pair_dataset, submission_metadata, tmp_path_factory):
    submissions = []
    for name, of_model in values.items():
        metadata = submission_metadata.model_copy(update={"name": name, "dataset_revision": pair_dataset.revision})
        content = submission_files(metadata, {KEY: Similarities("STS", pair_dataset.pairs(*KEY), of_model)})
        folder = make_submission(tmp_path_factory.mktemp("similarity"), metadata, content)
        submissions.append(scored(folder, pair_dataset))
    return submissions


@pytest.fixture(scope="module")
def board(submissions, pair_dataset):
    return make_board(submissions, board_data(pair_dataset, submitted={"STS"}))


def test_scores_and_intervals_are_those_of_the_pairs(board, submissions, values, pair_dataset):
    pairs = pair_dataset.pairs(*KEY)
    for submission in submissions:
        of_model = values[submission.metadata.name]
        (score,) = submission.subsets
        targets = target_similarities(pairs, of_model)
        assert score.main == spearman(targets[pairs.is_scored], of_model[pairs.is_scored])
        assert board.main_scores[submission.id][KEY].interval == resampled_spearman(pairs, of_model).interval()
    alone = make_board(submissions[:1], board.data).by_task["STS"]  # its score does not depend on the other
    (name,) = alone
    assert alone[name].interval == board.by_task["STS"][name].interval


def test_there_is_a_tab_with_ranks_and_the_pages_show_it(board, submissions, tmp_path):
    (standings,) = [tab.standings for tab in tabs_of(board) if tab.tasks == ("STS",)]
    assert [board.by_id[name].metadata.name for name in standings] == ["org/knows", "org/sees"]
    assert not board.overall
    write_site(board, tmp_path / "site", built=date(2026, 11, 30))
    page = (tmp_path / "site" / "sts.html").read_text()
    assert "Similarity of sentences with idioms" in page
    model = (tmp_path / "site" / "models" / f"{submissions[1].id}.html").read_text()
    assert "Items that it misses" not in model  # no pair has a share in a correlation
    for text in ("nDCG", "floor"):  # what is said of retrieval is not true here
        assert text not in page.partition("<main")[2].partition("</main>")[0]
    # org/sees prefers the literal words: its headline is below 0 and stands left of the middle of an axis from -1 to 1
    place = re.search(r"org/sees.*?--p:(\.\d+)", page, re.DOTALL)[1]
    assert float(place) < 0.5
    assert ".board td:nth-child(4){--f:.500}" in page
    figures = json.loads((tmp_path / "site" / "leaderboard.json").read_text())
    assert {row["task"] for row in figures["data"]["subsets"]} >= {"STS"}
    records = [json.loads(path.read_text()) for path in (tmp_path / "site" / "every_eval_ever").rglob("*.json")]
    results = {record["model_info"]["name"]: record["evaluation_results"][0] for record in records}
    for submission in submissions:
        result = results[submission.metadata.name]
        assert result["score_details"]["score"] == pytest.approx(submission.subsets[0].main, abs=1e-6)
        assert result["metric_config"]["min_score"] == -1.0
