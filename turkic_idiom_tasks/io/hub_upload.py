"""Publishing of files in a repository on the Hub: a plan of what would change, then one commit."""

import re
from collections import Counter
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
_HUBS_OWN = frozenset({".gitattributes"})  # files that the Hub puts into every repository
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)

Files = Mapping[str, bytes | Path]  # path in the repository -> content, or the local file with the content


@dataclass(frozen=True, slots=True)
class Target:
    """A repository on the Hub."""

    name: str  # ORG/NAME
    kind: str  # `DATASET`, `MODEL` or `SPACE`

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise usage_error(f"{self.name!r}: a repository on the Hub is named ORG/NAME")

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Plan:
    """What publishing would do."""

    target: Target
    head: str | None  # the commit that the plan starts from; None if there is no such repository yet
    # Path of every file that is published, or stays although it is not -> one of `STATES`, and its bytes afterwards
    changes: dict[str, tuple[str, int]]
    tag: str | None = None  # the tag to set
    tag_is_set: bool = False  # whether the tag is there already, with exactly this content

    def to_send(self) -> list[str]:
        """Return the paths of the files that are added or changed."""
        return [path for path, (state, _) in self.changes.items() if state in (ADDED, CHANGED)]

    def text(self) -> str:
        """Return the plan for a person to read, a line per file."""
        lines = [f"{self.target}: to be created, public unless the owner's default is private"]
        if self.head:
            lines = [f"{self.target} at {self.head}"]
        n_bytes = 0
        for path, (state, size) in self.changes.items():
            lines.append(f"  {state:10} {size:>11,} B  {path}")
            n_bytes += size if state in (ADDED, CHANGED) else 0
        n_files = Counter(state for state, _ in self.changes.values())
        counts = ", ".join(f"{n_files[state]} {state}" for state in STATES)
        lines.append(f"{counts}; {n_bytes:,} bytes to send")
        if self.tag:
            lines.append(f"tag {self.tag}: {'set already, with this content' if self.tag_is_set else 'to be set'}")
        return "\n".join(lines) + "\n"


def folder_files(folder: Path) -> dict[str, bytes | Path]:
    """Return path -> file for every regular file below a folder, hidden files and folders left out."""
    files: dict[str, bytes | Path] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if any(part.startswith(".") for part in name.parts):
            continue
        if path.is_symlink():
            raise InputError(f"{path}: is a symbolic link; replace it by what it points to")
        if path.is_file():
            files[name.as_posix()] = path
    return files


def make_plan(files: Files, target: Target, *, tag: str | None = None, is_whole: bool = False) -> Plan:
    """Return what publishing the files and setting a tag would do; nothing is sent."""
    api = HfApi()
    tag_is_set = False
    with hub_errors(str(target)):
        head, remote = _read_remote(target, "main")
        if tag and head:
            tags = api.list_repo_refs(target.name, repo_type=target.kind).tags
            tag_is_set = tag in [ref.name for ref in tags]
        if tag_is_set:
            commit, tagged = _read_remote(target, f"refs/tags/{tag}")
            if any(state != UNCHANGED for state, _ in _compare(files, tagged).values()):
                raise InputError(
                    f"{target}: the tag {tag} is there already with other content (commit {commit}), and tags are "
                    "never moved; publish with another --version"
                )
    changes = _compare(files, remote)
    # Nothing is ever deleted: files that are no longer part of what is published are listed, and stay.
    for path, item in remote.items():
        if is_whole and path not in files and path not in _HUBS_OWN:
            changes[path] = (LEFT_THERE, item.size)
    return Plan(target, head, dict(sorted(changes.items())), tag, tag_is_set)


def propose(plan: Plan, files: Files, *, title: str) -> str:
    """Return the address of a pull request with the changes of a plan: an open one with this content, or a new one."""
    target = plan.target
    with hub_errors(str(target)):
        requests = HfApi().get_repo_discussions(
            target.name, repo_type=target.kind, discussion_type="pull_request", discussion_status="open"
        )
        # The same command given twice makes no second pull request.
        for request in requests:
            if request.title == title:
                _, proposed = _read_remote(target, f"refs/pr/{request.num}")
                if all(state == UNCHANGED for state, _ in _compare(files, proposed).values()):
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
) -> str | None:
    """Show the plan and, if it is confirmed, create the repository, make at most one commit and set the tag.

    The files are all that the repository is meant to hold. Return the commit that holds them; None after a dry run.
    """
    plan = make_plan(files, target, tag=tag, is_whole=True)
    write(plan.text())
    if not confirmed:
        write("Dry run: nothing was sent; add --yes to publish.\n")
        return None
    api = HfApi()
    with hub_errors(str(target)):
        if plan.head is None:
            # A private repository that the token may not see looks like none, so it may exist all the same.
            sdk = "static" if target.kind == SPACE else None
            api.create_repo(target.name, repo_type=target.kind, space_sdk=sdk, exist_ok=True)
            plan = make_plan(files, target, tag=tag)  # the Hub puts files of its own into a new repository
        commit = plan.head
        if plan.to_send():
            commit = str(_commit(plan, files, message=message).oid)
        if tag and not plan.tag_is_set:
            api.create_tag(target.name, tag=tag, revision=commit, repo_type=target.kind)
    write(f"commit {commit}" + ("\n" if plan.to_send() else ", as before: nothing has changed\n"))
    return commit


def _commit(plan: Plan, files: Files, *, message: str, create_pr: bool = False) -> CommitInfo:
    return HfApi().create_commit(
        plan.target.name,
        operations=[CommitOperationAdd(path, files[path]) for path in plan.to_send()],
        commit_message=message,
        repo_type=plan.target.kind,
        parent_commit=plan.head,  # so that the Hub refuses the commit if somebody else made one meanwhile
        create_pr=create_pr,
    )


def _read_remote(target: Target, revision: str) -> tuple[str | None, dict[str, RepoFile]]:
    """Return the commit that a revision is, and its files; None and no files if there is no such repository."""
    api = HfApi()
    try:
        head = str(api.repo_info(target.name, repo_type=target.kind, revision=revision).sha)
    except errors.RepositoryNotFoundError:
        return None, {}
    # The files are asked for by the commit, because a branch may move between the two requests.
    tree = api.list_repo_tree(target.name, repo_type=target.kind, revision=head, recursive=True)
    return head, {item.path: item for item in tree if isinstance(item, RepoFile)}


def _compare(files: Files, remote: Mapping[str, RepoFile]) -> dict[str, tuple[str, int]]:
    """Return path -> whether the file is added, changed or unchanged, and its size in bytes."""
    changes = {}
    for path, content in files.items():
        operation = CommitOperationAdd(path, content)
        item = remote.get(path)
        state = ADDED
        if item is not None and item.lfs is not None:  # a large file is known by its SHA-256, any other by its blob id
            is_same = operation.upload_info.sha256.hex() == item.lfs.sha256
            state = UNCHANGED if is_same else CHANGED
        elif item is not None:
            with operation.as_file() as file:
                state = UNCHANGED if git_hash(file.read()) == item.blob_id else CHANGED
        changes[path] = (state, operation.upload_info.size)
    return changes
