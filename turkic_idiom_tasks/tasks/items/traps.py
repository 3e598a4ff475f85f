"""Traps: which wrong options stand beside a right one, and of which type they are.

A trap is never a concept that was judged `same` or `near` as the right one, nor as a concept that means the same as the
right one, and no two traps were judged so either.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from turkic_idiom_tasks.languages import LANGUAGES, Language
from turkic_idiom_tasks.lexicon.entries import NEAR as JUDGED_NEAR
from turkic_idiom_tasks.lexicon.entries import SAME, Lexicon
from turkic_idiom_tasks.orthography import content_stems, fold, lower
from turkic_idiom_tasks.tasks.items.item_types import LEXICAL, N_OPTIONS, NEAR, RANDOM, Option, stable_hash

TOO_CLOSE = 0.1  # without any judgements, closer concepts are no traps; 64% of those judged same or near are closer
# Letters of a word of a gloss or meaning that count, so that its inflected forms are one word. Of the pairs judged same
# or near, 70% are among each other's twenty closest with five letters, 63% with three, 59% with whole words.
_STEM = 5
_ENGLISH_WORD = re.compile(r"[a-z]{2,}")
_ENGLISH_FUNCTION_WORDS = (
    "a about all also an and any anyone anything are as at away be become been being beyond but by can cause do for "
    "from get give go good has have having he her him his how in into is it its keep kind like little made make many "
    "may more most much no not of off on one ones oneself only or other others out over own people person put quite "
    "said say set so some someone someones something take that the their them then there they thing things this to "
    "together too up upon very was way what when where whether which while who whom will with without"
)

# Random traps are drawn by walking round a ring of hashes: a new concept is met from a few places on it only, while in
# a list it would move all candidates behind it, and so change the traps of nearly all items.
_place_on_ring = partial(stable_hash, "candidate")  # of a concept
Accepts = Callable[[Option], bool]  # says whether a candidate may be a random trap


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """An item without traps."""

    idiom: str  # citation form
    text: str  # what the question is about
    gold: Option
    traps: Callable[..., tuple[Option, ...] | None]  # chooses its traps, with the arguments of `Pools.traps`
    excluded: Collection[str]  # concepts that are no traps besides those judged to be like the right option
    likeness: Mapping[str, float] = field(repr=False)  # concept -> how much its idiom looks like this one, above 0
    shares_stem: bool | None = None  # only in `equivalent`


class Relations:
    """How the concepts of a lexicon are related: judged to mean the same or nearly so, or close by their texts."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.are_judged = bool(lexicon.equivalents)  # if not, concepts that are `TOO_CLOSE` are no traps
        self._same = lexicon.judged(SAME)
        self._near = lexicon.judged(JUDGED_NEAR)
        # Concept -> "" or the code of a language -> stems of the gloss or the meaning
        self._stems: dict[str, dict[str, frozenset[str]]] = {}
        function_words = set(_ENGLISH_FUNCTION_WORDS.split())
        for concept in lexicon.concepts.values():
            words = set(_ENGLISH_WORD.findall(concept.gloss.lower())) - function_words
            self._stems[concept.id] = {"": frozenset(word[:_STEM] for word in words)}
        for language, entries in lexicon.entries.items():
            for entry in entries.values():
                if entry.meaning is not None:
                    stems = _stems_of(entry.meaning, LANGUAGES[language])
                    self._stems.setdefault(entry.concept, {})[language] = stems
        # The other way round, because few concepts share a stem: comparing all pairs would take much longer
        self._concepts_with: dict[tuple[str, str], list[str]] = {}
        for concept_id, texts in self._stems.items():
            for language, stems in texts.items():
                for stem in stems:
                    self._concepts_with.setdefault((language, stem), []).append(concept_id)
        self._closeness: dict[str, dict[str, float]] = {}  # what `closeness` has returned

    def alike(self, concepts: Iterable[str]) -> set[str]:
        """Return concepts, all that mean the same by any chain of judgements, and all that are near one of these."""
        same = set(concepts)
        waiting = sorted(same)
        while waiting:
            partners = self._same.get(waiting.pop(), set()) - same
            same |= partners
            waiting += sorted(partners)
        # One step only: of the concepts two such steps apart, a fourth were judged like each other
        return same.union(*(self._near.get(concept, set()) for concept in same))

    def closeness(self, concept: str) -> Mapping[str, float]:
        """Return other concept -> how close it is in meaning, above 0 up to 1; others have nothing in common.

        The mean of Dice coefficients of content words: of the English glosses, and of the meanings in each language
        that has both concepts.
        """
        if concept in self._closeness:
            return self._closeness[concept]
        own_stems = self._stems.get(concept, {})
        others: set[str] = set()
        for language, stems in own_stems.items():
            for stem in stems:
                others.update(self._concepts_with[language, stem])
        others.discard(concept)
        # By their own texts alone, not by frequencies in the lexicon, so that a larger lexicon leaves the ranking of
        # the old candidates as it is. Of the concepts judged `same` or `near`, half are among the seven closest
        closeness = {}
        for other in sorted(others):
            total, n_texts = 0.0, 0
            for language, stems in own_stems.items():
                other_stems = self._stems[other].get(language)
                if stems and other_stems:  # a text that one of them lacks says nothing about how close they are
                    total += 2 * len(stems & other_stems) / (len(stems) + len(other_stems))
                    n_texts += 1
            closeness[other] = total / n_texts
        self._closeness[concept] = closeness
        return closeness


