"""What the task files in ``lm_eval_tasks/astitch/`` name: questions about AStitchInLanguageModels, and their scores.

The data is read from the user's copy, which ASTITCH_DATA names. A sample is ``{"gold", "answer", "idiom"}`` with the
labels of the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from datasets import Dataset as HarnessDataset

from turkic_idiom_tasks.harnesses.lm_eval_bridge import Document, checked_reading, likeliest_option, metric_functions
from turkic_idiom_tasks.harnesses.report import show_input_errors_as_one_line
from turkic_idiom_tasks.metrics.classification import LABEL_SCORES, label_scores
from turkic_idiom_tasks.splits import TEST, TRAIN
from turkic_idiom_tasks.tasks.siblings.astitch import ASTITCH_SOURCE, AStitchData
from turkic_idiom_tasks.tasks.siblings.questions import EXAMPLES_PART, TEST_PART, build_questions, questions_revision


class Sample(TypedDict):
    """One answer, ready to be scored."""

    gold: int  # the right label, 0 or 1
    answer: int | None  # the label that was chosen; None if the response could not be read
    idiom: str  # what is resampled


def load(kind: str, language: str, **_metadata: Any) -> dict[str, HarnessDataset]:
    """Return the test questions of a task, and as ``train`` those that examples are drawn from."""
    show_input_errors_as_one_line()  # the start-up hook does this too, but may be turned off
    data = AStitchData()
    splits = {}
    for split, part in ((TEST, TEST_PART), (TRAIN, EXAMPLES_PART)):
        documents = []
        for question in build_questions(data, kind, language, part=part):
            document = {
                "id": question.id,
                "kind": kind,
                "idiom": question.idiom,
                "query": question.query,
                "letters": list(question.letters),
                "labels": list(question.labels),
                "gold": question.gold,
                "answer": question.letters[question.gold],
            }
            documents.append(document)
        splits[split] = HarnessDataset.from_list(documents)
    return splits


def data_in_use(kind: str, language: str) -> tuple[str, str]:
    """Return the source and the revision of the test questions of a task."""
    return ASTITCH_SOURCE, questions_revision(build_questions(AStitchData(), kind, language))


def process_loglikelihoods(document: Document, results: Sequence[Sequence[Any]]) -> dict[str, Sample]:
    """Return the sample for every metric; see `lm_eval_bridge.likeliest_option`."""
    return _samples(document, likeliest_option(document, results))


def process_results(document: Document, results: Sequence[str]) -> dict[str, Sample]:
    """Return the sample for every metric; see `lm_eval_bridge.checked_reading`."""
    return _samples(document, checked_reading(document, results)["answer"])


def _samples(document: Document, position: int | None) -> dict[str, Sample]:
    labels = document["labels"]
    answer = None if position is None else labels[position]
    sample = Sample(gold=labels[document["gold"]], answer=answer, idiom=document["idiom"])
    return dict.fromkeys(LABEL_SCORES, sample)


def _score_samples(samples: Sequence[Sample]) -> Mapping[str, float]:
    return label_scores(
        [sample["gold"] for sample in samples],
        [sample["answer"] for sample in samples],
        [sample["idiom"] for sample in samples],
    )


globals().update(metric_functions(LABEL_SCORES, _score_samples))  # the task files name a function for each score
