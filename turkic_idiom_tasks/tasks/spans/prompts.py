"""Prompts for language models, right answers as examples, and the detection of a new question in an answer.

An idiom that other words interrupt counts as its fragments, as in the tags; the prompts say so. The question in a
language of the benchmark is a part of its record.
"""

import json
import re
from collections.abc import Callable, Iterator
from functools import cache

from turkic_idiom_tasks.dataset.sentences import TaggedSentence
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES, LANGUAGES_FILE

_ENGLISH_TASK = "Find the idioms (fixed figurative expressions) in the {language} sentence."
_ENGLISH_SENTENCE = "Sentence"
# In English for a JSON object or for tags in the sentence, and in its own language for a JSON object
PROMPTS = JSON, XML, NATIVE = ("json", "xml", "native")
_ENGLISH_FORMS = {  # of the answer
    JSON: 'Answer with a JSON object {"idioms": [...]} whose list holds each idiom exactly as it is written in the '
    "sentence, and is empty if there is none. If other words interrupt an idiom, list its parts one by one.",
    XML: "Copy the sentence unchanged, and put <idiom> and </idiom> around each idiom; if other words interrupt an "
    "idiom, around each of its parts.",
}


def question(sentence: str, language: str, *, prompt: str) -> str:
    """Return the question about a sentence in one of the `PROMPTS`."""
    if prompt == NATIVE:
        wording = LANGUAGES[language].span_prompt
        if wording is None:
            raise InputError(f"{LANGUAGES_FILE}: {language} has no span_prompt; add one, or ask in English")
        return f"{wording['task']}\n{wording['sentence']}: {sentence}\n{wording['answer']}:"
    task = _ENGLISH_TASK.format(language=LANGUAGES[language].name)
    return f"{task} {_ENGLISH_FORMS[prompt]}\n{_ENGLISH_SENTENCE}: {sentence}\nAnswer:"


def right_answer(sentence: TaggedSentence, *, prompt: str) -> str:
    """Return the right answer to the question about a sentence."""
    if prompt != XML:
        idioms = [span.of(sentence.sentence) for span in sentence.spans()]
        return json.dumps({"idioms": idioms}, ensure_ascii=False)
    text, position = "", 0
    for span in sentence.spans():
        text += f"{sentence.sentence[position : span.start]}<idiom>{span.of(sentence.sentence)}</idiom>"
        position = span.end
    return text + sentence.sentence[position:]


def own_turns(text: str, is_own_sentence: Callable[[str], bool]) -> Iterator[str]:
    """Yield the parts of an answer, which has no reasoning any more, that belong to the question.

    The first part is the text before the next question in the form of a prompt. If that question is a repetition of the
    model's own, the text after it is a part too. A question about another sentence ends the answer.
    """
    # Instead of a stop string, because a reasoning model may write any part of the prompt in its thoughts
    start = 0
    for line in _question_line(tuple(LANGUAGES)).finditer(text):
        yield text[start : line.start()]
        sentence = line["sentence"]
        if sentence is not None and not is_own_sentence(sentence):
            return
        start = line.end()
    yield text[start:]


@cache
def _question_line(codes: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for a line of a prompt: the task, or the labelled sentence without tags."""
    native = [wording for code in codes if (wording := LANGUAGES[code].span_prompt)]
    tasks = [_ENGLISH_TASK, *(wording["task"] for wording in native)]
    labels = [_ENGLISH_SENTENCE, *(wording["sentence"] for wording in native)]
    # Up to the bracket, because the language of the sentence comes after it
    task = "|".join(re.escape(text.partition("(")[0].strip()) for text in tasks)
    label = "|".join(map(re.escape, labels))
    # With a tag in it, a labelled sentence is not a question but an answer to the prompt `xml`
    return re.compile(rf"^(?:(?:{task})[^\n]*|(?:{label}):(?P<sentence>[^\n<]*))$", re.MULTILINE)
