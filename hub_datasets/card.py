"""The card of a lexicon directory: the template beside this module, filled with the lexicon's own figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hub_datasets.statistics import language_figures, table
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.lexicon.load import BUNDLED

TEMPLATE = Path(__file__).with_name("lexicon_card.md")
OTHER_TEMPLATE = """# Idioms of {languages}

{n_concepts} concepts. This is not the lexicon that turkic-idiom-tasks carries: where its texts come from, how they were
checked and under which licence they stand is for its source to say.

{figures}
"""
READINGS = "readings.json"  # beside the lexicon: how many entries were written, rejected, repaired and dropped
VERDICTS = ("written", "rejected", "repaired", "dropped")


def card(lexicon: Lexicon, readings: Mapping[str, Any]) -> str:
    """The card as Markdown; of a lexicon that is not the bundled one it makes no claims but figures.

    Args:
        lexicon: its entries.
        readings: from `read_readings`.
    """
    languages = [f"{LANGUAGES[code].name} (`{code}`)" for code in language_figures(lexicon)]
    is_ours = lexicon.source == str(BUNDLED)
    return (TEMPLATE.read_text("utf-8") if is_ours else OTHER_TEMPLATE).format(
        n_concepts=len(lexicon.concepts),
        languages=", ".join(languages),
        figures=table(lexicon).rstrip(),
        readings=_readings_table(readings),
    )


def read_readings(directory: Path) -> Mapping[str, Any]:
    """What the readers did, as the file beside a lexicon says; empty without one.

    Raises:
        InputError: the file is damaged.
    """
    path = directory / READINGS
    if not path.is_file():
        return {}
    try:
        found: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: damaged ({error}); restore it") from error
    return found


def _readings_table(readings: Mapping[str, Any]) -> str:
    by_language = readings.get("by_language", {})
    if not by_language:
        return "No account of the readings is kept with this lexicon."
    lines = [f"| entries | {' | '.join(by_language)} |", f"|---|{'---:|' * len(by_language)}"]
    for verdict in VERDICTS:
        lines.append(f"| {verdict} | {' | '.join(str(row.get(verdict, 0)) for row in by_language.values())} |")
    return "\n".join([*lines, "", readings.get("note", "")]).rstrip()
