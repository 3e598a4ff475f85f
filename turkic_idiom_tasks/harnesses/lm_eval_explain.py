"""Functions that the task files of `explain` in ``lm_eval_tasks/`` name: documents and results of a sample."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from datasets import Dataset as HarnessDataset
from datasets import DatasetDict

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses.lm_eval_bridge import Part, log, open_data, part
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.splits import TEST
from turkic_idiom_tasks.tasks.items.explain import explanations


def load(language: str, **_metadata: Any) -> DatasetDict:
    """Return the questions about the test concepts of a language, and say how their answers are judged."""
    dataset = open_data()
    rows = explanations(dataset.lexicon, language)
    if not rows:
        raise InputError(
            f"{dataset.path}: has no test concept with a meaning in {language} to explain; choose other tasks or data"
        )
    log.warning(
        "turkic_idiom_explain_%s: answers are not scored here; write them with --log_samples --output_path DIR, and "
        "judge them with: turkic-idiom judge DIR --model JUDGE",
        language,
    )
    return DatasetDict({TEST: HarnessDataset.from_list(rows)})


globals().update({f"load_{code}": partial(load, code) for code in LANGUAGES})  # what the task files name


def process_results(document: Mapping[str, Any], results: Sequence[str]) -> dict[str, Part]:
    """Return the only score that needs no judge: whether there is any answer."""
    return {"answered": part(document["concept"], bool(results[0].strip()))}
