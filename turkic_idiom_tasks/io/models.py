"""JSON and settings from outside, read as pydantic models: a fault is one line with file, field and what to do."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import MalformedError, faults, first_fault, read_json_lines

T = TypeVar("T")
SettingsKind = TypeVar("SettingsKind", bound=BaseModel)


@contextmanager
def model_errors(place: object, advice: str = "correct it", *, problem: str | None = None) -> Iterator[None]:
    """Turn a MalformedError or a ValidationError into an InputError: the place, what is wrong, what to do.

    A line of JSON lines that is malformed has None as its value, which is no model, and a `problem` that says why.
    """
    try:
        yield
    except (MalformedError, ValidationError) as error:
        fault = faults(error)[0] if isinstance(error, ValidationError) else error
        raise InputError(f"{place}: {problem or fault}; {advice}") from error


def read_model_lines(kind: type[T], path: Path, advice: str) -> Iterator[T]:
    """Yield the lines of a JSON lines file as models or dataclasses; the first that is malformed is an InputError."""
    adapter = TypeAdapter(kind)
    for number, value, problem in read_json_lines(path):
        with model_errors(f"{path}:{number}", advice, problem=problem):
            row = adapter.validate_python(value)
        yield row


def checked(
    kind: type[SettingsKind], settings: Mapping[str, object], *, place: str = "", exit_code: int = 2
) -> SettingsKind:
    """Return settings as a model of this kind; InputError names what cannot be used.

    The place begins the message. The exit code is that of an argument unless it is given.
    """
    try:
        # as JSON, because pydantic then accepts a list as a tuple, but still no text or yes as a number
        return kind.model_validate_json(json.dumps(dict(settings), default=str))  # YAML makes dates of some texts
    except ValidationError as error:
        # The first alone: in JSON, a wrong item makes its tuple too short as well
        first = error.errors(include_url=False)[0]
        is_of_several = first["type"] == "value_error" and isinstance(first["input"], Mapping)
        problem = first_fault(error) if is_of_several else faults(error)[0]
        if first["type"] == "extra_forbidden":
            problem += f"; known: {', '.join(kind.model_fields)}"
        raise InputError(f"{place}: {problem}" if place else problem, exit_code=exit_code) from error
