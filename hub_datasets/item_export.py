"""Export of the items for language models as a dataset of its own on the Hub, which Inspect and EuroEval read.

Every set has a config whose name begins with the language, ``tr_meaning`` or ``tr_uz_equivalent``, because EuroEval
takes the language from there. The splits are ``test`` and, for examples in a prompt, ``train``. The root ``eval.yaml``
has a task for each config in Inspect's form. EuroEval has no prompts for Turkic languages and takes the keys at its top
level, which Inspect ignores. The items are a second dataset because mteb's ``eval.yaml`` allows none of these keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from hub_datasets.cards import DataFile, dataset_card, files_by_config
from hub_datasets.hub_export import HubLayout, data_file, layout_of
from hub_datasets.lexicon_figures import markdown_table
from turkic_idiom_tasks.dataset import LexiconDataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N
from turkic_idiom_tasks.splits import TEST, TRAIN
from turkic_idiom_tasks.tasks.items.item_types import EQUIVALENT, LETTERS, N_OPTIONS, Item, ItemSet
from turkic_idiom_tasks.tasks.items.items import build_items, item_sets
from turkic_idiom_tasks.tasks.items.prompts import EN1, NATIVE, option_texts, question

NAME = "Turkic idiom items"
FEW_SHOT = 5  # examples that EuroEval shows a base model
_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("question", pa.string()),
        ("question_native", pa.string()),
        ("options", pa.list_(pa.string())),
        ("options_native", pa.list_(pa.string())),
        ("answer", pa.string()),
        ("traps", pa.list_(pa.string())),
        ("kind", pa.string()),
        ("language", pa.string()),
        ("target", pa.string()),
        ("concept", pa.string()),
        ("idiom", pa.string()),
        ("text", pa.string()),
        ("shares_stem", pa.bool_()),
        ("lexicon_revision", pa.string()),
    ]
)
_METADATA = ("id", "concept", "idiom", "traps", "lexicon_revision")  # columns that Inspect keeps with a sample
_DESCRIPTION = (
    "Idiom understanding in Turkic languages for language models: the meaning of an idiom, its equivalent in another "
    "language, its figurative or literal use in a sentence, and the idiom that fills a blank. The score is accuracy; "
    "chance is 0.25, and 0.5 for usage."
)


def item_layout(lexicon: Lexicon, *, licence: str | None = None) -> HubLayout:
    """Return the items of a lexicon as a dataset, in memory; for the licence see `cards.dataset_card`.

    Raises:
        InputError: the lexicon has no test item at all.
    """
    files: list[DataFile] = []
    left_out = []
    dataset = LexiconDataset(lexicon)
    for item_set in item_sets():
        test_files = _set_files(dataset, item_set)
        files += test_files
        if not test_files:
            left_out.append(config_name(item_set))
    if not files:
        raise InputError(
            f"{lexicon.source}: no test item can be made of it; test concepts need meanings, examples or equivalents"
        )
    rows = []
    n_items = 0
    for config, parts in files_by_config(files).items():
        counts = {part.split: part.table.num_rows for part in parts}
        few = f" (fewer than {SMALL_N})" if counts[TEST] < SMALL_N else ""
        rows.append([config, f"{counts[TEST]}{few}", str(counts.get(TRAIN, 0))])
        n_items += sum(counts.values())
    readme = dataset_card(
        "item_card.md",
        lexicon,
        files,
        licence=licence,
        n_rows=n_items,
        facts={
            "pretty_name": NAME,
            "task_categories": ["multiple-choice"],
            "task_ids": ["multiple-choice-qa"],
            "tags": ["idioms", "inspect-ai", "euroeval"],
        },
        texts={"rows": markdown_table(["config", TEST, TRAIN], rows)},
    )
    return layout_of(files, left_out, readme=readme, registration=_registration(files))


def config_name(item_set: ItemSet) -> str:
    """Return ``tr_meaning`` or ``tr_uz_equivalent``."""
    if item_set.kind == EQUIVALENT:
        return f"{item_set.language}_{item_set.target}_{item_set.kind}"
    return f"{item_set.language}_{item_set.kind}"


def _set_files(dataset: LexiconDataset, item_set: ItemSet) -> list[DataFile]:
    """Return the files of a set; none without a test item."""
    target = item_set.target if item_set.kind == EQUIVALENT else None
    files = []
    for split in (TEST, TRAIN):
        items = build_items(dataset, item_set.kind, item_set.language, target, split=split)
        if not items and split == TEST:
            return []
        if items:
            rows = [_row(item, dataset.lexicon.revision) for item in items]
            files.append(data_file(config_name(item_set), split, rows, _SCHEMA))
    return files


def _row(item: Item, revision: str) -> dict[str, Any]:
    return {
        "id": item.id,
        "question": question(item, EN1),
        "question_native": question(item, NATIVE),
        "options": option_texts(item, EN1),
        "options_native": option_texts(item, NATIVE),
        "answer": LETTERS[item.gold],
        "traps": [option.trap or "" for option in item.options],
        "kind": item.kind,
        "language": item.language,
        "target": item.target,
        "concept": item.concept,
        "idiom": item.idiom,
        "text": item.text,
        "shares_stem": item.shares_stem,
        "lexicon_revision": revision,
    }


def _registration(files: Sequence[DataFile]) -> dict[str, Any]:
    """Return the content of eval.yaml: each config for Inspect in its entry, for EuroEval at the top level."""
    tasks = []
    for config in files_by_config(files):
        tasks.append(
            {
                "id": config,
                "config": config,
                "split": TEST,
                "field_spec": {
                    "input": "question",
                    "target": "answer",
                    "choices": "options",
                    "metadata": list(_METADATA),
                },
                "solvers": [{"name": "multiple_choice"}],
                "scorers": [{"name": "choice"}],
            }
        )
    labels = [letter.lower() for letter in LETTERS[:N_OPTIONS]]  # EuroEval turns the answers into these
    return {
        "name": NAME,
        "description": _DESCRIPTION,
        "evaluation_framework": "inspect-ai",
        "labels": labels,
        "prompt_label_mapping": {label: label for label in labels},
        "prompt_prefix": "The following are multiple choice questions about idioms (with answers).",
        "prompt_template": "{text}\nAnswer: {label}",
        "instruction_prompt": "{text}\n\nAnswer with {labels_str}, and nothing else.",
        "num_few_shot_examples": FEW_SHOT,
        "tasks": tasks,
    }
