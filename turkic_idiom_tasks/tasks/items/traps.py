"""Traps: which wrong options stand beside a right one, and of which type they are.

A trap is never a concept that was judged `same` or `near` as the right one, nor as a concept that means the same as the
right one, and no two traps were judged so either. How close two concepts are depends on their own texts alone, not on
frequencies in the lexicon, so a larger lexicon leaves the ranking of the old candidates as it is.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from turkic_idiom_tasks.languages import LANGUAGES, Language
from turkic_idiom_tasks.lexicon.entries import NEAR as JUDGED_NEAR
from turkic_idiom_tasks.lexicon.entries import SAME, Concept, Entry, Lexicon
from turkic_idiom_tasks.orthography import content_stems, fold, lower
from turkic_idiom_tasks.tasks.items.balance import stable_hash
from turkic_idiom_tasks.tasks.items.item_types import LEXICAL, N_OPTIONS, NEAR, RANDOM, Option

TOO_CLOSE = 0.1  # without any judgements, closer concepts are no traps; 64% of those judged same or near are closer
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
    """A text that may be an option.

    Attributes:
        concept: its concept.
        text: what the model is shown.
    """

    concept: str
    text: str


class Relations:
    """How the concepts of a lexicon are related: judged to mean the same or nearly the same, or close by their texts.

    Attributes:
        are_judged: whether the lexicon has any judgement; if not, concepts that are `TOO_CLOSE` are no traps.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self.are_judged = bool(lexicon.equivalents)
        self._same = lexicon.judged(SAME)
        self._near = lexicon.judged(JUDGED_NEAR)
        self._stems: dict[str, dict[str, frozenset[str]]] = {}  # concept -> "" or language -> stems of gloss or meaning
        for concept in lexicon.concepts.values():
            self._stems[concept.id] = {"": _gloss_stems(concept)}
        for language, entries in lexicon.entries.items():
            for entry in entries.values():
                if entry.meaning is not None:
                    self._stems.setdefault(entry.concept, {})[language] = _meaning_stems(entry.meaning, language)
        self._closeness: dict[str, dict[str, float]] = {}  # what `closeness` has returned
        self._concepts_with: dict[tuple[str, str], list[str]] = {}
        for name, texts in self._stems.items():
            for language, stems in texts.items():
                for stem in stems:
                    self._concepts_with.setdefault((language, stem), []).append(name)

    def alike(self, concepts: Iterable[str]) -> set[str]:
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

    def closeness(self, concept: str) -> Mapping[str, float]:
        """Return other concept -> how close it is in meaning, above 0 up to 1; others have nothing in common.

        The mean of Dice coefficients of content words: of the English glosses, and of the meanings in each language
        that has both concepts. On the bundled lexicon, half of the concepts that were judged `same` or `near` are among
        the seven closest by this measure, and 70% among the twenty closest.
        """
        if concept not in self._closeness:
            others: set[str] = set()
            for language, stems in self._stems.get(concept, {}).items():
                for stem in stems:
                    others.update(self._concepts_with[language, stem])
            others.discard(concept)
            self._closeness[concept] = {other: self._closeness_between(concept, other) for other in sorted(others)}
        return self._closeness[concept]

    def _closeness_between(self, first: str, second: str) -> float:
        total, n_texts = 0.0, 0
        theirs = self._stems[second]
        for language, stems in self._stems[first].items():
            if stems and theirs.get(language):
                total += 2 * len(stems & theirs[language]) / (len(stems) + len(theirs[language]))
                n_texts += 1
        return total / n_texts


