"""Models that several tests of fine-tuning share."""

import pytest

from tests.retrieval.conftest import register_local  # noqa: F401
from tests.runs.grid_data import small_lexicon
from tests.training.toy_task import sentences
from turkic_idiom_tasks.training.config import SpanConfig
from turkic_idiom_tasks.training.span import fine_tune, load_untuned


@pytest.fixture(scope="session")
def grid_data(tmp_path_factory):
    """Folder of a lexicon with 60 concepts in Turkish, Azerbaijani and Uzbek."""
    return small_lexicon(tmp_path_factory.mktemp("grid") / "lexicon")


@pytest.fixture(scope="session")
def span_config():
    """Settings with which the tiny BERT learns to tag."""
    return SpanConfig(epochs=12, learning_rate=5e-3)


@pytest.fixture(scope="session")
def tuned_classifier(untrained_bert, span_config):
    """The tiny BERT as a classifier that has learnt to tag, and the outcome of its training."""
    classifier = load_untuned(str(untrained_bert), seed=1)
    return classifier, fine_tune(classifier, sentences(30), sentences(40)[30:], config=span_config, seed=1)
