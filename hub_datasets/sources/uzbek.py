"""Reader of the Uzbek phraseological dictionary of 2022 as extracted in bizb0630/uzbek-idioms (CSV).

Each row is one sense; headwords are in capitals. The extraction left noise, which is repaired if the right text is
certain, and removed otherwise. The report counts both:

- headwords: look-alike letters of other scripts, trailing sense and homonym numbers, a transcription in brackets,
  spaced-out letters, optional letters and alternatives (`notation.resolve_forms`). A row whose headword is cut off
  (``KES-``) is dropped, because the headword cannot be restored.
- an alternative in a row of its own (``AZIMAT QILMOQ`` with the meaning ``(yoki``, then ``ETMOQ``) is joined again.
- meanings: question marks and transcriptions before them, labels of usage (``tar.``), the first letters of the next
  section after them, names of authors. A meaning without a definition is removed.
- examples: argument slots before them (``kim? nimani?``), and the sentence that the extraction cut off at 600
  characters.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from hub_datasets.cleaning import latinised
from hub_datasets.import_report import Note, Reading, SourceRow
from turkic_idiom_tasks.annotation.notation import has_unmatched_brackets, resolve_forms
from turkic_idiom_tasks.io.csv_files import read_table
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.orthography import clean, lower

COLUMNS = ("idiom", "meaning_uz", "example_uz", "variants")
_UZBEK = LANGUAGES["uz"]
_CUT_LENGTH = 598  # the extraction kept 600 characters of an example
_SHORT_WORD = 5  # letters; such a headword is a part of a torn one (``ETMOQ``), compounds are longer
_FEWEST_WORDS = 3  # of an example
_FEWEST_LETTERS = 3  # of a meaning

_TABLE = tomllib.loads(Path(__file__).with_name("uzbek.toml").read_text("utf-8"))
_NOISE: Any = SimpleNamespace(**{name: re.compile(pattern) for name, pattern in _TABLE.items()})
_SECTION_NAMES = ("varianti", "variantlari", "sinonimi", "antonimi")


class _Raw(NamedTuple):
    """A row of the table without soft hyphens and letters of other scripts, before it is cleaned."""

    line: int
    headword: str
    meaning: str
    example: str
    variants: str
    notes: tuple[Note, ...]


def read(path: Path) -> Iterator[SourceRow]:
    """Yield one row per sense."""
    raws: list[_Raw] = []
    for record in read_table(path, COLUMNS):
        if record.cells is None:
            yield SourceRow(record.line, problem=record.problem, value=record.value)
            continue
        cells = [record.cells[column].replace("\u00ad", "").strip() for column in COLUMNS]
        headword, meaning, example, variants = map(latinised, cells)
        changed = [cell for cell in cells if latinised(cell) != cell]
        notes = tuple(Note("look-alike letters of another script replaced", cell) for cell in changed)
        raws.append(_Raw(record.line, headword, meaning, example, variants, notes))
    for item in _joined(raws):
        yield item if isinstance(item, SourceRow) else _source_row(item)


def _joined(raws: Sequence[_Raw]) -> Iterator[_Raw | SourceRow]:
    """Yield the rows; rows over which a headword with an alternative was split are joined."""
    merged = "part of a torn headword, joined with the next row"
    position = 0
    while position < len(raws):
        first = raws[position]
        position += 1
        if position == len(raws) or not _is_torn(first, raws[position]):
            yield first
            continue
        following = raws[position]
        last_part = following.headword
        headword = f"{first.headword.rstrip(' (')} (yoki {last_part}"
        yield SourceRow(first.line, merged=merged, value=first.headword)
        if following.meaning == ")" and not following.example and position + 1 < len(raws):
            # The alternative ends here; the rest of the headword is in the next row.
            yield SourceRow(following.line, merged=merged, value=following.headword)
            position += 1
            following = raws[position]
            headword += ")"
            if following.headword != last_part:
                last_part = following.headword
                headword += f" {last_part}"
        headword += "" if ")" in headword else ")"
        while position < len(raws) and raws[position].headword == last_part:  # the other senses
            row = raws[position]
            note = Note("headword joined with its torn-off alternative", headword)
            yield row._replace(headword=headword, meaning=row.meaning.lstrip(") "), notes=(*row.notes, note))
            position += 1


def _is_torn(raw: _Raw, following: _Raw) -> bool:
    """Return whether the next row has the rest of the headword, so that it closes the parenthesis."""
    if not _NOISE.torn.fullmatch(raw.meaning) or raw.example:
        return False
    closes = following.meaning.startswith(")") or following.headword.count(")") > following.headword.count("(")
    return closes and following.headword != raw.headword


def _source_row(raw: _Raw) -> SourceRow:
    headword = _plain_headword(raw.headword)
    # Because of the capitals it is not known which words are names, so every headword is lower-cased
    citation, variants = resolve_forms(lower(clean(headword, _UZBEK), _UZBEK))
    problem = ""
    if headword.endswith("-"):
        problem = "idiom is cut off"
    elif has_unmatched_brackets(citation):
        problem = "idiom has unmatched brackets"
    elif ".." in citation:
        problem = "idiom has a gap"
    elif citation and " " not in citation and len(citation) <= _SHORT_WORD:
        problem = "idiom is one short word"
    if problem:
        return SourceRow(raw.line, problem=problem, value=raw.headword, notes=raw.notes)
    notes = list(raw.notes)
    meaning = _meaning(raw.meaning, notes)
    example = _example(raw.example, notes)
    if lower(headword, _UZBEK) != lower(raw.headword, _UZBEK):
        notes.append(Note("numbers, dashes or a transcription removed from the idiom", raw.headword))
    if re.search(r"[(\[/]", headword):
        notes.append(Note("optional letters or alternatives in the idiom resolved", raw.headword))
    forms = [form for form in variants if not has_unmatched_brackets(form)]
    forms += _listed_variants(raw.variants, citation, notes)
    reading = Reading(citation, meaning, example, tuple(dict.fromkeys(forms)))
    return SourceRow(raw.line, {"uz": reading}, notes=tuple(notes))


def _plain_headword(text: str) -> str:
    """Return a headword without numbers, transcription, the dash of a derived form, and spaces between letters."""
    text = _NOISE.transcription.sub("", text)
    text = _NOISE.spaced_out.sub(lambda match: match[0].replace(" ", ""), text)
    text = text.strip(" –").rstrip("=.: ")
    previous = ""
    while previous != text:
        previous = text
        text = _NOISE.numeral.sub("", text).rstrip("=.: ")
    return text


def _meaning(original: str, notes: list[Note]) -> str | None:
    """Return the definition in a meaning, or None; repairs are added to `notes`."""
    text = original
    previous = None
    # One piece of noise may hide another, so the text is cleaned until nothing changes
    while previous != text:
        previous = text
        text = _NOISE.label.sub("", _NOISE.leading_noise.sub("", text))
        bracket = _NOISE.leading_bracket.match(text)
        if bracket:
            rest = text[bracket.end() :].strip()
            is_word = re.fullmatch(r"[a-z’ ]+", bracket["content"]) and rest and not _NOISE.label.match(rest)
            text = f"{bracket['content']} {rest}" if is_word else rest
        text = _NOISE.transcription_end.sub("", text)
    if _NOISE.reference.match(text) or _NOISE.author.match(text):
        kind = "a reference to another idiom" if _NOISE.reference.match(text) else "a source"
        notes.append(Note(f"meaning removed: only {kind}", original))
        return None
    section = _NOISE.section.search(text)
    if section:
        # A single letter, or the name of a section of the dictionary, in which letters may be missing.
        name = section["name"].replace(" ", "").lower()
        if len(name) == 1 or get_close_matches(name, _SECTION_NAMES):
            text = text[: section.start()]
    text = _NOISE.trailing_noise.sub("", _NOISE.informant.sub("", _NOISE.trailing_noise.sub("", text)))
    text = str(text).rstrip(" .…")
    if _NOISE.no_definition.fullmatch(text) or sum(map(str.isalpha, text)) < _FEWEST_LETTERS:
        if original:
            notes.append(Note("meaning removed: no definition in it", original))
        return None
    if text not in (original, original.removesuffix(".")):
        notes.append(Note("noise removed from the meaning", original))
    return text


def _example(original: str, notes: list[Note]) -> str | None:
    """Return the sentences of an example, or None; repairs are added to `notes`."""
    text = original
    repairs = []
    if len(text) >= _CUT_LENGTH:
        ends = [match.end() for match in _NOISE.sentence_end.finditer(text)]
        if not ends:
            notes.append(Note("example removed: cut off", original))
            return None
        text = text[: ends[-1]]
        repairs.append(Note("cut-off sentence removed from the end of the example", original))
    slots = _NOISE.slots.match(text)
    if slots and ("?" in slots[0] or not text.startswith(("–", ".."))):
        text = text[slots.end() :]
        repairs.append(Note("argument slots or stray signs removed from the start of the example", original))
    has_unmatched_quotes = text.count("“") != text.count("”")
    text = text.replace("\\", "").strip(" “" if has_unmatched_quotes else None)
    if len(text.split()) < _FEWEST_WORDS:
        if original:
            notes.append(Note("example removed: fewer than three words", original))
        return None
    notes += repairs
    return text


def _listed_variants(cell: str, citation: str, notes: list[Note]) -> list[str]:
    """Return the reliable variants of the column; a note is added for each of the others."""
    variants: list[str] = []
    citation_words = citation.split()
    # By its first letters, because its endings differ
    verb = citation_words[-1][:3] if citation_words else ""
    separator = r";|\|\|" if "," in citation else r"[;,]|\|\|"
    # The extraction separates variants by semicolons, but there are semicolons within variants too. So a part must be
    # at least as long as the idiom, and end with the same verb, negated or not as there: the column has antonyms too.
    for part in re.split(separator, _NOISE.empty_slot.sub("", cell)):
        part = part.strip(" :")
        if not part:
            continue
        form, _ = resolve_forms(lower(clean(_plain_headword(part), _UZBEK), _UZBEK))
        words = form.split()
        is_whole = len(words) >= max(2, len(citation_words)) and not has_unmatched_brackets(form)
        is_broken = _NOISE.fragment.search(part) or re.search(r"[:/]| – ", form)
        is_negated_alike = bool(_NOISE.negated.search(form)) == bool(_NOISE.negated.search(citation))
        if is_whole and not is_broken and is_negated_alike and words[-1][:3] == verb:
            if form != citation:
                variants.append(form)
        else:
            notes.append(Note("variant removed: incomplete or of another idiom", part))
    return variants
