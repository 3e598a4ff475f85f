"""What an encoder predicts for retrieval and similarity: every task and pooling from the same forward passes."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.retrieval import TASKS
from turkic_idiom_tasks.dataset.similarity import SIMILARITY_TASKS
from turkic_idiom_tasks.encoders import char_ngrams
from turkic_idiom_tasks.encoders.community import pinned_revision
from turkic_idiom_tasks.encoders.names import BATCH_SIZE, FIRST_LAYER
from turkic_idiom_tasks.encoders.pooled import PooledEncoder, TextVectors
from turkic_idiom_tasks.encoders.poolings import native_pooling
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.harnesses.mteb_loading import DOCUMENT, QUERY, SENTENCE, LoadedModel, resolve_model
from turkic_idiom_tasks.harnesses.quiet import quiet_libraries
from turkic_idiom_tasks.results.predictions import Prediction, Rankings, Similarities, SubsetKey
from turkic_idiom_tasks.results.record import DataName, Record, Throughput, build_record
from turkic_idiom_tasks.results.scored import score_all

Prompts = Mapping[str, Mapping[str, str]]  # task -> role -> prompt before the texts; what is missing has none
Progress = Callable[[str, int, int], None]  # takes what is being done, such as ``T2, texts``; how much, and of how much


@dataclass(frozen=True, slots=True, eq=False)
class EncoderResult:
    """Prediction of a model under one pooling for one subset."""

    key: SubsetKey
    pooling: str | None  # None if mteb evaluated the model
    prediction: Prediction
    seconds: float  # that it took, less the time of the caller since the result before
    throughput: Throughput | None = None  # of the encoder so far
    mteb_row: Mapping[str, Any] = field(default_factory=dict)  # scores that mteb computed


def score_encoder(
    loaded: LoadedModel,
    datasets: Mapping[str, Dataset],
    keys: Sequence[SubsetKey],
    poolings: Sequence[str | None],
    *,
    batch_size: int = BATCH_SIZE,
    first_layer: int = FIRST_LAYER,
    progress: Progress = lambda *step: None,
) -> Iterator[EncoderResult]:
    """Yield the prediction of a model for every subset under every pooling as soon as it is there.

    The datasets are by the short names of tasks. The poolings are from `LoadedModel.chosen_pooling`; None stands for
    mteb's own evaluation.
    """
    ours = [pooling for pooling in poolings if pooling is not None]
    # the clock stands still while the caller scores and writes a result: it starts again after each `yield`
    start = time.perf_counter()
    if ours:
        encoder = PooledEncoder(loaded.encoder, model_id=str(loaded.meta.name), first_layer=first_layer)
        # of all tasks: T1 and T3 ask the same queries, and all of them retrieve idioms or meanings of the same concepts
        vectors = TextVectors(encoder, ours, batch_size=batch_size)
        prompts = {task: loaded.prompts(task) for task, _ in keys}
        for key, by_pooling in predict(vectors, datasets, keys, prompts=prompts, progress=progress):
            throughput = Throughput.of(encoder)
            seconds = (time.perf_counter() - start) / len(by_pooling)
            for pooling, prediction in by_pooling.items():
                yield EncoderResult(key, pooling, prediction, seconds, throughput)
            start = time.perf_counter()
    if len(ours) < len(poolings):  # None is among them
        for task in dict.fromkeys(task for task, _ in keys):
            of_task = [key for key in keys if key[0] == task]
            for number, key in enumerate(of_task):
                progress(task, number, len(of_task))
                start = time.perf_counter()
                prediction, row = loaded.evaluate_subset(datasets[task], key, batch_size=batch_size)
                yield EncoderResult(key, None, prediction, time.perf_counter() - start, mteb_row=row)


def score_untuned(
    model: str,
    dataset: Dataset,
    keys: Sequence[SubsetKey],
    choices: Sequence[str],
    *,
    prompts: Callable[[LoadedModel], Any],
    trust_remote_code: bool,
) -> dict[str, Record]:
    """Return choice of a pooling -> record of all subsets by an untuned model of a grid, of any kind."""
    start = time.perf_counter()
    loaded = resolve_model(model, revision=pinned_revision(model), trust_remote_code=trust_remote_code)
    pooling_of = {choice: loaded.chosen_pooling(choice) for choice in choices}
    predictions: dict[str | None, dict[SubsetKey, Prediction]] = {pooling: {} for pooling in pooling_of.values()}
    throughputs: dict[str | None, Throughput | None] = {}
    datasets = {task: dataset for task, _ in keys}
    for result in score_encoder(loaded, datasets, keys, list(predictions)):
        predictions[result.pooling][result.key] = result.prediction
        throughputs[result.pooling] = result.throughput
    # the poolings share one pass, and each record states its share of the time
    seconds = (time.perf_counter() - start) / len(choices)
    records = {}
    for choice, pooling in pooling_of.items():
        records[choice] = build_record(
            model,
            predictions[pooling],
            score_all(predictions[pooling]),
            data=DataName.of(dataset),
            revision=loaded.revision,
            n_parameters=loaded.n_parameters,
            settings={
                "pooling": choice,
                "dtype": "float32" if loaded.is_sentence_transformer else None,
                # Models with an encode method of their own have no prompts, or others than mteb states.
                "prompts": prompts(loaded) if loaded.has_stock_prompts else None,
            },
            seconds=seconds,
            throughput=throughputs[pooling],
        )
    return records


def predict(
    vectors: TextVectors,
    datasets: Mapping[str, Dataset],
    keys: Sequence[SubsetKey],
    *,
    prompts: Prompts,
    progress: Progress = lambda *step: None,
) -> Iterator[tuple[SubsetKey, dict[str, Prediction]]]:
    """Yield (task, subset) and pooling -> prediction by cosine similarity, retrieval first."""
    # Task by task, so that a finished one can be kept before the texts of the next are encoded; those that it shares
    # with an earlier one are not encoded again
    for task in TASKS:
        subsets = [subset for short, subset in keys if short == task]
        by_role = prompts.get(task, {})
        texts: dict[str, tuple[list[str], list[str]]] = {}  # subset -> those of queries and documents, as in the pool
        for subset in subsets:
            pool, data = datasets[task].pool(task, subset), datasets[task].retrieval(task, subset)
            queries = [by_role.get(QUERY, "") + data.queries[query] for query in pool.queries]
            documents = [by_role.get(DOCUMENT, "") + data.documents[document] for document in pool.documents]
            texts[subset] = (queries, documents)
        # all subsets in one call, so that batches hold texts of similar length
        every_text = [text for queries, documents in texts.values() for text in (*queries, *documents)]
        vectors.add(every_text, progress=partial(progress, f"{task}, texts"))
        for number, (subset, (queries, documents)) in enumerate(texts.items(), start=1):
            pool = datasets[task].pool(task, subset)
            rankings: dict[str, Prediction] = {}
            for pooling in vectors.poolings:
                similarities = vectors.of(pooling, queries) @ vectors.of(pooling, documents).T
                rankings[pooling] = Rankings.from_similarities(pool, similarities)
            progress(task, number, len(subsets))
            yield (task, subset), rankings
    for task, subset in keys:
        if task in SIMILARITY_TASKS:
            pairs = datasets[task].pairs(task, subset)
            prompt = prompts.get(task, {}).get(SENTENCE, "")
            vectors.add([prompt + text for text in pairs.texts], progress=partial(progress, f"{task}, texts"))
            first = [prompt + row.sentence1 for row in pairs.rows]
            second = [prompt + row.sentence2 for row in pairs.rows]
            similarities_by_pooling: dict[str, Prediction] = {}
            for pooling in vectors.poolings:
                # in float64 and clipped: sums of float32 products exceed 1 by rounding
                products = vectors.of(pooling, first).astype(np.float64) * vectors.of(pooling, second)
                similarities_by_pooling[pooling] = Similarities(task, pairs, np.clip(products.sum(axis=1), -1.0, 1.0))
            yield (task, subset), similarities_by_pooling


def encode_glosses(
    model: str, texts: Sequence[Mapping[str, str]], *, prefix: str, progress: Callable[[int, int], None]
) -> npt.NDArray[np.float32]:
    """Return one vector for each gloss, (N, D) float32 of length 1, from one pass over the distinct texts.

    The model is a transformer: an mteb or Hugging Face name, or a local folder; `` (pooling=mean)`` may follow. The
    texts of a gloss, by language code, are read in a row after the prefix, such as ``query: `` for E5. The progress is
    the number of distinct texts that are done, and of all.
    """
    with quiet_libraries():
        loaded = resolve_model(model)
    if loaded.encoder is None:
        raise usage_error(f"{model}: no transformer; alignment takes transformers and {char_ngrams.NAME}")
    pooling = loaded.pooling or native_pooling(loaded.encoder)
    if pooling is None:
        raise usage_error(f"{model}: its own pooling is none of the five; choose one: '{model} (pooling=mean)'")
    encoder = PooledEncoder(loaded.encoder, model_id=model)
    joined = [prefix + "; ".join(gloss.values()) for gloss in texts]
    return encoder.encode(joined, poolings=[pooling], progress=progress)[pooling]
