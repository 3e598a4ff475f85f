"""Stems that a word may be a form of: what is left when a chain of suffixes of its language is stripped."""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import faults
from turkic_idiom_tasks.languages import LANGUAGES, LANGUAGES_FILE, Language
from turkic_idiom_tasks.orthography import TURNED_COMMA, fold

VOICE_COST = 0.5  # the form has a passive, causative or other voice suffix that the stem does not have
_LINK = re.compile(r"\((.)\)")
_DOT_ABOVE = "\u0307"  # str.lower puts it after an i of Turkish text
_PLAIN = str.maketrans("ıöüşçğəňýžţ", "iouscgenyzt")
_LONGEST = 60  # letters; a longer text is not a word, and stripping it would take quadratic time
_SHORTEST_NOUN = 2
_SHORTEST_VERB = 2

Stems = dict[str, float]  # ``n:`` (noun) or ``v:`` (verb) and a stem -> the cost of taking a word for a form of it
_Words = Annotated[tuple[str, ...], BeforeValidator(str.split)]
_WordSet = Annotated[frozenset[str], BeforeValidator(str.split)]
_Pairs = Annotated[dict[str, str], BeforeValidator(lambda text: dict(pair.split(":") for pair in text.split()))]


class Morphology(BaseModel):
    """How one language inflects, as its record in ``languages.jsonl`` says; slots hold suffixes separated by blanks.

    Suffixes are written with archiphonemes: a capital letter stands for any letter of its class (A in Turkish is a or
    e, I one of ı i u ü, D d or t). A letter in parentheses is a linking letter: a consonant appears only after a vowel
    (`(y)A`), a vowel only after a consonant (`(I)m`). Words are written as `normalise` returns them: in lower case,
    without apostrophes, with the letters of `letters` replaced. A pair such as `ed:et` is a form and what it comes
    from. Without any facts a word has only itself as a stem.

    A noun is a stem, then at most one of each of `plural`, `possessives`, `cases`, the relative (`relatives` with a
    case after it), `copulas`, `persons`. A verb is a stem, then any `voices`, any `aspects`, then a tense with copulas
    and a person, or a participle with the suffixes of a noun, or a converb, or an imperative, or nothing.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    vowels: str = ""
    classes: dict[str, str] = {}  # archiphonemes and the letters they stand for
    plural: str = ""
    possessives: str = ""
    cases: str = ""
    relatives: str = ""
    copulas: str = ""
    persons: str = ""
    short_persons: str = ""  # that follow a tense or a copula only
    voices: str = ""  # passive, reflexive, reciprocal, causative
    aspects: str = ""  # negation, ability, suddenness and the like
    tenses: str = ""
    participles: str = ""
    converbs: str = ""
    imperatives: str = ""
    negations: _Words = ()  # suffixes that a dictionary may list a verb with, and a sentence leave out
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


@cache
def morphology(code: str) -> Morphology:
    """Return how a language inflects; a fault in its record is an InputError."""
    try:
        return Morphology.model_validate(LANGUAGES[code].suffixes or {})
    except ValidationError as error:
        raise InputError(f"{LANGUAGES_FILE}: suffixes of {code}: {faults(error)[0]}; correct them") from error


def normalise(text: str, language: Language) -> str:
    """Return text as the suffix tables write it; its length may change."""
    folded = fold(text, language).replace(_DOT_ABOVE, "")
    for letters, replacement in morphology(language.code).letters.items():
        folded = folded.replace(letters, replacement)
    # Only now: the turned comma is a part of Uzbek oʻ and gʻ, which `letters` turns into ö and ğ.
    return folded.replace(TURNED_COMMA, "")


def plain(text: str) -> str:
    """Return normalised text as it is written without special letters (`ciz` for `çiz`)."""
    return text.translate(_PLAIN)


@lru_cache(maxsize=1 << 14)
def stems(word: str, code: str) -> Stems:
    """Return the stems of a normalised word, each with its cost, which is 0 or `VOICE_COST`."""
    if len(word) > _LONGEST:
        return {f"n:{word}": 0.0}
    spellings = [word]  # and the word with each lost sound restored
    for pattern, replacement in morphology(code).restored:
        for match in re.finditer(pattern, word):
            spellings.append(word[: match.start()] + match.expand(replacement) + word[match.end() :])
    costs: Stems = {}
    for spelling in spellings:
        for stem in _noun_stems(spelling, code):
            costs[f"n:{stem}"] = 0.0
        for stem, cost in _verb_stems(spelling, code):
            costs[f"v:{stem}"] = min(cost, costs.get(f"v:{stem}", cost))
    return costs


def without_voice(root: str, code: str) -> list[str]:
    """Return the stems that are left when voice suffixes are stripped from the stem of a verb (`serpil-`: `serp-`)."""
    table, voices = morphology(code), _chains(code)["voices"]
    roots = []
    for end in range(_SHORTEST_VERB, len(root)):
        if voices.fullmatch(root, end) and table.has_vowel(root[:end]):
            roots.append(root[:end])
    return roots


def _noun_stems(word: str, code: str) -> Iterator[str]:
    table, chain = morphology(code), _chains(code)["noun"]
    yield word
    for end in range(_SHORTEST_NOUN, len(word)):
        stem = word[:end]
        # Matched from `end` within the word, not on word[end:]: a linking letter depends on the letter before it.
        if not (chain.fullmatch(word, end) and table.has_vowel(stem)):
            continue
        yield stem
        if word[end] not in table.vowels:
            continue
        endings = [stem]  # before a vowel the last consonant may be softened, and the vowel before it dropped
        if stem[-1] in table.softened:
            endings.append(stem[:-1] + table.softened[stem[-1]])
            yield endings[1]
        if len(stem) > 2 and stem[-1] not in table.vowels and stem[-2] not in table.vowels:
            for form in endings:
                for vowel in table.high_vowels:
                    yield form[:-1] + vowel + form[-1]
    if word in table.nouns:
        yield table.nouns[word]


def _verb_stems(word: str, code: str) -> Iterator[tuple[str, float]]:
    table, chains = morphology(code), _chains(code)
    for end in range(1, len(word) + 1):
        stem = word[:end]
        lemma = table.irregular.get(stem)
        if lemma is None and (end < _SHORTEST_VERB or not table.has_vowel(stem)):
            continue
        # The chain without a voice comes first: `açıldı` is a form of `açıl-` at no cost, of `aç-` at some.
        if chains["verb"].fullmatch(word, end):
            cost = 0.0
        elif chains["voiced"].fullmatch(word, end):
            cost = VOICE_COST
        else:
            continue
        yield stem, cost
        if end < len(word) and word[end] in table.vowels and stem[-1] in table.softened:
            # Of the stems of one syllable that end in a vowel and a consonant, the few that soften are `irregular`.
            n_vowels = sum(letter in table.vowels for letter in stem)
            if stem[-2:-1] not in table.vowels or n_vowels > 1:
                yield f"{stem[:-1]}{table.softened[stem[-1]]}", cost
        if lemma is not None:
            yield lemma, cost
        if chains["swallowing"].match(word, end):
            yield f"{stem}a", cost
            yield f"{stem}e", cost


@cache
def _chains(code: str) -> dict[str, re.Pattern[str]]:
    """Return patterns that match from the end of a stem to that of a word; see `Morphology` for the order of slots."""
    table = morphology(code)
    plural, persons, copula = _slot(table.plural, table), _slot(table.persons, table), _slot(table.copulas, table)
    any_person = f"(?:{persons}|{_slot(table.short_persons, table)})?"
    predicate = f"(?:{copula}{{1,2}}{any_person}|{persons}|)"
    enclitic = f"{_slot(table.enclitics, table)}?" if table.enclitics else ""
    case = f"{_slot(table.cases, table)}?"
    relative = f"(?:{_slot(table.relatives, table)}{plural}?{case})?"
    noun = f"{plural}?{_slot(table.possessives, table)}?{case}{relative}{predicate}{enclitic}"
    copulas = f"{copula}{{0,2}}"
    endings = [
        f"{_slot(table.tenses, table)}{copulas}{any_person}{copulas}{enclitic}",
        f"{_slot(table.participles, table)}{noun}",
        _slot(table.converbs, table),
        f"{_slot(table.imperatives, table)}{enclitic}",
    ]
    verb = f"{_slot(table.aspects, table)}{{0,2}}(?:{'|'.join(endings)})?"
    voices = f"{_slot(table.voices, table)}{{1,3}}"
    swallowing = _slot(table.swallowing, table) if table.swallowing else "(?!)"  # which never matches
    patterns = {"noun": noun, "verb": verb, "voiced": voices + verb, "voices": voices, "swallowing": swallowing}
    return {name: re.compile(pattern) for name, pattern in patterns.items()}


def _slot(suffixes: str, table: Morphology) -> str:
    """Return suffixes, separated by blanks in the notation of the tables, as one regular expression."""
    after_vowel = f"(?<=[{table.vowels}])"
    after_consonant = f"(?<![{table.vowels}])"

    def link(match: re.Match[str]) -> str:
        letter = match[1]
        is_vowel = letter in table.vowels or table.classes.get(letter, "-")[0] in table.vowels
        here, nowhere = (after_consonant, after_vowel) if is_vowel else (after_vowel, after_consonant)
        return f"(?:{here}{letter}|{nowhere})"

    patterns = []
    for suffix in suffixes.split():
        pattern = _LINK.sub(link, suffix)
        for archiphoneme, letters in table.classes.items():
            pattern = pattern.replace(archiphoneme, f"[{letters}]")
        patterns.append(pattern)
    return f"(?:{'|'.join(patterns)})"
