"""A page on which people answer items for language models, as the human row beside the scores of models.

The page is one file that needs nothing else and does not hold the key. `results.people` reads what it exports.
"""

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from hub_datasets.review import page_with, words_of
from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.results.item_answers import find_items, row_digest
from turkic_idiom_tasks.results.people import FORMAT
from turkic_idiom_tasks.tasks.items.item_types import stable_hash
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS
from turkic_idiom_tasks.tasks.items.prompts import NATIVE, open_prompt, option_texts, question

PAGE = Path(__file__).with_name("questionnaire.html")
INVITATION = (
    "Would you answer {} questions about idioms of your language? Open the file {} in a browser, on a computer or a "
    "phone; no internet is needed. No name is asked for. Send back the file that “Save my answers” writes. The answers "
    "are compared with those of language models."
)


def questionnaire_page(dataset: Dataset, subsets: Sequence[tuple[str, str]], *, n: int) -> tuple[str, int]:
    """Return the page with n items of some tasks and subsets, as many of each as of any other, and how many it has."""
    waiting = []  # of each subset the items that may be asked next, the next one last
    for task, subset in subsets:
        items = find_items(dataset, task, subset)
        # By a hash, so that everybody gets the same items
        rows = sorted(items.rows if items else (), key=lambda item: stable_hash("questionnaire", task, item.id))
        waiting.append((task, subset, rows))
    chosen: list[dict[str, Any]] = []
    concepts: set[str] = set()
    for task, subset, rows in cycle(waiting):
        if len(chosen) == n or not any(rows for *_, rows in waiting):
            break
        # No concept is asked about twice, because one item may give the answer to another one
        while rows and rows[-1].concept in concepts:
            rows.pop()
        if not rows:
            continue
        item = rows.pop()
        concepts.add(item.concept)
        # The digest names the item, because its id has the English name of the concept
        row = {"task": task, "subset": subset, "digest": row_digest(item), "language": item.language}
        if task in OPEN_TASKS:  # the prompt ends with the label of the answer
            chosen.append(row | {"question": open_prompt(item, task, NATIVE).rpartition("\n")[0], "options": None})
        else:
            chosen.append(row | {"question": question(item, NATIVE), "options": option_texts(item, NATIVE)})
    data = {"format": FORMAT, "revision": dataset.revision, "items": chosen}
    languages = {item["language"] for item in chosen}
    return page_with(PAGE, data, languages.pop() if len(languages) == 1 else None), len(chosen)


def invitation(language: str, name: str, n_items: int) -> str:
    """Return a text in a language, or in English where there is none, that asks people to open a page."""
    return (words_of(language) or {}).get(INVITATION, INVITATION).format(n_items, name)
