"""Traps: which wrong options stand beside a right one, and of which type they are.

A trap is never a concept that was judged `same` or `near` as the right one, nor one that means the same as such a
concept, and no two traps mean the same or nearly the same either. How close two concepts are depends on their own
texts alone, not on frequencies in the lexicon, so that a larger lexicon changes an item only if a new entry becomes one
of its traps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from turkic_idiom_tasks.language_models.item_types import LEXICAL, N_OPTIONS, NEAR, RANDOM, Option
from turkic_idiom_tasks.language_models.placing import stable_hash
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import NEAR as JUDGED_NEAR
from turkic_idiom_tasks.lexicon.entries import SAME, Entry, Lexicon
from turkic_idiom_tasks.orthography import content_stems, fold

TOO_CLOSE = 0.34  # without any judged pair, closer concepts are no traps; see docs/language-models.md for its recall
_STEM = 5  # letters of a word of a gloss or meaning that count
_ENGLISH_WORD = re.compile(r"[a-z]{2,}")
_ENGLISH_FUNCTION_WORDS = (
    "a about all also an and any anyone anything are as at away be become been being beyond but by can cause do for "
    "from get give go good has have having he her him his how in into is it its keep kind like little made make many "
    "may more most much no not of off on one ones oneself only or other others out over own people person put quite "
    "said say set so some someone someones something take that the their them then there they thing things this to "
    "together too up upon very was way what when where whether which while who whom will with without"
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that can be an option, and what it is compared by.

    Attributes:
        concept: its concept.
        text: what the model is shown.
        gloss: word stems of the English gloss.
        meaning: word stems of the meaning.
        idiom: the idiom, compared with another by the kind's own measure of likeness.
    """

    concept: str
    text: str
    gloss: frozenset[str] = field(compare=False)
    meaning: frozenset[str] = field(compare=False)
    idiom: str


