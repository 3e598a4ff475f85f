"""Editions of the bundled lexicon: which version of the data a revision is.

``editions.json`` lists every edition that was released, oldest first. The test queries are frozen within a major
version; a new major version may change them, and its scores cannot be compared with those of another.
"""

from functools import cache
from pathlib import Path

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import first_line, read_json

EDITIONS_FILE = Path(__file__).parent / "editions.json"


@cache
def editions() -> dict[str, str]:
    """Return revision -> edition such as ``2.0.0``, oldest first."""
    rows = read_json(EDITIONS_FILE)
    try:
        return {row["revision"]: row["edition"] for row in rows}
    except (KeyError, TypeError) as error:
        raise InputError(f"{EDITIONS_FILE}: is damaged ({first_line(error)}); install the package again") from error


def edition_of(revision: str) -> str | None:
    """Return the edition of the bundled lexicon that a revision is; None for any other data."""
    return editions().get(revision)
