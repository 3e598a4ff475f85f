"""JSON that is written for others holds no NaN: every file of run, grid, submit and the site, and of stock mteb."""

import gzip
import json

import yaml

BASELINE, CONSTANT = "turkic-idiom/char-ngrams", "constant.py:Constant"
MODEL = """
import numpy as np
from mteb.models.abs_encoder import AbsEncoder

class Constant(AbsEncoder):
    def __init__(self):
        pass

    def encode(self, inputs, **options):
        return np.ones((len(inputs.dataset), 2), dtype=np.float32)
"""


def refuse(constant):
    raise AssertionError(f"{constant} is no JSON")


def strict(text):
    return json.loads(text, parse_constant=refuse)


def values_of(folder):
    """Each JSON value in the files of a folder, by file."""
    values = {}
    for path in sorted(folder.rglob("*")):
        content = path.read_bytes() if path.is_file() else b""
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8", "replace")
        if path.suffix == ".json":
            values[path] = [strict(text)]
        elif ".jsonl" in path.suffixes:
            values[path] = [strict(line) for line in text.splitlines()]
    return values


def test_no_file_holds_what_strict_parsers_refuse(turkic, stock_mteb, tmp_path, pair_lexicon):
    """A constant encoder, whose correlation is undefined, on data with one language and without general pairs."""
    (tmp_path / "constant.py").write_text(MODEL)
    data = ("--data", pair_lexicon)
    tasks = ("-t", "T2", "-t", "T4", "-t", "STS")
    run = turkic("run", "-m", BASELINE, "-m", CONSTANT, *tasks, "--format", "json", *data)
    assert run.returncode == 0, run.stderr
    undefined = [row for row in strict(run.stdout) if row["task"] == "TurkicIdiomSTS" and row["spearman"] is None]
    assert {row["model"] for row in undefined} == {"local/Constant"}
    places = [f"results/results/{name}" for name in ("turkic-idiom__char-ngrams", "local__Constant")]
    strict(turkic("compare", *places, "--format", "json", *data).stdout)
    about = ("--contact", "me", "--training-data", "none", "--regime", "other", "--type", "encoder")
    assert turkic("submit", "results", "--out", "sent", *about, *data).returncode == 0
    built = turkic("leaderboard", "build", "sent", "--out", "site", *data)
    assert built.returncode == 0, built.stderr
    (tmp_path / "g.yaml").write_text(
        yaml.safe_dump({"retrieval": {"models": [BASELINE], "regimes": ["pretrained"], "poolings": ["native"]}})
    )
    grid = turkic("grid", "run", "g.yaml", *data)
    assert grid.returncode == 0, grid.stderr
    assert turkic("grid", "tables", "g.yaml").returncode == 0
    for task in ("TurkicIdiomSTS", "TurkicIdiomT4"):
        stock_mteb("run", "-m", BASELINE, "-t", task, "--output-folder", "stock", data=pair_lexicon)
    values = values_of(tmp_path)
    folders = {path.relative_to(tmp_path).parts[0] for path in values}
    assert folders >= {"results", "sent", "site", "g", "stock"}
    for folder in ("results", "stock"):
        (of_sts,) = [
            value for path, (value, *_) in values.items()
            if path.match(f"{tmp_path}/{folder}/*/*char-ngrams/*/TurkicIdiomSTS.json")
        ]  # fmt: skip
        (row,) = of_sts["scores"]["test"]
        assert row["spearman_general"] is None
        assert row["undefined"].startswith("spearman_general: ")
