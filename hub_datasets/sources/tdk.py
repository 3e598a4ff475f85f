"""A dump of the Turkish dictionary with the columns soz_id, sozum, atara, anlami, anahtar, turu2, gosterim_tarihi.

Rows whose ``turu2`` is Deyim are idioms. ``anlami`` is HTML: numbered senses (``1. … 2. …``), each a definition
followed by examples in ``<i>…</i>`` and their authors. Each sense is a row of its own; of several examples the first
is taken.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hub_datasets.sources import Note, Reading, SourceRow, read_table
from hub_datasets.sources.notation import has_unmatched_brackets, resolve_forms
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.orthography import lower

COLUMNS = ("soz_id", "sozum", "atara", "anlami", "anahtar", "turu2", "gosterim_tarihi")
_KIND = "deyim"
_NUMBER = re.compile(r"(?:(?<=\s)|(?<=>)|^)(?:<b>\s*)?(\d{1,2})\s*[.)](?:\s*</b>)?(?=[\s<])")
_ITALIC = re.compile(r"<(i|em)\b[^>]*>(.*?)(?:</\1\s*>|$)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^>]*>")
_LABEL = re.compile(r"\s*(?:\w{1,10}\.\s*)+")  # mec. hlk. esk.
_REFERENCE = re.compile(r"^(?:bk\.|bkz\.|343\s|→)", re.IGNORECASE)
_HOMONYM = re.compile(r"\s+(?:\(?[IVX]+\)?|\d+)$")


@dataclass(frozen=True, slots=True)
class Sense:
    """One sense of an idiom."""

    meaning: str | None
    example: str | None


def read(path: Path) -> Iterator[SourceRow]:
    """One row per sense of an idiom; one, with a problem, for every row that is no idiom.

    Raises:
        InputError: the file is not such a table.
    """
    for record in read_table(path, COLUMNS):
        if record.cells is None:
            yield SourceRow(record.line, problem="wrong number of cells", value=record.problem)
            continue
        kind = record.cells["turu2"].strip()
        if lower(kind, LANGUAGES["tr"]) != _KIND:
            yield SourceRow(
                record.line, problem="not an idiom", value=f"{record.cells['sozum']} ({kind or 'no turu2'})"
            )
            continue
        yield from _rows(record.line, record.cells["sozum"], record.cells["anlami"])


def split_senses(markup: str) -> list[Sense]:
    """The senses of a definition in HTML; at least one."""
    text = html.unescape(html.unescape(markup)).replace("\xa0", " ").strip()
    starts = [0]
    ends_of_numbers = [0]
    for found in _NUMBER.finditer(text):
        expected = len(starts) + 1 if ends_of_numbers[0] else 1
        if int(found[1]) != expected or (expected == 1 and _TAG.sub("", text[: found.start()]).strip()):
            continue  # a number in the text, not of a sense
        if expected == 1:
            ends_of_numbers[0] = found.end()
        else:
            starts.append(found.start())
            ends_of_numbers.append(found.end())
    stops = [*starts[1:], len(text)]
    return [_sense(text[begin:stop]) for begin, stop in zip(ends_of_numbers, stops, strict=True)]


def _rows(line: int, headword: str, markup: str) -> Iterator[SourceRow]:
    headword = _HOMONYM.sub("", _plain(html.unescape(headword)))
    forms = resolve_forms(headword)
    if has_unmatched_brackets(forms.citation):
        yield SourceRow(line, problem="idiom has unmatched brackets", value=headword)
        return
    for sense in split_senses(markup):
        notes: tuple[Note, ...] = ()
        meaning = sense.meaning
        if meaning and _REFERENCE.match(meaning):
            notes, meaning = (Note("meaning removed: only a reference to another idiom", meaning),), None
        yield SourceRow(line, {"tr": Reading(forms.citation, meaning, sense.example, forms.variants)}, notes=notes)


def _sense(markup: str) -> Sense:
    leading = _ITALIC.match(markup.lstrip())
    if leading and _LABEL.fullmatch(leading[2]):
        markup = markup.lstrip()[leading.end() :]  # a label of usage stands in italics as well
    examples = [_plain(found[2]).strip('"“”«» ') for found in _ITALIC.finditer(markup)]
    definition = markup[: found.start()] if (found := _ITALIC.search(markup)) else markup
    meaning = _plain(definition).strip(" :;,-–").removesuffix(".").strip('"“ ')
    return Sense(meaning or None, next(filter(None, examples), None))


def _plain(markup: str) -> str:
    return " ".join(_TAG.sub(" ", markup).split())
