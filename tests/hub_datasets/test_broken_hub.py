"""A Hub whose answers are cut, of another size, of another revision, a page or a circle: one line, and then the data.

What the client keeps in its cache is never half a file, or that of another revision.
"""

import shutil
from pathlib import Path

import pytest

from tests.hub_datasets.test_publish import REPO, error, write
from tests.hub_server import Odd, Repository

PAGE = b"<!DOCTYPE html><html><body>Log in to the network</body></html>"
FILE = "data/T2-tur-corpus/test.parquet"


@pytest.fixture
def revisions(online_dataset, hub, tmp_path):
    """Commit -> content of `FILE`, of two commits in which it has the same size."""
    repository = hub.repositories["dataset", REPO] = Repository(REPO)
    for number, meaning in enumerate(("göz ardı etmek", "göz ardı etmez")):
        folder = write(tmp_path / f"lexicon-{number}", ("tr", "az"), meaning=meaning)
        online_dataset("export", folder, "--out", tmp_path / f"export-{number}")
        repository.commit(tmp_path / f"export-{number}")
    return {commit: files[FILE] for commit, files in repository.commits.items()}


@pytest.mark.long
def test_a_broken_answer_is_one_line_and_the_same_command_then_has_the_data(online, hub, revisions, session_online):
    (commit, content), (other, other_content) = revisions.items()
    assert len(content) == len(other_content)
    corpus, address = "resolve/.*T2-tur-corpus", f"/datasets/{REPO}/resolve/{commit}/{FILE}"
    cache = Path(session_online["HF_HOME"])
    reading = ("list", "--data", f"{REPO}@{commit}")

    def contents_kept():
        return {path.read_bytes() for path in cache.rglob(f"snapshots/{commit}/{FILE}")}

    for name, methods, path, answer, words in (
        ("cut once, after which the client goes on", [], "", Odd(content[:100], length=len(content)), ""),
        ("page for a file", ["GET"], corpus, Odd(PAGE), "should be of size"),
        ("page for the interface", ["GET"], "api/datasets", Odd(PAGE), "does not answer as the Hub does"),
        ("circle", ["GET", "HEAD"], corpus, Odd(status=302, headers={"Location": address}), "broke (TooManyRedirects)"),
        ("other content", ["GET"], corpus, Odd(other_content), "came with another content"),
        ("other revision", ["GET", "HEAD"], corpus, Odd(other_content, headers={"X-Repo-Commit": other}), "no file"),
    ):
        shutil.rmtree(cache, ignore_errors=True)
        for method in methods:
            hub.order(method, path, answer, times=99)
        if methods:
            message = error(online(*reading, code=1))
            assert words in message, (name, message)
            assert "again" in message, (name, message)
            assert hub.url in message or words == "no file", (name, message)
            assert contents_kept() <= {content}, name
            hub.faults.clear()
        else:
            hub.order("GET", corpus, answer)
        if words not in ("does not answer as the Hub does", "no file"):  # of which nothing stays in the cache
            online(*reading)
            assert content in contents_kept(), name
