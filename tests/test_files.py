"""The one writer: old content or new content, never a mixture, and nothing of anybody else's."""

import contextlib
import errno
import hashlib
import json
import os
import shutil
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.killing import every_kill, killed_before
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.files import (
    LOCK,
    MANIFEST,
    check_writable,
    commit_folder,
    finish_commit,
    is_committing,
    locked,
    new_folder,
    our_files,
    write_bytes,
    write_json,
    write_text,
)

STAGED = ".turkic-idiom-staged"
OLD = {"a.txt": b"old a", "data/b.txt": b"old b", "gone/c.txt": b"old c"}
NEW = {"a.txt": b"new a", "data/b.txt": b"new b", "data/d.txt": b"new d"}


@pytest.fixture
def _no_waiting(monkeypatch):
    """Kills need no flushed disk."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def contents(folder):
    """Path -> content of every file that is not a record of the writer itself."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not name.startswith((MANIFEST, LOCK, STAGED, ".tmp-")):
            found[name] = path.read_bytes()
    return found


def leftovers(folder):
    return sorted(path.name for path in folder.rglob("*") if path.name.startswith((STAGED, ".tmp-")))


def manifest(folder, **changes):
    """Write a manifest as somebody else may have."""
    fields = {"format": 1, "kind": "site", "state": "complete", "files": {}, "removed": {}} | changes
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MANIFEST).write_text(json.dumps(fields))


# one commit


def test_a_commit_replaces_ours_and_leaves_what_is_not_ours(tmp_path):
    folder = tmp_path / "new" / "folder"
    commit_folder(folder, OLD, kind="site")
    (folder / "mine.txt").write_bytes(b"mine")
    (folder / "gone" / "mine.txt").write_bytes(b"mine too")
    commit_folder(folder, NEW, kind="site")
    assert contents(folder) == NEW | {"mine.txt": b"mine", "gone/mine.txt": b"mine too"}
    assert our_files(folder) == {name: sha256(content) for name, content in NEW.items()}
    assert leftovers(folder) == []
    (folder / "gone" / "mine.txt").unlink()
    commit_folder(folder, {}, kind="site")
    assert contents(folder) == {"mine.txt": b"mine"}
    assert not (folder / "data").exists()  # it had nothing but ours


@pytest.mark.long
@pytest.mark.usefixtures("_no_waiting")
@pytest.mark.parametrize("earlier", [None, OLD], ids=["new folder", "earlier content"])
def test_a_kill_before_any_write_leaves_the_old_or_the_new_content(tmp_path, earlier):
    folder = tmp_path / "folder"
    number = 0

    def prepare():
        nonlocal folder, number
        number += 1
        folder = tmp_path / str(number)
        if earlier is not None:
            commit_folder(folder, earlier, kind="site")
            (folder / "mine.txt").write_bytes(b"mine")

    outcomes = []
    for _ in every_kill(prepare, lambda: commit_folder(folder, NEW, kind="site"), below=tmp_path):
        mine = {} if earlier is None else {"mine.txt": b"mine"}
        if folder.exists():
            finish_commit(folder)
            found = contents(folder)
            assert found in ((earlier or {}) | mine, NEW | mine)
            outcomes.append(found == NEW | mine)
        commit_folder(folder, NEW, kind="site")  # the same command goes on
        assert contents(folder) == NEW | mine
        assert leftovers(folder) == []
    assert outcomes == sorted(outcomes)  # old up to one point, new from there on
    assert {True, False} == set(outcomes)


@pytest.mark.long
@pytest.mark.usefixtures("_no_waiting")
def test_a_kill_while_a_commit_is_finished_loses_nothing(tmp_path):
    """Whoever finishes the commit of a killed process may be killed too."""
    number = 0

    def commit():
        commit_folder(tmp_path / f"first {number}", OLD, kind="site")

    while not is_committing(tmp_path / f"first {number}"):
        number += 1
        assert killed_before(number, commit, below=tmp_path)
    cut_off, copies = tmp_path / f"first {number}", 0

    def prepare():
        nonlocal copies
        copies += 1
        shutil.copytree(cut_off, tmp_path / f"copy {copies}")

    for _ in every_kill(prepare, lambda: finish_commit(tmp_path / f"copy {copies}"), below=tmp_path):
        finish_commit(tmp_path / f"copy {copies}")
        assert contents(tmp_path / f"copy {copies}") == OLD
    assert copies > len(OLD)


