"""Encoders on a server of OpenAI's protocol: a scripted one on the loopback interface."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.dataset.conftest import write_small_lexicon
from tests.llm_server import KEY, Cut, Failure, running_llm
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.encoders.char_ngrams import encode_texts
from turkic_idiom_tasks.encoders.served import EmbeddingsClient
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.results.record import find_records, read_header

pytest.importorskip("openai", reason="pip install 'turkic-idiom-tasks[openai]'")
BUSY = {"retry-after-ms": "1"}


@pytest.fixture(scope="session")
def lexicon(tmp_path_factory):
    return str(write_small_lexicon(tmp_path_factory.mktemp("served") / "lexicon"))


def vector(text):
    return encode_texts([text], LANGUAGES["tr"])[0].tolist()


def answer(body, *, change=lambda rows: None):
    """The vectors of the built-in baseline, which reads every text as Turkish."""
    rows = [{"object": "embedding", "index": n, "embedding": vector(text)} for n, text in enumerate(body["input"])]
    change(rows)
    return {"object": "list", "model": body["model"], "data": rows, "usage": {"prompt_tokens": 1, "total_tokens": 1}}


@pytest.fixture
def serve():
    """A context of a server that first meets the given failures."""

    def run(*failures, change=lambda rows: None):
        left = list(failures)
        return running_llm(lambda body: left.pop(0) if left else answer(body, change=change), takes_all=True)

    return run


def test_rate_limits_cut_connections_and_reordered_rows_change_nothing(serve, tmp_path):
    texts = [f"deyim {number}" for number in range(7)]
    with serve(
        Failure(429, headers=BUSY), Cut(), Failure(503, headers=BUSY), change=lambda rows: rows.reverse()
    ) as server:
        client = EmbeddingsClient("some", server.url, cache=tmp_path / "cache")
        vectors = client.embed(texts, batch_size=3)
    assert np.array_equal(vectors, np.array([vector(text) for text in texts], dtype=np.float32))
    sizes = [len(body["input"]) for body in server.requests]
    assert sizes == [1, 1, 1, 1, 3, 3, 1]  # the probe until it is answered, then the batches


def test_no_text_is_asked_for_twice(serve, tmp_path):
    with serve() as server:
        for _ in range(2):
            client = EmbeddingsClient("some", server.url, cache=tmp_path / "cache")
            vectors = client.embed(["bir", "iki", "bir"], batch_size=8)
    assert np.array_equal(vectors[0], vectors[2])
    assert [body["input"] for body in server.requests] == [["deyim"], ["bir", "iki"], ["deyim"]]


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows[-1].update(embedding=[1.0, 2.0]),
        lambda rows: rows.pop(),
        lambda rows: rows[-1].update(index=0),
        lambda rows: rows[-1].update(embedding=[1e39] * 4096),
        lambda rows: rows[-1].update(embedding="text"),
    ],
)
def test_vectors_that_do_not_fit_are_refused_and_not_kept(serve, tmp_path, change):
    with serve(change=lambda rows: change(rows) if len(rows) > 1 else None) as server:
        client = EmbeddingsClient("some", server.url, cache=tmp_path / "cache")
        with pytest.raises(InputError, match=re.escape(server.url)):
            client.embed(["bir", "iki"], batch_size=8)
    with serve() as server:
        client = EmbeddingsClient("some", server.url, cache=tmp_path / "cache")
        assert client.embed(["bir", "iki"], batch_size=8).shape == (2, 4096)
    assert len(server.requests) == 2


def test_the_command_scores_it_as_the_local_model_and_states_server_prompts_and_dimensions(
    serve, lexicon, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\r\n")  # as a file with a line break gives it
    shared = ["-t", "T2", "-l", "tr", "--data", lexicon, "--format", "json"]
    with serve() as server:
        served = ["-m", "openai/some", "--base-url", server.url, "--out", str(tmp_path / "served")]
        assert main(["run", *served, *shared, "--dry-run"]) == 0
        assert not server.requests
        n_texts = int(re.match(r"(\d+) texts, 1 requests, about \d+ tokens", capsys.readouterr().out)[1])
        assert main(["run", *served, *shared]) == 0
        rows = json.loads(capsys.readouterr().out)
        assert sum(len(body["input"]) for body in server.requests) == n_texts + 1  # and the probe
        assert server.keys == {f"Bearer {KEY}"}
        prompted = [*served[:-1], str(tmp_path / "prompted"), "--set", 'query_prompt="query: "']
        assert main(["run", *prompted, *shared]) == 0
    capsys.readouterr()
    assert main(["run", "-m", "turkic-idiom/char-ngrams", "--out", str(tmp_path / "local"), *shared]) == 0
    (local,) = [row for row in json.loads(capsys.readouterr().out) if row["subset"] == "tur"]
    (found,) = [row for row in rows if row["subset"] == "tur"]
    assert found["model"] == "openai/some"
    assert found["ndcg"] == pytest.approx(local["ndcg"], abs=1e-6)
    (path,) = find_records(tmp_path / "served")
    settings = read_header(path).settings
    assert (settings["base_url"], settings["dimensions"]) == (server.url, 4096)
    (path,) = find_records(tmp_path / "prompted")
    assert read_header(path).settings["prompts"] == {"query": "query: ", "document": ""}
    assert any(text.startswith("query: ") for body in server.requests for text in body["input"])
    for file in Path(tmp_path).rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["-m", "some", "--base-url", "http://127.0.0.1:9"], "named openai/NAME"),
        (["-m", "openai/some", "--base-url", "http://[::1"], "http://[::1"),
        (["-m", "turkic-idiom/char-ngrams", "--set", "query_prompt=x"], "add --base-url"),
        (["-m", "openai/some", "--base-url", "http://127.0.0.1:9", "--set", "device=cpu"], "device"),
    ],
)
def test_what_cannot_be_asked_is_one_line(lexicon, tmp_path, capsys, arguments, part):
    assert main(["run", *arguments, "-t", "T2", "--data", lexicon, "--out", str(tmp_path)]) != 0
    error = capsys.readouterr().err
    assert part in error
    assert "Traceback" not in error
