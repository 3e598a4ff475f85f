"""A lexicon for people to read: one concept as text, or all concepts side by side on a static, searchable page."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from html import escape
from pathlib import Path
from string import Template

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.lexicon.load import BUNDLED
from turkic_idiom_tasks.reading import printable, quoted

PAGE = Path(__file__).with_name("browse.html")
_TEXTS = ("meaning", "example", "literal_example", "paraphrased_example", "paraphrase", "literal_paraphrase")
_INTRO = (
    "Machine-written, checked by an independent second reading, {review} by native speakers. To report a "
    "mistake, open an issue with the language, the concept id and what is wrong; a correction is one line of "
    "lexicon/data/&lt;language&gt;.jsonl."
)


def show(lexicon: Lexicon, concept: str) -> str:
    """Return one concept in every language, as text.

    Raises:
        InputError: there is no such concept; names the nearest ones.
    """
    if concept not in lexicon.concepts:
        near = get_close_matches(concept, lexicon.concepts, n=3) or sorted(lexicon.concepts)[:3]
        raise InputError(f"{lexicon.source}: no concept {quoted(concept)}; near it: {', '.join(near)}")
    lines = [f"{concept}: {lexicon.concepts[concept].gloss}"]
    for code, language in LANGUAGES.items():
        entry = lexicon.of(code).get(concept)
        if entry is not None:
            lines += ["", f"{language.name} ({code}): {entry.idiom}", *_details(entry)]
    return printable("\n".join([*lines, ""]))


def page(lexicon: Lexicon) -> str:
    """Return all concepts side by side, as one HTML file that needs no other file."""
    sections = "\n".join(_section(lexicon, concept) for concept in sorted(lexicon.concepts))
    review = "reviewed in part" if lexicon.is_reviewed else "not yet reviewed"
    intro = _INTRO.format(review=review) if lexicon.source == str(BUNDLED) else f"From {escape(lexicon.source)}."
    template = Template(PAGE.read_text("utf-8"))
    return template.substitute(n=len(lexicon.concepts), intro=intro, sections=sections)


def _details(entry: Entry) -> list[str]:
    """Return an indented line for each part of an entry besides its idiom."""
    lines = []
    if entry.variants:
        lines.append(f"  variants: {', '.join(entry.variants)}")
    for name in _TEXTS:
        text = getattr(entry, name)
        if text is not None:
            text = _marked(entry, "[", "]", encode=str) if name == "example" else text
            lines.append(f"  {name.replace('_', ' ')}: {text}")
    if entry.status:
        lines.append(f"  status: {entry.status}")
    return lines


def _section(lexicon: Lexicon, concept: str) -> str:
    columns = []
    for code, language in LANGUAGES.items():
        entry = lexicon.of(code).get(concept)
        if entry is not None:
            columns.append(f'<div lang="{code}">{_entry_html(entry, language.name)}</div>')
    gloss = escape(lexicon.concepts[concept].gloss)
    return (
        f'<section id="{escape(concept)}"><h2>{gloss} <code>{escape(concept)}</code></h2>'
        f'<div class="languages">{"".join(columns)}</div></section>'
    )


def _entry_html(entry: Entry, language: str) -> str:
    parts = [f'<p class="note">{language}</p>', f'<p class="idiom">{escape(entry.idiom)}</p>']
    if entry.variants:
        parts.append(f'<p class="note">also: {escape(", ".join(entry.variants))}</p>')
    for name in _TEXTS:
        text = getattr(entry, name)
        if text is None:
            continue
        html = _marked(entry, "<mark>", "</mark>", encode=escape) if name == "example" else escape(text)
        label = "" if name in ("meaning", "example") else f'<span class="note">{name.replace("_", " ")}:</span> '
        parts.append(f"<p>{label}{html}</p>")
    return "".join(parts)


def _marked(entry: Entry, before: str, after: str, *, encode: Callable[[str], str]) -> str:
    """Return the example with marks around its spans; `encode` is applied to its text."""
    example = entry.example or ""
    text, position = "", 0
    for span in entry.spans or ():
        text += f"{encode(example[position : span.start])}{before}{encode(span.of(example))}{after}"
        position = span.end
    return text + encode(example[position:])
