"""The stems that a word may be a form of, found by stripping every chain of suffixes that its language allows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from hub_datasets.annotation.suffixes import MORPHOLOGIES, Morphology
from turkic_idiom_tasks.languages import Language
from turkic_idiom_tasks.orthography import TURNED_COMMA, fold

VOICE_COST = 0.5  # the form has a passive, causative or other voice suffix that the stem has not
_LINK = re.compile(r"\((.)\)")
_DOT_ABOVE = "\u0307"  # what Turkish text that went through str.lower has after an i
_PLAIN = str.maketrans("ıöüşçğəňýžţ", "iouscgenyzt")
_LONGEST = 60  # letters; what is longer is no word
_SHORTEST_NOUN = 2
_SHORTEST_VERB = 2


@dataclass(frozen=True, slots=True)
class _Chains:
    """Compiled suffix chains: each pattern matches from the end of a stem to the end of the word."""

    noun: re.Pattern[str]
    verb: re.Pattern[str]
    voiced: re.Pattern[str]
    voices: re.Pattern[str]
    swallowing: re.Pattern[str] | None
    restored: tuple[tuple[re.Pattern[str], str], ...]


def normalise(text: str, language: Language) -> str:
    """Text as the suffix tables write it; not of the same length."""
    folded = fold(text, language).replace(_DOT_ABOVE, "")
    for letters, replacement in MORPHOLOGIES[language.code].letters.items():
        folded = folded.replace(letters, replacement)
    return folded.replace(TURNED_COMMA, "")


def plain(text: str) -> str:
    """Normalised text as it is written where the letters of the alphabet are not at hand (`ciz` for `çiz`)."""
    return text.translate(_PLAIN)


@lru_cache(maxsize=1 << 14)
def stems(word: str, code: str) -> dict[str, float]:
    """The stems of a normalised word with what each costs: ``n:`` and ``v:`` tell nouns from verbs.

    A stem costs `VOICE_COST` when a voice suffix was stripped to get at it; otherwise nothing.
    """
    if len(word) > _LONGEST:
        return {f"n:{word}": 0.0}
    found: dict[str, float] = {}
    for spelling in _spellings(word, code):
        _add_nouns(found, spelling, code)
        _add_verbs(found, spelling, code)
    return found


def without_voice(root: str, code: str) -> list[str]:
    """What is left of a verb's stem when its voice suffixes are taken off (`serpil-`: `serp-`)."""
    table, voices = MORPHOLOGIES[code], _chains(code).voices
    ends = range(_SHORTEST_VERB, len(root))
    return [root[:end] for end in ends if voices.fullmatch(root, end) and _has_vowel(root[:end], table)]


def _spellings(word: str, code: str) -> list[str]:
    spellings = [word]
    for pattern, replacement in _chains(code).restored:
        for match in pattern.finditer(word):
            spellings.append(word[: match.start()] + match.expand(replacement) + word[match.end() :])
    return spellings


def _add(found: dict[str, float], stem: str, cost: float) -> None:
    if cost < found.get(stem, 9.0):
        found[stem] = cost


def _add_nouns(found: dict[str, float], word: str, code: str) -> None:
    table, chains = MORPHOLOGIES[code], _chains(code)
    _add(found, f"n:{word}", 0.0)
    for end in range(_SHORTEST_NOUN, len(word)):
        stem = word[:end]
        if chains.noun.fullmatch(word, end) and _has_vowel(stem, table):
            _add(found, f"n:{stem}", 0.0)
            if word[end] in table.vowels:
                for original in _before_vowel(stem, table):
                    _add(found, f"n:{original}", 0.0)
    if word in table.nouns:
        _add(found, f"n:{table.nouns[word]}", 0.0)