@pytest.mark.usefixtures("_no_waiting")
def test_two_writers_at_once_leave_the_content_of_one(tmp_path):
    folder = tmp_path / "folder"
    versions = [{f"{n}.txt": f"{writer} {n}".encode() for n in range(6)} for writer in range(4)]
    errors = []

    def write(version):
        try:
            for _ in range(5):
                commit_folder(folder, version, kind="site")
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(version,)) for version in versions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert contents(folder) in versions
    assert leftovers(folder) == []


# what is not ours


def test_a_folder_of_somebody_else_is_refused_or_only_ours_is_touched(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"theirs")
    (tmp_path / "thesis.txt").write_bytes(b"theirs")
    with pytest.raises(InputError, match=r"holds 'a.txt' and was not written by this command; .* pass --overwrite"):
        commit_folder(tmp_path, NEW, kind="site")
    assert contents(tmp_path) == {"a.txt": b"theirs", "thesis.txt": b"theirs"}
    commit_folder(tmp_path, NEW, kind="site", overwrite=True)
    assert contents(tmp_path) == NEW | {"thesis.txt": b"theirs"}


def test_a_changed_file_of_ours_is_refused_or_replaced(tmp_path):
    commit_folder(tmp_path, OLD, kind="site")
    (tmp_path / "a.txt").write_bytes(b"edited")
    (tmp_path / "gone" / "c.txt").write_bytes(b"edited too")
    with pytest.raises(InputError, match=r"a\.txt: was changed since it was written"):
        commit_folder(tmp_path, NEW, kind="site")
    assert contents(tmp_path)["a.txt"] == b"edited"
    commit_folder(tmp_path, NEW, kind="site", overwrite=True)
    assert contents(tmp_path) == NEW | {"gone/c.txt": b"edited too"}


def test_a_file_that_appeared_where_ours_goes_is_refused(tmp_path):
    commit_folder(tmp_path, OLD, kind="site")
    (tmp_path / "data" / "d.txt").write_bytes(b"theirs")
    with pytest.raises(InputError, match=r"d\.txt: is not a file of ours"):
        commit_folder(tmp_path, NEW, kind="site")
    (tmp_path / "data" / "d.txt").write_bytes(NEW["data/d.txt"])
    commit_folder(tmp_path, NEW, kind="site")  # it holds the same


def test_a_folder_of_another_kind_is_refused(tmp_path):
    commit_folder(tmp_path, OLD, kind="lexicon")
    with pytest.raises(InputError, match="holds a lexicon, not a site"):
        commit_folder(tmp_path, NEW, kind="site", overwrite=True)


def test_obsolete_files_go_whoever_wrote_them(tmp_path):
    (tmp_path / "uz.jsonl").write_bytes(b"of an earlier version")
    commit_folder(tmp_path, NEW, kind="lexicon", overwrite=True, obsolete=["uz.jsonl", "absent.jsonl", "a.txt"])
    assert contents(tmp_path) == NEW


@pytest.mark.parametrize("overwrite", [False, True])
def test_what_stands_in_the_way_is_named_before_anything_changes(tmp_path, overwrite):
    commit_folder(tmp_path, OLD, kind="site")
    (tmp_path / "x").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("/etc")
    for name, message in [
        ("x/page.html", "is a file where a folder is to be written"),
        ("folder", "is a folder where a file is to be written"),
        ("link/passwd", "leads through a symbolic link"),
        ("../victim.txt", "is not one inside the folder"),
    ]:
        with pytest.raises(InputError, match=message):
            commit_folder(tmp_path, NEW | {name: b"new"}, kind="site", overwrite=overwrite)
    finish_commit(tmp_path)
    assert contents(tmp_path) == OLD | {"x": b""}


# manifests of somebody else


@pytest.mark.parametrize("state", ["complete", "committing"])
@pytest.mark.parametrize("field", ["files", "removed"])
@pytest.mark.parametrize(
    "name", ["../victim.txt", "/tmp/victim.txt", "link/victim.txt", "a/../../victim.txt", "x" * 300]
)
def test_a_manifest_cannot_reach_out_of_its_folder(tmp_path, state, field, name):
    victim = tmp_path / "victim.txt"
    victim.write_bytes(b"mine")
    folder = tmp_path / "folder"
    manifest(folder, state=state, **{field: {name: sha256(b"mine")}})
    (folder / "link").symlink_to(tmp_path)
    for call in (lambda: finish_commit(folder), lambda: commit_folder(folder, NEW, kind="site", overwrite=True)):
        with pytest.raises(InputError, match="delete this file, or choose another folder"):
            call()
    assert victim.read_bytes() == b"mine"