class Pools:
    """Options of one kind and language, in a pool for each part of speech."""

    def __init__(self, texts: Mapping[str, str], relations: Relations, *, language: str) -> None:
        """Make the pools of concept -> text."""
        self._relations = relations
        self._language = LANGUAGES[language]
        # Of each pool concept -> option, in the order of the ring
        self._pools: dict[tuple[str, bool | None], dict[str, Option]] = {}
        self._concepts_with: dict[str, list[str]] = {}  # content word of a text -> concepts
        for concept in sorted(texts, key=_place_on_ring):
            candidate = Option(texts[concept], concept)
            for pool_key in pool_keys(relations.lexicon, candidate, self._language):
                self._pools.setdefault(pool_key, {})[concept] = candidate
            for stem in _stems_of(candidate.text, self._language):
                self._concepts_with.setdefault(stem, []).append(concept)

    def traps(
        self, question: Question, *, key: str, n_shorter: int, accepts: Accepts | None = None
    ) -> tuple[Option, ...] | None:
        """Return three traps for the right option of a question; None if there are too few.

        The first is the closest in meaning, the second the one whose idiom is most like the idiom asked for, the third
        is random, as is a substitute for one of the others. If the pool has such, `n_shorter` of them are shorter than
        the right option, and the others longer. Stable choices depend on `key`, the id of the item.
        """
        gold = question.gold
        barred = {*question.excluded, *self._relations.alike([gold.concept])}
        if not self._relations.are_judged:
            closeness = self._relations.closeness(gold.concept)
            barred.update(other for other, value in closeness.items() if value > TOO_CLOSE)
        for pool_key in pool_keys(self._relations.lexicon, gold, self._language):
            choice = Choice(gold, set(barred), n_shorter, accepts=accepts, language=self._language)
            if pool_key in self._pools and self._fill(choice, self._pools[pool_key], question, key=key):
                return tuple(choice.options)
        return None

    def _fill(self, choice: Choice, pool: Mapping[str, Option], question: Question, *, key: str) -> bool:
        """Choose three traps from a pool; return whether it has enough."""
        closeness, likeness = self._relations.closeness(question.gold.concept), question.likeness
        related = closeness.keys() | likeness.keys()
        for trap, rank in ((NEAR, closeness), (LEXICAL, likeness), (RANDOM, {})):
            if trap == RANDOM:
                # If a trap has a word in common with the right option, this one has one in common with the other trap,
                # so that no option stands out. Without it, the one most like the others was right in 39% of the items
                rank = self._resemblance(choice, pool, related=related)
            fitting = []
            for concept in rank:
                candidate = pool.get(concept)
                if candidate is not None and choice.fits(candidate, is_random=trap == RANDOM):
                    fitting.append((rank[concept], stable_hash(key, concept), candidate))
            if fitting:
                *_, best = max(fitting, key=lambda ranked: ranked[:2])  # the hash decides among equals
            else:
                substitute = _next_on_ring(pool, choice, key, related=related)
                if substitute is None:
                    return False
                best = substitute
                # Where no unrelated candidate is left, the substitute may be of another type than was looked for
                trap = LEXICAL if best.concept in likeness else NEAR if best.concept in closeness else RANDOM
            choice.take(best, trap, alike=self._relations.alike([best.concept]))
        return True

    def _resemblance(self, choice: Choice, pool: Mapping[str, Option], *, related: Collection[str]) -> dict[str, float]:
        """Return concept -> how much its text resembles the trap that the right option does not resemble.

        Empty if the right option resembles no trap. Concepts that are `related` to the right option are left out.
        """
        stems = _stems_of(choice.gold.text, self._language)
        unlike = [option for option in choice.options if stems.isdisjoint(_stems_of(option.text, self._language))]
        if len(unlike) == len(choice.options):
            return {}
        stems = _stems_of((unlike or choice.options)[0].text, self._language)
        resemblance = {}
        for stem in sorted(stems):
            for concept in self._concepts_with.get(stem, ()):
                if concept in pool and concept not in related:
                    others = _stems_of(pool[concept].text, self._language)
                    resemblance[concept] = 2 * len(stems & others) / (len(stems) + len(others))
        return resemblance


