"""Editions: the bundled data is the newest one, and its test queries are those that the edition froze."""

import hashlib
import json

from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.dataset.retrieval import PAPER_TASKS
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.editions import EDITIONS, EDITIONS_FILE
from turkic_idiom_tasks.lexicon.load import BUNDLED, content_revision

ROWS = json.loads(EDITIONS_FILE.read_text("utf-8"))


def test_the_bundled_lexicon_is_the_newest_edition():
    assert EDITIONS[content_revision(BUNDLED)] == ROWS[-1]["edition"], (
        "the data has changed: add an edition to lexicon/editions.json"
    )
    assert list(EDITIONS.values()) == [row["edition"] for row in ROWS]


def test_the_test_queries_of_an_edition_are_frozen():
    """The digest is of the sorted query ids of the paper's tasks; within a major version only languages are added."""
    dataset = open_dataset()
    major = ROWS[-1]["edition"].partition(".")[0]
    for row in (row for row in ROWS if row["edition"].partition(".")[0] == major):
        later = {LANGUAGES[code].subset for code in LANGUAGES if code not in row["languages"]}
        lines = []
        for task in PAPER_TASKS:
            for subset in dataset.subsets(task):
                if later.isdisjoint(subset.split("-")):
                    lines += [f"{task} {subset} {query}" for query in sorted(dataset.retrieval(task, subset).queries)]
        digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
        assert digest == row["test_queries"], row["edition"]
