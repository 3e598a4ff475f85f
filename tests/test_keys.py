"""Keys: wherever an error can quote one, it is neither on stdout nor stderr, nor in any file that a command writes."""

import json
import logging
from types import SimpleNamespace

import pytest
from huggingface_hub import errors as hf_errors

from tests.llm_server import KEY, MODEL, Cut, Failure, Html, running_llm
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.errors import InputError, without_keys
from turkic_idiom_tasks.io.hub_client import hub_errors

TOKEN = "hf_TokenThatMustNotLeakAnywhere"
PASSWORD = "pa55word"


@pytest.fixture
def verify(one_entry, monkeypatch, capfd):
    """A function that runs `dataset verify` in a folder of its own; returns stdout, stderr and all written files."""
    monkeypatch.setenv("HOME", str(one_entry))

    def run(url, *arguments):
        options = ["--model", MODEL, "--set", f"base_url={url}", "--set", "retries=0", *arguments]
        code = main(["dataset", "verify", "lexicon", "--out", "out", *options])
        captured = capfd.readouterr()
        files = [path.read_bytes().decode("utf-8", "replace") for path in one_entry.rglob("*") if path.is_file()]
        return code, captured.out, captured.err, "".join(files)

    return run


@pytest.mark.parametrize(
    "behaviour",
    [
        Failure(401, f"Incorrect API key provided: {KEY}"),
        Failure(403, f"{KEY} may not"),
        Failure(400, f"no such temperature for {KEY}"),
        Failure(400, f"refused for {KEY}", code="context_length_exceeded"),
        Failure(429, f"later, {KEY}", {"Retry-After": "4000"}),
        Failure(500, f"Illegal header value b'Bearer {KEY}'"),
        Html(),
        Cut(),
        f"the answer repeats {KEY}",
        json.dumps({"word": KEY}),
    ],
)
@pytest.mark.parametrize("stream", ["true", pytest.param("false", marks=pytest.mark.long)])
def test_what_a_server_says_never_shows_the_key(verify, behaviour, stream):
    with running_llm(lambda body: behaviour) as server:
        code, *texts = verify(server.url, "--set", f"stream={stream}")
        assert server.keys == {f"Bearer {KEY}"}
    assert code == 1  # no entry is accepted
    for text in texts:
        assert KEY not in text


@pytest.mark.parametrize("end", ["\r", " \n\t"])
def test_white_space_around_a_key_is_removed_and_white_space_inside_refused(verify, monkeypatch, end):
    monkeypatch.setenv("OPENAI_API_KEY", end + KEY + end)
    with running_llm(lambda body: Failure(401, f"no key {KEY}")) as server:
        _, *texts = verify(server.url)
        assert server.keys == {f"Bearer {KEY}"}
    for text in texts:
        assert KEY not in text
    monkeypatch.setenv("OPENAI_API_KEY", KEY[:9] + end + KEY[9:])
    with running_llm(lambda body: "") as server:
        code, *texts = verify(server.url)
    assert (code, server.requests) == (1, [])
    assert "OPENAI_API_KEY: holds white space" in texts[1]
    assert not any(part in text for text in texts for part in (KEY[:9], KEY[9:]))


def test_a_password_in_the_address_is_not_shown(verify):
    with running_llm(lambda body: Failure(500, "broken")) as server:
        address = server.url.replace("//", f"//me:{PASSWORD}@")
        code, *texts = verify(address)
    _, *after = verify(address)  # the server has gone
    assert (code, "broken" in texts[1], "no connection" in after[1]) == (1, True, True)
    for text in (*texts, *after):
        assert PASSWORD not in text


def test_an_error_that_nobody_expected_and_a_log_record_show_no_key(monkeypatch, capsys):
    def app(args):
        try:
            raise ValueError(f"Illegal header value b'Bearer {KEY}\\r'")
        except ValueError:
            logging.getLogger("client").exception("sent %s to https://me:%s@host", KEY, PASSWORD)
            raise

    monkeypatch.setenv("OPENAI_API_KEY", KEY + "\r")
    monkeypatch.setattr(logging.root, "handlers", [])  # those of pytest
    monkeypatch.setattr("turkic_idiom_tasks.cli.app", app)
    assert main([]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("Illegal header value b'Bearer ***") == 2  # in the log and as the error
    assert KEY not in printed.err
    assert PASSWORD not in printed.err


@pytest.mark.parametrize("variable", ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"])
def test_the_token_of_the_hub_is_not_shown_wherever_it_comes_from(monkeypatch, variable):
    response = SimpleNamespace(status_code=400, headers={}, request=None)
    refusal = hf_errors.HfHubHTTPError("refused", response=response, server_message=f"bad token {TOKEN}")
    for error in (refusal, ValueError(f"Illegal header value b'Bearer {TOKEN}\\r'")):  # from the file of the client
        with pytest.raises(InputError) as raised, hub_errors("dataset my-org/my-data"):
            raise error
        assert TOKEN not in str(raised.value)
    monkeypatch.setenv(variable, f"{TOKEN[:10]}\n{TOKEN[10:]}")
    with pytest.raises(InputError, match=f"{variable}: holds white space") as raised, hub_errors("dataset my/data"):
        pass
    assert TOKEN[10:] not in str(raised.value)


@pytest.mark.parametrize("value", ["EMPTY", "", "none"])
def test_a_word_in_the_place_of_a_key_is_no_secret(monkeypatch, value):
    monkeypatch.setenv("OPENAI_API_KEY", value)
    text = f"the idiom {value} in https://host/a@b, of the bearer Bearer of news"
    assert without_keys(text) == text
