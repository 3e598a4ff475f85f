"""A lexicon for people to read: one concept as text, or all concepts side by side on a static, searchable page."""

from difflib import get_close_matches
from html import escape
from pathlib import Path

from turkic_idiom_tasks.concept_browser.parts import (
    TEXT_LABELS,
    browser_data,
    browser_part,
    example_parts,
    json_for_script,
    lexicon_rows,
)
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import display, printable
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.editions import EDITIONS
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.lexicon.load import BUNDLED

PAGE = Path(__file__).with_name("browse.html")
_REVISION_LENGTH = 12  # characters of the revision that are shown
_INTRO = (
    "Machine-written, checked by an independent second reading, {review} by native speakers. To report a "
    "mistake, open an issue with the language, the concept id and what is wrong; a correction is one line of "
    "lexicon/data/&lt;language&gt;.jsonl."
)


def show(lexicon: Lexicon, concept: str) -> str:
    """Return one concept in every language as text, with brackets around the idiom in the example."""
    if concept not in lexicon.concepts:
        near = get_close_matches(concept, lexicon.concepts, n=3)
        for code in LANGUAGES:
            near += [name for name, entry in lexicon.of(code).items() if entry.idiom == concept]
        hint = f"near it: {', '.join(dict.fromkeys(near))}" if near else "`dataset show --out FILE` lists them"
        raise InputError(f"{lexicon.source}: no concept {display(concept)}; {hint}")
    lines = [f"{concept}: {lexicon.concepts[concept].gloss}"]
    for code, language in LANGUAGES.items():
        entry = lexicon.of(code).get(concept)
        if entry is None:
            continue
        lines += ["", f"{language.name} ({code}): {entry.idiom}"]
        if entry.variants:
            lines.append(f"  variants: {', '.join(entry.variants)}")
        for name in TEXT_LABELS:
            text = getattr(entry, name)
            if name == "example":
                parts = example_parts(entry) or ()
                text = "".join(f"[{part}]" if is_idiom else part for part, is_idiom in parts) or None
            if text is not None:
                lines.append(f"  {name.replace('_', ' ')}: {text}")
        if entry.status:
            lines.append(f"  status: {entry.status}")
    return printable("\n".join([*lines, ""]))


def page(lexicon: Lexicon) -> str:
    """Return the browser of all concepts, as one HTML file that needs no other file."""
    edition = EDITIONS.get(lexicon.revision)
    revision = lexicon.revision[:_REVISION_LENGTH]
    # Not the folder that the lexicon was read from, as the page may be published.
    intro = escape(f"Edition {edition}, revision {revision}." if edition else f"Revision {revision}.")
    if lexicon.source == str(BUNDLED):
        intro += f" {_INTRO.format(review='reviewed in part' if lexicon.is_reviewed else 'not yet reviewed')}"
    parts = {
        "@N@": str(len(lexicon.concepts)),
        "@INTRO@": intro,
        "@STYLE@": browser_part("css"),
        "@BROWSER@": browser_part("html"),
        "@SCRIPT@": browser_part("js"),
        # Last, as its texts may hold any of the names
        "@DATA@": json_for_script(browser_data(lexicon_rows(lexicon))),
    }
    html = PAGE.read_text("utf-8")
    for name, part in parts.items():
        html = html.replace(name, part)
    return html
