"""What the task files in ``lm_eval_tasks/astitch/`` name: questions about AStitchInLanguageModels, and their scores.

Subtask A asks whether an expression is idiomatic in a sentence; subtask B shows a sentence with one candidate for the
meaning of its expression, and asks whether it means that there. Each question has two lettered options. The data is
read from the user's copy, which ASTITCH_DATA names.
"""

from collections.abc import Sequence
from typing import Any

from datasets import Dataset as HarnessDataset

from turkic_idiom_tasks.dataset.similarity import content_digest
from turkic_idiom_tasks.harnesses.lm_eval_bridge import Document, Part, checked_reading, likeliest_option, part
from turkic_idiom_tasks.harnesses.report import show_input_errors_as_one_line
from turkic_idiom_tasks.metrics.classification import LABELS
from turkic_idiom_tasks.splits import TEST, TRAIN
from turkic_idiom_tasks.tasks.items.item_types import LETTERS
from turkic_idiom_tasks.tasks.siblings.astitch import ASTITCH_SOURCE, AStitchData

IDIOMATICITY, MEANING = KINDS = ("idiomaticity", "meaning")
TEST_PART, EXAMPLES_PART = "test", "train_few_shot"  # the files of questions, and of their examples

_SUBTASKS = {IDIOMATICITY: "A", MEANING: "B"}
_LANGUAGE_NAMES = {"eng": "English", "por": "Portuguese"}
_TASKS = {
    IDIOMATICITY: "Is the expression idiomatic in this {language} sentence? A proper noun counts as not idiomatic, a "
    "literal use within a metaphor as idiomatic.",
    MEANING: 'Is this what the expression means in this {language} sentence? "Proper Noun" is right for a name, "Meta '
    'Usage" for a literal use within a metaphor.',
}
_OPTIONS = {  # the options in the order of their letters, each with the label of the data that it stands for
    IDIOMATICITY: (("idiomatic", 0), ("not idiomatic", 1)),
    MEANING: (("yes", 1), ("no", 0)),
}


def build_questions(data: AStitchData, kind: str, subset: str, *, part: str = TEST_PART) -> list[dict[str, Any]]:
    """Return a question for every row of a file of Task 1, in its order.

    The part is `TEST_PART`, or `EXAMPLES_PART` with other sentences of the same idioms and of the development idioms.
    A question is a document of lm-eval. Its `labels` say what each option stands for, see `Labelled`; `gold` is
    the position of the right one.
    """
    texts = [text for text, _ in _OPTIONS[kind]]
    labels = [label for _, label in _OPTIONS[kind]]
    letters = list(LETTERS[: len(texts)])
    task = f"{_TASKS[kind].format(language=_LANGUAGE_NAMES[subset])} Answer with one letter: {', '.join(letters)}."
    options = [f"{letter}. {text}" for letter, text in zip(letters, texts, strict=True)]
    questions: list[dict[str, Any]] = []
    for number, row in enumerate(data.labelled(subset, subtask=_SUBTASKS[kind], part=part, context=False)):
        # The first line is one by which `tasks.items.answers` recognises a further question that a model asks itself
        lines = [f"Expression: {row.idiom}", f"Sentence: {' '.join(row.first.split())}"]
        if kind == MEANING:
            lines.append(f"Meaning: {row.second}")
        gold = labels.index(row.label)
        question = {
            "id": f"{kind}/{subset}/{part}/{number}",
            "kind": kind,
            "idiom": row.idiom,
            "query": "\n".join([*lines, task, *options, "Answer:"]),
            "letters": letters,
            "labels": labels,
            "gold": gold,
            "answer": letters[gold],
        }
        questions.append(question)
    return questions


def load(kind: str, language: str, **_metadata: Any) -> dict[str, HarnessDataset]:
    """Return the test questions of a task, and as ``train`` those that examples are drawn from."""
    # The start-up hook does this too, but may be turned off
    show_input_errors_as_one_line()
    data = AStitchData()
    splits = {}
    for split, rows in ((TEST, TEST_PART), (TRAIN, EXAMPLES_PART)):
        splits[split] = HarnessDataset.from_list(build_questions(data, kind, language, part=rows))
    return splits


def data_in_use(kind: str, language: str) -> tuple[str, str]:
    """Return the source and the revision of the test questions of a task."""
    questions = build_questions(AStitchData(), kind, language)
    return ASTITCH_SOURCE, content_digest([question["query"], question["gold"]] for question in questions)


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
