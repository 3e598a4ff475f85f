"""A small lexicon, predictions of it in every form that can be submitted, sound submissions to be spoilt."""

import gzip
import json
from datetime import date
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest

from leaderboard.board import make_board, score_submission
from leaderboard.data import board_data, item_board_data
from leaderboard.site import write_site
from leaderboard.submission import METADATA_FILE, LeftOut, Metadata, Submission, read_submission, slug, submission_files
from tests.browser_pages import watched_pages
from tests.dataset.conftest import concepts_of
from tests.hub_datasets.conftest import _session_hub, hub, session_online  # noqa: F401
from tests.leaderboard.boards_for_tests import (
    answers_of,
    gold,
    make_data,
    make_metadata,
    make_submissions,
    near,
    random_tags,
    save_person,
)
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.dataset.retrieval import PAPER_TASKS, TASKS
from turkic_idiom_tasks.dataset.similarity import STS
from turkic_idiom_tasks.lexicon.editions import EDITIONS
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import write_lexicon
from turkic_idiom_tasks.results.item_answers import GENERATION, ItemAnswers, find_items
from turkic_idiom_tasks.results.people import read_person, score_people
from turkic_idiom_tasks.results.predictions import SPANS, Rankings, Similarities
from turkic_idiom_tasks.spans import Span
from turkic_idiom_tasks.splits import retrieval_split, span_split
from turkic_idiom_tasks.tasks.items.item_types import MEANING
from turkic_idiom_tasks.tasks.items.open_tasks import CLOZE_OPEN

CODES = ("tr", "az", "uz")
_KNOWN = ("dil", "el", "kalp", "su", "ev", "yol", "gece")  # to the untrained models, and letters of every alphabet
WORDS = [f"{one} {other}" for one, other in permutations(_KNOWN, 2)][:20]


def _entry(concept, word, code):
    ending = {"tr": "tutmak", "az": "tutmaq", "uz": "tutmoq"}[code]
    words = word.split() if code == "tr" else word.split()[::-1]  # or every model would find everything
    idiom = f"{' '.join(words)} {ending}"
    text = f"Ali {idiom} dedi."
    return Entry(concept, idiom, f"anlam {word} {code}", text, (Span(4, 4 + len(idiom)),))


@pytest.fixture(scope="session")
def submission_lexicon(tmp_path_factory):
    """Twenty concepts in Turkish and Azerbaijani, sixteen of them in Uzbek; fourteen queries, eight test sentences."""
    concepts = []
    for kind, n in (((True, True), 8), ((True, False), 6), ((False, False), 6)):  # test concepts of retrieval, of spans
        concepts += concepts_of(kind, n, of=lambda one: (retrieval_split(one) == "test", span_split(one) == "test"))
    pairs = list(zip(concepts, WORDS, strict=True))
    kept = {"uz": pairs[2:-2]}
    entries = {code: [_entry(concept, word, code) for concept, word in kept.get(code, pairs)] for code in CODES}
    folder = tmp_path_factory.mktemp("submissions") / "lexicon"
    write_lexicon(folder, [Concept(concept, "") for concept in concepts], entries)
    return folder


@pytest.fixture(scope="session")
def submission_dataset(submission_lexicon):
    return open_dataset(str(submission_lexicon))


@pytest.fixture(scope="session")
def submission_predictions(submission_dataset):
    """(task, subset) -> sound predictions: random rankings, the first of each with a tie, and tags."""
    generator = np.random.default_rng(5)
    predictions = {}
    for task in TASKS:
        for subset in submission_dataset.subsets(task):
            pool = submission_dataset.pool(task, subset)
            similarities = generator.random((len(pool.queries), len(pool.documents)))
            similarities[0] = similarities[0] == similarities[0].max()  # one document first, the others tie
            predictions[task, subset] = Rankings.from_similarities(pool, similarities)
    for language in submission_dataset.span_languages:
        predictions[SPANS, language] = random_tags(submission_dataset, language, 5)
    return predictions


