"""A page on which people answer items for language models, as the human row beside the scores of models.

The page is one file that needs nothing else and does not hold the key: an item is named by the digest of its content,
because its id has the English name of the concept. `results.people` reads what the page exports.
"""

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from hub_datasets.review import page_with
from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.results.item_answers import find_items, row_digest
from turkic_idiom_tasks.results.people import FORMAT
from turkic_idiom_tasks.tasks.items.item_types import stable_hash
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS
from turkic_idiom_tasks.tasks.items.prompts import NATIVE, open_prompt, option_texts, question

PAGE = Path(__file__).with_name("questionnaire.html")


def questionnaire_page(dataset: Dataset, subsets: Sequence[tuple[str, str]], *, n: int) -> tuple[str, int]:
    """Return the page with n items of some tasks and subsets, as many of each as of any other, and how many it has.

    A hash decides which, so that everybody gets the same items. No concept is asked about twice, because one item may
    give the answer to another one.
    """
    waiting = []  # of each subset the items that may be asked next, the next one last
    for task, subset in subsets:
        items = find_items(dataset, task, subset)
        rows = sorted(items.rows if items else (), key=lambda item: stable_hash("questionnaire", task, item.id))
        waiting.append((task, subset, rows))
    chosen: list[dict[str, Any]] = []
    concepts: set[str] = set()
    for task, subset, rows in cycle(waiting):
        if len(chosen) == n or not any(rows for *_, rows in waiting):
            break
        while rows and rows[-1].concept in concepts:
            rows.pop()
        if not rows:
            continue
        item = rows.pop()
        concepts.add(item.concept)
        is_open = task in OPEN_TASKS
        chosen.append(
            {
                "task": task,
                "subset": subset,
                "digest": row_digest(item),
                "language": item.language,
                # Without the label of the answer at the end
                "question": open_prompt(item, task, NATIVE).rpartition("\n")[0] if is_open else question(item, NATIVE),
                "options": None if is_open else option_texts(item, NATIVE),
            }
        )
    data = {"format": FORMAT, "revision": dataset.revision, "items": chosen}
    return page_with(PAGE.read_text("utf-8"), data), len(chosen)
