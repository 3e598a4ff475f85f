"""Reading of the JSON object in the text that a language model answered: strictly, whatever stands around it.

Models put JSON into fences, think aloud before it, or explain it afterwards. None of that changes what is read, but the
object itself must be valid JSON with the expected fields. An answer with two different valid objects is an error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from turkic_idiom_tasks.io.reading import MalformedError, first_fault, parse_json
from turkic_idiom_tasks.model_answers import without_reasoning

LONGEST = 200_000  # characters of an answer that are looked at
_MOST_OBJECTS = 100  # braces at which an object is looked for

Value = TypeVar("Value", bound=BaseModel)


class AnswerFields(BaseModel):
    """Fields of a JSON object that a model answers with; servers that follow a schema may add no others."""

    model_config = ConfigDict(extra="ignore", frozen=True, json_schema_extra={"additionalProperties": False})


def read_answer(text: str, answer: type[Value]) -> Value:
    """Return the object in an answer.

    Args:
        text: what the model wrote.
        answer: the fields that the object must have.

    Raises:
        MalformedError: there is no such object, or there are several that differ.
    """
    values: list[Value] = []
    problem = "no JSON object in the answer" if text.strip() else "the answer is empty"
    for candidate in _objects(without_reasoning(text[:LONGEST])):
        try:
            value = answer.model_validate(parse_json(candidate.encode("utf-8", "surrogatepass")))
        except MalformedError as error:
            problem = str(error)
            continue
        except ValidationError as error:
            problem = f"field {first_fault(error)}"
            continue
        if value not in values:
            values.append(value)
    if len(values) > 1:
        raise MalformedError(f"the answer has {len(values)} JSON objects that differ")
    if not values:
        raise MalformedError(problem)
    return values[0]


def _objects(text: str) -> Iterator[str]:
    """Yield the texts of the outermost JSON objects, valid as far as brackets and quotes go."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if start < 0:
            return
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            if isinstance(value, dict):
                yield text[start:end]
        start = text.find("{", end)
