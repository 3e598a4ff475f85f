"""Publishing, and reading back, with the unmodified clients against a Hub on the loopback interface."""

import json
import shutil
from pathlib import Path

import pytest

from hub_datasets.hub_export import hub_layout
from tests.dataset.conftest import concepts_of
from tests.hub_datasets.conftest import write_entries
from tests.hub_server import LOSE_ANSWER, READ_TOKEN, Odd, Repository
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.lexicon.entries import Entry
from turkic_idiom_tasks.lexicon.load import load_lexicon
from turkic_idiom_tasks.spans import LABELS, Span
from turkic_idiom_tasks.splits import retrieval_split
from turkic_idiom_tasks.version import __version__

REPO = "org/turkic-idioms"
PAGE = b"<!DOCTYPE html><html><body>Log in to the network</body></html>"
FILE = "data/T2-tur-corpus/test.parquet"
TEST = next(name for name in concepts_of("test", 20) if retrieval_split(name) == "test")  # in both test splits


@pytest.fixture
def lexicon(tmp_path):
    """A directory with one concept in Turkish and Azerbaijani."""
    return write(tmp_path / "lexicon", ("tr", "az"))


def write(folder, languages, meaning="bir anlam"):
    entries = {
        "tr": [Entry(TEST, "göz yummak", meaning, "Göz yumdu.", (Span(0, 9),))],
        "az": [Entry(TEST, "göz yummaq", "bir məna")],
    }
    return write_entries(folder, gloss="to ignore", **{code: entries[code] for code in languages})


def error(printed):
    """The message of a command that failed as it should: one line."""
    *lines, message = printed[1].splitlines()
    assert message.startswith("turkic-idiom: error: ")
    assert [line for line in lines if not line.startswith("left out")] == []
    return message


def test_without_yes_only_the_plan_then_one_commit_and_a_tag_and_the_second_time_nothing(online_dataset, hub, lexicon):
    arguments = ("export", lexicon, "--repo", REPO, "--version", "v1.0.0")
    plan, _ = online_dataset(*arguments)
    contents = hub_layout(load_lexicon(lexicon)).contents
    for path, content in contents.items():
        assert f"  added      {len(content):>11,} B  {path}\n" in plan
    assert f"dataset {REPO}: to be created, public unless the owner's default is private\n" in plan
    assert f"{len(contents)} added, 0 changed, 0 unchanged, 0 left there; " in plan
    assert "tag v1.0.0: to be set\nDry run: nothing was sent; add --yes to publish.\n" in plan
    assert max(len(line) for line in plan.splitlines() if " B  " in line) <= 80
    assert {request.split()[0] for request in hub.requests} <= {"GET", "HEAD"}
    assert hub.repositories == {}
    first, _ = online_dataset(*arguments, "--yes")
    repository = hub.repository(REPO)
    assert len(repository.commits) == 2  # the Hub's own first one, and ours
    assert repository.tags == {"v1.0.0": repository.main}
    assert first.endswith(f"commit {repository.main}\nTURKIC_IDIOM_DATA={REPO}@{repository.main}\n")
    assert contents == {name: data for name, data in repository.files.items() if name != ".gitattributes"}
    second, _ = online_dataset(*arguments, "--yes")
    assert f"0 added, 0 changed, {len(contents)} unchanged, 0 left there; 0 bytes to send\n" in second
    assert "tag v1.0.0: set already, with this content\n" in second
    assert f"commit {repository.main}, as before: nothing has changed\n" in second
    assert len(repository.commits) == 2


