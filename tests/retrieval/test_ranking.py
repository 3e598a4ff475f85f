"""One pass over the texts: nothing is encoded twice, and what mteb evaluates itself has the same scores."""

import pytest

from turkic_idiom_tasks.encoders.checkpoints import load_checkpoint
from turkic_idiom_tasks.encoders.pooled import PooledEncoder, TextVectors
from turkic_idiom_tasks.encoders.poolings import POOLINGS
from turkic_idiom_tasks.harnesses.mteb_loading import resolve_model
from turkic_idiom_tasks.results.scored import score_subset
from turkic_idiom_tasks.runs.engine import predict, score_encoder, score_untuned

SUBSETS = [("T1", "tur-azj"), ("T1", "tur-uzn"), ("T2", "azj"), ("T3", "tur-azj")]


@pytest.fixture
def encoder(untrained_bert):
    return PooledEncoder(load_checkpoint(str(untrained_bert), device="cpu"))


def rank(encoder, dataset, subsets=SUBSETS, *, poolings=POOLINGS, prompts=None, batch_size=32, **options):
    """Yields (task, subset) and pooling -> rankings."""
    vectors = TextVectors(encoder, poolings, batch_size=batch_size)
    return predict(vectors, dict.fromkeys(("T1", "T2", "T3"), dataset), subsets, prompts=prompts or {}, **options)


def distinct_texts(dataset, subsets, prompts):
    texts = set()
    for task, subset in subsets:
        data = dataset.retrieval(task, subset)
        texts |= {prompts.get(task, {}).get("query", "") + text for text in data.queries.values()}
        texts |= {prompts.get(task, {}).get("document", "") + text for text in data.documents.values()}
    return texts


@pytest.mark.parametrize("prompts", [{}, {"T3": {"query": "su "}}])
def test_nothing_is_encoded_twice(encoder, small_dataset, prompts):
    list(rank(encoder, small_dataset, prompts=prompts, batch_size=7))
    assert encoder.n_texts_forwarded == len(distinct_texts(small_dataset, SUBSETS, prompts))


def test_a_task_is_ranked_before_the_next_is_encoded(encoder, small_dataset):
    seen = []

    def progress(task, n_done, n_all, unit):
        seen.append((task, n_done, n_all, unit))

    ranked = rank(encoder, small_dataset, poolings=["mean"], progress=progress)
    key, rankings = next(ranked)
    assert key == ("T1", "tur-azj")
    assert list(rankings) == ["mean"]
    assert encoder.n_texts_forwarded == len(distinct_texts(small_dataset, SUBSETS[:2], {}))
    assert [key for key, _ in ranked] == SUBSETS[1:]
    assert [row[:3] for row in seen if row[3] == "subsets"] == [("T1", 1, 2), ("T1", 2, 2), ("T2", 1, 1), ("T3", 1, 1)]
    assert {row[0] for row in seen if row[3] == "texts"} == {"T1", "T2"}  # T3 has no text that is new


def test_an_untuned_model_is_encoded_once_for_its_own_pooling_and_the_others(minilm, small_dataset):
    records = score_untuned(
        str(minilm), small_dataset, SUBSETS, ["native", "mean", "max"], prompts=lambda loaded: loaded.prompts("T1"),
        trust_remote_code=False,
    )  # fmt: skip
    assert [record.header.settings["pooling"] for record in records.values()] == ["native", "mean", "max"]
    n_texts = len(distinct_texts(small_dataset, SUBSETS, {}))
    assert {record.header.throughput.n_texts for record in records.values()} == {n_texts}
    native, mean, largest = (record.header.subsets for record in records.values())
    assert native == mean  # the pooling of MiniLM
    assert native != largest


def test_what_mteb_evaluates_has_the_scores_of_the_one_pass(minilm, small_dataset):
    loaded = resolve_model(str(minilm), device="cpu")
    scores = {}
    for result in score_encoder(loaded, {"T1": small_dataset}, SUBSETS[:1], ["mean", None]):
        scores[result.pooling] = score_subset(result.prediction).scores
        assert (result.throughput is None, "map_at_10" in result.mteb_row) == ((result.pooling is None,) * 2)
    assert scores[None] == pytest.approx(scores["mean"], abs=1e-6)
