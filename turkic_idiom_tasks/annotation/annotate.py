"""Find the spans of an idiom in a sentence, or say why there are none."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from turkic_idiom_tasks.annotation.forms import MOST_WORDS, Form, idiom_forms, joined_forms
from turkic_idiom_tasks.annotation.matching import Match, Token, best_match, find_candidates
from turkic_idiom_tasks.annotation.stems import morphology, normalise
from turkic_idiom_tasks.dataset.sentences import words
from turkic_idiom_tasks.languages import Language
from turkic_idiom_tasks.spans import Span

# The forms of a text with many parentheses, such as "x (y) x (y) ...", take quadratic time.
LONGEST_IDIOM = 200  # characters
TOO_LONG = f"the idiom has more than {LONGEST_IDIOM} characters"
NO_WORDS = f"the idiom has no words, or more than {MOST_WORDS}"
EMPTY = "the sentence has no words"
NOT_FOUND = "a word of the idiom is missing"
UNCERTAIN = "its words are there, but too far apart or too different"
HIGHEST_FURTHER_COST = 0.8  # of a second occurrence, which must be more certain than the first one
_MOST_OCCURRENCES = 50
_SENTENCE_ENDS = frozenset(".!?…")
_HYPHENS = frozenset("-\u2010\u2011")
_SIGNS = frozenset(',;:–—«»“”"')  # a span continues across such a sign if the citation form has it too


class Annotation(NamedTuple):
    """Spans of an idiom in a sentence, in order; if there are none, `dropped` is the reason."""

    spans: tuple[Span, ...] = ()
    dropped: str | None = None


def annotate(idiom: str, sentence: str, language: Language, *, variants: Iterable[str] = ()) -> Annotation:
    """Return the spans of every occurrence of an idiom in an NFC sentence; a discontinuous one has several spans."""
    # Each may have alternatives as dictionaries write them (`Lafı (sözü) çevirmek`).
    texts = (idiom, *variants)
    if any(len(text) > LONGEST_IDIOM for text in texts):
        return Annotation(dropped=TOO_LONG)
    forms: list[Form] = []
    for text in texts:
        forms += idiom_forms(text, language.code)
    if not forms:
        return Annotation(dropped=NO_WORDS)
    places = words(sentence)
    tokens = []
    for place in places:
        text = place.of(sentence)
        form = normalise(text, language)
        tokens.append(Token(form, form[:1].isalnum(), text[0].islower() or text in _SENTENCE_ENDS))
    if not any(token.is_word for token in tokens):
        return Annotation(dropped=EMPTY)
    taken, has_all_words = _occurrences(forms, tokens, language.code, joined=False)
    if not taken:
        # Words written together are looked for last: they give many more forms, which seldom are there.
        forms_with_joined_words: list[Form] = []
        for text in texts:
            forms_with_joined_words += joined_forms(text, language.code)
        taken, _ = _occurrences(forms_with_joined_words, tokens, language.code, joined=True)
    if not taken:
        return Annotation(dropped=UNCERTAIN if has_all_words else NOT_FOUND)
    numbers = set(taken)
    for number in taken:
        # A hyphen joins a particle to a word, or the same word again, which makes a doubled converb (`süzülə-süzülə`).
        if number + 2 < len(tokens) and tokens[number + 1].form == "-":
            joined = tokens[number + 2].form
            if joined in morphology(language.code).hyphened or joined == tokens[number].form:
                numbers.add(number + 2)
    # A hyphen makes one word of two; any other sign ends a span, unless the citation form has it too.
    bridged = _HYPHENS | _SIGNS.intersection("".join(texts))
    spans: list[Span] = []
    for number in sorted(numbers):
        place = places[number]
        between = sentence[spans[-1].end : place.start] if spans else ""
        if spans and all(sign.isspace() or sign in bridged for sign in between):
            spans[-1] = Span(spans[-1].start, place.end)
        else:
            spans.append(place)
    return Annotation(tuple(spans))


def _occurrences(forms: Sequence[Form], tokens: Sequence[Token], code: str, *, joined: bool) -> tuple[set[int], bool]:
    """Return the numbers of the words of every occurrence, and whether the sentence has all words of a form."""
    matches: list[Match] = []
    # for each form the numbers of its words that a sentence may not leave out, and of those that the text has
    required = [{number for number, word in enumerate(form) if not word.optional} for form in forms]
    present: list[set[int]] = [set() for _ in forms]
    particles = morphology(code).particles
    for start, end in _sentences(tokens):  # an occurrence never crosses the end of one
        part = tokens[start:end]
        searches = []
        for form, needed, numbers in zip(forms, required, present, strict=True):
            candidates = [find_candidates(word, part, code, joined=joined) for word in form]
            numbers_here = {number for number, options in enumerate(candidates) if options}
            numbers |= numbers_here
            # Most forms lack a word; the search would find that out only after arranging the words before it.
            if needed <= numbers_here:
                searches.append((form, candidates))
        # The best match of all forms is taken, then the best one among the remaining words, and so on.
        taken: set[int] = set()
        for _ in range(_MOST_OCCURRENCES):
            best_matches = []
            for form, candidates in searches:
                best_matches.append(best_match(form, part, candidates, particles=particles, taken=taken))
            best_here = min(filter(None, best_matches), key=_preference, default=None)
            if best_here is None or (taken and best_here.cost > HIGHEST_FURTHER_COST):
                break
            taken.update(best_here.words)
            matches.append(Match(tuple(number + start for number in best_here.words), best_here.cost))
    best = min(matches, key=_preference, default=None)
    # A second occurrence is rarer than the words of an idiom by chance, so it must be more certain than the first.
    kept: set[int] = set()
    for match in matches:
        if match is best or match.cost <= HIGHEST_FURTHER_COST:
            kept.update(match.words)
    return kept, any(needed <= numbers for needed, numbers in zip(required, present, strict=True))


def _preference(match: Match) -> tuple[float, int]:
    """Return a key that sorts cheaper matches first, and among equally cheap ones those with more words."""
    return (match.cost, -len(match.words))


def _sentences(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Return start and end of each sentence."""
    sentences, start = [], 0
    for number, token in enumerate(tokens):
        # No sentence begins with a small letter, so a sign before one (`…`, a full stop in `bkz.`) ends none.
        following = tokens[number + 1] if number + 1 < len(tokens) else None
        if token.form in _SENTENCE_ENDS and (following is None or not following.begins_small):
            sentences.append((start, number + 1))
            start = number + 1
    return [*sentences, (start, len(tokens))]
