"""Questions to language models about AStitchInLanguageModels, Task 1.

Subtask A asks whether an expression is idiomatic in a sentence; subtask B shows a sentence with one candidate for the
meaning of its expression, and asks whether it means that there. Each question has two lettered options.
"""

from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its options."""

    id: str  # kind, language, part of the data and number of the row: ``idiomaticity/eng/test/0``
    idiom: str  # the expression, for intervals
    query: str  # the text that a model is given; it ends with ``Answer:``
    letters: tuple[str, ...]  # the letter of each option
    labels: tuple[int, ...]  # what each option stands for; see `LabelledSentence`
    gold: int  # position of the right option


def build_questions(data: AStitchData, kind: str, subset: str, *, part: str = TEST_PART) -> list[Question]:
    """Return a question for every row of a file of Task 1, in its order.

    The part is `TEST_PART`, or `EXAMPLES_PART` with other sentences of the same idioms and of the development idioms.
    """
    texts = [text for text, _ in _OPTIONS[kind]]
    labels = tuple(label for _, label in _OPTIONS[kind])
    letters = tuple(LETTERS[: len(texts)])
    task = f"{_TASKS[kind].format(language=_LANGUAGE_NAMES[subset])} Answer with one letter: {', '.join(letters)}."
    options = [f"{letter}. {text}" for letter, text in zip(letters, texts, strict=True)]
    questions = []
    for number, row in enumerate(data.labelled(subset, subtask=_SUBTASKS[kind], part=part, context=False)):
        # The first line is one by which `tasks.items.answers` recognises a further question that a model asks itself
        lines = [f"Expression: {row.idiom}", f"Sentence: {' '.join(row.sentence1.split())}"]
        if kind == MEANING:
            lines.append(f"Meaning: {row.sentence2}")
        query = "\n".join([*lines, task, *options, "Answer:"])
        name = f"{kind}/{subset}/{part}/{number}"
        questions.append(Question(name, row.idiom, query, letters, labels, labels.index(row.label)))
    return questions


def questions_revision(questions: Sequence[Question]) -> str:
    """Return 40 hexadecimal digits that are the same for the same questions with the same answers."""
    return content_digest([question.query, question.gold] for question in questions)
