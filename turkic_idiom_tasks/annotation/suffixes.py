"""Morphology of each language for the annotator, read from ``suffixes.toml``, which explains the notation."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

_Words = Annotated[tuple[str, ...], BeforeValidator(str.split)]
_WordSet = Annotated[frozenset[str], BeforeValidator(str.split)]
_Pairs = Annotated[dict[str, str], BeforeValidator(lambda text: dict(pair.split(":") for pair in text.split()))]


class Morphology(BaseModel):
    """How one language inflects; slots hold suffixes separated by blanks.

    A noun is a stem, then at most one of each of `plural`, `possessives`, `cases`, the relative (`relatives` with a
    case after it), `copulas`, `persons`. A verb is a stem, then any `voices`, any `aspects`, then a tense with copulas
    and a person, or a participle with the suffixes of a noun, or a converb, or an imperative, or nothing.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    vowels: str
    classes: dict[str, str]  # archiphonemes and the letters they stand for
    plural: str
    possessives: str
    cases: str
    relatives: str
    copulas: str
    persons: str
    short_persons: str  # that follow a tense or a copula only
    voices: str  # passive, reflexive, reciprocal, causative
    aspects: str  # negation, ability, suddenness and the like
    tenses: str
    participles: str
    converbs: str
    imperatives: str
    infinitives: _Words = ()  # endings of verbs in citation form besides those of `Language`: negative ones
    swallowing: str = ""  # suffixes before which a stem loses its last vowel (`söyle-` + `Iyor` = `söylüyor`)
    softened: _Pairs = {}  # a final consonant before a vowel -> what it comes from
    high_vowels: str = ""  # those that drop from a stem's last syllable before a vowel (`ağız`, `ağzı`)
    irregular: _Pairs = {}  # verb stem in a form -> its stem in the infinitive
    nouns: _Pairs = {}  # noun stems that inflect irregularly -> their base form
    light_verbs: _WordSet = frozenset()  # that may be dropped from the end of an idiom, or exchanged
    being: _Words = ()  # the verb to be and become; words for there is, there is not, was
    auxiliaries: _WordSet = frozenset()  # verbs that modify the verb before them and may be missing
    pronouns: _WordSet = frozenset()  # stems of those that take each other's place
    placeholders: _WordSet = frozenset()  # words for an argument; a postposition that may be a suffix
    particles: _WordSet = frozenset()  # words that may stand between the words of an idiom at no cost
    enclitics: str = ""  # particles that are written together with the word before them
    hyphened: _WordSet = frozenset()  # particles that a hyphen makes a part of the word before them
    letters: dict[str, str] = {}  # letters and digraphs -> what replaces them, in turn
    restored: tuple[tuple[str, str], ...] = ()  # lost sounds, as pattern and replacement

    def has_vowel(self, stem: str) -> bool:
        """Return whether a stem has a vowel; without one it is no word."""
        return any(letter in self.vowels for letter in stem)


_TABLES = tomllib.loads(Path(__file__).with_name("suffixes.toml").read_text("utf-8"))
MORPHOLOGIES = {code: Morphology.model_validate(table) for code, table in _TABLES.items()}  # by language code
