"""A small lexicon, and the commands run in this process, which costs no start of an interpreter."""

import csv
import io
import logging
import sys
from subprocess import CompletedProcess

import pytest

from tests.dataset.conftest import CONCEPTS, WORDS, WORDS_AZ, entries, write_small_lexicon
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.harnesses.mteb_models import register_models
from turkic_idiom_tasks.lexicon.entries import Concept
from turkic_idiom_tasks.lexicon.load import write_lexicon

ENDINGS = {"tr": "tutmak", "az": "tutmaq", "tk": "tutmak", "gag": "tutmaa", "uz": "tutmoq"}


def rows_of(run):
    """The rows of the CSV that a command has printed."""
    assert run.returncode == 0, run.stderr
    return list(csv.DictReader(io.StringIO(run.stdout)))


@pytest.fixture(scope="session")
def small_lexicon(tmp_path_factory):
    return write_small_lexicon(tmp_path_factory.mktemp("small") / "lexicon")


@pytest.fixture(scope="session")
def other_lexicon(tmp_path_factory):
    """Folder of the same concepts in Turkish and Azerbaijani with other words."""
    folder = tmp_path_factory.mktemp("other") / "lexicon"
    write_lexicon(
        folder,
        [Concept(concept, "gloss") for concept in CONCEPTS],
        {"tr": entries(WORDS, "vermek", "demek"), "az": entries(WORDS_AZ, "vermək", "demək")},
    )
    return folder


@pytest.fixture(scope="session")
def five_languages(tmp_path_factory):
    """Folder of eighteen concepts in all five languages, six of them test concepts."""
    folder = tmp_path_factory.mktemp("five") / "lexicon"
    words = [f"{first}{second}" for first in ("bal", "dam", "kol") for second in ("e", "a", "i", "u", "o", "er")]
    languages = {code: entries(words, ending, f"anlam {code}") for code, ending in ENDINGS.items()}
    write_lexicon(folder, [Concept(concept, "gloss") for concept in CONCEPTS], languages)
    return folder


@pytest.fixture(scope="session")
def small_dataset(small_lexicon):
    return open_dataset(str(small_lexicon))


@pytest.fixture
def turkic(tmp_path, monkeypatch, capsys, caplog):
    """Runs ``turkic-idiom`` in this process, in an empty folder; logged lines count as stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        caplog.clear()
        capsys.readouterr()
        with caplog.at_level(logging.WARNING):
            code = main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        logged = "".join(f"{record.getMessage()}\n" for record in caplog.records)
        return CompletedProcess(arguments, code, printed.out, printed.err + logged)

    return run


@pytest.fixture
def stock_mteb(tmp_path, monkeypatch):
    """Runs mteb's own command in this process; what it raises is raised."""
    from mteb.cli import main as mteb_main

    monkeypatch.chdir(tmp_path)

    def run(*arguments, data):
        monkeypatch.setenv("TURKIC_IDIOM_DATA", str(data))
        monkeypatch.setattr(sys, "argv", ["mteb", *map(str, arguments)])
        mteb_main()

    return run


@pytest.fixture
def register_local(monkeypatch):
    """Registers what TURKIC_IDIOM_MODELS says with mteb, for one test."""
    from mteb.models.model_implementations import MODEL_REGISTRY

    before = dict(MODEL_REGISTRY)

    def register(value):
        monkeypatch.setenv("TURKIC_IDIOM_MODELS", value)
        register_models(MODEL_REGISTRY)

    yield register
    MODEL_REGISTRY.clear()
    MODEL_REGISTRY.update(before)
