"""Publishing and pulling with the unmodified clients, in subprocesses, against a Hub on the loopback interface."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from hub_datasets.layout import hub_layout
from tests.hub_server import CUT, LOSE_ANSWER, READ_TOKEN, TOKEN, Repository
from turkic_idiom_tasks.hub_upload import MANIFEST
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import load_lexicon, write_lexicon
from turkic_idiom_tasks.retrieval.relevance import TASKS
from turkic_idiom_tasks.retrieval.source import LexiconSource, open_source
from turkic_idiom_tasks.span_detection.sentences import lexicon_sentences, open_spans
from turkic_idiom_tasks.spans import LABELS, Span
from turkic_idiom_tasks.splits import retrieval_split, span_split

REPO = "org/turkic-idioms"
TEST = next(
    c for c in (f"t-{n}" for n in range(500)) if retrieval_split(c) == "test" and span_split(c) == "test"
)  # a query of the tests, and a sentence of them


@pytest.fixture
def dataset(command, online):
    """Runs `turkic-idiom dataset`; the token must never be in the output."""

    def run(*arguments, **environment):
        done = command("turkic-idiom", "dataset", *arguments, **online | environment)
        assert TOKEN not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.fixture
def lexicon(tmp_path):
    """A directory with one concept in Turkish and Azerbaijani."""
    return write(tmp_path / "lexicon", ("tr", "az"))


def write(folder, languages, meaning="bir anlam"):
    entries = {
        "tr": [Entry(TEST, "göz yummak", meaning, "Göz yumdu.", (Span(0, 9),))],
        "az": [Entry(TEST, "göz yummaq", "bir məna")],
    }
    write_lexicon(folder, [Concept(TEST, "to ignore")], {code: entries[code] for code in languages})
    return folder


def error(done):
    """The message of a command that failed as it should: exit code 1 and one line."""
    assert done.returncode == 1, done.stdout + done.stderr
    lines = done.stderr.splitlines()
    assert lines[-1].startswith("turkic-idiom: error: ")
    assert [line for line in lines[:-1] if not line.startswith("left out")] == []
    return lines[-1]


def sent(hub):
    return [request for request in hub.requests if request.startswith(("PUT", "DELETE")) or "POST" in request]


def test_without_yes_only_the_plan_is_shown(dataset, hub, lexicon):
    done = dataset("publish", lexicon, "--repo", REPO, "--version", "v1.0.0")
    assert done.returncode == 0, done.stderr
    contents = hub_layout(load_lexicon(lexicon)).contents
    for path, content in contents.items():
        assert f"  added     {len(content):>11,} B  {path}\n" in done.stdout
    assert f"dataset {REPO}: to be created, public unless the owner's default is private\n" in done.stdout
    assert f"{len(contents) + 1} added, 0 changed, 0 deleted, 0 unchanged; " in done.stdout  # and the manifest
    assert "tag v1.0.0: to be set\nDry run: nothing was sent; add --yes to publish.\n" in done.stdout
    assert sent(hub) == []
    assert hub.repositories == {}


def test_one_commit_and_a_tag_and_the_second_time_nothing(dataset, hub, lexicon, tmp_path):
    arguments = ("publish", lexicon, "--repo", REPO, "--version", "v1.0.0", "--yes")
    first = dataset(*arguments)
    assert first.returncode == 0, first.stderr
    repository = hub.repository(REPO)
    assert len(repository.commits) == 2  # the Hub's own first one, and ours
    assert repository.tags == {"v1.0.0": repository.main}
    assert first.stdout.endswith(f"commit {repository.main}\nTURKIC_IDIOM_DATA={REPO}@{repository.main}\n")
    assert dataset("export", lexicon, "--out", tmp_path / "out").returncode == 0
    exported = {str(p.relative_to(tmp_path / "out")): p for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert {name: path.read_bytes() for name, path in exported.items()} == {
        name: data for name, data in repository.files.items() if name != ".gitattributes"
    }
    second = dataset(*arguments)
    assert second.returncode == 0, second.stderr
    assert f"0 added, 0 changed, 0 deleted, {len(exported)} unchanged; 0 bytes to send\n" in second.stdout
    assert "tag v1.0.0: set already, with this content\n" in second.stdout
    assert f"commit {repository.main}, as before: nothing has changed\n" in second.stdout
    assert len(repository.commits) == 2


def test_new_data_is_a_new_commit_that_deletes_only_what_was_ours(dataset, hub, lexicon, tmp_path):
    assert dataset("publish", lexicon, "--repo", REPO, "--version", "v1.0.0", "--yes").returncode == 0
    repository = hub.repository(REPO)
    first = repository.main
    repository.main = repository.add(repository.files | {"data/lexicon-az/notes.txt": b"of somebody else"}, "notes")
    smaller = write(tmp_path / "smaller", ("tr",), meaning="başka bir anlam")
    requests = len(hub.requests)
    refused = dataset("publish", smaller, "--repo", REPO, "--version", "v1.0.0", "--yes")
    assert error(refused).endswith(
        f"dataset {REPO}: the tag v1.0.0 is there already with other content (commit {first}), and tags are never "
        "moved; publish with another --version"
    )
    assert not any("/commit/" in request or "/tag/" in request for request in hub.requests[requests:])
    done = dataset("publish", smaller, "--repo", REPO, "--version", "v1.1.0", "--yes")
    assert done.returncode == 0, done.stderr
    assert "  changed " in next(line for line in done.stdout.splitlines() if "lexicon-tr" in line)
    assert "  deleted             0 B  data/lexicon-az/test.parquet\n" in done.stdout
    assert "data/lexicon-az/test.parquet" not in repository.files
    assert repository.files["data/lexicon-az/notes.txt"] == b"of somebody else"
    assert ".gitattributes" in repository.files
    assert repository.tags == {"v1.0.0": first, "v1.1.0": repository.main}


def test_who_may_not_write_is_told_what_to_do(dataset, hub, lexicon):
    arguments = ("publish", lexicon, "--repo", REPO, "--yes")
    asks = f"dataset {REPO}: the Hub asks for a valid token (401); log in with `hf auth login`, or set HF_TOKEN"
    assert error(dataset(*arguments, HF_TOKEN="")).endswith(asks)
    assert error(dataset(*arguments, HF_TOKEN="hf_expired")).endswith(asks)
    assert "no right to write there (403)" in error(dataset(*arguments, HF_TOKEN=READ_TOKEN))
    assert hub.repositories == {}
    repository = hub.repositories["dataset", REPO] = Repository(REPO)
    repository.main = repository.add({".gitattributes": b""})
    assert "no right to write there (403)" in error(dataset(*arguments, HF_TOKEN=READ_TOKEN))
    assert len(repository.commits) == 1


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (409, "somebody else changed it meanwhile (409); run the same command again, which plans anew"),
        (503, "the Hub failed (503); run the same command again, it goes on where it stopped"),
        (CUT, "the connection to the Hub broke ("),
    ],
)
def test_a_commit_that_fails_is_made_by_the_next_run(dataset, hub, lexicon, answer, message):
    hub.order("POST", "/commit/main", answer)
    arguments = ("publish", lexicon, "--repo", REPO, "--version", "v1.0.0", "--yes")
    assert f"dataset {REPO}: {message}" in error(dataset(*arguments))
    repository = hub.repository(REPO)
    assert len(repository.commits) == 1
    assert repository.tags == {}
    uploads = sum(request.startswith("PUT") for request in hub.requests)
    assert dataset(*arguments).returncode == 0
    assert len(repository.commits) == 2
    assert repository.tags == {"v1.0.0": repository.main}
    assert sum(request.startswith("PUT") for request in hub.requests) == uploads  # what was there was not sent again


def test_a_commit_whose_answer_was_lost_is_not_made_twice(dataset, hub, lexicon):
    hub.order("POST", "/commit/main", LOSE_ANSWER)
    arguments = ("publish", lexicon, "--repo", REPO, "--version", "v1.0.0", "--yes")
    assert "the connection to the Hub broke" in error(dataset(*arguments))
    repository = hub.repository(REPO)
    assert len(repository.commits) == 2
    assert repository.tags == {}
    assert dataset(*arguments).returncode == 0
    assert len(repository.commits) == 2
    assert repository.tags == {"v1.0.0": repository.main}


def test_a_commit_of_somebody_else_meanwhile_is_not_overwritten(dataset, hub, lexicon):
    repository = hub.repositories["dataset", REPO] = Repository(REPO)
    repository.main = repository.add({"README.md": b"old"})

    def somebody_commits():
        repository.main = repository.add({"README.md": b"of somebody else"}, "theirs")

    hub.order("POST", "/preupload/", somebody_commits)
    done = dataset("publish", lexicon, "--repo", REPO, "--yes")
    assert "somebody else changed it meanwhile (412); run the same command again" in error(done)
    assert repository.files == {"README.md": b"of somebody else"}


def test_an_upload_that_is_cut_and_killed_is_completed_by_the_next_run(dataset, hub, lexicon, online):
    hub.order("PUT", "/_lfs/", CUT, times=1000)
    script = Path(sys.executable).parent / "turkic-idiom"
    arguments = ["dataset", "publish", str(lexicon), "--repo", REPO, "--version", "v1.0.0", "--yes"]
    process = subprocess.Popen(
        [script, *arguments], env=os.environ | online, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while not any(request.startswith("PUT") for request in hub.requests):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    repository = hub.repository(REPO)
    assert len(repository.commits) == 1
    hub.faults.clear()
    hub.order("PUT", "/_lfs/", CUT)  # one cut alone the client itself gets over
    done = dataset(*arguments[1:])
    assert done.returncode == 0, done.stderr
    assert "_lfs" not in done.stderr  # its warnings name upload addresses, which carry signatures on the real Hub
    contents = hub_layout(load_lexicon(lexicon)).contents
    assert {name: repository.files[name] for name in contents} == contents
    assert repository.tags == {"v1.0.0": repository.main}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--repo", "turkic-idioms"), "'turkic-idioms': a repository on the Hub is named ORG/NAME"),
        (("--repo", REPO, "--version", "1.0"), "--version '1.0': a version looks like v1.0.0"),
    ],
)
def test_wrong_names_are_refused_before_anything_is_asked(dataset, hub, lexicon, arguments, message):
    done = dataset("publish", lexicon, *arguments, "--yes")
    assert done.returncode == 2
    assert message in done.stderr
    assert hub.requests == []


def test_without_the_network_a_pull_or_publish_says_so(dataset, lexicon):
    assert "HF_HUB_OFFLINE is set" in error(dataset("publish", lexicon, "--repo", REPO, HF_HUB_OFFLINE="1"))
    broken = dataset("publish", lexicon, "--repo", REPO, HF_ENDPOINT="http://127.0.0.1:9")
    assert "the connection to the Hub broke (ConnectError)" in error(broken)


def test_pull_writes_a_directory_that_is_data(dataset, hub, lexicon, tmp_path):
    assert dataset("publish", lexicon, "--repo", REPO, "--version", "v1.0.0", "--yes").returncode == 0
    done = dataset("pull", f"{REPO}@v1.0.0")
    assert done.returncode == 0, done.stderr
    pulled, files = tmp_path / "turkic-idioms", hub.repository(REPO).files
    n_files = len(files) - 2  # without .gitattributes and manifest
    assert done.stdout == f"turkic-idioms: {n_files} files, commit {hub.repository(REPO).main}\n"
    source = open_source(str(pulled))
    assert source.load("T2", "tur").documents == {f"tur:{TEST}": "bir anlam"}
    assert open_spans(str(pulled)).load("tr")["test"][0].tags == ("B-IDIOM", "I-IDIOM", "O")
    assert (pulled / MANIFEST).read_bytes() == files[MANIFEST]
    assert dataset("pull", REPO).returncode == 0  # again into the same directory
    (pulled / "README.md").write_text("edited")
    assert "README.md: was changed since the export" in error(dataset("pull", REPO))
    assert "cannot be read from the Hub" in error(dataset("pull", f"{REPO}@v9.0.0", "--out", tmp_path / "other"))
    assert not (tmp_path / "other").exists()


def test_pull_of_something_else_is_refused(dataset, hub, tmp_path):
    repository = hub.repositories["dataset", REPO] = Repository(REPO)
    repository.main = repository.add({"README.md": b"nothing declared", "a.parquet": b""})
    assert f"{REPO}: no dataset in the Hub layout" in error(dataset("pull", REPO))
    assert not (tmp_path / "turkic-idioms").exists()
    assert dataset("pull", "turkic-idioms").returncode == 2


READ_BACK = """
import json, sys
from datasets import get_dataset_config_names, load_dataset
from turkic_idiom_tasks.retrieval.relevance import TASKS
from turkic_idiom_tasks.retrieval.source import open_source
from turkic_idiom_tasks.span_detection.sentences import open_spans
name, sha = sys.argv[1:]
spans, source = open_spans(f"{name}@{sha}"), open_source(f"{name}@{sha}")
test = load_dataset(name, "span-uz", split="test", revision=sha)
print(json.dumps({
    "configs": get_dataset_config_names(name),
    "labels": test.features["ner_tags"].feature.names,
    "rows": test.to_list(),
    "qrels": load_dataset(name, "T1-tur-gag-qrels", split="test").to_list(),
    "lexicon": load_dataset(name, "lexicon-gag", split="test").to_list(),
    "retrieval": {f"{task} {subset}": [data.queries, data.documents, data.qrels] for task in ("T1", "T2", "T3")
                  for subset in source.subsets(task) for data in [source.load(task, subset)]},
    "spans": {code: {split: [row.document() for row in rows] for split, rows in spans.load(code).items()}
              for code in spans.languages},
}))
"""


def test_the_stock_clients_read_back_what_the_bundled_lexicon_holds(dataset, command, hub, online, tmp_path):
    assert dataset("publish", "--repo", REPO, "--yes").returncode == 0
    name = f"{REPO}@{hub.repository(REPO).main}"
    script = tmp_path / "read_back.py"
    script.write_text(READ_BACK)
    found = json.loads(command("python", script, *name.split("@"), **online).stdout)
    lexicon = load_lexicon()
    assert set(found["configs"]) == set(hub_layout(lexicon).configs)
    assert found["labels"] == list(LABELS)
    ours = {code: lexicon_sentences(lexicon, code) for code in ("tr", "az", "tk", "gag", "uz")}
    documents = {
        code: {split: [row.document() for row in rows] for split, rows in splits.items()}
        for code, splits in ours.items()
    }
    assert found["rows"] == documents["uz"]["test"]
    assert found["spans"] == documents
    bundled = LexiconSource.of(lexicon, "")
    built = {f"{task} {subset}": bundled.load(task, subset) for task in TASKS for subset in bundled.subsets(task)}
    assert found["retrieval"] == {key: [data.queries, data.documents, data.qrels] for key, data in built.items()}
    assert {(row["query-id"], row["corpus-id"]): row["score"] for row in found["qrels"]} == {
        (query, document): score
        for query, scores in built["T1 tur-gag"].qrels.items()
        for document, score in scores.items()
    }
    assert {row["concept"]: row["idiom"] for row in found["lexicon"]} == {
        concept: entry.idiom for concept, entry in lexicon.of("gag").items()
    }


@pytest.mark.slow
def test_scores_from_published_data_are_those_from_the_bundled_lexicon(dataset, command, hub, online, tmp_path):
    assert dataset("publish", "--repo", REPO, "--yes").returncode == 0
    name = f"{REPO}@{hub.repository(REPO).main}"
    run = ("run", "-m", "turkic-idiom/char-ngrams", "-l", "gag", "--format", "json")
    published = command("turkic-idiom", *run, "--data", name, "-o", tmp_path / "hub", **online)
    bundled = command("turkic-idiom", *run, "-o", tmp_path / "bundled")
    assert published.returncode == bundled.returncode == 0, published.stderr
    scores = [all_scores(tmp_path / folder) for folder in ("hub", "bundled")]
    assert set(scores[0]) == {("TurkicIdiomT1", "tur-gag"), ("TurkicIdiomT2", "gag"), ("TurkicIdiomT3", "tur-gag")}
    assert scores[0] == scores[1]


def all_scores(folder):
    """Task and subset -> every score."""
    results = [json.loads(path.read_text()) for path in folder.rglob("TurkicIdiom*.json")]
    return {(result["task_name"], row["hf_subset"]): row for result in results for row in result["scores"]["test"]}


def front_matter(readme):
    return yaml.safe_load(readme.split("---\n")[1])


def test_the_card_says_what_the_hub_asks_for():
    contents = hub_layout(load_lexicon()).contents
    readme = contents["README.md"].decode()
    card = front_matter(readme)
    assert card["language"] == ["tr", "az", "tk", "gag", "uz"]
    assert card["license"] == "cc-by-4.0"
    assert card["multilinguality"] == ["multilingual"]
    assert card["size_categories"] == ["1K<n<10K"]
    assert card["task_categories"] == ["text-retrieval", "token-classification"]
    assert card["annotations_creators"] == ["machine-generated"]
    paths = {file["path"] for config in card["configs"] for file in config["data_files"]}
    assert paths == {path for path in contents if path.endswith(".parquet")}
    info = {config["config_name"]: config for config in card["dataset_info"]}
    assert set(info) == {config["config_name"] for config in card["configs"]}
    tags = next(feature for feature in info["span-gag"]["features"] if feature["name"] == "ner_tags")
    assert tags["list"]["class_label"]["names"] == {"0": "O", "1": "B-IDIOM", "2": "I-IDIOM"}
    assert "0: O, 1: B-IDIOM, 2: I-IDIOM" in readme
    assert "not yet been reviewed by native speakers" in readme
    sizes = {split["name"]: split["num_examples"] for split in info["span-gag"]["splits"]}
    assert sizes == {split: len(rows) for split, rows in lexicon_sentences(load_lexicon(), "gag").items()}
    assert info["span-gag"]["download_size"] == sum(
        len(data) for path, data in contents.items() if path.startswith("data/span-gag/")
    )


def test_the_card_of_another_lexicon_claims_nothing_of_it(lexicon):
    readme = hub_layout(load_lexicon(lexicon)).contents["README.md"].decode()
    card = front_matter(readme)
    assert card["license"] == "unknown"
    assert not {"annotations_creators", "language_creators", "source_datasets"} & set(card)
    assert "language model" not in readme


def test_eval_yaml_registers_the_tasks_that_are_there(lexicon):
    registered = yaml.safe_load(hub_layout(load_lexicon(lexicon)).contents["eval.yaml"])
    assert registered["evaluation_framework"] == "mteb"
    assert registered["tasks"] == [
        {"id": "TurkicIdiomT1"},
        {"id": "TurkicIdiomT1-tur-azj", "config": "T1-tur-azj-queries", "split": "test"},
        {"id": "TurkicIdiomT2"},
        {"id": "TurkicIdiomT2-tur", "config": "T2-tur-queries", "split": "test"},
        {"id": "TurkicIdiomT2-azj", "config": "T2-azj-queries", "split": "test"},
        {"id": "TurkicIdiomT3"},
        {"id": "TurkicIdiomT3-tur-azj", "config": "T3-tur-azj-queries", "split": "test"},
    ]
