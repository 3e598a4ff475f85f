"""Types of the fields of a grid file, whose errors name the nearest known value."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Annotated, TypeVar

from pydantic import AfterValidator, Field, StringConstraints

from turkic_idiom_tasks.encoders.names import POOLED_NAME
from turkic_idiom_tasks.io.reading import display
from turkic_idiom_tasks.training.config import Seed

T = TypeVar("T")


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a remark that names the known name most similar to another one; an empty text if none is similar."""
    close = get_close_matches(name, list(known), n=1)
    return f" (nearest: {close[0]})" if close else ""


def one_of(*known: str) -> AfterValidator:
    """Return a validator that accepts only the known names; its error names the nearest one."""

    def check(name: str) -> str:
        if name not in known:
            raise ValueError(f"unknown {display(name)}{nearest(name, known)}; known: {', '.join(known)}")
        return name

    return AfterValidator(check)


def without_pooling(advice: str = "") -> AfterValidator:
    """Return a validator that rejects the name of a model with a pooling; its error ends with the advice."""

    def check(name: str) -> str:
        if POOLED_NAME.fullmatch(name):
            raise ValueError(f"{display(name)} names a pooling; give the model without its pooling{advice}")
        return name

    return AfterValidator(check)


def _without_repeats(values: tuple[T, ...]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(values))


Distinct = Annotated[tuple[T, ...], AfterValidator(_without_repeats)]
AtLeastOne = Annotated[tuple[T, ...], Field(min_length=1), AfterValidator(_without_repeats)]  # distinct ones
NonEmpty = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Names = AtLeastOne[Annotated[NonEmpty, without_pooling()]]
Seeds = AtLeastOne[Seed]
