"""What the task files in ``lm_eval_tasks/astitch/`` name: questions about AStitchInLanguageModels, and their scores.

The data is read from the user's copy, which ASTITCH_DATA names.
"""

from collections.abc import Sequence
from typing import Any

from datasets import Dataset as HarnessDataset

from turkic_idiom_tasks.harnesses.lm_eval_bridge import Document, Part, checked_reading, likeliest_option, part
from turkic_idiom_tasks.harnesses.report import show_input_errors_as_one_line
from turkic_idiom_tasks.metrics.classification import LABELS
from turkic_idiom_tasks.splits import TEST, TRAIN
from turkic_idiom_tasks.tasks.siblings.astitch import ASTITCH_SOURCE, AStitchData
from turkic_idiom_tasks.tasks.siblings.questions import EXAMPLES_PART, TEST_PART, build_questions, questions_revision


def load(kind: str, language: str, **_metadata: Any) -> dict[str, HarnessDataset]:
    """Return the test questions of a task, and as ``train`` those that examples are drawn from."""
    show_input_errors_as_one_line()  # the start-up hook does this too, but may be turned off
    data = AStitchData()
    splits = {}
    for split, rows in ((TEST, TEST_PART), (TRAIN, EXAMPLES_PART)):
        splits[split] = HarnessDataset.from_list(build_questions(data, kind, language, part=rows))
    return splits


def data_in_use(kind: str, language: str) -> tuple[str, str]:
    """Return the source and the revision of the test questions of a task."""
    return ASTITCH_SOURCE, questions_revision(build_questions(AStitchData(), kind, language))


def process_loglikelihoods(document: Document, results: Sequence[Sequence[Any]]) -> dict[str, Part]:
    """Return metric -> part of the answer; see `lm_eval_bridge.likeliest_option`."""
    return _metrics(document, likeliest_option(document, results))


def process_results(document: Document, results: Sequence[str]) -> dict[str, Part]:
    """Return metric -> part of the answer; see `lm_eval_bridge.checked_reading`."""
    return _metrics(document, checked_reading(document, results)["answer"])


def _metrics(document: Document, position: int | None) -> dict[str, Part]:
    labels, idiom = document["labels"], document["idiom"]
    answer = None if position is None else labels[position]
    gold = labels[document["gold"]]
    is_right = float(answer == gold)
    # The F1 of a label is a ratio of sums over sentences: 2 TP / (2 TP + FP + FN)
    ratios = [(2 * is_right * (gold == label), float(gold == label) + float(answer == label)) for label in LABELS]
    return {
        "acc": part(idiom, is_right),
        "macro_f1": part(idiom, is_right, ratios=ratios),
        "unreadable": part(idiom, answer is None),
    }