def test_new_data_is_a_new_commit_that_deletes_nothing(online_dataset, hub, lexicon, tmp_path):
    online_dataset("export", lexicon, "--repo", REPO, "--version", "v1.0.0", "--yes")
    repository = hub.repository(REPO)
    first = repository.main
    before = repository.files | {"data/lexicon-az/notes.txt": b"of somebody else"}
    repository.main = repository.add(before, "notes")
    smaller = write(tmp_path / "smaller", ("tr",), meaning="başka bir anlam")
    n_requests = len(hub.requests)
    refused = online_dataset("export", smaller, "--repo", REPO, "--version", "v1.0.0", "--yes", code=1)
    assert error(refused).endswith(
        f"dataset {REPO}: the tag v1.0.0 is there already with other content (commit {first}), and tags are never "
        "moved; publish with another --version"
    )
    assert not any("/commit/" in request or "/tag/" in request for request in hub.requests[n_requests:])
    done, _ = online_dataset("export", smaller, "--repo", REPO, "--version", "v1.1.0", "--yes")
    plan = {line.split(" B  ")[1]: line.split()[0] for line in done.splitlines() if " B  " in line}
    assert plan["data/lexicon-tr/test.parquet"] == "changed"
    assert plan["data/lexicon-az/test.parquet"] == plan["data/lexicon-az/notes.txt"] == "left"
    assert ".gitattributes" not in plan
    assert set(repository.files) == set(before)
    assert repository.files["data/lexicon-az/test.parquet"] == before["data/lexicon-az/test.parquet"]
    assert repository.tags == {"v1.0.0": first, "v1.1.0": repository.main}
    for path, content in repository.files.items():
        (tmp_path / "downloaded" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "downloaded" / path).write_bytes(content)
    # what was left there is no part of the dataset any more
    assert list(open_dataset(str(tmp_path / "downloaded")).lexicon.entries) == ["tr"]


def test_who_may_not_write_is_told_what_to_do(online_dataset, hub, lexicon):
    arguments = ("export", lexicon, "--repo", REPO, "--yes")
    asks = f"dataset {REPO}: the Hub asks for a valid token (401); log in with `hf auth login`, or set HF_TOKEN"
    for token, message in (("", asks), ("hf_expired", asks), (READ_TOKEN, "no right to write there (403)")):
        assert message in error(online_dataset(*arguments, HF_TOKEN=token, code=1))
    assert hub.repositories == {}
    repository = hub.repositories["dataset", REPO] = Repository(REPO)
    repository.main = repository.add({".gitattributes": b""})
    assert "no right to write there (403)" in error(online_dataset(*arguments, HF_TOKEN=READ_TOKEN, code=1))
    assert len(repository.commits) == 1


@pytest.mark.parametrize(
    ("answer", "message", "n_commits"),
    [
        (409, "somebody else changed it meanwhile (409); run the same command again, which makes a new plan", 1),
        (LOSE_ANSWER, "the connection to http", 2),
    ],
)
def test_a_commit_that_fails_is_made_once_by_the_next_run(online_dataset, hub, lexicon, answer, message, n_commits):
    hub.order("POST", "/commit/main", answer)
    arguments = ("export", lexicon, "--repo", REPO, "--version", "v1.0.0", "--yes")
    assert f"dataset {REPO}: {message}" in error(online_dataset(*arguments, code=1))
    repository = hub.repository(REPO)
    assert (len(repository.commits), repository.tags) == (n_commits, {})
    uploads = sum(request.startswith("PUT") for request in hub.requests)
    online_dataset(*arguments)
    assert (len(repository.commits), repository.tags) == (2, {"v1.0.0": repository.main})
    assert sum(request.startswith("PUT") for request in hub.requests) == uploads  # what was there was not sent again


def test_a_commit_of_somebody_else_meanwhile_is_not_overwritten(online_dataset, hub, lexicon):
    repository = hub.repositories["dataset", REPO] = Repository(REPO)
    repository.main = repository.add({"README.md": b"old"})

    def somebody_commits():
        repository.main = repository.add({"README.md": b"of somebody else"}, "theirs")

    hub.order("POST", "/preupload/", somebody_commits)
    done = online_dataset("export", lexicon, "--repo", REPO, "--yes", code=1)
    assert "somebody else changed it meanwhile (412); run the same command again" in error(done)
    assert repository.files == {"README.md": b"of somebody else"}


LOAD = """
import json, sys
from datasets import get_dataset_config_names, load_dataset
name, revision = sys.argv[1:]
test = load_dataset(name, "span-tr", split="test", revision=revision)
configs = get_dataset_config_names(name, revision=revision)
print(json.dumps([configs, test.to_list(), test.features["ner_tags"].feature.names]))
"""


