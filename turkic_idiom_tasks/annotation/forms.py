"""From a citation form to the lists of words that stand for it in a sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from turkic_idiom_tasks.annotation.notation import resolve_forms
from turkic_idiom_tasks.annotation.stems import Stems, normalise, stems, without_voice
from turkic_idiom_tasks.annotation.suffixes import MORPHOLOGIES
from turkic_idiom_tasks.dataset.sentences import words
from turkic_idiom_tasks.languages import LANGUAGES, Language

VOICELESS_COST = 1.0  # the sentence has the verb without the voice suffix of the idiom (`açılmak`, `açmak`)
_CLEAR_VERB = 3  # letters
_CLEAR_SUFFIXES = 2
_NEGATIONS = ("ma", "me", "mə")
MOST_WORDS = 20
_MOST_FORMS = 8
_GROUP = re.compile(r"\s*\(([^()]*)\)")
_OR = re.compile(r"^\s*(?:veya|ya da|yahut|yoki|yoxud|və ya|ýa-da|ya|osa|yaki)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class IdiomWord:
    """A word of an idiom.

    Attributes:
        form: the word, normalised.
        stems: stems that it may be a form of, with costs; see `stems.stems`.
        optional: whether a sentence may leave it out at a small cost.
        light: whether it is a light verb.
        is_verb: whether it is a verb in its citation form, all forms of which cost the same.
        is_verbal: whether it is a verb in its citation form, or may be a finite verb.
        being: whether it is the verb that means to be.
        pronoun: whether it is a pronoun that another may replace.
        is_strict: whether a misspelling of it is no match.
    """

    form: str
    stems: Stems
    optional: bool
    light: bool
    is_verb: bool
    is_verbal: bool
    being: bool
    pronoun: bool
    is_strict: bool = False


Form = tuple[IdiomWord, ...]


@lru_cache(maxsize=1 << 12)
def idiom_forms(idiom: str, code: str) -> tuple[Form, ...]:
    """Return the forms of an idiom as words, the citation form first; forms without words are left out."""
    language = LANGUAGES[code]
    citations: list[str] = []
    variants: list[str] = []
    for text in _readings(idiom):
        resolved = resolve_forms(text)
        citations.append(resolved.citation)
        variants += resolved.variants
    distinct: dict[tuple[str, ...], None] = {}
    for text in (*citations, *variants):
        tokens = tuple(_tokens(text, language))
        if 0 < len(tokens) <= MOST_WORDS:
            distinct[tokens] = None
    return tuple(_form(tokens, language) for tokens in list(distinct)[:_MOST_FORMS])


@lru_cache(maxsize=1 << 12)
def joined_forms(idiom: str, code: str) -> tuple[Form, ...]:
    """Return `idiom_forms` and, for each, those with two neighbours written as one word (`başkaldırmak`)."""
    language = LANGUAGES[code]
    forms = idiom_forms(idiom, code)
    with_joined = list(forms)
    for form in forms:
        tokens = [word.form for word in form]
        for number in range(len(tokens) - 1):
            joined = (*tokens[:number], tokens[number] + tokens[number + 1], *tokens[number + 2 :])
            words_of_form = list(_form(joined, language))
            words_of_form[number] = _strict(words_of_form[number], len(tokens[number]) + 1)
            with_joined.append(tuple(words_of_form))
    return tuple(with_joined)


def _readings(idiom: str) -> list[str]:
    """Return the idiom, then with the words of a parenthesis added, then with them in place of the words before it.

    `resolve_forms` is more careful with such replacements, because a wrong variant does harm in a lexicon. Here a
    wrong form is only searched for.
    """
    added, exchanged = [], []
    for group in _GROUP.finditer(idiom):
        before, after = idiom[: group.start()].split(), idiom[group.end() :]
        if not before or ")" in before[-1]:
            continue
        content = _OR.sub("", group[1])
        is_marked = content != group[1]  # as an alternative, by ``veya``, ``yoki``
        for part in re.split(r"[,;/]", content):
            words_of_part = part.split()
            if not words_of_part:
                continue
            if not is_marked:
                added.append(" ".join([*before, *words_of_part]) + after)
            if is_marked or (len(words_of_part) == 1 and _end_alike(before[-1], words_of_part[0])):
                kept = before[: max(0, len(before) - len(words_of_part))]
                exchanged.append(" ".join([*kept, *words_of_part]) + after)
    return [idiom, *added, *exchanged]


def _end_alike(first: str, second: str) -> bool:
    """Return whether two words may have the same case: they end in the same letter, or in vowels of one suffix."""
    for vowels in ("ıiuüy", "aeəä"):
        if first[-1] in vowels and second[-1] in vowels:
            return True
    return first[-1] == second[-1]


def _tokens(text: str, language: Language) -> list[str]:
    tokens = []
    for span in words(text):
        token = normalise(span.of(text), language)
        if any(letter.isalnum() for letter in token):
            tokens.append(token)
    return tokens


def _form(tokens: tuple[str, ...], language: Language) -> Form:
    return tuple(_word(tokens, number, language) for number in range(len(tokens)))


def _word(tokens: tuple[str, ...], number: int, language: Language) -> IdiomWord:
    """Return one word of a form; only the last word may be a verb in its citation form."""
    table, token, is_last = MORPHOLOGIES[language.code], tokens[number], number == len(tokens) - 1
    root = _root(token, language) if is_last else None
    costs = _citation_stems(root, language.code) if root else _word_stems(token, language.code, len(tokens))
    verbs = set()
    for stem, cost in costs.items():
        if stem[0] == "v" and not cost and stem[2:] != token:
            verbs.add(stem[2:])
    light = is_last and not verbs.isdisjoint(table.light_verbs)
    auxiliary = is_last and not verbs.isdisjoint(table.auxiliaries)
    may_be_missing = light or auxiliary or token in table.placeholders | table.particles
    return IdiomWord(
        form=token,
        stems=costs,
        optional=len(tokens) > 2 and may_be_missing,
        light=light,
        is_verb=root is not None,
        is_verbal=is_last and bool(verbs),
        being=is_last and bool(verbs.intersection(table.being)),
        pronoun=any(f"n:{pronoun}" in costs for pronoun in table.pronouns),
    )


def _citation_stems(root: str, code: str) -> Stems:
    """Return the stems of a verb in citation form; leaving out voice suffixes costs, leaving out negation does not."""
    costs = {}
    for stem in without_voice(root, code):
        costs[f"v:{stem}"] = VOICELESS_COST
    costs[f"v:{root}"] = 0.0
    if root[-2:] in _NEGATIONS and len(root) > 3:
        costs[f"v:{root[:-2]}"] = 0.0
    return costs


def _word_stems(token: str, code: str, n_words: int) -> Stems:
    """Return the stems of any other word; an idiom of one word must keep its suffixes (`otday`, like fire)."""
    if n_words == 1:
        return {f"n:{token}": 0.0}
    costs = {}
    for stem, cost in stems(token, code).items():
        if stem[0] == "n" or _is_form_of(stem[2:], token):
            costs[stem] = cost
    return costs


def _is_form_of(verb: str, token: str) -> bool:
    """Return whether the verb or its suffixes are long enough for a word to be a form of it (`boş` is not of `bo-`)."""
    return len(verb) >= _CLEAR_VERB or len(token) - len(verb) >= _CLEAR_SUFFIXES


def _strict(word: IdiomWord, shortest: int) -> IdiomWord:
    """Return a word that joins two words: only stems that reach into the second word count, and no misspelling."""
    costs = {stem: cost for stem, cost in word.stems.items() if len(stem) - 2 > shortest}
    return replace(word, stems=costs, is_strict=True)


def _root(token: str, language: Language) -> str | None:
    """Return the stem of a verb in citation form, or None for any other word."""
    for ending in (*MORPHOLOGIES[language.code].infinitives, *language.infinitives):
        ending = normalise(ending, language)
        root = token.removesuffix(ending)
        if root != token and (len(root) >= 2 or root in MORPHOLOGIES[language.code].irregular):
            return root
    return None