class Relations:
    """Which concepts mean the same or nearly the same, by the judgements of a lexicon.

    Attributes:
        are_judged: whether the lexicon has any judgement; without, concepts that are too close are no traps.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._same = lexicon.judged(SAME)
        self._near = lexicon.judged(JUDGED_NEAR)
        self.are_judged = bool(lexicon.equivalents)

    def like(self, concepts: Iterable[str]) -> set[str]:
        """Return concepts, all that mean the same by any chain of judgements, and all that are near one of these."""
        same = set(concepts)
        waiting = sorted(same)
        while waiting:
            partners = self._same.get(waiting.pop(), set()) - same
            same |= partners
            waiting += sorted(partners)
        alike = set(same)
        for concept in same:
            alike |= self._near.get(concept, set())
        return alike


class Pool:
    """All texts that can be options of one kind in one language.

    Attributes:
        candidates: in the order of concepts.
        relations: which of them exclude each other.
    """

    def __init__(self, candidates: Sequence[Candidate], relations: Relations, *, language: str) -> None:
        self.candidates = tuple(sorted(candidates, key=lambda candidate: candidate.concept))
        self.relations = relations
        self._language = LANGUAGES[language]

    def traps(
        self,
        gold: Candidate,
        own: Iterable[str],
        *,
        key: str,
        n_shorter: int,
        likeness: Callable[[Candidate], float],
    ) -> tuple[Option, ...] | None:
        """Return three traps for the right option; None if the pool has too few.

        The first is the closest in meaning, the second the one whose idiom is most like the one asked for, the third
        has nothing in common with the right option. Where there is none of a type, a random one takes its place.

        Args:
            gold: the right option.
            own: concepts that the idiom asked for expresses.
            key: what stable choices depend on: the id of the item.
            n_shorter: how many traps are shorter than the right option, as far as the pool allows; the others are
                longer, so that the length does not give the right option away.
            likeness: how much the idiom of a candidate looks like the one asked for, 0 for not at all.
        """
        excluded = self.relations.like([gold.concept, *own])
        texts = {self._key(gold.text)}
        budget = {-1: n_shorter, 1: N_OPTIONS - 1 - n_shorter}
        closeness_of = {}
        rest = []
        for candidate in self.candidates:
            closeness = closeness_of[candidate.concept] = closeness_between(gold, candidate)
            is_too_close = not self.relations.are_judged and closeness > TOO_CLOSE
            if candidate.concept not in excluded and not is_too_close:
                rest.append(candidate)
        ranks: dict[str, Callable[[Candidate], float]] = {
            NEAR: lambda candidate: closeness_of[candidate.concept],
            LEXICAL: likeness,
        }
        chosen: list[Option] = []
        for trap in (NEAR, LEXICAL, RANDOM):
            rest = [candidate for candidate in rest if candidate.concept not in excluded]
            rest = [candidate for candidate in rest if self._key(candidate.text) not in texts]
            fitting = [candidate for candidate in rest if budget.get(_side(candidate, gold), 0) > 0] or rest
            if not fitting:
                return None
            best = None
            if trap in ranks:
                best = _best(fitting, ranks[trap], key)
            if best is None:
                trap = RANDOM
                unlike = [c for c in fitting if not closeness_of[c.concept] and not likeness(c)]
                best = min(unlike or fitting, key=lambda candidate: stable_hash(key, candidate.concept))
            chosen.append(Option(best.text, best.concept, trap))
            texts.add(self._key(best.text))
            excluded |= self.relations.like([best.concept])
            budget[_side(best, gold)] = budget.get(_side(best, gold), 0) - 1
        return tuple(chosen)

    def _key(self, text: str) -> str:
        return fold(text, self._language)


def candidate_of(entry: Entry, text: str, lexicon: Lexicon, *, language: str) -> Candidate:
    """Return a text of an entry as a possible option."""
    concept = lexicon.concepts.get(entry.concept)
    return Candidate(
        entry.concept,
        text,
        gloss=_gloss_stems(concept.gloss if concept else ""),
        meaning=_meaning_stems(entry.meaning or "", language),
        idiom=entry.idiom,
    )


def closeness_between(first: Candidate, second: Candidate) -> float:
    """Return how close two concepts are in meaning, from 0 to 1, higher is closer.

    The mean of two Dice coefficients: of the content words of the English glosses, and of those of the meanings in the
    language of the options. If a side lacks the one, the other counts alone.
    """
    parts = []
    for ours, theirs in ((first.gloss, second.gloss), (first.meaning, second.meaning)):
        if ours and theirs:
            parts.append(2 * len(ours & theirs) / (len(ours) + len(theirs)))
    return sum(parts) / len(parts) if parts else 0.0


def own_concepts(entries: Mapping[str, Entry], entry: Entry, *, language: str) -> set[str]:
    """Return all concepts that an idiom expresses: those of the entries with one of its forms."""
    forms = _forms(entry, language)
    return {other.concept for other in entries.values() if not forms.isdisjoint(_forms(other, language))}


def _forms(entry: Entry, language: str) -> set[str]:
    return {fold(text, LANGUAGES[language]) for text in (entry.idiom, *entry.variants)}


def _best(candidates: Sequence[Candidate], rank: Callable[[Candidate], float], key: str) -> Candidate | None:
    """Return the candidate with the highest rank, by a stable hash among equals; None if no rank is above 0."""
    highest = max(rank(candidate) for candidate in candidates)
    if highest <= 0:
        return None
    equals = [candidate for candidate in candidates if rank(candidate) == highest]
    return min(equals, key=lambda candidate: stable_hash(key, candidate.concept))


def _side(candidate: Candidate, gold: Candidate) -> int:
    """Return -1 if a candidate is shorter than the right option, 1 if it is longer, 0 if it is as long."""
    return (len(candidate.text) > len(gold.text)) - (len(candidate.text) < len(gold.text))


def _gloss_stems(gloss: str) -> frozenset[str]:
    words = set(_ENGLISH_WORD.findall(gloss.lower().replace("'s", " "))) - set(_ENGLISH_FUNCTION_WORDS.split())
    return frozenset(word[:_STEM] for word in words)


def _meaning_stems(meaning: str, language: str) -> frozenset[str]:
    return frozenset(stem[:_STEM] for stem in content_stems(meaning, LANGUAGES[language]))
