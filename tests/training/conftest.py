"""What several tests of fine-tuning share."""

import pytest

from tests.retrieval.conftest import register_local  # noqa: F401
from tests.runs.grid_data import small_lexicon


@pytest.fixture(scope="session")
def grid_data(tmp_path_factory):
    """Folder of a lexicon with 60 concepts in Turkish, Azerbaijani and Uzbek."""
    return small_lexicon(tmp_path_factory.mktemp("grid") / "lexicon")
