"""Tasks of the stock `lighteval` command: meaning, equivalent, usage and cloze, the answer being the likeliest letter.

Pass this module as custom tasks: ``lighteval accelerate "model_name=gpt2" "turkic_idiom_meaning:tr|0" --custom-tasks
turkic_idiom_tasks.harnesses.lighteval``. A name without a language stands for all of them, and ``|5`` for five
examples. The items, the prompt ``en1`` and the score ``acc`` are those of the tasks of lm-eval without ``_gen``.
"""

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lighteval.metrics.metrics import Metrics
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc

from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.harnesses.lm_eval_yaml import GENERATIVE, PREFIX, tasks
from turkic_idiom_tasks.io.files import write_text
from turkic_idiom_tasks.splits import TEST, TRAIN
from turkic_idiom_tasks.tasks.items.items import KINDS, build_items
from turkic_idiom_tasks.tasks.items.prompts import letters, prompt


class ItemConfig(LightevalTaskConfig):
    """Configuration of a task whose items are written to a folder, from which lighteval loads them."""

    @property
    def hf_repo(self) -> str:
        """Return the folder, with the items of today's data, and training items only if examples are asked for."""
        dataset, (kind, _, languages) = current_dataset(), self.name.removeprefix(PREFIX).partition(":")
        # Named after the revision of the data, so that it is never outdated
        place = Path("turkic-idiom-tasks", "lighteval", dataset.revision)
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / place
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            # Some environments have a home folder that cannot be written
            folder = Path(tempfile.gettempdir()) / place
        folder /= self.name.replace(":", "_")
        for split in (TEST, TRAIN) if self.num_fewshots else (TEST,):
            rows = []
            for item in build_items(dataset, kind, *languages.split("_"), split=split):
                row = {"query": prompt(item), "letters": letters(item), "gold": item.gold, "id": item.id}
                rows.append(json.dumps(row, ensure_ascii=False) + "\n")
            path = folder / f"{split}.jsonl"
            if not path.is_file() or path.read_text(encoding="utf-8") != "".join(rows):
                write_text(path, "".join(rows))
        return str(folder)

    @hf_repo.setter
    def hf_repo(self, path: str) -> None:
        """Ignore the path that the constructor is given."""


def document(row: Mapping[str, Any], task_name: str) -> Doc:
    """Return a row as lighteval asks it."""
    choices = [f" {letter}" for letter in row["letters"]]
    return Doc(task_name=task_name, query=row["query"], choices=choices, gold_index=row["gold"])


TASKS_TABLE = []
for lm_eval_name, (task_kind, codes) in tasks().items():
    is_choice = task_kind in KINDS and not lm_eval_name.endswith(GENERATIVE)
    # A name without a language stands for all tasks in this table, and lighteval ends with an error if one is empty.
    # To build the items of all takes ten seconds.
    if is_choice and build_items(current_dataset(), task_kind, *codes):
        config = ItemConfig(
            name=f"{PREFIX}{task_kind}:{'_'.join(codes)}",
            prompt_function=document,
            hf_repo="",
            hf_subset="default",
            hf_avail_splits=[TEST, TRAIN],
            evaluation_splits=[TEST],
            few_shots_split=TRAIN,
            generation_size=1,
            metrics=[Metrics.loglikelihood_acc],
            stop_sequence=["\n"],
            version=1,
        )
        TASKS_TABLE.append(config)
