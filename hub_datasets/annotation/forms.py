"""From a citation form to the lists of words that stand for it in a sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from hub_datasets.annotation.stems import normalise, stems, without_voice
from hub_datasets.annotation.suffixes import MORPHOLOGIES
from hub_datasets.sources.notation import resolve_forms
from turkic_idiom_tasks.languages import LANGUAGES, Language
from turkic_idiom_tasks.span_detection.words import words

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
        stems: what it may be a form of, with costs; see `stems.stems`.
        optional: whether a sentence may leave it out at a small cost.
        light: whether it is a light verb.
        is_verb: whether it is a verb in its citation form, of which any form is as good.
        is_verbal: whether it is a verb in its citation form or may be a finite one.
        being: whether it is the verb that means to be.
        pronoun: whether it is a pronoun that another may replace.
        is_strict: whether it must be spelled as it is.
    """

    form: str
    stems: dict[str, float]
    optional: bool
    light: bool
    is_verb: bool
    is_verbal: bool
    being: bool
    pronoun: bool
    is_strict: bool = False


@lru_cache(maxsize=1 << 12)
def idiom_forms(idiom: str, code: str) -> tuple[tuple[IdiomWord, ...], ...]:
    """The forms of an idiom as words, the citation form first; forms without words are left out."""
    language = LANGUAGES[code]
    resolved = [resolve_forms(text) for text in _readings(idiom)]
    spelled = [form.citation for form in resolved] + [variant for form in resolved for variant in form.variants]
    found = dict.fromkeys(tuple(_tokens(text, language)) for text in spelled)
    usable = [tokens for tokens in found if 0 < len(tokens) <= MOST_WORDS]
    return tuple(_form(tokens, language) for tokens in usable[:_MOST_FORMS])


def _readings(idiom: str) -> list[str]:
    """The idiom itself, then with what a parenthesis holds added, then with it in place of the words before it.

    `resolve_forms` does the latter for a lexicon, where a wrong variant does harm; here it is only looked for.
    """
    added, exchanged = [], []
    for group in _GROUP.finditer(idiom):
        before, after = idiom[: group.start()].split(), idiom[group.end() :]
        content = _OR.sub("", group[1])
        for piece in (piece.split() for piece in re.split(r"[,;/]", content)):
            if not piece or not before or ")" in before[-1]:
                continue
            if content == group[1]:
                added.append(" ".join([*before, *piece]) + after)
            if content != group[1] or (len(piece) == 1 and _end_alike(before[-1], piece[0])):
                exchanged.append(" ".join([*before[: max(0, len(before) - len(piece))], *piece]) + after)
    return [idiom, *added, *exchanged]


def _end_alike(first: str, second: str) -> bool:
    """Whether two words may have the same case: they end in the same letter, or in vowels of the same suffixes."""
    return any(first[-1] in group and second[-1] in group for group in ("ıiuüy", "aeəä", first[-1]))


def _tokens(text: str, language: Language) -> list[str]:
    tokens = [normalise(span.of(text), language) for span in words(text)]
    return [token for token in tokens if any(letter.isalnum() for letter in token)]


@lru_cache(maxsize=1 << 12)
def joined_forms(idiom: str, code: str) -> tuple[tuple[IdiomWord, ...], ...]:
    """`idiom_forms` and, for each, those with two neighbours written as one word (`başkaldırmak`)."""
    language = LANGUAGES[code]
    forms = idiom_forms(idiom, code)
    found = list(forms)
    for form in forms:
        tokens = [word.form for word in form]
        for number in range(len(tokens) - 1):
            joined = (*tokens[:number], tokens[number] + tokens[number + 1], *tokens[number + 2 :])
            words_of_form = list(_form(joined, language))
            words_of_form[number] = _strict(words_of_form[number], len(tokens[number]) + 1)
            found.append(tuple(words_of_form))
    return tuple(found)


def _form(tokens: tuple[str, ...], language: Language) -> tuple[IdiomWord, ...]:
    return tuple(_word(tokens, number, language) for number in range(len(tokens)))


def _word(tokens: tuple[str, ...], number: int, language: Language) -> IdiomWord:
    table, token, is_last = MORPHOLOGIES[language.code], tokens[number], number == len(tokens) - 1
    root = _root(token, language) if is_last else None
    found = _citation_stems(root, language.code) if root else _word_stems(token, language.code, len(tokens))
    verbs = {stem[2:] for stem, cost in found.items() if stem[0] == "v" and not cost and stem[2:] != token}
    light = is_last and not verbs.isdisjoint(table.light_verbs)
    auxiliary = is_last and not verbs.isdisjoint(table.auxiliaries)
    return IdiomWord(
        form=token,
        stems=found,
        optional=len(tokens) > 2 and (light or auxiliary or token in table.placeholders | table.particles),
        light=light,
        is_verb=root is not None,
        is_verbal=is_last and bool(verbs),
        being=is_last and bool(verbs.intersection(table.being)),
        pronoun=any(f"n:{pronoun}" in found for pronoun in table.pronouns),
    )


def _citation_stems(root: str, code: str) -> dict[str, float]:
    """The stems of a verb in citation form, without the voice suffixes at a cost, without the negation at none."""
    voiceless = {f"v:{stem}": VOICELESS_COST for stem in without_voice(root, code)}
    positive = [root[:-2]] if root[-2:] in _NEGATIONS and len(root) > 3 else []
    return voiceless | {f"v:{stem}": 0.0 for stem in (root, *positive)}


def _word_stems(token: str, code: str, n_words: int) -> dict[str, float]:
    """The stems of any other word; an idiom of one word has no suffix to spare (`otday`, like fire)."""
    if n_words == 1:
        return {f"n:{token}": 0.0}
    return {stem: cost for stem, cost in stems(token, code).items() if stem[0] == "n" or _is_form_of(stem[2:], token)}


def _is_form_of(verb: str, token: str) -> bool:
    """Whether there is enough of a verb or of its suffixes in a word to take it for a form (`boş` is none of `bo-`)."""
    return len(verb) >= _CLEAR_VERB or len(token) - len(verb) >= _CLEAR_SUFFIXES


def _strict(word: IdiomWord, shortest: int) -> IdiomWord:
    """A word made of two: only stems that reach into the second count, and no misspelling."""
    kept = {stem: cost for stem, cost in word.stems.items() if len(stem) - 2 > shortest}
    return replace(word, stems=kept, is_strict=True)


def _root(token: str, language: Language) -> str | None:
    """The stem of a verb in citation form, or None for any other word."""
    for ending in (*MORPHOLOGIES[language.code].infinitives, *language.infinitives):
        ending = normalise(ending, language)
        root = token.removesuffix(ending)
        if root != token and (len(root) >= 2 or root in MORPHOLOGIES[language.code].irregular):
            return root
    return None