def _next_on_ring(pool: Mapping[str, Option], choice: Choice, key: str, *, related: Collection[str]) -> Option | None:
    """Return the next fitting candidate on the ring from the item's own place onwards; None if there is none."""
    ring = list(pool.values())
    start = bisect(list(pool), stable_hash("item", key), key=_place_on_ring)
    ordered = ring[start:] + ring[:start]
    unrelated = [candidate for candidate in ordered if candidate.concept not in related]
    # The length is given up first, because a related trap may be a second right answer
    for candidates, needs_length in ((unrelated, True), (unrelated, False), (ordered, True), (ordered, False)):
        for candidate in candidates:
            if choice.fits(candidate, needs_length=needs_length, is_random=True):
                return candidate
    return None


def pool_keys(lexicon: Lexicon, candidate: Option, language: Language) -> list[tuple[str, bool | None]]:
    """Return what options beside a candidate have in common with it: part of speech and ending, or the former alone."""
    concept = lexicon.concepts.get(candidate.concept)
    pos = concept.pos or "" if concept else ""
    # The ending too, because sayings are listed among the clauses both as sentences and as verbs
    last_word = lower(candidate.text, language).rstrip(" .!?")
    return [(pos, last_word.endswith(language.infinitives)), (pos, None)]


def own_concepts(relations: Relations, *, language: str) -> dict[str, set[str]]:
    """Return concept -> the concepts that its idiom expresses in a language, and those judged like them."""
    forms_of: dict[str, set[str]] = {}
    concepts_with: dict[str, set[str]] = {}  # form -> concepts
    for concept, entry in relations.lexicon.of(language).items():
        forms_of[concept] = {fold(text, LANGUAGES[language]) for text in (entry.idiom, *entry.variants)}
        for form in forms_of[concept]:
            concepts_with.setdefault(form, set()).add(concept)
    own = {}
    # An idiom expresses the concepts of all entries that share one of its forms, so these are no wrong answers
    for concept, forms in forms_of.items():
        own[concept] = relations.alike(set().union(*(concepts_with[form] for form in forms)))
    return own


class Choice:
    """Traps of one item while they are chosen, and what the next one must be like."""

    def __init__(
        self,
        gold: Option,
        excluded: set[str],
        n_shorter: int,
        *,
        accepts: Accepts | None,
        language: Language,
        n_options: int = N_OPTIONS,
    ) -> None:
        self.gold = gold
        self.options: list[Option] = []  # the traps chosen so far
        self._excluded = excluded
        self._n_left = {-1: n_shorter, 0: 0, 1: n_options - 1 - n_shorter}  # by `_side`
        self._accepts = accepts
        self._language = language
        self._texts = {fold(gold.text, language)}

    def fits(self, candidate: Option, *, is_random: bool, needs_length: bool = True) -> bool:
        """Return whether a candidate may be the next trap; with `needs_length` it must have the length wanted."""
        if candidate.concept in self._excluded:
            return False
        if needs_length and self._n_left[self._side(candidate)] <= 0:
            return False
        if is_random and self._accepts is not None and not self._accepts(candidate):
            return False
        return fold(candidate.text, self._language) not in self._texts

    def take(self, candidate: Option, trap: str, *, alike: Collection[str]) -> None:
        """Make a candidate the next trap; concepts that are `alike` are no traps beside it."""
        self.options.append(replace(candidate, trap=trap))
        self._texts.add(fold(candidate.text, self._language))  # concepts may share an idiom or a meaning
        self._excluded |= set(alike)
        self._n_left[self._side(candidate)] -= 1

    def _side(self, candidate: Option) -> int:
        """Return -1 if a candidate is shorter than the right option, 1 if it is longer, 0 if it is as long."""
        difference = len(candidate.text) - len(self.gold.text)
        return (difference > 0) - (difference < 0)


def _stems_of(text: str, language: Language) -> frozenset[str]:
    return frozenset(stem[:_STEM] for stem in content_stems(text, language))
