"""An encoder that is a class in a file of the user's."""

import json
import re

import pytest

from turkic_idiom_tasks.cli import main
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
def run(tmp_path, small_lexicon, monkeypatch):
    """Run T2 in Turkish with a class whose `encode` returns something, and return its exit code."""
    monkeypatch.chdir(tmp_path)

    def run(returned, name="mine.py:Mine"):
        (tmp_path / "mine.py").write_text(CLASS.replace("{returned}", returned))
        return main(
            ["run", "-m", name, "-t", "T2", "-l", "tr", "--data", str(small_lexicon), "--format", "json", "--overwrite"]
        )

    return run


@pytest.mark.parametrize("returned", ["vectors", "vectors.astype(np.float64)"])
def test_it_has_the_scores_of_the_same_vectors_in_the_built_in_baseline(run, small_lexicon, capsys, returned):
    assert run(returned) == 0
    (mine, _) = json.loads(capsys.readouterr().out)
    assert main(["run", "-m", NAME, "-t", "T2", "-l", "tr", "--data", str(small_lexicon), "--format", "json"]) == 0
    (baseline, _) = json.loads(capsys.readouterr().out)
    assert mine.pop("model") == "local/Mine"
    assert baseline.pop("model") == NAME
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
def test_what_it_does_wrong_is_named(run, capsys, returned, name, said):
    assert run(returned, name) in (1, 2)
    error = capsys.readouterr().err
    assert re.search(said, error)
    assert "Traceback" not in error