@pytest.fixture(scope="session")
def submission_metadata(submission_dataset):
    about = {"name": "Org/Model", "n_parameters": 118_000_000, "contact": "Jane Doe <jane@example.org>"}
    data = {"dataset": "turkic-idiom-tasks/lexicon", "dataset_revision": submission_dataset.revision}
    return Metadata.model_validate(make_metadata(**about, **data).model_dump())


@pytest.fixture(scope="session")
def submission_content(submission_metadata, submission_predictions):
    """File name -> content of a sound submission."""
    return submission_files(submission_metadata, submission_predictions)


@pytest.fixture(scope="session")
def answers_dataset(item_lexicon):
    """Data with sentence pairs and items of language models, which `submission_dataset` does not have."""
    return open_dataset(str(item_lexicon))


@pytest.fixture(scope="session")
def answers_metadata(submission_metadata, answers_dataset):
    return submission_metadata.model_copy(update={"dataset_revision": answers_dataset.revision})


@pytest.fixture(scope="session")
def sound_submissions(submission_metadata, submission_content, submission_dataset, answers_metadata, answers_dataset):
    """Kind -> metadata, content and data of a sound submission: of an encoder, and of answers to pairs and items.

    Every third answer could not be read.
    """
    pairs = answers_dataset.pairs(STS, "tur")
    similarities = np.linspace(-1, 1, len(pairs.rows))
    predictions = {(STS, "tur"): Similarities(STS, pairs, similarities)}
    for task, answer in ((MEANING, 0), (CLOZE_OPEN, "göz yummak")):
        items = find_items(answers_dataset, task, "tr")
        answers = tuple(answer if number % 3 else None for number in range(len(items.rows)))
        predictions[task, "tr"] = ItemAnswers(items, answers, "en1", GENERATION)
    return {
        "encoder": (submission_metadata, submission_content, submission_dataset),
        "answers": (answers_metadata, submission_files(answers_metadata, predictions), answers_dataset),
    }


@pytest.fixture
def submission_folder(tmp_path, submission_metadata, submission_content):
    """A sound submission of its own for one test."""
    return make_submission(tmp_path / "submissions", submission_metadata, submission_content)


@pytest.fixture
def add_submission(submission_folder, submission_metadata, submission_content):
    """A function that adds a submission with other metadata and the same predictions, and returns its folder."""

    def run(**changes):
        metadata = submission_metadata.model_copy(update=changes)
        return make_submission(submission_folder.parent, metadata, submission_content)

    return run


def make_submission(place, metadata, content):
    """A submission's folder, with this metadata and the predictions of `content`."""
    folder = place / slug(metadata)
    folder.mkdir(parents=True)
    for name, data in (content | submission_files(metadata, {})).items():
        (folder / name).write_bytes(data)
    return folder


def loaded(folder, dataset):
    """The submission in a folder, which has no fault."""
    submission = read_submission(folder, dataset)
    assert isinstance(submission, Submission), submission.faults
    return submission


def scored(folder, dataset):
    return score_submission(loaded(folder, dataset))


def faults_of(folder, dataset):
    submission = read_submission(folder, dataset)
    return submission.faults if isinstance(submission, LeftOut) else []


def read_lines(path):
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]


def write_lines(path, rows):
    """Packs rows, or lines as they are."""
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    path.write_bytes(gzip.compress(b"".join(line + b"\n" for line in lines)))