@pytest.mark.long
def test_stock_clients_download_and_load_it(online_dataset, command, hub, session_online, lexicon, tmp_path):
    online_dataset("export", lexicon, "--repo", REPO, "--version", "v1.0.0", "--yes")
    pinned = hub.repository(REPO).main
    changed = write(tmp_path / "changed", ("tr", "az"), meaning="başka bir anlam")
    online_dataset("export", changed, "--repo", REPO, "--yes")
    for revision in ("v1.0.0", pinned):
        arguments = ("download", REPO, "--repo-type", "dataset", "--revision", revision, "--local-dir", revision)
        done = command("hf", *arguments, **session_online)
        assert done.returncode == 0, done.stderr
        dataset = open_dataset(str(tmp_path / revision))
        assert dataset.retrieval("T2", "tur").documents == {f"tur:{TEST}": "bir anlam"}
    done = command("python", "-c", LOAD, REPO, pinned, **session_online)
    assert done.returncode == 0, done.stderr
    configs, rows, labels = json.loads(done.stdout)
    assert set(configs) == set(hub_layout(load_lexicon(lexicon)).configs)
    (sentence,) = dataset.sentences("tr")["test"]
    assert sentence.tags == ("B-IDIOM", "I-IDIOM", "O")
    assert (rows, labels) == ([sentence.document()], list(LABELS))


def test_data_on_the_hub_that_cannot_be_read(online, hub):
    """Another dataset of the cache is the prey of the README; none of it is there to be downloaded first."""
    repository = hub.repositories["dataset", REPO] = Repository(REPO)
    block = "---\nconfigs:\n- config_name: span-tr\n  data_files:\n  - split: test\n    path: "
    path = "../../../datasets--org--private/**/secret.jsonl"
    repository.main = repository.add({"README.md": f"{block}'{path}'\n---\n".encode(), "x.jsonl": b"{}\n"})
    for name, message in [
        (REPO, "is not one inside the folder"),
        (f"{REPO}@v9.0.0", f"{REPO}@v9.0.0: cannot be read from the Hub: not there"),
        ("org/absent", "org/absent: cannot be read from the Hub: not there"),
    ]:
        assert message in error(online("compare", ".", ".", "--data", name, code=1))  # a command without heavy imports


@pytest.mark.long
def test_doctor_says_what_keeps_the_data_from_being_published(online, hub):
    online("doctor", "--publishing", "tester/new")
    tag = f"v{__version__}"
    repository = hub.repositories["dataset", "tester/new"] = Repository("tester/new")
    repository.main = repository.tags[tag] = repository.add({"README.md": b"other"})
    printed, _ = online("doctor", "--publishing", "tester/new", HF_TOKEN="", code=1)
    verdict = printed.splitlines()[0]
    assert verdict.startswith("2 problems: ")
    assert "token of the Hub: MISSING" in verdict
    assert f"the tag {tag} is there already with other content" in verdict
    assert "data: 0 mistakes" in printed
    assert "card: complete" in printed


@pytest.mark.long
def test_a_broken_answer_is_one_line_and_the_same_command_then_has_the_data(online, hub, session_online, tmp_path):
    """What the client keeps in its cache is never half a file, or that of another revision."""
    repository = hub.repositories["dataset", REPO] = Repository(REPO)
    for meaning in ("göz ardı etmek", "göz ardı etmez"):
        hub_layout(load_lexicon(write(tmp_path / f"{meaning} of", ("tr", "az"), meaning))).write(tmp_path / meaning)
        repository.commit(tmp_path / meaning)
    (commit, content), (other, other_content) = ((name, files[FILE]) for name, files in repository.commits.items())
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


@pytest.mark.parametrize("answer", [LOSE_ANSWER, Odd(b"{", length=99)])
def test_a_hub_that_fails_for_ever_is_given_up_after_one_request(online, hub, answer):
    hub.order("GET", "/api/datasets/", answer, times=20)
    message = error(online("compare", ".", ".", "--data", f"org/name@{'a' * 40}", code=1))
    assert "org/name@" in message
    assert "the connection to http" in message
    assert len(hub.faults) == 19
