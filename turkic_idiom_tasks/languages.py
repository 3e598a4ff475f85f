"""Languages of the benchmark, each a record of ``languages.jsonl``; CONTRIBUTING.md explains how to add one."""

import json
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter

from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.models import model_errors
from turkic_idiom_tasks.io.reading import read_json_lines

LANGUAGES_FILE = "languages.jsonl"  # of the package; a lexicon or dataset with another language has a file of this name
PIVOT = "tr"  # the language of the queries of T1 and T3
_Text = Annotated[str, Field(min_length=1)]


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """One language: its names in the harnesses, and the facts about its orthography that the code needs."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    code: Annotated[str, Field(pattern="^[a-z]{2,3}$")]  # BCP 47, used in file names and on the Hub (``tr``)
    name: _Text  # English
    own_name: _Text
    subset: Annotated[str, Field(pattern="^[a-z]{3}$")]  # ISO 639-3, used in subset names (``tur``, ``tur-azj``)
    script: Annotated[str, Field(pattern="^[A-Z][a-z]{3}$")]  # ISO 15924 (``Latn``)
    alphabet: _Text  # lower-case letters of the standard orthography, in NFC; apostrophe letters included
    infinitives: tuple[str, ...] = ()  # endings of the citation form of verbs
    function_words: frozenset[str] = frozenset()  # say little about the image of an idiom: light verbs, pronouns, …
    to_common: dict[str, str] = field(default_factory=dict)  # letters and digraphs -> Turkish-like orthography
    dotless_i: bool = False  # whether I/ı and İ/i are two letters, which decides how text is lower-cased
    turned_comma_after: str = ""  # letters after which an apostrophe is U+02BB, if it is U+02BC after all others
    look_alikes: dict[str, str] = field(default_factory=dict)  # wrong lower-case letters -> those that are meant
    provisional: bool = False  # whether its forms need support (`lexicon.support`); means on boards leave it out
    supports_unattested: bool = False  # whether its entries support those of provisional languages without a source
    literal_sentences: bool = True  # whether the bundled entries have them; `usage`, T4 and STS need them
    suffixes: dict[str, Any] | None = None  # `annotation.stems.Morphology`; None: the annotator finds exact forms only
    span_prompt: dict[str, str] | None = None  # task, sentence, answer: the question for spans in the language itself
    item_prompt: dict[str, Any] | None = None  # as a language in ``tasks/items/wordings.yaml``

    @property
    def script_code(self) -> str:
        """Return language and script as mteb writes them: ``tur-Latn``."""
        return f"{self.subset}-{self.script}"


_LANGUAGE = TypeAdapter(Language)
LANGUAGES: dict[str, Language] = {}  # in the order of the file; those that data brings come last
_own_lines: dict[str, str] = {}  # code -> record of a language that data brought


def add_languages(folder: Path) -> None:
    """Add the languages that a lexicon or dataset brings in its ``languages.jsonl``; a code that is known stays."""
    path = folder / LANGUAGES_FILE
    if not path.is_file():
        return
    for line, language in _read(path):
        if language.code not in LANGUAGES:
            for other in LANGUAGES.values():
                if {language.subset, language.name} & {other.subset, other.name}:
                    names = f"{language.name} ({language.subset})"
                    raise InputError(f"{path}: {names} is known as {other.code}; use that code")
            LANGUAGES[language.code] = language
            _own_lines[language.code] = line


def own_records(codes: Iterable[str]) -> bytes:
    """Return the content of a ``languages.jsonl`` with those of the languages that data brought; empty for none."""
    return "".join(f"{_own_lines[code]}\n" for code in sorted(codes) if code in _own_lines).encode()


def _read(path: Path) -> Iterator[tuple[str, Language]]:
    """Yield the record of each language, as JSON and as it is read."""
    for number, value, problem in read_json_lines(path):
        with model_errors(f"{path}:{number}", "CONTRIBUTING.md explains the record of a language", problem=problem):
            language = _LANGUAGE.validate_python(value)
        yield json.dumps(value, ensure_ascii=False), language


LANGUAGES.update((language.code, language) for _, language in _read(Path(__file__).with_name(LANGUAGES_FILE)))


def names(codes: Iterable[str], last: str) -> str:
    """Return the English names of languages as a list in words, with a word before the last one."""
    *others, end = [LANGUAGES[code].name for code in codes] or [""]
    return f"{', '.join(others)} {last} {end}" if others else end


def target_codes() -> tuple[str, ...]:
    """Return the codes of all languages but the pivot."""
    return tuple(code for code in LANGUAGES if code != PIVOT)


def get_language(code: str) -> Language:
    """Return a language by its BCP 47 code, its subset code or its mteb code (``tr``, ``tur``, ``tur-Latn``)."""
    for language in LANGUAGES.values():
        if code in (language.code, language.subset, language.script_code):
            return language
    known = ", ".join(f"{language.code} ({language.name})" for language in LANGUAGES.values())
    raise usage_error(f"unknown language {code!r}; known: {known}; CONTRIBUTING.md says how to add a language")


def counted(subsets: Iterable[str]) -> list[str]:
    """Return the subsets (``tur-azj``, ``tr``) that means count: without provisional languages, or all if no other."""
    subsets = list(subsets)
    doubtful = {
        name for language in LANGUAGES.values() if language.provisional for name in (language.code, language.subset)
    }
    return [subset for subset in subsets if doubtful.isdisjoint(subset.split("-"))] or subsets


def _known(code: str) -> str:
    if code not in LANGUAGES:
        raise ValueError(f"must be one of {', '.join(LANGUAGES)}")
    return code


LanguageCode = Annotated[str, AfterValidator(_known)]


def in_other_script(text: str, language: Language) -> bool:
    """Return whether most letters of a text are of another script than those of a language."""
    # The name of a letter begins with its script.
    names = {unicodedata.name(letter, "?").split()[0] for letter in language.alphabet if letter.isalpha()}
    letters = [character for character in text if character.isalpha()]
    return 2 * sum(unicodedata.name(letter, "?").split()[0] not in names for letter in letters) > len(letters)
