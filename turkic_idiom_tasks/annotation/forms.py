"""From a citation form to the lists of words that stand for it in a sentence."""

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from turkic_idiom_tasks.annotation.notation import resolve_forms
from turkic_idiom_tasks.annotation.stems import Stems, morphology, normalise, stems, without_voice
from turkic_idiom_tasks.dataset.sentences import words
from turkic_idiom_tasks.languages import LANGUAGES, Language

VOICELESS_COST = 1.0  # the sentence has the verb without the voice suffix of the idiom (`açılmak`, `açmak`)
MOST_WORDS = 20
_MOST_FORMS = 8
_CLEAR_VERB = 3  # letters of a verb, or more letters of its suffixes: shorter ones make `boş` a form of `bo-`
_CLEAR_SUFFIXES = 2
_VOWELS_OF_A_SUFFIX = ("ıiuüyыі", "aeəäае")  # which change with the vowels before them
_GROUP = re.compile(r"\s*\(([^()]*)\)")
_OR = re.compile(r"^\s*(?:veya|ya da|yahut|yoki|yoxud|və ya|ýa-da|ya|osa|yaki)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class IdiomWord:
    """A word of an idiom."""

    form: str  # normalised
    stems: Stems  # that it may be a form of
    optional: bool  # a sentence may leave it out at a small cost
    light: bool  # a light verb
    is_verb: bool  # a verb in its citation form, all forms of which cost the same
    is_verbal: bool  # a verb in its citation form, or perhaps a finite verb
    being: bool  # the verb that means to be
    pronoun: bool  # one that another may replace
    is_strict: bool = False  # a misspelling of it is no match


Form = tuple[IdiomWord, ...]


@lru_cache(maxsize=1 << 12)
def idiom_forms(idiom: str, code: str) -> tuple[Form, ...]:
    """Return the forms of an idiom as words, the citation form first; forms without words are left out."""
    language = LANGUAGES[code]
    citations: list[str] = []
    variants: list[str] = []
    for text in _readings(idiom):
        citation, variants_of_text = resolve_forms(text)
        citations.append(citation)
        variants += variants_of_text
    # Variants come last, so that the limit on the number of forms leaves out variants first.
    distinct: dict[tuple[str, ...], None] = {}
    for text in (*citations, *variants):
        tokens = [normalise(span.of(text), language) for span in words(text)]
        tokens = [token for token in tokens if any(map(str.isalnum, token))]
        if 0 < len(tokens) <= MOST_WORDS:
            distinct[tuple(tokens)] = None
    return tuple(_form(tokens, language) for tokens in list(distinct)[:_MOST_FORMS])


@lru_cache(maxsize=1 << 12)
def joined_forms(idiom: str, code: str) -> tuple[Form, ...]:
    """Return `idiom_forms` and, for each, those with two neighbours written as one word (`başkaldırmak`)."""
    forms = list(idiom_forms(idiom, code))
    for form in list(forms):
        tokens = [word.form for word in form]
        for number in range(len(tokens) - 1):
            joined = (*tokens[:number], tokens[number] + tokens[number + 1], *tokens[number + 2 :])
            form_words = list(_form(joined, LANGUAGES[code]))
            word = form_words[number]
            # Only stems that reach into the second word count, or any form of the first one would be a match. Two for
            # ``n:`` or ``v:``, and one letter of the second word is not enough, as it may be a suffix of the first.
            reaching = {stem: cost for stem, cost in word.stems.items() if len(stem) - 2 > len(tokens[number]) + 1}
            form_words[number] = replace(word, stems=reaching, is_strict=True)
            forms.append(tuple(form_words))
    return tuple(forms)


def _readings(idiom: str) -> list[str]:
    """Return the idiom, then with the words of a parenthesis added, then with them in place of the words before it."""
    # `resolve_forms` is more careful, because a wrong variant does harm in a lexicon; here it is only searched for.
    added, exchanged = [], []
    for group in _GROUP.finditer(idiom):
        before, after = idiom[: group.start()].split(), idiom[group.end() :]
        if not before or ")" in before[-1]:
            continue
        content = _OR.sub("", group[1])
        is_marked = content != group[1]  # as an alternative, by ``veya``, ``yoki``
        for part in re.split(r"[,;/]", content):
            part_words = part.split()
            if not part_words:
                continue
            if not is_marked:
                added.append(" ".join([*before, *part_words]) + after)
            # Words in the same case end in the same letter, or in vowels of one suffix: `gözünü` for `Gözlerini`.
            ends = {before[-1][-1], part_words[0][-1]}
            end_alike = len(ends) == 1 or any(ends.issubset(vowels) for vowels in _VOWELS_OF_A_SUFFIX)
            if is_marked or (len(part_words) == 1 and end_alike):
                kept = before[: max(0, len(before) - len(part_words))]
                exchanged.append(" ".join([*kept, *part_words]) + after)
    return [idiom, *added, *exchanged]


def _form(tokens: tuple[str, ...], language: Language) -> Form:
    """Return the words of a form; only the last one may be a verb in its citation form."""
    table, code = morphology(language.code), language.code
    infinitives = [normalise(ending, language) for ending in (*table.infinitives, *language.infinitives)]
    form = []
    for number, token in enumerate(tokens):
        is_last = number == len(tokens) - 1
        root = None  # of a verb in its citation form
        for ending in infinitives if is_last and language.suffixes else ():
            rest = token.removesuffix(ending)
            if rest != token and (len(rest) >= 2 or rest in table.irregular):
                root = rest
                break
        costs: Stems = {}
        if root is not None:
            costs = {f"v:{stem}": VOICELESS_COST for stem in without_voice(root, code)}
            costs[f"v:{root}"] = 0.0
            # A dictionary may list an idiom in the negative (`aklı ermemek`), which costs nothing to leave out.
            if root.endswith(table.negations) and len(root) > 3:
                costs[f"v:{root[:-2]}"] = 0.0
        elif len(tokens) == 1:
            costs[f"n:{token}"] = 0.0  # its suffixes make it an idiom (`otday`, like fire), so it must keep them
        else:
            for stem, cost in stems(token, code).items():
                n_letters = len(stem) - 2  # without ``n:`` or ``v:``
                if stem[0] == "n" or n_letters >= _CLEAR_VERB or len(token) - n_letters >= _CLEAR_SUFFIXES:
                    costs[stem] = cost
        verbs = {stem[2:] for stem, cost in costs.items() if stem[0] == "v" and not cost and stem[2:] != token}
        light = is_last and not verbs.isdisjoint(table.light_verbs)
        auxiliary = is_last and not verbs.isdisjoint(table.auxiliaries)
        may_be_missing = light or auxiliary or token in table.placeholders | table.particles
        word = IdiomWord(
            form=token,
            stems=costs,
            optional=len(tokens) > 2 and may_be_missing,  # of two words, one alone would be found everywhere
            light=light,
            is_verb=root is not None,
            is_verbal=is_last and bool(verbs),
            being=is_last and bool(verbs.intersection(table.being)),
            pronoun=any(f"n:{pronoun}" in costs for pronoun in table.pronouns),
        )
        form.append(word)
    return tuple(form)