class Spoiler:
    """A submission's folder and ways to change what is in it."""

    def __init__(self, folder):
        self.folder = folder

    def fields(self, **changes):
        value = json.loads((self.folder / METADATA_FILE).read_bytes()) | changes
        kept = {key: field for key, field in value.items() if field is not ...}
        self.file(METADATA_FILE, json.dumps(kept).encode())

    def swap(self, old, new):
        """Replaces a part of the text of ``submission.json``."""
        before = (self.folder / METADATA_FILE).read_bytes()
        assert old in before
        self.file(METADATA_FILE, before.replace(old, new, 1))

    def rows(self, change, name="T1.jsonl.gz"):
        write_lines(self.folder / name, change(read_lines(self.folder / name)))

    def row(self, number, name="T1.jsonl.gz", **changes):
        self.rows(lambda rows: [*rows[:number], rows[number] | changes, *rows[number + 1 :]], name)

    def ranking(self, change):
        self.row(2, ranking=change(read_lines(self.folder / "T1.jsonl.gz")[2]["ranking"]))

    def raw(self, line):
        self.rows(lambda rows: [*rows[:2], line, *rows[3:]])

    def file(self, name, content=b""):
        (self.folder / name).write_bytes(content)


@pytest.fixture(scope="session")
def shared_site(tmp_path_factory):
    """A site of every kind of submission: its board and its folder, which tests only read."""
    data = make_data(40, few={"gag": 12}, text="{language} {concept} <b onclick=1>")
    first_edition = next(iter(EDITIONS))
    older = {"older": make_metadata(name=f"org/{'older-' * 12}", dataset_revision=first_edition)}
    board = make_board(make_submissions(data), data, reproduced=("model-1",), other_editions=older)
    folder = tmp_path_factory.mktemp("site")
    write_site(board, folder, repository="https://github.com/org/idioms", built=date(2026, 11, 30))
    return SimpleNamespace(board=board, folder=folder)


@pytest.fixture
def open_file(browser):
    """Opens a page by its path; at the end no script may have failed and no request may have left the files."""
    with watched_pages(browser, "file://") as open_one:
        yield open_one


@pytest.fixture
def open_page(open_file, shared_site):
    """Opens a page of the site."""
    return lambda name, **options: open_file(f"{shared_site.folder}/{name}", **options)


@pytest.fixture(scope="session")
def both_site(answers_dataset, answers_metadata, tmp_path_factory):
    """A site of encoders and of language models: the boards and the folder.

    org/even is right on each second query, and on the others sets document 0 first; org/first always does. org/gold is
    right, org/uzbek is right where Uzbek is asked for and falls into near traps elsewhere, and org/near always does.
    One person is right in three of four items on the meaning of Uzbek idioms.
    """
    dataset, submissions = answers_dataset, []
    for name in ("org/even", "org/first"):
        predictions = {}
        for task in PAPER_TASKS:
            for subset in dataset.subsets(task):
                pool = dataset.pool(task, subset)
                similarities = np.tile(-np.arange(len(pool.documents), dtype=float), (len(pool.queries), 1))
                for row in range(0, len(pool.queries) if name == "org/even" else 0, 2):
                    similarities[row, list(pool.relevant[row])] = 1
                predictions[task, subset] = Rankings.from_similarities(pool, similarities)
        about = answers_metadata.model_copy(update={"name": name})
        submissions.append(score_submission(Submission(name.replace("/", "-"), about, predictions)))
    choices = {
        "org/gold": gold,
        "org/uzbek": lambda item, is_open: (gold if item.target == "uz" else near)(item, is_open),
        "org/near": near,
    }
    models = []
    for name, choose in choices.items():
        about = answers_metadata.model_copy(update={"name": name, "type": "llm", "pooling": None, "n_parameters": None})
        models.append(score_submission(Submission(name.replace("/", "-"), about, answers_of(dataset, choose))))
    folder = tmp_path_factory.mktemp("both")
    person = read_person(save_person(tmp_path_factory.mktemp("people"), 1, dataset, {(MEANING, "uz"): 3}), dataset)
    people = score_people([person])
    boards = (make_board(submissions, board_data(dataset)), make_board(models, item_board_data(dataset), people=people))
    write_site(boards[0], folder, models=boards[1], built=date(2026, 11, 30))
    return SimpleNamespace(board=boards[0], models=boards[1], folder=folder)


@pytest.fixture
def open_both(open_file, both_site):
    """Opens a page of the site with language models."""
    return lambda name, **options: open_file(f"{both_site.folder}/{name}", **options)
