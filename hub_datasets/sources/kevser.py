"""The Turkish idiom list of kevser-cansu (Acıkhack 2022): ``Deyimler;Türkçe Anlamı;İngilizce Anlamı``.

Idioms and a few proverbs, one meaning each, with a machine translation of it. Idioms and meanings begin with a
capital letter there; it is made small (equal meanings must be equal texts) unless the word is a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from hub_datasets.sources import Note, Reading, SourceRow, read_table
from hub_datasets.sources.notation import has_unmatched_brackets, resolve_forms
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.orthography import clean, lower

COLUMNS = ("Deyimler", "Türkçe Anlamı", "İngilizce Anlamı")
# names that begin Turkish idioms; a word with an apostrophe is a name as well
NAMES = frozenset({"Allah", "Azrail", "Firavun", "Hızır", "Karun", "Lokman", "Mevla", "Nuh", "Sırat", "Tanrı"})
_TURKISH = LANGUAGES["tr"]


def read(path: Path) -> Iterator[SourceRow]:
    """One row per line of the table.

    Raises:
        InputError: the file is not such a table.
    """
    idiom_column, meaning_column, gloss_column = (column.lower() for column in COLUMNS)
    records = list(read_table(path, COLUMNS))
    meanings = {_compared(record.cells[meaning_column]) for record in records if record.cells}
    initials = [_compared(record.cells[idiom_column])[:1] if record.cells else "" for record in records]
    for number, record in enumerate(records):
        if record.cells is None:
            yield SourceRow(record.line, problem="wrong number of cells", value=record.problem)
            continue
        idiom, meaning = record.cells[idiom_column], record.cells[meaning_column]
        # the list is alphabetical: a definition that slipped into the column of idioms stands out of order
        neighbours = (initials[number - 1 : number] or [""]) + initials[number + 1 : number + 2]
        if idiom.strip() and _compared(idiom) in meanings and initials[number] not in neighbours:
            yield SourceRow(record.line, problem="idiom is the meaning of another row", value=idiom)
            continue
        forms = resolve_forms(small_initial(idiom))
        if has_unmatched_brackets(forms.citation):
            yield SourceRow(record.line, problem="idiom has unmatched brackets", value=idiom)
            continue
        variants = tuple(form for form in forms.variants if not has_unmatched_brackets(form))
        reading = Reading(forms.citation, small_initial(meaning.strip().removesuffix(".")), None, variants)
        gloss = clean(record.cells[gloss_column], _TURKISH)
        notes = (Note("parentheses or slashes in the idiom resolved", idiom),) if re.search(r"[(/]", idiom) else ()
        yield SourceRow(record.line, {"tr": reading}, gloss, notes=notes)


def small_initial(text: str) -> str:
    """Turkish text with a small first letter, unless its first word is a name or an abbreviation."""
    text = text.strip()
    first = text.split(maxsplit=1)[0] if text else ""
    is_name = first in NAMES or re.search(r"['’`´]", first) or (len(first) > 1 and first.isupper())
    return text if is_name else lower(text[:1], _TURKISH) + text[1:]


def _compared(text: str) -> str:
    return lower(clean(text, _TURKISH), _TURKISH).strip(" .")
