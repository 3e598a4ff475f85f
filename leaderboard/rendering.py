"""Templates, and how they show figures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from leaderboard.tables import TASK_NAMES, variant
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES

if TYPE_CHECKING:
    from jinja2 import Environment


def environment() -> Environment:
    """The templates, with everything escaped.

    Raises:
        InputError: jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError as error:
        raise InputError("the site needs the package jinja2: pip install 'turkic-idiom-tasks[leaderboard]'") from error

    made = Environment(
        loader=PackageLoader("leaderboard"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "score": _shown_score,
        "parameters": _shown_parameters,
        "task_name": TASK_NAMES.__getitem__,
        "language": lambda code: LANGUAGES[code].name,
        "reported": _reported,
        "sentence": _listed,
        "variant": variant,
    }
    return made


def _shown_score(value: float) -> str:
    """``.531``, ``−.012``, ``1.000``; a dash for what is undefined."""
    if value != value:
        return "–"
    shown = f"{value:.3f}".replace("-0.000", "0.000")
    return re.sub(r"^(-?)0\.", r"\1.", shown).replace("-", "−")


def _reported(value: float | str | None) -> str:
    """A figure of the paper with the two or three digits that it has there."""
    if value is None or isinstance(value, str):
        return value or "–"
    digits = 2 if round(value, 2) == value else 3
    return f"{value:.{digits}f}".replace("-", "−")


def _shown_parameters(number: int | None) -> str:
    """``278M``, ``1.3B``; a dash where nobody says."""
    if number is None:
        return "–"
    for unit, divisor in (("T", 1e12), ("B", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= divisor:
            return f"{number / divisor:.3g}{unit}"
    return str(number)


def _listed(names: Sequence[str]) -> str:
    """``Turkish, Azerbaijani and Uzbek``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
