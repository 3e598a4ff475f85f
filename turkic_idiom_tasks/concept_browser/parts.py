"""Data, markup, style and script of the browser of concepts; the pages around them are made by those who use them.

The data are JSON, and the script puts every text of them on the page as text, so no text can become markup.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon

PER_PAGE = 50  # concepts
TEXT_LABELS = {  # field of an entry -> label before its text; idiom, meaning and example need none
    "meaning": "",
    "example": "",
    "literal_example": "literal example",
    "paraphrased_example": "paraphrased example",
    "paraphrase": "paraphrase",
    "literal_paraphrase": "literal paraphrase",
}


def browser_part(kind: Literal["html", "css", "js"]) -> str:
    """Return a part of the browser, which stands inside a page and takes its colours from it.

    The HTML has search, filters, list and pages. The script takes the data from the element with the id
    ``concepts-data``, or else from a call of ``turkicIdiomConcepts``.
    """
    return Path(__file__).with_name(f"browser.{kind}").read_text("utf-8")


def browser_data(rows: Sequence[dict[str, Any]], *, subsets: dict[str, dict[str, Any]] | None = None) -> dict[str, Any]:
    """Return the data of the page, with rows such as those of `lexicon_rows`, in their order.

    A row may have ``items``: a list of [name of a subset, query, right answer, number of models that solve it]. The
    subsets are name -> ``task``, its ``title``, the languages ``from`` and ``to``, and the number of ``models``.
    """
    return {
        "per_page": PER_PAGE,
        "languages": {code: language.name for code, language in LANGUAGES.items()},
        "labels": TEXT_LABELS,
        "subsets": subsets or {},
        "concepts": list(rows),
    }


def lexicon_rows(lexicon: Lexicon) -> list[dict[str, Any]]:
    """Return a row for each concept of a lexicon, sorted by id: its gloss, and what is known of its entries."""
    rows = []
    for name in sorted(lexicon.concepts):
        concept = lexicon.concepts[name]
        row: dict[str, Any] = {"id": name, "gloss": concept.gloss, "entries": {}}
        if concept.aliases:
            row["aliases"] = list(concept.aliases)
        for code in LANGUAGES:
            entry = lexicon.of(code).get(name)
            if entry is None:
                continue
            data: dict[str, Any] = {"idiom": entry.idiom, "variants": list(entry.variants) or None}
            data["per_million"] = entry.per_million
            for field in TEXT_LABELS:
                data[field] = example_parts(entry) if field == "example" else getattr(entry, field)
            row["entries"][code] = {field: value for field, value in data.items() if value is not None}
        rows.append(row)
    return rows


def example_parts(entry: Entry) -> list[tuple[str, bool]] | None:
    """Return the example cut into (text, whether it is of the idiom); None if there is no example."""
    if entry.example is None:
        return None
    # A script cannot use the offsets of the spans, because it counts characters in UTF-16
    parts = []
    position = 0
    for span in entry.spans or ():
        parts += [(entry.example[position : span.start], False), (span.of(entry.example), True)]
        position = span.end
    return [*parts, (entry.example[position:], False)]


def json_for_script(value: Any) -> str:
    """Return JSON that can stand in a script element."""
    # Without a "<" no text can end the element
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
