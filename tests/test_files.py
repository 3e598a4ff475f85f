"""The one writer: old content or new content, never a mixture, and nothing of anybody else's."""

import contextlib
import errno
import hashlib
import itertools
import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.killing import NOBODY, all_at_once, become_nobody, every_kill, readable
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.files import (
    LOCK,
    MANIFEST,
    check_writable,
    commit_folder,
    locked,
    new_folder,
    read_committed,
    read_manifest,
    restore_folder,
    write_bytes,
    write_json,
    write_text,
)

OLD = {"a.txt": b"old a", "data/b.txt": b"old b", "gone/c.txt": b"old c"}
NEW = {"a.txt": b"new a", "data/b.txt": b"new b", "data/d.txt": b"new d"}


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def contents(folder):
    """Path -> content of every file that is not a record of the writer itself."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not name.startswith((".turkic-idiom", ".tmp-")):
            found[name] = path.read_bytes()
    return found


def leftovers(folder):
    """What a commit leaves inside a folder or beside it, its lock aside."""
    beside = [path for path in folder.parent.iterdir() if path.name.startswith((".tmp-", f".{folder.name}.turkic"))]
    return sorted(path.name for path in [*beside, *folder.rglob(".tmp-*")] if not path.name.endswith("-lock"))


def manifest(folder, **changes):
    """Write a manifest as somebody else may have."""
    fields = {"format": 1, "kind": "site", "state": "complete", "files": {}, "removed": {}} | changes
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MANIFEST).write_text(json.dumps(fields))


# one commit


@pytest.mark.parametrize("has_hard_links", [True, False])
def test_a_commit_replaces_ours_and_leaves_what_is_not_ours(tmp_path, monkeypatch, has_hard_links):
    folder = tmp_path / "new" / "folder"
    commit_folder(folder, OLD, kind="site")
    (folder / "mine.txt").write_bytes(b"mine")
    (folder / "gone" / "mine.txt").write_bytes(b"mine too")
    (folder / "empty").mkdir(mode=0o700)
    (folder / "link").symlink_to("nowhere")
    (folder / "folder link").symlink_to("data")

    def refuse(*arguments, **options):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    if not has_hard_links:
        monkeypatch.setattr(os, "link", refuse)  # and so they are copied

    def stamps():
        files = [(folder / name).stat() for name in ("mine.txt", "data/b.txt")]  # the second one does not change
        return [(file.st_ino if has_hard_links else 0, file.st_mtime_ns) for file in files]

    before = stamps()
    new = NEW | {"data/b.txt": OLD["data/b.txt"]}
    commit_folder(folder, new, kind="site")
    assert contents(folder) == new | {"mine.txt": b"mine", "gone/mine.txt": b"mine too"}
    assert read_manifest(folder).files == {name: sha256(content) for name, content in new.items()}
    assert stamps() == before
    assert (folder / "empty").stat().st_mode & 0o777 == 0o700
    assert [os.readlink(folder / name) for name in ("link", "folder link")] == ["nowhere", "data"]
    assert leftovers(folder) == []
    (folder / "gone" / "mine.txt").unlink()
    (folder / "gone").rmdir()
    commit_folder(folder, {}, kind="site")
    assert contents(folder) == {"mine.txt": b"mine"}
    assert not (folder / "data").exists()  # it had nothing but ours


@pytest.mark.long
@pytest.mark.usefixtures("no_flushing")
@pytest.mark.parametrize("earlier", [None, OLD], ids=["new folder", "earlier content"])
def test_a_kill_before_any_write_leaves_the_old_or_the_new_content(tmp_path, earlier):
    number = itertools.count()

    def prepare():
        nonlocal folder
        folder = tmp_path / str(next(number))
        if earlier is not None:
            commit_folder(folder, earlier, kind="site")
            (folder / "mine.txt").write_bytes(b"mine")

    folder, outcomes = tmp_path, []
    mine = {} if earlier is None else {"mine.txt": b"mine"}
    for _ in every_kill(prepare, lambda: commit_folder(folder, NEW, kind="site"), below=tmp_path):
        seen = read_committed(folder, lambda: contents(folder))
        assert seen in ((earlier or {}) | mine, NEW | mine)
        outcomes.append(seen == NEW | mine)
        commit_folder(folder, NEW, kind="site")  # the same command goes on
        assert contents(folder) == NEW | mine
        assert leftovers(folder) == []
    assert outcomes == sorted(outcomes)  # old up to one point, new from there on
    assert False in outcomes
    assert (True in outcomes) == (earlier is not None)  # the last write puts a new folder in its place


def test_a_folder_that_was_moved_aside_is_put_back_and_never_thrown_away(tmp_path):
    folder, aside = tmp_path / "folder", tmp_path / ".folder.turkic-idiom-old"
    commit_folder(folder, OLD, kind="site")
    (folder / "mine.txt").write_bytes(b"mine")
    for come_next in (
        lambda: restore_folder(folder),
        lambda: read_committed(folder, lambda: None),
        lambda: (folder.mkdir(), restore_folder(folder)),  # some command has made the folder already
        lambda: commit_folder(folder, OLD, kind="site"),
    ):
        folder.rename(aside)  # by a process that is killed between the two renames
        come_next()
        assert contents(folder) == OLD | {"mine.txt": b"mine"}
        assert leftovers(folder) == []
    folder.rename(aside)
    folder.mkdir()
    (folder / "new.txt").write_bytes(b"new")  # which is not ours
    for call in (lambda: restore_folder(folder), lambda: commit_folder(folder, NEW, kind="site", overwrite=True)):
        with pytest.raises(InputError, match="not empty"):
            call()
    assert contents(folder) == {"new.txt": b"new"}
    assert contents(aside) == OLD | {"mine.txt": b"mine"}


@pytest.mark.usefixtures("no_flushing")
def test_two_writers_at_once_leave_the_content_of_one(tmp_path):
    folder = tmp_path / "folder"
    versions = [{f"{n}.txt": f"{writer} {n}".encode() for n in range(6)} for writer in range(4)]

    def write(version):
        for _ in range(5):
            commit_folder(folder, version, kind="site")

    with ThreadPoolExecutor() as threads:
        list(threads.map(write, versions))
    assert contents(folder) in versions
    assert leftovers(folder) == []


# what is not ours


def test_files_of_somebody_else_and_changed_ones_of_ours_are_refused_or_left_alone(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.txt").write_bytes(b"theirs")
    (folder / "thesis.txt").write_bytes(b"theirs")
    theirs = contents(folder)
    with pytest.raises(InputError, match=r"holds 'a.txt' and was not written by this command; .* pass --overwrite"):
        commit_folder(folder, NEW, kind="site", overwrite=False)
    assert contents(folder) == theirs
    commit_folder(folder, NEW, kind="site", overwrite=True)
    assert contents(folder) == NEW | {"thesis.txt": b"theirs"}
    commit_folder(folder, NEW, kind="site", overwrite=True, obsolete=["thesis.txt", "absent.jsonl", "a.txt"])
    assert contents(folder) == NEW
    with pytest.raises(InputError, match="holds a site, not a lexicon"):
        commit_folder(folder, NEW, kind="lexicon", overwrite=True)
    (folder / "a.txt").write_bytes(b"edited")
    (folder / "data" / "b.txt").write_bytes(b"edited too")
    with pytest.raises(InputError, match=r"a\.txt: was changed since it was written"):
        commit_folder(folder, OLD, kind="site")
    assert contents(folder)["a.txt"] == b"edited"
    commit_folder(folder, {"a.txt": b"new"}, kind="site", overwrite=True)
    assert contents(folder) == {"a.txt": b"new", "data/b.txt": b"edited too"}
    with pytest.raises(InputError, match=r"b\.txt: is not a file of ours"):
        commit_folder(folder, NEW, kind="site")


def test_what_stands_in_the_way_is_named_before_anything_changes(tmp_path):
    folder = tmp_path / "out"
    commit_folder(folder, OLD, kind="site")
    (folder / "x").write_bytes(b"")
    (folder / "folder").mkdir()
    (folder / "link").symlink_to("/etc")
    for name, message in [
        ("x/page.html", "out/x: is in the way"),
        ("folder", "out/folder: is in the way"),
        ("link/passwd", "leads through a symbolic link"),
        ("../victim.txt", "is not one inside the folder"),
    ]:
        with pytest.raises(InputError, match=message):
            commit_folder(folder, NEW | {name: b"new"}, kind="site", overwrite=True)
    assert contents(folder) == OLD | {"x": b""}


def test_a_link_to_a_folder_stays_a_link(tmp_path):
    (tmp_path / "served").mkdir()
    (tmp_path / "site").symlink_to("served")
    for files in (OLD, NEW):
        commit_folder(tmp_path / "site", files, kind="site")
    assert os.readlink(tmp_path / "site") == "served"
    assert contents(tmp_path / "served") == NEW


def test_the_folder_in_which_somebody_works_is_not_taken_away(tmp_path, monkeypatch):
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "folder" / "inner")
    for folder in (Path(".."), tmp_path / "folder", Path(".")):
        with pytest.raises(InputError, match="is or holds the current folder"):
            commit_folder(folder, NEW, kind="site", overwrite=True)
    commit_folder(Path("new"), NEW, kind="site")
    assert contents(tmp_path / "folder" / "inner" / "new") == NEW


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
@pytest.mark.parametrize("locked_place", ["parent", "theirs"])
def test_a_user_without_rights_changes_nothing(tmp_path, locked_place):
    """The folder is the user's own, but what it is in, or a folder of somebody else in it, is not."""
    folder = tmp_path / "parent" / "folder"
    commit_folder(folder, OLD, kind="site")
    (folder / "theirs").mkdir()
    (folder / "theirs" / "x").write_bytes(b"theirs")
    for path in (tmp_path / "parent", *(tmp_path / "parent").rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    os.chown({"parent": tmp_path / "parent", "theirs": folder / "theirs"}[locked_place], 0, 0)

    def write():
        become_nobody()
        with pytest.raises(InputError, match=rf"\A{folder.parent}[^.:]*: cannot be written.*\Z"):
            commit_folder(folder, NEW, kind="site")

    with readable([tmp_path, *tmp_path.parents]):
        assert all_at_once([write]) == [0]
    assert contents(folder) == OLD | {"theirs/x": b"theirs"}
    assert leftovers(folder) == []


# manifests of somebody else


@pytest.mark.parametrize("name", ["/tmp/victim.txt", "link/victim.txt", "a/../../victim.txt", "x" * 300])
def test_a_manifest_cannot_reach_out_of_its_folder(tmp_path, name):
    victim = tmp_path / "victim.txt"
    victim.write_bytes(b"mine")
    folder = tmp_path / "folder"
    manifest(folder, files={name: sha256(b"mine")})
    (folder / "link").symlink_to(tmp_path)
    message = "delete this file, or choose another folder"
    with pytest.raises(InputError, match=message):
        read_committed(folder, lambda: None)
    with pytest.raises(InputError, match=message):
        commit_folder(folder, NEW, kind="site", overwrite=True)
    assert victim.read_bytes() == b"mine"


def test_what_an_earlier_version_left_is_read_or_refused(tmp_path):
    folder = tmp_path / "folder"
    manifest(folder, files={"a.txt": sha256(b"old a")}, removed={"b.txt": "0" * 64})
    (folder / "a.txt").write_bytes(b"old a")
    (folder / LOCK).write_bytes(b"")
    (folder / ".turkic-idiom-staged" / "data").mkdir(parents=True)
    commit_folder(folder, NEW, kind="site")
    assert contents(folder) == NEW
    assert sorted(path.name for path in folder.iterdir()) == [MANIFEST, "a.txt", "data"]
    manifest(folder, state="committing", files={"a.txt": sha256(b"old a")})  # killed in the middle: a mixture
    for cut in (None, 40):
        (folder / MANIFEST).write_bytes((folder / MANIFEST).read_bytes()[:cut])
        with pytest.raises(InputError, match=r"(field 'state'|malformed JSON).*delete this file"):
            read_committed(folder, lambda: None)


# temporary files


def test_temporary_files_of_dead_processes_go_and_those_of_living_ones_stay(tmp_path):
    with new_folder(tmp_path / "probe") as unfinished:
        prefix = unfinished.name.rsplit("-", 2)[0]  # .tmp-<this machine>
    with subprocess.Popen(["true"]) as ended:
        dead = ended.pid
    (tmp_path / f"{prefix}-{dead}-abc_1").write_bytes(b"half")
    (tmp_path / f"{prefix}-{dead}-folder").mkdir()
    (tmp_path / f"{prefix}-{dead}-folder" / "inner").write_bytes(b"half")
    stay = {f"{prefix}-{os.getpid()}-abc", f".tmp-{'0' * 8}-{dead}-abc", ".tmp-mine"}  # of other machines, not ours
    for name in stay:
        (tmp_path / name).write_bytes(b"")
    check_writable(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == stay | {"probe"}


# one file, one new folder, one lock


def test_a_file_is_replaced_whole(tmp_path):
    path = tmp_path / "new" / "file.json"
    write_json(path, {"göz": [1, None]})
    assert path.read_text("utf-8") == '{\n  "göz": [\n    1,\n    null\n  ]\n}\n'
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, float("nan"))
    (tmp_path / "target").write_bytes(b"theirs")
    path.unlink()
    path.symlink_to(tmp_path / "target")  # which is replaced, and not followed
    write_text(path, "göz\n")
    assert (path.read_bytes(), (tmp_path / "target").read_bytes()) == ("göz\n".encode(), b"theirs")
    assert [entry.name for entry in path.parent.iterdir()] == ["file.json"]
    os.umask(mask := os.umask(0o022))
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask


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
    lock = tmp_path / "lock"
    with locked(lock), pytest.raises(InputError, match="another run") as caught, locked(lock, busy="another run"):
        pass
    assert caught.value.exit_code == 2
    with locked(lock, busy="free again"):
        pass


# disks that cannot take it


@pytest.mark.parametrize(("error", "words"), [(errno.ENOSPC, "No space left"), (errno.EROFS, "Read-only file system")])
def test_a_disk_that_is_full_or_read_only_is_one_line_and_leaves_the_old_content(tmp_path, monkeypatch, error, words):
    folder = tmp_path / "folder"
    commit_folder(folder, OLD, kind="site")
    real = os.fsync
    for n_writes in range(len(NEW) + 1):
        left = n_writes

        def fail(handle):
            nonlocal left
            if left == 0:
                raise OSError(error, os.strerror(error))
            left -= 1
            real(handle)

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(InputError, match=words) as caught:
            commit_folder(folder, NEW, kind="site")
        assert str(caught.value).startswith(f"{folder}: ")  # no temporary folder, which is gone by now
        assert "\n" not in str(caught.value)
        assert contents(folder) == OLD
        assert leftovers(folder) == []


def test_names_and_places_that_cannot_be_written_are_one_line(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    for call, message in [
        (lambda: write_bytes(tmp_path / ("x" * 300), b""), "File name too long"),
        (lambda: write_bytes(tmp_path / "file" / "inner", b""), "cannot be written"),
        (lambda: write_bytes(tmp_path, b""), "Is a directory"),
        (lambda: check_writable(Path("/proc/nothing")), "cannot be written"),
        (lambda: commit_folder(tmp_path / ("x" * 300), NEW, kind="site"), "File name too long"),
        (lambda: commit_folder(tmp_path / "new", {"x" * 300: b""}, kind="site"), "File name too long"),
    ]:
        with pytest.raises(InputError, match=message) as caught:
            call()
        assert "\n" not in str(caught.value)
        assert "--out" in str(caught.value)
