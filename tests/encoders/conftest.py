import shutil
from pathlib import Path

import pytest


@pytest.fixture
def own_copy(untrained_bert, tmp_path):
    """A copy of the untrained model that a test may change."""
    return Path(shutil.copytree(untrained_bert, tmp_path / "copy"))
