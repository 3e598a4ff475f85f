"""Languages of the benchmark, from ``languages.jsonl``; CONTRIBUTING.md says what a new one needs besides its line."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from turkic_idiom_tasks.errors import usage_error


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """One language: its names in the harnesses, and the facts about its orthography that the code needs."""

    code: str  # BCP 47, used in file names and on the Hub (``tr``)
    name: str  # English
    subset: str  # ISO 639-3, used in subset names (``tur``, ``tur-azj``)
    alphabet: str  # lower-case letters of the standard Latin orthography, in NFC; apostrophe letters included
    dotless_i: bool  # whether I/ı and İ/i are two letters, which decides how text is lower-cased
    infinitives: tuple[str, ...]  # endings of the citation form of verbs
    function_words: frozenset[str]  # which say little about the image of an idiom: light verbs, particles, pronouns
    to_common: dict[str, str]  # letters and digraphs -> the common (Turkish-like) orthography; the longest first

    @property
    def script_code(self) -> str:
        """Return language and script as mteb writes them: ``tur-Latn``."""
        return f"{self.subset}-Latn"


PIVOT = "tr"  # the language of the queries of T1 and T3


def _read_languages() -> Iterator[Language]:
    for line in Path(__file__).with_suffix(".jsonl").read_text(encoding="utf-8").splitlines():
        fields = json.loads(line)
        sequences = {"infinitives": tuple(fields["infinitives"]), "function_words": frozenset(fields["function_words"])}
        yield Language(**fields | sequences)


LANGUAGES: dict[str, Language] = {language.code: language for language in _read_languages()}  # in the order of the file

TARGETS = tuple(code for code in LANGUAGES if code != PIVOT)


def get_language(code: str) -> Language:
    """Return a language by its BCP 47 code, its subset code or its mteb code (``tr``, ``tur``, ``tur-Latn``)."""
    for language in LANGUAGES.values():
        if code in (language.code, language.subset, language.script_code):
            return language
    known = ", ".join(f"{language.code} ({language.name})" for language in LANGUAGES.values())
    raise usage_error(f"unknown language {code!r}; known: {known}; CONTRIBUTING.md says how to add a language")
