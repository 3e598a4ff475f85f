"""Jinja environment of the pages, in which every value is escaped, and how the pages write numbers and lists."""

from __future__ import annotations

import re
from collections.abc import Sequence

from leaderboard.language_models import KIND_LABELS
from leaderboard.tables import TASK_LABELS, shown_parameters, shown_rate, shown_score, variant
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES

try:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup
except ModuleNotFoundError as error:
    raise InputError(
        f"the site needs the package {error.name}: pip install 'turkic-idiom-tasks[leaderboard]'"
    ) from error

__all__ = ["Markup", "environment"]


def environment() -> Environment:
    """Return the environment of the templates, in which every value is escaped."""
    templates = Environment(
        loader=PackageLoader("leaderboard"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters |= {
        "score": shown_score,
        "parameters": shown_parameters,
        "rate": shown_rate,
        "task_name": (TASK_LABELS | KIND_LABELS).__getitem__,
        "place": _place,
        "tick": lambda value: f"{value:.2g}".removeprefix("0") or "0",
        "language": lambda code: LANGUAGES[code].name,
        "reported": _shown_figure,
        "sentence": _enumeration,
        "variant": variant,
    }
    return templates


def _shown_figure(value: float | str | None) -> str:
    """Return a figure of the paper as ``.53``, with the same two or three digits as in the paper."""
    if value is None or isinstance(value, str):
        return value or "–"
    digits = 2 if round(value, 2) == value else 3
    return re.sub(r"^(-?)0\.", r"\1.", f"{value:.{digits}f}").replace("-", "−")


def _place(value: float) -> str:
    """Return the place of a score on an axis from 0 to 1; what lies outside stands at its end."""
    return f"{min(1.0, max(0.0, value)):.3f}".removeprefix("0")


def _enumeration(names: Sequence[str]) -> str:
    """Return ``Turkish, Azerbaijani and Uzbek``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
