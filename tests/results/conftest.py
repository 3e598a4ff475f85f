"""A small dataset with retrieval subsets and test sentences, and predictions of it."""

import numpy as np
import pytest

from tests.dataset.conftest import TEST, TRAIN, WORDS, WORDS_AZ, concepts_of, example
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import write_lexicon
from turkic_idiom_tasks.results.predictions import SPANS, Rankings, Tags
from turkic_idiom_tasks.results.record import DataName, build_record
from turkic_idiom_tasks.results.scored import score_all


@pytest.fixture(scope="session")
def dataset(tmp_path_factory):
    """Four queries over nine Azerbaijani documents, two of which are relevant for one query; three test sentences."""
    concepts = [*TEST[:4], *TRAIN[:5]]
    turkish = [
        Entry(concept, f"{word} tutmak", f"anlamı {word}") for concept, word in zip(concepts, WORDS, strict=False)
    ]
    turkish[4] = Entry(concepts[4], turkish[0].idiom, "öbür anlamı")  # one idiom, two concepts
    azerbaijani = [
        Entry(concept, f"{word} tutmaq", f"mənası {word}") for concept, word in zip(concepts, WORDS_AZ, strict=False)
    ]
    spans = concepts_of("test", 3, prefix="s")
    for number, concept in enumerate(spans):
        turkish.append(example(concept, f"{WORDS[10 + number]} vermek", "Ali ", f"{WORDS[10 + number]} verdi", "."))
    folder = tmp_path_factory.mktemp("results") / "lexicon"
    names = [Concept(concept, "gloss") for concept in [*concepts, *spans]]
    write_lexicon(folder, names, {"tr": turkish, "az": azerbaijani})
    return open_dataset(str(folder))


@pytest.fixture(scope="session")
def other_dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results") / "other"
    rows = [Entry(concept, f"{word} salmaq", "mənası") for concept, word in zip(TEST, WORDS_AZ, strict=False)]
    write_lexicon(folder, [Concept(concept, "gloss") for concept in TEST], {"az": rows})
    return open_dataset(str(folder))


@pytest.fixture(scope="session")
def predictions(dataset):
    """Rankings with ties of one subset, and tags."""
    generator = np.random.default_rng(0)
    pool = dataset.pool("T1", "tur-azj")
    similarities = generator.random((len(pool.queries), len(pool.documents))).round(1)
    sentences = dataset.test_sentences("tr")
    letters = tuple("OBI"[: len(row.tokens)].ljust(len(row.tokens), "O") for row in sentences.rows)
    return {
        ("T1", "tur-azj"): Rankings.from_similarities(pool, similarities),
        (SPANS, "tr"): Tags(sentences, letters),
    }


class OnePool:
    """A dataset of one subset."""

    def __init__(self, pool):
        self._pool = pool

    def subsets(self, task):
        return (self._pool.subset,) if task == self._pool.task else ()

    def pool(self, task, subset):
        return self._pool


def header_of(predictions, dataset, *, scores=None, **changes):
    """Return a header that states the scores of predictions, or others."""
    record = build_record(
        "me/model",
        predictions,
        scores or score_all(predictions),
        data=DataName(path=dataset.path, revision=dataset.revision),
        revision=None,
        n_parameters=3,
        settings={"pooling": "mean", "prompts": {"query": "", "document": "p: "}},
        seconds=1.5,
    )
    return record.header.model_copy(update={"versions": {"torch": "2.13.0"}} | changes)
