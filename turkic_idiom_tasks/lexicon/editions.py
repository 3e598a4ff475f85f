"""Editions of the bundled lexicon: which version of the data a revision is.

``editions.json`` lists every edition that was released, oldest first. The test queries are frozen within a major
version; a new major version may change them, and its scores cannot be compared with those of another.
"""

from pathlib import Path

from turkic_idiom_tasks.io.reading import read_json

EDITIONS_FILE = Path(__file__).parent / "editions.json"
# Revision -> edition such as ``2.0.0``, oldest first; other data than the bundled lexicon is not there.
EDITIONS: dict[str, str] = {row["revision"]: row["edition"] for row in read_json(EDITIONS_FILE)}