def _add_verbs(found: dict[str, float], word: str, code: str) -> None:
    table, chains = MORPHOLOGIES[code], _chains(code)
    for end in range(1, len(word) + 1):
        stem = word[:end]
        lemma = table.irregular.get(stem)
        if lemma is None and (end < _SHORTEST_VERB or not _has_vowel(stem, table)):
            continue
        if chains.verb.fullmatch(word, end):
            cost = 0.0
        elif chains.voiced.fullmatch(word, end):
            cost = VOICE_COST
        else:
            continue
        _add(found, f"v:{stem}", cost)
        if end < len(word) and word[end] in table.vowels and stem[-1] in table.softened and _is_long(stem, table):
            _add(found, f"v:{stem[:-1]}{table.softened[stem[-1]]}", cost)
        if lemma is not None:
            _add(found, f"v:{lemma}", cost)
        if chains.swallowing and chains.swallowing.match(word, end):
            for vowel in "ae":
                _add(found, f"v:{stem}{vowel}", cost)


def _is_long(stem: str, table: Morphology) -> bool:
    """Whether a verb stem is long enough for its last consonant to soften; the short ones that do are `irregular`."""
    return stem[-2:-1] not in table.vowels or sum(letter in table.vowels for letter in stem) > 1


def _has_vowel(stem: str, table: Morphology) -> bool:
    return any(letter in table.vowels for letter in stem)


def _before_vowel(stem: str, table: Morphology) -> list[str]:
    """The base forms that a stem before a vowel may come from: its last consonant hard, its dropped vowel restored."""
    found = []
    if stem[-1] in table.softened:
        found.append(stem[:-1] + table.softened[stem[-1]])
    if len(stem) > 2 and stem[-1] not in table.vowels and stem[-2] not in table.vowels:
        found += [form[:-1] + vowel + form[-1] for form in (stem, *found) for vowel in table.high_vowels]
    return found


@cache
def _chains(code: str) -> _Chains:
    table = MORPHOLOGIES[code]

    def slot(suffixes: str) -> str:
        return f"(?:{'|'.join(_expand(suffix, table) for suffix in suffixes.split())})"

    any_person = f"(?:{slot(table.persons)}|{slot(table.short_persons)})?"
    predicate = f"(?:{slot(table.copulas)}{{1,2}}{any_person}|{slot(table.persons)}|)"
    enclitic = f"{slot(table.enclitics)}?" if table.enclitics else ""
    case = f"{slot(table.cases)}?"
    relative = f"(?:{slot(table.relatives)}{slot(table.plural)}?{case})?"
    noun = f"{slot(table.plural)}?{slot(table.possessives)}?{case}{relative}{predicate}{enclitic}"
    copulas = f"{slot(table.copulas)}{{0,2}}"
    finite = f"{slot(table.tenses)}{copulas}{any_person}{copulas}"
    endings = [
        f"{finite}{enclitic}",
        f"{slot(table.participles)}{noun}",
        slot(table.converbs),
        f"{slot(table.imperatives)}{enclitic}",
    ]
    verb = f"{slot(table.aspects)}{{0,2}}(?:{'|'.join(endings)})?"
    swallowing = re.compile(slot(table.swallowing)) if table.swallowing else None
    restored = tuple((re.compile(pattern), replacement) for pattern, replacement in table.restored)
    voices = f"{slot(table.voices)}{{1,3}}"
    return _Chains(
        noun=re.compile(noun),
        verb=re.compile(verb),
        voiced=re.compile(voices + verb),
        voices=re.compile(voices),
        swallowing=swallowing,
        restored=restored,
    )


def _expand(suffix: str, table: Morphology) -> str:
    """A suffix in the notation of the tables as a regular expression."""
    after_vowel = f"(?<=[{table.vowels}])"
    after_consonant = f"(?<![{table.vowels}])"

    def link(found: re.Match[str]) -> str:
        letter = found[1]
        is_vowel = letter in table.vowels or table.classes.get(letter, "-")[0] in table.vowels
        here, nowhere = (after_consonant, after_vowel) if is_vowel else (after_vowel, after_consonant)
        return f"(?:{here}{letter}|{nowhere})"

    linked = _LINK.sub(link, suffix)
    return "".join(f"[{table.classes[letter]}]" if letter in table.classes else letter for letter in linked)
