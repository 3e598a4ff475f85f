"""What decides the weights of a model and what they compute: content hash or commit, and versions of packages."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from turkic_idiom_tasks.encoders.folders import folder_revision, is_local
from turkic_idiom_tasks.encoders.names import NO_REVISION, PAPER_ENCODERS

OWN_PACKAGE = "turkic-idiom-tasks"
PACKAGES = (OWN_PACKAGE, "sentence-transformers", "transformers", "torch")  # whose versions records state


def pinned_commit(model: str) -> str | None:
    """Return the commit of a model on the Hub that is loaded; None is the newest, and right for a local folder."""
    revision = PAPER_ENCODERS.get(model, (NO_REVISION, None))[0]
    return None if is_local(model) or revision == NO_REVISION else revision


def content_revision(model: str) -> str | None:
    """Return the content hash of a local model, the commit that is pinned for one on the Hub, or None."""
    return folder_revision(Path(model).expanduser()) if is_local(model) else pinned_commit(model)


def installed_versions() -> dict[str, str]:
    """Return package -> version of the packages that decide what a model computes, as far as they are installed."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def differing_majors(versions: Mapping[str, str]) -> list[str]:
    """Return the libraries whose major version now is another one, such as ``transformers 4 (now 5)``.

    Args:
        versions: package -> version that a result was computed with.
    """
    installed = installed_versions()
    differing = []
    for package, earlier in versions.items():
        now = installed.get(package)
        if package == OWN_PACKAGE or now is None:
            continue
        majors = (earlier.partition(".")[0], now.partition(".")[0])
        if majors[0] != majors[1]:
            differing.append(f"{package} {majors[0]} (now {majors[1]})")
    return differing
