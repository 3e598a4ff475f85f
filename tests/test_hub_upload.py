from types import SimpleNamespace

import pytest
from huggingface_hub import errors as hf_errors

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.hub_client import explanation, hub_errors
from turkic_idiom_tasks.io.hub_upload import (
    ADDED,
    CHANGED,
    DATASET,
    LEFT_THERE,
    UNCHANGED,
    Change,
    Plan,
    Target,
    check_version,
    folder_files,
)


def test_a_folder_is_its_regular_files_and_nothing_hidden(tmp_path):
    for name in ("index.html", "models/a.html", ".env", ".git/config", "models/.cache/x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    assert folder_files(tmp_path) == {
        "index.html": tmp_path / "index.html",
        "models/a.html": tmp_path / "models" / "a.html",
    }


def test_links_and_empty_folders_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"absent: no such folder, or no file in it"):
        folder_files(tmp_path / "absent")
    (tmp_path / "passwords").symlink_to("/etc/passwd")
    with pytest.raises(InputError, match=r"passwords: is a symbolic link; replace it by what it points to"):
        folder_files(tmp_path)


@pytest.mark.parametrize("name", ["name", "a/b/c", "../b", "a/..", "a/b\n", "a b/c", "", "/b", "org/ näme"])
def test_a_repository_is_named_org_and_name(name):
    with pytest.raises(InputError, match="is named ORG/NAME"):
        Target(name, DATASET)


def test_a_plan_counts_what_would_happen_and_what_would_be_sent():
    changes = (Change("a", ADDED, 1000), Change("b", CHANGED, 234), Change("c", LEFT_THERE, 77))
    plan = Plan(Target("org/name", DATASET), "f" * 40, (*changes, Change("d", UNCHANGED, 9999)), tag="v1.0.0")
    text = plan.text()
    assert f"dataset org/name at {'f' * 40}" in text
    assert "1 added, 1 changed, 1 unchanged, 1 left there; 1,234 bytes to send" in text
    assert "tag v1.0.0: to be set" in text


@pytest.mark.parametrize("version", ["1.0.0", "v1.0", "v1.0.0\n", "", "main"])
def test_a_version_looks_like_v_and_three_numbers(version):
    with pytest.raises(InputError, match="a version looks like"):
        check_version(version)
    check_version("v1.0.0")


def http_error(status, message=""):
    response = SimpleNamespace(status_code=status, headers={}, request=None)
    return hf_errors.HfHubHTTPError("https://hub/x?signature=abc", response=response, server_message=message)


class BrokenPipeOfTheClientError(Exception):
    """An exception of the package that carries the client's requests, whichever it is."""


BrokenPipeOfTheClientError.__module__ = "httpx._exceptions"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (http_error(401), "asks for a valid token (401)"),
        (http_error(403), "no right to write there (403)"),
        (http_error(404), "not there, or the token may not see it (404)"),
        (http_error(409), "somebody else changed it meanwhile (409)"),
        (http_error(412), "somebody else changed it meanwhile (412)"),
        (http_error(429), "too many requests (429)"),
        (http_error(500), "the Hub failed (500)"),
        (http_error(400, "bad\u202e name\nsecond line"), "the Hub refused (400): bad\\u202e name"),
        (BrokenPipeOfTheClientError("https://hub/x?signature=abc"), "broke (BrokenPipe"),
        (TimeoutError(), "broke (TimeoutError)"),
        (hf_errors.OfflineModeIsEnabled(), "HF_HUB_OFFLINE is set"),
        (hf_errors.LocalTokenNotFoundError(), "no token; log in"),
        (ValueError("odd\nthing"), "odd"),
        (ValueError(), "ValueError"),
    ],
    ids=str,
)
def test_errors_of_the_client_are_one_line_without_addresses(error, words):
    try:
        raise RuntimeError("wrapped") from error
    except RuntimeError as wrapped:
        outer = wrapped
    texts = [explanation(error)] if isinstance(error, ValueError) else [explanation(error), explanation(outer)]
    for text in texts:
        assert words in text
        assert "signature" not in text
        assert "\n" not in text
    with pytest.raises(InputError, match=r"^dataset org/name: "), hub_errors("dataset org/name"):
        raise error
