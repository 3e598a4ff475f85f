"""The scores computed from a submission's files against trec_eval, seqeval and `turkic-idiom run`'s own resampler."""

import pytest
import pytrec_eval
from seqeval.metrics import f1_score, precision_score, recall_score

from leaderboard.board import RETRIEVAL_TASKS
from tests.leaderboard.conftest import read_lines, scored
from turkic_idiom_tasks.spans import LABELS


def test_rankings_without_ties_score_as_in_trec_eval(submission_folder, submission_dataset):
    submission = scored(submission_folder, submission_dataset)
    for task in RETRIEVAL_TASKS:
        rows = read_lines(submission_folder / f"{task}.jsonl.gz")
        heads = [n for n, row in enumerate(rows) if "subset" in row]
        assert [score.subset for score in submission.of_task(task)] == [rows[n]["subset"] for n in heads]
        for score, start, end in zip(submission.of_task(task), heads, [*heads[1:], len(rows)], strict=True):
            documents = rows[start]["documents"]
            plain = [row for row in rows[start + 1 : end] if all(isinstance(place, int) for place in row["ranking"])]
            assert len(plain) == score.n - 1
            run = {row["query"]: {documents[p]: -float(n) for n, p in enumerate(row["ranking"])} for row in plain}
            qrels = submission_dataset.retrieval(task, score.subset).qrels
            evaluator = pytrec_eval.RelevanceEvaluator({query: dict(qrels[query]) for query in run}, {"ndcg"})
            theirs = evaluator.evaluate(run)
            values = dict(zip(score.items, score.sums[:, 0], strict=True))
            for query, scores in theirs.items():
                assert values[query] == pytest.approx(scores["ndcg"], abs=1e-9)
            assert [query.partition(":")[2] for query in score.items] == list(score.concepts)
            assert list(score.items) == sorted(qrels)


def test_tags_score_as_in_seqeval(submission_folder, submission_dataset):
    submission = scored(submission_folder, submission_dataset)
    assert [score.subset for score in submission.of_task("spans")] == ["tr", "az", "uz"]
    labels, tags, language = dict(zip("OBI", LABELS, strict=True)), {}, None
    for row in read_lines(submission_folder / "spans.jsonl.gz"):
        language = row.get("subset", language)
        if "tags" in row:
            tags[language, row["sentence"]] = [labels[letter] for letter in row["tags"]]
    for score in submission.of_task("spans"):
        gold = [list(row.tags) for row in submission_dataset.test_sentences(score.language).rows]
        predicted = [tags[score.language, key] for key in score.items]
        assert 0 < score.main < 1
        assert score.scores["span_f1"] == pytest.approx(f1_score(gold, predicted))
        assert score.scores["span_precision"] == pytest.approx(precision_score(gold, predicted))
        assert score.scores["span_recall"] == pytest.approx(recall_score(gold, predicted))
