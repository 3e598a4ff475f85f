"""A lexicon for human eyes: one concept as text, or all of them side by side on one static, searchable page."""

from __future__ import annotations

from html import escape

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.lexicon.load import BUNDLED

_TEXTS = ("meaning", "example", "literal_example", "paraphrase", "literal_paraphrase")

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Turkic idioms: {n} concepts</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 15px/1.45 system-ui, sans-serif; margin: 0 1rem 3rem; }}
header {{ position: sticky; top: 0; background: Canvas; padding: .8rem 0; border-bottom: 1px solid GrayText; }}
h1 {{ font-size: 1.1rem; margin: 0 0 .4rem; }}
input {{ font: inherit; width: min(30rem, 90%); padding: .3rem .5rem; }}
section {{ border-bottom: 1px solid color-mix(in srgb, GrayText 40%, transparent); padding: .8rem 0; }}
section[hidden] {{ display: none; }}
h2 {{ font-size: 1rem; margin: 0 0 .4rem; }}
h2 code {{ font-weight: normal; }}
.languages {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: .8rem; }}
.idiom {{ font-weight: 600; }}
.note {{ color: GrayText; font-size: .85rem; }}
mark {{ background: color-mix(in srgb, gold 45%, transparent); color: inherit; }}
p {{ margin: .15rem 0; }}
</style>
</head>
<body>
<header>
<h1>Turkic idioms: {n} concepts</h1>
<label>Search <input id="search" type="search" placeholder="idiom, meaning, English, concept id" autofocus></label>
<span id="count" role="status">{n}</span>
<p class="note">{intro}</p>
</header>
<main>
{sections}
</main>
<script>
const sections = [...document.querySelectorAll("section")];
const marks = /[\\u0300-\\u036f'\\u02bb\\u02bc]/g;
const fold = text => text.toLowerCase().normalize("NFD").replace(marks, "").replace(/ı/g, "i");
const texts = sections.map(section => fold(section.textContent));
document.getElementById("search").addEventListener("input", event => {{
  const words = fold(event.target.value).split(/\\s+/).filter(Boolean);
  let shown = 0;
  sections.forEach((section, index) => {{
    section.hidden = !words.every(word => texts[index].includes(word));
    shown += !section.hidden;
  }});
  document.getElementById("count").textContent = shown;
}});
</script>
</body>
</html>
"""
_INTRO = (
    "Machine-written, checked by an independent second reading, not yet reviewed by native speakers. To report a "
    "mistake, open an issue with the language, the concept id and what is wrong; a correction is one line of "
    "lexicon/data/&lt;language&gt;.jsonl."
)


def show(lexicon: Lexicon, concept: str) -> str:
    """One concept in every language, as text.

    Raises:
        InputError: there is no such concept; names the nearest.
    """
    if concept not in lexicon.concepts:
        from difflib import get_close_matches

        near = get_close_matches(concept, lexicon.concepts, n=3) or sorted(lexicon.concepts)[:3]
        raise InputError(f"{lexicon.source}: no concept {concept!r}; near it: {', '.join(near)}")
    lines = [f"{concept}: {lexicon.concepts[concept].gloss}"]
    for code, language in LANGUAGES.items():
        entry = lexicon.of(code).get(concept)
        if entry is None:
            continue
        lines += ["", f"{language.name} ({code}): {entry.idiom}"]
        lines += [f"  variants: {', '.join(entry.variants)}"] if entry.variants else []
        for name in _TEXTS:
            text = getattr(entry, name)
            if text is not None:
                text = _marked(entry, "[", "]") if name == "example" else text
                lines.append(f"  {name.replace('_', ' ')}: {text}")
        lines += [f"  status: {entry.status}"] if entry.status else []
    return "\n".join([*lines, ""])


def page(lexicon: Lexicon) -> str:
    """All concepts side by side, as one HTML file that needs nothing else."""
    sections = "\n".join(_section(lexicon, concept) for concept in sorted(lexicon.concepts))
    intro = _INTRO if lexicon.source == str(BUNDLED) else f"From {escape(lexicon.source)}."
    return _PAGE.format(n=len(lexicon.concepts), intro=intro, sections=sections)


def _section(lexicon: Lexicon, concept: str) -> str:
    cells = []
    for code, language in LANGUAGES.items():
        entry = lexicon.of(code).get(concept)
        if entry is not None:
            cells.append(f'<div lang="{code}">{_cell(entry, language.name)}</div>')
    gloss = escape(lexicon.concepts[concept].gloss)
    return (
        f'<section id="{escape(concept)}"><h2>{gloss} <code>{escape(concept)}</code></h2>'
        f'<div class="languages">{"".join(cells)}</div></section>'
    )


def _cell(entry: Entry, language: str) -> str:
    parts = [f'<p class="note">{language}</p>', f'<p class="idiom">{escape(entry.idiom)}</p>']
    if entry.variants:
        parts.append(f'<p class="note">also: {escape(", ".join(entry.variants))}</p>')
    for name in _TEXTS:
        text = getattr(entry, name)
        if text is None:
            continue
        shown = _marked(entry, "<mark>", "</mark>") if name == "example" else escape(text)
        label = "" if name in ("meaning", "example") else f'<span class="note">{name.replace("_", " ")}:</span> '
        parts.append(f"<p>{label}{shown}</p>")
    return "".join(parts)


def _marked(entry: Entry, before: str, after: str) -> str:
    """The example with marks around its spans; escaped where the marks are HTML."""
    kept = escape if before.startswith("<") else str
    example = entry.example or ""
    text, position = "", 0
    for span in entry.spans or ():
        text += f"{kept(example[position : span.start])}{before}{kept(span.of(example))}{after}"
        position = span.end
    return text + kept(example[position:])
