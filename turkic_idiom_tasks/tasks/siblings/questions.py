"""Questions to language models about AStitchInLanguageModels, Task 1.

Subtask A asks whether an expression is idiomatic in a sentence; subtask B shows a sentence with one candidate for the
meaning of its expression, and asks whether it means that there. Each question has two lettered options.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from turkic_idiom_tasks.dataset.similarity import content_digest
from turkic_idiom_tasks.tasks.items.item_types import LETTERS
from turkic_idiom_tasks.tasks.siblings.astitch import AStitchData

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
    A question is a document of lm-eval. Its `labels` say what each option stands for, see `LabelledSentence`; `gold` is
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
        lines = [f"Expression: {row.idiom}", f"Sentence: {' '.join(row.sentence1.split())}"]
        if kind == MEANING:
            lines.append(f"Meaning: {row.sentence2}")
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


def questions_revision(questions: Sequence[Mapping[str, Any]]) -> str:
    """Return 40 hexadecimal digits that are the same for the same questions with the same answers."""
    return content_digest([question["query"], question["gold"]] for question in questions)
