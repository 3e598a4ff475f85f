"""Readers of two Turkish dictionaries of idioms.

kevser: the list of kevser-cansu (Acıkhack 2022), ``Deyimler;Türkçe Anlamı;İngilizce Anlamı``. It has idioms and a few
proverbs, each with one meaning and a machine translation of it.

tdk: a dump with the columns soz_id, sozum, atara, anlami, anahtar, turu2, gosterim_tarihi. Rows whose ``turu2`` is
Deyim are idioms. ``anlami`` is HTML with numbered senses (``1. … 2. …``); each is a definition, followed by examples in
``<i>…</i>`` and their authors. Each sense becomes a row of its own, with its first example.
"""

import html
import re
from collections.abc import Iterator
from pathlib import Path

from hub_datasets.import_report import Note, Reading, SourceRow
from turkic_idiom_tasks.annotation.notation import has_unmatched_brackets, resolve_forms
from turkic_idiom_tasks.io.csv_files import read_table
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.orthography import clean, lower

KEVSER_COLUMNS = ("Deyimler", "Türkçe Anlamı", "İngilizce Anlamı")
TDK_COLUMNS = ("soz_id", "sozum", "atara", "anlami", "anahtar", "turu2", "gosterim_tarihi")
# Names that begin Turkish idioms; a word with an apostrophe is a name as well.
NAMES = frozenset({"Allah", "Azrail", "Firavun", "Hızır", "Karun", "Lokman", "Mevla", "Nuh", "Sırat", "Tanrı"})
_TURKISH = LANGUAGES["tr"]
_IDIOM, _MEANING, _GLOSS = (column.lower() for column in KEVSER_COLUMNS)
_KIND = "deyim"
_NUMBER = re.compile(r"(?:(?<=\s)|(?<=>)|^)(?:<b>\s*)?(\d{1,2})\s*[.)](?:\s*</b>)?(?=[\s<])")
_ITALIC = re.compile(r"<(i|em)\b[^>]*>(.*?)(?:</\1\s*>|$)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^>]*>")
_LABEL = re.compile(r"\s*(?:\w{1,10}\.\s*)+")  # mec. hlk. esk.
_REFERENCE = re.compile(r"^(?:bk\.|bkz\.|343\s|→)", re.IGNORECASE)
_HOMONYM = re.compile(r"\s+(?:\(?[IVX]+\)?|\d+)$")


def read_kevser(path: Path) -> Iterator[SourceRow]:
    """Yield one row per line of kevser-cansu's table."""
    records = list(read_table(path, KEVSER_COLUMNS))
    meanings = {_compared(record.cells[_MEANING]) for record in records if record.cells is not None}
    initials = [_compared(record.cells[_IDIOM])[:1] if record.cells is not None else "" for record in records]
    for number, record in enumerate(records):
        if record.cells is None:
            yield SourceRow(record.line, problem=record.problem, value=record.value)
            continue
        idiom = record.cells[_IDIOM]
        # The list is alphabetical: a row that begins with another letter than its neighbours, and whose text is the
        # meaning of another row, is a definition in the column of idioms.
        neighbours = ["", *initials, ""][number : number + 3 : 2]
        if idiom.strip() and _compared(idiom) in meanings and initials[number] not in neighbours:
            yield SourceRow(record.line, problem="idiom is the meaning of another row", value=idiom)
            continue
        citation, variants = resolve_forms(small_initial(idiom))
        if has_unmatched_brackets(citation):
            yield SourceRow(record.line, problem="idiom has unmatched brackets", value=idiom)
            continue
        variants = tuple(form for form in variants if not has_unmatched_brackets(form))
        meaning = small_initial(record.cells[_MEANING].strip().removesuffix("."))
        notes = (Note("parentheses or slashes in the idiom resolved", idiom),) if re.search(r"[(/]", idiom) else ()
        reading = Reading(citation, meaning, None, variants)
        yield SourceRow(record.line, {"tr": reading}, clean(record.cells[_GLOSS], _TURKISH), notes=notes)


def small_initial(text: str) -> str:
    """Return Turkish text with a small first letter, unless its first word is a name or an abbreviation."""
    # The list begins every text with a capital letter; made small, equal meanings are equal texts
    text = text.strip()
    first = text.split(maxsplit=1)[0] if text else ""
    is_name = first in NAMES or re.search(r"['’`´]", first) or (len(first) > 1 and first.isupper())
    return text if is_name else lower(text[:1], _TURKISH) + text[1:]


def _compared(text: str) -> str:
    return lower(clean(text, _TURKISH), _TURKISH).strip(" .")


def read_tdk(path: Path) -> Iterator[SourceRow]:
    """Yield one row for each sense of an idiom, and one with a problem for each row that is no idiom."""
    for record in read_table(path, TDK_COLUMNS):
        if record.cells is None:
            yield SourceRow(record.line, problem=record.problem, value=record.value)
            continue
        kind, headword = record.cells["turu2"].strip(), record.cells["sozum"]
        if lower(kind, _TURKISH) != _KIND:
            yield SourceRow(record.line, problem="not an idiom", value=f"{headword} ({kind or 'no turu2'})")
            continue
        headword = _HOMONYM.sub("", _plain(html.unescape(headword)))
        citation, variants = resolve_forms(headword)
        if has_unmatched_brackets(citation):
            yield SourceRow(record.line, problem="idiom has unmatched brackets", value=headword)
            continue
        for meaning, example in split_senses(record.cells["anlami"]):
            notes: tuple[Note, ...] = ()
            if meaning and _REFERENCE.match(meaning):
                notes = (Note("meaning removed: only a reference to another idiom", meaning),)
                meaning = None
            yield SourceRow(record.line, {"tr": Reading(citation, meaning, example, variants)}, notes=notes)


def split_senses(markup: str) -> list[tuple[str | None, str | None]]:
    """Return meaning and example of each sense of a definition in HTML; there is at least one."""
    text = html.unescape(html.unescape(markup)).replace("\xa0", " ").strip()
    begins: list[int] = []  # where the text of each sense begins, after its number
    ends: list[int] = []  # where the text of each sense but the last ends, before the next number
    for match in _NUMBER.finditer(text):
        if int(match[1]) != len(begins) + 1:
            continue  # a number within the text of a sense
        if begins:
            ends.append(match.start())
        elif _TAG.sub("", text[: match.start()]).strip():
            # With text before it this is not the number of a sense
            continue
        begins.append(match.end())
    senses = []
    for begin, end in zip(begins or [0], [*ends, len(text)], strict=True):
        sense = text[begin:end].lstrip()
        label = _ITALIC.match(sense)
        if label and _LABEL.fullmatch(label[2]):
            sense = sense[label.end() :]  # labels of usage are in italics too
        examples = [_plain(match[2]).strip('"“”«» ') for match in _ITALIC.finditer(sense)]
        italic = _ITALIC.search(sense)
        meaning = _plain(sense[: italic.start()] if italic else sense)
        meaning = meaning.strip(" :;,-–").removesuffix(".").strip('"“ ')
        senses.append((meaning or None, next(filter(None, examples), None)))
    return senses


def _plain(markup: str) -> str:
    return " ".join(_TAG.sub(" ", markup).split())
