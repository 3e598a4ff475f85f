"""Which weights a name stands for: the content hash of a local model, or the pinned commit of one on the Hub."""

from __future__ import annotations

from pathlib import Path

from turkic_idiom_tasks.encoders.folders import folder_revision, is_local
from turkic_idiom_tasks.encoders.names import NO_REVISION, PAPER_ENCODERS


def pinned_commit(model: str) -> str | None:
    """Return the commit of a model on the Hub that is loaded; None is the newest, and right for a local folder."""
    revision = PAPER_ENCODERS.get(model, (NO_REVISION, None))[0]
    return None if is_local(model) or revision == NO_REVISION else revision


def content_revision(model: str) -> str | None:
    """Return the content hash of a local model, the commit that is pinned for one on the Hub, or None."""
    return folder_revision(Path(model).expanduser()) if is_local(model) else pinned_commit(model)
