"""Items of the kind `cloze`: a sentence whose idiom is blanked out.

The options are idioms inflected alike: forms in which they stand in the examples of the lexicon. Where the lexicon has
fewer than twelve forms inflected alike (`_FEWEST_FORMS`), all four options are citation forms. Examples whose idiom
other words interrupt are left out, because the number of parts would tell which option is right.
"""

import re

from rapidfuzz.distance import Prefix

from turkic_idiom_tasks.annotation.stems import morphology, normalise
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.orthography import lower
from turkic_idiom_tasks.tasks.items.choice_kinds import asked_entries, idioms_of
from turkic_idiom_tasks.tasks.items.item_types import CLOZE, KINDS, Item, ItemSet, Kind
from turkic_idiom_tasks.tasks.items.likeness import SharedWords
from turkic_idiom_tasks.tasks.items.placing import make_items
from turkic_idiom_tasks.tasks.items.traps import (
    Candidate,
    Pool,
    Pools,
    Question,
    Relations,
    own_concepts,
    part_of_speech,
)

BLANK = "_____"
# Of a trap: an idiom that is closer in meaning would often fit the sentence too. Of the pairs that were judged to mean
# the same or nearly so, 30% are closer; so are 683 pairs that nobody has judged.
HIGHEST_CLOSENESS = 0.2
# Inflected alike, from which the options are chosen; with fewer they are citation forms. From four forms all items
# would get the same four options. With twelve, 459 of the 828 test items have inflected options.
_FEWEST_FORMS = 12
_LINKED = re.compile("^I?(yor|[pb]$)")  # endings that begin with a vowel after a consonant


def cloze_items(relations: Relations, language: str, target: str, *, split: str) -> list[Item]:
    """Return items that ask which of four idioms stood in a sentence."""
    lexicon = relations.lexicon
    idioms = idioms_of(lexicon, language)
    citations = Pools(idioms, relations, language=language, highest_closeness=HIGHEST_CLOSENESS)
    forms: dict[tuple[str, ...], list[Candidate]] = {}  # by `_form_key`
    for entry in lexicon.of(language).values():
        if not entry.collocation and can_be_blanked(entry):
            form = Candidate(entry.concept, surface_form(entry, language))
            forms.setdefault(_form_key(lexicon, entry, language), []).append(form)
    inflected = {}
    for key, members in forms.items():
        if len(members) >= _FEWEST_FORMS:
            inflected[key] = Pool(members, relations, language=language, highest_closeness=HIGHEST_CLOSENESS)
    own = own_concepts(relations, language=language)
    idiom_words = SharedWords(idioms, language=language)
    questions = []
    for entry in asked_entries(lexicon, language, split=split):
        if can_be_blanked(entry):
            pool = inflected.get(_form_key(lexicon, entry, language))
            question = Question(
                idiom=entry.idiom,
                text=blanked(entry),
                gold=Candidate(entry.concept, entry.idiom if pool is None else surface_form(entry, language)),
                source=pool or citations,
                excluded=own[entry.concept],
                likeness=idiom_words.with_words_of(entry.idiom),
            )
            questions.append(question)
    return make_items(questions, ItemSet(CLOZE, language, target))


def can_be_blanked(entry: Entry) -> bool:
    """Return whether the example of an entry has its idiom in one piece."""
    return entry.example is not None and entry.spans is not None and len(entry.spans) == 1


def blanked(entry: Entry) -> str:
    """Return the example of an entry that `can_be_blanked` with `BLANK` in place of its idiom."""
    (span,) = entry.spans or ()
    example = entry.example or ""
    return example[: span.start] + BLANK + example[span.end :]


def blanked_form(entry: Entry) -> str:
    """Return what `BLANK` stands for in the example of an entry."""
    (span,) = entry.spans or ()
    return span.of(entry.example or "")


def surface_form(entry: Entry, language: str) -> str:
    """Return the idiom as it stands in its example, with a small letter where only the sentence made it a capital."""
    form = blanked_form(entry)
    if entry.idiom[:1] == lower(entry.idiom[:1], LANGUAGES[language]):
        form = lower(form[:1], LANGUAGES[language]) + form[1:]
    return form


def _form_key(lexicon: Lexicon, entry: Entry, language: str) -> tuple[str, ...]:
    """Return the part of speech and the `inflection` of an idiom in its example."""
    return (part_of_speech(lexicon, entry.concept), *inflection(entry, language))


def inflection(entry: Entry, language: str) -> tuple[str, ...]:
    """Return how an idiom is inflected in its example: what two forms share that can stand in the same place.

    The first text is the ending of the last word after the stem of its citation form, with vowel harmony and voicing
    undone; the others are the endings of the words before it that differ from the citation form.
    """
    code = LANGUAGES[language]
    *inner, last = [normalise(word, code) for word in blanked_form(entry).split()]
    *citation_inner, citation_last = [normalise(word, code) for word in entry.idiom.split()]
    stem = citation_last  # of a verb without the ending of the infinitive
    for infinitive in (*morphology(language).infinitives, *code.infinitives):
        without = citation_last.removesuffix(normalise(infinitive, code))
        if without not in ("", citation_last):
            stem = without
            break
    changed = []
    for word in citation_inner:
        if word not in inner:
            # A word may be inflected or moved, so it is compared with the word that begins most like it
            nearest = max(inner, key=lambda other: Prefix.similarity(word, other), default="")
            common = Prefix.similarity(word, nearest)
            changed.append(f"{word[common:]}>{_ending(nearest, common, language)}")
    if last[: max(1, len(stem) - 1)] != stem[: max(1, len(stem) - 1)]:
        return ("?", citation_last, last, *changed)  # another order of words, or another verb: like no other form
    return (_ending(last, len(stem), language), *changed)


def _ending(word: str, start: int, code: str) -> str:
    """Return what follows the first letters of a word, one letter standing for all that sound laws exchange."""
    ending = word[start:]
    # Vowel harmony and voicing exchange the letters of a class for one another
    classes = {"A": "aeə", "I": morphology(code).high_vowels, "D": "dt", "K": "kgqğ", "C": "cç"}
    for name, letters in classes.items():
        for letter in letters:
            ending = ending.replace(letter, name)
    return _LINKED.sub(r"I\1", ending).removeprefix("y").removeprefix("ý")


KINDS[CLOZE] = Kind(cloze_items)
