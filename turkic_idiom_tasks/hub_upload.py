"""A folder of files to a repository on the Hub: what would change, and one commit that changes it.

Nothing is sent before a plan is there to be read. Files that nobody changed are not sent again, so a second publish of
the same files makes no commit. A file is deleted only if the manifest in the repository says that an earlier publish
put it there. Tags are set, never moved; repositories are created, never deleted. The token is the client's own affair.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.hub_client import hub_errors

MANIFEST = ".export_manifest.json"  # which files are ours, and the hashes of what we wrote
DATASET, MODEL, SPACE = "dataset", "model", "space"
ADDED, CHANGED, DELETED, UNCHANGED = "added", "changed", "deleted", "unchanged"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_VERSION = re.compile(r"v\d+\.\d+\.\d+", re.ASCII)

Files = Mapping[str, bytes | Path]  # path in the repository -> content, or where it stands


@dataclass(frozen=True, slots=True)
class Target:
    """A repository on the Hub.

    Attributes:
        name: ORG/NAME.
        kind: `DATASET`, `MODEL` or `SPACE`.
    """

    name: str
    kind: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise usage_error(f"{self.name!r}: a repository on the Hub is named ORG/NAME")

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Change:
    """What would happen to one file; `size` is that of the new content in bytes, 0 for a deleted one."""

    path: str
    state: str
    size: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What publishing would do.

    Attributes:
        target: where.
        head: the commit that the plan starts from; None where there is no such repository yet.
        changes: every file that is sent or was sent before, by path.
        tag: to set; None for none.
        tag_is_set: the tag is there already, with this very content.
    """

    target: Target
    head: str | None
    changes: tuple[Change, ...]
    tag: str | None = None
    tag_is_set: bool = False

    def paths(self, state: str) -> list[str]:
        """The files in one of the four states."""
        return [change.path for change in self.changes if change.state == state]

    @property
    def needs_commit(self) -> bool:
        """Whether a file is added, changed or deleted."""
        return any(change.state != UNCHANGED for change in self.changes)

    def text(self) -> str:
        """The plan for a person to read, a line per file."""
        new = f"{self.target}: to be created, public unless the owner's default is private"
        lines = [f"{self.target} at {self.head}" if self.head else new]
        lines += [f"  {change.state:9} {change.size:>11,} B  {change.path}" for change in self.changes]
        counts = ", ".join(f"{len(self.paths(state))} {state}" for state in (ADDED, CHANGED, DELETED, UNCHANGED))
        size = sum(change.size for change in self.changes if change.state in (ADDED, CHANGED))
        lines.append(f"{counts}; {size:,} bytes to send")
        if self.tag:
            lines.append(f"tag {self.tag}: {'set already, with this content' if self.tag_is_set else 'to be set'}")
        return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True)
class Published:
    """What the repository now is.

    Attributes:
        commit: SHA that holds the files.
        is_new: whether this publish made that commit.
    """

    commit: str
    is_new: bool


@dataclass(frozen=True, slots=True)
class _Remote:
    """Files of a repository at one commit: path -> SHA-256 of an LFS file, git blob id of another."""

    head: str | None
    oids: Mapping[str, str]
    ours: frozenset[str] = frozenset()


def folder_files(folder: Path) -> dict[str, bytes | Path]:
    """Path -> file for every regular file below a folder, hidden files and folders left out.

    Raises:
        InputError: there is none, or one is a symbolic link, which may point outside.
    """
    found: dict[str, bytes | Path] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if any(part.startswith(".") for part in name.parts):
            continue
        if path.is_symlink():
            raise InputError(f"{path}: is a symbolic link; replace it by what it points to")
        if path.is_file():
            found[name.as_posix()] = path
    if not found:
        raise InputError(f"{folder}: no such folder, or no file in it")
    return found


def manifest(files: Files) -> bytes:
    """The content of `MANIFEST` for these files: their paths and the SHA-256 of each."""
    hashes = {path: [_digest(files[path], "sha256")] for path in sorted(files) if path != MANIFEST}
    return (json.dumps({"files": hashes}, ensure_ascii=False, indent=2) + "\n").encode("utf-8")


def check_version(version: str | None) -> None:
    """Raises a usage error unless a version, if there is one, looks like v1.0.0."""
    if version is not None and not _VERSION.fullmatch(version):
        raise usage_error(f"--version {version!r}: a version looks like v1.0.0")


def make_plan(files: Files, target: Target, *, tag: str | None = None) -> Plan:
    """What publishing the files would do; nothing is sent.

    Args:
        files: all there shall be of ours; a `MANIFEST` among them says what a later publish may delete.
        target: where.
        tag: a version to set.

    Raises:
        InputError: the repository cannot be read, or has the tag with other content.
    """
    with hub_errors(str(target)):
        remote = _remote(target, "main")
        tagged = _tagged(target, tag) if tag and remote.head else None
    if tagged and _changed(files, tagged):
        raise InputError(
            f"{target}: the tag {tag} is there already with other content (commit {tagged.head}), and tags are never "
            "moved; publish with another --version"
        )
    return Plan(target, remote.head, _changes(files, remote), tag, tag_is_set=tagged is not None)


