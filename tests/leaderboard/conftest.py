"""A small lexicon, what a leaderboard knows of it, and sound submissions to be spoilt."""

import gzip
import json
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest

from leaderboard.gold import read_gold
from leaderboard.predictions import pack_ranks, pack_tags
from leaderboard.records import Metadata
from leaderboard.submission import METADATA_FILE, PREDICTION_FILES, metadata_json, slug
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import write_lexicon
from turkic_idiom_tasks.lexicon.sources import DATA_VARIABLE
from turkic_idiom_tasks.spans import Span
from turkic_idiom_tasks.splits import retrieval_split, span_split

CODES = ("tr", "az", "uz")
_KNOWN = ("dil", "el", "kalp", "su", "ev", "yol", "gece")  # to the untrained models, and letters of every alphabet
WORDS = [f"{one} {other}" for one, other in permutations(_KNOWN, 2)][:20]


def _concepts():
    """Eight concepts that are test concepts everywhere, six of retrieval alone, six of neither."""
    kinds = {("test", "test"): 8, ("test", "train"): 6, ("train", "train"): 6}
    return [
        name
        for kind, n in kinds.items()
        for name in [f"c{k}" for k in range(3000) if (retrieval_split(f"c{k}"), span_split(f"c{k}")) == kind][:n]
    ]


def _entry(concept, word, code):
    ending = {"tr": "tutmak", "az": "tutmaq", "uz": "tutmoq"}[code]
    words = word.split() if code == "tr" else word.split()[::-1]  # or every model would find everything
    found = f"{' '.join(words)} {ending}"
    text = f"Ali {found} dedi."
    return Entry(concept, found, f"anlam {word} {code}", text, (Span(4, 4 + len(found)),))


@pytest.fixture(scope="session")
def submission_lexicon(tmp_path_factory):
    """Twenty concepts in Turkish and Azerbaijani, sixteen of them in Uzbek; fourteen queries, eight test sentences."""
    concepts = _concepts()
    pairs = list(zip(concepts, WORDS, strict=True))
    kept = {"uz": pairs[2:-2]}
    entries = {code: [_entry(concept, word, code) for concept, word in kept.get(code, pairs)] for code in CODES}
    folder = tmp_path_factory.mktemp("submissions") / "lexicon"
    write_lexicon(folder, [Concept(concept, "") for concept in concepts], entries)
    return folder


@pytest.fixture(scope="session")
def submission_gold_of():
    """A function: what a leaderboard knows of a data set."""

    def gold_of(data):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(DATA_VARIABLE, str(data))
            return read_gold()

    return gold_of


@pytest.fixture(scope="session")
def submission_gold(submission_gold_of, submission_lexicon):
    return submission_gold_of(submission_lexicon)


@pytest.fixture
def submission_run(command, tmp_path_factory):
    """What `turkic-idiom run` writes and prints for the built-in baseline on T1 of the bundled lexicon."""
    folder = tmp_path_factory.getbasetemp() / "submission_run"
    if not (folder / "printed.json").is_file():
        arguments = ("-m", "turkic-idiom/char-ngrams", "-t", "T1", "-o", folder, "--format", "json")
        run = command("turkic-idiom", "run", *arguments)
        assert run.returncode == 0, run.stderr
        (folder / "printed.json").write_text(run.stdout)
    return folder


@pytest.fixture(scope="session")
def submission_metadata(submission_gold):
    return Metadata(
        name="Org/Model", revision="a" * 40, n_parameters=118_000_000, type="encoder", regime="pretrained",
        training_data="Wikipedia; no idiom of the benchmark", pooling="mean", few_shot=None,
        dataset="turkic-idiom-tasks/lexicon", dataset_revision=submission_gold.revision,
        versions={"mteb": "2.26.24", "torch": "2.13.0+cpu"}, contact="Jane Doe <jane@example.org>",
    )  # fmt: skip


def read_lines(path):
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]


def write_lines(path, rows):
    """Packs rows, or lines as they are."""
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    path.write_bytes(gzip.compress(b"".join(line + b"\n" for line in lines)))


@pytest.fixture(scope="session")
def submission_content(submission_gold):
    """File name -> content of sound predictions: shuffled rankings, some with ties, and tags that are often right."""
    generator = np.random.default_rng(5)
    files = {}
    for task, pools in submission_gold.pools.items():
        rankings = {}
        for subset, pool in pools.items():
            orders = {query: generator.permutation(len(pool.documents)).tolist() for query in pool.queries}
            orders[pool.queries[0]] = [orders[pool.queries[0]][0], sorted(orders[pool.queries[0]][1:])]
            rankings[subset] = orders
        files[PREDICTION_FILES[task]] = pack_ranks(rankings, pools)
    tags = {
        code: {
            row.id: "".join(tag[0] for tag in row.tags) if number % 3 else "O" * len(row.tags)
            for number, row in enumerate(sentences.rows)
        }
        for code, sentences in submission_gold.sentences.items()
    }
    return files | {PREDICTION_FILES["spans"]: pack_tags(tags)}


@pytest.fixture
def submission_folder(tmp_path, submission_metadata, submission_content):
    """A sound submission of its own for one test."""
    return make_submission(tmp_path / "submissions", submission_metadata, submission_content)


def make_submission(place, metadata, content):
    folder = place / slug(metadata)
    folder.mkdir(parents=True)
    (folder / METADATA_FILE).write_text(metadata_json(metadata), "utf-8")
    for name, data in content.items():
        (folder / name).write_bytes(data)
    return folder


class Spoiler(SimpleNamespace):
    """A submission's folder and ways to change what is in it."""

    def fields(self, **changes):
        path = self.folder / METADATA_FILE
        value = json.loads(path.read_text("utf-8")) | changes
        path.write_text(json.dumps({key: field for key, field in value.items() if field is not ...}), "utf-8")

    def text(self, content):
        (self.folder / METADATA_FILE).write_bytes(content)

    def swap(self, old, new):
        """Replaces a part of the text of ``submission.json``."""
        path = self.folder / METADATA_FILE
        before = path.read_bytes()
        assert old in before
        path.write_bytes(before.replace(old, new, 1))

    def rows(self, change, name="T1.jsonl.gz"):
        rows = read_lines(self.folder / name)
        write_lines(self.folder / name, change(rows))

    def row(self, number, name="T1.jsonl.gz", **changes):
        self.rows(lambda rows: [*rows[:number], rows[number] | changes, *rows[number + 1 :]], name)

    def ranking(self, change, number=2):
        self.rows(
            lambda rows: [
                row | {"ranking": change(row["ranking"])} if n == number else row for n, row in enumerate(rows)
            ]
        )

    def raw(self, line, number=2, name="T1.jsonl.gz"):
        self.rows(lambda rows: [*rows[:number], line, *rows[number + 1 :]], name)

    def file(self, name, content=b""):
        (self.folder / name).write_bytes(content)


@pytest.fixture
def submission_spoiler(submission_folder):
    return Spoiler(folder=submission_folder)
