"""Rows of JSON from outside as pydantic models: what is wrong with one is said in one line, with file and field."""

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import ValidationError

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import faults


@contextmanager
def row_errors(place: object, problem: str | None = None, *, advice: str = "correct it") -> Iterator[None]:
    """Turn a ValidationError into an InputError with the place, and the `problem` of a malformed line or the fault."""
    try:
        yield
    except ValidationError as error:
        raise InputError(f"{place}: {problem or faults(error)[0]}; {advice}") from error
