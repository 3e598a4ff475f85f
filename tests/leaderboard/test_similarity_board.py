"""Similarity of sentence pairs on the leaderboard: submitted, scored, ranked in a tab of its own, shown."""

import json
from datetime import date

import numpy as np
import pytest

from leaderboard.board import make_board
from leaderboard.items import board_data
from leaderboard.scores import extra_tasks, score_submission
from leaderboard.site import build_site
from leaderboard.submission import Metadata, load_submission
from leaderboard.submit_page import About
from leaderboard.tabs import tabs_of
from tests.leaderboard.conftest import make_submission, submission_files
from turkic_idiom_tasks.dataset.similarity import CORRECT, GENERAL
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.metrics.similarity import resampled_spearman, spearman, target_similarities
from turkic_idiom_tasks.results.predictions import Similarities

KEY = ("STS", "tur")


def metadata_of(dataset, name):
    return Metadata(
        name=name, revision="a" * 40, n_parameters=10, type="encoder", regime="pretrained", training_data="none",
        pooling="mean", few_shot=None, dataset=dataset.path, dataset_revision=dataset.revision, versions={},
        contact="me",
    )  # fmt: skip


def values_of(pairs, *, knows):
    """Similarities of a model that knows idioms, or of one that sees only which sentences share words."""
    values = []
    for number, row in enumerate(pairs.rows):
        of_kind = {CORRECT: 0.9 if knows else 0.5, GENERAL: 0.1}.get(row.kind, 0.4 if knows else 0.7)
        values.append(of_kind + 0.001 * number)
    return np.array(values)


@pytest.fixture(scope="module")
def submissions(pair_dataset, tmp_path_factory):
    """Two submissions, packed, written and read again."""
    place = tmp_path_factory.mktemp("similarity")
    pairs = pair_dataset.pairs(*KEY)
    scored = []
    for name, knows in (("org/knows", True), ("org/sees", False)):
        metadata = metadata_of(pair_dataset, name)
        content = submission_files(metadata, {KEY: Similarities("STS", pairs, values_of(pairs, knows=knows))})
        scored.append(score_submission(load_submission(make_submission(place, metadata, content), pair_dataset)))
    return scored


@pytest.fixture(scope="module")
def board(submissions, pair_dataset):
    return make_board(submissions, board_data(pair_dataset, extra=extra_tasks(submissions)))


def test_scores_and_intervals_are_those_of_the_pairs(board, submissions, pair_dataset):
    pairs = pair_dataset.pairs(*KEY)
    for submission, knows in zip(submissions, (True, False), strict=True):
        values = values_of(pairs, knows=knows)
        (score,) = submission.subsets
        scored = pairs.is_scored
        assert score.main == spearman(target_similarities(pairs, values)[scored], values[scored])
        assert board.intervals[submission.id][KEY] == resampled_spearman(pairs, values).interval()


def test_there_is_a_tab_and_no_rank_over_all_tasks(board, submissions):
    by_name = {tab.name: tab for tab in tabs_of(board)}
    assert by_name["similarity"].tasks == ("STS",)
    assert [board.by_id[name].metadata.name for name in by_name["similarity"].standings] == ["org/knows", "org/sees"]
    assert not board.overall


def test_the_score_of_one_does_not_depend_on_the_other(submissions, board, pair_dataset):
    alone = make_board(submissions[:1], board_data(pair_dataset, extra=["STS"]))
    name = submissions[0].id
    assert alone.by_task["STS"][name].interval == board.by_task["STS"][name].interval


def test_the_pages_show_it(board, submissions, tmp_path):
    build_site(board, tmp_path / "site", about=About(built=date(2026, 11, 30)))
    page = (tmp_path / "site" / "sts.html").read_text()
    assert "Similarity of sentences with idioms" in page
    model = (tmp_path / "site" / "models" / f"{submissions[1].id}.html").read_text()
    assert "literal rewording 0.7" in model  # its worst pairs: the literal rewording is nearer than the paraphrase
    figures = json.loads((tmp_path / "site" / "leaderboard.json").read_text())
    assert {row["task"] for row in figures["data"]["subsets"]} >= {"STS"}
    records = [json.loads(path.read_text()) for path in (tmp_path / "site" / "every_eval_ever").rglob("*.json")]
    results = {record["model_info"]["name"]: record["evaluation_results"][0] for record in records}
    for submission in submissions:
        result = results[submission.metadata.name]
        assert result["score_details"]["score"] == pytest.approx(submission.subsets[0].main, abs=1e-6)
        assert result["metric_config"]["min_score"] == -1.0


def test_a_similarity_out_of_range_is_a_fault(pair_dataset, tmp_path):
    metadata = metadata_of(pair_dataset, "org/wrong")
    pairs = pair_dataset.pairs(*KEY)
    content = submission_files(metadata, {KEY: Similarities("STS", pairs, np.full(len(pairs.rows), 3.0))})
    with pytest.raises(InputError, match=r"STS.jsonl.gz:2: .*from -1 to 1, not 3.0"):
        load_submission(make_submission(tmp_path, metadata, content), pair_dataset)
