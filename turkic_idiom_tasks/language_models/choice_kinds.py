"""Items of the kinds `meaning`, `equivalent` and `usage`.

A `meaning` item asks for the meaning of an idiom, an `equivalent` item for the idiom of another language with the same
meaning, and a `usage` item whether an idiom's words are meant figuratively in a sentence.
"""

from __future__ import annotations

from collections.abc import Callable

from turkic_idiom_tasks.language_models.item_types import (
    EQUIVALENT,
    FIGURATIVE,
    LITERAL,
    MEANING,
    N_OPTIONS,
    USAGE,
    Item,
    ItemSet,
    Option,
)
from turkic_idiom_tasks.language_models.likeness import SharedWords, SimilarSpelling
from turkic_idiom_tasks.language_models.placing import Draft, balanced, place
from turkic_idiom_tasks.language_models.traps import Candidate, OwnConcepts, Pool, Relations
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import SAME, Entry, Lexicon
from turkic_idiom_tasks.orthography import share_stem
from turkic_idiom_tasks.splits import TEST, retrieval_split


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
    entries = lexicon.of(language)
    pools = _pools(lexicon, language, lambda entry: entry.meaning, Relations(lexicon))
    own, shared_words = OwnConcepts(entries, language=language), SharedWords(entries, language=language)
    n_shorter = balanced([f"{name}/{entry.concept}" for entry in asked], N_OPTIONS, purpose="length")
    drafts = []
    for entry in asked:
        key = f"{name}/{entry.concept}"
        gold = Candidate(entry.concept, entry.meaning or "")
        traps = pools[part_of_speech(lexicon, entry.concept)].traps(
            gold,
            own.of(entry),
            key=key,
            n_shorter=n_shorter[key],
            likeness=shared_words.with_words_of(entry.idiom),
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
    pools = _pools(lexicon, target, lambda entry: entry.idiom, Relations(lexicon))
    own_here = OwnConcepts(lexicon.of(language), language=language)
    own_there = OwnConcepts(targets, language=target)
    spelling = SimilarSpelling(targets, language=target)
    n_shorter = balanced([f"{name}/{entry.concept}" for entry in asked], N_OPTIONS, purpose="length")
    drafts = []
    for entry in asked:
        key = f"{name}/{entry.concept}"
        right = targets[entry.concept]
        gold = Candidate(right.concept, right.idiom)
        traps = pools[part_of_speech(lexicon, entry.concept)].traps(
            gold,
            own_here.of(entry) | own_there.of(right),
            key=key,
            n_shorter=n_shorter[key],
            likeness=spelling.to_words_of(entry.idiom, language),
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


def _pools(
    lexicon: Lexicon, language: str, text_of: Callable[[Entry], str | None], relations: Relations
) -> dict[str, Pool]:
    """Return part of speech -> the texts of all entries of a language that may be options."""
    candidates: dict[str, list[Candidate]] = {}
    for entry in lexicon.of(language).values():
        text = text_of(entry)
        if text is not None and not entry.collocation:
            pos = part_of_speech(lexicon, entry.concept)
            candidates.setdefault(pos, []).append(Candidate(entry.concept, text))
    return {pos: Pool(members, relations, language=language) for pos, members in candidates.items()}
