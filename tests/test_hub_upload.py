import json
import subprocess

import pytest

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.hub_upload import (
    ADDED,
    CHANGED,
    DATASET,
    DELETED,
    UNCHANGED,
    Change,
    Plan,
    Target,
    folder_files,
    manifest,
    propose,
)
from turkic_idiom_tasks.hub_upload import _has as has


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


def test_content_is_known_by_its_git_blob_or_its_sha256(tmp_path):
    path = tmp_path / "text"
    path.write_bytes("göz yummak\n".encode())
    git = subprocess.run(["git", "hash-object", path], capture_output=True, text=True, check=True).stdout.strip()
    sha = subprocess.run(["sha256sum", path], capture_output=True, text=True, check=True).stdout.split()[0]
    for content in (path, path.read_bytes()):
        assert has(content, git)
        assert has(content, sha)
        assert not has(content, git[::-1])
        assert not has(content, sha[::-1])


def test_the_manifest_names_every_file_but_itself(tmp_path):
    # printf a | sha256sum
    a = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    (tmp_path / "a").write_bytes(b"a")
    files = {"b/a": b"a", "a": tmp_path / "a", ".export_manifest.json": b"an older one"}
    assert json.loads(manifest(files)) == {"files": {"a": [a], "b/a": [a]}}


@pytest.mark.parametrize("name", ["name", "a/b/c", "../b", "a/..", "a/b\n", "a b/c", "", "/b", "org/ näme"])
def test_a_repository_is_named_org_and_name(name):
    with pytest.raises(InputError, match="is named ORG/NAME"):
        Target(name, DATASET)


def test_a_plan_says_what_would_happen_to_each_file():
    changes = (
        Change("a", ADDED, 1000),
        Change("b", CHANGED, 234),
        Change("c", DELETED, 0),
        Change("d", UNCHANGED, 9999),
    )
    plan = Plan(Target("org/name", DATASET), "f" * 40, changes, tag="v1.0.0")
    assert plan.text() == (
        f"dataset org/name at {'f' * 40}\n"
        "  added           1,000 B  a\n"
        "  changed           234 B  b\n"
        "  deleted             0 B  c\n"
        "  unchanged       9,999 B  d\n"
        "1 added, 1 changed, 1 deleted, 1 unchanged; 1,234 bytes to send\n"
        "tag v1.0.0: to be set\n"
    )
    assert plan.needs_commit
    assert not Plan(plan.target, plan.head, changes[3:]).needs_commit


def test_nothing_is_proposed_to_a_repository_that_is_not_there():
    with pytest.raises(InputError, match="no such repository, or the token may not see it"):
        propose(Plan(Target("org/name", "model"), None, ()), {}, title="Scores")
