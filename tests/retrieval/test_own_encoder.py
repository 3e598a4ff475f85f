"""An encoder that is a class in a file of the user's."""

import json
import re

import pytest

from turkic_idiom_tasks.encoders.char_ngrams import NAME

CLASS = """
import numpy as np
from mteb.models.abs_encoder import AbsEncoder
from turkic_idiom_tasks.encoders.char_ngrams import encode_texts
from turkic_idiom_tasks.languages import LANGUAGES


class Mine(AbsEncoder):
    def __init__(self):
        pass

    def encode(self, inputs, **options):
        texts = [text for batch in inputs for text in batch["text"]]
        vectors = encode_texts(texts, LANGUAGES["tr"])
        return {returned}
"""


@pytest.fixture
def run(turkic, tmp_path, small_lexicon):
    """Run T2 in Turkish with a model, beside a file with a class whose `encode` returns something."""

    def run(name, returned):
        (tmp_path / "mine.py").write_text(CLASS.replace("{returned}", returned))
        return turkic("run", "-m", name, "-t", "T2", "-l", "tr", "--data", small_lexicon, "--format", "json")

    return run


@pytest.mark.parametrize("returned", ["vectors", "vectors.astype(np.float64)"])
def test_it_has_the_scores_of_the_same_vectors_in_the_built_in_baseline(run, returned):
    (mine, _), (baseline, _) = (json.loads(run(name, returned).stdout) for name in ("mine.py:Mine", NAME))
    assert (mine.pop("model"), baseline.pop("model")) == ("local/Mine", NAME)
    assert mine == pytest.approx(baseline)


@pytest.mark.parametrize(
    ("returned", "name", "said"),
    [
        ("vectors[:-1]", "mine.py:Mine", r"mine.py:Mine: encode returns an array of shape \(\d+, 4096\) for \d+ texts"),
        ("vectors * np.nan", "mine.py:Mine", r"the vector of text 1 of \d+ is not finite"),
        ("vectors", "mine.py:Other", "mine.py:Other.*Other"),
        ("vectors", "yours.py:Mine", "yours.py.*No such file"),
    ],
)
def test_what_it_does_wrong_is_named(run, returned, name, said):
    result = run(name, returned)
    assert result.returncode in (1, 2)
    assert re.search(said, result.stderr)
    assert "Traceback" not in result.stderr
