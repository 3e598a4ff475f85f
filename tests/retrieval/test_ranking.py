"""One pass over the texts: nothing is encoded twice."""

from turkic_idiom_tasks.encoders.checkpoints import load_checkpoint
from turkic_idiom_tasks.encoders.pooled import PooledEncoder, TextVectors
from turkic_idiom_tasks.runs.engine import predict, score_untuned

SUBSETS = [("T1", "tur-azj"), ("T1", "tur-uzn"), ("T2", "azj"), ("T3", "tur-azj")]


def distinct_texts(dataset, subsets):
    texts = set()
    for task, subset in subsets:
        data = dataset.retrieval(task, subset)
        texts |= {*data.queries.values(), *data.documents.values()}
    return texts


def test_a_task_is_ranked_before_the_next_is_encoded_and_nothing_twice(untrained_bert, small_dataset):
    encoder = PooledEncoder(load_checkpoint(str(untrained_bert), device="cpu"))
    datasets = dict.fromkeys(("T1", "T2", "T3"), small_dataset)
    seen = []

    def progress(step, n_done, n_all):
        seen.append((step, n_done, n_all))

    ranked = predict(TextVectors(encoder, ["mean"]), datasets, SUBSETS, prompts={}, progress=progress)
    key, rankings = next(ranked)
    assert key == ("T1", "tur-azj")
    assert list(rankings) == ["mean"]
    assert encoder.n_texts_forwarded == len(distinct_texts(small_dataset, SUBSETS[:2]))
    assert [key for key, _ in ranked] == SUBSETS[1:]
    assert [row for row in seen if "texts" not in row[0]] == [("T1", 1, 2), ("T1", 2, 2), ("T2", 1, 1), ("T3", 1, 1)]
    assert encoder.n_texts_forwarded == len(distinct_texts(small_dataset, SUBSETS))
    assert {row[0] for row in seen if "texts" in row[0]} == {"T1, texts", "T2, texts"}  # T3 has no text that is new


def test_an_untuned_model_is_encoded_once_for_its_own_pooling_and_the_others(minilm, small_dataset):
    records = score_untuned(
        str(minilm), small_dataset, SUBSETS, ["native", "mean", "max"], prompts=lambda loaded: loaded.prompts("T1"),
        trust_remote_code=False,
    )  # fmt: skip
    assert [record.header.settings["pooling"] for record in records.values()] == ["native", "mean", "max"]
    n_texts = len(distinct_texts(small_dataset, SUBSETS))
    assert {record.header.throughput.n_texts for record in records.values()} == {n_texts}
    native, mean, largest = (record.header.subsets for record in records.values())
    assert native == mean  # the pooling of MiniLM
    assert native != largest