def send(plan: Plan, files: Files, *, message: str) -> Published:
    """Carries out a plan: creates the repository if need be, makes at most one commit, sets the tag.

    Args:
        plan: from `make_plan` for the same files.
        files: as they were planned.
        message: of the commit.

    Raises:
        InputError: no right, somebody else committed meanwhile, or the connection broke; running again completes it.
    """
    from huggingface_hub import HfApi

    api, target = HfApi(), plan.target
    with hub_errors(str(target)):
        if plan.head is None:
            sdk = "static" if target.kind == SPACE else None
            api.create_repo(target.name, repo_type=target.kind, space_sdk=sdk, exist_ok=True)
            plan = make_plan(files, target, tag=plan.tag)  # the Hub puts files of its own into a new repository
        if plan.head is None:
            raise InputError(
                f"{target}: is there, but the token may not see it; log in with another one: hf auth login"
            )
        commit = plan.head
        if plan.needs_commit:
            commit = _commit(plan, files, message=message).oid
        if plan.tag and not plan.tag_is_set:
            api.create_tag(target.name, tag=plan.tag, revision=commit, repo_type=target.kind)
    return Published(commit, is_new=plan.needs_commit)


def propose(plan: Plan, files: Files, *, title: str) -> str:
    """The address of a pull request with the changes of a plan: one that is open with this content, or a new one.

    Args:
        plan: from `make_plan` for the same files.
        files: as they were planned.
        title: of the pull request.

    Raises:
        InputError: no such repository, no right, or the connection broke.
    """
    from huggingface_hub import HfApi

    target = plan.target
    if plan.head is None:
        raise InputError(f"{target}: no such repository, or the token may not see it; check the name")
    with hub_errors(str(target)):
        for found in HfApi().get_repo_discussions(
            target.name, repo_type=target.kind, discussion_type="pull_request", discussion_status="open"
        ):
            if found.title == title and not _changed(files, _remote(target, f"refs/pr/{found.num}")):
                return str(found.url)
        return str(_commit(plan, files, message=title, create_pr=True).pr_url)


def publish(
    files: Files,
    target: Target,
    *,
    message: str,
    confirmed: bool,
    write: Callable[[str], object],
    tag: str | None = None,
) -> Published | None:
    """What every publishing command does: shows the plan and, when it is confirmed, carries it out.

    Args:
        files: all there shall be of ours; the manifest is added.
        target: where.
        message: of the commit.
        confirmed: False is a dry run.
        write: takes the plan as text.
        tag: a version to set.

    Returns:
        None after a dry run.

    Raises:
        InputError: as `make_plan` and `send`.
    """
    files = {**files, MANIFEST: manifest(files)}
    plan = make_plan(files, target, tag=tag)
    write(plan.text())
    if not confirmed:
        write("Dry run: nothing was sent; add --yes to publish.\n")
        return None
    published = send(plan, files, message=message)
    write(f"commit {published.commit}" + ("\n" if published.is_new else ", as before: nothing has changed\n"))
    return published


def _commit(plan: Plan, files: Files, *, message: str, create_pr: bool = False) -> Any:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

    changed = [*plan.paths(ADDED), *plan.paths(CHANGED)]
    return HfApi().create_commit(
        plan.target.name,
        operations=[
            *(CommitOperationAdd(path, files[path]) for path in sorted(changed)),
            *(CommitOperationDelete(path) for path in plan.paths(DELETED)),
        ],
        commit_message=message,
        repo_type=plan.target.kind,
        parent_commit=plan.head,
        create_pr=create_pr,
    )


def _remote(target: Target, revision: str) -> _Remote:
    from huggingface_hub import HfApi, errors, hf_hub_download

    api = HfApi()
    try:
        head = str(api.repo_info(target.name, repo_type=target.kind, revision=revision).sha)
    except errors.RepositoryNotFoundError:
        return _Remote(None, {})
    tree = api.list_repo_tree(target.name, repo_type=target.kind, revision=head, recursive=True)
    oids = {item.path: item.lfs.sha256 if item.lfs else item.blob_id for item in tree if hasattr(item, "blob_id")}
    if MANIFEST not in oids:
        return _Remote(head, oids)
    path = hf_hub_download(target.name, MANIFEST, repo_type=target.kind, revision=head)
    try:
        ours = frozenset(json.loads(Path(path).read_text("utf-8"))["files"])
    except (ValueError, KeyError, TypeError):  # not as we write it, so nothing is known to be ours
        ours = frozenset()
    return _Remote(head, oids, ours)


def _tagged(target: Target, tag: str) -> _Remote | None:
    from huggingface_hub import HfApi

    tags = {ref.name for ref in HfApi().list_repo_refs(target.name, repo_type=target.kind).tags}
    return _remote(target, f"refs/tags/{tag}") if tag in tags else None


def _changes(files: Files, remote: _Remote) -> tuple[Change, ...]:
    changes = [Change(path, DELETED, 0) for path in remote.ours & set(remote.oids) - set(files)]
    for path, content in files.items():
        oid = remote.oids.get(path)
        size = len(content) if isinstance(content, bytes) else content.stat().st_size
        changes.append(Change(path, ADDED if oid is None else UNCHANGED if _has(content, oid) else CHANGED, size))
    return tuple(sorted(changes, key=lambda change: change.path))


def _changed(files: Files, remote: _Remote) -> bool:
    return any(change.state != UNCHANGED for change in _changes(files, remote))


def _has(content: bytes | Path, oid: str) -> bool:
    """Whether a content has a git blob id (40 digits) or, of an LFS file, a SHA-256 (64)."""
    return _digest(content, "sha1" if len(oid) == 40 else "sha256") == oid


def _digest(content: bytes | Path, algorithm: str) -> str:
    """SHA-256 of a content, or with ``sha1`` its git blob id, in hexadecimal."""
    size = len(content) if isinstance(content, bytes) else content.stat().st_size
    digest = hashlib.new(algorithm, b"blob %d\0" % size if algorithm == "sha1" else b"", usedforsecurity=False)
    if isinstance(content, bytes):
        digest.update(content)
        return digest.hexdigest()
    with content.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
