"""`turkic-idiom finetune … --push`, against a Hub on the loopback interface."""

import json

from tests.experiments.test_finetune_command import QUICK, data  # noqa: F401
from tests.hub_server import CUT, TOKEN

REPO = "org/idiom-spans"


def test_a_classifier_is_published_whole_and_once(command, hub, online, data, untrained_bert, tmp_path):  # noqa: F811
    arguments = ("finetune", "span", "-m", untrained_bert, "--data", data, "--out", tmp_path / "out", *QUICK)
    hub.order("POST", "/commit/main", CUT)
    cut = command("turkic-idiom", *arguments, "--push", REPO, **online)
    assert cut.returncode == 1
    assert "is saved but not published: model org/idiom-spans: the connection to the Hub broke" in cut.stderr
    assert "To send it alone: hf upload org/idiom-spans " in cut.stderr
    done = command("turkic-idiom", *arguments, "--push", REPO, **online)  # nothing is trained again
    assert done.returncode == 0, done.stderr
    assert TOKEN not in cut.stdout + cut.stderr + done.stdout + done.stderr
    repository = hub.repository(REPO, "model")
    assert len(repository.commits) == 2
    (checkpoint,) = (tmp_path / "out" / "checkpoints").iterdir()
    for path in checkpoint.iterdir():
        assert repository.files[path.name] == path.read_bytes()
    assert json.loads(repository.files["config.json"])["id2label"]["1"] == "B-IDIOM"


def test_without_a_token_nothing_is_trained(command, hub, online, data, untrained_bert, tmp_path):  # noqa: F811
    tuned = tmp_path / "tuned"
    retrieval = ("finetune", "retrieval", "-m", untrained_bert, "--regime", "tr-only", "--out", tuned, "--push", REPO)
    done = command("turkic-idiom", *retrieval, **online | {"HF_TOKEN": "hf_expired"})
    assert done.returncode == 1
    assert f"model {REPO}: the Hub asks for a valid token (401); log in with `hf auth login`" in done.stderr
    assert not tuned.exists()
    done = command("turkic-idiom", *retrieval, **online | {"HF_TOKEN": ""})
    assert f"model {REPO}: no token; log in with `hf auth login`, or set HF_TOKEN" in done.stderr
    two = ("finetune", "span", "-m", untrained_bert, "-m", "./other", "--data", data, "--push", REPO)
    done = command("turkic-idiom", *two, **online)
    assert done.returncode == 2
    assert "goes with one --model" in done.stderr
    assert hub.repositories == {}
