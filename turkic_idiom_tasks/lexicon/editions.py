"""Editions of the bundled lexicon: which version of the data a revision is.

``editions.json`` lists every edition that was released, oldest first. The test queries are frozen within a major
version; a new major version may change them, and its scores cannot be compared with those of another.
"""

from functools import cache
from pathlib import Path

from turkic_idiom_tasks.io.reading import read_json

EDITIONS_FILE = Path(__file__).parent / "editions.json"


@cache
def editions() -> dict[str, str]:
    """Return revision -> edition such as ``2.0.0``, oldest first."""
    return {row["revision"]: row["edition"] for row in read_json(EDITIONS_FILE)}


def edition_of(revision: str) -> str | None:
    """Return the edition of the bundled lexicon that a revision is; None for any other data."""
    return editions().get(revision)
