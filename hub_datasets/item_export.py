"""Export of the items for language models as a dataset of its own on the Hub, which Inspect and EuroEval read.

Every set has a config whose name begins with the language, ``tr_meaning`` or ``tr_uz_equivalent``, because EuroEval
takes the language from there. The splits are ``test`` and, for examples in a prompt, ``train``. The root ``eval.yaml``
has a task for each config in Inspect's form. EuroEval has no prompts for Turkic languages and takes the keys at its top
level, which Inspect ignores. The items are a second dataset because mteb's ``eval.yaml`` allows none of these keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import yaml
from huggingface_hub import DatasetCard, DatasetCardData

from hub_datasets.cards import DataFile, described_configs, files_by_config, size_category
from hub_datasets.hub_export import BUNDLED_LICENCE, UNKNOWN_LICENCE, HubLayout, data_file
from hub_datasets.lexicon_figures import markdown_table
from turkic_idiom_tasks.dataset import LexiconDataset
from turkic_idiom_tasks.dataset.hub_layout import EVAL, README
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.lexicon.load import BUNDLED
from turkic_idiom_tasks.metrics.bootstrap import SMALL_N
from turkic_idiom_tasks.splits import TEST, TRAIN
from turkic_idiom_tasks.tasks.items.item_types import EQUIVALENT, LETTERS, N_OPTIONS, Item, ItemSet
from turkic_idiom_tasks.tasks.items.items import build_items, item_sets
from turkic_idiom_tasks.tasks.items.prompts import EN1, NATIVE, option_texts, question

NAME = "Turkic idiom items"
FEW_SHOT = 5  # examples that EuroEval shows a base model
_TASK_IDS = ("multiple-choice-qa",)
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
_CARD = """# {name}

Multiple-choice items about idioms of {languages}, for language models. They are derived by code from the lexicon of
turkic-idiom-tasks with the content hash `{revision}`; the wrong options are typed traps.

- `<language>_meaning`: what an idiom means;
- `<language>_<target>_equivalent`: which idiom of another language means the same;
- `<language>_usage`: whether a sentence uses the words of an idiom figuratively or literally;
- `<language>_cloze`: which idiom fills the blank in a sentence.

`answer` is the letter of the right option. `traps` says for each option why it looks right: `near` in meaning,
`lexical` where it shares or nearly spells a word, `random`, or empty for the right one. `question_native` and
`options_native` ask in the language of the idiom. The split `train` has the items of other concepts, for examples in a
prompt.

```bash
inspect eval hf/ORG/NAME/{example} --model openai-api/PROVIDER/MODEL   # ORG/NAME: this dataset
euroeval --dataset ORG/NAME --model MODEL                          # Python 3.12 or newer
```

These commands score each config by itself. With turkic-idiom-tasks installed, `inspect eval turkic_idiom_tasks/meaning`
and the lm-eval tasks `turkic_idiom_meaning` score the same items with typed errors, intervals by concept and the open
cloze, and only their results can be submitted to the leaderboard.

{rows}
"""


@dataclass(frozen=True, slots=True)
class _Config:
    """One config: its name, and the set of its items."""

    name: str
    item_set: ItemSet


def item_layout(lexicon: Lexicon, *, licence: str | None = None) -> HubLayout:
    """Return the items of a lexicon as a dataset, in memory; `hub_export.publish_dataset` sends it.

    Args:
        lexicon: the entries that the items are made of.
        licence: as in `hub_export.hub_layout`.

    Raises:
        InputError: the lexicon has no test item at all.
    """
    if licence is None:
        licence = BUNDLED_LICENCE if lexicon.source == str(BUNDLED) else UNKNOWN_LICENCE
    files = []
    left_out = []
    for config in _configs():
        test_files = _config_files(lexicon, config)
        if test_files:
            files += test_files
        else:
            left_out.append(config.name)
    if not files:
        raise InputError(
            f"{lexicon.source}: no test item can be made of it; test concepts need meanings, examples or equivalents"
        )
    contents = {}
    configs: dict[str, int] = {}
    for file in files:
        contents[file.path] = file.content
        configs[file.config] = configs.get(file.config, 0) + file.rows
    contents[README] = _card(lexicon, files, licence=licence).encode()
    contents[EVAL] = item_eval_yaml(files).encode()
    return HubLayout(contents, configs, tuple(left_out))


def config_name(item_set: ItemSet) -> str:
    """Return ``tr_meaning`` or ``tr_uz_equivalent``."""
    if item_set.kind == EQUIVALENT:
        return f"{item_set.language}_{item_set.target}_{item_set.kind}"
    return f"{item_set.language}_{item_set.kind}"


def item_eval_yaml(files: Sequence[DataFile]) -> str:
    """Return the eval.yaml with a task for each config: for Inspect in its entry, for EuroEval at the top level."""
    tasks = []
    for config, parts in files_by_config(files).items():
        if any(part.split == TEST for part in parts):
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
    content = {
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
    return str(yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120))


def _configs() -> list[_Config]:
    return [_Config(config_name(item_set), item_set) for item_set in item_sets()]


def _config_files(lexicon: Lexicon, config: _Config) -> list[DataFile]:
    """Return the files of a config; none without a test item."""
    item_set = config.item_set
    target = item_set.target if item_set.kind == EQUIVALENT else None
    dataset = LexiconDataset(lexicon)
    files = []
    for split in (TEST, TRAIN):
        items = build_items(dataset, item_set.kind, item_set.language, target, split=split)
        if not items and split == TEST:
            return []
        if items:
            rows = [_row(item, lexicon.revision) for item in items]
            files.append(data_file(config.name, split, rows, _SCHEMA))
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


def _card(lexicon: Lexicon, files: Sequence[DataFile], *, licence: str) -> str:
    by_config = files_by_config(files)
    rows = []
    n_items = 0
    for config, parts in by_config.items():
        counts = {part.split: part.rows for part in parts}
        few = f" (fewer than {SMALL_N})" if counts[TEST] < SMALL_N else ""
        rows.append([config, f"{counts[TEST]}{few}", str(counts.get(TRAIN, 0))])
        n_items += sum(counts.values())
    codes = [code for code in LANGUAGES if lexicon.of(code)]
    text = _CARD.format(
        name=NAME,
        languages=", ".join(LANGUAGES[code].name for code in codes),
        revision=lexicon.revision,
        example=next(iter(by_config)),
        rows=markdown_table(["config", TEST, TRAIN], rows),
    )
    configs, information = described_configs(by_config)
    is_ours = lexicon.source == str(BUNDLED)
    block = DatasetCardData(
        license=licence,
        language=codes,
        pretty_name=NAME,
        multilinguality=["multilingual" if len(codes) > 1 else "monolingual"],
        annotations_creators=["machine-generated"] if is_ours else None,
        language_creators=["machine-generated"] if is_ours else None,
        source_datasets=["original"] if is_ours else None,
        task_categories=["multiple-choice"],
        task_ids=list(_TASK_IDS),
        size_categories=[size_category(n_items)],
        tags=["idioms", "inspect-ai", "euroeval"],
        configs=configs,
        dataset_info=information,
    ).to_yaml()
    return str(DatasetCard(f"---\n{block}\n---\n\n{text}"))