def test_a_staging_folder_that_is_a_link_takes_nothing_from_where_it_leads(tmp_path):
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    (secrets / "key").write_bytes(b"secret")
    folder = tmp_path / "folder"
    manifest(folder, state="committing", files={"key": sha256(b"secret")})
    (folder / STAGED).symlink_to(secrets)
    for call in (lambda: finish_commit(folder), lambda: commit_folder(folder, NEW, kind="site", overwrite=True)):
        with pytest.raises(InputError, match="symbolic link"):
            call()
    assert (secrets / "key").read_bytes() == b"secret"
    assert list(secrets.iterdir()) == [secrets / "key"]


def test_staged_files_that_the_manifest_does_not_describe_are_not_taken(tmp_path):
    manifest(tmp_path, state="committing", files={"a.txt": sha256(b"right")})
    (tmp_path / STAGED).mkdir()
    (tmp_path / STAGED / "a.txt").write_bytes(b"wrong")
    with pytest.raises(InputError, match=r"'a.txt' was lost or changed since; write the folder again with --overwrite"):
        finish_commit(tmp_path)
    with pytest.raises(InputError, match="--overwrite"):
        commit_folder(tmp_path, NEW, kind="site")
    commit_folder(tmp_path, NEW, kind="site", overwrite=True)  # what the message says helps
    assert contents(tmp_path) == NEW


def test_a_removed_file_that_changed_meanwhile_stays(tmp_path):
    (tmp_path / "notes.txt").write_bytes(b"mine")
    manifest(tmp_path, state="committing", removed={"notes.txt": sha256(b"ours")})
    finish_commit(tmp_path)
    assert contents(tmp_path) == {"notes.txt": b"mine"}


