"""A lexicon for people to read: one concept as text, or all concepts side by side on a static, searchable page."""

from __future__ import annotations

from difflib import get_close_matches
from html import escape
from pathlib import Path

from turkic_idiom_tasks.concept_browser.parts import (
    TEXT_LABELS,
    browser_data,
    example_parts,
    json_for_script,
    lexicon_rows,
    markup,
    script,
    style,
)
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import display, printable
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.editions import edition_of
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.lexicon.load import BUNDLED

PAGE = Path(__file__).with_name("browse.html")
_REVISION_LENGTH = 12  # characters of the revision that are shown
_INTRO = (
    "Machine-written, checked by an independent second reading, {review} by native speakers. To report a "
    "mistake, open an issue with the language, the concept id and what is wrong; a correction is one line of "
    "lexicon/data/&lt;language&gt;.jsonl."
)


def show(lexicon: Lexicon, concept: str) -> str:
    """Return one concept in every language, as text.

    Args:
        lexicon: the lexicon.
        concept: id of the concept.

    Raises:
        InputError: there is no such concept; names the nearest ones, and those of which the text is an idiom.
    """
    if concept not in lexicon.concepts:
        near = get_close_matches(concept, lexicon.concepts, n=3)
        for code in LANGUAGES:
            near += [name for name, entry in lexicon.of(code).items() if entry.idiom == concept]
        hint = f"; near it: {', '.join(dict.fromkeys(near))}" if near else "; turkic-idiom dataset browse lists them"
        raise InputError(f"{lexicon.source}: no concept {display(concept)}{hint}")
    lines = [f"{concept}: {lexicon.concepts[concept].gloss}"]
    for code, language in LANGUAGES.items():
        entry = lexicon.of(code).get(concept)
        if entry is not None:
            lines += ["", f"{language.name} ({code}): {entry.idiom}", *_details(entry)]
    return printable("\n".join([*lines, ""]))


def page(lexicon: Lexicon) -> str:
    """Return the browser of all concepts, as one HTML file that needs no other file."""
    parts = {
        "@N@": str(len(lexicon.concepts)),
        "@INTRO@": _intro(lexicon),
        "@STYLE@": style(),
        "@BROWSER@": markup(),
        "@SCRIPT@": script(),
        "@DATA@": json_for_script(browser_data(lexicon_rows(lexicon))),  # last, as its texts may hold any of the names
    }
    html = PAGE.read_text("utf-8")
    for name, part in parts.items():
        html = html.replace(name, part)
    return html


def _intro(lexicon: Lexicon) -> str:
    """Return, as HTML, which lexicon this is; not the folder it was read from, as the page may be published."""
    edition = edition_of(lexicon.revision)
    version = f"{f'Edition {edition}, revision' if edition else 'Revision'} {lexicon.revision[:_REVISION_LENGTH]}."
    if lexicon.source != str(BUNDLED):
        return escape(version)
    review = "reviewed in part" if lexicon.is_reviewed else "not yet reviewed"
    return f"{escape(version)} {_INTRO.format(review=review)}"


def _details(entry: Entry) -> list[str]:
    """Return an indented line for each part of an entry besides its idiom."""
    lines = []
    if entry.variants:
        lines.append(f"  variants: {', '.join(entry.variants)}")
    for name in TEXT_LABELS:
        text = _marked_example(entry) if name == "example" else getattr(entry, name)
        if text is not None:
            lines.append(f"  {name.replace('_', ' ')}: {text}")
    if entry.status:
        lines.append(f"  status: {entry.status}")
    return lines


def _marked_example(entry: Entry) -> str | None:
    """Return the example with brackets around the idiom."""
    parts = example_parts(entry)
    if parts is None:
        return None
    return "".join(f"[{text}]" if is_idiom else text for text, is_idiom in parts)
