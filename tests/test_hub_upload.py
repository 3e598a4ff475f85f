import socketserver
import threading
from types import SimpleNamespace

import pytest
from huggingface_hub import constants
from huggingface_hub import errors as hf_errors

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.hub_client import explanation, hub_errors, is_reachable
from turkic_idiom_tasks.io.hub_upload import DATASET, Target, folder_files


def test_a_folder_is_its_regular_files_without_hidden_ones_and_links_are_refused(tmp_path):
    for name in ("index.html", "models/a.html", ".env", ".git/config", "models/.cache/x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    assert folder_files(tmp_path) == {
        "index.html": tmp_path / "index.html",
        "models/a.html": tmp_path / "models" / "a.html",
    }
    (tmp_path / "passwords").symlink_to("/etc/passwd")
    with pytest.raises(InputError, match=r"passwords: is a symbolic link; replace it by what it points to"):
        folder_files(tmp_path)


@pytest.mark.parametrize("name", ["name", "a/b/c", "../b", "a/b\n", "a b/c", "org/ näme"])
def test_a_repository_is_named_org_and_name(name):
    with pytest.raises(InputError, match="is named ORG/NAME"):
        Target(name, DATASET)


def http_error(status, message=""):
    response = SimpleNamespace(status_code=status, headers={}, request=None)
    return hf_errors.HfHubHTTPError("https://hub/x?signature=abc", response=response, server_message=message)


class BrokenPipeOfTheClientError(Exception):
    """An exception of the package that carries the client's requests, whichever it is."""


BrokenPipeOfTheClientError.__module__ = "httpx._exceptions"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (http_error(404), "not there, or the token may not see it (404)"),
        (http_error(429), "too many requests (429)"),
        (http_error(500), "the Hub failed (500)"),
        (http_error(400, "bad\u202e name\nsecond line"), "the Hub refused (400): bad\\u202e name"),
        (BrokenPipeOfTheClientError("https://hub/x?signature=abc"), "broke (BrokenPipe"),
        (hf_errors.OfflineModeIsEnabled(), "HF_HUB_OFFLINE is set"),
        (hf_errors.LocalTokenNotFoundError(), "no token; log in"),
        (ValueError(), "ValueError"),
    ],
    ids=str,
)
def test_errors_of_the_client_are_one_line_without_addresses(error, words):
    outer = RuntimeError("wrapped")
    outer.__cause__ = error
    texts = [explanation(error)] if isinstance(error, ValueError) else [explanation(error), explanation(outer)]
    for text in texts:
        assert words in text
        assert "signature" not in text
        assert "\n" not in text
    with pytest.raises(InputError, match=r"^dataset org/name: "), hub_errors("dataset org/name"):
        raise error


class NoHttp(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.recv(1000)
        self.request.sendall(b"SSH-2.0-OpenSSH\r\n")


def test_what_is_no_hub_cannot_be_reached(monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with socketserver.TCPServer(("127.0.0.1", 0), NoHttp) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        for endpoint in (address, "http://[::1", "http://a b", "http://127.0.0.1:port", "http://a\u0131.tr"):
            monkeypatch.setattr(constants, "ENDPOINT", endpoint)
            assert is_reachable.__wrapped__() is False  # without what the process remembers
