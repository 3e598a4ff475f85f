"""JSON from outside, read as pydantic models: a fault becomes one line with the file, the field and what to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import MalformedError, faults, first_fault, read_json_lines

T = TypeVar("T")


@contextmanager
def model_errors(place: object, advice: str) -> Iterator[None]:
    """Turn a MalformedError or a ValidationError into an InputError: the place, what is wrong, what to do."""
    try:
        yield
    except (MalformedError, ValidationError) as error:
        fault = f"damaged ({first_fault(error)})" if isinstance(error, ValidationError) else error
        raise InputError(f"{place}: {fault}; {advice}") from error


@contextmanager
def row_errors(place: object, problem: str | None = None, *, advice: str = "correct it") -> Iterator[None]:
    """Turn a ValidationError into an InputError that names the value too, or the `problem` of a malformed line."""
    try:
        yield
    except ValidationError as error:
        raise InputError(f"{place}: {problem or faults(error)[0]}; {advice}") from error


def read_model_lines(kind: type[T], path: Path, advice: str) -> Iterator[T]:
    """Yield the lines of a JSON lines file as models or dataclasses; the first that is malformed is an InputError."""
    adapter = TypeAdapter(kind)
    for number, value, problem in read_json_lines(path):
        with model_errors(f"{path}:{number}", advice):
            if problem:
                raise MalformedError(problem)
            row = adapter.validate_python(value)
        yield row
