"""Publishing of files in a repository on the Hub: a plan of what would change, then one commit.

Nothing is sent before the plan has been shown. Files that nobody changed are not sent again, so a second publish of the
same files makes no commit. Nothing is ever deleted: files that are no longer part of what is published are listed in
the plan and stay. Tags are set, never moved; repositories are created, never deleted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import CommitInfo, CommitOperationAdd, HfApi, errors
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils.sha import git_hash

from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.hub_client import hub_errors

DATASET, MODEL, SPACE = "dataset", "model", "space"
ADDED, CHANGED, UNCHANGED, LEFT_THERE = STATES = ("added", "changed", "unchanged", "left there")
_BRANCH = "main"
_HUBS_OWN = frozenset({".gitattributes"})  # files that the Hub puts into every repository
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_VERSION = re.compile(r"v\d+\.\d+\.\d+", re.ASCII)

Files = Mapping[str, bytes | Path]  # path in the repository -> content, or the local file with the content


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
    """What would happen to one file.

    Attributes:
        path: path in the repository.
        state: one of `STATES`.
        size: bytes of its content after the publish.
    """

    path: str
    state: str
    size: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What publishing would do.

    Attributes:
        target: the repository.
        head: the commit that the plan starts from; None if there is no such repository yet.
        changes: every file that is published, and those that stay although they are not published, by path.
        tag: the tag to set; None sets no tag.
        tag_is_set: whether the tag is there already, with exactly this content.
    """

    target: Target
    head: str | None
    changes: tuple[Change, ...]
    tag: str | None = None
    tag_is_set: bool = False

    def paths(self, state: str) -> list[str]:
        """Return the files in one of the `STATES`."""
        return [change.path for change in self.changes if change.state == state]

    @property
    def needs_commit(self) -> bool:
        """Return whether a file is added or changed."""
        return bool(self.paths(ADDED) or self.paths(CHANGED))

    def text(self) -> str:
        """Return the plan for a person to read, a line per file."""
        lines = [f"{self.target}: to be created, public unless the owner's default is private"]
        if self.head:
            lines = [f"{self.target} at {self.head}"]
        size = 0
        for change in self.changes:
            lines.append(f"  {change.state:10} {change.size:>11,} B  {change.path}")
            if change.state in (ADDED, CHANGED):
                size += change.size
        counts = ", ".join(f"{len(self.paths(state))} {state}" for state in STATES)
        lines.append(f"{counts}; {size:,} bytes to send")
        if self.tag:
            lines.append(f"tag {self.tag}: {'set already, with this content' if self.tag_is_set else 'to be set'}")
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class Published:
    """What the repository holds after a publish.

    Attributes:
        commit: SHA of the commit that holds the files.
        is_new: whether this publish made that commit.
    """

    commit: str
    is_new: bool


@dataclass(frozen=True, slots=True)
class _Remote:
    """A repository at one commit; without a commit there is no such repository."""

    head: str | None
    files: Mapping[str, RepoFile]


def folder_files(folder: Path) -> dict[str, bytes | Path]:
    """Return path -> file for every regular file below a folder, hidden files and folders left out.

    Raises:
        InputError: there is no file, or one is a symbolic link, which may point outside.
    """
    files: dict[str, bytes | Path] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if any(part.startswith(".") for part in name.parts):
            continue
        if path.is_symlink():
            raise InputError(f"{path}: is a symbolic link; replace it by what it points to")
        if path.is_file():
            files[name.as_posix()] = path
    if not files:
        raise InputError(f"{folder}: no such folder, or no file in it")
    return files


def check_version(version: str | None) -> None:
    """Raise a usage error unless a version, if there is one, looks like v1.0.0."""
    if version is not None and not _VERSION.fullmatch(version):
        raise usage_error(f"--version {version!r}: a version looks like v1.0.0")


def make_plan(files: Files, target: Target, *, tag: str | None = None, is_whole: bool = False) -> Plan:
    """Return what publishing the files would do; nothing is sent.

    Args:
        files: the files that are published.
        target: the repository.
        tag: version to set as a tag.
        is_whole: whether the repository is meant to hold these files only; the plan then also names all others.

    Raises:
        InputError: the repository cannot be read, or has the tag with other content.
    """
    with hub_errors(str(target)):
        remote = _read_remote(target, _BRANCH)
        tagged = _read_tagged(target, tag) if tag and remote.head else None
    if tagged and any(change.state != UNCHANGED for change in _compare(files, tagged)):
        raise InputError(
            f"{target}: the tag {tag} is there already with other content (commit {tagged.head}), and tags are never "
            "moved; publish with another --version"
        )
    changes = _compare(files, remote)
    if is_whole:
        for path, item in remote.files.items():
            if path not in files and path not in _HUBS_OWN:
                changes.append(Change(path, LEFT_THERE, item.size))
    ordered = sorted(changes, key=lambda change: change.path)
    return Plan(target, remote.head, tuple(ordered), tag, tag_is_set=tagged is not None)


