"""`annotate`: the spans of an idiom in a sentence, or why there are none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hub_datasets.annotation.forms import MOST_WORDS, IdiomWord, idiom_forms, joined_forms
from hub_datasets.annotation.matching import Candidate, Match, Token, best_match, find_candidates
from hub_datasets.annotation.stems import normalise
from hub_datasets.annotation.suffixes import MORPHOLOGIES
from turkic_idiom_tasks.languages import Language
from turkic_idiom_tasks.span_detection.words import words
from turkic_idiom_tasks.spans import Span

LONGEST_IDIOM = 200  # characters
TOO_LONG = f"the idiom has more than {LONGEST_IDIOM} characters"
NO_WORDS = f"the idiom has no words, or more than {MOST_WORDS}"
EMPTY = "the sentence has no words"
NOT_FOUND = "a word of the idiom is missing"
UNCERTAIN = "its words are there, but too far apart or too different"
HIGHEST_FURTHER_COST = 0.8  # of a second occurrence: less doubt is allowed where the idiom has been found already
_MOST_OCCURRENCES = 50
_SENTENCE_ENDS = frozenset(".!?…")
_HYPHENS = frozenset("-\u2010\u2011")
_SIGNS = frozenset(',;:–—«»“”"')  # a span goes on across those that the citation form has too

Form = tuple[IdiomWord, ...]


@dataclass(frozen=True, slots=True)
class Annotation:
    """The spans of an idiom in a sentence, in order; when there are none, `dropped` is the reason."""

    spans: tuple[Span, ...] = ()
    dropped: str | None = None


def annotate(idiom: str, sentence: str, language: Language, *, variants: Iterable[str] = ()) -> Annotation:
    """Where an idiom stands in an NFC sentence, every occurrence, discontinuous ones as several spans.

    Args:
        idiom: citation form; may carry alternatives as dictionaries write them (`Lafı (sözü) çevirmek`).
        sentence: a sentence or a few; an occurrence never spans two.
        language: of both.
        variants: other citation forms.
    """
    texts = (idiom, *variants)
    if any(len(text) > LONGEST_IDIOM for text in texts):
        return Annotation(dropped=TOO_LONG)
    forms = [form for text in texts for form in idiom_forms(text, language.code)]
    if not forms:
        return Annotation(dropped=NO_WORDS)
    places = words(sentence)
    tokens = [_token(place.of(sentence), language) for place in places]
    if not any(token.is_word for token in tokens):
        return Annotation(dropped=EMPTY)
    found = _occurrences(forms, tokens, language.code, joined=False)
    if not found.words:
        spelled_otherwise = [form for text in texts for form in joined_forms(text, language.code)]
        in_other_spelling = _occurrences(spelled_otherwise, tokens, language.code, joined=True)
        found = in_other_spelling if in_other_spelling.words else found
    if not found.words:
        return Annotation(dropped=UNCERTAIN if found.has_all_words else NOT_FOUND)
    taken = _with_hyphened(found.words, tokens, MORPHOLOGIES[language.code].hyphened)
    return Annotation(_spans(sentence, places, taken, _HYPHENS | _SIGNS.intersection("".join(texts))))


@dataclass(frozen=True, slots=True)
class _Found:
    """The numbers of the words of every occurrence; whether the sentence has each word of some form anywhere."""

    words: frozenset[int]
    has_all_words: bool


def _occurrences(forms: Sequence[Form], tokens: Sequence[Token], code: str, *, joined: bool) -> _Found:
    """The occurrences of the cheapest forms in each stretch of the sentence between full stops."""
    matches: list[Match] = []
    seen: list[set[int]] = [set() for _ in forms]
    for start, end in _stretches(tokens):
        stretch = tokens[start:end]
        candidates = [[find_candidates(word, stretch, code, joined=joined) for word in form] for form in forms]
        for words_seen, found in zip(seen, candidates, strict=True):
            words_seen.update(number for number, options in enumerate(found) if options)
        matches += [
            Match(tuple(number + start for number in match.words), match.cost)
            for match in _matches_in(forms, stretch, candidates, MORPHOLOGIES[code].particles)
        ]
    best = min(matches, key=_preference, default=None)
    kept = [match for match in matches if match is best or match.cost <= HIGHEST_FURTHER_COST]
    has_all_words = any(
        all(word.optional or number in words_seen for number, word in enumerate(form))
        for form, words_seen in zip(forms, seen, strict=True)
    )
    return _Found(frozenset(number for match in kept for number in match.words), has_all_words)


def _matches_in(
    forms: Sequence[Form],
    stretch: Sequence[Token],
    candidates: Sequence[Sequence[Sequence[Candidate]]],
    particles: frozenset[str],
) -> list[Match]:
    """The best match, then the best of what is left, and so on."""
    matches: list[Match] = []
    taken: frozenset[int] = frozenset()
    while len(matches) < _MOST_OCCURRENCES:
        found = [
            match
            for form, options in zip(forms, candidates, strict=True)
            if (match := best_match(form, stretch, options, particles, taken))
        ]
        best = min(found, key=_preference, default=None)
        if best is None or (matches and best.cost > HIGHEST_FURTHER_COST):
            break
        matches.append(best)
        taken |= frozenset(best.words)
    return matches


def _preference(match: Match) -> tuple[float, int]:
    """Cheaper matches first; of equally cheap ones that with more words."""
    return (match.cost, -len(match.words))


def _stretches(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Where sentences begin and end: after a full stop or the like, unless a small letter follows."""
    stretches, start = [], 0
    for number, token in enumerate(tokens):
        following = tokens[number + 1] if number + 1 < len(tokens) else None
        if token.form in _SENTENCE_ENDS and (following is None or not following.begins_small):
            stretches.append((start, number + 1))
            start = number + 1
    return [*stretches, (start, len(tokens))]


def _token(text: str, language: Language) -> Token:
    form = normalise(text, language)
    return Token(form, form[:1].isalnum(), text[0].islower() or text in _SENTENCE_ENDS)


def _with_hyphened(taken: frozenset[int], tokens: Sequence[Token], particles: frozenset[str]) -> list[int]:
    """The words taken, in order, with what a hyphen joins to them: a particle, or the same word (`süzülə-süzülə`)."""
    joined = {
        number + 2
        for number in taken
        if number + 2 < len(tokens)
        and tokens[number + 1].form == "-"
        and (tokens[number + 2].form in particles or tokens[number + 2].form == tokens[number].form)
    }
    return sorted(taken | joined)


def _spans(sentence: str, places: Sequence[Span], numbers: Sequence[int], bridged: frozenset[str]) -> tuple[Span, ...]:
    """Words as spans; neighbours with nothing but white space and `bridged` signs between them are one span."""
    spans: list[Span] = []
    for number in numbers:
        place = places[number]
        if spans and all(sign.isspace() or sign in bridged for sign in sentence[spans[-1].end : place.start]):
            spans[-1] = Span(spans[-1].start, place.end)
        else:
            spans.append(place)
    return tuple(spans)
