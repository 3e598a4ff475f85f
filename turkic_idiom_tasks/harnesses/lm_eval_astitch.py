"""What the task files in ``lm_eval_tasks/astitch/`` name: questions about AStitchInLanguageModels, and their scores.

The data is read from the user's copy, which ASTITCH_DATA names. A sample is what a score is computed from, ``{"gold",
"answer", "idiom"}`` with the labels of the data; lm-eval logs it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, TypedDict

from datasets import Dataset as HarnessDataset
from datasets import DatasetDict

from turkic_idiom_tasks.harnesses.lm_eval_items import likeliest_option, read_answer
from turkic_idiom_tasks.harnesses.report import show_input_errors_as_one_line
from turkic_idiom_tasks.metrics.classification import LABEL_SCORES, label_scores
from turkic_idiom_tasks.splits import TEST, TRAIN
from turkic_idiom_tasks.tasks.siblings.astitch import AStitchData
from turkic_idiom_tasks.tasks.siblings.questions import (
    EXAMPLES_PART,
    TEST_PART,
    Question,
    build_questions,
    questions_revision,
)

Document = Mapping[str, Any]


class Sample(TypedDict):
    """One answer, ready to be scored.

    Attributes:
        gold: the right label, 0 or 1.
        answer: the label that was chosen; None if the response could not be read.
        idiom: what is resampled.
    """

    gold: int
    answer: int | None
    idiom: str


def load(kind: str, language: str, **_metadata: Any) -> DatasetDict:
    """Return the test questions of a task, and as ``train`` those that examples are drawn from.

    Args:
        kind: one of `similarity.questions.KINDS`.
        language: ``eng`` or ``por``.
        _metadata: other values of the task file and of ``--metadata``; not used.

    Raises:
        InputError: the data is missing or malformed; says where it can be obtained.
    """
    show_input_errors_as_one_line()  # the start-up hook does this too, but may be turned off
    data = AStitchData()
    splits = DatasetDict()
    for split, part in ((TEST, TEST_PART), (TRAIN, EXAMPLES_PART)):
        documents = [_document(question, kind) for question in build_questions(data, kind, language, part=part)]
        splits[split] = HarnessDataset.from_list(documents)
    return splits


def data_revision(kind: str, language: str) -> str:
    """Return 40 hexadecimal digits that are the same for the same test questions.

    Raises:
        InputError: the data is missing or malformed.
    """
    return questions_revision(build_questions(AStitchData(), kind, language))


def process_loglikelihoods(document: Document, results: Sequence[Sequence[Any]]) -> dict[str, Sample]:
    """Return the sample for every metric; the most likely letter is the answer, the first one of equally likely ones.

    Raises:
        InputError: the requests were made from another document, because lm-eval's cache of requests ignores the data.
    """
    return _samples(document, likeliest_option(document, results))


def process_results(document: Document, results: Sequence[str]) -> dict[str, Sample]:
    """Return the sample for every metric.

    Raises:
        InputError: as `process_loglikelihoods`.
    """
    position = read_answer(document, results)
    return _samples(document, position if isinstance(position, int) else None)


def _document(question: Question, kind: str) -> dict[str, Any]:
    return {
        "id": question.id,
        "kind": kind,
        "idiom": question.idiom,
        "query": question.query,
        "letters": list(question.letters),
        "labels": list(question.labels),
        "gold": question.gold,
        "answer": question.letters[question.gold],
    }


def _samples(document: Document, position: int | None) -> dict[str, Sample]:
    labels = document["labels"]
    answer = None if position is None else labels[position]
    sample = Sample(gold=labels[document["gold"]], answer=answer, idiom=document["idiom"])
    return dict.fromkeys(LABEL_SCORES, sample)


@lru_cache(maxsize=4)  # lm-eval computes one metric at a time
def _scores(samples: tuple[tuple[int, int | None, str], ...]) -> Mapping[str, float]:
    gold, answers, idioms = zip(*samples, strict=True)
    return label_scores(gold, answers, idioms)


def _score(name: str, samples: Sequence[Sample]) -> float:
    return _scores(tuple((sample["gold"], sample["answer"], sample["idiom"]) for sample in samples))[name]


# Functions that the task files name, one for each metric.
Score = Callable[[Sequence[Sample]], float]
macro_f1: Score = partial(_score, "macro_f1")
macro_f1_ci_low: Score = partial(_score, "macro_f1_ci_low")
macro_f1_ci_high: Score = partial(_score, "macro_f1_ci_high")
accuracy: Score = partial(_score, "accuracy")
unreadable: Score = partial(_score, "unreadable")
n_items: Score = partial(_score, "n_items")
n_idioms: Score = partial(_score, "n_idioms")
small_sample: Score = partial(_score, "small_sample")
