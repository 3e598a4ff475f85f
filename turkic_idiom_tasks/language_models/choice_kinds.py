"""Items of the kinds `meaning`, `equivalent` and `usage`.

A `meaning` item asks for the meaning of an idiom, an `equivalent` item for the idiom of another language with the same
meaning, and a `usage` item whether an idiom's words are meant figuratively in a sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from rapidfuzz.distance import Levenshtein

from turkic_idiom_tasks.annotation.stems import normalise, stems
from turkic_idiom_tasks.dataset.sentences import words
from turkic_idiom_tasks.language_models.item_types import (
    EQUIVALENT,
    FIGURATIVE,
    LITERAL,
    MEANING,
    USAGE,
    Item,
    ItemSet,
    Option,
)
from turkic_idiom_tasks.language_models.placing import Draft, balanced, place
from turkic_idiom_tasks.language_models.traps import Candidate, Pool, Relations, candidate_of, own_concepts
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import SAME, Entry, Lexicon
from turkic_idiom_tasks.orthography import content_stems, share_stem
from turkic_idiom_tasks.splits import TEST, retrieval_split

NEARLY_SPELT = 0.75  # similarity of two words, from 0 to 1, from which they nearly spell each other
_SHARED_PREFIX = 3  # letters


def asked_entries(lexicon: Lexicon, language: str, *, split: str) -> list[Entry]:
    """Return the entries that items are about: idioms of the concepts in a split, sorted by concept.

    Collocations are left out, and in other splits than the test split concepts that were judged to mean the same as a
    test concept.
    """
    same = lexicon.judged(SAME)
    entries = []
    for concept, entry in sorted(lexicon.of(language).items()):
        if retrieval_split(concept) != split or entry.collocation:
            continue
        partners_in_test = [partner for partner in same.get(concept, ()) if retrieval_split(partner) == TEST]
        if split == TEST or not partners_in_test:
            entries.append(entry)
    return entries


def part_of_speech(lexicon: Lexicon, concept: str) -> str:
    """Return the part of speech of a concept; empty when not known."""
    record = lexicon.concepts.get(concept)
    return record.pos or "" if record else ""


def meaning_items(lexicon: Lexicon, language: str, *, split: str) -> list[Item]:
    """Return items that ask for the meaning of an idiom among four, all in its language."""
    name = ItemSet(MEANING, language, language, 0).name
    asked = [entry for entry in asked_entries(lexicon, language, split=split) if entry.meaning is not None]
    pools = _pools(lexicon, language, lambda entry: entry.meaning)
    n_shorter = balanced([f"{name}/{entry.concept}" for entry in asked], 4, purpose="length")
    drafts = []
    for entry in asked:
        key = f"{name}/{entry.concept}"
        gold = candidate_of(entry, entry.meaning or "", lexicon, language=language)
        traps = pools[part_of_speech(lexicon, entry.concept)].traps(
            gold,
            own_concepts(lexicon.of(language), entry, language=language),
            key=key,
            n_shorter=n_shorter[key],
            likeness=likeness_within(entry.idiom, language),
        )
        if traps is not None:
            option = Option(gold.text, gold.concept)
            drafts.append(Draft(key, entry.concept, entry.idiom, entry.idiom, option, traps))
    return place(drafts, kind=MEANING, language=language, target=language)


def equivalent_items(lexicon: Lexicon, language: str, target: str, *, split: str) -> list[Item]:
    """Return items that ask which of four idioms of another language means the same as an idiom."""
    name = ItemSet(EQUIVALENT, language, target, 0).name
    targets = lexicon.of(target)
    asked = []
    for entry in asked_entries(lexicon, language, split=split):
        if entry.concept in targets and not targets[entry.concept].collocation:
            asked.append(entry)
    pools = _pools(lexicon, target, lambda entry: entry.idiom)
    n_shorter = balanced([f"{name}/{entry.concept}" for entry in asked], 4, purpose="length")
    drafts = []
    for entry in asked:
        key = f"{name}/{entry.concept}"
        right = targets[entry.concept]
        own = own_concepts(lexicon.of(language), entry, language=language)
        own |= own_concepts(targets, right, language=target)
        gold = candidate_of(right, right.idiom, lexicon, language=target)
        traps = pools[part_of_speech(lexicon, entry.concept)].traps(
            gold,
            own,
            key=key,
            n_shorter=n_shorter[key],
            likeness=_likeness_across(entry.idiom, language, target),
        )
        if traps is not None:
            shares = share_stem(entry.idiom, LANGUAGES[language], right.idiom, LANGUAGES[target])
            option = Option(gold.text, gold.concept)
            drafts.append(Draft(key, entry.concept, entry.idiom, entry.idiom, option, traps, shares))
    return place(drafts, kind=EQUIVALENT, language=language, target=target)


def usage_items(lexicon: Lexicon, language: str, *, split: str) -> list[Item]:
    """Return two items for each idiom with a literal sentence: its figurative and its literal sentence.

    Both items of a pair have the two senses in the same order, so each position is right once in every pair. In one
    half of the pairs the figurative sense stands first.
    """
    name = ItemSet(USAGE, language, language, 0).name
    pairs = []
    for entry in asked_entries(lexicon, language, split=split):
        if entry.example is not None and entry.literal_example is not None:
            pairs.append(entry)
    orders = balanced([entry.concept for entry in pairs], 2, purpose=f"order of {name}")
    items = []
    for entry in pairs:
        senses = (LITERAL, FIGURATIVE) if orders[entry.concept] else (FIGURATIVE, LITERAL)
        for sense, sentence in ((FIGURATIVE, entry.example), (LITERAL, entry.literal_example)):
            items.append(
                Item(
                    id=f"{name}/{entry.concept}/{sense}",
                    kind=USAGE,
                    language=language,
                    target=language,
                    concept=entry.concept,
                    idiom=entry.idiom,
                    text=sentence or "",
                    options=tuple(Option(text) for text in senses),
                    gold=senses.index(sense),
                )
            )
    return items


@lru_cache(maxsize=1 << 13)
def _word_stems(idiom: str, code: str) -> tuple[frozenset[str], ...]:
    language = LANGUAGES[code]
    content = []
    for place_of_word in words(idiom):
        word = place_of_word.of(idiom)
        if content_stems(word, language):
            costs = stems(normalise(word, language), code)
            content.append(frozenset(stem for stem, cost in costs.items() if not cost))
    return tuple(content)


def likeness_within(idiom: str, language: str) -> Callable[[Candidate], float]:
    """Return a function that counts the content words of an idiom that a candidate's idiom has too."""
    ours = _word_stems(idiom, language)

    def likeness(candidate: Candidate) -> float:
        theirs = _word_stems(candidate.idiom, language)
        return sum(any(not stem.isdisjoint(other) for other in theirs) for stem in ours)

    return likeness