def send(plan: Plan, files: Files, *, message: str) -> Published:
    """Carry out a plan: create the repository if there is none, make at most one commit, set the tag.

    Args:
        plan: from `make_plan` for the same files.
        files: as they were planned.
        message: message of the commit.

    Raises:
        InputError: the token has no right to write, somebody else committed meanwhile, or the connection broke; another
            run completes the publish.
    """
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
    """Return the address of a pull request with the changes of a plan: an open one with this content, or a new one.

    Args:
        plan: from `make_plan` for the same files.
        files: as they were planned.
        title: title of the pull request.

    Raises:
        InputError: there is no such repository, the token has no right to it, or the connection broke.
    """
    target = plan.target
    if plan.head is None:
        raise InputError(f"{target}: no such repository, or the token may not see it; check the name")
    with hub_errors(str(target)):
        requests = HfApi().get_repo_discussions(
            target.name, repo_type=target.kind, discussion_type="pull_request", discussion_status="open"
        )
        for request in requests:
            if request.title == title:
                proposed = _read_remote(target, f"refs/pr/{request.num}")
                if all(change.state == UNCHANGED for change in _compare(files, proposed)):
                    return str(request.url)
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
    """Show the plan and, if it is confirmed, carry it out; all commands that publish files use this function.

    Args:
        files: all files that the repository is meant to hold.
        target: the repository.
        message: message of the commit.
        confirmed: False is a dry run.
        write: takes the plan and the outcome as text.
        tag: version to set as a tag.

    Returns:
        None after a dry run.

    Raises:
        InputError: as `make_plan` and `send`.
    """
    plan = make_plan(files, target, tag=tag, is_whole=True)
    write(plan.text())
    if not confirmed:
        write("Dry run: nothing was sent; add --yes to publish.\n")
        return None
    published = send(plan, files, message=message)
    write(f"commit {published.commit}" + ("\n" if published.is_new else ", as before: nothing has changed\n"))
    return published


def _commit(plan: Plan, files: Files, *, message: str, create_pr: bool = False) -> CommitInfo:
    operations = []
    for path in sorted([*plan.paths(ADDED), *plan.paths(CHANGED)]):
        operations.append(CommitOperationAdd(path, files[path]))
    return HfApi().create_commit(
        plan.target.name,
        operations=operations,
        commit_message=message,
        repo_type=plan.target.kind,
        parent_commit=plan.head,
        create_pr=create_pr,
    )


def _read_remote(target: Target, revision: str) -> _Remote:
    api = HfApi()
    try:
        head = str(api.repo_info(target.name, repo_type=target.kind, revision=revision).sha)
    except errors.RepositoryNotFoundError:
        return _Remote(None, {})
    files = {}
    for item in api.list_repo_tree(target.name, repo_type=target.kind, revision=head, recursive=True):
        if isinstance(item, RepoFile):
            files[item.path] = item
    return _Remote(head, files)


def _read_tagged(target: Target, tag: str) -> _Remote | None:
    """Return the repository at a tag, or None if there is no such tag."""
    tags = HfApi().list_repo_refs(target.name, repo_type=target.kind).tags
    return _read_remote(target, f"refs/tags/{tag}") if tag in [ref.name for ref in tags] else None


def _compare(files: Files, remote: _Remote) -> list[Change]:
    """Return whether each file is added, changed or unchanged."""
    changes = []
    for path, content in files.items():
        operation = CommitOperationAdd(path, content)
        item = remote.files.get(path)
        state = ADDED
        if item is not None:
            state = UNCHANGED if _is_same(operation, item) else CHANGED
        changes.append(Change(path, state, operation.upload_info.size))
    return changes


def _is_same(operation: CommitOperationAdd, item: RepoFile) -> bool:
    """Return whether a file on the Hub, known by its SHA-256 or by its git blob id, has the content to be sent."""
    if item.lfs is not None:
        return bool(operation.upload_info.sha256.hex() == item.lfs.sha256)
    with operation.as_file() as file:
        return bool(git_hash(file.read()) == item.blob_id)
