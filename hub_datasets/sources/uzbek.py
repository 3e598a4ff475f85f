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

Because of the capitals it is not known which words are names, so every headword is lower-cased.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from hub_datasets.cleaning import latinised
from hub_datasets.sources.source_rows import Note, Reading, SourceRow
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

_NUMERAL = re.compile(r"(?:\s+|^)(?:\d+|I{1,3}|IV|VI{0,3})[.\s]*$")
_TRANSCRIPTION = re.compile(r"\s*\[[^\]]*[a-zïöüӓäӧ=][^\]]*\]?")
_SPACED_OUT = re.compile(r"(?<!\S)(?:[A-Z’ʻ] ){3,}[A-Z’ʻ](?!\S)")
_TORN = re.compile(r"\(?(?:yoki|yoxud)")
_NO_DEFINITION = re.compile(r"(?:yoki|yoxud|ba[’ʼ]zan|\([^)]*\)|\([^)]*|[a-z]\)|I+\)|\W*)[\s,.]*")
_LEADING_NOISE = re.compile(r"^(?:[\s?.,;:=–\-\])]+|(?:I{1,3}|IV|V)\s+(?=\S))")
_LEADING_BRACKET = re.compile(r"^\[(?P<content>[^\]]*)(?:\]|$)")
_TRANSCRIPTION_END = re.compile(r"^[^\[\]]{0,30}=\s?\]")
_LABEL = re.compile(r"^(?:(?:tar|esk|shv|s\.t|kam\. qo[’ʼ]ll)(?:\.|$)\s*)+")
_REFERENCE = re.compile(r"^ayn\.")
_AUTHOR = re.compile(r"^(?:[A-Z]\.\s?[A-Z][\w’]+\.|[A-Z][\w’]+\. [A-Z])")
_INFORMANT = re.compile(r"\s*\([A-Z][^()]*\)?\.?$")
_TRAILING_NOISE = re.compile(r"(?:[\s–\-,;:=(\[]|\b(?:yoki|yoxud|ba[’ʼ]zan)$)+$")
_SECTION = re.compile(r"(?<=[.!?])\s+(?P<name>[A-Z][A-Za-z ]{0,20})\s*:?\s*$")
_SECTION_NAMES = ("varianti", "variantlari", "sinonimi", "antonimi")
_SLOT_PART = (
    r"(?:[–=?;,:.)»\]]+|\(oz(?=\s)|\[[^\]]{0,40}\]\??|\([^)]{0,40}\)[.;]?|[a-z’]+\?|"
    r"(?:yoki|kim\w*|nima\w*|bilan|o’zaro|o’zining|o’ziga|o’zini|haqda)[.,;:]?(?=\s))"
)
_SLOTS = re.compile(rf"^(?:{_SLOT_PART}\s*)+")
_EMPTY_SLOT = re.compile(r"\(\s*[–-]?\s*\)?(?=;|$)")
_FRAGMENT = re.compile(r"-$|^(?:n?i|ni|ga|da|dan|ning)\s|[?!]\s")  # cut off, beginning with a suffix, or two in one
_NEGATED = re.compile(r"ma(?:s|slik|di|y|ydi|gan)?$")
_SENTENCE_END = re.compile(r"[.!?…]+[»\"”]?(?=\s)")


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
    if not _TORN.fullmatch(raw.meaning) or raw.example:
        return False
    closes = following.meaning.startswith(")") or following.headword.count(")") > following.headword.count("(")
    return closes and following.headword != raw.headword


def _source_row(raw: _Raw) -> SourceRow:
    headword = _plain_headword(raw.headword)
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
    text = _TRANSCRIPTION.sub("", text)
    text = _SPACED_OUT.sub(lambda match: match[0].replace(" ", ""), text)
    text = text.strip(" –").rstrip("=.: ")
    previous = ""
    while previous != text:
        previous = text
        text = _NUMERAL.sub("", text).rstrip("=.: ")
    return text


def _meaning(original: str, notes: list[Note]) -> str | None:
    """Return the definition in a meaning, or None; repairs are added to `notes`."""
    text = _without_leading_noise(original)
    if _REFERENCE.match(text) or _AUTHOR.match(text):
        kind = "a reference to another idiom" if _REFERENCE.match(text) else "a source"
        notes.append(Note(f"meaning removed: only {kind}", original))
        return None
    section = _SECTION.search(text)
    if section and _is_section_name(section["name"]):
        text = text[: section.start()]
    text = _TRAILING_NOISE.sub("", _INFORMANT.sub("", _TRAILING_NOISE.sub("", text)))
    text = text.rstrip(" .…")
    if _NO_DEFINITION.fullmatch(text) or sum(map(str.isalpha, text)) < _FEWEST_LETTERS:
        if original:
            notes.append(Note("meaning removed: no definition in it", original))
        return None
    if text not in (original, original.removesuffix(".")):
        notes.append(Note("noise removed from the meaning", original))
    return text


def _without_leading_noise(text: str) -> str:
    previous = None
    while previous != text:
        previous = text
        text = _LABEL.sub("", _LEADING_NOISE.sub("", text))
        bracket = _LEADING_BRACKET.match(text)
        if bracket:
            rest = text[bracket.end() :].strip()
            is_word = re.fullmatch(r"[a-z’ ]+", bracket["content"]) and rest and not _LABEL.match(rest)
            text = f"{bracket['content']} {rest}" if is_word else rest
        text = _TRANSCRIPTION_END.sub("", text)
    return text


def _is_section_name(name: str) -> bool:
    """Return whether a name is a single letter, or the name of a section of the dictionary with letters missing."""
    letters = name.replace(" ", "").lower()
    for section in _SECTION_NAMES:
        remaining = iter(section)
        if section[0] == letters[0] and all(letter in remaining for letter in letters):
            return True
    return len(letters) == 1


def _example(original: str, notes: list[Note]) -> str | None:
    """Return the sentences of an example, or None; repairs are added to `notes`."""
    text = original
    repairs = []
    if len(text) >= _CUT_LENGTH:
        ends = [match.end() for match in _SENTENCE_END.finditer(text)]
        if not ends:
            notes.append(Note("example removed: cut off", original))
            return None
        text = text[: ends[-1]]
        repairs.append(Note("cut-off sentence removed from the end of the example", original))
    slots = _SLOTS.match(text)
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
    """Return the reliable variants of the column; a note is added for each of the others.

    The extraction separates variants by semicolons, but there are semicolons within variants too. A part is a variant
    if it is at least as long as the idiom and ends with the same verb, negated or not as in the idiom (the column has
    antonyms too).
    """
    variants: list[str] = []
    citation_words = citation.split()
    verb = citation_words[-1][:3] if citation_words else ""  # by its first letters, because its endings differ
    separator = r";|\|\|" if "," in citation else r"[;,]|\|\|"
    for part in re.split(separator, _EMPTY_SLOT.sub("", cell)):
        part = part.strip(" :")
        if not part:
            continue
        form = resolve_forms(lower(clean(_plain_headword(part), _UZBEK), _UZBEK)).citation
        words = form.split()
        is_whole = len(words) >= max(2, len(citation_words)) and not has_unmatched_brackets(form)
        is_broken = _FRAGMENT.search(part) or re.search(r"[:/]| – ", form)
        is_negated_alike = bool(_NEGATED.search(form)) == bool(_NEGATED.search(citation))
        if is_whole and not is_broken and is_negated_alike and words[-1][:3] == verb:
            if form != citation:
                variants.append(form)
        else:
            notes.append(Note("variant removed: incomplete or of another idiom", part))
    return variants