def _likeness_across(idiom: str, language: str, target: str) -> Callable[[Candidate], float]:
    """Return a function that adds up how well a candidate's idiom of another language spells the words of an idiom."""
    ours = _skeletons(idiom, language)

    def likeness(candidate: Candidate) -> float:
        theirs = _skeletons(candidate.idiom, target)
        total = 0.0
        for word in ours:
            total += max((_spelling(word, other) for other in theirs), default=0.0)
        return total

    return likeness


@lru_cache(maxsize=1 << 13)
def _skeletons(idiom: str, code: str) -> tuple[str, ...]:
    return tuple(content_stems(idiom, LANGUAGES[code]))


@lru_cache(maxsize=1 << 18)
def _spelling(first: str, second: str) -> float:
    """Return how alike two skeletons are, from 0 to 1; below `NEARLY_SPELT` it is 0."""
    if first == second:
        return 1.0
    if min(len(first), len(second)) < _SHARED_PREFIX:
        return 0.0
    if first[:_SHARED_PREFIX] == second[:_SHARED_PREFIX]:
        return max(NEARLY_SPELT, Levenshtein.normalized_similarity(first, second))
    similarity = Levenshtein.normalized_similarity(first, second)
    return similarity if similarity >= NEARLY_SPELT else 0.0


def _pools(lexicon: Lexicon, language: str, text_of: Callable[[Entry], str | None]) -> dict[str, Pool]:
    """Return part of speech -> the texts of all entries of a language that may be options."""
    candidates: dict[str, list[Candidate]] = {}
    for entry in lexicon.of(language).values():
        text = text_of(entry)
        if text is not None and not entry.collocation:
            candidate = candidate_of(entry, text, lexicon, language=language)
            candidates.setdefault(part_of_speech(lexicon, entry.concept), []).append(candidate)
    relations = Relations(lexicon)
    return {pos: Pool(members, relations, language=language) for pos, members in candidates.items()}
