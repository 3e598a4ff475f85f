"""The recomputed scores against hand arithmetic, trec_eval, seqeval and what the suite itself says."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import pytrec_eval
from seqeval.metrics import f1_score, precision_score, recall_score

from leaderboard.gold import Pool, Sentences
from leaderboard.records import RETRIEVAL_TASKS, TASKS
from leaderboard.rescore import load_records, rescore, score_ranks, score_tags
from leaderboard.submission import load_submission
from leaderboard.submit import SubmitOptions, submit
from tests.leaderboard.conftest import make_submission, read_lines
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.retrieval.relevance import RetrievalData, concept_of
from turkic_idiom_tasks.span_detection.sentences import TaggedSentence
from turkic_idiom_tasks.spans import LABELS

O, B, I = LABELS  # noqa: E741
GRAMS = "turkic-idiom/char-ngrams"


def pool_of(qrels, n_documents=4):
    documents = {f"azj:d{n}": "text" for n in range(n_documents)}
    data = RetrievalData(dict.fromkeys(qrels, "text"), documents, {q: dict.fromkeys(d, 1) for q, d in qrels.items()})
    return Pool("T1", "tur-azj", data)


def test_scores_by_hand():
    """Queries stand in another order in the data; d1 is second for a, and ties with another at ranks 1 and 2 for b."""
    pool = pool_of({"tur:b": ["azj:d1"], "tur:a": ["azj:d1"]})
    found = score_ranks(pool, np.array([[2, 1, 0, 3], [0, 0, 1, 2]], dtype=np.int32))
    second = 1 / math.log2(3)
    assert found.items == ("tur:a", "tur:b")
    assert found.clusters == ("a", "b")
    assert found.values[:, 0] == pytest.approx([second, (1 + second) / 2])
    assert found.main == found.scores["ndcg"] == pytest.approx((second + (1 + second) / 2) / 2)
    assert found.scores["mrr"] == pytest.approx((1 / 2 + (1 + 1 / 2) / 2) / 2)
    assert found.scores["recall_at_1"] == pytest.approx((0 + 1 / 2) / 2)
    floor = sum(1 / math.log2(1 + rank) for rank in range(1, 5)) / 4  # any of the four ranks
    assert found.scores["ndcg_floor"] == pytest.approx(floor)
    assert found.scores["ndcg_corrected"] == pytest.approx((found.main - floor) / (1 - floor))
    assert (found.task, found.subset, found.language, found.n, found.cut) == ("T1", "tur-azj", "az", 2, None)
    # two concepts: a resample has a twice, b twice or one of each, with 1/4, 1/4 and 1/2
    assert (found.low, found.high) == (pytest.approx(second), pytest.approx((1 + second) / 2))


def test_what_a_ranking_leaves_out_ties_at_the_end():
    pool = pool_of({"tur:a": ["azj:d3"], "tur:b": ["azj:d0"]})
    found = score_ranks(pool, np.array([[0, 4, 4, 4], [0, 1, 2, 4]], dtype=np.int32))
    ranks = [1 / math.log2(1 + rank) for rank in (2, 3, 4)]  # d3 is one of three that were not ranked
    assert found.values[:, 0] == pytest.approx([sum(ranks) / 3, 1])
    assert found.cut == 1


def test_spans_by_hand():
    rows = [
        TaggedSentence("b", "tr", "göz yummak", "x x x", ("x", "x", "x"), (B, I, O)),
        TaggedSentence("c", "tr", "göz yummak", "x x", ("x", "x"), (B, O)),
        TaggedSentence("a", "tr", "kulak asmak", "x x x", ("x", "x", "x"), (O, B, I)),
    ]
    found = score_tags(Sentences("tr", rows), ("BBI", "BIO", "OO"))  # of a, b, c
    assert found.items == ("a", "b", "c")
    assert found.clusters == ("a", "b", "b")  # the sentences of one idiom
    assert found.values.tolist() == [[1, 2, 1], [1, 1, 1], [0, 0, 1]]
    assert found.scores == pytest.approx({
        "span_precision": 2 / 3, "span_recall": 2 / 3, "span_f1": 2 / 3,
        "token_f1": 2 * 4 / (5 + 5), "token_accuracy": 6 / 8,
    })  # fmt: skip
    assert (found.task, found.subset, found.language, found.n, found.cut) == ("spans", "tr", "tr", 3, None)
    # idiom a alone: 2 * 1 / (2 + 1); the other alone: 2 * 1 / (1 + 2): every resample gives two thirds
    assert (found.low, found.high) == (pytest.approx(2 / 3), pytest.approx(2 / 3))


def test_nothing_marked_is_an_undefined_precision_not_zero():
    row = TaggedSentence("a", "tr", "x", "x x", ("x", "x"), (O, O))
    found = score_tags(Sentences("tr", [row]), ("OO",))
    assert [math.isnan(found.scores[f"span_{name}"]) for name in ("f1", "precision", "recall")] == [True] * 3
    assert math.isnan(found.low)
    assert found.scores["token_accuracy"] == 1


def test_rankings_without_ties_score_as_in_trec_eval(submission_folder, submission_gold):
    record = rescore(load_submission(submission_folder, submission_gold), submission_gold)
    measures = {"ndcg": "ndcg", "ndcg_cut.10": "ndcg_at_10", "recip_rank": "mrr", "recall.5": "recall_at_5"}
    for task in RETRIEVAL_TASKS:
        rows = read_lines(submission_folder / f"{task}.jsonl.gz")
        heads = [n for n, row in enumerate(rows) if "subset" in row]
        assert [one.subset for one in record.of_task(task)] == [rows[n]["subset"] for n in heads]
        for one, start, end in zip(record.of_task(task), heads, [*heads[1:], len(rows)], strict=True):
            pool, documents = submission_gold.pools[task][one.subset], rows[start]["documents"]
            plain = [row for row in rows[start + 1 : end] if all(isinstance(place, int) for place in row["ranking"])]
            assert len(plain) == one.n - 1
            run = {row["query"]: {documents[p]: -float(n) for n, p in enumerate(row["ranking"])} for row in plain}
            theirs = pytrec_eval.RelevanceEvaluator(
                {query: dict(pool.qrels[query]) for query in run}, set(measures)
            ).evaluate(run)  # fmt: skip
            values = dict(zip(one.items, one.values[:, 0], strict=True))
            for query, scores in theirs.items():
                assert values[query] == pytest.approx(scores["ndcg"], abs=1e-9)
            assert [concept_of(query) for query in one.items] == list(one.clusters)
            assert list(one.items) == sorted(pool.queries)


def test_tags_score_as_in_seqeval(submission_folder, submission_gold):
    record = rescore(load_submission(submission_folder, submission_gold), submission_gold)
    assert [one.subset for one in record.of_task("spans")] == ["tr", "az", "uz"]
    names = {"O": O, "B": B, "I": I}
    rows = {(row.get("language"), n): row for n, row in enumerate(read_lines(submission_folder / "spans.jsonl.gz"))}
    language = None
    tags = {}
    for (head, _), row in rows.items():
        language = head or language
        if not head:
            tags.setdefault(language, {})[row["sentence"]] = [names[letter] for letter in row["tags"]]
    for one in record.of_task("spans"):
        gold = [list(row.tags) for row in submission_gold.sentences[one.language].rows]
        found = [tags[one.language][key] for key in one.items]
        assert 0 < one.main < 1
        assert one.scores["span_f1"] == pytest.approx(f1_score(gold, found))
        assert one.scores["span_precision"] == pytest.approx(precision_score(gold, found))
        assert one.scores["span_recall"] == pytest.approx(recall_score(gold, found))


@pytest.mark.slow
def test_the_suites_own_numbers(submission_run, tmp_path, submission_gold_of):
    """The built-in baseline on the bundled lexicon: every score of the result files, every interval that is printed."""
    rows = json.loads((submission_run / "printed.json").read_text())
    printed = {(row["task"][-2:], row["subset"]): row for row in rows}
    options = SubmitOptions(tmp_path / "out", contact="@me", training_data="nothing: it has no weights")
    gold = submission_gold_of("")
    ((folder, record),) = submit([submission_run], options, gold=gold)
    assert [record.id] == [one.id for one in load_records(tmp_path / "out", gold)]
    assert (record.metadata.name, record.metadata.type, record.metadata.n_parameters) == (GRAMS, "baseline", 0)
    assert sum(path.stat().st_size for path in folder.iterdir()) < 2e6
    assert len(record.subsets) == 4
    for one in record.subsets:
        (path,) = submission_run.rglob(f"TurkicIdiom{one.task}.json")
        rows = {row["hf_subset"]: row for row in json.loads(path.read_text())["scores"]["test"]}
        for name, value in one.scores.items():
            assert value == pytest.approx(rows[one.subset][name], abs=1e-9), (one.task, one.subset, name)
        row = printed[one.task, one.subset]
        assert (one.low, one.high) == pytest.approx((row["ndcg_low"], row["ndcg_high"]), abs=1e-12)
        assert one.n == row["n_queries"]
        assert one.cut is None


def test_records_come_by_name_and_the_first_fault_ends_it(tmp_path, submission_gold, submission_metadata,
                                                          submission_content):  # fmt: skip
    place = tmp_path / "all"
    for name in ("Org/Second", "Org/First"):
        make_submission(place, replace(submission_metadata, name=name), submission_content)
    records = list(load_records(place, submission_gold))
    assert [record.metadata.name for record in records] == ["Org/First", "Org/Second"]
    assert [list(dict.fromkeys(one.task for one in record.subsets)) for record in records] == [list(TASKS)] * 2
    assert [one.scores for one in records[0].subsets] == [one.scores for one in records[1].subsets]
    (place / records[1].id / "T1.jsonl.gz").write_bytes(b"")
    with pytest.raises(InputError, match=r"T1.jsonl.gz: a gzip file that is cut short"):
        list(load_records(place, submission_gold))