class Pool:
    """All texts that can be options of one kind, language and part of speech."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        relations: Relations,
        *,
        language: str,
        highest_closeness: float = 1.0,
    ) -> None:
        """Make a pool.

        Args:
            candidates: the texts, one for each concept.
            relations: of the lexicon that they are from.
            language: code of their language.
            highest_closeness: concepts that are closer to the right one are no traps.
        """
        self._relations = relations
        self._highest_closeness = highest_closeness if relations.are_judged else TOO_CLOSE
        self._language = LANGUAGES[language]
        by_hash = {stable_hash("candidate", candidate.concept): candidate for candidate in candidates}
        self._hashes = sorted(by_hash)
        self._ring = [by_hash[number] for number in self._hashes]
        self._by_concept = {candidate.concept: candidate for candidate in candidates}
        self._concepts_with: dict[str, list[str]] = {}  # content word of a text -> concepts
        for candidate in self._ring:
            for word in self._words(candidate.text):
                self._concepts_with.setdefault(word, []).append(candidate.concept)

    def traps(
        self,
        gold: Candidate,
        excluded: Collection[str],
        *,
        key: str,
        n_shorter: int,
        likeness: Mapping[str, float],
        accepts: Callable[[Candidate], bool] | None = None,
    ) -> tuple[Option, ...] | None:
        """Return three traps for the right option; None if the pool has too few.

        The first is the closest in meaning, the second the one whose idiom is most like the idiom asked for. Where
        there is no such one, a random one takes its place. The third is random: it has nothing in common with the right
        option or the idiom, but if one of the other traps has a word in common with the right option, it has one in
        common with the other of them, so that no option stands out by resembling another one.

        Args:
            gold: the right option.
            excluded: concepts that are no traps besides those that were judged to be like the right one.
            key: what stable choices depend on: the id of the item.
            n_shorter: how many traps are shorter than the right option, if the pool has such; the others are longer, so
                that the length does not give the right option away.
            likeness: concept -> how much its idiom looks like the one asked for; 0 if absent.
            accepts: says whether a candidate may be a random trap; None if all may.
        """
        closeness = self._relations.closeness(gold.concept)
        barred = {*excluded, *self._relations.alike([gold.concept])}
        barred.update(other for other, value in closeness.items() if value > self._highest_closeness)
        choice = _Choice(gold, barred, n_shorter, key=key, accepts=accepts, language=self._language)
        related = closeness.keys() | likeness.keys()
        for trap, rank in ((NEAR, closeness), (LEXICAL, likeness), (RANDOM, {})):
            if trap == RANDOM:
                rank = self._resemblance(choice, related=related)
            ranked = [self._by_concept[concept] for concept in rank if concept in self._by_concept]
            best = choice.best(ranked, rank, is_random=trap == RANDOM)
            if best is None:
                best = self._random(choice, key, related=related)
                if best is None:
                    return None
                trap = _type_of(best, closeness, likeness)
            choice.take(best, trap, alike=self._relations.alike([best.concept]))
        return tuple(choice.options)

    def _resemblance(self, choice: _Choice, *, related: Collection[str]) -> dict[str, float]:
        """Return concept -> how much its text resembles the trap that the right option does not resemble.

        Empty if the right option resembles no trap. Concepts that are `related` to the right option are left out.
        """
        words = self._words(choice.gold.text)
        unlike = [option for option in choice.options if words.isdisjoint(self._words(option.text))]
        if len(unlike) == len(choice.options):
            return {}
        words = self._words((unlike or choice.options)[0].text)
        resemblance = {}
        for word in sorted(words):
            for concept in self._concepts_with.get(word, ()):
                if concept not in related:
                    theirs = self._words(self._by_concept[concept].text)
                    resemblance[concept] = 2 * len(words & theirs) / (len(words) + len(theirs))
        return resemblance

    def _random(self, choice: _Choice, key: str, *, related: Collection[str]) -> Candidate | None:
        """Return the next candidate on the ring of hashes from the item's own place onwards; None if there is none.

        It is unrelated to the right option and has the length that is wanted if there is such; the
        length is given up first. A new candidate takes its place on the ring and leaves the others where they are.
        """
        start = bisect(self._hashes, stable_hash("item", key))
        ordered = self._ring[start:] + self._ring[:start]
        unrelated = [candidate for candidate in ordered if candidate.concept not in related]
        for candidates, needs_length in ((unrelated, True), (unrelated, False), (ordered, True), (ordered, False)):
            for candidate in candidates:
                if choice.fits(candidate, needs_length=needs_length, is_random=True):
                    return candidate
        return None

    def _words(self, text: str) -> frozenset[str]:
        return frozenset(stem[:_STEM] for stem in content_stems(text, self._language))


class Pools:
    """Options of one kind and language, in a pool for each part of speech.

    Texts of one part of speech are kept apart by whether they end in an infinitive, because sayings are listed among
    the clauses both as sentences and as verbs. Where that leaves too few, all of the part of speech are taken.
    """

    def __init__(
        self,
        lexicon: Lexicon,
        texts: Mapping[str, str],
        relations: Relations,
        *,
        language: str,
        highest_closeness: float = 1.0,
    ) -> None:
        """Make the pools of texts by concept; for the arguments see `Pool`."""
        self._lexicon = lexicon
        self._language = LANGUAGES[language]
        candidates: dict[tuple[str, bool | None], list[Candidate]] = {}
        for concept, text in texts.items():
            for key in self._keys(Candidate(concept, text)):
                candidates.setdefault(key, []).append(Candidate(concept, text))
        self._pools = {}
        for key, members in candidates.items():
            self._pools[key] = Pool(members, relations, language=language, highest_closeness=highest_closeness)

    def traps(
        self,
        gold: Candidate,
        excluded: Collection[str],
        *,
        key: str,
        n_shorter: int,
        likeness: Mapping[str, float],
        accepts: Callable[[Candidate], bool] | None = None,
    ) -> tuple[Option, ...] | None:
        """Return three traps for the right option, see `Pool.traps`; None if there are too few."""
        for pool_key in self._keys(gold):
            pool = self._pools.get(pool_key)
            if pool is not None:
                traps = pool.traps(gold, excluded, key=key, n_shorter=n_shorter, likeness=likeness, accepts=accepts)
                if traps is not None:
                    return traps
        return None

    def _keys(self, candidate: Candidate) -> list[tuple[str, bool | None]]:
        pos = part_of_speech(self._lexicon, candidate.concept)
        last_word = lower(candidate.text, self._language).rstrip(" .!?")
        return [(pos, last_word.endswith(self._language.infinitives)), (pos, None)]


class OwnConcepts:
    """Concepts that an idiom of a language expresses: those of all entries that share one of its forms."""

    def __init__(self, entries: Mapping[str, Entry], relations: Relations, *, language: str) -> None:
        self._language = LANGUAGES[language]
        self._relations = relations
        self._concepts: dict[str, set[str]] = {}
        for entry in entries.values():
            for form in self._forms(entry):
                self._concepts.setdefault(form, set()).add(entry.concept)

    def alike(self, entry: Entry) -> set[str]:
        """Return the concepts that the idiom of an entry expresses, and those judged like them; see `Relations`."""
        concepts = {entry.concept}
        for form in self._forms(entry):
            concepts |= self._concepts.get(form, set())
        return self._relations.alike(concepts)

    def _forms(self, entry: Entry) -> set[str]:
        return {fold(text, self._language) for text in (entry.idiom, *entry.variants)}


class _Choice:
    """Traps of one item while they are chosen, and what the next one must be like.

    Attributes:
        gold: the right option.
        options: the traps chosen so far.
    """

    def __init__(
        self,
        gold: Candidate,
        excluded: set[str],
        n_shorter: int,
        *,
        key: str,
        accepts: Callable[[Candidate], bool] | None,
        language: Language,
    ) -> None:
        self.gold = gold
        self.options: list[Option] = []
        self._excluded = excluded
        self._n_left = {-1: n_shorter, 0: 0, 1: N_OPTIONS - 1 - n_shorter}
        self._key = key
        self._accepts = accepts
        self._language = language
        self._texts = {fold(gold.text, language)}

    def fits(self, candidate: Candidate, *, is_random: bool, needs_length: bool = True) -> bool:
        """Return whether a candidate may be the next trap; with `needs_length` it must have the length wanted."""
        if candidate.concept in self._excluded:
            return False
        if needs_length and self._n_left[self._side(candidate)] <= 0:
            return False
        if is_random and self._accepts is not None and not self._accepts(candidate):
            return False
        return fold(candidate.text, self._language) not in self._texts

    def best(self, candidates: Iterable[Candidate], rank: Mapping[str, float], *, is_random: bool) -> Candidate | None:
        """Return the fitting candidate with the highest rank, by a stable hash among equals; None if none fits."""
        fitting = [candidate for candidate in candidates if self.fits(candidate, is_random=is_random)]
        return max(fitting, key=lambda one: (rank[one.concept], stable_hash(self._key, one.concept)), default=None)

    def take(self, candidate: Candidate, trap: str, *, alike: Collection[str]) -> None:
        """Make a candidate the next trap; concepts that are `alike` are no traps beside it."""
        self.options.append(Option(candidate.text, candidate.concept, trap))
        self._texts.add(fold(candidate.text, self._language))
        self._excluded |= set(alike)
        self._n_left[self._side(candidate)] -= 1

    def _side(self, candidate: Candidate) -> int:
        """Return -1 if a candidate is shorter than the right option, 1 if it is longer, 0 if it is as long."""
        ours, theirs = len(candidate.text), len(self.gold.text)
        return (ours > theirs) - (ours < theirs)


def _type_of(candidate: Candidate, closeness: Mapping[str, float], likeness: Mapping[str, float]) -> str:
    """Return which type of trap a candidate is that was taken for want of others."""
    if candidate.concept in likeness:
        return LEXICAL
    return NEAR if candidate.concept in closeness else RANDOM


def part_of_speech(lexicon: Lexicon, concept: str) -> str:
    """Return the part of speech of a concept; empty when not known."""
    record = lexicon.concepts.get(concept)
    return record.pos or "" if record else ""


def _gloss_stems(concept: Concept) -> frozenset[str]:
    words = set(_ENGLISH_WORD.findall(concept.gloss.lower())) - set(_ENGLISH_FUNCTION_WORDS.split())
    return frozenset(word[:_STEM] for word in words)


def _meaning_stems(meaning: str, language: str) -> frozenset[str]:
    return frozenset(stem[:_STEM] for stem in content_stems(meaning, LANGUAGES[language]))