FIELDS = st.sampled_from(["format", "kind", "state", "files", "removed", "more"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.sampled_from(["complete", "committing"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(changes=st.dictionaries(FIELDS, JSON, min_size=1, max_size=2), cut=st.integers(0, 60) | st.none())
def test_a_damaged_manifest_is_one_line_or_harmless(tmp_path, changes, cut):
    folder = tmp_path / "folder"
    (tmp_path / "victim.txt").write_bytes(b"mine")
    manifest(folder, **changes)
    if cut is not None:
        (folder / MANIFEST).write_bytes((folder / MANIFEST).read_bytes()[:cut])
    (folder / "mine.txt").write_bytes(b"mine")
    message = ""
    try:
        finish_commit(folder)
        our_files(folder)
    except InputError as error:
        message = str(error)
    assert "\n" not in message
    assert contents(folder) == {"mine.txt": b"mine"}
    assert (tmp_path / "victim.txt").read_bytes() == b"mine"


# temporary files


def ended_process():
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return child


def test_temporary_files_of_dead_processes_go_and_those_of_living_ones_stay(tmp_path):
    with new_folder(tmp_path / "probe") as unfinished:
        prefix = unfinished.name.rsplit("-", 2)[0]  # .tmp-<this machine>
    dead = ended_process()
    (tmp_path / f"{prefix}-{dead}-abc_1").write_bytes(b"half")
    (tmp_path / f"{prefix}-{dead}-folder").mkdir()
    (tmp_path / f"{prefix}-{dead}-folder" / "inner").write_bytes(b"half")
    alive = f"{prefix}-{os.getpid()}-abc"
    elsewhere = f".tmp-{'0' * 8}-{dead}-abc"
    theirs = ".tmp-mine"
    for name in (alive, elsewhere, theirs):
        (tmp_path / name).write_bytes(b"")
    check_writable(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([alive, elsewhere, theirs, "probe"])


def test_temporary_files_of_a_killed_writer_are_no_content_of_somebody_else(tmp_path):
    folder = tmp_path / "folder"
    (folder / STAGED / "data").mkdir(parents=True)
    (folder / STAGED / "data" / "x").write_bytes(b"half")
    (folder / LOCK).write_bytes(b"")
    commit_folder(folder, NEW, kind="site")
    assert contents(folder) == NEW
    assert leftovers(folder) == []


# one file, one new folder, one lock


def test_a_file_is_replaced_whole(tmp_path):
    path = tmp_path / "new" / "file.json"
    write_json(path, {"göz": [1, None]})
    assert path.read_text("utf-8") == '{\n  "göz": [\n    1,\n    null\n  ]\n}\n'
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, float("nan"))
    write_text(path, "göz\n")
    assert path.read_bytes() == "göz\n".encode()
    assert [entry.name for entry in path.parent.iterdir()] == ["file.json"]
    os.umask(mask := os.umask(0o022))
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_link_is_replaced_and_not_followed(tmp_path):
    (tmp_path / "target").write_bytes(b"theirs")
    (tmp_path / "link").symlink_to("target")
    write_bytes(tmp_path / "link", b"new")
    assert (tmp_path / "target").read_bytes() == b"theirs"
    assert (tmp_path / "link").read_bytes() == b"new"


def test_a_new_folder_gets_its_name_when_all_is_there(tmp_path):
    with new_folder(tmp_path / "a" / "model") as unfinished:
        (unfinished / "weights").write_bytes(b"1")
        assert not (tmp_path / "a" / "model").exists()
    assert contents(tmp_path) == {"a/model/weights": b"1"}
    with contextlib.suppress(KeyboardInterrupt), new_folder(tmp_path / "b") as unfinished:
        (unfinished / "weights").write_bytes(b"1")
        raise KeyboardInterrupt
    with pytest.raises(InputError, match="exists already") as caught, new_folder(tmp_path / "a" / "model"):
        pass
    assert caught.value.exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_lock_that_is_held_is_named_or_waited_for(tmp_path):
    with (
        locked(tmp_path / "lock"),
        pytest.raises(InputError, match="another run") as caught,
        locked(tmp_path / "lock", busy="another run uses this folder"),
    ):
        pass
    assert caught.value.exit_code == 2
    with locked(tmp_path / "lock", busy="free again"):
        pass


# disks that cannot take it


@pytest.mark.parametrize(("error", "words"), [(errno.ENOSPC, "No space left"), (errno.EROFS, "Read-only file system")])
def test_a_disk_that_is_full_or_read_only_is_one_line_and_leaves_the_old_content(tmp_path, monkeypatch, error, words):
    commit_folder(tmp_path, OLD, kind="site")
    real = os.fsync
    for n_writes in range(len(NEW) + 1):
        left = n_writes

        def fail(handle):
            nonlocal left
            if left == 0:
                raise OSError(error, os.strerror(error))
            left -= 1
            real(handle)

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            with pytest.raises(InputError, match=words) as caught:
                commit_folder(tmp_path, NEW, kind="site")
        assert "\n" not in str(caught.value)
        finish_commit(tmp_path)
        assert contents(tmp_path) == OLD
        assert [name for name in leftovers(tmp_path) if name != STAGED] == []


def test_a_disk_that_fails_after_the_commit_is_finished_by_the_next_reader(tmp_path, monkeypatch):
    commit_folder(tmp_path, OLD, kind="site")
    real = Path.replace

    def fail(path, target):
        if path.parent.name == "data" and STAGED in path.parts:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", fail)
        with pytest.raises(InputError, match="Input/output error"):
            commit_folder(tmp_path, {"data/b.txt": b"moved last"}, kind="site")
    finish_commit(tmp_path)


def test_names_and_places_that_cannot_be_written_are_one_line(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    for call, message in [
        (lambda: write_bytes(tmp_path / ("x" * 300), b""), "File name too long"),
        (lambda: write_bytes(tmp_path / "file" / "inner", b""), "cannot be written"),
        (lambda: write_bytes(tmp_path, b""), "Is a directory"),
        (lambda: check_writable(tmp_path / "file"), "cannot be written"),
        (lambda: check_writable(Path("/proc/nothing")), "cannot be written"),
        (lambda: commit_folder(tmp_path / ("x" * 300), NEW, kind="site"), "File name too long"),
        (lambda: commit_folder(tmp_path / "new", {"x" * 300: b""}, kind="site"), "File name too long"),
    ]:
        with pytest.raises(InputError, match=message) as caught:
            call()
        assert "\n" not in str(caught.value)
        assert "--out" in str(caught.value)
