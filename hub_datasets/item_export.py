"""Export of the items for language models as a dataset of its own on the Hub, which Inspect and EuroEval read.

The splits are ``test`` and, for examples in a prompt, ``train``. The root ``eval.yaml`` has a task for each config in
Inspect's form. The items are a second dataset because mteb's ``eval.yaml`` allows none of these keys.
"""

import hmac
from collections.abc import Callable
from typing import Any

from hub_datasets.cards import Files, dataset_card
from hub_datasets.hub_export import CANARY, SCHEMAS, HubLayout, add_file, layout_of
from hub_datasets.lexicon_figures import markdown_table
from turkic_idiom_tasks.dataset import LexiconDataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N
from turkic_idiom_tasks.splits import TEST, TRAIN
from turkic_idiom_tasks.tasks.items.item_types import KINDS, LETTERS, N_OPTIONS, Item
from turkic_idiom_tasks.tasks.items.items import item_sets, items_of_set
from turkic_idiom_tasks.tasks.items.prompts import EN1, NATIVE, option_texts, question

NAME = "Turkic idiom items"
_ITEM_FIELDS = ("id", "kind", "language", "target", "concept", "idiom", "text", "shares_stem")  # columns as they are
_METADATA = ("id", "concept", "idiom", "traps", "lexicon_revision")  # columns that Inspect keeps with a sample


def is_held_out(concept: str, share: float, salt: bytes) -> bool:
    """Return whether a concept is among the share that is kept back, which nobody can tell without the salt."""
    return int.from_bytes(hmac.digest(salt, concept.encode(), "sha256")[:8], "big") < share * 2**64


def item_layout(
    lexicon: Lexicon, *, licence: str | None = None, is_chosen: Callable[[str], bool] = lambda concept: True
) -> HubLayout:
    """Return the items of a lexicon as a dataset in memory, of the test items those about chosen concepts alone."""
    files: Files = {}
    left_out = []
    dataset = LexiconDataset(lexicon)
    for item_set in item_sets():
        # EuroEval has one set of labels for all configs
        if KINDS[item_set.kind].n_options > N_OPTIONS:
            continue
        # EuroEval takes the language from the beginning of the name: tr_meaning, or tr_uz_equivalent
        config = "_".join((*item_set.languages, item_set.kind))
        for split in (TEST, TRAIN):
            items = items_of_set(dataset, item_set, split=split)
            if split == TEST:
                items = tuple(item for item in items if is_chosen(item.concept))
            # Examples without a question to ask are of no use, so a set needs test items first.
            if not items and split == TEST:
                left_out.append(config)
                break
            add_file(files, config, split, [_row(item, lexicon.revision) for item in items], SCHEMAS["items"])
    if not files:
        raise InputError(f"{lexicon.source}: gives no test item; test concepts need meanings, examples or equivalents")
    sizes, tasks = [], []  # a row of the card, and a task of Inspect in eval.yaml, for each config
    n_items = 0
    for config, splits in files.items():
        counts = {split: file.table.num_rows for split, file in splits.items()}
        few = f" (fewer than {SMALL_N})" if counts[TEST] < SMALL_N else ""  # too few for a reliable interval
        sizes.append([config, f"{counts[TEST]}{few}", str(counts.get(TRAIN, 0))])
        n_items += sum(counts.values())
        fields = {"input": "question", "target": "answer", "choices": "options", "metadata": list(_METADATA)}
        task = {"id": config, "config": config, "split": TEST, "field_spec": fields}
        tasks.append(task | {"solvers": [{"name": "multiple_choice"}], "scorers": [{"name": "choice"}]})
    readme = dataset_card(
        "item_card.md",
        lexicon,
        files,
        licence=licence,
        n_rows=n_items,
        pretty_name=NAME,
        task_categories=["multiple-choice"],
        task_ids=["multiple-choice-qa"],
        tags=["idioms", "inspect-ai", "euroeval"],
        texts={"rows": markdown_table([["config", TEST, TRAIN], *sizes])},
    )
    # EuroEval has no prompts for Turkic languages; it takes the keys at the top level here, which Inspect ignores
    return layout_of(files, left_out, readme=readme, head="item_eval.yaml", tasks=tasks)


def _row(item: Item, revision: str) -> dict[str, Any]:
    row = {name: getattr(item, name) for name in _ITEM_FIELDS}
    return row | {
        "question": question(item, EN1),
        "question_native": question(item, NATIVE),
        "options": option_texts(item, EN1),
        "options_native": option_texts(item, NATIVE),
        "answer": LETTERS[item.gold],
        "traps": [option.trap or "" for option in item.options],
        "lexicon_revision": revision,
        "canary": CANARY,  # in every row, so that it outlives a change of the format
    }
